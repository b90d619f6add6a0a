"""Rewrite array programs in a smaller vocabulary of ops, before loops are planned.

The vocabulary has elementwise ops; einsum of one or two operands, or of several that one loop nest multiplies; max,
min, prod; scans along an axis (`Scan`); loops of steps (`Loop`); reshape, broadcast_to, slice, unslice, concatenate;
gather, scatter_add, iota; factors of matrices (`ops/array/factors.py`). The record of every other op has a formula in
these ops.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.lowering.contractions import MatrixProducts, contraction, op
from symgrad.ir.graph import Node, as_node
from symgrad.ir.op import Loop, Scan
from symgrad.ir.traverse import topological, with_args


def to_normal_form(outputs: Sequence[Node]) -> list[Node]:
    """Return the outputs in the smaller vocabulary; values agree up to rounding."""
    done: dict[Node, Node] = {}
    products: MatrixProducts = {}
    for node in topological(outputs):
        args = tuple(done[a] for a in node.args)
        if node.op.name == "einsum":
            done[node] = contraction(node, args, products)
            continue
        native = None if node.op.structure is None else node.op.structure.native
        new = (
            with_args(node, args) if native is None or isinstance(native, Scan | Loop) else native(node, args)
        )
        # The norm of an int over no axis becomes its absolute value, which is an int, but memory must hold a real
        # number.
        done[node] = op("div", new, as_node(1)) if (node.dtype, new.dtype) == ("real", "int") else new
    return [done[o] for o in outputs]
