"""Exact points at which placements are tried, with what every edge passes on there.

Inputs are exact numbers; values and local derivatives are computed at two precisions that must agree, and nothing near
the point may be decided by rounding. Along a random direction every tangent is then divided by the sum of the sizes of
its parts, so that in floats all of them are at most 1, however deep the program is, and rounding has one bound.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from symgrad.backward.trace import Pullback, placeholder
from symgrad.errors import SymgradError
from symgrad.ir.graph import SIZE, SYMBOL, Node
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate_mp, exact_number
from symgrad.reasons.noise import array_witness, witness
from symgrad.reasons.noise.array_witness import converted, drawn, entry, filled
from symgrad.reasons.noise.draws import draws
from symgrad.reasons.noise.witness import PrecisionPair, is_finite
from symgrad.stops.places.paths import PathGraph

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
class ExactSums:
    """What the edges of a graph pass on at one point, at one precision, and the sizes of what is added up.

    Of a number there is a number, of an array the vector of its entries, and so of their local derivatives.
    """

    matrices: Sequence[Any]
    ends: Mapping[Node, Any]
    seed: Any
    scales: Mapping[Node, Any]
    unit: Any


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


def points_of(question: Question) -> list[Point]:
    """Return points, those with the same inputs behind each other: several draws of the noise for each.

    There are none where the program is too large to be computed exactly.
    """
    found = list(_points(question, _DIGITS))
    graph = question.graph
    if any(abs(derivative(graph, p.exact[1])) * 10**_CANCELLED < p.unit for p in found):
        return list(_points(question, _DEEP)) or found
    return found


def _points(question: Question, digits: tuple[int, int]) -> Iterator[Point]:
    g, c = question.graph, question.calm
    coefficients = [
        e.step.coefficient for e in (*g.edges, *c.edges) if e.step is not None and e.step.node.op.pointwise
    ]
    given = {*question.held}
    order = topological([g.y, c.y, *g.wrt, *coefficients], until=given)
    inputs = [n for n in order if n.op is SYMBOL or n in given]
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
                            (draw + (0 if draw < 2 else _hash(s.name, draw))) % len(candidates)
                        ]
                point = _point(question, order, at, number, PrecisionPair(digits))
                if point is not None:
                    seen += 1
                    yield point
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
            continue  # outside the domain of some op, or of an axis
        found += bool(seen)
        if found == (1 if grid == 2 else grid):
            return


def _hash(*key: object) -> int:
    return int.from_bytes(hashlib.blake2b("|".join(map(str, key)).encode(), digest_size=4).digest(), "big")


def _work(question: Question, sizes: Mapping[str, int]) -> int:
    def entries(node: Node) -> int:
        return prod(evaluate_size(s, sizes) for s in node.shape)

    return sum(
        entries(e.node) * entries(e.target)
        for graph in (question.graph, question.calm)
        for e in graph.edges
        if e.node is not None
    )


def _point(
    question: Question, order: Sequence[Node], at: Mapping[Node, Any], number: int, level: PrecisionPair
) -> Point | None:
    rows: list[dict[Node, Any]] = []
    for mp in level.contexts:
        exact = {s: converted(v, partial(exact_number, mp)) for s, v in at.items()}
        exact = {s: converted(v, int) if s.dtype == "int" else v for s, v in exact.items()}
        rows.append(dict(zip(order, evaluate_mp(mp, order, exact), strict=True)))
    coarse, fine = rows
    if any(n.shape or not n.op.pointwise or n.op is SIZE for n in order):
        sure = array_witness.settled(level, order, coarse, fine)
    else:
        sure = witness.settled(level, order, coarse, fine, at)
    if not sure:
        return None
    graph, calm = question.graph, question.calm
    contexts = level.contexts
    found = [_exact(g, r, mp) for g in (graph, calm) for r, mp in zip(rows, contexts, strict=True)]
    a, b, p, q = found
    if a is None or b is None or p is None or q is None:
        return None
    tangents = tangents_of(calm, q)
    wanted = (derivative(calm, p), derivative(calm, q, tangents=tangents))
    unit = b.unit + q.unit
    # What both precisions do not agree on is rounding, and larger than it seems.
    if abs(wanted[0] - wanted[1]) > unit * level.margin or not _agree(graph, a, b, level):
        return None
    return Point(number, (a, b), wanted, tangents, unit, level)


def _agree(graph: PathGraph, coarse: ExactSums, fine: ExactSums, level: PrecisionPair) -> bool:
    for k, edge in enumerate(graph.edges):
        if edge.node is not None:
            off = _sizes(coarse.matrices[k] - fine.matrices[k], fine.scales[edge.target])
            if np.any(off > fine.scales[edge.node] * level.margin):
                return False
    return True


def _exact(graph: PathGraph, values: Mapping[Node, Any], mp: Any) -> ExactSums | None:
    """Compute what edges pass on, at one precision; None where that is no number."""
    matrices: list[Any] = []
    for edge in graph.edges:
        matrix = None if edge.step is None else _matrix(edge.step, values, mp)
        if matrix is not None and not all(is_finite(mp, x) for x in np.ravel(matrix)):
            return None
        matrices.append(matrix)
    value = np.asarray(values[graph.y], dtype=object)
    if not all(is_finite(mp, x) for x in value.ravel()):
        return None
    ends = {w: _direction(mp, w, np.size(np.asarray(values[w], dtype=object))) for w in graph.ends}
    seed = _direction(mp, "seed", value.size) if value.shape else mp.mpf(1)
    scales: dict[Node, Any] = {}
    for node in graph.order:
        size = abs(ends[node]) if node in ends else 0
        for k in graph.out_of[node]:
            size = size + _sizes(matrices[k], scales[graph.edges[k].target])
        scales[node] = np.where(np.asarray(size == 0, dtype=bool), mp.mpf(1), size)[()]
    unit = np.sum(abs(seed) * scales.get(graph.y, 1))
    return ExactSums(matrices, ends, seed, scales, unit)


def _times(matrix: Any, vector: Any) -> Any:
    """Return a matrix times a vector, where of one entry both are numbers."""
    if not isinstance(matrix, np.ndarray):
        return matrix * vector
    column = cast("Any", vector) if isinstance(vector, np.ndarray) else np.array([vector], dtype=object)
    product: Any = cast("Any", matrix) @ column
    return product if len(product) > 1 else product[0]


def _sizes(matrix: Any, vector: Any) -> Any:
    return _times(abs(matrix), vector)


def _direction(mp: Any, key: Node | str, size: int) -> Any:
    """Return a random vector with no zero."""
    name = key if isinstance(key, str) else key.name if key.op is SYMBOL else "value"
    numbers = [Fraction(500 + _hash(name, i, "direction") % 997, 997) for i in range(size)]
    entries = [exact_number(mp, n) for n in numbers]
    return np.array(entries, dtype=object) if size != 1 else entries[0]


def _matrix(step: Pullback, values: Mapping[Node, Any], mp: Any) -> Any:
    """Return the local derivative of an equation by one argument, entries of its value by those of the argument."""
    node, target = step.node, step.target
    shape, below = np.shape(values[node]), np.shape(values[target])
    if node.op.pointwise and not shape:
        return values[step.coefficient]
    rows, columns = prod(shape), prod(below)
    matrix = np.full((rows, columns), mp.mpf(0), dtype=object)
    if node.op.pointwise:
        reads = np.broadcast_to(np.arange(columns).reshape(below), shape).ravel()
        value = np.asarray(values[step.coefficient], dtype=object)
        matrix[np.arange(rows), reads] = np.broadcast_to(value, shape).ravel()
    else:
        for i in range(rows):
            unit = np.full(rows, mp.mpf(0), dtype=object)
            unit[i] = mp.mpf(1)
            given = {**values, placeholder(node): unit.reshape(shape) if shape else unit[0]}
            (sent,) = evaluate_mp(mp, [step.coefficient], given)
            matrix[i] = np.broadcast_to(np.asarray(sent, dtype=object), below).ravel()
    return matrix if matrix.size != 1 else matrix[0, 0]


def tangents_of(graph: PathGraph, at: ExactSums, cut: Collection[int] = ()) -> dict[Node, Any]:
    """Return the tangents of nodes along the direction, with some edges cut."""
    found: dict[Node, Any] = {}
    for node in graph.order:
        total = at.ends.get(node)
        for k in graph.out_of[node]:
            if k not in cut:
                part = _times(at.matrices[k], found[graph.edges[k].target])
                total = part if total is None else total + part
        found[node] = 0 * at.scales[node] if total is None else total
    return found


def derivative(
    graph: PathGraph, at: ExactSums, cut: Collection[int] = (), tangents: Mapping[Node, Any] | None = None
) -> Any:
    """Return the derivative along the direction, with some edges cut."""
    if not graph.edges or 0 in cut:
        return 0 * np.sum(at.seed)
    moved = tangents_of(graph, at, cut) if tangents is None else tangents
    return np.sum(at.seed * moved[graph.y])


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
