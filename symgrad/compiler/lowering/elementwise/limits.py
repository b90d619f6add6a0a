"""Find the bottleneck of an elementwise loop: its longest dependency chain, its number of operations, or memory.

A processor starts an operation when its operands are ready, some cycles after the operations that compute them have
started. Meanwhile it finds other work in the next few hundred instructions. In a short loop these include the next
iteration, in a long loop they do not. So if a long loop is limited by its longest chain, and not by the number of its
operations, then two vectors at a time take little longer than one. The arithmetic per element is the same.
"""

from __future__ import annotations

from symgrad.compiler.lowering.cost import cycles, own_cost
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.ir.graph import Node
from symgrad.ops.record import DIVISION_COST

_WINDOW = 224
"""In a loop with more instructions than this, current processors see less than two iterations at once."""

_PER_CYCLE = 3.0
"""The number of vector instructions that start per cycle if none has to wait."""

_INSTRUCTIONS = 40
"""Number of instructions of a mathematical function."""

_LIGHT = 12
"""At most this many simple operations per argument take less time than loading or storing the argument."""

_EQUATIONS = 4000
"""Above this many equations, compiling twice the code takes longer than most callers would ever save."""

_BETWEEN = 1000
"""If at most this many equations are outside the loops over copies, computing two vectors at a time pays: both vectors
share the loads from the tables of these loops, and compile time hardly grows."""

_SLOWER = 0.01
"""Extra time of quick code, in nanoseconds per instruction and element. It was between 0.005 and 0.025 for the
workloads of `benchmarks/scoreboard`, whose run time it makes longer by a fifth to a half."""

_ARGUMENT = 5
"""The instructions for an argument of a vector: its load or store, and its index arithmetic."""

_CALL = 150.0
"""Fixed extra time of each call of quick code, in nanoseconds: the call checks whether better code pays."""

_BETTER, _BETTER_EQUATION = 15e6, 0.06e6
"""Compile time of better code, in nanoseconds: a fixed part, and a part per equation."""


_SOON = 1500
"""With at most this many equations (counting one copy of each repetition), better code compiles as fast as unrolled
quick code."""


def better_pays_from(plan: Schedule) -> int:
    """Return the number of elements after which quick code's extra run time equals the compile time of better code.

    If better code is compiled at that point, the total time is at most twice the time of the best decision, whatever
    calls follow. No rule that does not know the later calls can guarantee a smaller factor.

    Args:
        plan: the equations of an elementwise loop.

    Returns:
        The number of elements; 0 if the repeated parts are rolled into loops and so little code is left that better
        code compiles as fast as quick code.
    """
    copies = {chunk.group: len(chunk.nodes) for chunk in plan.chunks if chunk.group is not None}
    equations = sum(copies.values()) + sum(len(chunk.nodes) for chunk in plan.chunks if chunk.group is None)
    if copies and equations <= _SOON:
        return 0
    return round((_BETTER + _BETTER_EQUATION * equations) / _lost(plan))


def elements_of_a_call(plan: Schedule) -> int:
    """Return the number of elements for which quick code's extra time per element equals its extra time per call."""
    return round(_CALL / _lost(plan))


def _lost(plan: Schedule) -> float:
    """Return the extra time of quick code per element, in nanoseconds."""
    work = sum(_instructions(n) for chunk in plan.chunks for n in chunk.nodes)
    return _SLOWER * (work + _ARGUMENT * (len(plan.inputs) + len(plan.outputs)))


def _instructions(node: Node) -> float:
    cost = own_cost(node) if node.args else 1
    return _INSTRUCTIONS if cost > DIVISION_COST else min(cost, 1)


def limited_by_memory(plan: Schedule) -> bool:
    """Tell whether, for arrays larger than any cache, memory traffic takes longer than the computation.

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
    angles: set[Node] = set()  # one function computes sine and cosine of an angle
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
