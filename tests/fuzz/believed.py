"""What a reader believes of a printed statement: the lines that `check` prints, read anew and put to the test.

Nothing here is symgrad's: Python reads the expressions, mpmath and NumPy know what functions are.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tests.fuzz.believed_arrays import ARRAYS, einsum, product, unslice
from tests.fuzz.believed_numbers import (
    COMPLEX,
    CONSTANTS,
    REAL,
    Undefined,
    apart,
    compared,
    each,
    mp,
    operators,
    real,
)

__all__ = ["Believed", "Undefined", "differ", "draw", "precisely"]

_DIGITS = 40

# -------------------------------------------------------------------------------------------------------- declarations

_NAME = r"[^\W\d]\w*"
_NUMBER = r"-?[0-9]+(?:/[0-9]+)?"
_SIZE = re.compile(rf"({_NAME}) : size, ({_NAME}) >= 1")
_DECLARED = re.compile(
    rf"({_NAME}) : (real|int|bool|complex)(?:\((-oo|{_NUMBER}), (oo|{_NUMBER})\))?(?:\[([^]]*)\])?( symmetric)?"
    rf"(?:, (?:({_NUMBER}) < )?({_NAME})(?: < ({_NUMBER}))?)?"
)
_DRAWN = re.compile(rf"({_NAME}) ~ (\w+)\(({_NUMBER}(?:, {_NUMBER})*)\)(?:\[([^]]*)\])?")
_SUPPORTS: dict[str, Callable[..., tuple[str, Fraction | None, Fraction | None]]] = {
    "Uniform": lambda a, b: ("real", a, b),
    "Normal": lambda _m, _s: ("real", None, None),
    "Beta": lambda _a, _b: ("real", Fraction(0), Fraction(1)),
    "Exponential": lambda _r: ("real", Fraction(0), None),
    "Bernoulli": lambda p: ("int", Fraction(p == 1) - 1, Fraction(2) - (p == 0)),
    "Poisson": lambda _r: ("int", Fraction(-1), None),
}


@dataclass(frozen=True)
class Variable:
    """What is declared of one: between which numbers it is, of what shape."""

    name: str
    kind: str
    low: Fraction | None
    high: Fraction | None
    shape: tuple[str, ...]
    symmetric: bool


def _end(text: str | None) -> Fraction | None:
    return None if text is None or "oo" in text else Fraction(text)


def _shape(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()


def _variable(line: str) -> Variable:
    if found := _DECLARED.fullmatch(line):
        name, kind, low, high, shape, symmetric, least, again, most = found.groups()
        assert again in (None, name)
        ends = (_end(low), _end(high)) if kind == "real" else (_end(least), _end(most))
        return Variable(name, kind, *ends, _shape(shape), symmetric is not None)
    found = _DRAWN.fullmatch(line)
    assert found, line
    name, family, parameters, shape = found.groups()
    kind, low, high = _SUPPORTS[family](*map(Fraction, parameters.split(", ")))
    return Variable(name, kind, low, high, _shape(shape), False)


def draw(b: Believed, rng: random.Random) -> dict[str, Any]:
    """A random point of the declared domains."""
    sizes = {name: rng.randint(1, 4) for name in b.sizes}
    point: dict[str, Any] = dict(sizes)
    for v in b.variables:
        shape = tuple(int(_At(b, sizes, None).value(_parsed(n))) for n in v.shape)
        entries = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            entries[place] = _entry(v, rng, sizes)
        if v.symmetric:
            entries = np.where(np.tri(*shape, dtype=bool), entries, entries.T)
        point[v.name] = entries if shape else entries[()]
    return point


def _entry(v: Variable, rng: random.Random, sizes: Mapping[str, int]) -> Any:
    if v.kind == "bool":
        return rng.random() < 0.5
    if v.kind == "complex":
        return mp.mpc(rng.uniform(-3, 3), rng.uniform(-3, 3))
    if v.kind == "int":
        reach = max([4, *sizes.values()])
        low = -reach if v.low is None else v.low.__floor__() + 1
        high = low + 2 * reach if v.high is None else v.high.__ceil__() - 1
        return int(rng.randint(low, max(low, high)))
    low = v.low if v.low is not None else v.high - 3 if v.high is not None else Fraction(-3)
    high = v.high if v.high is not None else low + 6
    return low + (high - low) * Fraction(rng.randrange(1, 2**30), 2**30)


# ---------------------------------------------------------------------------------------------------------- statements


@dataclass
class Believed:
    """A statement as it is printed.

    Args:
        lines: as `check` prints them.
    """

    lines: Sequence[str]
    sizes: list[str] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    definitions: dict[str, ast.expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert all(line.isprintable() for line in self.lines)
        # What is spelled out is a letter: that of a name that is read from right to left, say.
        *rest, claim = (
            re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), line) for line in self.lines
        )
        for line in rest:
            if found := _SIZE.fullmatch(line):
                assert found[1] == found[2]
                self.sizes.append(found[1])
            elif " = " in line:
                name, text = line.split(" = ")
                assert re.fullmatch(_NAME, name)
                assert name not in self.definitions
                self.definitions[name] = _parsed(text)
            else:
                self.variables.append(_variable(line))
        names = [*self.sizes, *(v.name for v in self.variables), *self.definitions]
        assert len(set(names)) == len(names)
        left, right = claim.split(" = ")
        derivative = re.fullmatch(rf"d\((.*)\)/d({_NAME})", left)
        self.wrt = derivative[2] if derivative else None
        self.left, self.right = _parsed(derivative[1] if derivative else left), _parsed(right)
        self.complex = any(v.kind == "complex" for v in self.variables)

    def sides(self, point: Mapping[str, Any]) -> tuple[Any, Any]:
        """The two sides at a point; of a derivative in a direction, if it is one by an array.

        Raises:
            Undefined: if a side has no value there.
        """
        here = _At(self, point, None)
        right = here.value(self.right)
        if self.wrt is None:
            return here.value(self.left), right
        step, direction, at = mp.mpf(10) ** -12, self._direction(point[self.wrt]), each(real, point[self.wrt])
        up, down = (
            _At(self, {**point, self.wrt: at + sign * step * direction}, here).value(self.left)
            for sign in (1, -1)
        )
        here.value(self.left)
        slope = each(lambda u, v: (real(u) - real(v)) / (2 * step), up, down)
        change = each(lambda u, v: real(u) * v, right, direction)
        axes = np.ndim(point[self.wrt])
        return slope, np.sum(change, axis=tuple(range(-axes, 0))) if axes else change

    def _direction(self, at: Any) -> Any:
        rng = random.Random(1)
        return each(lambda _: mp.mpf(rng.uniform(-1, 1)), at) if np.ndim(at) else mp.mpf(1)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def differ(left: Any, right: Any) -> bool:
    """Whether some entry of two values is certainly another, where both are numbers."""
    left, right = np.broadcast_arrays(np.asarray(left, dtype=object), np.asarray(right, dtype=object))
    both = (
        (x, y) for x, y in zip(left.ravel(), right.ravel(), strict=True) if x is not None and y is not None
    )
    return any(apart(x, y, 1e-10) for x, y in both)


def precisely(b: Believed, point: Mapping[str, Any]) -> tuple[Any, Any]:
    """The two sides at a point, with digits that more digits do not change.

    Raises:
        Undefined: if a side has no value there, or is not known so well.
    """
    found = []
    try:
        for digits in (_DIGITS, 2 * _DIGITS):
            mp.dps = digits
            found.append(b.sides(point))
        if any(map(differ, *found)):
            raise Undefined
    finally:
        mp.dps = _DIGITS
    return found[0]


# --------------------------------------------------------------------------------------------------------- expressions


class _At:
    """Expressions at a point; ``frozen``: the point for what `stop_gradient` holds."""

    def __init__(self, b: Believed, point: Mapping[str, Any], frozen: _At | None) -> None:
        self.b, self.point, self.frozen = b, point, frozen
        self.known: dict[str, Any] = {}
        self.operators = operators(complexes=b.complex)

    def value(self, e: ast.expr) -> Any:
        try:
            return self._value(e)
        except (ZeroDivisionError, ValueError, OverflowError, IndexError) as error:
            raise Undefined from error

    def _value(self, e: ast.expr) -> Any:
        match e:
            case ast.Constant(bool(v)):
                return v
            case ast.Constant(int(v)):
                return Fraction(v)
            case ast.Name("pi"):
                return +mp.pi
            case ast.Name(name) if name in self.point:
                return self.point[name]
            case ast.Name(name):
                if name not in self.known:
                    self.known[name] = self._value(self.b.definitions[name])
                return self.known[name]
            case ast.UnaryOp(ast.USub(), x):
                return each(lambda v: -v, self._value(x))
            case ast.UnaryOp(ast.Not(), x):
                return each(lambda v: not v, self._value(x))
            case ast.Attribute(x, "T"):
                return self._value(x).T
            case ast.BinOp(x, ast.MatMult(), y):
                return product(self._value(x), self._value(y))
            case ast.BinOp(x, op, y):
                return each(self.operators[type(op)], self._value(x), self._value(y))
            case ast.BoolOp(op, values):
                fold = all if isinstance(op, ast.And) else any
                return each(lambda *v: fold(v), *map(self._value, values))
            case ast.Compare(x, [op], [y]):
                return each(lambda u, v: compared(op, u, v), self._value(x), self._value(y))
            case ast.Call(ast.Name("where"), [c, x, y], []):
                return self._where(c, x, y)
            case ast.Call(ast.Name("stop_gradient"), [x], []):
                return (self.frozen or self)._value(x)
            case ast.Call(ast.Name(name), args, keywords):
                read = {"shape": self._value}
                named = {k.arg or "": read.get(k.arg or "", ast.literal_eval)(k.value) for k in keywords}
                return self._call(name, args, named)
            case ast.Tuple(values):
                return tuple(self._value(v) for v in values)
            case _:
                raise AssertionError(f"nobody reads {ast.dump(e)}")

    def _where(self, c: ast.expr, x: ast.expr, y: ast.expr) -> Any:
        truth = self._value(c)
        if not np.ndim(truth):
            return self._value(x if truth else y)
        return each(lambda t, u, v: u if t else v, truth, self._value(x), self._value(y))

    def _call(self, name: str, args: list[ast.expr], named: Mapping[str, Any]) -> Any:
        if name in CONSTANTS and not args:
            return CONSTANTS[name]()
        if name == "einsum":
            return einsum(ast.literal_eval(args[0]), *map(self._value, args[1:]))
        if name in ("slice", "unslice"):
            places = tuple(slice(*map(self._place, triple.elts)) for triple in args[1].elts)  # type: ignore[attr-defined]
            x = self._value(args[0])
            return x[places] if name == "slice" else unslice(x, places, tuple(map(int, self._value(args[2]))))
        values = [self._value(a) for a in args]
        if name in ARRAYS:
            return ARRAYS[name](*values, **named)
        functions = COMPLEX if self.b.complex else REAL
        assert name in functions, f"nobody reads {name}"
        return each(functions[name], *values)

    def _place(self, e: ast.expr) -> int | None:
        return None if isinstance(e, ast.Constant) and e.value is None else int(self._value(e))
