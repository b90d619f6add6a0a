"""Convolutions and pooling of TensorFlow as expressions over windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from symgrad.api.functions.arrays import max, sum
from symgrad.api.functions.constants import constant
from symgrad.api.functions.layout import flip, moveaxis, reshape, take, transpose
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.tensorflow.ops import Value, expr_of, known_ints
from symgrad.interop.importers.windows import convolved, dilated, padded, windows
from symgrad.support.errors import UnsupportedError


def _borders(
    op: Any, sizes: Sequence[int], lengths: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
):
    """Return the padding before and after each axis."""
    padding = op.text("padding")
    if padding == "EXPLICIT":
        said = np.array(op.attribute("explicit_paddings")).reshape(-1, 2).tolist()
        return [tuple(said[a]) for a in _space(op)]
    if padding == "VALID":
        return [(0, 0)] * len(sizes)
    pairs: list[tuple[int, int]] = []
    for n, k, s, d in zip(sizes, lengths, strides, dilations, strict=True):
        reach = (k - 1) * d + 1
        total = np.maximum((-(-n // s) - 1) * s + reach - n, 0)
        pairs.append((int(total) // 2, int(total) - int(total) // 2))
    return pairs


def _space(op: Any) -> list[int]:
    rank = len(op.inputs[0].shape)
    return list(range(2, rank)) if op.text("data_format").startswith("NC") else list(range(1, rank - 1))


def _of_space(op: Any, name: str) -> list[int]:
    return [int(op.attribute(name)[a]) for a in _space(op)]


def _channels_first(op: Any, x: Expr) -> Expr:
    return x if op.text("data_format").startswith("NC") else moveaxis(x, -1, 1)


def _back(op: Any, y: Expr) -> Expr:
    return y if op.text("data_format").startswith("NC") else moveaxis(y, 1, -1)


def _convolution(op: Any, x: Value, w: Value) -> Expr:
    e, kernel = _channels_first(op, expr_of(x)), expr_of(w)
    space = len(e.shape) - 2
    kernel = transpose(kernel, [space + 1, space, *range(space)])
    strides, dilations = _of_space(op, "strides"), _of_space(op, "dilations")
    lengths = [cast("int", n) for n in kernel.shape[2:]]
    pairs = _borders(op, [cast("int", n) for n in e.shape[2:]], lengths, strides, dilations)
    groups = cast("int", e.shape[1]) // cast("int", kernel.shape[1])
    return _back(op, convolved(e, kernel, strides, pairs, dilations, groups))


def _depthwise(op: Any, x: Value, w: Value) -> Expr:
    e, kernel = _channels_first(op, expr_of(x)), expr_of(w)
    height, width, channels, multiple = (cast("int", n) for n in kernel.shape)
    kernel = reshape(transpose(kernel, [2, 3, 0, 1]), (channels * multiple, 1, height, width))
    strides, dilations = _of_space(op, "strides"), _of_space(op, "dilations")
    pairs = _borders(op, [cast("int", n) for n in e.shape[2:]], [height, width], strides, dilations)
    return _back(op, convolved(e, kernel, strides, pairs, dilations, channels))


def _transposed(op: Any, _: Value, w: Value, y: Value) -> Expr:
    """Return a transposed convolution: a convolution of the dilated input with the reversed kernel."""
    first = op.text("data_format").startswith("NC")
    target = op.shape(0)
    rank = len(target)
    space = list(range(2, rank)) if first else list(range(1, rank - 1))
    e = expr_of(y) if first else moveaxis(expr_of(y), -1, 1)
    kernel = expr_of(w)
    count = len(space)
    lengths = [cast("int", n) for n in kernel.shape[:count]]
    kernel = flip(transpose(kernel, [count, count + 1, *range(count)]), tuple(range(2, 2 + count)))
    strides = [int(op.attribute("strides")[a]) for a in space]
    dilations = [int((op.attribute("dilations", None) or [1] * rank)[a]) for a in space]
    if op.text("padding") == "EXPLICIT":
        raise UnsupportedError("the transpose of a convolution with explicit borders")
    pairs = _borders(op, [target[a] for a in space], lengths, strides, dilations)
    e = dilated(e, range(2, rank), strides)
    around: list[tuple[int, int]] = []
    for k, a in enumerate(space):
        reach = (lengths[k] - 1) * dilations[k] + 1
        low = reach - 1 - pairs[k][0]
        around.append((low, target[a] - (cast("int", e.shape[2 + k]) + low - reach + 1)))
    found = convolved(e, kernel, [1] * count, around, dilations)
    return found if first else moveaxis(found, 1, -1)


def _max_pool(op: Any, x: Value) -> Expr:
    return _largest(op, x, _of_space(op, "ksize"), _of_space(op, "strides"))


def _max_pool_of_values(op: Any, x: Value, ksize: Value, strides: Value) -> Expr:
    lengths, steps = ([known_ints(v, "a window")[a] for a in _space(op)] for v in (ksize, strides))
    return _largest(op, x, lengths, steps)


def _largest(op: Any, x: Value, lengths: Sequence[int], strides: Sequence[int]) -> Expr:
    e, space = expr_of(x), _space(op)
    sizes = [cast("int", e.shape[a]) for a in space]
    pairs = _borders(op, sizes, lengths, strides, [1] * len(space))
    if all(p == (0, 0) for p in pairs):
        seen = windows(e, space, lengths, strides, [1] * len(space))
        return max(seen, axis=tuple(a + k + 1 for k, a in enumerate(space)))
    for a, n, k, s, pair in zip(space, sizes, lengths, strides, pairs, strict=True):
        e = max(take(e, as_expr(_inside(n, k, s, pair).tolist()), a), axis=a + 1)
    return e


def _inside(size: int, length: int, stride: int, pair: tuple[int, int]) -> np.ndarray:
    """Return the positions of windows.

    Positions in the border are moved to the nearest ones inside, which the window has anyway.
    """
    count = (size + pair[0] + pair[1] - length) // stride + 1
    begin = stride * np.arange(count)[:, None] - pair[0]
    return np.clip(begin + np.arange(length)[None, :], 0, size - 1)


def _average_pool(op: Any, x: Value) -> Expr:
    e, space = expr_of(x), _space(op)
    lengths, strides = _of_space(op, "ksize"), _of_space(op, "strides")
    sizes = [cast("int", e.shape[a]) for a in space]
    pairs = _borders(op, sizes, lengths, strides, [1] * len(space))
    seen = windows(padded(e, space, pairs), space, lengths, strides, [1] * len(space))
    total = sum(seen, axis=tuple(a + k + 1 for k, a in enumerate(space)))
    if all(p == (0, 0) for p in pairs):
        return total / prod(lengths)
    counts = np.ones([1] * len(e.shape), np.int64)  # entries in the border do not count
    for a, n, k, s, (low, high) in zip(space, sizes, lengths, strides, pairs, strict=True):
        count = (n + low + high - k) // s + 1
        begin = s * np.arange(count) - low
        there = np.minimum(begin + k, n) - np.maximum(begin, 0)
        counts = counts * there.reshape([-1 if b == a else 1 for b in range(len(e.shape))])
    return total / constant(counts)


WINDOWS: Mapping[str, Callable[..., Any]] = {
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "DepthwiseConv2dNative": _depthwise,
    "Conv2DBackpropInput": _transposed,
    "MaxPool": _max_pool,
    "MaxPoolV2": _max_pool_of_values,
    "AvgPool": _average_pool,
}
"""For each type of operation: a function of the operation and of its values."""
