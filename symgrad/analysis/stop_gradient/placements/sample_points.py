"""Exact points at which placements are tried, with what every edge passes on there.

Inputs are exact numbers; values and local derivatives are computed at two precisions that must agree, and nothing near
the point may be decided by rounding. Along a random direction every tangent is then divided by the sum of the sizes of
its parts, so that in floats all of them are at most 1, however deep the program is, and rounding has one bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from symgrad.analysis.explain.noise import array_witness, precision
from symgrad.analysis.explain.noise.array_witness import drawn, entry, filled
from symgrad.analysis.explain.noise.precision import PrecisionPair, has_arrays
from symgrad.analysis.explain.noise.sample_points import draws
from symgrad.analysis.stop_gradient.placements.edge_values import (
    ExactSums,
    agree,
    derivative,
    exact_sums,
    hash_of,
    tangents_of,
)
from symgrad.analysis.stop_gradient.placements.paths import PathGraph
from symgrad.analysis.stop_gradient.placements.value_cache import Computed, PointValues, Row, frozen_point
from symgrad.autodiff.trace import placeholder
from symgrad.ir.graph import SIZE, SYMBOL, Node
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.support.errors import SymgradError

__all__ = ["Kind", "Point", "Question", "Scaled", "points_of", "refutes"]

_DIGITS, _DEEP = (100, 140), (500, 600)
"""Of the two precisions; and where the parts of a derivative cancel to less than a part in 1e30 of them."""

_CANCELLED = 30
_GRID = 3  # inputs, and draws for each
_LONG = 400  # equations above which there are two draws for one choice of inputs
_TRIED = 4  # times as many inputs, where some lie outside of a domain
_MOST_ENTRIES = 60_000  # of all local derivatives at a point


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: which edges of ``graph`` to cut, that its gradient be that of ``calm``.

    Attributes:
        graph: the derivative paths of the program.
        calm: those of the program with the noise fixed.
        noise: what is noise.
        held: what one differentiates by and yet is computed of noise: it counts as an input.
    """

    graph: PathGraph
    calm: PathGraph
    noise: tuple[Node, ...]
    held: tuple[Node, ...]

    @property
    def sources(self) -> list[Node]:
        """The inputs that draws of the noise are draws of."""
        found = symbols_of(self.noise)
        return [s for s in found if s.declaration.distribution is not None] or found


@dataclass(frozen=True, slots=True)
class Point:
    """One choice of inputs and one draw.

    Attributes:
        number: which choice of inputs it is.
        exact: what the edges of the program pass on, at both precisions.
        wanted: the derivative along the direction of the program with the noise fixed, at both precisions.
        calm: its tangents there, by node.
        unit: the size of the parts of both derivatives, together.
        scaled: for each of the two kinds of numbers, the first floats and the second fixed ones, what `Scaled` holds.
    """

    number: int
    exact: tuple[ExactSums, ExactSums] = field(repr=False)
    wanted: tuple[Any, Any]
    calm: Mapping[Node, Any] = field(repr=False)
    unit: Any
    level: PrecisionPair = field(repr=False)
    scaled: dict[str, Scaled] = field(repr=False, default_factory=dict[str, "Scaled"])

    @property
    def wants_something(self) -> bool:
        """Whether the reference is certainly not zero here."""
        return bool(min(abs(w) for w in self.wanted) > self.unit * self.level.margin)

    def scale(self, node: Node) -> Any:
        """Return what the tangent of a node that is a number is divided by."""
        return self.exact[1].scales[node]

    def within(self, graph: PathGraph, kind: Kind) -> Scaled:
        """Return what edges pass on, scaled, in floats or in fixed numbers."""
        if kind not in self.scaled:
            self.scaled[kind] = _scaled(graph, self.exact[1], self.wanted[1], kind, self.level)
        return self.scaled[kind]


Kind: TypeAlias = Literal["float", "fixed"]


