"""Local derivatives of the edges of a program at an exact point, and sums over the uncut paths, at one precision."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, cast

import numpy as np

from symgrad.analysis.explain.noise.precision import PrecisionPair, is_finite
from symgrad.analysis.explain.noise.sample_points import hash_of
from symgrad.analysis.stop_gradient.placements.paths import PathGraph
from symgrad.autodiff.trace import Pullback, placeholder
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.values.evaluate import evaluate_mp, exact_number


@dataclass(frozen=True, slots=True)
class ExactSums:
    """The local derivatives of a graph at one point, at one precision, with a bound on the sums of their products.

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


def agree(graph: PathGraph, coarse: ExactSums, fine: ExactSums, level: PrecisionPair) -> bool:
    """Tell whether both precisions agree on each local derivative."""
    for k, edge in enumerate(graph.edges):
        if edge.node is not None:
            off = _sizes(coarse.matrices[k] - fine.matrices[k], fine.scales[edge.target])
            beyond = off > fine.scales[edge.node] * level.margin
            if beyond is True or (beyond is not False and np.any(beyond)):
                return False
    return True


def exact_sums(graph: PathGraph, values: Mapping[Node, Any], mp: Any) -> ExactSums | None:
    """Compute the local derivatives at one precision; return None if one is not finite."""
    matrices: list[Any] = []
    for edge in graph.edges:
        matrix = None if edge.step is None else _matrix(edge.step, values, mp)
        if matrix is not None and not _finite(mp, matrix):
            return None
        matrices.append(matrix)
    value = np.asarray(values[graph.y], dtype=object)
    if not _finite(mp, value):
        return None
    ends = {w: _direction(mp, w, np.size(np.asarray(values[w], dtype=object))) for w in graph.ends}
    seed = _direction(mp, "seed", value.size) if value.shape else mp.mpf(1)
    scales: dict[Node, Any] = {}
    for node in graph.order:
        size: Any = abs(ends[node]) if node in ends else 0
        for k in graph.out_of[node]:
            size = size + _sizes(matrices[k], scales[graph.edges[k].target])
        one = mp.mpf(1)
        scales[node] = np.where(size == 0, one, size) if np.ndim(size) else size or one
    unit = np.asarray(abs(seed) * scales.get(graph.y, 1)).sum()
    return ExactSums(matrices, ends, seed, scales, unit)


def _finite(mp: Any, value: Any) -> bool:
    if not isinstance(value, np.ndarray):  # most values are scalars, for which NumPy is slow
        return is_finite(mp, value)
    return all(is_finite(mp, x) for x in np.asarray(cast("Any", value), dtype=object).ravel())


def _times(matrix: Any, vector: Any) -> Any:
    """Return a matrix times a vector; a single entry is a number."""
    if not isinstance(matrix, np.ndarray):
        return matrix * vector
    column = cast("Any", vector) if isinstance(vector, np.ndarray) else np.array([vector], dtype=object)
    product: Any = cast("Any", matrix) @ column
    return product if len(product) > 1 else product[0]


def _sizes(matrix: Any, vector: Any) -> Any:
    return _times(abs(matrix), vector)


def _direction(mp: Any, key: Node | str, size: int) -> Any:
    """Return a random vector without zeros."""
    name = key if isinstance(key, str) else key.name if key.op is SYMBOL else "value"
    numbers = [Fraction(500 + hash_of(name, i, "direction") % 997, 997) for i in range(size)]
    entries = [exact_number(mp, n) for n in numbers]
    return np.array(entries, dtype=object) if size != 1 else entries[0]


def _matrix(step: Pullback, values: Mapping[Node, Any], mp: Any) -> Any:
    """Return the Jacobian of an equation with respect to one argument."""
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
        return 0 * np.asarray(at.seed).sum()
    moved = tangents_of(graph, at, cut) if tangents is None else tangents
    return np.asarray(at.seed * moved[graph.y]).sum()
