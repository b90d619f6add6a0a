"""Families whose values are real numbers.

Means, variances and densities are from N. L. Johnson, S. Kotz and N. Balakrishnan, Continuous Univariate
Distributions, 2nd edition, with the parameters of ``sympy.stats``.
"""

from __future__ import annotations

from collections.abc import Callable

from symgrad.ir.graph import Node, as_node, constant
from symgrad.ops.random.family import Family, Named, register
from symgrad.ops.scalar.elementary import exp, expm1, log, sqrt
from symgrad.ops.scalar.logic import all_of, lt, where
from symgrad.ops.scalar.rounding import abs as abs_
from symgrad.ops.special.gamma import gamma

_PI = constant("pi")


def _inside(value: Node, density: Node, low: Node | int, high: Node | int | None = None) -> Node:
    ends = [lt(as_node(low), value)] + ([] if high is None else [lt(value, as_node(high))])
    return where(all_of(*ends), density, as_node(0))


def _normal(v: Node, mean: Node, sd: Node) -> Node:
    return exp(-((v - mean) ** 2) / (2 * sd**2)) / (sqrt(2 * _PI) * sd)


def _standard(name: str, *parameters: int) -> Callable[..., Named]:
    """Return a function of the parameters to a constant standard distribution."""
    return lambda *_: (name, tuple(map(as_node, parameters)))


register(
    Family(
        name="Uniform",
        mean=lambda low, high: (low + high) / 2,
        variance=lambda low, high: (high - low) ** 2 / 12,
        density=lambda v, low, high: _inside(v, 1 / (high - low), low, high),
        standard=_standard("Uniform", 0, 1),
        transform=lambda draw, low, high: low + (high - low) * draw,
        draw=lambda rng, shape, low, high: rng.uniform(low, high, size=shape),
    ),
    Family(
        name="Normal",
        mean=lambda mean, sd: mean,
        variance=lambda mean, sd: sd**2,
        density=_normal,
        standard=_standard("Normal", 0, 1),
        transform=lambda draw, mean, sd: mean + sd * draw,
        draw=lambda rng, shape, mean, sd: rng.normal(mean, sd, size=shape),
    ),
    Family(
        name="LogNormal",
        mean=lambda mean, sd: exp(mean + sd**2 / 2),
        # (exp(sd**2) - 1)*exp(2*mean + sd**2); the first factor is computed without cancellation for a small sd.
        variance=lambda mean, sd: expm1(sd**2) * exp(2 * mean + sd**2),
        density=lambda v, mean, sd: _inside(v, _normal(log(v), mean, sd) / v, 0),
        standard=_standard("Normal", 0, 1),
        transform=lambda draw, mean, sd: exp(mean + sd * draw),
        draw=lambda rng, shape, mean, sd: rng.lognormal(mean, sd, size=shape),
    ),
    Family(
        name="Exponential",
        mean=lambda rate: 1 / rate,
        variance=lambda rate: 1 / rate**2,
        density=lambda v, rate: _inside(v, rate * exp(-rate * v), 0),
        standard=_standard("Exponential", 1),
        transform=lambda draw, rate: draw / rate,
        draw=lambda rng, shape, rate: rng.exponential(1 / rate, size=shape),
    ),
    Family(
        name="Gamma",
        mean=lambda k, theta: k * theta,
        variance=lambda k, theta: k * theta**2,
        density=lambda v, k, theta: _inside(v, v ** (k - 1) * exp(-v / theta) / (gamma(k) * theta**k), 0),
        # No smooth transformation removes the shape k.
        standard=lambda k, theta: ("Gamma", (k, as_node(1))),
        transform=lambda draw, k, theta: theta * draw,
        draw=lambda rng, shape, k, theta: rng.gamma(k, theta, size=shape),
    ),
    Family(
        name="Beta",
        mean=lambda a, b: a / (a + b),
        variance=lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1)),
        density=lambda v, a, b: _inside(
            v, v ** (a - 1) * (1 - v) ** (b - 1) / (gamma(a) * gamma(b) / gamma(a + b)), 0, 1
        ),
        standard=None,
        transform=None,
        draw=lambda rng, shape, a, b: rng.beta(a, b, size=shape),
    ),
    Family(
        name="Laplace",
        mean=lambda mean, scale: mean,
        variance=lambda mean, scale: 2 * scale**2,
        density=lambda v, mean, scale: exp(-abs_(v - mean) / scale) / (2 * scale),
        standard=_standard("Laplace", 0, 1),
        transform=lambda draw, mean, scale: mean + scale * draw,
        draw=lambda rng, shape, mean, scale: rng.laplace(mean, scale, size=shape),
    ),
    Family(
        name="Cauchy",
        mean=None,  # the integral of abs(v)*density does not converge
        variance=None,
        density=lambda v, x0, scale: 1 / (_PI * scale * (1 + ((v - x0) / scale) ** 2)),
        standard=_standard("Cauchy", 0, 1),
        transform=lambda draw, x0, scale: x0 + scale * draw,
        draw=lambda rng, shape, x0, scale: x0 + scale * rng.standard_cauchy(size=shape),
    ),
)
