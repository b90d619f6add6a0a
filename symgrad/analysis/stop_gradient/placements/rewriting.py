"""Rewriting of programs: put stop_gradients onto edges, fix values, and choose values for the outer form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from symgrad.analysis.stop_gradient.placements.cut_filter import adjoints, pushed
from symgrad.analysis.stop_gradient.placements.paths import ValueEdge
from symgrad.analysis.stop_gradient.placements.sample_points import CutProblem, Point
from symgrad.checker.numbers import context
from symgrad.ir.graph import Node
from symgrad.ir.traverse import fold, topological, with_args
from symgrad.ops.control import stop_gradient

_VALUES = 40


def stopped(y: Node, cut: Sequence[ValueEdge]) -> dict[Node, Node]:
    """Put a stop_gradient on edges; return the new node for each old node, and for the output under ``y``."""
    at = {(e.node, e.argument) for e in cut if e.node is not None}

    def stop(n: Node, args: list[Node]) -> Node:
        return with_args(n, [stop_gradient(a) if (n, i) in at else a for i, a in enumerate(args)])

    made = fold([y], stop)
    if any(e.node is None for e in cut):
        made[y] = stop_gradient(made[y])
    return made


def replaced(y: Node, value: Node, other: Node) -> dict[Node, Node]:
    """Replace one value; return the new node for each old node."""
    return fold([y], lambda n, args: other if n is value else with_args(n, args))


def with_fixed(y: Node, fixed: Mapping[Node, Node]) -> dict[Node, Node]:
    """Fix some nodes; return the new node for each old node."""
    return fold([y], with_args, dict(fixed))


def outer_forms(problem: CutProblem, fixed: Mapping[Node, Node], points: Sequence[Point]) -> list[Node]:
    """Return the values whose own noise-free gradient gives the program the reference gradient, smallest first.

    The test is numerical, at points; it proves nothing.

    Args:
        problem: the program.
        fixed: the noise-free form of each node.
        points: the exact points.
    """
    graph = problem.graph
    found = [n for n in graph.order if fixed.get(n, n) is not n]
    for point in points:
        at, scaled = point.exact, point.within(graph, "fixed")
        by = adjoints(graph, scaled)
        moves = pushed(graph, scaled, [()])
        total = scaled.times(scaled.seed, moves[graph.y])[0, 0]
        rest: list[Node] = []
        for n in found:
            with context.workprec(point.bits):
                calm = scaled.number(point.calm.get(fixed[n], 0 * at.scales[n]) / at.scales[n])
            there = total + scaled.times(by[n], calm - moves[n])[0, 0]
            if abs(there - scaled.target) <= scaled.bound * (1 + int(np.max(abs(calm))) // scaled.one):
                rest.append(n)
        found = rest
    sized = [(len(topological([n])), i, n) for i, n in enumerate(found[:_VALUES])]
    return [n for *_, n in sorted(sized, key=lambda t: t[:2])]
