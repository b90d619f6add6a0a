"""Search for two draws of a random input at one point: direct evidence that a gradient depends on the input.

Float64 finds candidates, and evaluation at exact points in two high precisions decides. A pair of draws counts only if
rounding decides nothing near it: the gradients are finite and real, their difference is the same at both precisions,
and no comparison or jump is close to a tie, unless exact arithmetic decides it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from symgrad.analysis.explain.limits import (
    WIDEST_VALUE,
    WITNESS_ENTRIES_TOLD,
    WITNESS_INPUTS_TOLD,
    WITNESS_PAIRS,
    WITNESS_WORK,
)
from symgrad.analysis.explain.noise.points_across_kinks import straddling
from symgrad.analysis.explain.noise.precision import PrecisionPair, is_finite, settled
from symgrad.analysis.explain.noise.sample_points import domain_of, draws, entries, inside, value_at
from symgrad.ir.exact import nearest_float
from symgrad.ir.graph import NUMBER, Node
from symgrad.ir.notation.literals import number_text
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Number, decimal_text
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.facts.distribution_params import conditions_on
from symgrad.support.errors import NumberTooLargeError, SymgradError

_POINTS = 12
_BASES = (
    3  # number of points in which one input is moved, and of numbers of the program with points on both sides
)
# Two pairs of precisions. At 50 digits, differences and distances from a jump are beyond rounding if they are above
# 1e-25. A long chain can damp a dependence below that, so the more precise pair is tried if nothing was found.
_NORMAL, _DEEP = (50, 90), (300, 400)

ExactValue: TypeAlias = "Number | bool | list[ExactValue]"


@dataclass(frozen=True, slots=True)
class NoiseWitness:
    """A point and two draws at which the gradient differs.

    Attributes:
        values: the exact values of the other inputs; an array is a nested list.
        draws: the two exact values of the random input.
        wrt: the position, in ``wrt``, of the input whose gradient differs.
        gradients: the gradient for each draw, with enough digits to differ; for an array, the entry that differs.
        name: the name of the random input.
        entry: the index of the entry that differs; () for a number.
    """

    values: Mapping[str, ExactValue]
    draws: tuple[ExactValue, ExactValue]
    wrt: int
    gradients: tuple[str, str]
    name: str
    entry: tuple[int, ...] = ()

    def __str__(self) -> str:
        inputs = list(self.values.items())[:WITNESS_INPUTS_TOLD]
        at = ", ".join(f"{name} = {_text(value)}" for name, value in inputs)
        left = len(self.values) - len(inputs)
        more = f" and {left} more inputs" if left else ""
        where = f" in entry {list(self.entry)}" if self.entry else ""
        one, other = (
            f"{self.name} = {_text(draw)} gives {gradient}{where}"
            for draw, gradient in zip(self.draws, self.gradients, strict=True)
        )
        return f"{'at ' if at else ''}{at}{more}{', ' if at else ''}{one}, {other}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A witness with the value of every node for either draw."""

    witness: NoiseWitness
    first: Mapping[Node, Any]
    second: Mapping[Node, Any]
    level: PrecisionPair

    def differs(self, node: Node) -> bool:
        """Tell whether the value of a node depends on the draw, beyond rounding."""
        a: Any = self.first[node]
        b: Any = self.second[node]
        if any(isinstance(v, np.ndarray) for v in (a, b)):
            return any(map(self._differ, entries(a), entries(b)))
        return self._differ(a, b)

    def _differ(self, a: Any, b: Any) -> bool:
        if isinstance(a, bool) or isinstance(b, bool):
            return bool(a) != bool(b)
        return self.level.differ(a, b)


def requirements(outputs: Sequence[Node]) -> list[Node]:
    """Return the conditions under which the random inputs of outputs have valid distributions and values.

    The conditions read the nodes that compute parameters, so these nodes belong to the point.
    """
    return [c for s in symbols_of(outputs) for c in conditions_on(s)]


