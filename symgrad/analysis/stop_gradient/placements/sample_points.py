"""Exact points for the search, with the local derivative of every edge.

Inputs are exact numbers. Values and local derivatives are computed with balls, so that no branch depends on rounding.
Along a random direction, every tangent is divided by the sum of the absolute values of
its summands. So all scaled tangents are at most 1, for any depth of the program, and one bound covers the rounding of
floats.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from symgrad.analysis.explain.noise.sample_points import draw_entry, draws, entry, filled, hash_of
from symgrad.analysis.stop_gradient.placements.edge_values import (
    ExactSums,
    are_precise,
    derivative,
    exact_sums,
    tangents_of,
)
from symgrad.analysis.stop_gradient.placements.paths import PathGraph
from symgrad.autodiff.trace import placeholder
from symgrad.checker.numbers import arb, context
from symgrad.checker.witness import disjoint
from symgrad.ir.graph import SIZE, SYMBOL, Node
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.rewrite.choice.certain_values import ball_values, exact_ball
from symgrad.support.errors import SymgradError

_BITS, _DEEP = 384, 1792
"""The precisions: first the usual one, then one for a derivative that cancels to less than 1e-30 of its summands."""

_CANCELLED = 30
_LARGEST_SHARE = arb(10**6)  # the largest derivative, in units of the summands
_GRID = 3  # number of choices of inputs, and of draws for each choice
_LONG = 400  # in a program with more equations, there is one choice of inputs with two draws
_TRIED = 4  # number of attempts for each choice of inputs, because some are outside a domain
_MOST_ENTRIES = 60_000  # number of entries of all Jacobians at a point


@dataclass(frozen=True, slots=True)
class CutProblem:
    """The problem: cut edges of ``graph`` such that its gradient becomes the gradient of ``calm``.

    Attributes:
        graph: the derivative paths of the program.
        calm: the derivative paths of the program with fixed noise.
        noise: the noise.
        held: members of wrt that are computed from noise, and count as inputs.
    """

    graph: PathGraph
    calm: PathGraph
    noise: tuple[Node, ...]
    held: tuple[Node, ...]

    @property
    def sources(self) -> list[Node]:
        """The random inputs from which the noise is computed."""
        found = symbols_of(self.noise)
        return [s for s in found if s.declaration.distribution is not None] or found


@dataclass(frozen=True, slots=True)
class Point:
    """One choice of inputs and one draw.

    Attributes:
        number: the number of the choice of inputs.
        exact: the local derivatives.
        wanted: the derivative of the program with fixed noise along the direction.
        calm: the tangents of that program, by node.
        unit: the sum of the absolute values of the summands of both derivatives.
        bits: the precision.
        scaled: a cache for `within`.
    """

    number: int
    exact: ExactSums = field(repr=False)
    wanted: Any
    calm: Mapping[Node, Any] = field(repr=False)
    unit: Any
    bits: int
    scaled: dict[str, Scaled] = field(repr=False, default_factory=dict[str, "Scaled"])

    @property
    def wants_something(self) -> bool:
        """Whether the reference is certainly not zero at this point."""
        return bool(self.wanted != 0)

    def scale(self, node: Node) -> Any:
        """Return the divisor of the tangent of a scalar node."""
        return self.exact.scales[node]

    def within(self, graph: PathGraph, kind: Kind) -> Scaled:
        """Return the scaled local derivatives, in floats or in fixed-point numbers."""
        if kind not in self.scaled:
            with context.workprec(self.bits):
                self.scaled[kind] = _scaled(graph, self.exact, self.wanted, kind, self.bits)
        return self.scaled[kind]


Kind: TypeAlias = Literal["float", "fixed"]


@dataclass(frozen=True, slots=True)
class Scaled:
    """Local derivatives after every tangent is divided by its scale, so that no tangent exceeds 1.

    Attributes:
        matrices: the local derivative of each edge; None for the output.
        ends: the tangents of the inputs.
        seed: the row that maps the tangent of the output to the derivative, in units of the summands of the derivative.
        target: the reference derivative in the same units.
        bound: a bound on the rounding error of a derivative and of the target.
        one: the number 1, in this kind of numbers.
        kind: the kind of numbers.
        bits: the number of fractional bits of fixed-point numbers.
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
        """Convert numbers of high precision to a column of this kind of numbers."""
        return _numbers(value, self.kind, self.bits)

    def times(self, a: Any, b: Any) -> Any:
        """Return a product of numbers, or of a matrix and columns of lanes."""
        product = a @ b if isinstance(a, np.ndarray) else a * b
        return product if self.kind == "float" else product >> self.bits


