"""Every kind of factor with every family, alone and in pairs: no method leaves one out. By numeric integration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symgrad.analysis.expectations.assumptions import MomentOptions
from symgrad.analysis.expectations.expectation import expectation, variance
from symgrad.frontend.text import parse_program
from symgrad.ir.values.evaluate import evaluate
from tests.analysis.expectations.programs import CLOSED, moments, numeric, said

_BUDGET = MomentOptions(seconds=0, samples=20_000)

_PARAMETERS: Mapping[str, Sequence[Fraction]] = {
    "Normal": (Fraction(1, 4), Fraction(1, 2)),
    "LogNormal": (Fraction(-1, 4), Fraction(3, 8)),
    "Uniform": (Fraction(-1, 2), Fraction(5, 4)),
    "Exponential": (Fraction(9, 4),),
    "Gamma": (Fraction(5, 2), Fraction(3, 8)),
    "Beta": (Fraction(5, 2), Fraction(13, 4)),
    "Laplace": (Fraction(1, 4), Fraction(3, 8)),
    "Poisson": (Fraction(3, 2),),
}

_FACTORS: Mapping[str, tuple[Callable[[Any], Any], Sequence[float]]] = {
    "u**2": (lambda u: u**2, ()),
    "abs(u)": (np.abs, (0.0,)),
    "exp(-u/2)": (lambda u: np.exp(-u / 2), ()),
    "exp(-u**2)": (lambda u: np.exp(-(u**2)), ()),
    "(1/2)**u": (lambda u: 0.5**u, ()),
    "cos(2*u)": (lambda u: np.cos(2 * u), ()),
    "log(abs(u) + 2)": (lambda u: np.log(np.abs(u) + 2), (0.0,)),
    "where(u < 1/2, 1, 2)": (lambda u: np.where(u < 0.5, 1.0, 2.0), (0.5,)),
}
_CASES = [
    (family, pair)
    for family in _PARAMETERS
    for pair in [*((f,) for f in _FACTORS), *itertools.combinations(_FACTORS, 2)]
]


@pytest.mark.parametrize(("family", "factors"), _CASES)
def test_no_factor_is_left_out(family: str, factors: tuple[str, ...]) -> None:
    said_parameters = ", ".join(map(str, _PARAMETERS[family]))
    listing = parse_program(f"u ~ {family}({said_parameters})\ny = {'*'.join(f'({f})' for f in factors)}")
    (found,) = expectation([listing["y"]], [listing["u"]], _BUDGET)
    estimate = found.at({})
    cuts = [c for f in factors for c in _FACTORS[f][1]]
    expected = numeric(
        family,
        _PARAMETERS[family],
        lambda u: math.prod((_FACTORS[f][0](u) for f in factors), start=np.ones_like(u, float)),
        cuts,
    )
    width = float(estimate.high - estimate.low)
    assert width < 0.1 * max(1.0, abs(expected))
    assert float(estimate.value) == pytest.approx(expected, rel=1e-6, abs=1e-7 + width)


@pytest.mark.parametrize(
    ("text", "f"),
    [
        ("abs(u)", np.abs),
        ("abs(u)**3", lambda u: np.abs(u) ** 3),
        ("u**2", lambda u: u**2),
        ("u**3", lambda u: u**3),
        ("u*abs(u)", lambda u: u * np.abs(u)),
        ("sqrt(abs(u))", lambda u: np.sqrt(np.abs(u))),
    ],
)
@pytest.mark.parametrize(("low", "high"), [(-0.25, 0.75), (-1.0, -0.25), (0.125, 1.0)])
@pytest.mark.parametrize("family", ["Normal", "Laplace", "Uniform"])
def test_over_an_interval_on_either_side_of_zero(
    family: str, low: float, high: float, text: str, f: Callable[[Any], Any]
) -> None:
    said_parameters = ", ".join(map(str, _PARAMETERS[family]))
    program = (
        f"u ~ {family}({said_parameters})\ny = where(u > {Fraction(low)} and u < {Fraction(high)}, {text}, 0)"
    )
    listing = parse_program(program)
    (found,) = expectation([listing["y"]], [listing["u"]], _BUDGET)
    estimate = found.at({})
    expected = numeric(
        family, _PARAMETERS[family], lambda u: np.where((u > low) & (u < high), f(u), 0), [low, high, 0.0]
    )
    width = float(estimate.high - estimate.low)
    assert width < 0.05
    assert float(estimate.value) == pytest.approx(expected, rel=1e-6, abs=1e-7 + width)


@pytest.mark.parametrize(
    ("power", "mean"),
    [(1, "r"), (2, "r*(r + 1)"), (3, "r*(r**2 + 3*r + 1)"), (4, "r*(r**3 + 6*r**2 + 7*r + 1)")],
)
def test_powers_of_a_count(power: int, mean: str) -> None:
    listing = parse_program(f"r : positive\nu ~ Poisson(r)\ny = u**{power}\nwanted = {mean}")
    found, _ = moments(listing)
    assert found.how == "closed form"
    for r in (0.25, 1.5, 4.0):
        wanted = evaluate([listing["wanted"]], {listing["r"]: r})[0]
        assert found.at({listing["r"]: r}).value == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize(
    ("program", "mean"),
    [
        ("t : real\nu ~ Normal(0, 1)\nv ~ Normal(0, 1)\ny = cos(u + v + t)", "cos(t)/e"),
        ("u ~ Normal(0, 1)\ny = relu(u)", "1/sqrt(2*pi)"),
        ("t : positive\nu ~ Exponential(1)\ny = exp(t*log(u) - u)", "gamma(t + 1)/2**(t + 1)"),
        ("t : real\nu ~ LogNormal(0, 1)\ny = exp(t*log(u) + 1)", "exp(t**2/2 + 1)"),
        ("t : real\nu ~ Normal(0, 1)\ny = exp(t + u - 2*(t - u))", "exp(9/2 - t)"),
        ("t : real\nu ~ Normal(0, 1)\ny = (t + u - 2*(t - u))**2", "t**2 + 9"),
        ("u ~ Gamma(5/2, 1)\ny = (1 + u)*(2*u + 3) + u*u", "167/4"),
        ("u ~ Uniform(0, 1)\ny = u*(u + u**2)", "7/12"),
    ],
)  # fmt: skip
def test_closed_forms_are_found_and_right(program: str, mean: str) -> None:
    listing = parse_program(f"e : positive\n{program}\nwanted = {mean}")
    sources = [s for n in "uv" if n in listing.names and (s := listing[n])]
    (found,) = expectation([listing["y"]], sources, CLOSED)
    for t in (0.5, 1.25):
        at = {listing["t"]: t} if "t" in listing.names else {}
        wanted = float(evaluate([listing["wanted"]], {**at, listing["e"]: math.e})[0])
        assert found.how == "closed form"
        assert found.at(at).value == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize(
    ("text", "mean", "spread"),
    [
        ("-u", "-m", "1"),
        ("sum(-u)", "-sum(m)", "n"),
        ("sum(2*u*(3*x))", "6*sum(m*x)", "36*sum(x**2)"),
        ("sum((x/2)*u)/4", "sum(m*x)/8", "sum(x**2)/64"),
        ("(2*u + x)@(4*x - x*3)", "2*x@m + x@x", "4*sum(x**2)"),
        ("sum((2*u + x)*(3*x - 1)/5)", "sum((2*m + x)*(3*x - 1))/5", "4*sum((3*x - 1)**2)/25"),
        ("sum(-u*x) + sum(u)", "sum(m*(1 - x))", "sum((1 - x)**2)"),
        ("(2*x)@(3*u)", "6*x@m", "36*sum(x**2)"),
    ],
)
def test_scales_and_signs_of_products_of_arrays(text: str, mean: str, spread: str) -> None:
    listing = parse_program(
        f"m, x : real[n]\nu ~ Normal(m, 1)[n]\ny = {text}\nmean = {mean}\nspread = {spread}"
    )
    values = {listing["m"]: np.array([0.5, -1.25, 2.0]), listing["x"]: np.array([1.5, -0.5, 0.25])}
    found = [f([listing["y"]], [listing["u"]], CLOSED)[0] for f in (expectation, variance)]
    assert [m.how for m in found] == ["closed form"] * 2
    for moment, wanted in zip(found, ("mean", "spread"), strict=True):
        expected = np.broadcast_to(
            np.asarray(evaluate([listing[wanted]], values, {"n": 3})[0], float),
            np.shape(moment.at(values, {"n": 3}).value),
        )
        np.testing.assert_allclose(np.asarray(moment.at(values, {"n": 3}).value, float), expected, rtol=1e-10)


def test_scales_of_both_factors_of_a_contraction() -> None:
    """Each of the four products of terms has the numbers of both."""
    program = "m, x : real[n]\nu ~ Normal(m, 1)[n]\nv ~ Normal(0, 1)[n]\ny = (2*u + x)@(3*v - 4*x + 5*u)"
    listing = parse_program(program)
    m, x = np.array([0.5, -1.25, 2.0]), np.array([1.5, -0.5, 0.25])
    (found,) = expectation([listing["y"]], [listing["u"], listing["v"]], CLOSED)
    assert found.how == "closed form"
    wanted = np.sum(10 * (m**2 + 1) - 8 * m * x + 5 * m * x - 4 * x**2)
    got = found.at({listing["m"]: m, listing["x"]: x}, {"n": 3}).value
    assert got == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("log(1 + u)", 2 * math.log(2) - 1),
        ("log(3 - 2*u)", (3 * math.log(3) - 2) / 2),
        ("1/(1 + u)", math.log(2)),
        ("1/(3 - 2*u)", math.log(3) / 2),
        ("1/(2*u + 1)**2", 1 / 3),
        ("u/(1 + u)", 1 - math.log(2)),
        ("sqrt(1 + 3*u)", 14 / 9),
        ("sqrt(4 - 3*u)", 14 / 9),
        ("u*sqrt(1 - u)", 4 / 15),
    ],
)
def test_powers_and_logarithms_of_a_line(text: str, wanted: float) -> None:
    listing = parse_program(f"u ~ Uniform(0, 1)\ny = {text}")
    (found,) = expectation([listing["y"]], [listing["u"]], CLOSED)
    assert found.how == "closed form"
    assert found.at({}).value == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("shape", ["", "[1]", "[3]", "[2, 3]"])
def test_quadrature_of_arrays_is_that_of_each_entry(shape: str) -> None:
    listing = parse_program(f"x : real{shape}\nu ~ Normal(1/4, 1/2)\ny = tanh(x + u)")
    size = {"": (), "[1]": (1,), "[3]": (3,), "[2, 3]": (2, 3)}[shape]
    x = np.linspace(-1, 1, max(1, math.prod(size))).reshape(size)
    (found,) = expectation([listing["y"]], [listing["u"]], CLOSED)
    assert found.how == "quadrature"
    wanted = np.vectorize(
        lambda c: numeric("Normal", (Fraction(1, 4), Fraction(1, 2)), lambda u: np.tanh(c + u))
    )(x)
    got = found.at({listing["x"]: x})
    assert np.shape(got.value) == size
    np.testing.assert_allclose(got.value, wanted, rtol=1e-8, atol=1e-9)
    if found.node is not None:
        np.testing.assert_allclose(evaluate([found.node], {listing["x"]: x})[0], wanted, rtol=1e-6, atol=1e-7)
    assert (found.node is None) == bool(size)


def test_a_formula_with_the_noise_on_both_sides_is_one_moment() -> None:
    listing = parse_program("x : real\nu ~ Normal(0, 1)\ny = u*x + x**2*u*u")
    assert said(moments(listing)[0]) == "x**2"
