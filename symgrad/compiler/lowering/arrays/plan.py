"""From nodes to steps: what an array program computes, in which loops, into which memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.compiler.lowering.arrays.axes import choose_axis_order
from symgrad.compiler.lowering.arrays.memory import Memory, plan_memory
from symgrad.compiler.lowering.arrays.nests import ArrayTask, Nest, group
from symgrad.compiler.lowering.arrays.outer_loop_fusion import Turns, fuse_outer_loops
from symgrad.compiler.lowering.arrays.passes import Passes, plan_passes
from symgrad.compiler.lowering.arrays.simpler import normal
from symgrad.compiler.lowering.arrays.tasks import Selection, select
from symgrad.ir.graph import Node

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

    steps: list[ArrayTask]
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
    # Few ops first: every pass that follows knows these alone.
    small = normal(outputs)
    # Axes before memory: what is turned is another array, and worth having only if it is stored.
    results, stored = choose_axis_order(small)
    # What is stored, before loops: a loop is around what is stored, and computes all else where it is read.
    selection = select(results, stored)
    # Loops that compute the same points are one nest.
    found = group(selection)
    # Within a nest, what is reduced over the inner loop is there for the next pass over it.
    passes = {step: plan_passes(step, selection.tasks) for step in found if isinstance(step, Nest)}
    # Nests that read each other row by row take turns: that is known when their passes are.
    steps, turns = fuse_outer_loops(found, passes, selection, selection.bound)
    # Memory last: only the order of all steps says when each array is no longer read.
    memory = plan_memory(steps, turns, passes, selection, inputs, results)
    return Plan(steps, turns, passes, memory, selection, results)
