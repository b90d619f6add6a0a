"""Search for two draws of a random input at one point: direct evidence that a gradient depends on the input.

For scalars, float64 finds candidates; for arrays, named sizes are set to small numbers. Evaluation with balls at exact
points decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np

from symgrad.analysis.explain.limits import PRECISE_WORK, WITNESS_PAIRS, WITNESS_WORK
from symgrad.analysis.explain.noise.evidence import Evidence, decide, requirements
from symgrad.analysis.explain.noise.points_across_kinks import straddling
from symgrad.analysis.explain.noise.sample_points import (
    domain_of,
    draw_entry,
    draws,
    entry,
    filled,
    value_at,
)
from symgrad.ir.exact import nearest_float
from symgrad.ir.graph import NUMBER, SIZE, Node
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import reads_arrays, symbols_of, topological
from symgrad.ir.types import Number
from symgrad.ir.values.evaluate import evaluate
from symgrad.support.errors import NumberTooLargeError, SymgradError

_POINTS = 12
_BASES = (
    3  # number of points in which one input is moved, and of numbers of the program with points on both sides
)
_BITS, _DEEP = 192, 1330
"""The precisions: a long chain can damp a dependence below the first, so the second is tried if nothing was found."""

_ARRAY_POINTS = 6
_SMALL = 3
"""Further points, with entries an eighth as large: larger entries saturate a network of several layers."""

_ARRAY_BASES = 2
_ARRAY_PAIRS = ((0, 1), (2, 3))

_Proposal: TypeAlias = "tuple[dict[Node, Any], tuple[Any, Any], int]"
"""The exact values of the other inputs, two draws, and a precision."""


def find_evidence(
    y: Node, gradients: Sequence[Node], extra: Sequence[Node], source: Node, *, straddle: bool = False
) -> Evidence | None:
    """Search for two draws of a random input that give different gradients.

    Args:
        y: the differentiated value, which must exist at the point.
        gradients: the gradients.
        extra: further nodes to evaluate, if all nodes are scalars.
        source: the random input, a symbol of any shape.
        straddle: whether to try only points that have kinks or thresholds between the two draws; otherwise other
            points.

    Returns:
        The evidence; None if no pair was found, which proves nothing.
    """
    read = [y, *gradients]
    order = topological([*read, *requirements([*read, source])])
    if reads_arrays([*order, source]):
        proposals = _array_proposals(order, source, straddle)
    else:
        order = topological([*read, *extra, *requirements([*read, *extra])])
        proposals = _kink_proposals(order, source) if straddle else _proposals(order, read, source)
    for point, pair, bits in proposals:
        try:
            for there in straddling(order, source, pair, point) if straddle else (point,):
                evidence = decide(order, y, gradients, source, there, pair, bits)
                if evidence is not None:
                    return evidence
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError):
            continue  # the point is outside the domain of an op, or of an axis
    return None


def _other_inputs(order: Sequence[Node], source: Node) -> list[Node]:
    return [s for s in symbols_of([*order, source]) if s is not source]


def _numbers_of(order: Sequence[Node]) -> list[Number]:
    return list(dict.fromkeys(n.value for n in order if n.op is NUMBER and not isinstance(n.value, bool)))


def _kink_proposals(order: Sequence[Node], source: Node) -> Iterator[_Proposal]:
    """Yield points of scalars around which to search for kinks between two draws."""
    inputs = _other_inputs(order, source)
    candidates = sorted(draws(source, ()), key=float)
    if len(candidates) < 2 or len(order) > WITNESS_WORK // WITNESS_PAIRS:
        return
    # Draws in the middle half are more likely; outer draws are further apart.
    pairs = [(candidates[1], candidates[-2]), (candidates[0], candidates[-1])]
    beside = [v + side for v in _numbers_of(order)[:_BASES] for side in (1, -1)]
    bases = [{s: value_at(s, k) for s in inputs} for k in range(_BASES)]
    bases += [{s: v if domain_of(s).admits(v) else value_at(s, 0) for s in inputs} for v in beside]
    for point in bases:
        for pair in pairs:
            yield point, pair, _BITS


def _proposals(order: Sequence[Node], read: Sequence[Node], source: Node) -> Iterator[_Proposal]:
    """Yield points of scalars with two draws: first those with a difference in float64, then those without."""
    inputs = _other_inputs(order, source)
    candidates = draws(source, _numbers_of(order))
    seen, unseen = _in_floats(order, read, source, inputs, candidates)
    most = max(1, min(WITNESS_PAIRS, WITNESS_WORK // len(order)))
    attempts = [(_BITS, seen[:most]), (_BITS, unseen[: (most + 1) // 2])]
    if most > 1:
        attempts.append((_DEEP, unseen[: most // 2]))
    for bits, proposals in attempts:
        for index, one, other in proposals:
            yield {s: value_at(s, index) for s in inputs}, (candidates[one], candidates[other]), bits


def _in_floats(
    order: Sequence[Node],
    read: Sequence[Node],
    source: Node,
    inputs: Sequence[Node],
    candidates: Sequence[Number | bool],
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    """Return triples (point, draw, draw): first those with a difference in float64, then those without."""
    rows = range(_POINTS)
    values: dict[Node, Any] = {
        s: np.array([[_float(value_at(s, i))] for i in rows], dtype=bool if s.dtype == "bool" else float)
        for s in inputs
    }
    values[source] = np.array([[_float(v) for v in candidates]])
    shape = (_POINTS, len(candidates))
    try:
        results = dict(zip(order, evaluate(order, values), strict=True))
    except NumberTooLargeError:
        return [], []
    usable = np.ones(shape, dtype=bool)
    for condition in requirements(read):
        usable &= np.broadcast_to(results[condition], shape)
    for node in read:
        usable &= np.isfinite(np.broadcast_to(results[node], shape))
    seen: list[tuple[int, int, int]] = []
    unseen: list[tuple[int, int, int]] = []
    for i in range(_POINTS):
        columns = [int(k) for k in np.flatnonzero(usable[i])]
        pairs = [(a, b) for n, a in enumerate(columns) for b in columns[n + 1 :]]
        lines = [np.broadcast_to(results[g], shape)[i] for g in read[1:]]
        first = next(((a, b) for a, b in pairs if any(_differ_in_floats(v[a], v[b]) for v in lines)), None)
        if first is not None:
            seen.append((i, *first))
        elif pairs:
            unseen.append((i, *pairs[0]))
    return seen, unseen


def _differ_in_floats(a: Any, b: Any) -> bool:
    return bool(abs(a - b) > 1e-7 * max(abs(a), abs(b)))


def _float(value: Number | bool) -> float | bool:
    return value if isinstance(value, bool) else nearest_float(value)


def _array_proposals(order: Sequence[Node], source: Node, straddle: bool) -> Iterator[_Proposal]:
    """Yield points with arrays, and two draws."""
    inputs = _other_inputs(order, source)
    names = names_of(
        *((n.shape, n.params if n.op is SIZE else ()) for n in (*inputs, source, *order)),
        *(s.declaration.values.sizes for s in (*inputs, source)),
    )
    landmarks = _numbers_of(order)
    for index in range(_ARRAY_BASES if straddle else _ARRAY_POINTS + _SMALL):
        size = Fraction(1, 8) if index >= _ARRAY_POINTS else 1
        sizes = {name: 2 + (i + index) % 3 for i, name in enumerate(names)}
        every = draws(source, landmarks, sizes)
        # If an entry is equal to a landmark, some comparison ties; so draws without landmarks are tried as well.
        choices = ([v for v in every if v not in landmarks] or every, every)
        try:
            if _work(order, sizes) > PRECISE_WORK:
                return
            point = {s: filled(s, sizes, partial(entry, s, index, size), index) for s in inputs}
            for pair, candidates in zip(_ARRAY_PAIRS, choices, strict=True):
                one, other = (
                    filled(source, sizes, partial(draw_entry, source, candidates, d, size), d) for d in pair
                )
                yield point, (one, other), _BITS
        except (SymgradError, ValueError):
            continue  # with these sizes an axis has a negative length, or too few positions


def _work(order: Sequence[Node], sizes: Mapping[str, int]) -> int:
    total = 0
    for node in order:
        total += prod(evaluate_size(s, sizes) for s in node.shape)
        if node.op.name == "einsum":
            lengths = {
                label: evaluate_size(size, sizes)
                for own, arg in zip(node.params[0], node.args, strict=True)
                for label, size in zip(own, arg.shape, strict=True)
            }
            total += prod(lengths.values())
    return total
