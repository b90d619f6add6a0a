"""Operators on an expression and a foreign object: what Python's protocol says, neither more nor less."""

from __future__ import annotations

import datetime
import operator
import random
from array import array
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import symgrad as sg
from symgrad.errors import SymgradError
from tests.fuzz.kind import kind, refused

_COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
_ARITHMETIC = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul, operator.mod,
    operator.floordiv, operator.and_, operator.or_, operator.xor, divmod,
]  # fmt: skip
_NAMES = {
    **{op: op.__name__.strip("_") for op in (*_COMPARISONS, *_ARITHMETIC)},
    operator.and_: "and",
    operator.or_: "or",
}
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}

_MADE: list[Callable[[random.Random], Any]] = [
    lambda rng: None,
    lambda rng: Ellipsis,
    lambda rng: NotImplemented,
    lambda rng: object(),
    lambda rng: rng.randbytes(rng.randint(0, 3)),
    lambda rng: bytearray(rng.randint(0, 3)),
    lambda rng: {i: i for i in range(rng.randint(0, 2))},
    lambda rng: {rng.randint(0, 9)},
    lambda rng: frozenset(),
    lambda rng: range(rng.randint(0, 3)),
    lambda rng: slice(None),
    lambda rng: iter(()),
    lambda rng: datetime.date(2020, 1, rng.randint(1, 28)),
    lambda rng: datetime.timedelta(rng.randint(0, 9)),
    lambda rng: PurePosixPath("a"),
    lambda rng: array("d", [1.0]),
    lambda rng: memoryview(b"ab"),
    lambda rng: rng.choice([int, sg.Expr, str, type]),
    lambda rng: rng.choice([len, print, sg.sin, lambda: 0]),
    lambda rng: rng.choice([sg, random]),
    lambda rng: ValueError("a"),
]


class _ForeignError(Exception):
    """What a method of a random class raises."""


def _method(rng: random.Random, name: str) -> Callable[[Any, Any], Any]:
    answer = rng.choice([NotImplemented, NotImplemented, None, name, _ForeignError])

    def method(self: Any, other: Any) -> Any:
        if answer is _ForeignError:
            raise _ForeignError(name)
        return answer

    return method


def _of_a_random_class(rng: random.Random) -> Any:
    """Return an object of a class with some of the methods of operators, which answer or leave it."""
    body: dict[str, Any] = {}
    for name in _NAMES.values():
        for prefix in ("", "r"):
            if rng.random() < 0.4 and not (prefix and name in _MIRRORED):
                body[f"__{prefix}{name}__"] = _method(rng, prefix + name)
    if "__eq__" in body or rng.random() < 0.1:
        body["__hash__"] = None
    if rng.random() < 0.1:
        body["__array_ufunc__"] = None
    return type("Foreign", rng.choice([(), (), (dict,), (Exception,)]), body)()


def _asked(of: Any, method: str, other: Any) -> Any:
    owner = next((c for c in type(of).__mro__ if method in vars(c)), None)
    return NotImplemented if owner is None else vars(owner)[method](of, other)


def _expected(op: Callable[[Any, Any], Any], left: Any, right: Any, theirs: Any) -> Any:
    """Return what Python makes of an operator if the expression leaves it to the other side."""
    name = _NAMES[op]
    if name in _MIRRORED:
        method = name if left is theirs else _MIRRORED[name]
    else:
        method = name if left is theirs else f"r{name}"
    ours = right if left is theirs else left
    try:
        found = _asked(theirs, f"__{method}__", ours)
    except (TypeError, _ForeignError) as error:
        return error
    if found is not NotImplemented:
        return found
    return {"eq": False, "ne": True}.get(name, TypeError())


@kind("foreign-operands")
def foreign_operands(rng: random.Random) -> None:
    x = sg.symbols("x")
    ours = rng.choice([x, x**2 + 1, x > 0, sg.tensor("v", (3,)), sg.tensor("M", ("n", "n"))])
    theirs = rng.choice([rng.choice(_MADE), _of_a_random_class])(rng)
    for op in rng.sample([*_COMPARISONS, *_ARITHMETIC], 6):
        left, right = rng.choice([(ours, theirs), (theirs, ours)])
        expected = _expected(op, left, right, theirs)
        try:
            got = op(left, right)
        except SymgradError as error:
            refused(error)
            raise AssertionError(f"{_NAMES[op]} of {left!r} and {right!r}: {error}") from error
        except (TypeError, _ForeignError) as error:
            got = error
        raised = isinstance(expected, Exception) and expected is not theirs
        same = type(got) is type(expected) and (raised or got == expected)
        assert got is expected or same, (_NAMES[op], left, right, got, expected)
    if _expected(operator.eq, theirs, ours, theirs) is False:
        assert ours not in [None, theirs]
