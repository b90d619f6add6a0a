"""Infer the shape of each step, and whether it is a truth value.

The declared shape of a step is not trusted: the checker refuses a program if a declared shape is not the inferred one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

from symgrad.checker.balls.piecewise_ops import POINTWISE_OPS
from symgrad.checker.balls.scalar_ops import CONSTANTS
from symgrad.checker.clock import tick
from symgrad.checker.limits import FUNCTION_ORDER
from symgrad.checker.program.length_polynomials import (
    ONE,
    Size,
    add,
    is_nonnegative,
    length_polynomial,
    multiply,
    slice_length,
    subtract,
)
from symgrad.checker.program.steps import ProofProgram, ProofStep, StepBody, Symbol
from symgrad.support.errors import UsageError

Shape: TypeAlias = "tuple[Size, ...]"
_Rule: TypeAlias = "Callable[..., Shape]"
"""Map the shapes of the arguments and the static parameters to the shape of the result."""

_LOGIC = frozenset({"and_", "or_", "xor", "not_"})
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
_DATA_MOVEMENT = frozenset(
    {"stop_gradient", "reshape", "broadcast_to", "slice", "unslice", "concatenate", "gather"}
)


class _ShapeMismatch(Exception):
    """The shapes of the arguments do not fit the op."""


def _require(holds: bool) -> None:
    if not holds:
        raise _ShapeMismatch


def _shape(lengths: Any) -> Shape:
    _require(isinstance(lengths, tuple))
    return tuple(length_polynomial(n) for n in cast("tuple[Any, ...]", lengths))


def _integer(value: Any) -> int:
    _require(type(value) is int)
    return int(value)


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    rank = max(map(len, shapes), default=0)
    result = [ONE] * rank
    for shape in shapes:
        for k, n in enumerate(shape, rank - len(shape)):
            _require(ONE in (n, result[k]) or n == result[k])
            result[k] = n if n != ONE else result[k]
    return tuple(result)


def _axes(axes: Any, shape: Shape) -> list[int]:
    found = [_integer(a) for a in axes]
    _require(len(set(found)) == len(found) and all(0 <= a < len(shape) for a in found))
    return found


def _reduced(shapes: Sequence[Shape], axes: Any) -> Shape:
    gone = _axes(axes, shapes[0])
    return tuple(n for k, n in enumerate(shapes[0]) if k not in gone)


def _kept(shapes: Sequence[Shape], axes: Any) -> Shape:
    _axes(axes, shapes[0])
    return shapes[0]


def _along(shapes: Sequence[Shape], axis: Any, *more: Any) -> Shape:
    _axes([axis], shapes[0])
    _require(all(type(p) in (int, bool) for p in more))
    return shapes[0]


def _argument_of_extreme(shapes: Sequence[Shape], axis: Any) -> Shape:
    return () if axis is None else _reduced(shapes, [axis])


def _einsum(shapes: Sequence[Shape], labels: Any, result: Any) -> Shape:
    lengths: dict[int, Size] = {}
    for shape, own in zip(shapes, labels, strict=True):
        for n, label in zip(shape, own, strict=True):
            _require(lengths.setdefault(_integer(label), n) == n)
    _require(len(set(result)) == len(result))
    return tuple(lengths[label] for label in result)


def _reshape(shapes: Sequence[Shape], shape: Any) -> Shape:
    _require(multiply(shapes[0]) == multiply(_shape(shape)))
    return _shape(shape)


def _broadcast_to(shapes: Sequence[Shape], shape: Any) -> Shape:
    wanted = _shape(shape)
    _require(len(shapes[0]) <= len(wanted) and _broadcast([shapes[0], wanted]) == wanted)
    return wanted


def _slice(shapes: Sequence[Shape], triples: Any) -> Shape:
    found: list[Size] = []
    for n, (start, stop, step) in zip(shapes[0], triples, strict=True):
        _require(_integer(step) != 0)
        found.append(slice_length(n, start, stop, step))
    return tuple(found)


def _unslice(shapes: Sequence[Shape], triples: Any, shape: Any) -> Shape:
    whole = _shape(shape)
    _require(_slice([whole], triples) == shapes[0])
    return whole


def _concatenate(shapes: Sequence[Shape], axis: Any) -> Shape:
    (at,) = _axes([axis], shapes[0])
    total = add(s[at] for s in shapes)
    joined = {(*s[:at], total, *s[at + 1 :]) for s in shapes}
    _require(len(joined) == 1)
    return joined.pop()


def _gather(shapes: Sequence[Shape], axes: Any) -> Shape:
    found = _axes(axes, shapes[0])
    _require(found == sorted(found) and len(found) == len(shapes) - 1 > 0)
    kept = [n for k, n in enumerate(shapes[0]) if k not in found]
    return (*kept[: found[0]], *_broadcast(shapes[1:]), *kept[found[0] :])


def _scatter_add(shapes: Sequence[Shape], axes: Any, shape: Any) -> Shape:
    whole = _shape(shape)
    _require(_gather([whole, *shapes[1:]], axes) == shapes[0])
    return whole


def _square(shapes: Sequence[Shape]) -> Shape:
    _require(all(len(s) > 1 and s[-1] == s[-2] and s == shapes[0] for s in shapes))
    return shapes[0]


def _per_matrix(shapes: Sequence[Shape]) -> Shape:
    return _square(shapes)[:-2]


def _one_hot(shapes: Sequence[Shape], depth: Any) -> Shape:
    return (*shapes[0], length_polynomial(depth))


def _from_lengths(_shapes: Sequence[Shape], *lengths: Any) -> Shape:
    return _shape(lengths)


def _solve(shapes: Sequence[Shape]) -> Shape:
    matrix, right = shapes
    _square([matrix])
    _require(len(right) > 1 or len(matrix) == 2)
    _require(right[-2 if len(right) > 1 else -1] == matrix[-1])
    return right if len(right) == 1 else (*_broadcast([matrix[:-2], right[:-2]]), *right[-2:])


def _pack(shapes: Sequence[Shape], axis: Any) -> Shape:
    at = _integer(axis)
    lead = shapes[0][:at]
    _require(at >= 0 and all(s[:at] == lead and len(s) >= at for s in shapes))
    return (*lead, add(multiply(s[at:]) for s in shapes))


def _part(shapes: Sequence[Shape], number: Any, parts: Any, axis: Any) -> Shape:
    (whole,) = shapes
    own: list[Shape] = [_shape(p) for p in parts]
    at, k = _integer(axis), _integer(number)
    _require(0 <= k < len(own) and at >= 0 and len(whole) == at + 1)
    _require(add(map(multiply, own)) == whole[at])
    return (*whole[:at], *own[k])


def _recurrence(shapes: Sequence[Shape], length: Any, reverse: Any, body: Any) -> Shape:
    _require(isinstance(body, StepBody) and _integer(reverse) in (0, 1))
    check_shapes(body.program)
    (steps,) = _shape((length,))
    symbols = [_shape(s.shape) for s in body.program.symbols]
    first, second = _integer(body.carries), _integer(body.carries) + _integer(body.rows)
    _require(0 < first <= second <= len(symbols) == len(shapes))
    _require(all(s == Symbol(s.name, "real", None, None, s.shape) for s in body.program.symbols))
    # An array may have more rows than there are steps.
    _require(all(is_nonnegative(subtract(s[0], steps)) for s in shapes[first:second]))
    _require([*shapes[:first], *(s[1:] for s in shapes[first:second]), *shapes[second:]] == symbols)
    results = [body.program.steps[_integer(i)] for i in body.results if _integer(i) >= 0]
    _require([_shape(s.shape) for s in results] == symbols[:first])
    _require(not any(s.kind == "bool" for s in results))
    one: Shape = symbols[0] if first == 1 else (add(map(multiply, symbols[:first])),)
    return (add([steps, ONE]), *one)


_LEAVES: Mapping[str, Callable[[Any], bool]] = {
    "symbol": lambda name: isinstance(name, str),
    "number": lambda value: isinstance(value, bool | Fraction),
    "constant": lambda name: name in CONSTANTS,
    "size": lambda length: isinstance(length, str) and _shape((length,)) != (),
}
"""For each leaf, the check of its parameter."""

_RULES: Mapping[str, _Rule] = {
    "einsum": _einsum,
    **dict.fromkeys(("mean", "max", "min", "prod", "logsumexp", "norm"), _reduced),
    **dict.fromkeys(("softmax", "log_softmax"), _kept),
    **dict.fromkeys(("prod_except", "cumsum", "logcumsumexp"), _along),
    **dict.fromkeys(("argmax", "argmin"), _argument_of_extreme),
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "slice": _slice,
    "unslice": _unslice,
    "concatenate": _concatenate,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "one_hot": _one_hot,
    **dict.fromkeys(("iota", "eye"), _from_lengths),
    **dict.fromkeys(("inv", "cholesky", "expm", "sinm", "cosm"), _square),
    **dict.fromkeys(("expm_frechet", "sinm_frechet", "cosm_frechet"), _square),
    **dict.fromkeys(("det", "logdet"), _per_matrix),
    "solve": _solve,
    "pack": _pack,
    "part": _part,
    "recurrence": _recurrence,
}


@dataclass(frozen=True, slots=True)
class _Result:
    """The shape of a step, and whether it is a truth value."""

    shape: Shape
    truth: bool


def check_shapes(program: ProofProgram) -> None:
    """Check that the declared shape and kind of every step follow from its arguments.

    Raises:
        UsageError: at the first step whose declaration is wrong.
    """
    results: list[_Result] = []
    for i, step in enumerate(program.steps):
        tick()
        args = [results[a] for a in step.args]
        try:
            found = _Result(_shape_of(step, [a.shape for a in args]), _is_truth(step, args))
        except (_ShapeMismatch, IndexError, KeyError, TypeError, ValueError) as why:
            raise UsageError(f"step {i} ({step.op}) has arguments that do not fit it") from why
        if found != _Result(_shape(step.shape), step.kind == "bool"):
            raise UsageError(f"step {i} ({step.op}) has another shape or kind than declared")
        results.append(found)


def _shape_of(step: ProofStep, shapes: Sequence[Shape]) -> Shape:
    if step.op in _LEAVES:
        _require(not shapes and len(step.params) == 1 and _LEAVES[step.op](step.params[0]))
        return _shape(step.shape) if step.op == "symbol" else ()
    rule = _RULES.get(step.op)
    if rule is not None:
        return rule(shapes, *step.params)
    if step.op == "polygamma":
        _require(0 <= _integer(*step.params) <= FUNCTION_ORDER)
    else:
        _require(step.op in POINTWISE_OPS and not step.params)
    return _broadcast(shapes)


def _is_truth(step: ProofStep, args: Iterable[_Result]) -> bool:
    truths = [a.truth for a in args]
    match step.op:
        case "symbol":
            return step.kind == "bool"
        case "number":
            return isinstance(step.params[0], bool)
        case "where":
            _require(truths[0])
            return truths[1] and truths[2]
        case op if op in _LOGIC:
            _require(all(truths))
            return True
        case op if op in _DATA_MOVEMENT:
            return truths[0]
        case op:
            return op in _COMPARISONS
