"""Densities of random inputs, as formulas: which of their values are more frequent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symgrad.ir.graph import OPS, Node, as_node, constant
from symgrad.ops.scalar.logic import all_of

__all__ = ["density"]


def _inside(value: Node, density: Node, low: Any, high: Any = None) -> Node:
    ends = [OPS["lt"](as_node(low), value)] + ([] if high is None else [OPS["lt"](value, as_node(high))])
    return OPS["where"](all_of(*ends), density, as_node(0))


def _exp(x: Node) -> Node:
    return OPS["exp"](x)


def _normal(v: Node, mean: Node, sd: Node) -> Node:
    root = OPS["sqrt"](2 * constant("pi"))
    return _exp(-((v - mean) ** 2) / (2 * sd**2)) / (root * sd)


def _beta(v: Node, a: Node, b: Node) -> Node:
    gamma = OPS["gamma"]
    whole = gamma(a) * gamma(b) / gamma(a + b)
    return _inside(v, v ** (a - 1) * (1 - v) ** (b - 1) / whole, 0, 1)


def _uniform(v: Node, low: Node, high: Node) -> Node:
    return _inside(v, 1 / (high - low), low, high)


def _lognormal(v: Node, mean: Node, sd: Node) -> Node:
    return _inside(v, _normal(OPS["log"](v), mean, sd) / v, 0)


def _exponential(v: Node, rate: Node) -> Node:
    return _inside(v, rate * _exp(-rate * v), 0)


def _gamma(v: Node, k: Node, theta: Node) -> Node:
    return _inside(v, v ** (k - 1) * _exp(-v / theta) / (OPS["gamma"](k) * theta**k), 0)


def _laplace(v: Node, mean: Node, scale: Node) -> Node:
    return _exp(-OPS["abs"](v - mean) / scale) / (2 * scale)


# The parameters are those of `symgrad.ir.types.DISTRIBUTIONS`.
_DENSITIES: Mapping[str, Callable[..., Node]] = {
    "Uniform": _uniform,
    "Normal": _normal,
    "LogNormal": _lognormal,
    "Exponential": _exponential,
    "Gamma": _gamma,
    "Beta": _beta,
    "Laplace": _laplace,
}


def density(source: Node, value: Node) -> Node | None:
    r"""Return the density of a random input at a value; None if its values are single points.

    Args:
        source: the random input.
        value: where; an array has the density of each entry.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.spell.printer import str_text
        >>> p = parse_program("t : real\nu ~ Exponential(2)")
        >>> str_text(density(p["u"], p["t"]))
        'where(0 < t, 2*exp(-2*t), 0)'
    """
    distribution = source.declaration.distribution
    found = None if distribution is None else _DENSITIES.get(distribution.name)
    return (
        None
        if found is None or distribution is None
        else found(value, *map(as_node, distribution.parameters))
    )
