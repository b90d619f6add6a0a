"""The backward pass of other frameworks: products in floats, where zero times infinity is NaN.

symgrad guards such products (a strong zero stays zero), so only this simulation shows the fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.analysis.stop_gradient.checks.points import Batch, Points
from symgrad.autodiff.trace import BackwardTrace, placeholder
from symgrad.ir.graph import Node

_SELECTS: Mapping[str, frozenset[str]] = {
    "JAX": frozenset({"where", "relu"}),
    "torch": frozenset({"where", "clip", "maximum", "minimum", "relu"}),
    "TensorFlow": frozenset({"where", "clip", "maximum", "minimum"}),
}
"""Ops whose backward pass selects the cotangent; the backward pass of all other ops multiplies it by a mask.

A test compares this with the frameworks.
"""

_LEAVES_ZEROS: Mapping[str, frozenset[str]] = {
    "JAX": frozenset(),
    "torch": frozenset(),
    "TensorFlow": frozenset({"sqrt"}),
}
"""Ops whose backward pass keeps a zero cotangent zero for any derivative."""

_CONE = {"JAX", "TensorFlow"}
"""Frameworks in which the norm of zeros has the gradient 0/0; in torch the gradient is 0."""

FRAMEWORKS = tuple(_SELECTS)

_NAMES = {"jax": "JAX", "torch": "torch", "tensorflow": "TensorFlow", "keras": "TensorFlow"}


def frameworks_of(name: str | None) -> tuple[str, ...]:
    """Return the frameworks in which a program runs: the named one, or all; NumPy has no backward pass of its own."""
    return (_NAMES[name],) if name in _NAMES else FRAMEWORKS


@dataclass(frozen=True, slots=True)
class NaiveBackward:
    """The result of a framework at a batch of points.

    Args:
        bad: for each point, whether the value is finite and a gradient is NaN.
        origins: for each step that makes a NaN from finite cotangents, a mask of the points.
        values: the values of the nodes that the steps read.
        gradients: the gradient with respect to each of wrt.
    """

    bad: np.ndarray
    origins: Mapping[int, np.ndarray]
    values: Mapping[Node, Any]
    gradients: Mapping[Node, Any]


def backward(
    trace: BackwardTrace, y: Node, points: Points, batch: Batch, framework: str
) -> NaiveBackward | None:
    """Run a backward pass at points; return None if it cannot be computed.

    Args:
        trace: the backward pass of a number.
        y: the number that is differentiated.
        points: the object that evaluates nodes at points.
        batch: the points.
        framework: the framework to simulate.
    """
    wanted = [y]
    for s in trace.steps:
        wanted += [s.node, s.target, *([s.coefficient] if s.node.op.pointwise else ())]
    wanted = list(dict.fromkeys(wanted))
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
            new = _any(np.isnan(sent), points) & ~_any(np.isnan(cotangent), points)
            if np.any(new):
                origins[i] = np.broadcast_to(new, (count,))
            pulled[step.target] = pulled.get(step.target, 0) + sent
    bad = np.zeros(count, dtype=bool)
    gradients = {w: np.asarray(pulled.get(w, 0.0), dtype=float) for w in trace.wrt}
    for gradient in gradients.values():
        bad |= _any(np.isnan(gradient), points)
    infinite = _any(~np.isfinite(np.asarray(values[y], dtype=float)), points)
    return NaiveBackward(bad & ~infinite, origins, values, gradients)


def _any(mask: Any, points: Points) -> Any:
    """Return a mask of points: a batch of scalars has one entry for each.

    An array has all of its entries for one point.
    """
    return mask if points.vector else np.atleast_1d(np.any(mask))


def _sent(
    step: Any, cotangent: Any, values: Mapping[Node, Any], points: Points, batch: Batch, framework: str
) -> Any:
    node, target = step.node, step.target
    if not node.op.pointwise:
        if node.op.name == "norm" and framework in _CONE and np.any(np.asarray(values[node]) == 0):
            return np.full(np.shape(values[target]), np.nan)
        whole = np.broadcast_to(np.asarray(cotangent, dtype=float), np.shape(values[node]))
        known = {n: values[n] for n in (node, *node.args) if n in values}
        found = points.evaluate([step.coefficient], {**batch, **known, placeholder(node): whole})
        if found is None:
            return None
        return np.broadcast_to(np.asarray(found[0], dtype=float), np.shape(values[target]))
    coefficient = np.asarray(values[step.coefficient], dtype=float)
    sent = cotangent * coefficient
    if node.op.name in _SELECTS[framework]:
        sent = np.where(coefficient == 0, 0.0, sent)
    if node.op.name in _LEAVES_ZEROS[framework]:
        sent = np.where(cotangent == 0, 0.0, sent)
    if points.vector:
        return sent
    shape = np.shape(values[target])
    sent = np.broadcast_to(sent, np.broadcast_shapes(np.shape(sent), np.shape(values[node])))
    lead = sent.ndim - len(shape)
    axes = tuple(i for i in range(sent.ndim) if i < lead or (shape[i - lead] == 1 and sent.shape[i] != 1))
    return np.reshape(np.sum(sent, axis=axes), shape)
