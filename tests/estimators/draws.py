"""Means and variances from ten million draws, held against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

DRAWS, BLOCK = 10**7, 10**6


def holds(draw: Callable[[np.random.Generator, int], Any], mean: float, variance: float) -> None:
    """See that mean and variance of numbers lie within 5 standard errors of those of draws.

    Args:
        draw: gives so many draws of the numbers, from a generator.
        mean, variance: what they are held against.
    """
    rng = np.random.default_rng(20240)
    sums = np.zeros(3)
    for _ in range(DRAWS // BLOCK):
        apart = draw(rng, BLOCK) - mean
        squares = apart * apart
        sums += apart.sum(), squares.sum(), squares @ squares
    first, second, fourth = sums / DRAWS
    assert abs(first) <= 5 * np.sqrt(second / DRAWS), f"the mean is {mean + first} in draws, not {mean}"
    error = np.sqrt((fourth - second**2) / DRAWS)
    assert abs(second - variance) <= 5 * error, f"the variance is {second} in draws, not {variance}"
