"""Prove that no set of stop_gradients gives the reference: refute every set of remaining paths at exact points.

If every path passes a scalar above the region where the noise enters, and a scalar below it, only this region matters:
the rest is a factor without noise. If the derivative of the region depends on the draw, the gradient can be the same
for all draws only if it is zero; but the reference is not zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.analysis.stop_gradient.placements.cut_filter import Cut, lanes_of, pushed
from symgrad.analysis.stop_gradient.placements.paths import PathGraph
from symgrad.analysis.stop_gradient.placements.sample_points import Point, refutes
from symgrad.ir.graph import Node

_LANES = 2048
_LATE = 60  # number of sets that are also examined at high precision


@dataclass(frozen=True, slots=True)
class CutRegion:
    """The region of a program in which the noise enters its derivative paths.

    Attributes:
        top: the value at the output side of the region, which every path passes.
        bottom: the value at the input side of the region, which every path passes; None if the region reaches the
            inputs.
        places: for each series of edges in the region, one edge.
    """

    top: Node
    bottom: Node | None
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A proof that no set of edges gives the reference.

    Attributes:
        region: the region where the noise enters.
        choices: the number of subsets of the region's edges, all of which are refuted.
        varies: whether the reason is that the derivative of the region differs between draws.
    """

    region: CutRegion
    choices: int
    varies: bool


def noisy_region(graph: PathGraph, noisy: Sequence[bool]) -> CutRegion:
    """Return the smallest region between scalars on every path that contains all noisy edges."""
    where = [graph.position[e.node] for k, e in enumerate(graph.edges) if noisy[k] and e.node is not None]
    passed = [n for n in graph.passed if not n.shape]
    top, bottom = graph.y, None
    if where and not graph.y.shape and not all(noisy):
        highest = max(where)
        lowest = min(graph.position[e.target] for k, e in enumerate(graph.edges) if noisy[k])
        top = next((n for n in reversed(passed) if graph.position[n] >= highest), graph.y)
        bottom = next((n for n in passed if graph.position[n] <= lowest), None)
    low = -1 if bottom is None else graph.position[bottom]
    high = graph.position[top]
    inside: list[int] = []
    for series in graph.classes:
        own = [
            k for k in series if (n := graph.edges[k].node) is not None and low < graph.position[n] <= high
        ]
        if own:
            inside.append(own[-1])
    return CutRegion(top, bottom, tuple(inside))


def refuse(graph: PathGraph, points: Sequence[Point], region: CutRegion) -> Refusal | list[Cut]:
    """Return the proof that no subset of a region's edges gives the reference, or the subsets that are not refuted."""
    cuts: list[Cut] = [
        tuple(k for i, k in enumerate(region.places) if subset >> i & 1)
        for subset in range(2 ** len(region.places))
    ]
    whole = region.bottom is None and region.top is graph.y
    left: list[Cut] = []
    for at in range(0, len(cuts), _LANES):
        some = cuts[at : at + _LANES]
        refuted = np.zeros(len(some), dtype=bool)
        for number in dict.fromkeys(p.number for p in points):
            draws = [p for p in points if p.number == number]
            refuted |= _misses(graph, draws, some) if whole else _varies(graph, draws, region, some)
        left += [some[i] for i in np.flatnonzero(~refuted)]
    if left and whole and len(left) <= _LATE:
        left = [cut for cut in left if not any(refutes(p, graph, cut) for p in points)]
    return left or Refusal(region, len(cuts), not whole)


def _misses(graph: PathGraph, points: Sequence[Point], cuts: Sequence[Cut]) -> Any:
    """Mark the sets whose gradient is not the reference at one of some points."""
    refuted = np.zeros(len(cuts), dtype=bool)
    for point in points:
        scaled = point.within(graph, "float")
        sums = (scaled.seed @ pushed(graph, scaled, cuts)[graph.y])[0]
        refuted |= np.abs(sums - scaled.target) > scaled.bound
    return refuted


def _varies(graph: PathGraph, points: Sequence[Point], region: CutRegion, cuts: Sequence[Cut]) -> Any:
    """Mark the sets for which the derivative of the region differs between two draws, if the reference is not zero.

    Sets that leave no path have the gradient zero, and are marked, too.
    """
    refuted = np.zeros(len(cuts), dtype=bool)
    points = [p for p in points if p.wants_something]
    if not points:
        return refuted
    passed: list[tuple[Any, float]] = []
    for point in points:
        found = pushed(graph, point.within(graph, "float"), cuts, region.bottom).get(region.top)
        if found is None or found.shape[0] != 1:
            return refuted
        below = 1 if region.bottom is None else point.scale(region.bottom)
        passed.append((found[0], point.scale(region.top) / below))
    (first, unit), *others = passed
    for other, scale in others:
        if not 1e-9 < scale / unit < 1e9:
            continue  # the range of floats is too small for both
        ratio = float(scale / unit)
        bound = max(p.within(graph, "float").bound for p in points) * (1 + ratio) * 2
        refuted |= np.abs(first - other * ratio) > bound
    return refuted | _blocks_all(graph, region, cuts)


def _blocks_all(graph: PathGraph, region: CutRegion, cuts: Sequence[Cut]) -> Any:
    """Mark the sets that leave no path through the region: reachability tells this, while a sum may only be small."""
    lanes = lanes_of(cuts)
    found: dict[Node, Any] = {}
    first = 0 if region.bottom is None else graph.position[region.bottom]
    for node in graph.order[first:]:
        start = node is region.bottom or (region.bottom is None and node in graph.ends)
        total = np.full(len(cuts), start)
        for k in graph.out_of[node] if node is not region.bottom else ():
            below = found.get(graph.edges[k].target)
            if below is not None:
                part = below.copy()
                part[lanes.get(k, [])] = False
                total = total | part
        found[node] = total
    return ~found[region.top]
