"""Lay out the boxes of a layered picture, and route its edges such that none runs through a box.

    layers     longest path from the inputs; leaves move down to just above their first use
    order      barycentre sweeps and swaps of neighbours, keeping the order with the fewest crossings
    abscissas  each box as near as its row allows to the mean of its neighbours (least squares, solved exactly)
    routes     vertical through the rows (a long edge has a lane in each row that it crosses), curved only between them

The layout is deterministic: at a tie, the earlier box wins. (Sugiyama, Tagawa, Toda, IEEE Trans. SMC 11, 1981.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from operator import add, sub

_SWEEPS = 16
_LANE = 14.0  # width of the lane of an edge that passes a row
_BETWEEN = 26.0  # free width between two boxes
_GAP = 40.0  # smallest height between two rows
_SLOPE = 0.09  # height that is added for each width of an edge that runs far sideways
_TALLEST_GAP = 110.0
_SNAP = 14.0


@dataclass(frozen=True, slots=True)
class Route:
    """The points of one edge: a straight line within a row, a curve from one row to the next.

    Attributes:
        points: the ends of each straight piece in turn; the first and the last point are at the boxes.
        cubic: whether the points are those of Bezier curves instead: a start, then for each curve two control points
            and an end.
    """

    points: tuple[tuple[float, float], ...]
    cubic: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The centres of the boxes, the routes of the edges, and the size of the picture."""

    centres: tuple[tuple[float, float], ...]
    routes: tuple[Route, ...]
    width: float
    height: float


def place(widths: Sequence[float], heights: Sequence[float], edges: Sequence[tuple[int, int]]) -> Layout:
    """Lay out boxes in rows, the sources of edges above their targets.

    Args:
        widths: the widths of the boxes, which are numbered such that every edge leads to a larger number.
        heights: the heights of the boxes.
        edges: pairs (source, target), without repetition.
    """
    layer = _layers(len(widths), edges)
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for box, at in enumerate(layer):
        rows[at].append(box)
    # An edge across several rows gets a lane in each of them: a box without height.
    width = list(widths)
    chains: list[list[int]] = []
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for source, target in edges:
        chain = [source]
        for at in range(layer[source] + 1, layer[target]):
            rows[at].append(len(width))
            chain.append(len(width))
            width.append(_LANE)
            above.append([])
            below.append([])
        chain.append(target)
        chains.append(chain)
        for upper, lower in pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
    rows = _ordered(rows, above, below)
    x = _abscissas(rows, width, above, below, len(widths))
    _straighten(rows, chains, width, x, len(widths))
    return _routed(rows, x, widths, heights, chains)


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    layer = [0] * count
    used: list[list[int]] = [[] for _ in range(count)]
    is_leaf = [True] * count
    for source, target in sorted(edges, key=lambda e: (e[1], e[0])):
        layer[target] = max(layer[target], layer[source] + 1)
        used[source].append(target)
        is_leaf[target] = False
    for box in range(count):
        if is_leaf[box] and used[box]:
            layer[box] = min(layer[t] for t in used[box]) - 1
    return layer


# -- order within rows ------------------------------------------------------------------------------------------------