def find_evidence(y: Node, gradients: Sequence[Node], extra: Sequence[Node], source: Node) -> Evidence | None:
    """Search for two draws of a random input that give different gradients.

    Args:
        y: the differentiated value, which must exist at the point.
        gradients: the gradients.
        extra: further nodes to evaluate.
        source: the random input, a symbol.

    Returns:
        The evidence; None if no pair was found, which proves nothing.
    """
    order = topological([y, *gradients, *extra, *requirements([y, *gradients, *extra])])
    inputs = [s for s in symbols_of(order) if s is not source]
    landmarks = [n.value for n in order if n.op is NUMBER and not isinstance(n.value, bool)]
    candidates = draws(source, landmarks)
    seen, unseen = _proposals(order, y, gradients, source, inputs, candidates)
    most = max(1, min(WITNESS_PAIRS, WITNESS_WORK // len(order)))
    attempts = [(_NORMAL, seen[:most]), (_NORMAL, unseen[: (most + 1) // 2])]
    if most > 1:
        attempts.append((_DEEP, unseen[: most // 2]))
    for digits, proposals in attempts:
        level = PrecisionPair(digits)
        for index, one, other in proposals:
            point: dict[Node, Any] = {s: value_at(s, index) for s in inputs}
            pair = (candidates[one], candidates[other])
            evidence = _decide(level, order, y, gradients, source, point, pair)
            if evidence is not None:
                return evidence
    return None


def find_straddling(
    y: Node, gradients: Sequence[Node], extra: Sequence[Node], source: Node
) -> Evidence | None:
    """Search for two draws with a kink, a jump or a threshold between them; see `find_evidence` for the arguments."""
    order = topological([y, *gradients, *extra, *requirements([y, *gradients, *extra])])
    inputs = [s for s in symbols_of(order) if s is not source]
    candidates = sorted(draws(source, ()), key=float)
    if len(candidates) < 2 or len(order) > WITNESS_WORK // WITNESS_PAIRS:
        return None
    # Draws in the middle half are more likely; outer draws are further apart.
    pairs = [(candidates[1], candidates[-2]), (candidates[0], candidates[-1])]
    level = PrecisionPair(_NORMAL)
    landmarks = dict.fromkeys(n.value for n in order if n.op is NUMBER and not isinstance(n.value, bool))
    beside = [v + side for v in list(landmarks)[:_BASES] for side in (1, -1)]
    bases = [{s: value_at(s, k) for s in inputs} for k in range(_BASES)]
    bases += [{s: v if inside(domain_of(s), v) else value_at(s, 0) for s in inputs} for v in beside]
    for point in bases:
        for pair in pairs:
            try:
                for there in straddling(order, source, pair, point):
                    evidence = _decide(level, order, y, gradients, source, there, pair)
                    if evidence is not None:
                        return evidence
            except (SymgradError, ArithmeticError, ValueError):
                continue  # the point is outside the domain of an op
    return None


def _proposals(
    order: list[Node],
    y: Node,
    gradients: Sequence[Node],
    source: Node,
    inputs: Sequence[Node],
    candidates: Sequence[Number | bool],
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    """Yield triples (point, draw, draw): first those with a difference in float64, then those without."""
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
    for condition in requirements([y, *gradients]):
        usable &= np.broadcast_to(results[condition], shape)
    for node in order:
        if node.dtype != "bool":
            usable &= ~(
                np.abs(results[node]) > WIDEST_VALUE
            )  # NaN is allowed: it may be in a branch that is not taken
    usable &= np.isfinite(np.broadcast_to(results[y], shape))
    for gradient in gradients:
        usable &= np.isfinite(np.broadcast_to(results[gradient], shape))
    seen: list[tuple[int, int, int]] = []
    unseen: list[tuple[int, int, int]] = []
    for i in range(_POINTS):
        columns = [int(k) for k in np.flatnonzero(usable[i])]
        pairs = [(a, b) for n, a in enumerate(columns) for b in columns[n + 1 :]]
        lines = [np.broadcast_to(results[g], shape)[i] for g in gradients]
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


def _decide(
    level: PrecisionPair,
    order: list[Node],
    y: Node,
    gradients: Sequence[Node],
    source: Node,
    point: Mapping[Node, Number | bool],
    pair: tuple[Number | bool, Number | bool],
) -> Evidence | None:
    sides: list[tuple[dict[Node, Any], dict[Node, Any]]] = []
    for draw in pair:
        try:
            values = level.evaluate(order, {**point, source: draw})
        except (ArithmeticError, ValueError, TypeError, NotImplementedError):
            return (
                None  # the point is outside the domain of an op: a complex value, a pole, or no convergence
            )
        for mp, at in zip(level.contexts, values, strict=True):
            if not all(is_finite(mp, at[n]) for n in (y, *gradients)):
                return None
            if not all(at[c] for c in requirements([y, *gradients])):
                return None  # the point is outside the support of a distribution
        sides.append(values)
    low, high = ([side[k] for side in sides] for k in (0, 1))
    for i, gradient in enumerate(gradients):
        coarse, fine = low[1][gradient] - low[0][gradient], high[1][gradient] - high[0][gradient]
        rounded = abs(coarse - fine) > level.margin * abs(fine)
        if rounded or not level.differ(high[0][gradient], high[1][gradient]):
            continue
        sure = (
            settled(level, order, coarse, fine, {**point, source: draw})
            for coarse, fine, draw in zip(low, high, pair, strict=True)
        )
        if not all(sure):
            return None
        texts = level.texts(*([side[gradient] for side in sides] for sides in (low, high)))
        named = {s.name: v for s, v in point.items()}
        return Evidence(NoiseWitness(named, pair, i, texts, source.name), high[0], high[1], level)
    return None


def _text(value: ExactValue) -> str:
    if isinstance(value, list):
        shown = [_text(v) for v in value[:WITNESS_ENTRIES_TOLD]]
        return f"[{', '.join([*shown, *(['...'] if len(value) > WITNESS_ENTRIES_TOLD else [])])}]"
    return str(value) if isinstance(value, bool) else decimal_text(value) or number_text(value)
