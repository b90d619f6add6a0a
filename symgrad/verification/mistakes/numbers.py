"""Evaluate candidates at sample points, and find two whose values add up to given ones.

Common subexpressions are evaluated once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from symgrad.ir.exact import float_of
from symgrad.ir.graph import CONSTANT, NUMBER, Node
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import CONSTANT_VALUES
from symgrad.support.errors import InternalError
from symgrad.verification.mistakes.limits import AGREE, DRAWS, ENTRIES, LANES, PAIRS_FOUND

_ARRAY_POINTS = 4  # number of points of a program with arrays
_NEGLIGIBLE = 1e-9
"""Values below this fraction of the largest count as zero."""

_MODERATE, _LARGE = 1e12, 1e200
"""Bounds of values at which claims are compared; the second is for claims that exceed the first everywhere."""

Array: TypeAlias = "np.ndarray[Any, Any]"


class TrialPoint:
    """The values of nodes at one point, or of elementwise nodes at several points at once.

    Args:
        values: the values of the symbols; values of further nodes are cached.
    """

    def __init__(self, values: Mapping[Node, Any]) -> None:
        self._known: dict[Node, Any] = dict(values)

    def __call__(self, node: Node) -> Any:
        """Return the value of a node in floats; NaN outside its domain."""
        known = self._known
        if node in known:
            return known[node]
        with np.errstate(all="ignore"):
            for part in topological([node], until=known):
                if part not in known:
                    known[part] = _value(part, known)
        return known[node]

    def with_values(self, values: Mapping[Node, Any]) -> TrialPoint:
        """Return the same point with more symbols; nodes that do not read them keep their cached values."""
        return TrialPoint({**self._known, **values})


def _value(node: Node, known: Mapping[Node, Any]) -> Any:
    if node.op is NUMBER:
        value = node.value
        return np.bool_(value) if isinstance(value, bool) else np.float64(float_of(value))
    if node.op is CONSTANT:
        return np.float64(CONSTANT_VALUES[node.params[0]])
    args = [
        np.asarray(known[a]).astype(np.int64) if node.op.kind_of(i) == "index" else known[a]
        for i, a in enumerate(node.args)
    ]
    return node.op.evaluate(*node.params, *args)


@dataclass(frozen=True, slots=True)
class TrialPoints:
    """Points at which a claim is compared with the results of mistakes.

    Args:
        points: for a scalar elementwise program one point with many lanes; otherwise a few points with arrays.
        lanes: whether the points have lanes.
        count: the number of lanes.
    """

    points: Sequence[TrialPoint]
    lanes: bool
    count: int = 1

    def rows(self, node: Node, shape: Shape) -> Array:
        """Return the values of a node with the given shape: one row for each point, or each lane."""
        if self.lanes:
            return self.in_lanes(self.points[0](node))
        own = lengths(shape)
        return np.stack([np.broadcast_to(p(node), own).ravel() for p in self.points])

    def in_lanes(self, values: Any) -> Array:
        """Return the values of a scalar node, one row for each lane."""
        return np.broadcast_to(np.asarray(values, dtype=np.float64), self.count).reshape(-1, 1)


def sampled_lanes(
    nodes: Sequence[Node], first: Mapping[str, Any] | None = None, *, around: bool = False
) -> TrialPoints:
    """Return many points of a scalar program as the lanes of one point; some nodes have finite values at all of them.

    Args:
        nodes: the nodes that must be finite.
        first: a point to include: the witness.
        around: whether to sample values as large as those of ``first``: for values near 1 a formula may be zero
            everywhere.
    """
    found = _lanes(nodes, first, around, _MODERATE)
    # A program with a constant such as 6.02e23 has no points at which all values are moderate.
    return found if found.points else _lanes(nodes, first, around, _LARGE)


def _lanes(nodes: Sequence[Node], first: Mapping[str, Any] | None, around: bool, most: float) -> TrialPoints:
    rng = np.random.default_rng(7)
    symbols = symbols_of(nodes)
    found: list[Array] = []
    for width in (0.7, 0.3, 1.5, 3.0):
        samples = [_draw(s, rng, (DRAWS,), width) for s in symbols]
        if first is not None and not found:
            for values, s in zip(samples, symbols, strict=True):
                if s.name in first:
                    values[0] = float(first[s.name])
        if around and first is not None:
            samples = [_as_large(v, s, first, rng, width) for v, s in zip(samples, symbols, strict=True)]
        at = TrialPoint(dict(zip(symbols, samples, strict=True)))
        fine = np.ones(DRAWS, dtype=bool)
        for node in nodes:
            fine &= _moderate(np.broadcast_to(at(node), (DRAWS,)), most)
        found.append(np.array(samples)[:, fine] if symbols else np.zeros((0, 1)))
        if sum(a.shape[1] for a in found) >= LANES:
            break
    lanes = np.concatenate(found, axis=1)[:, :LANES]
    count = lanes.shape[1]
    points = [TrialPoint(dict(zip(symbols, lanes, strict=True)))] if count else []
    return TrialPoints(points, lanes=True, count=count)


def _as_large(
    samples: Array, s: Node, first: Mapping[str, Any], rng: np.random.Generator, width: float
) -> Array:
    """Return values of about the size of those at a point, within the domain."""
    if s.name not in first or s.dtype != "real":
        return samples
    # The spread is narrow: exp(-157800/T) must keep its order of magnitude.
    values: Array = float(first[s.name]) * np.exp(width / 4 * rng.normal(size=len(samples)))
    values[0] = float(first[s.name])
    return np.where(s.declaration.values.admits(values), values, samples)


def sampled_arrays(nodes: Sequence[Node]) -> TrialPoints:
    """Return a few points of a program with arrays, at which some nodes have values."""
    rng = np.random.default_rng(7)
    symbols = symbols_of(nodes)
    points: list[TrialPoint] = []
    for attempt in range(4 * _ARRAY_POINTS):
        values = {s: _filled(s, rng, dominant=attempt % 2 == 1) for s in symbols}
        at = TrialPoint(values)
        if all(np.all(_moderate(np.asarray(at(n)))) for n in nodes):
            points.append(at)
        if len(points) == _ARRAY_POINTS:
            break
    return TrialPoints(points, lanes=False)


def lengths(shape: Shape) -> tuple[int, ...]:
    """Return the lengths of axes; all of them must be numbers."""
    found = tuple(n for n in shape if isinstance(n, int))
    if len(found) < len(shape):
        raise InternalError(f"an array of shape {shape} has no known number of entries")
    return found


def telling(values: Array, *, lanes: bool) -> Array:
    """Tell which values are not negligible compared with the largest: of all lanes, or at the same point."""
    sizes = np.abs(values)
    return sizes > _NEGLIGIBLE * np.max(sizes, axis=None if lanes else 1, keepdims=True, initial=0)


def entries(shape: Shape) -> int:
    """Return the number of entries of an array without named axes."""
    return math.prod(lengths(shape))


def _moderate(values: Any, most: float = _MODERATE) -> Any:
    size = np.abs(np.asarray(values, dtype=np.float64))
    return np.isfinite(size) & (size < most)


def _filled(s: Node, rng: np.random.Generator, *, dominant: bool) -> Any:
    shape = lengths(s.shape)
    if entries(shape) > ENTRIES:
        raise OverflowError
    values = np.asarray(_draw(s, rng, shape, 0.7))
    square = len(shape) == 2 and shape[0] == shape[1]
    if square and s.dtype == "real":
        if s.declaration.symmetric:
            values = (values + values.T) / 2
        if dominant and s.declaration.values.span == (None, None):
            values = values + 2 * shape[0] ** 0.5 * np.eye(shape[0])
    return values


def _draw(s: Node, rng: np.random.Generator, shape: tuple[int, ...], width: float) -> Any:
    """Return random values of a variable, within its domain."""
    low, high = s.declaration.values.span
    if s.dtype == "bool":
        return rng.random(shape) < 0.5
    if s.dtype == "int":
        least = 0 if low is None else int(np.ceil(float(low)))
        most = least + 1 if high is None else int(np.floor(float(high)))
        return rng.integers(least, max(least, most) + 1, shape).astype(np.float64)
    if low is not None and high is not None:
        return float(low) + (float(high) - float(low)) * rng.uniform(0.05, 0.95, shape)
    if low is not None:
        return float(low) + np.exp(width * rng.normal(size=shape))
    if high is not None:
        return float(high) - np.exp(width * rng.normal(size=shape))
    # Values are no larger than this: where tanh is 1 up to the last digits, its derivative has no digits left.
    return np.clip(2.2 * width * rng.normal(size=shape), -3, 3)


def pairs_that_give(total: Array, deltas: Sequence[Array]) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions of vectors with a given sum, in the order of the first position.

    Project all vectors on one direction, sort them, and look up the complement of each (meet in the middle), which
    takes about as long as sorting.

    Example:
        >>> list(pairs_that_give(np.array([1.0, 5]), [np.array([1.0, 2]), np.array([3.0, 3]), np.array([0.0, 3])]))
        [(0, 2)]
    """
    scale = float(np.max(np.abs(total), initial=0))
    finite = [
        k
        for k, d in enumerate(deltas)
        if np.all(np.isfinite(d)) and np.max(np.abs(d), initial=0) > AGREE * scale
    ]
    if not finite or not scale:
        return
    rows = np.array([deltas[k] for k in finite])
    direction: Array = np.cos(np.arange(1.0, len(total) + 1))
    heights = rows @ direction
    order = np.argsort(heights)
    wanted = total @ direction - heights
    slack = AGREE * (np.abs(rows).sum(axis=1) + np.abs(total).sum())
    ends: list[Array] = [np.searchsorted(heights[order], wanted + s) for s in (-slack, slack)]
    low, high = ends
    count = 0
    for i in range(len(finite)):
        for j in sorted(order[low[i] : high[i]]):
            if j <= i:
                continue
            gap = np.abs(rows[i] + rows[j] - total)
            if np.all(gap <= AGREE * (np.abs(rows[i]) + np.abs(rows[j]) + np.abs(total))):
                yield finite[i], finite[int(j)]
                count += 1
                if count == PAIRS_FOUND:
                    return
