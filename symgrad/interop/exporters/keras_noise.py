"""Sample noise with Keras: values of a distribution, for a given shape, dtype and seed.

The module also imports Keras, if it is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from symgrad.api.missing_framework import not_installed
from symgrad.ir.listing import one_of
from symgrad.ir.types import Distribution
from symgrad.support.errors import UnsupportedError

__all__ = ["DRAWN", "draw_values", "keras"]

try:
    keras: Any = import_module("keras")  # the type information of Keras is wrong
except ImportError as error:
    raise not_installed("keras", error) from error


DRAWN = ("Uniform", "Normal", "LogNormal", "Laplace", "Exponential", "Gamma", "Beta", "Bernoulli")
"""The distributions that can be sampled."""


def draw_values(distribution: Distribution, shape: tuple[Any, ...], dtype: str, seed: Any) -> Any:
    """Sample a distribution.

    Args:
        distribution: a distribution of `DRAWN`.
        shape: the shape of the array.
        dtype: float32 or float64.
        seed: a number, or a seed generator of Keras.
    """
    p, q = (*map(float, distribution.parameters), 0.0)[:2]
    how: dict[str, Any] = {"dtype": dtype, "seed": seed}
    ops, random = keras.ops, keras.random
    match distribution.name:
        case "Uniform":
            return random.uniform(shape, p, q, **how)
        case "Normal":
            return random.normal(shape, p, q, **how)
        case "LogNormal":
            return ops.exp(random.normal(shape, p, q, **how))
        case "Laplace":
            v = random.uniform(shape, -0.5, 0.5, **how)
            return p - q * ops.sign(v) * ops.log1p(-2 * ops.abs(v))
        case "Exponential":
            return -ops.log1p(-random.uniform(shape, 0.0, 1.0, **how)) / p
        case "Gamma":
            return q * random.gamma(shape, p, **how)
        case "Beta":
            return random.beta(shape, p, q, **how)
        case "Bernoulli":
            return random.uniform(shape, 0.0, 1.0, **how) < p
        case name:
            raise UnsupportedError(f"Keras cannot draw from {name}", expected=one_of(DRAWN))
