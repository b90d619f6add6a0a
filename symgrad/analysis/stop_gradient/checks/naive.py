"""The backward pass of other frameworks: products in floats, where zero times infinity is NaN."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from symgrad.analysis.stop_gradient.checks.points import Batch, Points
from symgrad.autodiff.linearise import linearise
from symgrad.autodiff.trace import placeholder
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import topological


class _Factors(NamedTuple):
    """What the pullback of a framework may read.

    Attributes:
        cotangent: the cotangent of the result.
        guard: where the partial is not zero by structure.
        partial: the partial where the guard holds.
        out: the result of the operation.
        args: its arguments.
    """

    cotangent: Any
    guard: Any
    partial: Any
    out: Any
    args: Sequence[Any]


_Rule: TypeAlias = "Callable[[_Factors], Any]"
"""What an argument receives."""


def _product(f: _Factors) -> Any:
    return f.cotangent * np.where(f.guard, f.partial, 0.0)


def _selection(f: _Factors) -> Any:
    return np.where(f.guard, f.cotangent * f.partial, 0.0)


def _zeros(f: _Factors) -> Any:
    return np.zeros(np.shape(f.out))


def _by_sign(f: _Factors) -> Any:
    return cast("Any", np.where(np.asarray(f.args[0]) >= 0, f.cotangent, -f.cotangent))


def _power_of_base(f: _Factors) -> Any:
    x, y = (np.asarray(a, dtype=float) for a in f.args)
    return f.cotangent * (y * np.power(x, y - 1))


def _power_but_for_zero(f: _Factors) -> Any:
    return np.where(np.asarray(f.args[1]) == 0, 0.0, f.cotangent * f.partial)


def _power_of_exponent(f: _Factors) -> Any:
    x = np.asarray(f.args[0], dtype=float)
    return f.cotangent * (f.out * np.log(np.where(x > 0, x, 1.0)))


def _half_at_zero(f: _Factors) -> Any:
    return f.cotangent * np.where(np.asarray(f.out) == 0, 0.5, f.partial)


def _zero_at_zero(f: _Factors) -> Any:
    zeros = [np.asarray(a) == 0 for a in f.args]
    return f.cotangent * np.where(zeros[0] & zeros[1], 0.0, f.partial)


def _zero_stays(f: _Factors) -> Any:
    return np.where(f.cotangent == 0, 0.0, f.cotangent * f.partial)


_SELECTED = dict.fromkeys(("where", "clip", "maximum", "minimum"), _selection)
_STEPS = ("floor", "ceil", "round", "sign")

_RULES: Mapping[str, Mapping[str | tuple[str, int], _Rule | None]] = {
    "JAX": {
        **dict.fromkeys(_STEPS),
        "where": _selection,
        "relu": _selection,
        "abs": _by_sign,
        ("pow", 0): _power_of_base,
        "hypot": _half_at_zero,
    },
    "torch": {
        **_SELECTED,
        **dict.fromkeys(_STEPS, _zeros),
        "relu": _selection,
        ("pow", 0): _power_but_for_zero,
        ("pow", 1): _selection,
        "atan2": _zero_at_zero,
    },
    "TensorFlow": {
        **_SELECTED,
        **dict.fromkeys(_STEPS),
        "sign": _zeros,
        "sqrt": _zero_stays,
        ("pow", 0): _power_of_base,
        ("pow", 1): _power_of_exponent,
    },
}
"""Ops, or arguments of ops, whose backward pass is not the product of cotangent and partial; None if nothing is sent.

