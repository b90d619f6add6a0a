"""What limits an elementwise loop: its longest chain, the number of its operations, or memory.

A processor starts an operation when its operands are there, some cycles after theirs. It finds other work in the
instructions that follow, a few hundred of them: in the next round of a short loop, but not of a long one. Then two
vectors at a time take little longer than one, if what limits the loop is its longest chain and not the number of its
operations. Per element the arithmetic is the same.
"""

from __future__ import annotations

from symgrad.compiler.lowering.cost import cycles, own_cost
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.ir.graph import Node
from symgrad.ops.record import DIVISION_COST

__all__ = ["better_pays_from", "elements_of_a_call", "limited_by_memory", "side_by_side"]

_WINDOW = 224
"""Instructions: of so long a loop, processors of today see less than two rounds at once."""

_PER_CYCLE = 3.0
"""Vector instructions that start in a cycle where nothing has to wait."""

_INSTRUCTIONS = 40
"""Of a function."""

_LIGHT = 12
"""Simple operations for each argument: so few take less time than the argument takes from memory or to it."""

_EQUATIONS = 4000
"""Equations: beyond, compiling twice the code takes longer than many will compute."""

_BETWEEN = 1000
"""Equations between loops over copies: with no more, two vectors at a time share what such a loop takes from its tables
for little more compile time."""

_SLOWER = 0.01
"""Nanoseconds that quick code takes longer than better code for an instruction and an element: a fifth to a half more,
between 0.005 and 0.025 over the workloads of `benchmarks/scoreboard`."""

_ARGUMENT = 5
"""Instructions for an argument of a vector of elements: what it is read or written by, and what counts its elements."""

_CALL = 150.0
"""Nanoseconds that a call of quick code takes longer whatever it computes: it is asked whether better code pays."""

_BETTER, _BETTER_EQUATION = 15e6, 0.06e6
"""Nanoseconds in which better code is compiled: for any, and for each equation."""


_SOON = 1500
"""Equations, of each repetition the first alone: better code of so few takes as long as writing them all down."""


def better_pays_from(plan: Schedule) -> int:
    """Return after how many elements quick code has lost as much time as it takes to compile better code.

    To compile it then takes at most twice the time that the better of the two decisions would have taken, whatever
    follows; no other rule can promise less without knowing what follows.

    Args:
        plan: the equations of an elementwise loop.

    Returns:
        The number of elements; 0 where repetition leaves so little code that better code is there as soon.
    """
    copies = {chunk.group: len(chunk.nodes) for chunk in plan.chunks if chunk.group is not None}
    equations = sum(copies.values()) + sum(len(chunk.nodes) for chunk in plan.chunks if chunk.group is None)
    if copies and equations <= _SOON:
        return 0
    return round((_BETTER + _BETTER_EQUATION * equations) / _lost(plan))


def elements_of_a_call(plan: Schedule) -> int:
    """Return how many elements computed by quick code lose as much time as a call by itself."""
    return round(_CALL / _lost(plan))


def _lost(plan: Schedule) -> float:
    """Return the nanoseconds that quick code takes longer for an element."""
    work = sum(_instructions(n) for chunk in plan.chunks for n in chunk.nodes)
    return _SLOWER * (work + _ARGUMENT * (len(plan.inputs) + len(plan.outputs)))


def _instructions(node: Node) -> float:
    cost = own_cost(node) if node.args else 1
    return _INSTRUCTIONS if cost > DIVISION_COST else min(cost, 1)


def limited_by_memory(plan: Schedule) -> bool:
    """Tell whether arrays that no cache holds take longer to move than to compute.

    Args:
        plan: the equations of an elementwise loop.
    """
    work = sum(own_cost(n) for chunk in plan.chunks for n in chunk.nodes if n.args)
    return work <= _LIGHT * (len(plan.inputs) + len(plan.outputs))


def side_by_side(plan: Schedule) -> int:
    """Return how many vectors a loop should compute at a time: 1 or 2.

    Args:
        plan: the equations of an elementwise loop.
    """
    if any(chunk.group is not None for chunk in plan.chunks):
        between = sum(len(chunk.nodes) for chunk in plan.chunks if chunk.group is None)
        return 2 if between <= _BETWEEN else 1
    if len(plan.chunks) != 1 or len(plan.chunks[0].nodes) > _EQUATIONS:
        return 1
    work = 0
    ready: dict[Node, float] = {}
    angles: set[Node] = set()  # a sine and a cosine of one angle are one function
    for node in plan.chunks[0].nodes:
        cost = own_cost(node) if node.args else 1
        if node.op.name in {"sin", "cos"}:
            cost = 1 if node.args[0] in angles else cost
            angles.add(node.args[0])
        work += _INSTRUCTIONS if cost > DIVISION_COST else min(cost, 1)
        start = max((ready.get(a, 0.0) for a in node.args), default=0.0)
        ready[node] = start + (cycles(node) if node.args else 0.0)
    longest = max(ready.values(), default=0.0)
    return 2 if work > _WINDOW and longest > work / _PER_CYCLE else 1
