"""Gauss quadrature over one or two random inputs, with the orthogonal polynomials of their densities.

A rule has standard points e and weights w. The input is a function of e and of parameters, which may be symbols: mean +
sd*e for Normal. So a moment is one expression: a contraction with the weights (Golub and Welsch, 1969).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.analysis.expectations.assumptions import Undecided
from symgrad.analysis.expectations.families.table import parameters_of, values_of
from symgrad.ir.graph import OPS, Node, as_node, constant, symbol
from symgrad.ir.traverse import readers, substitute, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.contraction import contract
from symgrad.ops.array.layout import concatenate, move_up
from symgrad.ops.control import as_computed
from symgrad.ops.scalar.elementary import hypot
from symgrad.ops.scalar.logic import where
from symgrad.support.progress import reports_progress
from symgrad.support.traversal import walk

Points: TypeAlias = tuple[Any, Any]
# There is a type for each number of parameters, so that the type checker can check the lambdas in the table.
Place: TypeAlias = "Callable[[Node, Node], Node] | Callable[[Node, Node, Node], Node]"
Density: TypeAlias = "Callable[[float], float] | Callable[[float, float, float], float]"


@dataclass(frozen=True, slots=True)
class GaussRule:
    """The quadrature rule of a family.

    Args:
        points: a function that returns points and weights; it takes the order, then those parameters on which the
            standard points and weights depend, as floats.
        place: a function that returns the input; it takes the parameters and a standard point.
        density: a function that returns the density at a standard point; it takes the point, then those parameters.
            None for a discrete distribution.
        low: the lower bound of standard points.
        high: the upper bound of standard points.
        shapes: the positions of those parameters that change the rule.
    """

    points: Callable[..., Points]
    place: Place
    density: Density | None
    low: float = -math.inf
    high: float = math.inf
    shapes: tuple[int, ...] = ()

    def input(self, parameters: list[Node], e: Node) -> Node:
        """Return the input at a standard point."""
        return cast("Callable[..., Node]", self.place)(*parameters, e)


def _hermite(order: int) -> Points:
    from scipy.special import roots_hermitenorm  # a late import, for a quick start; so are those below

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
    from scipy.special import gammaln, xlogy  # see _hermite

    points = np.arange(
        int(rate + 14 * math.sqrt(rate)) + order
    )  # beyond these points, the tail is negligible
    return points.astype(float), np.exp(xlogy(points, rate) - rate - gammaln(points + 1))


def _exp(x: Node) -> Node:
    return OPS["exp"](x)


def _gauss(e: float) -> float:
    return math.exp(-e * e / 2) / math.sqrt(2 * math.pi)


def _gamma_density(e: float, k: float = 1.0) -> float:
    return math.exp((k - 1) * math.log(e) - e - math.lgamma(k)) if e > 0 else 0.0


def _beta_density(e: float, a: float, b: float) -> float:
    whole = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(whole + (a - 1) * math.log(e) + (b - 1) * math.log1p(-e)) if 0 < e < 1 else 0.0


def _two_tails(e: float) -> float:
    return math.exp(-abs(e)) / 2


def _half(e: float) -> float:
    del e
    return 0.5


RULES: Mapping[str, GaussRule] = {
    "Normal": GaussRule(_hermite, lambda mean, sd, e: mean + sd * e, _gauss),
    "LogNormal": GaussRule(_hermite, lambda mean, sd, e: _exp(mean + sd * e), _gauss),
    "Uniform": GaussRule(_legendre, lambda a, b, e: (a + b) / 2 + (b - a) / 2 * e, _half, -1, 1),
    "Exponential": GaussRule(_laguerre, lambda rate, e: e / rate, _gamma_density, 0),
    "Gamma": GaussRule(_laguerre, lambda k, theta, e: theta * e, _gamma_density, 0, shapes=(0,)),
    "Beta": GaussRule(_jacobi, lambda a, b, e: e, _beta_density, 0, 1, shapes=(0, 1)),
    "Laplace": GaussRule(_two_sided, lambda mean, scale, e: mean + scale * e, _two_tails),
    "Poisson": GaussRule(_counts, lambda rate, e: e, None, shapes=(0,)),
    "Cauchy": GaussRule(
        _legendre, lambda x0, scale, e: x0 + scale * OPS["tan"](constant("pi") / 2 * e), _half, -1, 1
    ),
}


_INPUTS = 2  # number of random inputs
_ORDER = 32  # number of points of Gauss quadrature for each random input
_CLOSE = 1e-6  # relative difference of two orders that counts as convergence
_PIECES = 100  # number of subdivisions of an interval
_GRID = 400  # number of points between which kinks are searched for
_KINKS = 8  # number of kinks of one op


class Quadrature:
    """Moments of functions of one or two scalar random inputs, by Gauss quadrature.

    Args:
        outputs: entrywise nodes.
        sources: one or two scalar random inputs, with continuous families.

    Raises:
        Undecided: if the program is not of this kind.
    """

    def __init__(self, outputs: Sequence[Node], sources: Sequence[Node]) -> None:
        if not 0 < len(sources) <= _INPUTS or any(s.shape for s in sources):
            raise Undecided
        if not all(n.op.pointwise for n in topological(outputs)):
            raise Undecided
        self.sources = list(sources)
        self.rank = max(len(o.shape) for o in outputs)
        self.points: list[Node] = []
        self.rules: list[GaussRule] = []
        replaced: dict[Node, Node] = {}
        for i, s in enumerate(sources):
            name, parameters = parameters_of(s)
            rule = RULES.get(name)
            if values_of(s) is not None or rule is None:
                raise Undecided
            e = symbol(Declaration(f"{s.name}'", REAL, (f"{s.name}'", *[1] * (self.rank + i))))
            replaced[s] = rule.input(parameters, e)
            self.points.append(e)
            self.rules.append(rule)
        self.outputs = substitute(as_computed(outputs), replaced)
        order = topological(self.outputs)
        noisy = readers(order, self.points)
        self.kinks = [n for n in order if n in noisy and _has_kinks(n)]

    def numbers(self, values: Mapping[Node, Any], order: int) -> tuple[list[Any], Any]:
        """Return the outputs at all points of a rule, and the weights; the axes of the points come first."""
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
        shape = (*weights.shape[: len(self.sources)], *[1] * self.rank)
        return [np.broadcast_to(f, np.broadcast_shapes(np.shape(f), shape)) for f in found], weights

    @reports_progress("moments", "integrating")
    def mean(self, values: Mapping[Node, Any], of: Callable[..., Any]) -> tuple[Any, Any]:
        """Return the expectation of a function of the outputs; the error is estimated from another order.

        Args:
            values: the values of all other symbols.
            of: the function; it takes the outputs and their expectations.

        Raises:
            Undecided: if the integral does not seem to converge absolutely.
        """
        # A sum over integers needs no pieces: a kink between two integers does no harm.
        smooth = not self.kinks or all(rule.density is None for rule in self.rules)
        methods = [self._by_orders] if smooth else []
        if len(self.sources) == 1 and self.rules[0].density is not None:
            methods.append(self._adaptively)
        for method in methods:
            try:
                return method(values, of)
            except Undecided:
                continue
        raise Undecided

    def _by_orders(self, values: Mapping[Node, Any], of: Callable[..., Any]) -> tuple[Any, Any]:
        axes = tuple(range(len(self.sources)))
        sizes: list[Any] = []
        means: list[Any] = []
        for n in (_ORDER, 2 * _ORDER, 4 * _ORDER):
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

    def _adaptively(self, values: Mapping[Node, Any], of: Callable[..., Any]) -> tuple[Any, Any]:
        """Integrate over the standard points, separately between neighbouring kinks."""
        import scipy.integrate  # a late import, for a quick start

        quad_vec: Any = cast("Any", scipy.integrate).quad_vec
        (s,), (e,), (rule,) = self.sources, self.points, self.rules
        parameters = parameters_of(s)[1]
        shapes = [float(x) for x in evaluate([parameters[j] for j in rule.shapes], values)]
        edges = self._edges(values)
        assert rule.density is not None
        density = cast("Callable[..., float]", rule.density)

        def weighted(function: Callable[[list[Any]], Any]) -> Callable[[float], Any]:
            def at(x: float) -> Any:
                w = density(x, *shapes)
                if not w:
                    return zero
                found = evaluate(self.outputs, {**values, e: np.full([1] * (self.rank + 1), x)})
                with np.errstate(all="ignore"):
                    return np.broadcast_to(function(found) * w, np.shape(zero) if self.rank else (1,))

            return at

        def integral(function: Callable[[list[Any]], Any]) -> tuple[Any, Any]:
            total: Any = 0.0
            error: Any = 0.0
            for low, high in itertools.pairwise(edges):
                part, off, status = quad_vec(
                    weighted(function), low, high, epsabs=1e-12, epsrel=1e-10, limit=_PIECES, full_output=True
                )
                if not status.success and off > _CLOSE * max(1e-300, float(np.max(np.abs(part)))):
                    raise Undecided
                total, error = total + part, error + off
            if not np.all(np.isfinite(total)):
                raise Undecided
            return np.reshape(total, np.shape(zero)[1:])[()], error

        start = evaluate(self.outputs, {**values, e: np.full([1] * (self.rank + 1), 0.5)})
        zero = np.zeros(np.broadcast_shapes((1,), *map(np.shape, start)))
        means = [integral(_item(i))[0] for i in range(len(self.outputs))]
        value, error = integral(lambda found: of(found, means))
        size, _ = integral(lambda found: np.abs(of(found, means)))
        return value, _small(np.maximum(error, 4e-14 * size), size)

    def _edges(self, values: Mapping[Node, Any]) -> list[float]:
        """Return the ends and the kinks between them: the sign changes of the arguments of ops with kinks."""
        import scipy.optimize  # a late import, for a quick start

        brentq: Any = cast("Any", scipy.optimize).brentq
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

            def value(x: float, switch: Node = switch) -> float:
                return float(evaluate([switch], {**values, e: x})[0])

            for i in np.flatnonzero(np.sign(y[1:]) * np.sign(y[:-1]) < 0)[:_KINKS]:
                found.add(float(brentq(value, grid[i], grid[i + 1])))
        return [rule.low, *sorted(found), rule.high]

    def expression(self) -> Node | None:
        """Return the expectation of the first output as one node; None if the rule depends on symbols."""
        if self.rank:
            return None
        weights: Node = as_node(1)
        labels: list[int] = []
        replaced: dict[Node, Node] = {}
        for i, (s, e, rule) in enumerate(zip(self.sources, self.points, self.rules, strict=True)):
            parameters = [parameters_of(s)[1][j] for j in rule.shapes]
            if not all(p.is_number() for p in parameters):
                return None
            points, w = rule.points(_ORDER, *[float(p.value) for p in parameters])
            replaced[e] = _array(points, (len(points), *[1] * i))
            weights = weights * _array(w, (len(points), *[1] * i))
            labels.insert(0, i)
        (found,) = substitute(self.outputs[:1], replaced)
        if len(found.shape) != len(labels):
            return None
        return contract([weights, found], [labels, labels], ())


def first(found: Sequence[Any], means: Sequence[Any]) -> Any:
    """Return the first output; ``means`` is not used: an expectation is wanted, not a variance."""
    del means
    return found[0]


def _item(i: int) -> Callable[[list[Any]], Any]:
    return lambda found: found[i]


def _small(error: Any, size: Any) -> Any:
    """Return an error if it is small compared with the integral of the absolute value.

    Raises:
        Undecided: if it is not small.
    """
    if not np.all(error <= _CLOSE * np.maximum(size, 1e-300)):
        raise Undecided
    return error


def _has_kinks(node: Node) -> bool:
    return node.op in (where, hypot) or (node.op.gives != "bool" and bool(node.op.switches))


def _switches(node: Node) -> list[Node]:
    """Return expressions that vanish at the kinks of an op."""
    args = node.args
    if node.op is hypot:
        return [args[0]]
    if node.op is where:
        parts = walk(args[:1], lambda c: c.args if c.dtype == "bool" and not c.op.switches else ())
        return [d for c in parts if c.op.switches and c.args[0].dtype != "bool" for d in _switches(c)]
    return [args[0] if i is None else args[0] - args[i] for _, i in node.op.switches]


def _array(numbers: Any, shape: tuple[int, ...]) -> Node:
    entries = [move_up(as_node(float(x)), (1,)) for x in numbers]
    whole = concatenate(*entries, params=(0,)) if len(entries) > 1 else entries[0]
    return move_up(whole, shape)
