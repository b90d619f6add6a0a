"""Find the pullbacks through which a gradient changes with a random input: change each one alone at a witness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from symgrad.analysis.explain.limits import REPLAYED_PULLBACKS
from symgrad.analysis.explain.noise.evidence import Evidence, differ
from symgrad.autodiff.trace import BackwardTrace, Pullback, placeholder
from symgrad.checker.balls.entries import box, elementwise, reduce_axes, unbox
from symgrad.checker.balls.scalar_ops import add, mul, neg, number
from symgrad.checker.numbers import context, fmpq
from symgrad.ir.graph import Node
from symgrad.rewrite.choice.certain_values import ball_values

_ZERO, _ONE = fmpq(0), fmpq(1)


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
    with context.workprec(evidence.bits):
        usual = _replayed(trace, evidence, None)
        return {i: differ(usual, _replayed(trace, evidence, i)) for i in reading}


def _is_array(step: Pullback) -> bool:
    return not step.node.op.pointwise or bool(step.node.shape)


def _of_numbers(trace: BackwardTrace, reading: Sequence[int], evidence: Evidence) -> dict[int, bool]:
    """Return the same for scalars: the gradient is affine in every coefficient, as no path passes an equation twice.

    A zero coefficient passes nothing on, not even to an infinite factor: guards are strong zeros.
    """
    first = evidence.first
    with context.workprec(evidence.bits):
        pulled: dict[Node, Any] = {o: number(first.get(seed, _ONE)) for o, seed in trace.outputs}
        for step in trace.steps:
            if step.node in pulled:
                passed = _passed(pulled[step.node], first[step.coefficient])
                pulled[step.target] = add(pulled.get(step.target, _ZERO), passed)
        pushed: dict[Node, Any] = {trace.wrt[evidence.witness.wrt]: _ONE}
        for step in reversed(trace.steps):
            if step.target in pushed:
                passed = _passed(pushed[step.target], first[step.coefficient])
                pushed[step.node] = add(pushed.get(step.node, _ZERO), passed)
        changes: dict[int, bool] = {}
        for i in reading:
            step = trace.steps[i]
            delta = add(evidence.second[step.coefficient], neg(first[step.coefficient]))
            around = mul(pulled.get(step.node, _ZERO), pushed.get(step.target, _ZERO))
            changes[i] = differ(mul(around, delta), _ZERO)
    return changes


def _passed(cotangent: Any, coefficient: Any) -> Any:
    return _ZERO if 0 in (cotangent, coefficient) else mul(cotangent, number(coefficient))


def _replayed(trace: BackwardTrace, evidence: Evidence, changed: int | None) -> Any:
    """Return the gradient for the first draw, except that one step has its coefficient for the second draw."""
    pulled: dict[Node, Any] = {o: evidence.first.get(seed, _ONE) for o, seed in trace.outputs}
    for i, step in enumerate(trace.steps):
        if step.node in pulled:
            values = evidence.second if i == changed else evidence.first
            contribution = _pulled(step, pulled[step.node], values, evidence.bits)
            pulled[step.target] = elementwise(add, pulled.get(step.target, _ZERO), contribution)
    return pulled.get(trace.wrt[evidence.witness.wrt], _ZERO)


def _pulled(step: Pullback, cotangent: Any, values: Mapping[Node, Any], bits: int) -> Any:
    shape = np.shape(values[step.target])
    whole = np.broadcast_to(box(cotangent), np.shape(values[step.node]))
    given = values if step.node.op.pointwise else {**values, placeholder(step.node): unbox(whole)}
    coefficient = ball_values([step.coefficient], given, bits)[step.coefficient]
    if not step.node.op.pointwise:
        return np.broadcast_to(box(coefficient), shape)
    product = elementwise(_passed, whole, coefficient)
    lead = product.ndim - len(shape)
    axes = [i for i in range(product.ndim) if i < lead or (shape[i - lead] == 1 and product.shape[i] != 1)]
    return np.reshape(reduce_axes(tuple(axes), product, lambda v: reduce(add, v, _ZERO)), shape)
