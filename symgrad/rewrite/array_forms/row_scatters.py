"""Recognise scatters of one value into each row of an array: gradients of losses with labels contain them."""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.ir.graph import Node
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Size
from symgrad.ops.array.indexing import iota
from symgrad.ops.array.layout import full, reshape
from symgrad.rewrite.normal_form.views import view


@dataclass(frozen=True, slots=True)
class RowScatter:
    """Values at one position in each row.

    Args:
        values: an array with a value for each row, or a number.
        index: the positions of the values.
        spelled: the nodes of the positions in the graph.
    """

    values: Node
    index: Node
    spelled: tuple[Node, ...]


def row_scatter(node: Node) -> RowScatter | None:
    """Return the values and positions of a scatter that writes one value into each row; None for other scatters.

    Rows are indexed by all axes except the last. For ``shape=(n, k)`` the positions are ``arange(n), t``, or
    ``arange(n)[:, None], t[:, None]`` as in `take_along_axis`. For ``(b, n, k)`` they are three arrays.
    """
    values, *indices, last = node.args
    axes, shape = node.params
    if not indices or axes != tuple(range(len(shape))):
        return None
    spread = broadcast_shapes([i.shape for i in (*indices, last)])
    rows = shape[:-1]
    if spread not in (rows, (*rows, 1)):
        return None
    if not all(_counts(row, k, shape[k], len(spread)) for k, row in enumerate(indices)):
        return None
    index, core = full(last, spread), view(values)[0]
    if spread != rows:
        index = _without_last(index)
        values = values if not core.shape else _without_last(values)
    return RowScatter(values if core.shape else core, index, (last, index))


def _counts(index: Node, axis: int, size: Size, rank: int) -> bool:
    """Tell whether an array of positions is 0, 1, ... along one axis, and constant along all other axes."""
    core, along = view(index)
    wanted = [None] * rank
    return (
        core.op is iota
        and core.shape == (size,)
        and [*wanted[len(along) :], *along] == [*wanted[:axis], 0, *wanted[axis + 1 :]]
    )


def _without_last(node: Node) -> Node:
    """Return an array without its last axis, of length 1."""
    core, along = view(node)
    rest = node.shape[:-1]
    return core if along == (*range(len(rest)), None) else reshape(node, params=(rest,))
