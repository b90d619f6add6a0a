"""Positions: gather and its transpose scatter_add, one_hot, iota, eye."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, apply, as_node
from symgrad.ir.notation.arrays import write_eye, write_gather, write_iota, write_one_hot, write_scatter
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, Size, extent_text
from symgrad.ops.array.choices import as_choice
from symgrad.ops.array.contraction import transpose
from symgrad.ops.array.layout import (
    aligned,
    expand,
    full,
    move_up,
    only,
    reshape,
    shape_text,
    stacked_argument,
)
from symgrad.ops.record import facts, of_one_array, structural, without_rounding
from symgrad.ops.scalar.logic import eq, where
from symgrad.support.errors import ArrayTypeError, IndexRangeError, InternalError, ShapeError

Axes = tuple[int, ...]


def _gather_rule(shapes: tuple[Shape, ...], axes: Axes) -> Shape:
    shape, index = shapes[0], broadcast_shapes(shapes[1:])
    if (
        len(axes) != len(shapes) - 1
        or not all(0 <= a < len(shape) for a in axes)
        or list(axes) != sorted(set(axes))
    ):
        raise ShapeError(
            f"{len(shapes) - 1} index arrays for axes {axes} of an array of shape {shape_text(shape)}",
            expected="an index array for every axis, the axes in ascending order",
        )
    kept = [size for i, size in enumerate(shape) if i not in axes]
    return (*kept[: axes[0]], *index, *kept[axes[0] :])


def positions(values: Any, size: int) -> Any:
    """Return indices as integers that count from 0; negative indices count from the end, as in NumPy.

    Raises:
        IndexRangeError: for the first index outside the axis.
        ArrayTypeError: for an index that is not an integer.
    """
    index = np.asarray(values)
    if index.dtype.kind == "f" and not np.all(np.isfinite(index) & (index == np.floor(index))):
        raise ArrayTypeError("an index is not a whole number", expected="whole numbers")
    whole, wrong = index, np.False_
    if index.dtype.kind == "f":  # compared as integers: the length of an axis may not fit a float
        wrong = ~(np.abs(index) < 2.0**63)
        whole = np.where(wrong, 0, index).astype(np.int64)
    wrong = wrong | (whole < -size) | (whole >= size)
    if np.any(wrong):
        first = index[wrong].flat[0]
        raise IndexRangeError(
            f"index {extent_text(int(first))} is out of range for an axis of length {size}",
            expected=f"indices from {-size} to {size - 1}" if size else "no index at all: the axis is empty",
            cure="check the values of the index array",
        )
    index = whole.astype(np.int64)
    return np.where(index < 0, index + size, index)


def _indices(shape: tuple[int, ...], axes: Axes, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(positions(i, shape[a]) for i, a in zip(indices, axes, strict=True))


def _gather(axes: Axes, x: Any, *indices: Any) -> Any:
    x = np.asarray(x)
    where = _indices(x.shape, axes, indices)
    rows = np.moveaxis(x, axes, range(len(axes)))[where]
    depth = np.ndim(rows) - (x.ndim - len(axes))
    return np.moveaxis(rows, range(depth), range(axes[0], axes[0] + depth))


def _scatter_add(axes: Axes, shape: tuple[int, ...], values: Any, *indices: Any) -> Any:
    values = np.asarray(values)
    where = _indices(shape, axes, indices)
    depth = len(np.broadcast_shapes(*(np.shape(i) for i in indices)))
    result = np.zeros(shape, dtype=values.dtype)
    if values.dtype == object:
        result[...] = 0
    target = np.moveaxis(result, axes, range(len(axes)))
    np.add.at(target, where, np.moveaxis(values, range(axes[0], axes[0] + depth), range(depth)))
    return result


def _gather_push(node: Node, i: int, tangent: Node) -> Node:
    _only_values(node, i)
    return gather(full(tangent, node.args[0].shape), *node.args[1:], params=node.params)


def _gather_pull(node: Node, i: int, cotangent: Node) -> Node:
    _only_values(node, i)
    return scatter_add(
        full(cotangent, node.shape), *node.args[1:], params=(node.params[0], node.args[0].shape)
    )


def _only_values(node: Node, i: int) -> None:
    if i:
        raise InternalError(f"an index of '{node.op.name}' carries no tangent")


# ---------------------------------------------------------------------------------------- stacks of values, and rows


def _positions(node: Node, stacks: Sequence[Node | None], lead: Shape) -> tuple[list[Node], int]:
    """Return the index arrays of a stack, and the number of axes that the indices of the node itself have.

    The index arrays for the axes of the stack come first.
    """
    depth = max(len(index.shape) for index in node.args[1:])
    own = [
        index if s is None else aligned(s, len(index.shape), depth, lead)
        for index, s in zip(node.args[1:], stacks[1:], strict=True)
    ]
    members = [
        move_up(iota(params=(size,)), (size, *[1] * (len(lead) - i - 1 + depth)))
        for i, size in enumerate(lead)
    ]
    return [*members, *own], depth


def _batch_gather(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    axes: Axes = node.params[0]
    k = len(lead)
    if stacks[0] is None:
        indices, _ = _positions(node, stacks, lead)
        found = gather(node.args[0], *indices[k:], params=(axes,))
        first, rest = axes[0], range(axes[0] + k, len(found.shape))
        return transpose(found, [*range(first, first + k), *range(first), *rest]) if first else found
    x = stacked_argument(node, 0, stacks[0], lead)
    if all(s is None for s in stacks[1:]):
        return gather(x, *node.args[1:], params=(tuple(a + k for a in axes),))
    indices, depth = _positions(node, stacks, lead)
    found = gather(x, *indices, params=((*range(k), *(a + k for a in axes)),))
    # The axes of the indices come after the axes of the stack; they must move to the place of the first indexed axis.
    rest = [*range(k + depth, len(found.shape))]
    order = [*range(k), *rest[: axes[0]], *range(k, k + depth), *rest[axes[0] :]]
    return transpose(found, order) if order != sorted(order) else found


def _batch_scatter(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    axes, shape = node.params
    k = len(lead)
    values = stacked_argument(node, 0, stacks[0], lead)
    if all(s is None for s in stacks[1:]):
        moved = tuple(a + k for a in axes)
        return scatter_add(values, *node.args[1:], params=(moved, (*lead, *shape)))
    indices, depth = _positions(node, stacks, lead)
    place = k + axes[0]
    rest = [a for a in range(k, len(values.shape)) if not place <= a < place + depth]
    order = [*range(k), *range(place, place + depth), *rest]
    if order != sorted(order):
        values = transpose(values, order)
    return scatter_add(values, *indices, params=((*range(k), *(a + k for a in axes)), (*lead, *shape)))


def sum_of_scattered(stack: Node) -> Node | None:
    """Return the sum over the first axis of an array, each row of which one row of values is added to; else None.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> v, t = symbol(Declaration("v", shape=(3,))), iota(params=(3,))
        >>> found = sum_of_scattered(scatter_add(v, t, t, params=((0, 1), (3, 5))))
        >>> found is scatter_add(v, t, params=((0,), (5,)))
        True
    """
    if stack.op is not scatter_add or stack.params[0][0] != 0 or len(stack.args) < 3:
        return None
    axes, shape = stack.params
    values, row, *others = stack.args
    block = broadcast_shapes([i.shape for i in stack.args[1:]])
    if _counted(row, shape[0]) != len(block) or broadcast_shapes([i.shape for i in others]) != block:
        return None
    left, depth = [a - 1 for a in axes[1:]], len(block)
    order = [*range(depth, depth + left[0]), *range(depth), *range(depth + left[0], len(values.shape))]
    moved = transpose(values, order) if left[0] else values
    return scatter_add(moved, *others, params=(tuple(left), shape[1:]))


def _rows_of_gathered(node: Node, places: Sequence[int | None]) -> int | None:
    p, *others = places
    if p is None or any(q is not None for q in others):
        return None
    axes: Axes = node.params[0]
    depth = max(len(i.shape) for i in node.args[1:])
    if p in axes:
        counted = _counted(node.args[1 + axes.index(p)], node.args[0].shape[p])
        return None if counted is None else axes[0] + depth - counted
    position = p - sum(a < p for a in axes)
    return position if position < axes[0] else position + depth


def _counted(index: Node, rows: Size) -> int | None:
    """Return the axis, counted from the end, along which an index array enumerates rows, as in x[arange(n), ids]."""
    base = index.args[0] if index.op is reshape else index
    if base.op is not iota or base.params[0] != rows or index.shape.count(1) < len(index.shape) - 1:
        return None
    return next((len(index.shape) - j for j, size in enumerate(index.shape) if size == rows), None)


def _rows_of_scattered(node: Node, places: Sequence[int | None]) -> int | None:
    p, *others = places
    if p is None or any(q is not None for q in others):
        return None
    axes = node.params[0]
    depth = max(len(i.shape) for i in node.args[1:])
    if axes[0] <= p < axes[0] + depth:
        return None
    rest = [a for a in range(len(node.shape)) if a not in axes]
    return rest[p if p < axes[0] else p - depth]


def _no_rows(_node: Node, _places: Sequence[int | None]) -> None:
    return None


# ------------------------------------------------------------------------------------------------------------ records

gather: Op = structural(
    "gather",
    doc="x with axes indexed by arrays of positions, which broadcast together and stand in the place of the first axis",
    takes=("number", "index"),
    variadic=True,
    gives="same",
    parameters=("axes",),
    shape=_gather_rule,
    evaluate=_gather,
    reference=without_rounding(_gather),
    push=_gather_push,
    pull=_gather_pull,
    batch=_batch_gather,
    rows=_rows_of_gathered,
    entries="moved",
    total="inside",
    native=None,
    written=write_gather,
    cost=2,
    source=None,
    latex=r"{0}_{{{1}}}",
)


def _scatter_rule(shapes: tuple[Shape, ...], axes: Axes, shape: Shape) -> Shape:
    wanted = _gather_rule((shape, *shapes[1:]), axes)
    if shapes[0] != wanted:
        raise ShapeError(
            f"values of shape {shape_text(shapes[0])} for positions of shape {shape_text(wanted)}",
            expected="one shape",
        )
    return shape


def _scatter_push(node: Node, i: int, tangent: Node) -> Node:
    _only_values(node, i)
    return scatter_add(full(tangent, node.args[0].shape), *node.args[1:], params=node.params)


def _scatter_pull(node: Node, i: int, cotangent: Node) -> Node:
    _only_values(node, i)
    return gather(full(cotangent, node.shape), *node.args[1:], params=(node.params[0],))


scatter_add: Op = structural(
    "scatter_add",
    doc="zeros of a shape with values added at positions; values at equal positions add up",
    takes=("number", "index"),
    variadic=True,
    gives="same",
    parameters=("axes", "shape"),
    shape=_scatter_rule,
    evaluate=_scatter_add,
    reference=without_rounding(_scatter_add),
    push=_scatter_push,
    pull=_scatter_pull,
    batch=_batch_scatter,
    rows=_rows_of_scattered,
    entries="computed",
    total="inside",
    native=as_choice,
    written=write_scatter,
    source=None,
    latex=r"\operatorname{{scatter\_add}}\left({0}\right)",
)


def _constant(node: Node, _i: int, _tangent: Node) -> Node:
    raise InternalError(f"'{node.op.name}' carries no tangent")


def _native_one_hot(node: Node, args: tuple[Node, ...]) -> Node:
    (index,) = args
    column = apply(reshape, (index,), ((*index.shape, 1),))
    return where(eq(column, iota(params=node.params)), as_node(1), as_node(0))


def _one_hot(depth: int, index: Any) -> Any:
    return (np.asarray(index)[..., None] == np.arange(depth)).astype(np.int64)


one_hot: Op = of_one_array(
    "one_hot",
    doc="1 at the position along a new last axis, 0 elsewhere; all 0 for a position outside it",
    takes=("index",),
    gives="int",
    parameters=("depth",),
    shape=lambda shapes, depth: (*shapes[0], depth),
    evaluate=_one_hot,
    reference=lambda mp, depth, index: _one_hot(depth, index),
    push=_constant,
    pull=_constant,
    batch=lambda node, stacks, lead: node.op(only(stacks), params=node.params),
    rows=_no_rows,
    entries="counted",
    total="always",
    native=_native_one_hot,
    written=write_one_hot,
    source=None,
    latex=r"\operatorname{{one\_hot}}\left({0}\right)",
    facts=facts("nonnegative", "integral", "bounded-by-one"),
)


def _constant_batch(node: Node, _stacks: Sequence[Node | None], _lead: Shape) -> Node:
    raise InternalError(f"'{node.op.name}' has no argument that varies")


def identity_of(rows: Size, columns: Size) -> Node:
    """Return a matrix with 1 on its diagonal, in terms of ops that kernels have."""
    return where(eq(expand(iota(params=(rows,)), [1]), iota(params=(columns,))), as_node(1), as_node(0))


def _iota_rule(_shapes: tuple[Shape, ...], size: Size) -> Shape:
    return (size,)


def _eye_rule(_shapes: tuple[Shape, ...], rows: Size, columns: Size) -> Shape:
    return (rows, columns)


iota: Op = structural(
    "iota",
    aliases=("arange",),
    doc="0, 1, ..., size - 1",
    takes=(),
    gives="int",
    parameters=("size",),
    shape=_iota_rule,
    evaluate=np.arange,
    reference=without_rounding(np.arange),
    push=_constant,
    pull=_constant,
    batch=_constant_batch,
    rows=_no_rows,
    entries="counted",
    total="always",
    native=None,
    written=write_iota,
    cost=0,
    source=None,
    latex=r"\operatorname{{arange}}",
    facts=facts("nonnegative", "integral"),
)


def _eye_reference(_mp: Any, rows: int, columns: int) -> Any:
    return np.eye(rows, columns, dtype=int)


eye: Op = structural(
    "eye",
    doc="the matrix with 1 on its diagonal and 0 elsewhere",
    takes=(),
    gives="int",
    parameters=("rows", "columns"),
    shape=_eye_rule,
    evaluate=np.eye,
    reference=_eye_reference,
    push=_constant,
    pull=_constant,
    batch=_constant_batch,
    rows=_no_rows,
    entries="computed",
    total="always",
    native=lambda node, args: identity_of(*node.params),
    written=write_eye,
    source=None,
    latex=r"I",
    facts=facts("nonnegative", "integral", "bounded-by-one"),
)
