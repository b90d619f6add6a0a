"""The ops that move entries of arrays: gather, scatter, reshape, slice and others; and arrays of positions."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from symgrad.checker.balls.entries import Array, Axes, box, elementwise, full_array, unbox
from symgrad.checker.balls.scalar_ops import Value, add
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
