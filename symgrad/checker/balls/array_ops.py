"""Contractions, reductions and moves of arrays of values (`balls/scalar_ops.py`), and the tables of all array ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, TypeAlias

import numpy as np

from symgrad.checker.balls.entries import Array, Axes, box, elementwise, full_array, reduce_axes, unbox
from symgrad.checker.balls.matrices import MATRICES
from symgrad.checker.balls.matrix_products import contract_pair
from symgrad.checker.balls.piecewise_ops import POINTWISE_OPS, SMOOTH_OPS
from symgrad.checker.balls.scalar_ops import Binary, Value, add, div, exp, log, mul, neg, sqrt
from symgrad.checker.clock import STEP, tick
from symgrad.checker.limits import ARRAY_ENTRIES, CONTRACTION_PRODUCTS, UNBATCHED_PRODUCTS
from symgrad.checker.numbers import fmpq

# ---------------------------------------------------------------------------------------------------------- positions


def _integer(value: Value) -> int | None:
    if type(value) is fmpq and value.q == 1:
        return int(value.p)
    return None


def _valid_positions(index: Array, size: int) -> tuple[Array, Array]:
    """Return positions counted from 0, and a mask of those that are not integers, not certain, or outside the axis."""
    found = np.zeros(index.shape, dtype=np.int64)
    wrong = np.zeros(index.shape, dtype=bool)
    for place in np.ndindex(index.shape):
        value = _integer(index[place])
        if value is None or not -size <= value < size:
            wrong[place] = True
        else:
            found[place] = value % size
    return found, wrong


def _gather(axes: Axes, x: Array, *indices: Any) -> Array:
    places = [_valid_positions(box(i), x.shape[a]) for i, a in zip(indices, axes, strict=True)]
    wrong = reduce(np.logical_or, (w for _, w in places))
    kept = [n for i, n in enumerate(x.shape) if i not in axes]
    if any(x.shape[a] == 0 for a in axes):
        return full_array((*kept[: axes[0]], *wrong.shape, *kept[axes[0] :]), None)
    rows = np.array(np.moveaxis(x, axes, range(len(axes)))[tuple(p for p, _ in places)], dtype=object)
    rows = rows.reshape((*wrong.shape, *kept))
    rows[wrong] = None
    return np.moveaxis(rows, range(wrong.ndim), range(axes[0], axes[0] + wrong.ndim))


def _scatter_add(axes: Axes, shape: tuple[int, ...], values: Array, *indices: Any) -> Array:
    places = [_valid_positions(box(i), shape[a]) for i, a in zip(indices, axes, strict=True)]
    wrong = reduce(np.logical_or, (w for _, w in places))
    if wrong.any():
        return full_array(shape, None)
    where = np.broadcast_arrays(*(p for p, _ in places))
    depth = wrong.ndim
    rows = np.moveaxis(values, range(axes[0], axes[0] + depth), range(depth))
    result = full_array(shape, fmpq(0))
    target = np.moveaxis(result, axes, range(len(axes)))
    for place in np.ndindex(wrong.shape):
        spot = tuple(int(w[place]) for w in where)
        target[spot] = unbox(elementwise(add, target[spot], rows[place]))
    return result


def _one_hot(depth: int, index: Any) -> Array:
    index = box(index)
    out = np.empty((*index.shape, depth), dtype=object)
    for place in np.ndindex(index.shape):
        value = _integer(index[place])
        for k in range(depth):
            out[(*place, k)] = None if value is None else fmpq(int(k == value))
    return out


def _index_array(*shape: int) -> Array:
    out = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        out[place] = fmpq(int(place[0] == place[-1]) if len(shape) == 2 else place[0])
    return out


# ------------------------------------------------------------------------------------------------------------- layout


def _slices(triples: tuple[tuple[int | None, int | None, int], ...]) -> tuple[slice, ...]:
    return tuple(slice(*t) for t in triples)


def _reshape(shape: tuple[int, ...], x: Array) -> Array:
    return np.reshape(x, shape)


def _broadcast_to(shape: tuple[int, ...], x: Array) -> Array:
    return np.broadcast_to(x, shape)


def _slice(triples: Any, x: Array) -> Array:
    return x[_slices(triples)]


def _concatenate(axis: int, *parts: Array) -> Array:
    return np.concatenate(parts, axis=axis)


def pack(axis: int, *parts: Array) -> Array:
    """Return arrays side by side: their axes from an axis on become one."""
    lead = parts[0].shape[:axis]
    return np.concatenate([p.reshape((*lead, math.prod(p.shape[axis:]))) for p in parts], axis=axis)


def _part(number: int, shapes: tuple[tuple[int, ...], ...], axis: int, whole: Array) -> Array:
    start = sum(map(math.prod, shapes[:number]))
    found = whole[(*[slice(None)] * axis, slice(start, start + math.prod(shapes[number])))]
    return found.reshape((*whole.shape[:axis], *shapes[number]))


def _unslice(triples: Any, shape: tuple[int, ...], x: Array) -> Array:
    result = full_array(shape, fmpq(0))
    result[_slices(triples)] = unbox(x)
    return result


LAYOUT_OPS: dict[str, Callable[..., Array]] = {
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "slice": _slice,
    "unslice": _unslice,
    "concatenate": _concatenate,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "one_hot": _one_hot,
    "iota": _index_array,
    "eye": _index_array,
}
"""Ops by name. Each is a function of the op's parameters, with sizes replaced by numbers, and of its arguments."""


