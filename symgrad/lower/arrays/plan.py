"""From nodes to steps: what an array program computes, in which loops, into which memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.ir.graph import Node
from symgrad.lower.arrays.axes import turned
from symgrad.lower.arrays.memory import Memory, plan_memory
from symgrad.lower.arrays.nests import Nest, Step, group
from symgrad.lower.arrays.passes import Passes, plan_passes
from symgrad.lower.arrays.simpler import normal
from symgrad.lower.arrays.tasks import Selection, select
from symgrad.lower.arrays.turns import Turns, take_turns

__all__ = ["Plan", "plan_arrays"]


@dataclass(frozen=True, slots=True)
class Plan:
    """An array program in steps.

    Args:
        steps: loop nests and calls, in order.
        turns: steps next to each other that are computed turn by turn of their outermost loop.
        passes: of every nest.
        memory: where every array is.
        selection: which nodes have arrays or loops.
        outputs: the nodes that are computed, in the smaller vocabulary of lowering.
    """

    steps: list[Step]
    turns: list[Turns]
    passes: dict[Nest, Passes]
    memory: Memory
    selection: Selection
    outputs: list[Node]


def plan_arrays(outputs: Sequence[Node], inputs: Sequence[Node]) -> Plan:
    """Plan an array program.

    Args:
        outputs: what to compute.
        inputs: the symbols, in the order of the arguments.
    """
    results, stored = turned(normal(outputs))
    selection = select(results, stored)
    found = group(selection)
    passes = {step: plan_passes(step, selection.tasks) for step in found if isinstance(step, Nest)}
    steps, turns = take_turns(found, passes, selection, selection.bound)
    memory = plan_memory(steps, turns, passes, selection, inputs, results)
    return Plan(steps, turns, passes, memory, selection, results)
