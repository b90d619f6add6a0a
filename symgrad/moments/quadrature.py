"""Gauss quadrature over one or two random inputs, by the polynomials that are orthogonal for their densities.

A rule has standard points e and weights w, and the input is written with them, with parameters that may be symbols:
Normal is mean + sd*e. So a moment is one expression, a contraction with the weights (Golub and Welsch, 1969).
"""

from __future__ import annotations

import itertools
import math
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
_CLOSE = 1e-6  # relative difference of two orders that is taken for convergence
_GRID = 400  # points between which kinks are looked for
_KINKED = frozenset({"abs", "sign", "where", "maximum", "minimum", "relu", "clip", "hypot"})

Points = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """How an input is written with standard points.

    Args:
        points: points and weights of an order, from the parameters that change the rule, as floats.
        place: the input, from its parameters and a standard point.
        density: of the standard points, from these parameters; None for whole numbers.
        low, high: between which standard points lie.
        shapes: which of the parameters change the rule.
    """

    points: Callable[..., Points]
    place: Callable[..., Node]
    density: Callable[..., Any] | None
    low: float = -math.inf
    high: float = math.inf
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

    points = np.arange(int(rate + 14 * math.sqrt(rate)) + order)  # far beyond where there is probability
    return points.astype(float), poisson.pmf(points, rate)


def _exp(x: Node) -> Node:
    return OPS["exp"](x)


def _gauss(e: float) -> float:
    return math.exp(-e * e / 2) / math.sqrt(2 * math.pi)


def _gamma_density(e: float, k: float = 1.0) -> float:
    return math.exp((k - 1) * math.log(e) - e - math.lgamma(k)) if e > 0 else 0.0


def _beta_density(e: float, a: float, b: float) -> float:
    whole = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(whole + (a - 1) * math.log(e) + (b - 1) * math.log1p(-e)) if 0 < e < 1 else 0.0


def _half(e: float) -> float:
    del e
    return 0.5


