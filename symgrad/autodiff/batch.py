"""Vectorisation: turn a graph into one for a whole stack of values of some nodes, by the rule in each op's record.

A Jacobian is a vjp (or jvp) whose seed is a stack of unit arrays: the pullback is built once, for one symbolic seed,
and then batched. The stack may have several leading axes, so the result has the shape y.shape + x.shape without a
reshape, also for named sizes.

    A batched node has the shape lead + node.shape; a node that depends on no stack stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.array.contraction import contract
from symgrad.ops.array.indexing import eye
from symgrad.ops.array.layout import aligned, full, move_up, truth_of


@gc_paused()
def batch(outputs: Sequence[Node], stacks: Mapping[Node, Node], lead: Shape) -> list[Node]:
    """Return the outputs for every member of a stack.

    Args:
        outputs: the nodes to compute.
        stacks: for each varying node, an array of its values, of shape ``lead + node.shape``.
        lead: the leading axes of the stack.

    Returns:
        For each output, an array of shape ``lead + output.shape``.
    """
    if not lead:
        return substitute(list(outputs), stacks)
    known: dict[Node, Node | None] = dict(stacks)
    for node in topological(outputs, until=stacks):
        if node in known:
            continue
        args = [known[a] for a in node.args]
        if all(a is None for a in args):
            known[node] = None
        elif node.op.pointwise:
            known[node] = _pointwise(node, args, lead)
        else:
            known[node] = node.op.array.batch(node, args, lead)
    return [truth_of(full(o, (*lead, *o.shape)), o) if (s := known[o]) is None else s for o in outputs]


def units(shape: Shape) -> Node:
    """Stack all unit arrays of a shape: an array of shape ``shape + shape``, 1 where both halves of the index agree."""
    long = [size for size in shape if size != 1]
    rank = len(long)
    eyes = [eye(params=(size, size)) for size in long]
    found = contract(eyes, [(i, rank + i) for i in range(rank)], range(2 * rank)) if long else as_node(1)
    return move_up(found, (*shape, *shape))


def _pointwise(node: Node, args: list[Node | None], lead: Shape) -> Node:
    rank = len(node.shape)
    moved = tuple(
        arg if stacked is None else aligned(stacked, len(arg.shape), rank, lead)
        for arg, stacked in zip(node.args, args, strict=True)
    )
    return apply(node.op, moved, node.params)
