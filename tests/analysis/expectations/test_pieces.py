"""Functions in pieces of what takes single values with a probability above 0: whole numbers, and what is cut off."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import symgrad as sg
from symgrad.analysis.expectations.reference import gradient_of_mean
from symgrad.frontend.text import parse_program
from tests.analysis.expectations.piecewise import LAWS, Case
from tests.analysis.expectations.programs import CLOSED, moments, said

_E = math.exp(-1)
_FUNCTIONS = (
    "sign(u)",
    "sign(-2*u)",
    "sign(u - 1)",
    "heaviside(u, 1/2)",
    "abs(u - 1)",
    "maximum(u, 1)",
    "minimum(u, t)",
    "where(u > 0, 3, 1)",
    "where(u >= 1, u, t)",
    "where(u <= 0, 1, u)",
    "where(t*u < 0, 1, u)",
    "where(u == 1, t, 0)",
    "where(u != 0, u, 2)",
    "sign(clip(u, 0, 1))",
    "sign(relu(u))",
    "where(relu(u) == 0, 1, 0)",
    "where(clip(u, -1, 1) >= 1, u, 0)",
    "floor(clip(u, 0, 1))",
    "sign(floor(u))",
    "round(sign(u)/2)",
    "(u > 0)*u",
)


@pytest.mark.parametrize("law", [law for law in LAWS if not law.heavy], ids=lambda law: law.text)
def test_every_family(law: Any) -> None:
    for text in _FUNCTIONS:
        case = Case(text, (law,), -0.5)
        listing = parse_program(case.program)
        mean, variance = moments(listing)
        expected = case.moments()
        for moment, value in zip((mean, variance), expected, strict=True):
            found = moment.at(case.at(listing))
            assert found.how in ("closed form", "quadrature"), (text, law.text)
            assert found.value == pytest.approx(value, rel=3e-6, abs=3e-6), (text, law.text, found.how)


@pytest.mark.parametrize(
    ("program", "mean", "variance"),
    [
        ("u ~ Bernoulli(1/5); y = sign(u)", 0.2, 0.16),
        ("u ~ Poisson(1); y = sign(u)", 1 - _E, _E * (1 - _E)),
        ("u ~ Categorical([1/5, 3/10, 1/2]); y = sign(u)", 0.8, 0.16),
        ("b ~ Bernoulli(1/5)[7]; y = sum(sign(b))", 1.4, 7 * 0.16),
        ("k ~ Poisson(1)[3]; y = sum(where(k == 0, 2, 0))", 6 * _E, 12 * _E * (1 - _E)),
        ("b ~ Bernoulli(1/5)[4]; v ~ Normal(0, 1)[4]; y = sum(where(b*v < 0, 1, 0))", 0.4, 0.36),
        ("b ~ Bernoulli(1/5); v ~ Normal(0, 1); y = where(b*v >= 0, 1, 0)", 0.9, 0.09),
        ("k ~ Poisson(1); v ~ Normal(0, 1); y = sign(k*v)**2", 1 - _E, _E * (1 - _E)),
        ("k ~ Poisson(1); y = where(k < 3, k, 0)", 2 * _E, 3 * _E - 4 * _E**2),
    ],
)
def test_closed_forms(program: str, mean: float, variance: float) -> None:
    first, second = moments(parse_program(program))
    assert first.how == second.how == "closed form"
    assert first.at({}).value == pytest.approx(mean, rel=1e-12)
    assert second.at({}).value == pytest.approx(variance, rel=1e-12)


def test_a_probability_in_symbols() -> None:
    mean, variance = moments(parse_program("p : real(0, 1); b ~ Bernoulli(p); y = sign(b)"))
    assert said(mean) == "p"
    assert variance.how == "closed form"
    assert said(moments(parse_program("r : positive; k ~ Poisson(r); y = sign(k)"))[0]) == "1 - exp(-r)"


@pytest.mark.parametrize(
    "text",
    ["where(k > 0, 1/k, 0)*v", "where(k*v > 0, 1/k, 0)", "where(b > 0, 1/b, 2)", "where(b*v > 0, 1/b, 0)"],
)
def test_what_is_not_chosen_needs_no_value(text: str) -> None:
    listing = parse_program(f"k ~ Poisson(1); b ~ Bernoulli(1/4); v ~ Exponential(2); y = {text}")
    k = np.arange(60)
    inverse = float(np.sum(stats.poisson.pmf(k, 1)[1:] / k[1:]))
    expected = {"k": inverse / (2 if text.endswith("v") else 1), "b": 1.75 if text.endswith("2)") else 0.25}
    found = moments(listing)[0].at({})
    assert found.how != "none"
    assert found.low - 0.01 <= expected["k" if "k" in text else "b"] <= found.high + 0.01


@pytest.mark.parametrize("text", ["k*v/(k*exp(v))", "relu(u)/relu(u)", "(k + k**2)/k", "abs(k)/k"])
def test_a_quotient_of_zeros_has_no_value(text: str) -> None:
    listing = parse_program(f"k ~ Poisson(1); u ~ Normal(0, 1); v ~ Exponential(2); y = {text}")
    mean, _ = moments(listing)
    assert mean.how != "closed form" or any("has no value" in note for note in mean.notes)


def test_no_bias_is_proved_that_is_not_there() -> None:
    p = sg.parse("x : real; b ~ Bernoulli(1/5); y = x*b; z = x*sign(b)")
    found = sg.compare_estimators({"first": p["y"], "second": p["z"]}, "x", target=p["y"])
    assert [e.unbiased.status for e in found.values()] == ["proved", "proved"]
    assert [str(e.variance) for e in found.values()] == ["0.16", "0.16"]


@pytest.mark.parametrize("t", [0.375, -0.375])
@pytest.mark.parametrize(
    ("text", "random", "slope"),
    [
        ("heaviside(u - t, 0)*tanh(u)", "u", lambda t: -math.tanh(t) * stats.norm.pdf(t)),
        (
            "where(sqrt(v) < t, tanh(v), 0)",
            "v",
            lambda t: math.tanh(t**2) * 2 * t * math.exp(-(t**2)) * (t > 0),
        ),
    ],
)
def test_jumps_that_a_parameter_moves(
    text: str, random: str, slope: Callable[[float], float], t: float
) -> None:
    listing = parse_program(f"t : real; u ~ Normal(0, 1); v ~ Exponential(1); y = {text}")
    (reference,) = gradient_of_mean(listing["y"], [listing["t"]], [listing[random]], CLOSED)
    assert reference.moment.how == "closed form"
    assert reference.moment.at({listing["t"]: t}).value == pytest.approx(slope(t), abs=1e-9)


def test_a_place_that_no_formula_gives_is_not_guessed() -> None:
    listing = parse_program("t : real; u ~ Normal(0, 1); y = where(u + floor(u) < t, tanh(u), 0)")
    (reference,) = gradient_of_mean(listing["y"], [listing["t"]], [listing["u"]], CLOSED)
    assert reference.moment.how == "none"


@pytest.mark.parametrize("text", ["where(relu(u - t) == 0, tanh(u), 0)", "sign(clip(u - t, 0, 1))*tanh(u)"])
def test_a_jump_at_the_end_of_a_flat_piece_is_seen(text: str) -> None:
    listing = parse_program(f"t : real; u ~ Normal(0, 1); y = {text}")
    (reference,) = gradient_of_mean(listing["y"], [listing["t"]], [listing["u"]], CLOSED)
    assert reference.moment.how == "none"
