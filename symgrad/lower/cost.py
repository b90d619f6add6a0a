"""What operations cost: about how much work each is, and how long a processor waits for its result."""

from __future__ import annotations

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, Node

__all__ = ["DIVIDED", "LEAVES", "cycles", "own_cost"]

LEAVES = (NUMBER, CONSTANT, SIZE)
"""Nodes that are numbers wherever they are read."""

DIVIDED = 5
"""What a division takes, in simple operations; a function takes more."""

_VIEWS = ("reshape", "broadcast_to", "slice", "iota", "einsum", "stop_gradient")
_COSTS = {"div": DIVIDED, "sqrt": DIVIDED, "gather": 2, "pow": 30, **dict.fromkeys(_VIEWS, 0)}


def own_cost(node: Node) -> int:
    """Return about how many simple operations the op of a node takes.

    Simple are those that give whole numbers for whole numbers, or truth values; functions give real numbers.
    """
    op = node.op
    if op.name == "pow" and node.args[1].op is NUMBER:
        return 4
    simple = op.pointwise and op.gives != "real"
    return 0 if op in LEAVES else _COSTS.get(op.name, 1 if simple else 20)


def cycles(node: Node) -> float:
    """Return about how long a processor waits for the result of the op of a node."""
    cost = own_cost(node)
    return 90.0 if cost > DIVIDED else 4.0 if cost <= 1 else 16.0
