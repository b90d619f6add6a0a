"""Probabilities of regions, and signs of products: compared with the distribution functions of SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, SupportsFloat

import numpy as np
import pytest
import scipy.stats as stats

from symgrad.analysis.expectations.expectation import expectation
from symgrad.frontend.text import parse_program
from tests.analysis.expectations.programs import CLOSED

_LAWS: dict[str, Any] = {
    "Normal(1/4, 3/4)": stats.norm(0.25, 0.75),
    "LogNormal(-1/4, 3/8)": stats.lognorm(0.375, scale=math.exp(-0.25)),
    "Uniform(-1/2, 5/4)": stats.uniform(-0.5, 1.75),
    "Exponential(9/4)": stats.expon(scale=4 / 9),
    "Gamma(5/2, 3/8)": stats.gamma(2.5, scale=0.375),
    "Beta(5/2, 13/4)": stats.beta(2.5, 3.25),
    "Laplace(1/4, 3/8)": stats.laplace(0.25, 0.375),
    "Cauchy(1/4, 3/8)": stats.cauchy(0.25, 0.375),
}

_ENDS = [
    (-0.5, 1.0),
    (0.25, 0.75),
    (0.75, 0.25),
    (1.0, -0.5),
    (-3.0, -2.0),
    (-2.0, -3.0),
    (0.5, 0.5),
    (3.0, 2.0),
]
"""Of an interval, in either order, inside and outside of what the laws take."""


def _mean(program: str, **values: float) -> tuple[float, float, float]:
    """Return the expectation of y over all random inputs, between which numbers it is, as far as is known."""
    listing = parse_program(program)
    sources = [s for n in "uvw" if n in listing.names and (s := listing[n]).declaration.distribution]
    (found,) = expectation([listing["y"]], sources, CLOSED)
    estimate = found.at({listing[n]: v for n, v in values.items()})
    return float(estimate.low), float(estimate.value), float(estimate.high)


def _within(found: tuple[float, float, float], expected: SupportsFloat) -> None:
    low, value, high = found
    expected = float(expected)
    assert low - 1e-7 <= expected <= high + 1e-7
    assert value == pytest.approx(expected, abs=1e-7 + (high - low))


@pytest.mark.parametrize("law", _LAWS)
@pytest.mark.parametrize(("a", "b"), _ENDS)
def test_an_interval_whose_ends_cross_has_no_probability(law: str, a: float, b: float) -> None:
    found = _mean(f"a, b : real\nu ~ {law}\ny = where(u > a and u < b, 1, 0)", a=a, b=b)
    cdf = _LAWS[law].cdf
    _within(found, max(cdf(b) - cdf(a), 0.0))
    assert -1e-12 <= found[1] <= 1


@pytest.mark.parametrize("law", _LAWS)
@pytest.mark.parametrize(("a", "b"), [(-0.4, 0.3), (0.3, -0.4), (0.6, 1.1)])
def test_of_several_ends_the_innermost_count(law: str, a: float, b: float) -> None:
    cdf = _LAWS[law].cdf
    above = _mean(f"a, b : real\nu ~ {law}\ny = where(u > a and u > b, 1, 0)", a=a, b=b)
    _within(above, 1 - cdf(max(a, b)))
    below = _mean(f"a, b : real\nu ~ {law}\ny = where(u < a and u < b, 1, 0)", a=a, b=b)
    _within(below, cdf(min(a, b)))
    between = _mean(
        f"a, b : real\nu ~ {law}\ny = where(u > a and u > b and u < a + 1 and u < b + 1, 1, 0)", a=a, b=b
    )
    _within(between, max(cdf(min(a, b) + 1) - cdf(max(a, b)), 0.0))


@pytest.mark.parametrize("law", _LAWS)
@pytest.mark.parametrize("a", [-2.0, -0.25, 0.0, 0.4, 0.9, 3.0])
def test_one_end_is_the_distribution_function(law: str, a: float) -> None:
    cdf = _LAWS[law].cdf
    _within(_mean(f"a : real\nu ~ {law}\ny = where(u < a, 1, 0)", a=a), cdf(a))
    _within(_mean(f"a : real\nu ~ {law}\ny = where(u > a, 3, -1)", a=a), 4 * (1 - cdf(a)) - 1)


# ---------------------------------------------------------------------------------------------------------- products

_LESS = stats.norm.cdf(-1)  # a normal input of mean and spread 1 is below 0


def _size() -> float:
    """Return E[abs(u)] for u ~ Normal(1, 1)."""
    return float(math.sqrt(2 / math.pi) * math.exp(-0.5) + 1 - 2 * stats.norm.cdf(-1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abs(u)", _size),
        ("abs(u*v)", lambda: _size() ** 2),
        ("abs(u*v*w)", lambda: _size() ** 3),
        ("abs(3*u*v)", lambda: 3 * _size() ** 2),
        ("abs(-3*u*v**2)", lambda: 6 * _size()),
        ("sign(u)", lambda: 1 - 2 * _LESS),
        ("sign(-2*u)", lambda: 2 * _LESS - 1),
        ("sign(u*v)", lambda: (1 - 2 * _LESS) ** 2),
        ("sign(u*v*w)", lambda: (1 - 2 * _LESS) ** 3),
        ("sign(u**3*v**2)", lambda: 1 - 2 * _LESS),
        ("where(u*v < 0, 1, 0)", lambda: 2 * _LESS * (1 - _LESS)),
        ("where(-u*v < 0, 1, 0)", lambda: 1 - 2 * _LESS * (1 - _LESS)),
        ("where(u*v*w > 0, 1, 0)", lambda: (1 + (1 - 2 * _LESS) ** 3) / 2),
        ("where(u**2*v < 0, 1, 0)", lambda: _LESS),
        ("where(-u**2*v < 0, 1, 0)", lambda: 1 - _LESS),
        ("where(u > 0 or v > 0, 1, 0)", lambda: 1 - _LESS**2),
        ("where(u > 0 and v > 0, 1, 0)", lambda: (1 - _LESS) ** 2),
        ("where(not u > 0, 1, 0)", lambda: _LESS),
    ],
)
def test_each_factor_of_a_product_has_its_sign(text: str, expected: Callable[[], float]) -> None:
    declared = "\n".join(f"{n} ~ Normal(1, 1)" for n in "uvw" if n in text.replace("where", ""))
    _within(_mean(f"{declared}\ny = {text}"), expected())


@pytest.mark.parametrize("c", [-2.0, 0.0, 3.0])
@pytest.mark.parametrize("t", [-1.5, 0.0, 0.5])
def test_a_threshold_turns_round_with_the_sign_of_its_factor(c: float, t: float) -> None:
    """Where c*u + t < 0, of any c: with c = 0 the sign of t decides."""
    law = stats.norm(0.25, 0.75)
    less = law.cdf(-t / c) if c > 0 else 1 - law.cdf(-t / c) if c < 0 else float(t < 0)
    _within(_mean("c, t : real\nu ~ Normal(1/4, 3/4)\ny = where(c*u + t < 0, 1, 0)", c=c, t=t), float(less))


@pytest.mark.parametrize("c", [-2.0, 3.0])
def test_the_size_and_the_sign_of_a_product_with_an_input(c: float) -> None:
    _within(_mean("c : real\nu ~ Normal(1, 1)\ny = abs(c*u)", c=c), abs(c) * _size())
    _within(_mean("c : real\nu ~ Normal(1, 1)\ny = sign(c*u)", c=c), math.copysign(1, c) * (1 - 2 * _LESS))


@pytest.mark.parametrize(
    ("text", "cut", "above"),
    [
        ("log(u) > t", math.exp(0.5), True),
        ("log(u) < t", math.exp(0.5), False),
        ("1 - log(u) > t", math.exp(0.5), False),
        ("u**2 > t", math.sqrt(0.5), True),
        ("sqrt(u) < t", 0.25, False),
        ("2 - u**3 > t", 1.5 ** (1 / 3), False),
        ("u**2 > -t", 0.0, True),
    ],
)
def test_what_increases_with_an_input_has_its_threshold(text: str, cut: float, above: bool) -> None:
    law = stats.gamma(2.5, scale=0.375)
    found = _mean(f"t : real\nu ~ Gamma(5/2, 3/8)\ny = where({text}, 1, 0)", t=0.5)
    _within(found, float(1 - law.cdf(cut) if above else law.cdf(cut)))


@pytest.mark.parametrize("t", [-0.5, 0.0, 0.4, 2.0])
def test_where_an_exponential_is_above_a_number(t: float) -> None:
    """exp(u) is above whatever is negative."""
    law = stats.norm(0.25, 0.75)
    less = law.cdf(math.log(t)) if t > 0 else 0.0
    _within(_mean("t : real\nu ~ Normal(1/4, 3/4)\ny = where(exp(u) < t, 1, 0)", t=t), less)
    if t > 0:
        _within(_mean("t : positive\nu ~ Normal(1/4, 3/4)\ny = where(exp(u) < t, 1, 0)", t=t), less)


def test_integers_have_no_such_regions() -> None:
    """The ends of a region of counts have a probability of their own."""
    law = stats.poisson(1.5)
    for text, expected in (
        ("u < 2", law.cdf(1)),
        ("u <= 2", law.cdf(2)),
        ("u > 2", 1 - law.cdf(2)),
        ("u >= 2", 1 - law.cdf(1)),
    ):
        _within(_mean(f"u ~ Poisson(3/2)\ny = where({text}, 1, 0)"), float(expected))


@pytest.mark.parametrize("power", [Fraction(1), Fraction(2), Fraction(1, 2)])
def test_moments_over_a_region(power: Fraction) -> None:
    law: Any = stats.gamma(2.5, scale=0.375)
    p = float(power)
    grid = np.linspace(0.3, 1.2, 20_001)
    expected = float(np.trapezoid(grid**p * law.pdf(grid), grid))
    low, value, high = _mean(f"u ~ Gamma(5/2, 3/8)\ny = where(u > 3/10 and u < 6/5, u**({power}), 0)")
    assert low - 1e-6 <= expected <= high + 1e-6
    assert value == pytest.approx(expected, abs=1e-6)
