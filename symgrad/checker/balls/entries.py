"""NumPy arrays of values: construction, and functions of their entries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from symgrad.checker.balls.scalar_ops import Value
from symgrad.checker.clock import STEP, tick

Array: TypeAlias = Any
Axes: TypeAlias = "tuple[int, ...]"


_CHUNK = 256  # entries between checks of the deadline


def is_array(x: Any) -> bool:
    """Tell whether a value has axes."""
    return isinstance(x, np.ndarray)


def box(x: Any) -> Array:
    """Return a value as an array without axes; return an array unchanged."""
    if is_array(x):
        return x
    array: Array = np.empty((), dtype=object)
    array[()] = x
    return array


def unbox(x: Array) -> Any:
    """Return the value of an array without axes; return any other array unchanged."""
    return x[()] if is_array(x) and x.ndim == 0 else x


def full_array(shape: tuple[int, ...], value: Value) -> Array:
    """Return an array filled with one value."""
    array = np.empty(shape, dtype=object)
    array.fill(value)
    return array


def elementwise(function: Callable[..., Value], *args: Any) -> Array:
    """Apply a function of values to the entries of arrays, with broadcasting, and return an array.

    Raises:
        TimeoutError: at the deadline of `symgrad.checker.clock`.
    """
    apply: Any = np.frompyfunc(function, len(args), 1)
    arrays = np.broadcast_arrays(*map(box, args))
    size: int = arrays[0].size
    if size <= _CHUNK:
        tick(STEP * (1 + size / 4))
        return box(apply(*arrays))
    out = np.empty(size, dtype=object)
    for start in range(0, size, _CHUNK):
        tick(STEP * (1 + _CHUNK / 4))
        part = slice(start, start + _CHUNK)
        out[part] = apply(*(a.flat[part] for a in arrays))
    return out.reshape(arrays[0].shape)


def reduce_axes(axes: Axes, x: Array, combine: Callable[[list[Value]], Value]) -> Array:
    """Reduce axes by a function of the list of all entries along them."""
    rank: int = x.ndim
    moved: Array = np.moveaxis(x, axes, range(rank - len(axes), rank))
    kept: tuple[int, ...] = moved.shape[: rank - len(axes)]
    count = math.prod(kept)
    rows = moved.reshape(count, moved.size // count if count else 0)
    out = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        tick(STEP * (1 + len(row) / 4))
        out[i] = combine(list(row))
    return out.reshape(kept)
