"""Programs with one random input, and their moments by numeric integration, independent of the package."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.stats as stats

from symgrad.analysis.expectations.assumptions import MomentOptions
from symgrad.analysis.expectations.expectation import expectation, variance
from symgrad.analysis.expectations.moment import Moment
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.printer import str_text
from symgrad.ir.traverse import symbols_of

CLOSED = MomentOptions(seconds=0)
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


def moments(listing: Listing, options: MomentOptions = CLOSED) -> tuple[Moment, Moment]:
    """Return the expectation and the variance of y over all random inputs."""
    y = listing["y"]
    sources = [s for s in symbols_of([y]) if s.declaration.distribution is not None]
    return expectation([y], sources, options)[0], variance([y], sources, options)[0]


def said(moment: Moment) -> str:
    """Return the formula of a moment as text."""
    assert moment.node is not None
    return str_text(moment.node)


def values(listing: Listing, t: float | Fraction, s: float | Fraction) -> dict[Node, Any]:
    return {listing["t"]: t, listing["s"]: s}


def numeric(
    family: str, parameters: Sequence[Fraction], f: Callable[[Any], Any], cuts: Sequence[float] = ()
) -> float:
    """Return the expectation of a function by numeric integration, between its kinks."""
    law = FROZEN[family](*map(float, parameters))
    if family in {"Poisson", "Bernoulli"}:
        k = np.arange(400 if family == "Poisson" else 2)
        k = k[law.pmf(k) > 1e-280]  # beyond, functions overflow
        return float(np.sum(f(k) * law.pmf(k)))
    # The tanh-sinh rule between the kinks, which singular ends do not disturb (Takahasi and Mori, 1974).
    low, high = (
        float(end) if math.isfinite(end) else float(far(1e-200))
        for end, far in zip(law.support(), (law.ppf, law.isf), strict=True)
    )
    inner = [float(law.ppf(q)) for q in (1e-6, 0.05, 0.5, 0.95, 1 - 1e-6)]
    edges = sorted({low, high, *(c for c in (*cuts, *inner) if low < c < high)})
    k = np.linspace(-3.5, 3.5, 301)
    bend = np.pi / 2 * np.sinh(k)
    weights = np.pi / 2 * np.cosh(k) / np.cosh(bend) ** 2 * (k[1] - k[0]) / 2
    total = 0.0
    for a, b in itertools.pairwise(edges):
        x = np.where(k < 0, a + (b - a) / (1 + np.exp(-2 * bend)), b - (b - a) / (1 + np.exp(2 * bend)))
        inside = (x > a) & (x < b)
        with np.errstate(all="ignore"):
            y = np.where(inside, f(x) * law.pdf(x), 0.0)
        total += float(np.sum(np.where(np.isfinite(y), y, 0.0) * weights) * (b - a))
    return total
