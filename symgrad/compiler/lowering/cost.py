"""Cost estimates of operations: work and latency."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, Node
from symgrad.ir.traverse import topological
from symgrad.ops.record import DIVISION_COST

LEAVES = (NUMBER, CONSTANT, SIZE)
"""Ops of nodes that are numbers."""

_OPERATION, _ARGUMENT = 0.02, 0.3
"""Nanoseconds for one element of large arrays: a low estimate, so that a call is cut only if that saves time."""


def own_cost(node: Node) -> int:
    """Estimate the number of simple operations of a node, from the record of its op."""
    if node.op.name == "pow" and node.args[1].op is NUMBER:
        return 4
    return node.op.cost


def cycles(node: Node) -> float:
    """Estimate the latency of a node, in cycles."""
    cost = own_cost(node)
    return 90.0 if cost > DIVISION_COST else 4.0 if cost <= 1 else 16.0


def work_of(outputs: Sequence[Node], inputs: Sequence[Node], order: Sequence[Node] | None = None) -> float:
    """Return a low estimate of the nanoseconds of one element.

    Args:
        outputs: the outputs.
        inputs: the inputs.
        order: the result of `topological` for the outputs, if available.
    """
    operations = sum(map(own_cost, topological(outputs) if order is None else order))
    return _OPERATION * operations + _ARGUMENT * (len(outputs) + len(inputs))
