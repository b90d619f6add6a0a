"""What operations cost: about how much work each is, and how long a processor waits for its result."""

from __future__ import annotations

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, Node

__all__ = ["DIVIDED", "LEAVES", "cycles", "own_cost"]

LEAVES = (NUMBER, CONSTANT, SIZE)
"""Nodes that are numbers wherever they are read."""

_VIEWS = frozenset({"reshape", "broadcast_to", "slice", "iota", "einsum", "stop_gradient"})
_CHEAP = frozenset(
    (
        *(
            "add",
            "mul",
            "neg",
            "abs",
            "where",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "and_",
            "or_",
            "xor",
            "not_",
        ),
        *("minimum", "maximum", "sign", "relu", "clip", "floor", "ceil", "round"),
    )
)
DIVIDED = 5
"""What a division takes, in simple operations; a function takes more."""

_COSTS = {"div": DIVIDED, "sqrt": DIVIDED, "gather": 2, "pow": 30}


def own_cost(node: Node) -> int:
    """Return about how many simple operations the op of a node takes."""
    name = node.op.name
    if name in _VIEWS or node.op in LEAVES:
        return 0
    if name == "pow" and node.args[1].op is NUMBER:
        return 4
    return 1 if name in _CHEAP else _COSTS.get(name, 20)


def cycles(node: Node) -> float:
    """Return about how long a processor waits for the result of the op of a node."""
    cost = own_cost(node)
    return 90.0 if cost > DIVIDED else 4.0 if cost <= 1 else 16.0
