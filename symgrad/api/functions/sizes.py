"""Convert Python values (numbers, names, entries of shapes, formulas of these) to sizes of axes and to subscripts."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as whole
from typing import Any, cast

import numpy as np

from symgrad.api.handles.base import Handle
from symgrad.api.handles.convert import tracing
from symgrad.ir.bounds import check_axes
from symgrad.ir.graph import NUMBER, SIZE, Node
from symgrad.ir.sizes import Extent, Shape, Size, extent_text, size_product, size_sum
from symgrad.ir.types import is_name
from symgrad.support.errors import UsageError


def size_of(value: Any) -> Size:
    """Return a size from a number, a name, a computed size, or a formula made of these with + - *.

    Raises:
        UsageError: for anything else.
    """
    if isinstance(value, Extent):
        return value
    if isinstance(value, str):
        if is_name(value):
            return str(value)
    elif isinstance(value, Handle):
        found = _size_of_node(value.node)
        if found is not None:
            return found
    elif value is not None and not isinstance(value, bool | float):
        try:
            return whole(value)
        except TypeError:
            pass
    raise UsageError(
        f"{value!r} is not the size of an axis",
        expected="a whole number, a name such as 'n', or an entry of a shape",
        cure="a size that is not known yet gets a name, which is bound when values arrive"
        if value is None
        else None,
    )


def _size_of_node(node: Node) -> Size | None:
    if node.op is SIZE:
        return node.params[0]
    if node.op is NUMBER:
        return node.value if isinstance(node.value, int) and node.dtype == "int" else None
    parts = [_size_of_node(a) for a in node.args]
    if node.op.name not in ("add", "mul", "neg") or any(p is None for p in parts):
        return None
    sizes = cast("list[Size]", parts)
    if node.op.name == "neg":
        return size_product([-1, *sizes])
    return size_sum(sizes) if node.op.name == "add" else size_product(sizes)


def length_of(value: Any) -> Size:
    """Return the length of an axis, read by `size_of`.

    Raises:
        UsageError: as for `size_of`, and for a negative number.
        ShapeError: if the length is larger than any array.
    """
    size = size_of(value)
    if isinstance(size, int) and size < 0:
        raise UsageError(f"an axis of length {extent_text(size)}", expected="a length of at least 0")
    check_axes((size,))
    return size


def shape_of(value: Any, *, rest: bool = False) -> Shape:
    """Return a shape from a size or a sequence of sizes.

    Args:
        value: the sizes.
        rest: whether -1 may stand for the remaining size.
    """
    many = isinstance(value, list | tuple)
    read = size_of if rest else length_of
    return tuple(read(s) for s in (cast("Sequence[Any]", value) if many else [value]))


def widths_of(value: Any) -> Any:
    """Return the widths of ``pad``, a size or pairs of sizes, as nested tuples of sizes."""
    widths = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(widths, list | tuple):
        return tuple(map(widths_of, cast("Sequence[Any]", widths)))
    return size_of(widths)


def subscript_of(item: Any) -> Any:
    """Convert one subscript: expressions to nodes, and ends of slices to sizes.

    Raises:
        UsageError: if the value is not a subscript.
    """
    if isinstance(item, Handle):
        return item.node
    if isinstance(item, slice):
        cut = cast("slice[Any, Any, Any]", item)
        start, stop = (None if e is None else size_of(e) for e in (cut.start, cut.stop))
        return slice(start, stop, None if cut.step is None else whole(cut.step))
    if item is None or item is Ellipsis or isinstance(item, bool | list | str):
        return cast("Any", item)
    entry: Any = item
    if isinstance(item, np.ndarray) and entry.ndim and entry.dtype.kind in "iu":
        trace = tracing.get()
        return entry.tolist() if trace is None else trace.read(entry).node
    try:
        return whole(entry)
    except TypeError:
        pass
    raise UsageError(
        f"a subscript of type {type(entry).__name__}",
        expected="a whole number, a slice, None, ..., an int expression, or a list or array of whole numbers",
        cure="write positions as a list, x[[0, 2]], or make them an int input",
    )
