"""Gradients with some edges cut, for many choices at once, in floats: which of them are certainly not the reference.

A lane is one choice of edges to cut. Tangents of all lanes are pushed together, each edge once: the sum over the paths
that are left. Choices of one edge more than a lane take no pass of their own: what passes edge e where the lane is cut
below it is the adjoint of e times what arrives there in the lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product
from typing import Any

import numpy as np

from symgrad.analysis.stop_gradient.placements.paths import PathGraph
from symgrad.analysis.stop_gradient.placements.sample_points import Kind, Point, Scaled, refutes
from symgrad.checker.clock import is_late
from symgrad.ir.graph import Node

__all__ = ["Cut", "CutFilter", "adjoints", "pushed"]

_LANES = 2048
_FIXED_LANES = 64  # the clock is looked at between
_PRODUCT: dict[Kind, float] = {"float": 1e-8, "fixed": 1e-6}  # seconds of a product of two numbers
_MOST_FLOATS, _MOST_FIXED = 6e8, 4e6  # multiplications for one size of sets at a point
_MOST_LEFT = 200  # sets of one size that a point leaves
_FEW_SETS = 4  # for which scaled numbers are not worth making

Cut = tuple[int, ...]
"""Edges, by position."""


def pushed(
    graph: PathGraph, scaled: Scaled, cuts: Sequence[Cut], start: Node | None = None
) -> dict[Node, Any]:
    """Return the scaled tangents of nodes, a column for each choice of edges to cut.

    Args:
        graph: the paths.
        scaled: what edges pass on.
        cuts: the choices.
        start: a number that moves by one scale, instead of the ends; nothing below it counts.
    """
    lanes: dict[int, list[int]] = {}
    for lane, cut in enumerate(cuts):
        for k in cut:
            lanes.setdefault(k, []).append(lane)
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
    """Return the derivative by each node, a row, in the units of scaled tangents."""
    found: dict[Node, Any] = {graph.y: scaled.seed}
    for node in reversed(graph.order):
        for k in graph.out_of[node]:
            target, matrix = graph.edges[k].target, scaled.matrices[k]
            part = scaled.times(found[node], np.reshape(matrix, (1, 1)) if np.ndim(matrix) == 0 else matrix)
            found[target] = found[target] + part if target in found else part
    return found


class CutFilter:
    """Sets of edges that no point has refuted yet, size by size; one edge stands for those in series with it.

    Args:
        graph: the paths.
        points: where they are tried.
    """

    def __init__(self, graph: PathGraph, points: Sequence[Point]) -> None:
        self.graph = graph
        self.points = points
        # From the ends up, as tangents are pushed: what is added to a set lies above what it has, or beside it.
        chosen = [max(c) for c in graph.classes]
        self.places = sorted(chosen, reverse=True)
        self.tried: dict[int, int] = {}

    def left(self, cuts: Sequence[Cut]) -> list[Cut] | None:
        """Return those of some sets that no point refutes for certain; None where too many are left to look at."""
        kinds: tuple[Kind, ...] = ("float", "fixed")
        for kind, point in product(kinds, self.points) if len(cuts) > _FEW_SETS else ():
            kept: list[Cut] = []
            scaled = point.within(self.graph, kind)
            for at in range(0, len(cuts), _LANES):
                some = cuts[at : at + _LANES]
                off = abs(self._sums(scaled, some) - scaled.target)
                kept += [some[int(i)] for i in np.flatnonzero(off <= scaled.bound)]
            cuts = kept
        if len(cuts) > _MOST_LEFT:
            return None
        return [cut for cut in cuts if not any(refutes(p, self.graph, cut) for p in self.points)]

    def _sums(self, scaled: Scaled, cuts: Sequence[Cut]) -> Any:
        total = scaled.times(scaled.seed, pushed(self.graph, scaled, cuts)[self.graph.y])[0]
        total[[lane for lane, cut in enumerate(cuts) if 0 in cut]] = 0
        return total

    def of_size(self, size: int, deadline: float) -> list[Cut] | None:
        """Return the sets of so many edges that are left; None where there are too many to try.

        They are counted in ``tried``.
        """
        count = len(self.places)
        if not self.points:
            return None
        if size == 0:
            self.tried[0] = 1
            return self.left([()])
        work = _choices(count, size - 1) * sum(np.size(m) for m in self.points[0].exact[1].matrices)
        kinds: tuple[tuple[Kind, float], ...] = (("float", _MOST_FLOATS), ("fixed", _MOST_FIXED))
        for kind, most in kinds:
            # Where cancelling makes floats useless, numbers with hundreds of bits are not, but they take longer.
            found = self._by_one_more(kind, size, deadline) if work <= most else None
            if found is not None:
                left = self.left(found)
                if left is not None:
                    self.tried[size] = _choices(count, size)
                return left
        return None

    def _by_one_more(self, kind: Kind, size: int, deadline: float) -> list[Cut] | None:
        """Return the sets of a size that the first point leaves; None if these are too many, or time is up."""
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
        """Yield the sets of one edge more than some lanes, above all that these have, that are left."""
        graph = self.graph
        tangents = pushed(graph, scaled, lanes)
        sums = self._sums(scaled, lanes) - scaled.target
        last = np.array([cut[-1] if cut else len(graph.edges) for cut in lanes])
        for k in self.places:
            edge = graph.edges[k]
            if edge.step is None:
                passes = sums + scaled.target
            else:
                matrix = scaled.matrices[k]
                row = scaled.times(
                    by[edge.step.node], np.reshape(matrix, (1, 1)) if np.ndim(matrix) == 0 else matrix
                )
                passes = scaled.times(row, tangents[edge.target])[0]
            near = (abs(sums - passes) <= scaled.bound) & (last > k)
            for lane in np.flatnonzero(near):
                yield (*lanes[int(lane)], k)


def _choices(n: int, k: int) -> int:
    total = 1
    for i in range(k):
        total = total * (n - i) // (i + 1)
    return total