def points_of(problem: CutProblem) -> list[Point]:
    """Return exact points, with several draws for each choice of inputs; none if the program is too large."""
    found: list[Point] = []
    for p in _points(problem, _BITS):
        if abs(derivative(problem.graph, p.exact)) * 10**_CANCELLED < p.unit:
            return list(_points(problem, _DEEP)) or list(_points(problem, _BITS))
        found.append(p)
    return found


def _points(problem: CutProblem, bits: int) -> Iterator[Point]:
    g, c = problem.graph, problem.calm
    held = {*problem.held}
    order = topological([g.y, c.y, *g.wrt, *_coefficients(g), *_coefficients(c)], until=held)
    inputs = [n for n in order if n.op is SYMBOL or n in held]
    sources = [s for s in problem.sources if s in {*inputs}]
    names = names_of(*((n.shape, n.params if n.op is SIZE else ()) for n in order))
    grid = 2 if len(order) > _LONG else _GRID
    found = 0
    for number in range(_TRIED * _GRID):
        sizes = {name: 2 + (i + number) % 2 for i, name in enumerate(names)}
        seen = 0
        try:
            if _work(problem, sizes) > _MOST_ENTRIES:
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
                        at[s] = filled(s, sizes, partial(draw_entry, s, candidates, draw, 1), draw)
                    else:
                        at[s] = candidates[
                            (draw + (0 if draw < 2 else hash_of(s.name, draw))) % len(candidates)
                        ]
                values = ball_values(order, {s: exact_ball(v) for s, v in at.items()}, bits)
                with context.workprec(bits):
                    point = _point(problem, values, number, bits)
                if point is not None:
                    seen += 1
                    yield point
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
            continue  # the point is outside the domain of an op, or of an axis
        found += bool(seen)
        if found == (1 if grid == 2 else grid):
            return


def _coefficients(graph: PathGraph) -> list[Node]:
    return [e.step.coefficient for e in graph.edges if e.step is not None and e.step.node.op.pointwise]


def _work(problem: CutProblem, sizes: Mapping[str, int]) -> int:
    def entries(node: Node) -> int:
        return prod(evaluate_size(s, sizes) for s in node.shape)

    return sum(
        entries(e.node) * entries(e.target)
        for graph in (problem.graph, problem.calm)
        for e in graph.edges
        if e.node is not None
    )


def _point(problem: CutProblem, values: Mapping[Node, Any], number: int, bits: int) -> Point | None:
    at, reference = (exact_sums(g, values, bits) for g in (problem.graph, problem.calm))
    if at is None or reference is None:
        return None
    calm, unit, margin = tangents_of(problem.calm, reference), at.unit + reference.unit, _margin(bits)
    wanted = derivative(problem.calm, reference, tangents=calm)
    if not wanted.rad() <= unit * margin or not are_precise(problem.graph, at, margin):
        return None
    return Point(number, at, wanted, calm, unit, bits)


def _margin(bits: int) -> float:
    """Return the relative error that local derivatives may have."""
    return 2.0 ** -(bits // 2)


def refutes(point: Point, graph: PathGraph, cut: Collection[int]) -> bool:
    """Tell whether the gradient with some edges cut is certainly not the reference."""
    with context.workprec(point.bits):
        return disjoint(derivative(graph, point.exact, cut), point.wanted)


def _scaled(graph: PathGraph, at: ExactSums, wanted: Any, kind: Kind, precision: int) -> Scaled:
    bits = precision + 64  # number of fractional bits
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
    share = wanted / at.unit
    target = numbers(max(min(share, _LARGEST_SHARE), -_LARGEST_SHARE))[0, 0]
    # Tangents and the sums of their absolute summands are at most 1, so rounding errors add up without growing.
    steps = 8 * (
        sum(np.shape(m)[1] if np.ndim(m) else 1 for m in matrices if m is not None) + len(graph.edges) + 8
    )
    if kind == "float":
        bound: Any = steps * 2.0**-53 * (1 + abs(target))
    else:
        bound = numbers(steps * (1 + abs(share)) * _margin(precision))[0, 0]
    return Scaled(matrices, ends, seed, target, bound, one, kind, bits)


def _numbers(value: Any, kind: Kind, bits: int) -> Any:
    """Convert to a kind of numbers; everything except a matrix becomes a column."""
    array = np.asarray(value, dtype=object)
    if kind == "float":
        entries = array.astype(float)
    else:
        entries = np.empty(array.shape, dtype=object)
        for place in np.ndindex(*array.shape):
            x: Any = array[place]
            mantissa, exponent = (int(n) for n in x.mid().man_exp())
            shift = exponent + bits
            entries[place] = mantissa << shift if shift > 0 else mantissa >> -shift
    return entries if entries.ndim == 2 else entries.reshape(-1, 1)
