"""Which values a random variable takes: the checker's own table, as a statement about it is one about all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from symgrad.support.errors import UsageError

__all__ = ["ProofDistribution", "support"]

Interval: TypeAlias = "tuple[str, Fraction | None, Fraction | None]"
"""Real or integer numbers between two ends, which are excluded; None is no end."""


@dataclass(frozen=True, slots=True)
class ProofDistribution:
    """A distribution with its parameters."""

    family: str
    parameters: tuple[Fraction, ...]


_REALS: Interval = ("real", None, None)
_POSITIVE: Interval = ("real", Fraction(0), None)

# How many parameters there are, which of them are positive, and the values where these are the same for all.
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
    """Return the kind and the ends of the values of a distribution; the ends of an interval do not count.

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
