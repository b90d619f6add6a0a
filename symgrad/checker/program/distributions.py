"""Supports of distributions: a statement about a random variable is a statement about all values in its support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from symgrad.support.errors import UsageError

Interval: TypeAlias = "tuple[str, Fraction | None, Fraction | None]"
"""An open interval of real or integer numbers; None is no bound."""


@dataclass(frozen=True, slots=True)
class ProofDistribution:
    """A distribution with its parameters."""

    family: str
    parameters: tuple[Fraction, ...]


_REALS: Interval = ("real", None, None)
_POSITIVE: Interval = ("real", Fraction(0), None)

# The number of parameters, the indices of those that must be positive, and the support if the parameters do not change
# it.
_FAMILIES: Mapping[str, tuple[int, tuple[int, ...], Interval | None]] = {
    "Uniform": (2, (), None),
    "Normal": (2, (1,), _REALS),
    "LogNormal": (2, (1,), _POSITIVE),
    "Exponential": (1, (0,), _POSITIVE),
    "Gamma": (2, (0, 1), _POSITIVE),
    "Beta": (2, (0, 1), ("real", Fraction(0), Fraction(1))),
    "Laplace": (2, (1,), _REALS),
    "Cauchy": (2, (1,), _REALS),
    "Bernoulli": (1, (), None),
    "Poisson": (1, (0,), ("int", Fraction(-1), None)),
}


def support(drawn: ProofDistribution) -> Interval:
    """Return the support of a distribution: its kind, and the excluded ends.

    Raises:
        UsageError: if there is no such distribution.

    Example:
        >>> support(ProofDistribution("Bernoulli", (Fraction(0),)))
        ('int', Fraction(-1, 1), Fraction(1, 1))
    """
    count, positive, values = _FAMILIES.get(drawn.family, (-1, (), None))
    p = drawn.parameters
    if len(p) == count and all(p[i] > 0 for i in positive):
        if values is not None:
            return values
        if drawn.family == "Uniform" and p[0] < p[1]:
            return "real", p[0], p[1]
        if drawn.family == "Bernoulli" and 0 <= p[0] <= 1:
            return "int", Fraction(0 if p[0] == 1 else -1), Fraction(1 if p[0] == 0 else 2)
    raise UsageError(f"{drawn.family} has no such parameters")
