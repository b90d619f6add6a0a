"""Local derivatives of the edges of a program at an exact point, and sums over the uncut paths, in balls."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np

from symgrad.analysis.explain.noise.sample_points import converted, hash_of
from symgrad.analysis.stop_gradient.placements.paths import PathGraph
from symgrad.autodiff.trace import Pullback, placeholder
from symgrad.checker.balls.entries import box
from symgrad.checker.balls.scalar_ops import ball, number
from symgrad.checker.numbers import arb, fmpq
from symgrad.checker.witness import all_certain
from symgrad.ir.graph import SYMBOL, Node
from symgrad.rewrite.choice.certain_values import ball_values


@dataclass(frozen=True, slots=True)
class ExactSums:
    """The local derivatives of a graph at one point, with a bound on the sums of their products.

    Scalars are numbers, and arrays are vectors of entries; so local derivatives are numbers or matrices.

    Attributes:
        matrices: the local derivative of each edge; None for the output.
        ends: for each input, the components of the direction in which the program is differentiated.
        seed: the weights of the entries of the output.
        scales: for each node, the sum of the absolute values of the summands of its tangent.
        unit: the same sum for the derivative along the direction.
    """

    matrices: Sequence[Any]
    ends: Mapping[Node, Any]
    seed: Any
    scales: Mapping[Node, Any]
    unit: Any


def are_precise(graph: PathGraph, at: ExactSums, margin: float) -> bool:
    """Tell whether the errors of all local derivatives are within a margin of the sizes of their tangents."""
    for k, edge in enumerate(graph.edges):
        if edge.node is not None:
            errors = _sizes(converted(at.matrices[k], _error), at.scales[edge.target])
            if not np.all(errors <= at.scales[edge.node] * margin):
                return False
    return True


def _error(x: Any) -> Any:
    return ball(x).rad()


def exact_sums(graph: PathGraph, values: Mapping[Node, Any], bits: int) -> ExactSums | None:
    """Compute the local derivatives in balls, at the precision of the context; return None if one is unknown."""
    matrices: list[Any] = []
    for edge in graph.edges:
        matrix = None if edge.step is None else _matrix(edge.step, values, bits)
        if edge.step is not None and not all_certain([matrix]):
            return None
        matrices.append(matrix)
    value = values[graph.y]
    if not all_certain([value]):
        return None
    ends = {w: _direction(w, np.size(values[w])) for w in graph.ends}
    seed = _direction("seed", np.size(value)) if np.ndim(value) else arb(1)
    scales: dict[Node, Any] = {}
    for node in graph.order:
        size: Any = abs(ends[node]) if node in ends else arb(0)
        for k in graph.out_of[node]:
            size = size + _sizes(matrices[k], scales[graph.edges[k].target])
        scales[node] = converted(size, lambda x: x.mid() if x > 0 else arb(1))
    unit = np.asarray(abs(seed) * scales.get(graph.y, arb(1))).sum()
    return ExactSums(matrices, ends, seed, scales, unit)


def _times(matrix: Any, vector: Any) -> Any:
    """Return a matrix times a vector; a single entry is a number."""
    if not isinstance(matrix, np.ndarray):
        return matrix * vector
    column = cast("Any", vector) if isinstance(vector, np.ndarray) else np.array([vector], dtype=object)
    product: Any = cast("Any", matrix) @ column
    return product if len(product) > 1 else product[0]


def _sizes(matrix: Any, vector: Any) -> Any:
    return _times(abs(matrix), vector)


def _direction(key: Node | str, size: int) -> Any:
    """Return a random vector without zeros."""
    name = key if isinstance(key, str) else key.name if key.op is SYMBOL else "value"
    entries = [arb(500 + hash_of(name, i, "direction") % 997) / 997 for i in range(size)]
    return np.array(entries, dtype=object) if size != 1 else entries[0]


def _matrix(step: Pullback, values: Mapping[Node, Any], bits: int) -> Any:
    """Return the Jacobian of an equation with respect to one argument."""
    node, target = step.node, step.target
    shape, below = np.shape(values[node]), np.shape(values[target])
    if node.op.pointwise and not shape:
        return _as_ball(values[step.coefficient])
    rows, columns = prod(shape), prod(below)
    matrix = np.full((rows, columns), arb(0), dtype=object)
    if node.op.pointwise:
        reads = np.broadcast_to(np.arange(columns).reshape(below), shape).ravel()
        matrix[np.arange(rows), reads] = np.broadcast_to(box(values[step.coefficient]), shape).ravel()
    else:
        for i in range(rows):
            unit = np.full(rows, fmpq(0), dtype=object)
            unit[i] = fmpq(1)
            given = {**values, placeholder(node): unit.reshape(shape) if shape else unit[0]}
            sent = ball_values([step.coefficient], given, bits)[step.coefficient]
            matrix[i] = np.broadcast_to(box(sent), below).ravel()
    return converted(matrix if matrix.size != 1 else matrix[0, 0], _as_ball)


def _as_ball(x: Any) -> Any:
    return ball(number(x))


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
        return 0 * np.asarray(at.seed).sum()
    moved = tangents_of(graph, at, cut) if tangents is None else tangents
    return np.asarray(at.seed * moved[graph.y]).sum()
