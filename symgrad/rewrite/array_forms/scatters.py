"""Recognise scatters that enumerate an axis: scatter_add(v, arange(n), y) writes one value into each of n rows."""

from __future__ import annotations

from typing import cast

from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape
from symgrad.ops.array.indexing import iota
from symgrad.rewrite.normal_form.views import view


def counted_axes(node: Node) -> dict[int, int]:
    """Return the axes of a scatter's positions along which they enumerate an axis of the result, with that axis.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import INT, REAL, Declaration
        >>> from symgrad.ops.array.indexing import scatter_add
        >>> v, y = symbol(Declaration("v", REAL, ("n",))), symbol(Declaration("y", INT, ("n",)))
        >>> counted_axes(scatter_add(v, iota(params=("n",)), y, params=((0, 1), ("n", 3))))
        {0: 0}
    """
    axes, shape = cast("tuple[tuple[int, ...], Shape]", node.params)
    indices = node.args[1:]
    depth = max(len(i.shape) for i in indices)
    found: dict[int, int] = {}
    for index, axis in zip(indices, axes, strict=True):
        core, along = view(index)
        if core.op is not iota or core.shape != (shape[axis],) or len(along) - along.count(None) != 1:
            continue
        j = along.index(0) + depth - len(along)
        if j not in found:
            found[j] = axis
    return found
