"""Cost estimates of operations: work and latency."""

from __future__ import annotations

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, Node
from symgrad.ops.record import DIVISION_COST

LEAVES = (NUMBER, CONSTANT, SIZE)
"""Ops of nodes that are numbers."""


def own_cost(node: Node) -> int:
    """Estimate the number of simple operations of a node, from the record of its op."""
    if node.op.name == "pow" and node.args[1].op is NUMBER:
        return 4
    return node.op.cost


def cycles(node: Node) -> float:
    """Estimate the latency of a node, in cycles."""
    cost = own_cost(node)
    return 90.0 if cost > DIVISION_COST else 4.0 if cost <= 1 else 16.0
