"""Refute sets of cut edges in floats: compute the gradients after many cuts at once, and compare with the reference.

A lane stands for one set of edges. One sweep pushes the tangents of all lanes through each edge once. Sets with one
more edge e need no sweep: (adjoint of e)·(tangent below e) is the part of the gradient that passes e, and the gradient
becomes smaller by this part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product
from math import comb
from typing import Any

import numpy as np

from symgrad.analysis.stop_gradient.placements.paths import PathGraph
from symgrad.analysis.stop_gradient.placements.sample_points import Kind, Point, Scaled, refutes
from symgrad.checker.clock import is_late
from symgrad.ir.graph import Node

_LANES = 2048
_FIXED_LANES = 64  # number of lanes between two checks of the deadline
_PRODUCT: dict[Kind, float] = {"float": 1e-8, "fixed": 1e-6}  # seconds for a product of two numbers
_MOST_FLOATS, _MOST_FIXED = 6e8, 4e6  # number of multiplications for the sets of one size at a point
_MOST_LEFT = 200  # number of unrefuted sets of one size
_FEW_SETS = 4  # number of sets that high precision refutes directly

Cut = tuple[int, ...]
"""Positions of edges."""


def lanes_of(cuts: Sequence[Cut]) -> dict[int, list[int]]:
    """Return for each edge the lanes that cut it."""
    lanes: dict[int, list[int]] = {}
    for lane, cut in enumerate(cuts):
        for k in cut:
            lanes.setdefault(k, []).append(lane)
    return lanes


def pushed(
    graph: PathGraph, scaled: Scaled, cuts: Sequence[Cut], start: Node | None = None
) -> dict[Node, Any]:
    """Return the scaled tangents of nodes, with a column for each set of cut edges.

    Args:
        graph: the paths.
        scaled: the local derivatives.
        cuts: the sets of edges.
        start: a scalar node whose tangent is one unit, instead of the tangents of the ends; nodes below it have no
            tangent.
    """
    lanes = lanes_of(cuts)
    found: dict[Node, Any] = {}
    first = 0 if start is None else graph.position[start]
    for node in graph.order[first:]:
        if node is start:
            found[node] = np.full((1, len(cuts)), scaled.one)
            continue
        total: Any = None
        if start is None and node in scaled.ends:
            total = np.repeat(scaled.ends[node], len(cuts), axis=1)
        for k in graph.out_of[node]:
            below = found.get(graph.edges[k].target)
            if below is not None:
                part = scaled.times(scaled.matrices[k], below)
                if k in lanes:
                    part[:, lanes[k]] = 0
                total = part if total is None else total + part
        if total is not None:
            found[node] = total
    return found


def adjoints(graph: PathGraph, scaled: Scaled) -> dict[Node, Any]:
    """Return the derivative with respect to each node, as a row, in the units of scaled tangents."""
    found: dict[Node, Any] = {graph.y: scaled.seed}
    for node in reversed(graph.order):
        for k in graph.out_of[node]:
            target = graph.edges[k].target
            part = scaled.times(found[node], np.atleast_2d(scaled.matrices[k]))
            found[target] = found[target] + part if target in found else part
    return found


class CutFilter:
    """Sets of edges that no point refutes, by size; one edge stands for all edges in series with it.

    Args:
        graph: the paths.
        points: the exact points.
    """

    def __init__(self, graph: PathGraph, points: Sequence[Point]) -> None:
        self.graph = graph
        self.points = points
        # The sweep goes from the ends up: no edge that extends a set is below an edge of the set.
        self.places = sorted((max(c) for c in graph.classes), reverse=True)
        self.tried: dict[int, int] = {}

    def remaining(self, cuts: Sequence[Cut]) -> list[Cut] | None:
        """Return the sets that no point refutes for certain; None if there are too many."""
        kinds: tuple[Kind, ...] = ("float", "fixed")
        for kind, point in product(kinds, self.points) if len(cuts) > _FEW_SETS else ():
            rest: list[Cut] = []
            scaled = point.within(self.graph, kind)
            for at in range(0, len(cuts), _LANES):
                some = cuts[at : at + _LANES]
                off = abs(self._sums(scaled, some) - scaled.target)
                rest += [some[int(i)] for i in np.flatnonzero(off <= scaled.bound)]
            cuts = rest
        if len(cuts) > _MOST_LEFT:
            return None
        return [cut for cut in cuts if not any(refutes(p, self.graph, cut) for p in self.points)]

    def _sums(self, scaled: Scaled, cuts: Sequence[Cut]) -> Any:
        total = scaled.times(scaled.seed, pushed(self.graph, scaled, cuts)[self.graph.y])[0]
        total[[lane for lane, cut in enumerate(cuts) if 0 in cut]] = 0
        return total

    def of_size(self, size: int, deadline: float) -> list[Cut] | None:
        """Return the unrefuted sets of a size, and count them in ``tried``; None if there are too many to try."""
        count = len(self.places)
        if not self.points:
            return None
        if size == 0:
            self.tried[0] = 1
            return self.remaining([()])
        work = comb(count, size - 1) * sum(np.size(m) for m in self.points[0].exact.matrices)
        kinds: tuple[tuple[Kind, float], ...] = (("float", _MOST_FLOATS), ("fixed", _MOST_FIXED))
        for kind, most in kinds:
            # Fixed-point numbers are slow, but they have hundreds of bits: enough for cancellation that ruins floats.
            found = self._by_one_more(kind, size, deadline) if work <= most else None
            if found is not None:
                rest = self.remaining(found)
                if rest is not None:
                    self.tried[size] = comb(count, size)
                return rest
        return None

    def _by_one_more(self, kind: Kind, size: int, deadline: float) -> list[Cut] | None:
        """Return the sets of a size that the first point does not refute; None if there are too many, or time is up."""
        scaled = self.points[0].within(self.graph, kind)
        by = adjoints(self.graph, scaled)
        below = combinations(self.places, size - 1)
        found: list[Cut] = []
        products = sum(np.size(m) for m in scaled.matrices) + len(self.places)
        while lanes := list(islice(below, _LANES if kind == "float" else _FIXED_LANES)):
            for cut in self._one_more(scaled, by, lanes):
                found.append(cut)
                if len(found) > _MOST_LEFT:
                    return None
            if is_late(deadline, _PRODUCT[kind] * products * len(lanes)):
                return None
        return found

    def _one_more(self, scaled: Scaled, by: dict[Node, Any], lanes: Sequence[Cut]) -> Iterator[Cut]:
        """Extend the sets of lanes by one edge above all their edges; yield those that the point does not refute."""
        graph = self.graph
        tangents = pushed(graph, scaled, lanes)
        sums = self._sums(scaled, lanes) - scaled.target
        last = np.array([cut[-1] if cut else len(graph.edges) for cut in lanes])
        for k in self.places:
            edge = graph.edges[k]
            if edge.step is None:
                passes = sums + scaled.target
            else:
                row = scaled.times(by[edge.step.node], np.atleast_2d(scaled.matrices[k]))
                passes = scaled.times(row, tangents[edge.target])[0]
            near = (abs(sums - passes) <= scaled.bound) & (last > k)
            for lane in np.flatnonzero(near):
                yield (*lanes[int(lane)], k)
