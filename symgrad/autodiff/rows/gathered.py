"""The sparse gradient with respect to a table whose rows a program gathers, without an array as large as the table."""

from __future__ import annotations

from symgrad.autodiff.trace import BackwardTrace, Pullback
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node
from symgrad.ir.sizes import size_product
from symgrad.ir.traverse import topological
from symgrad.ops.array.indexing import gather
from symgrad.ops.array.layout import reshape
from symgrad.ops.numpy.calls import join


def pull_back_rows(y: Node, table: Node) -> tuple[Node, Node, BackwardTrace] | Pullback | None:
    """Pull the cotangent 1 of a scalar back to the rows of a table that it gathers.

    Each gather counts as a variable, and its cotangent is not passed on, because the contribution to the table would be
    a scatter_add of this cotangent. Every other contribution to the table is dense.

    Args:
        y: the scalar.
        table: a symbol or an intermediate node with at least one axis.

    Returns:
        The indices of the rows and their cotangents, along one first axis, and the trace; or the step that makes the
        gradient dense; or None if nothing reaches the table.
    """
    readings = [n for n in topological([y]) if n.op is gather and n.args[0] is table and n.params == ((0,),)]
    trace = pull_back([y], [as_node(1)], [*readings, table], stopped=readings)
    for step in trace.steps:
        if step.target is table and not step.contribution.is_number(0):
            return step
    found = [(n, g) for n, g, no in zip(readings, trace.gradients, trace.nothing, strict=False) if no is None]
    if not found:
        return None
    indices: list[Node] = []
    rows: list[Node] = []
    for node, gradient in found:
        index = node.args[1]
        if len(index.shape) != 1:
            count = size_product(index.shape)
            index = reshape(index, params=((count,),))
            gradient = reshape(gradient, params=((count, *table.shape[1:]),))
        indices.append(index)
        rows.append(gradient)
    return (join(indices), join(rows), trace) if len(found) > 1 else (indices[0], rows[0], trace)