@dataclass(frozen=True, slots=True)
class Scaled:
    """What edges pass on where every tangent is divided by the size of its parts, so that none is larger than 1.

    Attributes:
        matrices: for each edge; None for the result.
        ends: the tangents of the ends.
        seed: what the tangent of the value is multiplied by, which gives the derivative in units of its parts.
        target: the derivative that is wanted, in these units.
        bound: of the rounding of a derivative and of the target.
        one: what 1 is.
        kind: of the numbers.
        bits: behind the point of fixed ones.
    """

    matrices: Sequence[Any]
    ends: Mapping[Node, Any]
    seed: Any
    target: Any
    bound: Any
    one: Any
    kind: Kind
    bits: int

    def number(self, value: Any) -> Any:
        """Return numbers at high precision as such, a column."""
        return _numbers(value, self.kind, self.bits)

    def times(self, a: Any, b: Any) -> Any:
        """Return a product, of numbers or of matrices with rows of lanes."""
        product = a @ b if isinstance(a, np.ndarray) else a * b
        return product if self.kind == "float" else product >> self.bits


def points_of(question: Question, computed: Computed) -> list[Point]:
    """Return points, those with the same inputs behind each other: several draws of the noise for each.

    There are none where the program is too large to be computed exactly.

    Args:
        question: what is asked.
        computed: what searches for the same noise and the same reference share.
    """
    plain, deep = computed.to(_DIGITS), computed.to(_DEEP)
    if not computed.cancels:
        found: list[Point] = []
        for p in _points(question, plain):
            if abs(derivative(question.graph, p.exact[1])) * 10**_CANCELLED < p.unit:
                computed.cancels = True
                break
            found.append(p)
        else:
            return found
    return list(_points(question, deep)) or list(_points(question, plain))


def _points(question: Question, computed: PointValues) -> Iterator[Point]:
    g, c = question.graph, question.calm
    given = {*question.held}
    order = topological([g.y, c.y, *g.wrt, *_coefficients(g), *_coefficients(c)], until=given)
    inputs = [n for n in order if n.op is SYMBOL or n in given]
    read = topological([c.y, *_coefficients(c)], until=given)
    of_calm = [n for n in read if n.op is SYMBOL or n in given]
    sources = [s for s in question.sources if s in {*inputs}]
    names = names_of(*((n.shape, n.params if n.op is SIZE else ()) for n in order))
    grid = 2 if len(order) > _LONG else _GRID
    found = 0
    for number in range(_TRIED * _GRID):
        sizes = {name: 2 + (i + number) % 2 for i, name in enumerate(names)}
        seen = 0
        try:
            if _work(question, sizes) > _MOST_ENTRIES:
                return
            for draw in range(grid + 1):
                if seen == grid:
                    break
                at: dict[Node, Any] = {}
                for s in inputs:
                    candidates = draws(s, ()) if s in sources else []
                    if not candidates:
                        like = s if s.op is SYMBOL else placeholder(s)
                        at[s] = filled(like, sizes, partial(entry, like, number, 1), number)
                    elif s.shape:
                        at[s] = filled(s, sizes, partial(drawn, s, candidates, draw, 1), draw)
                    else:
                        at[s] = candidates[
                            (draw + (0 if draw < 2 else hash_of(s.name, draw))) % len(candidates)
                        ]
                rows = computed.rows(order, at, sizes, number)
                if not _sure(order, rows, at, computed.level):
                    continue
                key = (c, frozen_point(of_calm, at, sizes))
                if key not in computed.references:
                    computed.references[key] = _reference(c, rows, computed.level)
                point = _point(g, rows, computed.references[key], number, computed.level)
                if point is not None:
                    seen += 1
                    yield point
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
            continue  # outside the domain of some op, or of an axis
        found += bool(seen)
        if found == (1 if grid == 2 else grid):
            return


def _coefficients(graph: PathGraph) -> list[Node]:
    return [e.step.coefficient for e in graph.edges if e.step is not None and e.step.node.op.pointwise]


def _work(question: Question, sizes: Mapping[str, int]) -> int:
    def entries(node: Node) -> int:
        return prod(evaluate_size(s, sizes) for s in node.shape)

    return sum(
        entries(e.node) * entries(e.target)
        for graph in (question.graph, question.calm)
        for e in graph.edges
        if e.node is not None
    )


def _sure(order: Sequence[Node], rows: tuple[Row, Row], at: Mapping[Node, Any], level: PrecisionPair) -> bool:
    if has_arrays(order):
        return array_witness.settled(level, order, *rows)
    return precision.settled(level, order, *rows, at)


