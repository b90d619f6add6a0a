"""Constant arrays of imported functions as expressions."""

from __future__ import annotations

from typing import cast

import numpy as np

from symgrad.api.functions.layout import arange, broadcast_to, full, reshape
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.support.errors import UnsupportedError

CONSTANT_ENTRIES = 4096
"""The largest number of entries of a numeric array that a formula may contain."""


def exact_decimals(values: np.ndarray) -> np.ndarray:
    """Return numbers of fewer bits as the decimals that they are printed as: 0.1 in float32 is read as 0.1."""
    if values.dtype.kind == "V":  # bfloat16 and similar types, which NumPy does not count as floats
        values = values.astype(np.float32)
    if values.dtype.kind != "f" or values.dtype == np.float64:
        return values
    flat = [float(str(v)) for v in values.reshape(-1)]
    return np.array(flat, np.float64).reshape(values.shape)


def uniform_value(values: np.ndarray, *, decimal: bool = False) -> float | int | bool | None:
    """Return the number that is equal to all entries, or None; ``decimal`` as in `constant`."""
    if not values.size or not (values == values.flat[0]).all():
        return None
    first = values.reshape(-1)[:1]
    return (exact_decimals(first) if decimal else first)[0].item()


def constant(values: np.ndarray, *, decimal: bool = False) -> Expr:
    """Return a constant array as a short expression.

    Args:
        values: the numbers.
        decimal: whether numbers of lower precision are read as their shortest decimals; otherwise they are read
            exactly.

    Raises:
        UnsupportedError: if an array is too large for a formula, or has an entry that is not finite.

    Example:
        >>> print(constant(np.full((2, 3), 0.5)), constant(np.tri(3, dtype=bool)), constant(np.arange(1, 7, 2)))
        full((2, 3), 1/2) arange(3)[None, :] <= arange(3)[:, None] 2*arange(3) + 1
        >>> print(constant(np.float32([0.1, 0.5]), decimal=True))
        stack((0.1, 1/2))
    """
    if values.dtype.kind not in "buifV":
        raise UnsupportedError(f"a constant of dtype {values.dtype}")
    if values.dtype.kind in "fV" and not np.isfinite(values.astype(np.float64)).all():
        raise UnsupportedError(
            "an infinite number, or none at all", cure="a large number, such as -1e30, in its place"
        )
    number = uniform_value(values, decimal=decimal)
    if number is not None:
        return full(values.shape, number) if values.ndim else as_expr(number)
    if not values.size:
        return full(values.shape, 0)
    lead = next((k for k in range(values.ndim) if not _repeats(values, k)), values.ndim)
    if lead:
        return broadcast_to(constant(values[(0,) * lead], decimal=decimal), values.shape)
    if values.ndim > 1 and values.size == max(values.shape):
        return reshape(constant(values.reshape(-1), decimal=decimal), values.shape)
    if values.dtype == bool:
        return _mask(values)
    if values.ndim == 1 and values.dtype.kind in "iu":
        first, step = int(values[0]), int(values[1]) - int(values[0])
        if np.array_equal(values, first + step * np.arange(len(values))):
            counted = arange(len(values)) if step == 1 else step * arange(len(values))
            return counted + first if first else counted
    if values.size > CONSTANT_ENTRIES:
        raise UnsupportedError(
            f"an array of {values.size:,} numbers in the function", cure="pass it as an argument"
        )
    return as_expr((exact_decimals(values) if decimal else values).tolist())


def broadcastable_constant(values: np.ndarray) -> Expr:
    """Return an array of numbers as an expression that broadcasts to it."""
    for k in range(values.ndim):
        if values.shape[k] > 1 and _repeats(values, k):
            values = values.take([0], k)
    first = next((k for k, n in enumerate(values.shape) if n != 1), values.ndim)
    return constant(values.reshape(values.shape[first:]))


def iota(count: int) -> np.ndarray:
    """Return the integers from 0 on, as a NumPy array."""
    return np.arange(count)


def _repeats(values: np.ndarray, axis: int) -> bool:
    """Tell whether an array is constant along an axis."""
    return bool((values == values.take([0], axis)).all())


def _mask(values: np.ndarray) -> Expr:
    """Return truth values as a comparison of positions, if they are a triangle as in causal masks; otherwise None."""
    if values.ndim == 2:
        rows, columns = cast("list[np.ndarray]", list(np.indices(values.shape)))
        here, there = arange(values.shape[0])[:, None], arange(values.shape[1])[None, :]
        for gap, low, high in ((rows - columns, there, here), (columns - rows, here, there)):
            shift = int(np.min(gap[values]))
            if np.array_equal(values, gap >= shift):
                return low + shift <= high if shift else low <= high
    return constant(values.astype(np.int64)) > 0
