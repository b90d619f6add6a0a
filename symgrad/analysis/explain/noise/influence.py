"""Find the pullbacks through which a gradient changes with a random input: change each one alone at a witness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.analysis.explain.limits import REPLAYED_PULLBACKS
from symgrad.analysis.explain.noise.sample_points import entries
from symgrad.analysis.explain.noise.witness import Evidence
from symgrad.autodiff.trace import BackwardTrace, Pullback, placeholder
from symgrad.ir.graph import Node
from symgrad.ir.values.evaluate import evaluate_mp


def influence_of(trace: BackwardTrace, reading: Sequence[int], evidence: Evidence) -> dict[int, bool]:
    """Tell for each step whether the gradient changes if only the coefficient of this step is that of the second draw.

    Args:
        trace: the backward pass.
        reading: the positions of the steps.
        evidence: the two draws.

    Returns:
        A truth value for each of ``reading``; none if there is too much to evaluate.
    """
    if all(s.coefficient in evidence.first and not _is_array(s) for s in trace.steps):
        return _of_numbers(trace, reading, evidence)
    if len(trace.steps) * (len(reading) + 1) > REPLAYED_PULLBACKS:
        return {}
    usual = _replayed(trace, evidence, None)
    return {i: _differ(evidence, usual, _replayed(trace, evidence, i)) for i in reading}


def _is_array(step: Pullback) -> bool:
    return not step.node.op.pointwise or bool(step.node.shape)


def _of_numbers(trace: BackwardTrace, reading: Sequence[int], evidence: Evidence) -> dict[int, bool]:
    """Return the same for scalars: the gradient is affine in every coefficient, as no path passes an equation twice.

    A zero coefficient passes nothing on, not even to an infinite factor: guards are strong zeros.
    """
    first = evidence.first
    pulled: dict[Node, Any] = {o: first.get(seed, 1) for o, seed in trace.outputs}
    for step in trace.steps:
        coefficient = first[step.coefficient]
        if coefficient != 0 and step.node in pulled:
            pulled[step.target] = pulled.get(step.target, 0) + pulled[step.node] * coefficient
    pushed: dict[Node, Any] = {trace.wrt[evidence.witness.wrt]: 1}
    for step in reversed(trace.steps):
        coefficient = first[step.coefficient]
        if coefficient != 0 and step.target in pushed:
            pushed[step.node] = pushed.get(step.node, 0) + pushed[step.target] * coefficient
    changes: dict[int, bool] = {}
    for i in reading:
        step = trace.steps[i]
        if not evidence.differs(step.coefficient):
            changes[i] = False
            continue
        delta = evidence.second[step.coefficient] - first[step.coefficient]
        changes[i] = pulled.get(step.node, 0) * delta * pushed.get(step.target, 0) != 0
    return changes


def _replayed(trace: BackwardTrace, evidence: Evidence, changed: int | None) -> Any:
    """Return the gradient for the first draw, except that one step has its coefficient for the second draw."""
    pulled: dict[Node, Any] = {o: evidence.first.get(seed, 1) for o, seed in trace.outputs}
    for i, step in enumerate(trace.steps):
        if step.node in pulled:
            values = evidence.second if i == changed else evidence.first
            contribution = _pulled(step, pulled[step.node], values, evidence.level.contexts[0])
            pulled[step.target] = pulled.get(step.target, 0) + contribution
    return pulled.get(trace.wrt[evidence.witness.wrt], 0)


def _pulled(step: Pullback, cotangent: Any, values: Mapping[Node, Any], mp: Any) -> Any:
    shape = np.shape(values[step.target])
    whole = np.broadcast_to(np.asarray(cotangent, dtype=object), np.shape(values[step.node]))
    if not step.node.op.pointwise:
        given = {**values, placeholder(step.node): whole if step.node.shape else whole[()]}
        return np.broadcast_to(np.asarray(evaluate_mp(mp, [step.coefficient], given)[0], dtype=object), shape)
    coefficient = np.asarray(evaluate_mp(mp, [step.coefficient], values)[0], dtype=object)
    product = np.asarray(np.where(coefficient == 0, 0, whole * coefficient), dtype=object)
    lead = product.ndim - len(shape)
    axes = [i for i in range(product.ndim) if i < lead or (shape[i - lead] == 1 and product.shape[i] != 1)]
    return np.reshape(np.sum(product, axis=tuple(axes)), shape)


def _differ(evidence: Evidence, one: Any, other: Any) -> bool:
    pairs = np.broadcast_arrays(np.asarray(one, dtype=object), np.asarray(other, dtype=object))
    return any(evidence.level.differ(p, q) for p, q in zip(*map(entries, pairs), strict=True))
