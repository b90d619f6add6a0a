"""NumPy's subscripts on nodes: x[1:, None, ids, ..., 0], take and take_along_axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from symgrad.ir.bounds import MOST_ENTRIES
from symgrad.ir.graph import Node, as_node
from symgrad.ir.shapes import Triple, broadcast_shapes
from symgrad.ir.sizes import Extent, Size, extent_text, nonnegative, size_max, size_product, size_sum
from symgrad.ops.array.contraction import transpose
from symgrad.ops.array.indexing import gather, iota
from symgrad.ops.array.layout import WHOLE, move_up, shape_text, slice_axes
from symgrad.ops.numpy.calls import axis_of, flattened, stack
from symgrad.ops.numpy.lengths import as_size
from symgrad.support.errors import DomainError, IndexRangeError, ShapeError, UnsupportedError, UsageError


def index(x: Node, key: Any) -> Node:
    """``x[key]``.

    Args:
        x: an array.
        key: an int, slice, None, Ellipsis, array of integers (a Node, or a list of ints), or a tuple of them.
            Ends of slices may be sizes.

    Raises:
        IndexRangeError: for an int outside an axis of known length.
        ShapeError: for more subscripts than axes.
        UnsupportedError: for a mask of truth values, since the size of the result is not known before evaluation.
    """
    items = _items(x, key)
    triples: list[Triple] = []
    advanced: list[tuple[int, int, Node]] = []  # place in the key, axis, positions
    axis = 0
    arrays = any(isinstance(item, Node) and item.shape for item in items)
    for place, item in enumerate(items):
        if item is None or item is Ellipsis:
            continue
        size = x.shape[axis]
        if isinstance(item, slice):
            triples.append(slice_triple(cast("Any", item), size))
        elif isinstance(item, Node):
            position = as_size(item)
            if position is not None:
                _check_position(position, x, axis)
            triples.append(WHOLE)
            advanced.append((place, axis, item))
        else:
            at: int = item
            _check_position(at, x, axis)
            if isinstance(size, int) and not arrays:
                at %= size
                triples.append((at, at + 1, 1))
            else:
                # Only in a call is it known whether a named size has this entry; the call checks it like any index.
                triples.append(WHOLE)
                advanced.append((place, axis, as_node(at)))
        axis += 1
    result = slice_axes(x, triples)
    if advanced:
        axes = tuple(a for _, a, _ in advanced)
        result = gather(result, *(node for _, _, node in advanced), params=(axes,))
    depth = len(broadcast_shapes([node.shape for _, _, node in advanced]))
    return _arranged(result, items, [place for place, _, _ in advanced], depth)


def _check_position(at: Size, x: Node, axis: int) -> None:
    """Raise IndexRangeError for a position that is outside of an axis, whatever the named sizes are."""
    size = x.shape[axis]
    if isinstance(at, int) and isinstance(size, int):
        outside = not -size <= at < size  # also for numbers that are too long for a size
    else:
        before = size_product([-1, size_sum([at, size, 1])])
        outside = nonnegative(size_sum([at, size_product([-1, size])])) or nonnegative(before)
    if outside:
        raise IndexRangeError(
            f"index {extent_text(at)} for axis {axis} of shape {shape_text(x.shape)}",
            expected=f"an index from {extent_text(size_product([-1, size]))} to {extent_text(size_sum([size, -1]))}"
            if size != 0
            else "no index: the axis is empty",
        )


def _arranged(result: Node, items: Sequence[Any], places: Sequence[int], depth: int) -> Node:
    """Drop the axes of ints, insert the axes of None, and place the axes of index arrays as NumPy does."""
    first = places[0] if places else -1
    order: list[int | None] = []  # axes of the result; None for a new axis
    block: list[int] = []
    position = 0
    for place, item in enumerate(items):
        if place == first:
            block = list(range(position, position + depth))
            order.extend(block)
            position += depth
        elif place in places or item is Ellipsis:
            continue
        elif item is None:
            order.append(None)
        else:
            if isinstance(item, slice):
                order.append(position)
            position += 1
    if places and places[-1] - first + 1 != len(places):
        # If index arrays are not adjacent, their axes come first.
        order = [*block, *(a for a in order if a not in block)]
    old = [a for a in order if a is not None]
    result = move_up(result, tuple(s for a, s in enumerate(result.shape) if a in old))
    rank = [sorted(old).index(a) for a in old]
    if rank != sorted(rank):
        result = transpose(result, rank)
    sizes = iter(result.shape)
    return move_up(result, tuple(1 if a is None else next(sizes) for a in order))


def _items(x: Node, key: Any) -> list[Any]:
    """Return one item for every axis, None for each new axis, and the dots."""
    items = list(cast("tuple[Any, ...]", key)) if isinstance(key, tuple) else [key]
    items = [_item(item) for item in items]
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > len(x.shape):
        raise ShapeError(
            f"{used} subscript{'s' * (used > 1)} for an array of shape {shape_text(x.shape)}",
            expected=f"at most {len(x.shape)}",
            cure=None if x.shape else "declare an array: x : real[3], in Python sg.tensor('x', (3,))",
        )
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise UsageError("a subscript with more than one '...'", expected="one")
    rest: list[Any] = [slice(None)] * (len(x.shape) - used)
    # The dots are kept, because they separate index arrays even if they stand for no axis.
    return [*items[: dots[0] + 1], *rest, *items[dots[0] + 1 :]] if dots else [*items, *rest]


def _item(item: Any) -> Any:
    if isinstance(item, bool) or (isinstance(item, Node) and item.dtype == "bool"):
        raise UnsupportedError(
            "a subscript that is a truth value: the size of its result depends on the data",
            cure="write where(mask, x, 0)",
        )
    if isinstance(item, list):
        numbers = cast("list[Any]", item)
        if not numbers or not all(isinstance(v, int) and not isinstance(v, bool) for v in numbers):
            raise UsageError(f"the subscript {numbers!r}", expected="a list of whole numbers")
        return stack([as_node(v) for v in numbers])
    if isinstance(item, Node):
        if item.is_number() and isinstance(item.value, int):
            return int(item.value)
        if item.dtype != "int":
            raise DomainError(
                f"a subscript of kind {item.dtype}",
                expected="whole numbers",
                cure="declare it int, as in ids : int[n]",
            )
        return item
    if item is None or item is Ellipsis or isinstance(item, int | slice):
        return cast("Any", item)
    raise UsageError(
        f"a subscript of type {type(item).__name__}",
        expected="an int, a slice, None, ... or an array of ints",
    )


def slice_triple(item: slice, size: Size) -> Triple:
    """Return start, stop and step of a slice of an axis.

    A size is never negative, so an end such as n - 3 is 0 for n < 3. (NumPy would count a negative end from the end of
    the axis, and the length of the result would have no formula.) Numbers beyond all axes count as the length of the
    longest possible axis, as in Python.
    """
    step = 1 if item.step is None else item.step
    if not isinstance(step, int) or step == 0:
        raise UsageError(f"a slice with step {item.step!r}", expected="a whole number that is not 0")
    step = _clipped(step)
    start: Size | None = _clipped(item.start)
    stop: Size | None = _clipped(item.stop)
    if isinstance(start, Extent) and (step > 0 or size_sum([size, size_product([-1, start])]) != 1):
        start = size_max(start, 0)
    # If n is too small, the first n - 1 or n - 2 of n entries are no entries, whether or not a negative end counts from
    # the end.
    if isinstance(stop, Extent) and (step < 0 or size_sum([size, size_product([-1, stop])]) not in (1, 2)):
        stop = size_max(stop, 0)
    return (start, stop, step)


def _clipped(end: Any) -> Any:
    return min(max(end, -MOST_ENTRIES), MOST_ENTRIES) if isinstance(end, int) else end


def take(x: Node, positions: Node, axis: Any = None) -> Node:
    """``numpy.take``: entries along an axis, or of the flattened array."""
    x, at = flattened(x, axis)
    return gather(x, _item_node(positions), params=((at,),))


def take_along_axis(x: Node, positions: Node, axis: Any) -> Node:
    """``numpy.take_along_axis``: one entry for each position, with all other axes matched."""
    rank = len(x.shape)
    if len(positions.shape) != rank:
        raise ShapeError(
            f"take_along_axis of shapes {shape_text(x.shape)} and {shape_text(positions.shape)}",
            expected="as many axes",
        )
    at = axis_of(axis, rank)
    broadcast_shapes([s[:at] + s[at + 1 :] for s in (x.shape, positions.shape)])
    key: list[Node] = []
    for i in range(rank):
        if i == at:
            key.append(_item_node(positions))
        else:
            counts = iota(params=(x.shape[i],))
            key.append(move_up(counts, tuple(x.shape[i] if j == i else 1 for j in range(rank))))
    return gather(x, *key, params=(tuple(range(rank)),))


def _item_node(positions: Node) -> Node:
    found = _item(positions)
    return as_node(found) if isinstance(found, int) else found
