"""Gauss quadrature over one or two random inputs, by the polynomials that are orthogonal for their densities.

A rule has standard points e and weights w, and the input is written with them, with parameters that may be symbols:
Normal is mean + sd*e. So a moment is one expression, a contraction with the weights (Golub and Welsch, 1969).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.ir.graph import OPS, Node, as_node, constant, symbol
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.moments.families.table import parameters_of, values_of
from symgrad.moments.given import Undecided
from symgrad.ops.array.contraction import contract
from symgrad.ops.array.layout import concatenate, move_up
from symgrad.ops.control import as_computed

__all__ = ["Quadrature"]

_MOST = 2  # random inputs
_CLOSE = 1e-7  # relative difference of two orders that is taken for convergence
_TAIL = 1e-18  # probability that a truncated sum leaves out

Points = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """How an input is written with standard points.

    Args:
        points: points and weights of an order, from the parameters that change the rule, as floats.
        place: the input, from its parameters and a standard point.
        shapes: which of the parameters change the rule.
    """

    points: Callable[..., Points]
    place: Callable[..., Node]
    shapes: tuple[int, ...] = ()


def _hermite(order: int) -> Points:
    from scipy.special import roots_hermitenorm  # for start-up time, as below

    points, weights = roots_hermitenorm(order)
    return points, weights / weights.sum()


def _legendre(order: int) -> Points:
    from scipy.special import roots_legendre  # see _hermite

    points, weights = roots_legendre(order)
    return points, weights / 2


def _laguerre(order: int, k: float = 1.0) -> Points:
    from scipy.special import roots_genlaguerre  # see _hermite

    points, weights = roots_genlaguerre(order, k - 1)
    return points, weights / weights.sum()


def _two_sided(order: int) -> Points:
    points, weights = _laguerre(order)
    return np.concatenate([-points[::-1], points]), np.concatenate([weights[::-1], weights]) / 2


def _jacobi(order: int, a: float, b: float) -> Points:
    from scipy.special import roots_jacobi  # see _hermite

    points, weights = roots_jacobi(order, b - 1, a - 1)
    return (1 + points) / 2, weights / weights.sum()


def _counts(order: int, rate: float) -> Points:
    from scipy.stats import poisson  # see _hermite

    del order  # the sum goes as far as there is probability
    points = np.arange(int(poisson.isf(_TAIL, rate)) + 10)
    return points.astype(float), poisson.pmf(points, rate)


def _exp(x: Node) -> Node:
    return OPS["exp"](x)


_RULES: Mapping[str, Rule] = {
    "Normal": Rule(_hermite, lambda mean, sd, e: mean + sd * e),
    "LogNormal": Rule(_hermite, lambda mean, sd, e: _exp(mean + sd * e)),
    "Uniform": Rule(_legendre, lambda low, high, e: (low + high) / 2 + (high - low) / 2 * e),
    "Exponential": Rule(_laguerre, lambda rate, e: e / rate),
    "Gamma": Rule(_laguerre, lambda k, theta, e: theta * e, (0,)),
    "Beta": Rule(_jacobi, lambda a, b, e: e, (0, 1)),
    "Laplace": Rule(_two_sided, lambda mean, scale, e: mean + scale * e),
    "Poisson": Rule(_counts, lambda rate, e: e, (0,)),
    "Cauchy": Rule(_legendre, lambda x0, scale, e: x0 + scale * OPS["tan"](constant("pi") / 2 * e)),
}


class Quadrature:
    """The moments of functions of one or two random inputs, all of them numbers, by Gauss quadrature.

    Args:
        outputs: nodes that act entry by entry.
        sources: the random inputs, at most two, without axes; some may have few values.

    Raises:
        Undecided: if the program is of another kind.
    """

    def __init__(self, outputs: Sequence[Node], sources: Sequence[Node]) -> None:
        if not 0 < len(sources) <= _MOST or any(s.shape for s in sources):
            raise Undecided
        if not all(n.op.pointwise for n in topological(outputs)):
            raise Undecided
        self.sources = list(sources)
        self.rank = max(len(o.shape) for o in outputs)
        self.points: list[Node] = []
        self.rules: list[Rule] = []
        replaced: dict[Node, Node] = {}
        for i, s in enumerate(sources):
            name, parameters = parameters_of(s)
            rule = _RULES.get(name)
            if values_of(s) is not None or rule is None:
                raise Undecided
            e = symbol(Declaration(f"{s.name}'", REAL, (f"{s.name}'", *[1] * (self.rank + i))))
            replaced[s] = rule.place(*parameters, e)
            self.points.append(e)
            self.rules.append(rule)
        self.outputs = substitute(as_computed(outputs), replaced)

    def numbers(self, values: Mapping[Node, Any], order: int) -> tuple[list[Any], Any]:
        """Return the outputs at all points of a rule, points first, and their weights."""
        given = dict(values)
        weights: Any = np.ones([1] * (self.rank + len(self.sources)))
        for i, (s, e, rule) in enumerate(zip(self.sources, self.points, self.rules, strict=True)):
            _, parameters = parameters_of(s)
            shapes = evaluate([parameters[j] for j in rule.shapes], values)
            points, w = rule.points(order, *map(float, shapes))
            axes = (len(points), *[1] * (self.rank + i))
            given[e] = points.reshape(axes)
            weights = weights * w.reshape(axes)
        found = evaluate(self.outputs, given)
        shape = weights.shape[: len(self.sources)]
        whole = [np.broadcast_to(f, np.broadcast_shapes(np.shape(f), (*shape, *[1] * self.rank))) for f in found]
        return whole, weights

    def mean(self, values: Mapping[Node, Any], order: int, of: Callable[..., Any]) -> tuple[Any, Any]:
        """Return the expectation of a function of the outputs, and its error by another order.

        Raises:
            Undecided: if it does not converge absolutely, as far as orders tell.
        """
        axes = tuple(range(len(self.sources)))
        sizes: list[Any] = []
        means: list[Any] = []
        for n in (order, 2 * order, 4 * order):
            outputs, weights = self.numbers(values, n)
            with np.errstate(all="ignore"):
                f = of(outputs, weights, axes)
                means.append(np.sum(f * weights, axis=axes))
                sizes.append(np.sum(np.abs(f) * weights, axis=axes))
        first, second, third = sizes
        grows = np.abs(third - second) > 0.6 * np.abs(second - first)
        if np.any(grows & (np.abs(third - second) > 1e-6 * np.abs(third))) or not np.all(np.isfinite(means)):
            raise Undecided
        error = np.maximum(np.abs(means[2] - means[1]), np.abs(means[2] - means[0]) / 8)
        error = np.maximum(error, 4e-14 * sizes[2])
        if np.any(error > _CLOSE * np.maximum(sizes[2], 1e-300)):
            raise Undecided
        return means[2], error

    def expression(self, order: int) -> Node | None:
        """Return the expectation of the first output as one node; None where the rule depends on symbols."""
        if self.rank:
            return None
        weights: Node = as_node(1)
        labels: list[int] = []
        replaced: dict[Node, Node] = {}
        for i, (s, e, rule) in enumerate(zip(self.sources, self.points, self.rules, strict=True)):
            parameters = [parameters_of(s)[1][j] for j in rule.shapes]
            if not all(p.is_number() for p in parameters):
                return None
            points, w = rule.points(order, *[float(p.value) for p in parameters])
            replaced[e] = _array(points, (len(points), *[1] * i))
            weights = weights * _array(w, (len(points), *[1] * i))
            labels.insert(0, i)
        (found,) = substitute(self.outputs[:1], replaced)
        if len(found.shape) != len(labels):
            return None
        return contract([weights, found], [labels, labels], ())


def _array(numbers: Any, shape: tuple[int, ...]) -> Node:
    entries = [move_up(as_node(float(x)), (1,)) for x in numbers]
    whole = concatenate(*entries, params=(0,)) if len(entries) > 1 else entries[0]
    return move_up(whole, shape)
