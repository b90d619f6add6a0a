"""The backward pass as other frameworks run it: products in floats, where zero times infinity is NaN.

symgrad itself guards such products (a strong zero stays zero), so the fault is seen only here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.analysis.stop_gradient.checks.points import Batch, Points
from symgrad.autodiff.trace import BackwardTrace, placeholder
from symgrad.ir.graph import Node

__all__ = ["FRAMEWORKS", "NaiveBackward", "backward"]

_SELECTS: Mapping[str, frozenset[str]] = {
    "JAX": frozenset({"where", "relu"}),
    "torch": frozenset({"where", "clip", "maximum", "minimum", "relu"}),
    "TensorFlow": frozenset({"where", "clip", "maximum", "minimum"}),
}
"""Whose backward selects the cotangent; that of the others multiplies it by a mask. A test runs them."""

_LEAVES_ZEROS: Mapping[str, frozenset[str]] = {
    "JAX": frozenset(),
    "torch": frozenset(),
    "TensorFlow": frozenset({"sqrt"}),
}
"""Whose backward leaves a cotangent of 0 alone, whatever the derivative is."""

_CONE = {"JAX", "TensorFlow"}
"""Where the norm of zeros has the gradient 0/0; torch's has 0."""

FRAMEWORKS = tuple(_SELECTS)


@dataclass(frozen=True, slots=True)
class NaiveBackward:
    """What a framework computes at a batch of points.

    Args:
        bad: for each point whether the value is finite and a gradient is NaN.
        origins: for each step that makes a NaN of what has none, for each point whether it does.
        values: of all that the steps read.
        gradients: by what one differentiates by.
    """

    bad: np.ndarray
    origins: Mapping[int, np.ndarray]
    values: Mapping[Node, Any]
    gradients: Mapping[Node, Any]


def backward(
    trace: BackwardTrace, y: Node, points: Points, batch: Batch, framework: str
) -> NaiveBackward | None:
    """Run a backward pass at points; None where it cannot be computed.

    Args:
        trace: of a number.
        y: that number.
        points: what evaluates.
        batch: the points.
        framework: whose rules it follows.
    """
    wanted = list(
        dict.fromkeys(
            [
                y,
                *(
                    n
                    for s in trace.steps
                    for n in (s.node, s.target, *([s.coefficient] if s.node.op.pointwise else ()))
                ),
            ]
        )
    )
    found = points.evaluate(wanted, batch)
    if found is None:
        return None
    values = dict(zip(wanted, found, strict=True))
    count = points.count(batch)
    pulled: dict[Node, Any] = {y: np.ones(count) if points.vector else np.float64(1)}
    origins: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for i, step in enumerate(trace.steps):
            cotangent = pulled.get(step.node)
            if cotangent is None:
                continue
            sent = _sent(step, cotangent, values, points, batch, framework)
            if sent is None:
                return None
            made = np.isnan(sent)
            if points.vector:
                new = made & ~np.isnan(cotangent)
            else:
                new = np.atleast_1d(bool(np.any(made)) and not bool(np.any(np.isnan(cotangent))))
            if np.any(new):
                origins[i] = np.broadcast_to(new, (count,))
            pulled[step.target] = pulled.get(step.target, 0) + sent
    value = np.asarray(values[y], dtype=float)
    finite = (
        np.broadcast_to(np.isfinite(value), (count,))
        if points.vector
        else np.atleast_1d(np.isfinite(value).all())
    )
    bad = np.zeros(count, dtype=bool)
    gradients = {w: np.asarray(pulled.get(w, 0.0), dtype=float) for w in trace.wrt}
    for each in gradients.values():
        gradient = np.isnan(each)
        bad |= np.broadcast_to(gradient, (count,)) if points.vector else bool(gradient.any())
    return NaiveBackward(bad & finite, origins, values, gradients)


def _sent(
    step: Any, cotangent: Any, values: Mapping[Node, Any], points: Points, batch: Batch, framework: str
) -> Any:
    node, target = step.node, step.target
    if not node.op.pointwise:
        if node.op.name == "norm" and framework in _CONE and np.any(np.asarray(values[node]) == 0):
            return np.full(np.shape(values[target]), np.nan)
        whole = np.broadcast_to(np.asarray(cotangent, dtype=float), np.shape(values[node]))
        given = {
            **batch,
            **{n: values[n] for n in (node, *node.args) if n in values},
            placeholder(node): whole,
        }
        found = points.evaluate([step.coefficient], given)
        return (
            None
            if found is None
            else np.broadcast_to(np.asarray(found[0], dtype=float), np.shape(values[target]))
        )
    coefficient = np.asarray(values[step.coefficient], dtype=float)
    if node.op.name in _SELECTS[framework]:
        sent = np.where(coefficient == 0, 0.0, cotangent * coefficient)
    else:
        sent = cotangent * coefficient
    if node.op.name in _LEAVES_ZEROS[framework]:
        sent = np.where(cotangent == 0, 0.0, sent)
    if points.vector:
        return sent
    shape = np.shape(values[target])
    sent = np.broadcast_to(sent, np.broadcast_shapes(np.shape(sent), np.shape(values[node])))
    lead = sent.ndim - len(shape)
    axes = tuple(i for i in range(sent.ndim) if i < lead or (shape[i - lead] == 1 and sent.shape[i] != 1))
    return np.reshape(np.sum(sent, axis=axes), shape)