@dataclass(frozen=True, slots=True)
class _Reference:
    """The derivative that is wanted, at both precisions; its tangents, by node; the size of its parts."""

    wanted: tuple[Any, Any]
    tangents: Mapping[Node, Any]
    unit: Any


def _reference(calm: PathGraph, rows: tuple[Row, Row], level: PrecisionPair) -> _Reference | None:
    coarse, fine = (exact_sums(calm, r, mp) for r, mp in zip(rows, level.contexts, strict=True))
    if coarse is None or fine is None:
        return None
    tangents = tangents_of(calm, fine)
    return _Reference(
        (derivative(calm, coarse), derivative(calm, fine, tangents=tangents)), tangents, fine.unit
    )


def _point(
    graph: PathGraph, rows: tuple[Row, Row], reference: _Reference | None, number: int, level: PrecisionPair
) -> Point | None:
    coarse, fine = (exact_sums(graph, r, mp) for r, mp in zip(rows, level.contexts, strict=True))
    if coarse is None or fine is None or reference is None:
        return None
    unit = fine.unit + reference.unit
    a, b = reference.wanted
    # What both precisions do not agree on is rounding, and larger than it seems.
    if abs(a - b) > unit * level.margin or not agree(graph, coarse, fine, level):
        return None
    return Point(number, (coarse, fine), reference.wanted, reference.tangents, unit, level)


def refutes(point: Point, graph: PathGraph, cut: Collection[int]) -> bool:
    """Tell whether the gradient with some edges cut is certainly not the reference, computed at high precision."""
    found = [derivative(graph, at, cut) for at in point.exact]
    off = [abs(a - b) for a, b in zip(found, point.wanted, strict=True)]
    return bool(min(off) > point.unit * point.level.margin)


def _scaled(graph: PathGraph, at: ExactSums, wanted: Any, kind: Kind, level: PrecisionPair) -> Scaled:
    mp = level.contexts[1]
    bits = level.contexts[0].prec + 64  # behind the point of fixed numbers
    one: Any = 1.0 if kind == "float" else 1 << bits

    def numbers(value: Any) -> Any:
        return _numbers(value, kind, bits)

    matrices: list[Any] = [None] * len(graph.edges)
    for node in graph.order:
        for k in graph.out_of[node]:
            matrix, below = at.matrices[k], at.scales[graph.edges[k].target]
            if isinstance(matrix, np.ndarray):
                matrices[k] = numbers(
                    matrix * np.reshape(below, (1, -1)) / np.reshape(at.scales[node], (-1, 1))
                )
            else:
                matrices[k] = numbers(matrix * below / at.scales[node])[0, 0]
    ends = {w: numbers(t / at.scales[w]) for w, t in at.ends.items()}
    seed = numbers(at.seed * at.scales[graph.y] / at.unit).T
    target = wanted / at.unit
    target = numbers(mp.sign(target) * min(abs(target), mp.mpf(10) ** 6))[0, 0]
    # Tangents are at most 1 and so are the sums of the sizes of what each is made of: errors add up, and do not grow.
    steps = 8 * (
        sum(np.shape(m)[1] if np.ndim(m) else 1 for m in matrices if m is not None) + len(graph.edges) + 8
    )
    if kind == "float":
        bound: Any = steps * 2.0**-53 * (1 + abs(target))
    else:
        bound = numbers(steps * (1 + abs(wanted / at.unit)) * level.margin)[0, 0]
    return Scaled(matrices, ends, seed, target, bound, one, kind, bits)


def _numbers(value: Any, kind: Kind, bits: int) -> Any:
    """Return a matrix as it is, and anything else as a column, in numbers of a kind."""
    array = np.asarray(value, dtype=object)
    if kind == "float":
        entries = array.astype(float)
    else:
        entries = np.empty(array.shape, dtype=object)
        for place in np.ndindex(*array.shape):
            x: Any = array[place]
            entries[place] = int(x.context.floor(x.context.ldexp(x, bits)))
    return entries if entries.ndim == 2 else entries.reshape(-1, 1)
