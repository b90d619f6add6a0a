"""Operations of TensorFlow that move entries, and products of arrays, as expressions."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from symgrad.api.functions.arrays import einsum, matmul
from symgrad.api.functions.constants import constant
from symgrad.api.functions.elementary import maximum, where
from symgrad.api.functions.layout import (
    arange,
    broadcast_to,
    concatenate,
    expand_dims,
    flip,
    full,
    moveaxis,
    one_hot,
    reshape,
    scatter_add,
    stack,
    swapaxes,
    take,
    transpose,
)
from symgrad.api.handles.expr import Expr, as_expr, handle
from symgrad.interop.importers.booleans import select_value
from symgrad.interop.importers.tensorflow.ops import Value, expr_of, known_ints, number_of
from symgrad.interop.importers.windows import padded
from symgrad.ops.array.layout import squeeze
from symgrad.support.errors import UnsupportedError


def _reshape(op: Any, x: Value, *_: Value) -> Expr:
    e, shape = expr_of(x), op.shape(0)
    return e if tuple(cast("Any", e.shape)) == shape else reshape(e, shape)


def _transpose(_: Any, x: Value, order: Value) -> Expr:
    axes = known_ints(order, "an order of axes")
    return transpose(expr_of(x), axes) if axes != sorted(axes) else expr_of(x)


def _unpack(op: Any, x: Value) -> list[Any]:
    axis = op.attribute("axis") % len(op.inputs[0].shape)
    return [_at(expr_of(x), axis, k) for k in range(op.attribute("num"))]


def _at(x: Expr, axis: int, place: int) -> Expr:
    return x[(*[slice(None)] * axis, place)]


def _concat(op: Any, *values: Value) -> Expr:
    *parts, axis = values
    exprs = [expr_of(p) for p in parts]
    at = known_ints(axis, "an axis")[0] % len(op.shape(0))
    filled = [e for e in exprs if e.shape[at] != 0] or exprs[:1]
    return concatenate(filled, at) if len(filled) > 1 else filled[0]


def _split(op: Any, axis: Value, x: Value) -> list[Any]:
    e, at = expr_of(x), known_ints(axis, "an axis")[0] % len(op.shape(0))
    found: list[Any] = []
    start = 0
    for k in range(op.count):
        size = op.shape(k)[at]
        found.append(e[(*[slice(None)] * at, slice(start, start + size))])
        start += size
    return found


def _slice(op: Any, x: Value, begin: Value, _: Value) -> Expr:
    e = expr_of(x)
    key = tuple(
        slice(b, b + n) if (b, n) != (0, cast("int", whole_)) else slice(None)
        for b, n, whole_ in zip(known_ints(begin, "a slice"), op.shape(0), e.shape, strict=True)
    )
    return e[key]


def _strided_slice(op: Any, x: Value, begin: Value, end: Value, strides: Value) -> Expr:
    e = expr_of(x)
    masks = {n: op.attribute(f"{n}_mask") for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    steps = known_ints(strides, "the step of a slice")
    key: list[Any] = []
    for k, step in enumerate(steps):
        bit = 1 << k
        if masks["ellipsis"] & bit:
            key.append(...)
        elif masks["new_axis"] & bit:
            key.append(None)
        elif masks["shrink_axis"] & bit:
            key.append(int(begin[k]) if isinstance(begin, np.ndarray) else _entry(expr_of(begin), k))
        else:
            first = None if masks["begin"] & bit else known_ints(begin, "a slice")[k]
            last = None if masks["end"] & bit else known_ints(end, "a slice")[k]
            key.append(slice(first, last, step if step != 1 else None))
    if len(key) <= len(e.shape) and all(
        p == slice(None) if isinstance(p, slice) else isinstance(p, int) and n == 1
        for p, n in zip(key, e.shape, strict=False)
    ):
        return handle(squeeze(e.node, [axis for axis, p in enumerate(key) if isinstance(p, int)]))
    return e[tuple(key)]


def _entry(x: Expr, place: int) -> Expr:
    """Return an entry of an array, as itself if the array was made from its entries."""
    node = x.node
    parts = node.args if node.op.name == "concatenate" else (node,)
    return handle(squeeze(parts[place], [0])) if all(p.shape == (1,) for p in parts) else x[place]


def _tile(_: Any, x: Value, multiples: Value) -> Expr:
    e = expr_of(x)
    for axis, count in enumerate(known_ints(multiples, "how often something is repeated")):
        if count == 1:
            continue
        if e.shape[axis] == 1:
            e = broadcast_to(e, (*e.shape[:axis], count, *e.shape[axis + 1 :]))
        else:
            e = concatenate([e] * count, axis)
    return e


def _pad(_: Any, x: Value, borders: Value, value: Value | None = None) -> Expr:
    number = 0 if value is None else number_of(value)
    if number is None or not np.isfinite(number):
        raise UnsupportedError("a border that is computed, or infinite")
    pairs = np.array(known_ints(borders, "a border")).reshape(-1, 2).tolist()
    return padded(expr_of(x), range(len(pairs)), [tuple(p) for p in pairs], number)


def _mirror(op: Any, x: Value, borders: Value) -> Expr:
    e, edge = expr_of(x), 0 if op.text("mode") == "SYMMETRIC" else 1
    for axis, (low, high) in enumerate(np.array(known_ints(borders, "a border")).reshape(-1, 2).tolist()):
        size = cast("int", e.shape[axis])
        if low or high:
            mode = "reflect" if edge else "symmetric"
            e = take(e, as_expr(np.pad(np.arange(size), (low, high), mode).tolist()), axis)
    return e


def _reverse(_: Any, x: Value, axes: Value) -> Expr:
    along = tuple(known_ints(axes, "an axis"))
    return flip(expr_of(x), along) if along else expr_of(x)


# Positions


def _positions(value: Value) -> Expr:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iu":
            raise UnsupportedError("positions that are no whole numbers")
        return as_expr(value.tolist()) if value.ndim else as_expr(int(value))
    e = expr_of(value)
    if e.dtype != "int":
        raise UnsupportedError("positions that are computed of real numbers")
    return e


def _gather(op: Any, x: Value, indices: Value, axis: Value) -> Expr:
    e, at = expr_of(x), known_ints(axis, "an axis")[0]
    batch = op.attribute("batch_dims")
    return _gathered(e, indices, at % len(e.shape), batch)


def _gathered(e: Expr, indices: Value, axis: int, batch: int) -> Expr:
    rank = len(cast("Any", indices).shape)
    batch = batch + rank if batch < 0 else batch
    if isinstance(indices, np.ndarray) and not indices.ndim:
        return _at(e, axis, int(indices))
    p = _positions(indices)
    if not batch:
        return take(e, p, axis)
    e = moveaxis(e, axis, batch) if axis != batch else e
    # Batch axes become positions along themselves.
    key: list[Any] = []
    for k in range(batch):
        shape = [1] * rank
        shape[k] = cast("int", e.shape[k])
        key.append(reshape(arange(cast("int", e.shape[k])), tuple(shape)))
    found = e[(*key, p)]
    between = axis - batch
    for k in range(between):  # move the axes between back before the positions
        found = moveaxis(found, rank + k, batch + k)
    return found


def _gather_nd(op: Any, x: Value, indices: Value) -> Expr:
    if op.attribute("batch_dims", 0):
        raise UnsupportedError("GatherNd with batches")
    e, p = expr_of(x), _positions(indices)
    count = cast("int", p.shape[-1])
    return e[tuple(p[..., k] for k in range(count))] if count else broadcast_to(e, op.shape(0))


def _rows(indices: Value, shape: Sequence[int]) -> tuple[Expr, int]:
    """Return positions in the rows of an array, and the number of axes over which they range."""
    p = _positions(indices)
    count = cast("int", p.shape[-1])
    flat: Expr | None = None
    for k in range(count):
        part = p[..., k] * prod(shape[k + 1 : count]) if k + 1 < count else p[..., k]
        flat = part if flat is None else flat + part
    if flat is None:
        raise UnsupportedError("a scatter without positions")
    return flat, count


def _scatter_nd(op: Any, indices: Value, updates: Value, _: Value) -> Expr:
    sizes = op.shape(0)
    flat, count = _rows(indices, sizes)
    u = expr_of(updates)
    if not flat.shape:
        flat, u = reshape(flat, (1,)), expand_dims(u, 0)
    found = scatter_add(u, flat, (prod(sizes[:count]), *sizes[count:]))
    return reshape(found, sizes) if count > 1 else found


def _segment_sum(op: Any, x: Value, segments: Value, _: Value) -> Expr:
    e, p = expr_of(x), _positions(segments)
    if not isinstance(segments, np.ndarray) or (segments < 0).any():  # TensorFlow leaves these out
        there = reshape(p >= 0, (*p.shape, *[1] * (len(e.shape) - len(p.shape))))
        e, p = where(there, e, 0), maximum(p, 0)
    return scatter_add(e, p, op.shape(0))


def _one_hot(op: Any, indices: Value, depth: Value, on: Value, off: Value) -> Expr:
    hot: Any = one_hot(_positions(indices), known_ints(depth, "a depth")[0])
    high, low = number_of(on), number_of(off)
    if (high, low) != (1, 0):
        hot = _with_values(hot, high, low)
    axis = op.attribute("axis")
    return moveaxis(hot, -1, axis) if axis != -1 else hot


def _with_values(hot: Expr, high: Any, low: Any) -> Expr:
    if isinstance(high, bool):
        if high == low:
            raise UnsupportedError("truth values that are all the same")
        return hot > 0 if high else hot <= 0
    return hot * (high - low) + low


# Products


def _matmul(op: Any, a: Value, b: Value) -> Expr:
    x, y = expr_of(a), expr_of(b)
    x = transpose(x) if op.attribute("transpose_a") else x
    return matmul(x, transpose(y) if op.attribute("transpose_b") else y)


def _batch_matmul(op: Any, a: Value, b: Value) -> Expr:
    x, y = expr_of(a), expr_of(b)
    x = swapaxes(x, -1, -2) if op.attribute("adj_x") else x
    return matmul(x, swapaxes(y, -1, -2) if op.attribute("adj_y") else y)


def _band(op: Any, x: Value, low: Value, high: Value) -> Expr:
    e = expr_of(x)
    (below,), (above,) = known_ints(low, "a diagonal"), known_ints(high, "a diagonal")
    height, width = cast("tuple[int, int]", op.shape(0)[-2:])
    rows, columns = np.arange(height)[:, None], np.arange(width)[None, :]
    inside = ((rows - columns <= below) | (below < 0)) & ((columns - rows <= above) | (above < 0))
    return e if inside.all() else select_value(constant(inside), e, constant(np.zeros((), op.dtype(0))))


LAYOUT: Mapping[str, Callable[..., Any]] = {
    "Reshape": _reshape,
    "Squeeze": _reshape,
    "ExpandDims": _reshape,
    "Transpose": _transpose,
    "Pack": lambda op, *xs: stack([expr_of(v) for v in xs], op.attribute("axis") % len(op.shape(0))),
    "Unpack": _unpack,
    "ConcatV2": _concat,
    "Split": _split,
    "SplitV": lambda op, x, _, axis: _split(op, axis, x),
    "Slice": _slice,
    "StridedSlice": _strided_slice,
    "Tile": _tile,
    "Pad": _pad,
    "PadV2": _pad,
    "MirrorPad": _mirror,
    "Fill": lambda op, _, value: full(op.shape(0), expr_of(value)),
    "BroadcastTo": lambda op, x, _: broadcast_to(expr_of(x), op.shape(0)),
    "ReverseV2": _reverse,
    "GatherV2": _gather,
    "ResourceGather": lambda op, x, at: _gathered(expr_of(x), at, 0, op.attribute("batch_dims")),
    "GatherNd": _gather_nd,
    "ScatterNd": _scatter_nd,
    "TensorScatterAdd": lambda op, x, at, more: expr_of(x) + _scatter_nd(op, at, more, np.zeros(0)),
    "UnsortedSegmentSum": _segment_sum,
    "OneHot": _one_hot,
    "MatMul": _matmul,
    "BatchMatMulV2": _batch_matmul,
    "BatchMatMulV3": _batch_matmul,
    "Einsum": lambda op, *xs: einsum(op.text("equation"), *map(expr_of, xs)),
    "MatrixBandPart": _band,
}
"""For each type of operation: a function of the operation and of its values."""