_Reduction: TypeAlias = "Callable[[Axes, Array], Array]"


def _total(values: Sequence[Value]) -> Value:
    zero: Value = fmpq(0)
    return reduce(add, values, zero)


def _map(function: Callable[[Value], Value], values: list[Value]) -> list[Value]:
    row = np.empty(len(values), dtype=object)
    row[:] = values
    return elementwise(function, row).tolist()


def _product(values: Sequence[Value]) -> Value:
    one: Value = fmpq(1)
    return reduce(mul, values, one)


def _over(combine: Callable[[list[Value]], Value]) -> _Reduction:
    """Turn a function of a list of values into a reduction over axes."""
    return partial(reduce_axes, combine=combine)


def _einsum(labels: tuple[Axes, ...], result: Axes, *operands: Array) -> Array:
    order = list(dict.fromkeys([*result, *(i for own in labels for i in own)]))
    sizes = {i: n for own, x in zip(labels, operands, strict=True) for i, n in zip(own, x.shape, strict=True)}
    products = math.prod(sizes[i] for i in order)
    if products > CONTRACTION_PRODUCTS:
        return full_array(tuple(sizes[i] for i in result), None)
    if products > UNBATCHED_PRODUCTS:
        return _contract_pairwise(labels, result, operands, sizes)
    grid = dict(zip(order, np.ogrid[tuple(slice(sizes[i]) for i in order)], strict=True))
    product: Any = None
    for own, x in zip(labels, operands, strict=True):
        spread = box(x[tuple(grid[i] for i in own)])
        product = spread if product is None else elementwise(mul, product, spread)
    product = np.broadcast_to(product, tuple(sizes[i] for i in order))
    if len(result) == len(order):
        return product
    return reduce_axes(tuple(range(len(result), len(order))), product, _total)


def _contract_pairwise(
    labels: tuple[Axes, ...], result: Axes, operands: Sequence[Array], sizes: dict[int, int]
) -> Array:
    """Contract the operands one after the other, as matrix products."""
    unknown = full_array(tuple(sizes[i] for i in result), None)
    found: Array = box(fmpq(1))
    axes: list[int] = []
    for k, (own, x) in enumerate(zip(labels, operands, strict=True)):
        later = {*result, *(i for its in labels[k + 1 :] for i in its)}
        once = list(dict.fromkeys(own))
        x = box(x[tuple(np.ogrid[tuple(slice(sizes[i]) for i in once)][once.index(i)] for i in own)])
        x, once = _sum_unused(x, once, {*later, *axes})
        found, axes = _sum_unused(found, axes, {*later, *once})
        if math.prod(sizes[i] for i in {*axes, *once} & later) > ARRAY_ENTRIES:
            return unknown
        if not later.issuperset(once):
            found, axes = contract_pair(found, axes, x, once, later)
        else:
            both = [*axes, *(i for i in once if i not in axes)]
            found, axes = elementwise(mul, _align_axes(found, axes, both), _align_axes(x, once, both)), both
    if set(axes) != set(
        result
    ):  # no operand has this axis of the result: a program cannot contain such a contraction
        return unknown
    return found.transpose([axes.index(i) for i in result])


def _sum_unused(x: Array, own: list[int], wanted: set[int]) -> tuple[Array, list[int]]:
    """Sum over the labels that neither a later operand nor the result has."""
    gone = tuple(k for k, i in enumerate(own) if i not in wanted)
    return (reduce_axes(gone, x, _total), [i for i in own if i in wanted]) if gone else (x, own)


def _align_axes(x: Array, own: list[int], order: list[int]) -> Array:
    """Order the axes of an array by labels, and insert an axis of length 1 for each label that it does not have."""
    turned = x.transpose([own.index(i) for i in order if i in own])
    return turned[tuple(slice(None) if i in own else None for i in order)]


