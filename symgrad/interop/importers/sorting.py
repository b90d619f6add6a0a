"""Sort, and compute running products and extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import symgrad.api.functions.elementary as fn
from symgrad.api.functions.arrays import sum
from symgrad.api.functions.layout import concatenate, take_along_axis
from symgrad.api.handles.expr import Expr, build_expr
from symgrad.interop.importers.booleans import any_of, is_nan
from symgrad.ops.numpy.sorting import argsort
from symgrad.support.errors import UnsupportedError

_STEPS = 100
"""The largest number of steps that are written out, as for a loop."""


def propagate_nan(found: Expr, x: Expr, axis: int, *, keepdims: bool = False) -> Expr:
    """Return a result along an axis; it is NaN if an entry along the axis is NaN."""
    return fn.where(any_of(is_nan(x), axis, keepdims), sum(x, axis=axis, keepdims=keepdims), found)


def sort_positions(x: Expr, axis: int, *, descending: bool = False) -> Expr:
    """Return the positions that sort along an axis: equal entries keep their order, and NaN counts as the largest.

    Raises:
        UnsupportedError: if the axis has very many entries.

    Example:
        >>> import symgrad as sg
        >>> x = sg.tensor("x", (4,))
        >>> [int(k) for k in sort_positions(x, 0)(x=[2.0, -1.0, float("nan"), -1.0])]
        [1, 3, 0, 2]
    """
    return build_expr(lambda: argsort(x.node, axis, descending), [x])


def sort_along(x: Expr, axis: int, *, descending: bool = False) -> tuple[Expr, Expr]:
    """Return an array sorted along an axis, and the positions that sort it; see `sort_positions`."""
    places = sort_positions(x, axis, descending=descending)
    return take_along_axis(x, places, axis), places


def cumulative(x: Expr, axis: int, combine: Callable[[Any, Any], Expr], *, reverse: bool = False) -> Expr:
    """Return the cumulative combination of entries along an axis of known length.

    Example:
        >>> import symgrad as sg
        >>> x = sg.tensor("x", (3,))
        >>> cumulative(x, 0, lambda a, b: a*b)(x=[2.0, 3.0, 5.0])
        array([ 2.,  6., 30.])
    """
    n, lead = x.shape[axis], (slice(None),) * axis
    if not isinstance(n, int) or n > _STEPS:
        raise UnsupportedError(
            f"{n} steps along an axis", expected=f"at most {_STEPS}, which are written out"
        )
    parts: list[Expr] = []
    for k in range(n):
        entry = x[(*lead, slice(n - 1 - k, n - k) if reverse else slice(k, k + 1))]
        parts.append(combine(parts[-1], entry) if parts else entry)
    parts = parts[::-1] if reverse else parts
    return concatenate(parts, axis) if n > 1 else x