A test compares this with the frameworks.
"""

_CONE = {"JAX", "TensorFlow"}
"""Frameworks in which the norm of zeros has the gradient 0/0; in torch the gradient is 0."""

FRAMEWORKS = tuple(_RULES)

_NAMES = {"jax": "JAX", "torch": "torch", "tensorflow": "TensorFlow", "keras": "TensorFlow"}


def frameworks_of(name: str | None) -> tuple[str, ...]:
    """Return the frameworks in which a program runs: the named one, or all; NumPy has no backward pass of its own."""
    return (_NAMES[name],) if name in _NAMES else FRAMEWORKS


class BackwardStep(NamedTuple):
    """A pullback of a framework, from an equation to one of its arguments.

    Attributes:
        node: the equation.
        argument: the position of the argument.
        guard: the condition under which the partial is not zero by structure; None if there is none.
        coefficient: the partial where the guard holds; for an op that is not pointwise, the op's pullback of the
            `placeholder` of the node.
    """

    node: Node
    argument: int
    guard: Node | None
    coefficient: Node

    @property
    def target(self) -> Node:
        """The argument."""
        return self.node.args[self.argument]


@lru_cache(maxsize=16)
def steps_of(y: Node, wrt: tuple[Node, ...]) -> tuple[BackwardStep, ...]:
    """Return the pullbacks of a program, from the output back; frameworks also send what is zero by structure.

    Args:
        y: the program.
        wrt: the nodes to differentiate with respect to.
    """
    order = topological([y])
    active = {w for w in wrt if w.dtype == "real"}
    for n in order:
        if n.dtype == "real" and "stops" not in n.op.facts and any(a in active for a in n.args):
            active.add(n)
    found: list[BackwardStep] = []
    reached = {y}
    for n in reversed(order):
        if n.op is SYMBOL or n not in reached or n not in active or "stops" in n.op.facts:
            continue
        wanted = [a in active and a.dtype == "real" for a in n.args]
        if n.op.pull is None:
            own_slope = "given-slope" in n.op.facts
            for term in linearise(n, wanted, zeros=not own_slope):
                found.append(BackwardStep(n, term.argument, term.coefficient.guard, term.coefficient.value))
                reached.add(n.args[term.argument])
            continue
        for i, coefficient in enumerate(n.op.pull(n, placeholder(n), wanted)):
            if coefficient is not None and not coefficient.is_number(0):
                found.append(BackwardStep(n, i, None, coefficient))
                reached.add(n.args[i])
    return tuple(found)


@dataclass(frozen=True, slots=True)
class NaiveBackward:
    """The result of a framework at a batch of points.

    Args:
        framework: the framework.
        bad: for each point, whether the value is finite and a gradient is NaN.
        origins: for each step that makes a NaN from finite cotangents, a mask of the points.
        values: the values of the nodes that the steps read.
        gradients: the gradient with respect to each of wrt.
    """

    framework: str
    bad: np.ndarray
    origins: Mapping[int, np.ndarray]
    values: Mapping[Node, Any]
    gradients: Mapping[Node, Any]

    def derivative(self, step: BackwardStep) -> Any:
        """Return what a step sends for the cotangent 1, at all points; for an op that is not pointwise, 0."""
        if not step.node.op.pointwise:
            cone = step.node.op.name == "norm" and self.framework in _CONE
            return np.where(cone & (np.asarray(self.values[step.node]) == 0), np.nan, 0.0)
        rule = _rule(self.framework, step)
        with np.errstate(all="ignore"):
            return (
                np.zeros(()) if rule is None else np.asarray(_by_rule(rule, step, np.float64(1), self.values))
            )


def backward(
    y: Node, wrt: tuple[Node, ...], points: Points, batch: Batch, framework: str
) -> NaiveBackward | None:
    """Run a backward pass at points; return None if it cannot be computed.

    Args:
        y: the number that is differentiated.
        wrt: the nodes to differentiate with respect to.
        points: the object that evaluates nodes at points.
        batch: the points.
        framework: the framework to simulate.
    """
    steps = steps_of(y, wrt)
    wanted = [y]
    for s in steps:
        wanted += [s.node, *s.node.args]
        if s.node.op.pointwise:
            wanted += [s.coefficient, *([] if s.guard is None else [s.guard])]
    wanted = list(dict.fromkeys(wanted))
    found = points.evaluate(wanted, batch)
    if found is None:
        return None
    values = dict(zip(wanted, found, strict=True))
    count = points.count(batch)
    pulled: dict[Node, Any] = {y: np.ones(count) if points.vector else np.float64(1)}
    origins: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for i, step in enumerate(steps):
            cotangent, rule = pulled.get(step.node), _rule(framework, step)
            if cotangent is None or rule is None:
                continue
            sent = _sent(step, rule, cotangent, values, points, batch, framework)
            if sent is None:
                return None
            new = _any(np.isnan(sent), points) & ~_any(np.isnan(cotangent), points)
            if np.any(new):
                origins[i] = np.broadcast_to(new, (count,))
            pulled[step.target] = pulled.get(step.target, 0) + sent
    bad = np.zeros(count, dtype=bool)
    gradients = {w: np.asarray(pulled.get(w, 0.0), dtype=float) for w in wrt}
    for gradient in gradients.values():
        bad |= _any(np.isnan(gradient), points)
    infinite = _any(~np.isfinite(np.asarray(values[y], dtype=float)), points)
    return NaiveBackward(framework, bad & ~infinite, origins, values, gradients)


def _rule(framework: str, step: BackwardStep) -> _Rule | None:
    rules, name = _RULES[framework], step.node.op.name
    return rules.get((name, step.argument), rules.get(name, _product))


def _by_rule(rule: _Rule, step: BackwardStep, cotangent: Any, values: Mapping[Node, Any]) -> Any:
    guard = True if step.guard is None else values[step.guard]
    partial = np.asarray(values[step.coefficient], dtype=float)
    return rule(_Factors(cotangent, guard, partial, values[step.node], [values[a] for a in step.node.args]))


def _any(mask: Any, points: Points) -> Any:
    """Return a mask of points: a batch of scalars has one entry for each.

    An array has all of its entries for one point.
    """
    return mask if points.vector else np.atleast_1d(np.any(mask))


def _sent(
    step: BackwardStep,
    rule: _Rule,
    cotangent: Any,
    values: Mapping[Node, Any],
    points: Points,
    batch: Batch,
    framework: str,
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
    sent = _by_rule(rule, step, cotangent, values)
    if points.vector:
        return sent
    shape = np.shape(values[target])
    sent = np.broadcast_to(sent, np.broadcast_shapes(np.shape(sent), np.shape(values[node])))
    lead = sent.ndim - len(shape)
    axes = tuple(i for i in range(sent.ndim) if i < lead or (shape[i - lead] == 1 and sent.shape[i] != 1))
    return np.reshape(np.sum(sent, axis=axes), shape)