def _norm_of(values: list[Value]) -> Value:
    total = _total(_map(lambda v: mul(v, v), values))
    if total is not None and type(total) is not fmpq and not total > 0:
        total = total.nonnegative_part()
    return sqrt(total)


def _smooth_norm_of(values: list[Value]) -> Value:
    found = _norm_of(values)
    return found if found is not None and found > 0 else None


def _extremum(op: Binary) -> _Reduction:
    return _over(lambda values: reduce(op, values) if values else None)


def _first_extremum(least: bool, values: list[Value]) -> int | None:
    """Return the position of the first extreme entry; None if it is not certain."""
    below = POINTWISE_OPS["lt"]
    best = 0
    for i in range(1, len(values)):
        better = below(values[i], values[best]) if least else below(values[best], values[i])
        if better is None:
            return None
        best = i if better else best
    return best if values and values[best] is not None else None


def _strict_extremum(least: bool, values: list[Value]) -> int | None:
    """Return the position of the extreme entry; None if another entry, which is not a copy of it, may tie."""
    best, strictly = _first_extremum(least, values), SMOOTH_OPS["le"]
    if best is None:
        return None
    for v in values:
        if not (strictly(values[best], v) if least else strictly(v, values[best])):
            return None
    return best


_Choice: TypeAlias = "Callable[[bool, list[Value]], int | None]"


def _selected_entry(choose: _Choice, least: bool) -> _Reduction:
    def of(values: list[Value]) -> Value:
        best = choose(least, values)
        return None if best is None else values[best]

    return _over(of)


def _argument_of_extreme(choose: _Choice, least: bool) -> Callable[[int | None, Array], Array]:
    """Return argmax or argmin, whose position is selected by a rule."""

    def of(values: list[Value]) -> Value:
        best = choose(least, values)
        return None if best is None else fmpq(best)

    def apply(axis: int | None, x: Array) -> Array:
        return reduce_axes(tuple(range(x.ndim)) if axis is None else (axis,), x, of)

    return apply


def _prod_except(axis: int, x: Array) -> Array:
    moved = np.moveaxis(x, axis, -1)
    out = np.empty(moved.shape, dtype=object)
    for place in np.ndindex(moved.shape):
        tick(STEP * (1 + moved.shape[-1] / 4))
        out[place] = _product([v for k, v in enumerate(moved[place[:-1]]) if k != place[-1]])
    return np.moveaxis(out, -1, axis)


_logsumexp = _over(lambda values: log(_total(_map(exp, values))) if values else None)


def _softmax(axes: Axes, x: Array) -> Array:
    e: Array = elementwise(exp, x)
    return elementwise(div, e, np.expand_dims(reduce_axes(axes, e, _total), axes))


def _log_softmax(axes: Axes, x: Array) -> Array:
    return elementwise(add, x, elementwise(neg, np.expand_dims(_logsumexp(axes, x), axes)))


def _cumsum(axis: int, reverse: int, x: Array) -> Array:
    moved = np.moveaxis(np.flip(x, axis) if reverse else x, axis, 0)
    out = np.empty(moved.shape, dtype=object)
    for i in range(len(moved)):
        out[i] = unbox(elementwise(add, out[i - 1], moved[i])) if i else moved[i]
    back = np.moveaxis(out, 0, axis)
    return np.flip(back, axis) if reverse else back


def _logcumsumexp(axis: int, x: Array) -> Array:
    totals: Array = elementwise(log, _cumsum(axis, 0, elementwise(exp, x)))
    return totals


ARRAY_OPS: dict[str, Callable[..., Array]] = {
    "einsum": _einsum,
    "pack": pack,
    "part": _part,
    "mean": _over(lambda values: div(_total(values), fmpq(len(values)))),
    "max": _extremum(POINTWISE_OPS["maximum"]),
    "min": _extremum(POINTWISE_OPS["minimum"]),
    "argmax": _argument_of_extreme(_first_extremum, False),
    "argmin": _argument_of_extreme(_first_extremum, True),
    "prod": _over(_product),
    "prod_except": _prod_except,
    "logsumexp": _logsumexp,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "norm": _over(_norm_of),
    "cumsum": _cumsum,
    "logcumsumexp": _logcumsumexp,
    **LAYOUT_OPS,
    **MATRICES,
}
"""Ops by name: functions of their parameters, with lengths as numbers, and of their arguments."""

SMOOTH_ARRAY_OPS: dict[str, Callable[..., Array]] = {
    "max": _selected_entry(_strict_extremum, False),
    "min": _selected_entry(_strict_extremum, True),
    "argmax": _argument_of_extreme(_strict_extremum, False),
    "argmin": _argument_of_extreme(_strict_extremum, True),
    "norm": _over(_smooth_norm_of),
}
"""Variants that are unknown where several entries tie, and for a norm at zero."""
