"""Liveness of the arrays of a program: which step reads an array last, and when nothing reads it any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.compiler.lowering.arrays.nests import ArrayTask
from symgrad.compiler.lowering.arrays.outer_loop_fusion import Turns, stored_nodes
from symgrad.ir.graph import Node


@dataclass(frozen=True, slots=True)
class Liveness:
    """The lifetimes of arrays.

    Args:
        turns: the fused loop of a step.
        private: the arrays of which memory holds the part of one turn of a fused loop.
        dying: for each step, the operands that it reads last.
        ended: for each step, the arrays that nothing reads after it: an array that outlives a turn ends with the last
            step of its fused loop.
    """

    turns: dict[ArrayTask, Turns]
    private: frozenset[Node]
    dying: list[set[Node]]
    ended: list[list[Node]]


def find_liveness(steps: Sequence[ArrayTask], turns: Sequence[Turns]) -> Liveness:
    """Return the lifetimes of the arrays that steps read and store, in the order of the steps."""
    private = frozenset[Node]().union(*(t.private for t in turns))
    of_turns = {step: t for t in turns for step in t.steps}
    last: dict[Node, int] = {}
    for position, step in enumerate(steps):
        last.update(dict.fromkeys((*step.needs, *stored_nodes(step)), position))
    dying = [{n for n in step.needs if last[n] == position} for position, step in enumerate(steps)]
    ended: list[list[Node]] = [[] for _ in steps]
    place = {step: position for position, step in enumerate(steps)}
    for node, position in last.items():
        here = of_turns.get(steps[position])
        if here is not None and node not in private:
            position = place[here.steps[-1]]
        ended[position].append(node)
    return Liveness(of_turns, private, dying, ended)