def _ordered(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    best, fewest = [list(r) for r in rows], _crossings(rows, below)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        downward = sweep % 2 == 0
        sequence = range(1, len(rows)) if downward else range(len(rows) - 2, -1, -1)
        for i in sequence:
            fixed = rows[i - 1] if downward else rows[i + 1]
            neighbours = above if downward else below
            position = {box: p for p, box in enumerate(fixed)}
            rows[i] = _by_barycentre(rows[i], neighbours, position)
            _swap_neighbours(rows[i], neighbours, position)
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = [list(r) for r in rows], crossings
    return best


def _by_barycentre(row: list[int], neighbours: list[list[int]], position: dict[int, int]) -> list[int]:
    def key(item: tuple[int, int]) -> tuple[float, int]:
        index, box = item
        at = [position[n] for n in neighbours[box]]
        return (sum(at) / len(at) if at else float(index), index)

    return [box for _, box in sorted(enumerate(row), key=key)]


def _swap_neighbours(row: list[int], neighbours: list[list[int]], position: dict[int, int]) -> None:
    at = {box: sorted(position[n] for n in neighbours[box]) for box in row}
    for _ in range(len(row)):
        changed = False
        for i in range(len(row) - 1):
            a, b = row[i], row[i + 1]
            if _inversions(at[a], at[b]) > _inversions(at[b], at[a]):
                row[i], row[i + 1] = b, a
                changed = True
        if not changed:
            return


def _inversions(left: list[int], right: list[int]) -> int:
    """Return the number of crossings between edges of the left box and of the right box."""
    return sum(bisect_left(right, p) for p in left)


def _crossings(rows: list[list[int]], below: list[list[int]]) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        position = {box: p for p, box in enumerate(lower)}
        seen: list[int] = []
        for box in upper:
            ends = sorted(position[n] for n in below[box])
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                seen.insert(bisect_left(seen, end), end)
    return total


# -- abscissas --------------------------------------------------------------------------------------------------------


def _abscissas(
    rows: list[list[int]], width: list[float], above: list[list[int]], below: list[list[int]], boxes: int
) -> list[float]:
    def distance(a: int, b: int) -> float:
        return _distance(a, b, width, boxes)

    x = [0.0] * len(width)
    for row in rows:
        at = 0.0
        for i, box in enumerate(row):
            at += distance(row[i - 1], box) if i else 0.0
            x[box] = at
        for box in row:
            x[box] -= at / 2
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        for row in rows if downward else reversed(rows):
            _separate(
                row,
                [_target(b, (above if downward else below)[b] or below[b], boxes, x) for b in row],
                distance,
                x,
            )
    for sweep in range(_SWEEPS):  # then move towards the neighbours on both sides
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _separate(row, [_target(b, above[b] + below[b], boxes, x) for b in row], distance, x)
    return x


def _target(box: int, near: list[int], boxes: int, x: list[float]) -> float:
    """Return the weighted mean of the neighbours.

    Lanes of the same edge have the largest weights, so that it becomes straight.
    """
    weight = [1.0 + 3.0 * (box >= boxes) + 12.0 * (box >= boxes and n >= boxes) for n in near]
    return sum(w * x[n] for w, n in zip(weight, near, strict=True)) / sum(weight) if near else x[box]


def _separate(
    row: list[int],
    wanted: list[float],
    distance: Callable[[int, int], float],
    x: list[float],
) -> None:
    """Move a row to the places nearest to the wanted ones (by least squares) that keep its order and its distances.

    Without the distances this is monotone regression, which pooling of adjacent violators solves exactly.
    """
    shift = [0.0]
    for a, b in pairwise(row):
        shift.append(shift[-1] + distance(a, b))
    pools: list[list[float]] = []  # mean, count
    for want, offset in zip(wanted, shift, strict=True):
        pools.append([want - offset, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, count = pools.pop()
            last = pools[-1]
            last[0] = (last[0] * last[1] + mean * count) / (last[1] + count)
            last[1] += count
    places = [mean for mean, count in pools for _ in range(int(count))]
    for box, at, offset in zip(row, places, shift, strict=True):
        x[box] = at + offset


def _distance(a: int, b: int, width: list[float], boxes: int) -> float:
    """Return the least distance of the centres of two neighbours in a row."""
    lanes = (a >= boxes) + (b >= boxes)
    return (width[a] + width[b]) / 2 + (_BETWEEN, _BETWEEN / 2, 4.0)[lanes]


def _straighten(
    rows: list[list[int]], chains: list[list[int]], width: list[float], x: list[float], boxes: int
) -> None:
    """Move the lanes of each long edge between their neighbours, so that the edge has few bends."""
    left = {b: a for row in rows for a, b in pairwise(row)}
    right = {a: b for row in rows for a, b in pairwise(row)}
    for chain in sorted(chains, key=len, reverse=True):
        lanes = chain[1:-1]
        while lanes:
            low, high, run = -inf, inf, 0
            for lane in lanes:  # the longest run with a common abscissa
                lowest = x[left[lane]] + _distance(left[lane], lane, width, boxes) if lane in left else -inf
                highest = (
                    x[right[lane]] - _distance(lane, right[lane], width, boxes) if lane in right else inf
                )
                if run and max(low, lowest) > min(high, highest):
                    break
                low, high, run = max(low, lowest), min(high, highest), run + 1
            wanted = sum(x[lane] for lane in lanes[:run]) / run
            place = min(max(wanted, low), high)
            for lane in lanes[:run]:
                x[lane] = place
            lanes = lanes[run:]


# -- routes -----------------------------------------------------------------------------------------------------------


def _routed(
    rows: list[list[int]],
    x: list[float],
    widths: Sequence[float],
    heights: Sequence[float],
    chains: list[list[int]],
) -> Layout:
    boxes = len(widths)
    halves = [w / 2 for w in (*widths, *[_LANE] * (len(x) - boxes))]
    left = min(map(sub, x, halves), default=0.0)
    x = [v - left for v in x]
    ports = _ports(x, widths, chains)
    reach = [0.0] * len(rows)  # the longest way sideways below each row
    row_of = {box: i for i, row in enumerate(rows) for box in row}
    for number, chain in enumerate(chains):
        ends = [*ports[number]]
        at = [ends[0], *(x[b] for b in chain[1:-1]), ends[1]]
        for upper, a, b in zip(chain, at, at[1:], strict=False):
            reach[row_of[upper]] = max(reach[row_of[upper]], abs(a - b))
    tall = [max((heights[b] for b in row if b < boxes), default=0.0) for row in rows]
    top = [0.0]
    for row_height, sideways in zip(tall, reach, strict=True):
        top.append(top[-1] + row_height + min(_TALLEST_GAP, _GAP + _SLOPE * sideways))
    centres = tuple((x[b], top[row_of[b]] + tall[row_of[b]] / 2) for b in range(boxes))
    routes: list[Route] = []
    for number, chain in enumerate(chains):
        start, end = ports[number]
        source, target = chain[0], chain[-1]
        points = [
            (start, centres[source][1] + heights[source] / 2),
            (start, top[row_of[source]] + tall[row_of[source]]),
        ]
        for lane in chain[1:-1]:
            points += [(x[lane], top[row_of[lane]]), (x[lane], top[row_of[lane]] + tall[row_of[lane]])]
        points += [(end, top[row_of[target]]), (end, centres[target][1] - heights[target] / 2)]
        routes.append(Route(tuple(points)))
    width = max(map(add, x, halves), default=0.0)
    height = top[len(rows) - 1] + tall[-1] if rows else 0.0
    return Layout(centres, tuple(routes), width, height)


def _ports(x: list[float], widths: Sequence[float], chains: list[list[int]]) -> list[tuple[float, float]]:
    """Return the abscissas at which each edge leaves its source and enters its target: side by side, in fan order."""
    ports = [[0.0, 0.0] for _ in chains]
    alone = [[False, False] for _ in chains]
    for end, box_at, next_at in ((0, 0, 1), (1, -1, -2)):
        fans: dict[int, list[int]] = {}
        for number, chain in enumerate(chains):
            fans.setdefault(chain[box_at], []).append(number)
        for box, numbers in fans.items():
            numbers.sort(key=lambda n: (x[chains[n][next_at]], n))
            step = min(24.0, 0.7 * widths[box] / len(numbers))
            for i, number in enumerate(numbers):
                ports[number][end] = x[box] + (i - (len(numbers) - 1) / 2) * step
                alone[number][end] = len(numbers) == 1
    for number, chain in enumerate(chains):  # a lone port moves a little if that makes its edge straight
        if len(chain) == 2 and abs(ports[number][0] - ports[number][1]) < _SNAP:
            for end, other in ((1, 0), (0, 1)):
                if (
                    alone[number][end]
                    and abs(ports[number][other] - x[chain[end]]) < widths[chain[end]] / 2 - _SNAP
                ):
                    ports[number][end] = ports[number][other]
    return [(a, b) for a, b in ports]
