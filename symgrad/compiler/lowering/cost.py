"""What operations cost: about how much work each is, and how long a processor waits for its result."""

from __future__ import annotations

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, Node
from symgrad.ops.record import DIVISION_COST

__all__ = ["LEAVES", "cycles", "own_cost"]

LEAVES = (NUMBER, CONSTANT, SIZE)
"""Nodes that are numbers wherever they are read."""


def own_cost(node: Node) -> int:
    """Return about how many simple operations the op of a node takes, by its record."""
    if node.op.name == "pow" and node.args[1].op is NUMBER:
        return 4
    return node.op.cost


def cycles(node: Node) -> float:
    """Return about how long a processor waits for the result of the op of a node."""
    cost = own_cost(node)
    return 90.0 if cost > DIVISION_COST else 4.0 if cost <= 1 else 16.0
