"""Rules of Gauss quadrature: standard points and weights for each family, and inputs as functions of the points."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.ir.graph import OPS, Node, constant

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
