"""The ops that are not elementwise, at concrete sizes, on NumPy arrays of values (`symgrad/proof/ball_ops.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from symgrad.proof.ball_choices import CERTAIN, LOCAL
from symgrad.proof.ball_matrices import MATRICES
from symgrad.proof.ball_ops import Binary, Value, add, div, exp, log, mul, neg, sqrt
from symgrad.proof.ball_products import contracted
from symgrad.proof.clock import tick
from symgrad.proof.field import flint

__all__ = ["ARRAYS", "ARRAYS_LOCAL", "LARGEST_ARRAY", "boxed", "elementwise", "filled", "is_array", "unboxed"]

Array: TypeAlias = Any
Axes: TypeAlias = "tuple[int, ...]"
_Reduction: TypeAlias = "Callable[[Axes, Array], Array]"

fmpq: Any = flint.fmpq

LARGEST_ARRAY = 200_000
"""Entries of the largest array that is evaluated: beyond it a value is unknown."""

_AT_ONCE = 256  # entries between looks at the clock
_FEW = 4096  # products of a contraction that are formed one by one
_MOST_PRODUCTS = 10**9


def is_array(x: Any) -> bool:
    """Tell whether a value has axes."""
    return isinstance(x, np.ndarray)


def boxed(x: Any) -> Array:
    """Return a value as an array without axes, an array as it is."""
    if is_array(x):
        return x
    array: Array = np.empty((), dtype=object)
    array[()] = x
    return array


def unboxed(x: Array) -> Any:
    """Return the value of an array without axes, another array as it is."""
    return x[()] if is_array(x) and x.ndim == 0 else x


def filled(shape: tuple[int, ...], value: Value) -> Array:
    """Return an array with one value everywhere."""
    array = np.empty(shape, dtype=object)
    array.fill(value)
    return array


def elementwise(function: Callable[..., Value], *args: Any) -> Array:
    """Apply a function of values to the entries of arrays, with broadcasting; the result is an array.

    Raises:
        TimeoutError: at the deadline of `symgrad.proof.clock`.
    """
    apply: Any = np.frompyfunc(function, len(args), 1)
    arrays = np.broadcast_arrays(*map(boxed, args))
    size: int = arrays[0].size
    if size <= _AT_ONCE:
        tick()
        return boxed(apply(*arrays))
    out = np.empty(size, dtype=object)
    for start in range(0, size, _AT_ONCE):
        tick()
        part = slice(start, start + _AT_ONCE)
        out[part] = apply(*(a.flat[part] for a in arrays))
    return out.reshape(arrays[0].shape)


def _total(values: Sequence[Value]) -> Value:
    zero: Value = fmpq(0)
    return reduce(add, values, zero)


def _mapped(function: Callable[[Value], Value], values: list[Value]) -> list[Value]:
    row = np.empty(len(values), dtype=object)
    row[:] = values
    return elementwise(function, row).tolist()


def _product(values: Sequence[Value]) -> Value:
    one: Value = fmpq(1)
    return reduce(mul, values, one)


def _over(combine: Callable[[list[Value]], Value]) -> _Reduction:
    """Return a function of a list of values as a reduction over axes."""

    def apply(axes: Axes, x: Array) -> Array:
        return _along(axes, x, combine)

    return apply


def _along(axes: Axes, x: Array, combine: Callable[[list[Value]], Value]) -> Array:
    """Apply a function of a list of values to all entries along axes."""
    rank: int = x.ndim
    moved: Array = np.moveaxis(x, axes, range(rank - len(axes), rank))
    kept: tuple[int, ...] = moved.shape[: rank - len(axes)]
    count = math.prod(kept)
    rows = moved.reshape(count, moved.size // count if count else 0)
    out = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        tick()
        out[i] = combine(list(row))
    return out.reshape(kept)


def _einsum(labels: tuple[Axes, ...], result: Axes, *operands: Array) -> Array:
    order = list(dict.fromkeys([*result, *(i for own in labels for i in own)]))
    sizes = {i: n for own, x in zip(labels, operands, strict=True) for i, n in zip(own, x.shape, strict=True)}
    products = math.prod(sizes[i] for i in order)
    if products > _MOST_PRODUCTS:
        return filled(tuple(sizes[i] for i in result), None)
    if products > _FEW:
        return _of_pairs(labels, result, operands, sizes)
    grid = dict(zip(order, np.ogrid[tuple(slice(sizes[i]) for i in order)], strict=True))
    product: Any = None
    for own, x in zip(labels, operands, strict=True):
        spread = boxed(x[tuple(grid[i] for i in own)])
        product = spread if product is None else elementwise(mul, product, spread)
    product = np.broadcast_to(product, tuple(sizes[i] for i in order))
    if len(result) == len(order):
        return product
    return _along(tuple(range(len(result), len(order))), product, _total)


def _of_pairs(
    labels: tuple[Axes, ...], result: Axes, operands: Sequence[Array], sizes: dict[int, int]
) -> Array:
    """Contract one operand after the other, as products of matrices."""
    unknown = filled(tuple(sizes[i] for i in result), None)
    found: Array = boxed(fmpq(1))
    axes: list[int] = []
    for k, (own, x) in enumerate(zip(labels, operands, strict=True)):
        later = {*result, *(i for its in labels[k + 1 :] for i in its)}
        once = list(dict.fromkeys(own))
        x = boxed(x[tuple(np.ogrid[tuple(slice(sizes[i]) for i in once)][once.index(i)] for i in own)])
        x, once = _summed(x, once, {*later, *axes})
        found, axes = _summed(found, axes, {*later, *once})
        if math.prod(sizes[i] for i in {*axes, *once} & later) > LARGEST_ARRAY:
            return unknown
        if not later.issuperset(once):
            found, axes = contracted(found, axes, x, once, later)
        else:
            both = [*axes, *(i for i in once if i not in axes)]
            found, axes = elementwise(mul, _spread(found, axes, both), _spread(x, once, both)), both
    if set(axes) != set(result):  # an axis of the result that no operand has is none that programs can write
        return unknown
    return found.transpose([axes.index(i) for i in result])


def _summed(x: Array, own: list[int], wanted: set[int]) -> tuple[Array, list[int]]:
    """Sum over the labels that are not wanted."""
    gone = tuple(k for k, i in enumerate(own) if i not in wanted)
    return (_along(gone, x, _total), [i for i in own if i in wanted]) if gone else (x, own)


def _spread(x: Array, own: list[int], order: list[int]) -> Array:
    """Return an array with its axes in the order of the labels, with an axis of length 1 for each other label."""
    turned = x.transpose([own.index(i) for i in order if i in own])
    return turned[tuple(slice(None) if i in own else None for i in order)]


def _mean_of(values: list[Value]) -> Value:
    return div(_total(values), fmpq(len(values)))


def _norm_of(values: list[Value]) -> Value:
    total = _total(_mapped(lambda v: mul(v, v), values))
    if total is not None and type(total) is not fmpq and not total > 0:
        total = total.nonnegative_part()
    return sqrt(total)


def _cone_of(values: list[Value]) -> Value:
    found = _norm_of(values)
    return found if found is not None and found > 0 else None


def _extreme(op: Binary) -> _Reduction:
    def of(values: list[Value]) -> Value:
        return reduce(op, values) if values else None

    return _over(of)


def _first(least: bool, values: list[Value]) -> int | None:
    """Return where the extreme entry is, the first one of several, where that is certain."""
    below = CERTAIN["lt"]
    best = 0
    for i in range(1, len(values)):
        better = below(values[i], values[best]) if least else below(values[best], values[i])
        if better is None:
            return None
        best = i if better else best
    return best if values and values[best] is not None else None


def _only(least: bool, values: list[Value]) -> int | None:
    """Return where the extreme entry is if no entry that comes from elsewhere is as large."""
    best, strictly = _first(least, values), LOCAL["le"]
    if best is None:
        return None
    for v in values:
        if not (strictly(values[best], v) if least else strictly(v, values[best])):
            return None
    return best


_Choice: TypeAlias = "Callable[[bool, list[Value]], int | None]"


def _entry(choose: _Choice, least: bool) -> _Reduction:
    def of(values: list[Value]) -> Value:
        best = choose(least, values)
        return None if best is None else values[best]

    return _over(of)


def _position(choose: _Choice, least: bool) -> Callable[[int | None, Array], Array]:
    """Return argmax or argmin."""

    def of(values: list[Value]) -> Value:
        best = choose(least, values)
        return None if best is None else fmpq(best)

    def apply(axis: int | None, x: Array) -> Array:
        return _along(tuple(range(x.ndim)) if axis is None else (axis,), x, of)

    return apply


def _prod_except(axis: int, x: Array) -> Array:
    moved = np.moveaxis(x, axis, -1)
    out = np.empty(moved.shape, dtype=object)
    for place in np.ndindex(moved.shape):
        tick()
        out[place] = _product([v for k, v in enumerate(moved[place[:-1]]) if k != place[-1]])
    return np.moveaxis(out, -1, axis)


def _log_of_sum(values: list[Value]) -> Value:
    return log(_total(_mapped(exp, values))) if values else None


_logsumexp = _over(_log_of_sum)


def _softmax(axes: Axes, x: Array) -> Array:
    e: Array = elementwise(exp, x)
    return elementwise(div, e, np.expand_dims(_along(axes, e, _total), axes))


def _log_softmax(axes: Axes, x: Array) -> Array:
    return elementwise(add, x, elementwise(neg, np.expand_dims(_logsumexp(axes, x), axes)))


def _cumsum(axis: int, reverse: int, x: Array) -> Array:
    moved = np.moveaxis(np.flip(x, axis) if reverse else x, axis, 0)
    out = np.empty(moved.shape, dtype=object)
    for i in range(len(moved)):
        out[i] = unboxed(elementwise(add, out[i - 1], moved[i])) if i else moved[i]
    back = np.moveaxis(out, 0, axis)
    return np.flip(back, axis) if reverse else back


# ---------------------------------------------------------------------------------------------------------- positions


def _whole(value: Value) -> int | None:
    if type(value) is fmpq and value.q == 1:
        return int(value.p)
    return None


def _places(index: Array, size: int) -> tuple[Array, Array]:
    """Return positions from 0, and where there is none: not whole, not certain, or outside the axis."""
    found = np.zeros(index.shape, dtype=np.int64)
    wrong = np.zeros(index.shape, dtype=bool)
    for place in np.ndindex(index.shape):
        value = _whole(index[place])
        if value is None or not -size <= value < size:
            wrong[place] = True
        else:
            found[place] = value % size
    return found, wrong


def _gather(axes: Axes, x: Array, *indices: Any) -> Array:
    places = [_places(boxed(i), x.shape[a]) for i, a in zip(indices, axes, strict=True)]
    wrong = reduce(np.logical_or, (w for _, w in places))
    kept = [n for i, n in enumerate(x.shape) if i not in axes]
    if any(x.shape[a] == 0 for a in axes):
        return filled((*kept[: axes[0]], *wrong.shape, *kept[axes[0] :]), None)
    rows = np.array(np.moveaxis(x, axes, range(len(axes)))[tuple(p for p, _ in places)], dtype=object)
    rows = rows.reshape((*wrong.shape, *kept))
    rows[wrong] = None
    return np.moveaxis(rows, range(wrong.ndim), range(axes[0], axes[0] + wrong.ndim))


def _scatter_add(axes: Axes, shape: tuple[int, ...], values: Array, *indices: Any) -> Array:
    places = [_places(boxed(i), shape[a]) for i, a in zip(indices, axes, strict=True)]
    wrong = reduce(np.logical_or, (w for _, w in places))
    if wrong.any():
        return filled(shape, None)
    where = np.broadcast_arrays(*(p for p, _ in places))
    depth = wrong.ndim
    rows = np.moveaxis(values, range(axes[0], axes[0] + depth), range(depth))
    result = filled(shape, fmpq(0))
    target = np.moveaxis(result, axes, range(len(axes)))
    for place in np.ndindex(wrong.shape):
        spot = tuple(int(w[place]) for w in where)
        target[spot] = unboxed(elementwise(add, target[spot], rows[place]))
    return result


def _one_hot(depth: int, index: Any) -> Array:
    index = boxed(index)
    out = np.empty((*index.shape, depth), dtype=object)
    for place in np.ndindex(index.shape):
        value = _whole(index[place])
        for k in range(depth):
            out[(*place, k)] = None if value is None else fmpq(int(k == value))
    return out


def _counted(*shape: int) -> Array:
    out = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        out[place] = fmpq(int(place[0] == place[-1]) if len(shape) == 2 else place[0])
    return out


# ------------------------------------------------------------------------------------------------------------- layout


def _key(triples: tuple[tuple[int | None, int | None, int], ...]) -> tuple[slice, ...]:
    return tuple(slice(*t) for t in triples)


def _reshape(shape: tuple[int, ...], x: Array) -> Array:
    return np.reshape(x, shape)


def _broadcast_to(shape: tuple[int, ...], x: Array) -> Array:
    return np.broadcast_to(x, shape)


def _slice(triples: Any, x: Array) -> Array:
    return x[_key(triples)]


def _concatenate(axis: int, *parts: Array) -> Array:
    return np.concatenate(parts, axis=axis)


def _unslice(triples: Any, shape: tuple[int, ...], x: Array) -> Array:
    result = filled(shape, fmpq(0))
    result[_key(triples)] = unboxed(x)
    return result


ARRAYS: dict[str, Callable[..., Array]] = {
    "einsum": _einsum,
    "mean": _over(_mean_of),
    "max": _extreme(CERTAIN["maximum"]),
    "min": _extreme(CERTAIN["minimum"]),
    "argmax": _position(_first, False),
    "argmin": _position(_first, True),
    "prod": _over(_product),
    "prod_except": _prod_except,
    "logsumexp": _logsumexp,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "norm": _over(_norm_of),
    "cumsum": _cumsum,
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "slice": _slice,
    "unslice": _unslice,
    "concatenate": _concatenate,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "one_hot": _one_hot,
    "iota": _counted,
    "eye": _counted,
    **MATRICES,
}
"""Ops by name: functions of their parameters, with lengths as numbers, and their arguments."""

ARRAYS_LOCAL: dict[str, Callable[..., Array]] = {
    "max": _entry(_only, False),
    "min": _entry(_only, True),
    "argmax": _position(_only, False),
    "argmin": _position(_only, True),
    "norm": _over(_cone_of),
}
"""Those that are not certain where several entries tie, or at the tip of a cone."""
