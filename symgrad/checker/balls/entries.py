"""NumPy arrays of balls: how they are made, and functions applied to their entries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from symgrad.checker.balls.ops import Value
from symgrad.checker.clock import STEP, tick

__all__ = ["Array", "Axes", "along", "boxed", "elementwise", "filled", "is_array", "unboxed"]

Array: TypeAlias = Any
Axes: TypeAlias = "tuple[int, ...]"


_AT_ONCE = 256  # entries between looks at the clock


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
        TimeoutError: at the deadline of `symgrad.checker.clock`.
    """
    apply: Any = np.frompyfunc(function, len(args), 1)
    arrays = np.broadcast_arrays(*map(boxed, args))
    size: int = arrays[0].size
    if size <= _AT_ONCE:
        tick(STEP * (1 + size / 4))
        return boxed(apply(*arrays))
    out = np.empty(size, dtype=object)
    for start in range(0, size, _AT_ONCE):
        tick(STEP * (1 + _AT_ONCE / 4))
        part = slice(start, start + _AT_ONCE)
        out[part] = apply(*(a.flat[part] for a in arrays))
    return out.reshape(arrays[0].shape)


def along(axes: Axes, x: Array, combine: Callable[[list[Value]], Value]) -> Array:
    """Apply a function of a list of values to all entries along axes."""
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
