"""Ops that move elements without arithmetic: reshape, broadcast_to, slice and its transpose, concatenate.

A cotangent (or tangent) may have a smaller shape that broadcasts to the shape of its node: the gradient of a mean is
one number for all entries. `full` broadcasts a cotangent for rules that need every entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from symgrad.ir.graph import OPS, Node, Op, as_node, size_node
from symgrad.ir.notation.arrays import (
    write_broadcast,
    write_concatenation,
    write_reshape,
    write_slice,
    write_unslice,
)
from symgrad.ir.shapes import Triple, broadcast_shapes, slice_length, slice_start
from symgrad.ir.sizes import Shape, Size, nonnegative, size_product, size_sum
from symgrad.ops.record import facts, joint, of_one_array, structural, without_rounding
from symgrad.ops.scalar.logic import ne
from symgrad.support.errors import ShapeError

T = TypeVar("T")

WHOLE: Triple = (None, None, 1)


def _reshape_rule(shapes: tuple[Shape, ...], shape: Shape) -> Shape:
    before, after = size_product(shapes[0]), size_product(shape)
    if before != after:
        raise ShapeError(
            f"an array of shape {shape_text(shapes[0])} has {before} elements, one of shape "
            f"{shape_text(shape)} has {after}",
            expected="as many elements as before",
        )
    return shape


def shape_text(shape: Shape) -> str:
    """Return a shape as text.

    Example:
        >>> shape_text(("n", 5)), shape_text(("n",)), shape_text(())
        ('(n, 5)', '(n,)', '()')
    """
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def only(of_one: Sequence[T | None]) -> T:
    """Return the only item of a sequence with one item for each array of an op: a stack, or the axis of rows."""
    (x,) = of_one
    assert x is not None
    return x


def aligned(x: Node, own: int, rank: int, lead: Shape) -> Node:
    """Return a stack of arrays with ``own`` axes as a stack of arrays with ``rank`` axes; new axes have length 1."""
    return truth_of(move_up(x, (*lead, *[1] * (rank - own), *x.shape[len(lead) :])), x)


def truth_of(moved: Node, x: Node) -> Node:
    """Return moved entries of x as truth values if x has truth values, since ops that move entries return numbers."""
    return ne(moved, as_node(0)) if x.dtype == "bool" and moved.dtype != "bool" else moved


def stacked_argument(node: Node, i: int, stacked: Node | None, lead: Shape) -> Node:
    """Return argument i as a stack, repeated if it does not vary."""
    arg = node.args[i]
    return full(arg, (*lead, *arg.shape)) if stacked is None else stacked


def _batch_broadcast(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    x = aligned(only(stacks), len(node.args[0].shape), len(node.shape), lead)
    return broadcast_to(x, params=((*lead, *node.shape),))


def _batch_unslice(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    triples, shape = node.params
    return unslice(only(stacks), params=((*[WHOLE] * len(lead), *triples), (*lead, *shape)))


def _batch_concatenate(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    parts = [stacked_argument(node, i, s, lead) for i, s in enumerate(stacks)]
    return concatenate(*parts, params=(node.params[0] + len(lead),))


def _rows_of_reshaped(node: Node, places: Sequence[int | None]) -> int | None:
    p, before = only(places), node.args[0].shape
    count = size_product(before[:p])
    for j, size in enumerate(node.shape):
        if size == before[p] and size_product(node.shape[:j]) == count:
            return j
    return None


def _rows_of_broadcast(node: Node, places: Sequence[int | None]) -> int | None:
    p, before = only(places), node.args[0].shape
    found = p + len(node.shape) - len(before)
    return found if node.shape[found] == before[p] else None


def _rows_of_slice(node: Node, places: Sequence[int | None]) -> int | None:
    p = only(places)
    return p if node.params[0][p] == WHOLE else None


def _rows_of_joined(node: Node, places: Sequence[int | None]) -> int | None:
    found = {p for p in places if p is not None}
    p = found.pop()
    return p if not found and p != node.params[0] else None


reshape: Op = of_one_array(
    "reshape",
    doc="x with another shape, elements in C order",
    gives="same",
    parameters=("shape",),
    shape=_reshape_rule,
    evaluate=lambda shape, x: np.reshape(x, shape),
    reference=lambda mp, shape, x: np.reshape(x, shape),
    push=lambda node, i, t: move_up(full(t, node.args[0].shape), node.shape),
    pull=lambda node, i, ct: move_up(full(ct, node.shape), node.args[0].shape),
    batch=lambda node, stacks, lead: move_up(only(stacks), (*lead, *node.shape)),
    rows=_rows_of_reshaped,
    entries="moved",
    total="always",
    native=None,
    written=write_reshape,
    cost=0,
    source=None,
    facts=facts("linear"),
)


def _broadcast_rule(shapes: tuple[Shape, ...], shape: Shape) -> Shape:
    if len(shapes[0]) > len(shape) or broadcast_shapes([shapes[0], shape]) != shape:
        raise ShapeError(
            f"an array of shape {shape_text(shapes[0])} does not broadcast to {shape_text(shape)}"
        )
    return shape


broadcast_to: Op = of_one_array(
    "broadcast_to",
    doc="x repeated along axes of length 1 and new leading axes",
    gives="same",
    parameters=("shape",),
    shape=_broadcast_rule,
    evaluate=lambda shape, x: np.broadcast_to(x, shape),
    reference=lambda mp, shape, x: np.broadcast_to(x, shape),
    push=lambda node, i, t: t,
    pull=lambda node, i, ct: unbroadcast(ct, node.shape, node.args[0].shape),
    batch=_batch_broadcast,
    rows=_rows_of_broadcast,
    entries="moved",
    total="always",
    native=None,
    written=write_broadcast,
    cost=0,
    source=None,
    latex=r"\operatorname{{broadcast}}\left({0}\right)",
    facts=facts("linear"),
)


def move_up(x: Node, shape: Shape) -> Node:
    """Return x reshaped; nested reshapes are merged, and redundant reshapes are dropped."""
    while x.op is reshape:
        x = x.args[0]
    return shaped(x, shape)


def shaped(x: Node, shape: Shape) -> Node:
    """Return x reshaped, or x itself if it has the shape."""
    while x.op is reshape and x.shape != shape:
        x = x.args[0]
    return x if x.shape == shape else reshape(x, params=(shape,))


def full(x: Node, shape: Shape) -> Node:
    """Return x broadcast to a shape, or x itself if it has the shape."""
    return x if x.shape == shape else broadcast_to(x, params=(shape,))


def is_zero(x: Node) -> bool:
    """Tell whether a value is the number zero or an array of zeros."""
    return x.is_number(0) or (x.op is broadcast_to and x.args[0].is_number(0))


def expand(x: Node, axes: Sequence[int]) -> Node:
    """Return x with new axes of length 1 at these positions of the result."""
    sizes = list(x.shape)
    for axis in sorted(axes):
        sizes.insert(axis, 1)
    return move_up(x, tuple(sizes))


def squeeze(x: Node, axes: Sequence[int]) -> Node:
    """Return x without these axes of length 1."""
    return move_up(x, tuple(s for i, s in enumerate(x.shape) if i not in axes))


def spread(x: Node, axes: Sequence[int], rank: int) -> Node:
    """Reshape the result of a reduction over axes, or its cotangent, so that it broadcasts against the operand.

    Args:
        x: an array that broadcasts to the shape of the reduction.
        axes: the reduced axes.
        rank: the number of axes of the operand.
    """
    missing = rank - len(axes) - len(x.shape)
    sizes = [1] * missing + list(x.shape)
    for axis in sorted(axes):
        sizes.insert(axis, 1)
    while sizes and sizes[0] == 1:
        sizes.pop(0)
    return move_up(x, tuple(sizes))


def unbroadcast(x: Node, whole: Shape, shape: Shape) -> Node:
    """Pull a cotangent back through a broadcast: sum it over the axes along which ``shape`` is repeated in ``whole``.

    The cotangent broadcasts to ``whole``, and the result broadcasts to ``shape``.
    """
    lead = len(whole) - len(shape)
    missing = len(whole) - len(x.shape)
    summed = [i for i, size in enumerate(whole) if size != 1 and (i < lead or shape[i - lead] == 1)]
    repeats = [whole[i] for i in summed if i < missing or x.shape[i - missing] == 1]
    axes = [i - missing for i in summed if i >= missing and x.shape[i - missing] != 1]
    if axes:
        labels = tuple(range(len(x.shape)))
        rest = tuple(j for j in labels if j not in axes)
        sizes = tuple(1 if j in axes else s for j, s in enumerate(x.shape))
        x = move_up(OPS["einsum"](x, params=((labels,), rest)), sizes)
    while len(x.shape) > len(shape):
        x = squeeze(x, [0])
    return size_node(size_product(repeats)) * x if repeats else x


def slice_axes(x: Node, triples: Sequence[Triple]) -> Node:
    """Return a basic slice, with one (start, stop, step) per axis; x itself if the slice is all of x."""
    normal = tuple(_normal(t, size) for t, size in zip(triples, x.shape, strict=True))
    if all(t == WHOLE for t in normal):
        return x
    return _of_few_rows(x, normal) or slice_of(x, params=(normal,))


def _of_few_rows(x: Node, triples: Sequence[Triple]) -> Node | None:
    """Return a slice of an array of zeros with other rows, if the slice has all of these or none."""
    (_, _, step), *others = triples
    if x.op.name != "unslice" or step != 1 or any(t != WHOLE for t in others):
        return None
    (_, _, one), *beside = x.params[0]
    if one != 1 or any(t != WHOLE for t in beside):
        return None
    rows, shape = x.args[0], (slice_length(x.shape[0], triples[0]), *x.shape[1:])
    begin, before = (slice_start(n, t) for n, t in ((x.shape[0], x.params[0][0]), (x.shape[0], triples[0])))
    at = _less(begin, before)
    end = size_sum([at, rows.shape[0]])
    if nonnegative(at) and nonnegative(_less(shape[0], end)):
        return unslice(rows, params=((_normal((at, end, 1), shape[0]), *others), shape))
    return full(as_node(0), shape) if nonnegative(_less(0, end)) or nonnegative(_less(at, shape[0])) else None


def _less(a: Size, b: Size) -> Size:
    return size_sum([a, size_product([-1, b])])


def slice_rows(x: Node, start: Size | None, stop: Size | None) -> Node:
    """Return consecutive rows: positions of the first axis from ``start`` to before ``stop``; None for its ends."""
    return slice_axes(x, [(start, stop, 1), *[WHOLE] * (len(x.shape) - 1)])


def _normal(triple: Triple, size: Size) -> Triple:
    start, stop, step = triple
    if step > 0:
        return (None if start == 0 else start, None if stop == size else stop, step)
    return triple


def _slice_rule(shapes: tuple[Shape, ...], triples: tuple[Triple, ...]) -> Shape:
    return tuple(slice_length(size, t) for size, t in zip(shapes[0], triples, strict=True))


def _key(triples: tuple[Triple, ...]) -> tuple[Any, ...]:
    return tuple(slice(*t) for t in triples)


slice_of: Op = of_one_array(
    "slice",
    doc="x[start:stop:step, ...]",
    gives="same",
    parameters=("triples",),
    shape=_slice_rule,
    evaluate=lambda triples, x: x[_key(triples)],
    reference=lambda mp, triples, x: x[_key(triples)],
    push=lambda node, i, t: slice_axes(full(t, node.args[0].shape), node.params[0]),
    pull=lambda node, i, ct: _placed(full(ct, node.shape), node.params[0], node.args[0].shape),
    batch=lambda node, stacks, lead: slice_axes(only(stacks), [*[WHOLE] * len(lead), *node.params[0]]),
    rows=_rows_of_slice,
    entries="moved",
    total="always",
    native=None,
    written=write_slice,
    cost=0,
    source=None,
    latex=r"{0}_{{\cdot}}",
    facts=facts("linear"),
)


def _placed(x: Node, triples: tuple[Triple, ...], shape: Shape) -> Node:
    """Return zeros with x in the place of a slice; where the slice reverses whole axes, x with these reversed."""
    if all(t in (WHOLE, (None, None, -1)) for t in triples):
        return slice_axes(x, triples)
    return unslice(x, params=(triples, shape))


def _unslice(triples: tuple[Triple, ...], shape: tuple[int, ...], x: Any) -> Any:
    result = np.zeros(shape, dtype=np.asarray(x).dtype)
    result[_key(triples)] = x
    return result


def _unslice_rule(shapes: tuple[Shape, ...], triples: tuple[Triple, ...], shape: Shape) -> Shape:
    lengths = _slice_rule((shape,), triples)
    if shapes[0] != lengths:
        raise ShapeError(
            f"a slice of shape {shape_text(lengths)} cannot hold an array of shape {shape_text(shapes[0])}"
        )
    return shape


unslice: Op = structural(
    "unslice",
    doc="zeros of a shape with x in the place of a slice",
    gives="same",
    parameters=("triples", "shape"),
    shape=_unslice_rule,
    evaluate=_unslice,
    reference=without_rounding(_unslice),
    push=lambda node, i, t: unslice(full(t, node.args[0].shape), params=node.params),
    pull=lambda node, i, ct: slice_axes(full(ct, node.shape), node.params[0]),
    batch=_batch_unslice,
    rows=_rows_of_slice,
    entries="placed",
    total="always",
    native=None,
    written=write_unslice,
    source=None,
    facts=facts("linear"),
)


def _concatenate_rule(shapes: tuple[Shape, ...], axis: int) -> Shape:
    first = shapes[0]
    for other in shapes[1:]:
        same = len(other) == len(first) and all(
            a == b for i, (a, b) in enumerate(zip(first, other, strict=True)) if i != axis
        )
        if not same:
            raise ShapeError(
                f"arrays of shapes {shape_text(first)} and {shape_text(other)} do not join along axis {axis}",
                expected="equal sizes along all other axes",
            )
    return tuple(size_sum(s[axis] for s in shapes) if i == axis else n for i, n in enumerate(first))


def _concatenate(axis: int, *arrays: Any) -> Any:
    return np.concatenate(arrays, axis=axis)


def _concatenate_push(node: Node, tangents: Sequence[Node | None]) -> Node:
    zero = as_node(0)
    parts = [full(zero if t is None else t, arg.shape) for t, arg in zip(tangents, node.args, strict=True)]
    return concatenate(*parts, params=node.params)


def _concatenate_pull(node: Node, cotangent: Node, wanted: Sequence[bool]) -> Sequence[Node | None]:
    axis: int = node.params[0]
    whole = full(cotangent, node.shape)
    parts: list[Node | None] = []
    start: Size = 0
    for arg, here in zip(node.args, wanted, strict=True):
        stop = size_sum([start, arg.shape[axis]])
        triples = [(start, stop, 1) if j == axis else WHOLE for j in range(len(node.shape))]
        parts.append(slice_axes(whole, triples) if here else None)
        start = stop
    return parts


concatenate: Op = joint(
    "concatenate",
    doc="arrays one after the other along an axis",
    variadic=True,
    gives="same",
    parameters=("axis",),
    shape=_concatenate_rule,
    evaluate=_concatenate,
    reference=without_rounding(_concatenate),
    push=_concatenate_push,
    pull=_concatenate_pull,
    batch=_batch_concatenate,
    rows=_rows_of_joined,
    entries="moved",
    total="always",
    native=None,
    written=write_concatenation,
    source=None,
    facts=facts("linear"),
)
