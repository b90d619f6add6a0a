"""From nodes to steps: what an array program computes, in which loops, into which memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.ir.graph import Node
from symgrad.lower.layout import turned
from symgrad.lower.memory import Memory, plan_memory
from symgrad.lower.nests import Nest, Step, group
from symgrad.lower.normal import normal
from symgrad.lower.passes import Passes, plan_passes
from symgrad.lower.tasks import Selection, select

__all__ = ["Plan", "plan_arrays"]


@dataclass(frozen=True, slots=True)
class Plan:
    """An array program in steps.

    Args:
        steps: loop nests and calls, in order.
        passes: of every nest.
        memory: where every array is.
        selection: which nodes have arrays or loops.
    """

    steps: list[Step]
    passes: dict[Nest, Passes]
    memory: Memory
    selection: Selection


def plan_arrays(outputs: Sequence[Node], inputs: Sequence[Node]) -> Plan:
    """Plan an array program.

    Args:
        outputs: what to compute.
        inputs: the symbols, in the order of the arguments.
    """
    results, stored = turned(normal(outputs))
    selection = select(results, stored)
    steps = group(selection)
    passes = {step: plan_passes(step, selection.tasks) for step in steps if isinstance(step, Nest)}
    memory = plan_memory(steps, passes, selection, inputs, results)
    return Plan(steps, passes, memory, selection)
