"""Programs with one random input, and their moments by numeric integration, independent of the package."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.integrate as integrate
import scipy.stats as stats

from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.traverse import symbols_of
from symgrad.moments.expectation import expectation, variance
from symgrad.moments.given import Budget
from symgrad.moments.moment import Moment

CLOSED = Budget(seconds=0)
"""Without SymPy: what the rows say alone."""

FROZEN: dict[str, Callable[..., Any]] = {
    "Normal": lambda m, s: stats.norm(m, s),
    "LogNormal": lambda m, s: stats.lognorm(s, scale=math.exp(m)),
    "Uniform": lambda a, b: stats.uniform(a, b - a),
    "Exponential": lambda r: stats.expon(scale=1 / r),
    "Gamma": lambda k, t: stats.gamma(k, scale=t),
    "Beta": lambda a, b: stats.beta(a, b),
    "Laplace": lambda m, s: stats.laplace(m, s),
    "Poisson": lambda r: stats.poisson(r),
    "Bernoulli": lambda p: stats.bernoulli(p),
}
"""SciPy's distributions, by our names and parameters."""


def program(family: str, parameters: Sequence[Fraction], text: str) -> Listing:
    """Return the program of a function of u with parameters t : real and s : positive."""
    said = ", ".join(str(p) for p in parameters)
    return parse_program(f"t : real\ns : positive\nu ~ {family}({said})\ny = {text}")


def moments(listing: Listing, budget: Budget = CLOSED) -> tuple[Moment, Moment]:
    """Return the expectation and the variance of y over all random inputs."""
    y = listing["y"]
    sources = [s for s in symbols_of([y]) if s.declaration.distribution is not None]
    return expectation([y], sources, budget)[0], variance([y], sources, budget)[0]


def values(listing: Listing, t: float | Fraction, s: float | Fraction) -> dict[Node, Any]:
    return {listing["t"]: t, listing["s"]: s}


def numeric(
    family: str, parameters: Sequence[Fraction], f: Callable[[Any], Any], cuts: Sequence[float] = ()
) -> float:
    """Return the expectation of a function by SciPy's quad, between its kinks."""
    law = FROZEN[family](*map(float, parameters))
    if family in {"Poisson", "Bernoulli"}:
        k = np.arange(400 if family == "Poisson" else 2)
        return float(np.sum(f(k) * law.pmf(k)))
    low, high = law.support()
    inner = [float(law.ppf(q)) for q in (1e-9, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-9)]
    edges = sorted({low, high, *(c for c in (*cuts, *inner) if low < c < high)})
    total = 0.0
    for a, b in zip(edges, edges[1:], strict=False):
        total += integrate.quad(lambda x: float(f(x)) * float(law.pdf(x)), a, b, limit=200)[0]
    return total
