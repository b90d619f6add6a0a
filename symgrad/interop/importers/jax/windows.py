"""Convolutions and pooling of JAX as expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from symgrad.api.functions.arrays import max, min, sum
from symgrad.api.functions.constants import iota
from symgrad.api.functions.layout import reshape, take, transpose
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.windows import convolved, dilated, padded, windows
from symgrad.support.errors import UnsupportedError


def _convolution(
    x: Expr, w: Expr, *, dimension_numbers: Any, window_strides: Any, padding: Any, **more: Any
) -> Expr:
    lhs, rhs, out = dimension_numbers
    if more.get("batch_group_count", 1) != 1:
        x, w, out, feature = _batch_grouped(x, w, lhs, rhs, out, more["batch_group_count"])
    else:
        x, w, feature = transpose(x, lhs), transpose(w, rhs), more.get("feature_group_count", 1)
    space = range(2, len(x.shape))
    x = dilated(x, space, list(more.get("lhs_dilation") or [1] * len(space)))
    found = convolved(
        x,
        w,
        list(window_strides),
        [tuple(p) for p in padding],
        list(more.get("rhs_dilation") or []) or None,
        feature,
    )
    back = [list(out).index(k) for k in range(len(out))]
    return transpose(found, back)


def _batch_grouped(x: Expr, w: Expr, lhs: Any, rhs: Any, out: Any, groups: int) -> Any:
    """Convert groups of the batch into groups of channels, for the gradient of a grouped convolution."""
    x, w = transpose(x, lhs), transpose(w, rhs)
    n, c = cast(int, x.shape[0]), cast(int, x.shape[1])
    parted = reshape(x, (groups, n // groups, c, *x.shape[2:]))
    order = [1, 0, *range(2, len(parted.shape))]
    return reshape(transpose(parted, order), (n // groups, groups * c, *x.shape[2:])), w, out, groups


def _windowed(reduce: Callable[..., Expr], border: float | None) -> Callable[..., Expr]:
    def rule(
        x: Expr, *_: Any, window_dimensions: Any, window_strides: Any, padding: Any, **more: Any
    ) -> Expr:
        if any(d != 1 for d in more.get("base_dilation") or ()):
            raise UnsupportedError("a window over entries set apart")
        rank = len(x.shape)
        dilation = more.get("window_dilation") or [1] * rank
        pairs = [tuple(p) for p in padding]
        axes = [k for k in range(rank) if (window_dimensions[k], window_strides[k]) != (1, 1)]
        if any(p != (0, 0) for p in pairs):
            if border is None:
                return _over_what_is_there(
                    x, reduce, axes, window_dimensions, window_strides, dilation, pairs
                )
            x = padded(x, range(rank), pairs, border)
        if not axes:
            return x
        seen = windows(
            x,
            axes,
            [window_dimensions[a] for a in axes],
            [window_strides[a] for a in axes],
            [dilation[a] for a in axes],
        )
        return reduce(seen, axis=tuple(a + k + 1 for k, a in enumerate(axes)))

    return rule


def _over_what_is_there(
    x: Expr, reduce: Any, axes: Any, lengths: Any, strides: Any, dilation: Any, pairs: Any
) -> Expr:
    """Return the extreme entries of windows over a border: axis by axis, with positions moved inside.

    A place in the border takes the value of the nearest place inside the window, which the window has anyway.
    """
    for a in axes:
        size, (low, high) = cast(int, x.shape[a]), pairs[a]
        count = (size + low + high - ((lengths[a] - 1) * dilation[a] + 1)) // strides[a] + 1
        begin: np.ndarray = strides[a] * iota(count)[:, None] - low
        places = begin + dilation[a] * iota(lengths[a])[None, :]
        inside = (places >= 0) & (places < size)
        if not inside.any(1).all():
            raise UnsupportedError("a window with nothing in it")
        nearest = np.where(inside, iota(lengths[a]), -1).max(1)
        filled = np.where(inside, places, np.take_along_axis(places, nearest[:, None], 1))
        x = reduce(take(x, as_expr(filled.tolist()), a), axis=a + 1)
    if any(p != (0, 0) for k, p in enumerate(pairs) if k not in axes):
        raise UnsupportedError("a border along an axis without windows")
    return x


WINDOWED: Mapping[str, Callable[..., Expr]] = {
    "conv_general_dilated": _convolution,
    "reduce_window_max": _windowed(max, None),
    "reduce_window_min": _windowed(min, None),
    "reduce_window_sum": _windowed(sum, 0.0),
}
"""For each primitive, by name: a function of expressions of their whole shapes, and of the parameters."""