_RULES: Mapping[str, Rule] = {
    "Normal": Rule(_hermite, lambda mean, sd, e: mean + sd * e, _gauss),
    "LogNormal": Rule(_hermite, lambda mean, sd, e: _exp(mean + sd * e), _gauss),
    "Uniform": Rule(_legendre, lambda a, b, e: (a + b) / 2 + (b - a) / 2 * e, _half, -1, 1),
    "Exponential": Rule(_laguerre, lambda rate, e: e / rate, _gamma_density, 0),
    "Gamma": Rule(_laguerre, lambda k, theta, e: theta * e, _gamma_density, 0, shapes=(0,)),
    "Beta": Rule(_jacobi, lambda a, b, e: e, _beta_density, 0, 1, shapes=(0, 1)),
    "Laplace": Rule(_two_sided, lambda mean, scale, e: mean + scale * e, lambda e: math.exp(-abs(e)) / 2),
    "Poisson": Rule(_counts, lambda rate, e: e, None, shapes=(0,)),
    "Cauchy": Rule(_legendre, lambda x0, scale, e: x0 + scale * OPS["tan"](constant("pi") / 2 * e), _half, -1, 1),
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
        noisy = set(self.points)
        kinks: list[Node] = []
        for n in topological(self.outputs):
            if any(a in noisy for a in n.args):
                noisy.add(n)
                if n.op.name in _KINKED or "piecewise-constant" in n.op.facts:
                    kinks.append(n)
        self.kinks = kinks

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

        Args:
            values: for every other symbol.
            order: how many points, and twice as many to compare.
            of: the function: of the outputs, and the expectations of these.

        Raises:
            Undecided: if it does not converge absolutely, as far as orders tell.
        """
        methods = [] if self.kinks else [self._by_orders]
        if len(self.sources) == 1 and self.rules[0].density is not None:
            methods.append(self._adaptively)
        for method in methods:
            try:
                return method(values, order, of)
            except Undecided:
                continue
        raise Undecided

    def _by_orders(self, values: Mapping[Node, Any], order: int, of: Callable[..., Any]) -> tuple[Any, Any]:
        axes = tuple(range(len(self.sources)))
        sizes: list[Any] = []
        means: list[Any] = []
        for n in (order, 2 * order, 4 * order):
            outputs, weights = self.numbers(values, n)
            with np.errstate(all="ignore"):
                f = of(outputs, [np.sum(o * weights, axis=axes) for o in outputs])
                means.append(np.sum(f * weights, axis=axes))
                sizes.append(np.sum(np.abs(f) * weights, axis=axes))
        first, second, third = sizes
        grows = np.abs(third - second) > 0.6 * np.abs(second - first)
        if np.any(grows & (np.abs(third - second) > 1e-6 * np.abs(third))) or not np.all(np.isfinite(means)):
            raise Undecided
        error = np.maximum(np.abs(means[2] - means[1]), np.abs(means[2] - means[0]) / 8)
        error = np.maximum(error, 4e-14 * sizes[2])
        return means[2], _small(error, sizes[2])

    def _adaptively(self, values: Mapping[Node, Any], _order: int, of: Callable[..., Any]) -> tuple[Any, Any]:
        """Over the standard points themselves, piece by piece between the kinks."""
        from scipy.integrate import quad_vec  # see _hermite

        (s,), (e,), (rule,) = self.sources, self.points, self.rules
        parameters = parameters_of(s)[1]
        shapes = [float(x) for x in evaluate([parameters[j] for j in rule.shapes], values)]
        edges = self._edges(values)
        assert rule.density is not None
        density = rule.density

        def weighted(function: Callable[[list[Any]], Any]) -> Callable[[float], Any]:
            def at(x: float) -> Any:
                w = density(x, *shapes)
                if not w:
                    return zero
                found = evaluate(self.outputs, {**values, e: np.full([1] * (self.rank + 1), x)})
                with np.errstate(all="ignore"):
                    return np.broadcast_to(function(found) * w, (1, *[1] * self.rank) if not self.rank else np.shape(zero))

            return at

        def integral(function: Callable[[list[Any]], Any]) -> tuple[Any, Any]:
            total, error = 0.0, 0.0
            for low, high in itertools.pairwise(edges):
                part, apart, told = quad_vec(
                    weighted(function), low, high, epsabs=1e-12, epsrel=1e-10, limit=400, full_output=True
                )
                if not told.success and apart > _CLOSE * max(1e-300, float(np.max(np.abs(part)))):
                    raise Undecided
                total, error = total + part, error + apart
            if not np.all(np.isfinite(total)):
                raise Undecided
            return np.reshape(total, np.shape(zero)[1:]), error

        start = evaluate(self.outputs, {**values, e: np.full([1] * (self.rank + 1), 0.5)})
        zero = np.zeros(np.broadcast_shapes((1,), *map(np.shape, start)))
        means = [integral(_item(i))[0] for i in range(len(self.outputs))]
        value, error = integral(lambda found: of(found, means))
        size, _ = integral(lambda found: np.abs(of(found, means)))
        return value, _small(np.maximum(error, 4e-14 * size), size)

    def _edges(self, values: Mapping[Node, Any]) -> list[float]:
        """Return the ends and the kinks between them: where an argument of an op that has one changes its sign."""
        from scipy.optimize import brentq  # see _hermite

        (e,), (rule,) = self.points, self.rules
        grid = np.linspace(-1, 1, _GRID + 1)[1:-1] + 1e-9
        if math.isinf(rule.high):
            grid = np.tan(grid * math.pi / 2) if math.isinf(rule.low) else (1 + grid) / (1 - grid)
        elif rule.low == 0:
            grid = (1 + grid) / 2
        found = {0.0} if rule.low < 0 < rule.high else set[float]()
        switches = [w for n in self.kinks for w in _switches(n) if not self.rank]
        for switch in switches:
            y = np.broadcast_to(evaluate([switch], {**values, e: grid})[0], grid.shape)
            for i in np.flatnonzero(np.sign(y[1:]) * np.sign(y[:-1]) < 0)[:8]:
                found.add(
                    brentq(lambda x: float(evaluate([switch], {**values, e: x})[0]), grid[i], grid[i + 1])  # noqa: B023
                )
        return [rule.low, *sorted(found), rule.high]

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


def _item(i: int) -> Callable[[list[Any]], Any]:
    return lambda found: found[i]


def _small(error: Any, size: Any) -> Any:
    """Return an error that is small beside what was integrated.

    Raises:
        Undecided: if it is not.
    """
    if not np.all(error <= _CLOSE * np.maximum(size, 1e-300)):
        raise Undecided
    return error


def _switches(node: Node) -> list[Node]:
    """Return what is zero where an op has its kink."""
    name, args = node.op.name, node.args
    if name in {"abs", "sign", "relu", "hypot"}:
        return [args[0]]
    if name in {"maximum", "minimum"}:
        return [args[0] - args[1]]
    if name == "clip":
        return [args[0] - args[1], args[0] - args[2]]
    if name != "where":
        return []
    found: list[Node] = []
    pending = [args[0]]
    while pending:
        c = pending.pop()
        if c.op.name in {"and_", "or_", "not_", "xor"}:
            pending += c.args
        elif c.op.name in {"lt", "le", "gt", "ge", "eq", "ne"} and c.args[0].dtype != "bool":
            found.append(c.args[0] - c.args[1])
    return found


def _array(numbers: Any, shape: tuple[int, ...]) -> Node:
    entries = [move_up(as_node(float(x)), (1,)) for x in numbers]
    whole = concatenate(*entries, params=(0,)) if len(entries) > 1 else entries[0]
    return move_up(whole, shape)
