"""Array programs in fewer ops, before loops are planned.

What remains besides elementwise ops: einsum of one operand, of two, or of several that one loop nest multiplies; max,
min, prod; what runs along an axis (`Scan`); reshape, broadcast_to, slice, unslice, concatenate; gather, scatter_add,
iota; factors of matrices (`ops/array/factors.py`). Every other op says in its record what it is in these.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.lowering.arrays.contractions import MatrixProducts, contraction, op
from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.op import Scan
from symgrad.ir.traverse import topological

__all__ = ["normal"]


def normal(outputs: Sequence[Node]) -> list[Node]:
    """Return the outputs in the smaller vocabulary; values agree up to rounding."""
    done: dict[Node, Node] = {}
    products: MatrixProducts = {}
    for node in topological(outputs):
        args = tuple(done[a] for a in node.args)
        if node.op.name == "einsum":
            done[node] = contraction(node, args, products)
            continue
        native = None if node.op.structure is None else node.op.structure.native
        if native is not None and not isinstance(native, Scan):
            made = native(node, args)
        else:
            made = node if args == node.args else apply(node.op, args, node.params)
        # The norm of a whole number over no axis is its size: still a real number, in memory too.
        done[node] = op("div", made, as_node(1)) if (node.dtype, made.dtype) == ("real", "int") else made
    return [done[o] for o in outputs]
