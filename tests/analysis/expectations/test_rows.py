"""Every family and every kind of term, at random parameters, against numeric integration."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.special as special
from hypothesis import given, settings
from hypothesis import strategies as st

from symgrad.analysis.expectations.expectation import expectation
from symgrad.frontend.text import parse_program
from tests.analysis.expectations.programs import CLOSED, moments, numeric, program, values

Function = Callable[[Any, float, float], Any]
Row = tuple[str, Function]


def fractions(low: float, high: float) -> st.SearchStrategy[Fraction]:
    return st.integers(math.ceil(low * 8), math.floor(high * 8)).map(lambda n: Fraction(n, 8))


_PARAMETERS: dict[str, st.SearchStrategy[tuple[Fraction, ...]]] = {
    "Normal": st.tuples(fractions(-2, 2), fractions(0.25, 1.5)),
    "LogNormal": st.tuples(fractions(-1, 1), fractions(0.125, 0.5)),
    "Uniform": st.tuples(fractions(-2, 0.5), fractions(0.75, 3)),
    "Exponential": st.tuples(fractions(2, 4)),
    "Gamma": st.tuples(fractions(2.25, 4), fractions(0.125, 0.5)),
    "Beta": st.tuples(fractions(2.25, 4), fractions(2.25, 4)),
    "Laplace": st.tuples(fractions(-1, 1), fractions(0.125, 0.5)),
    "Poisson": st.tuples(fractions(0.25, 5)),
    "Bernoulli": st.tuples(fractions(0, 1)),
}

_ANYWHERE: list[Row] = [
    ("u", lambda u, t, s: u),
    ("(u - t)**3", lambda u, t, s: (u - t) ** 3),
    ("t*u**2 - s*u + 1", lambda u, t, s: t * u**2 - s * u + 1),
]
_EXPONENTIAL: list[Row] = [
    ("exp(t*u)", lambda u, t, s: np.exp(t * u)),
    ("u**2*exp(t*u)", lambda u, t, s: u**2 * np.exp(t * u)),
    ("cos(3*u + s)", lambda u, t, s: np.cos(3 * u + s)),
    ("u*sin(s*u)", lambda u, t, s: u * np.sin(s * u)),
    ("cos(u)**2*exp(t*u)", lambda u, t, s: np.cos(u) ** 2 * np.exp(t * u)),
    ("sinh(t*u) + cosh(u/4)", lambda u, t, s: np.sinh(t * u) + np.cosh(u / 4)),
    ("2**(t*u)", lambda u, t, s: 2 ** (t * u)),
]
_CUT: list[Row] = [
    ("abs(u - t)", lambda u, t, s: np.abs(u - t)),
    ("relu(2*u - t)*u", lambda u, t, s: np.maximum(2 * u - t, 0) * u),
    ("where(u < t, 1, u**2)", lambda u, t, s: np.where(u < t, 1, u**2)),
    (
        "where(u > t, u, -u)*where(u <= t + s, 1, 3)",
        lambda u, t, s: np.where(u > t, u, -u) * np.where(u <= t + s, 1, 3),
    ),
    ("maximum(t, minimum(u, t + s))", lambda u, t, s: np.clip(u, t, t + s)),
    ("sign(t - u)", lambda u, t, s: np.sign(t - u)),
    ("clip(u, t, t + s)**2", lambda u, t, s: np.clip(u, t, t + s) ** 2),
]
_CUT_EXPONENTIAL: list[Row] = [
    ("where(u > t, exp(u/4)*u, 0)", lambda u, t, s: np.where(u > t, np.exp(u / 4) * u, 0))
]
_ZERO: list[Row] = [
    ("abs(t*u)", lambda u, t, s: np.abs(t * u)),
    ("relu(t*u)", lambda u, t, s: np.maximum(t * u, 0)),
    ("sqrt(u**2)*sign(u)", lambda u, t, s: u),
]
_POSITIVE: list[Row] = [
    ("sqrt(u)", lambda u, t, s: np.sqrt(u)),
    ("s/u", lambda u, t, s: s / u),
    ("u**s", lambda u, t, s: u**s),
    ("log(u)", lambda u, t, s: np.log(u)),
    ("u*log(s*u)**2", lambda u, t, s: u * np.log(s * u) ** 2),
    ("1/sqrt(s**2*u)", lambda u, t, s: 1 / (s * np.sqrt(u))),
]

_ROWS: dict[str, list[Row]] = {
    "Normal": [
        *_ANYWHERE,
        *_EXPONENTIAL,
        *_CUT,
        *_CUT_EXPONENTIAL,
        *_ZERO,
        ("exp(-s*u**2 + t*u)*u**2", lambda u, t, s: np.exp(-s * u**2 + t * u) * u**2),
        ("cos(u)*exp(-u**2)", lambda u, t, s: np.cos(u) * np.exp(-(u**2))),
    ],
    "LogNormal": [
        *_ANYWHERE,
        *_POSITIVE,
        ("where(u < s, u, sqrt(u))", lambda u, t, s: np.where(u < s, u, np.sqrt(u))),
        ("abs(log(u) - t)", lambda u, t, s: np.abs(np.log(u) - t)),
    ],
    "Uniform": [
        *_ANYWHERE,
        *[r for r in _EXPONENTIAL if "sinh" not in r[0]],
        *_CUT,
        *_CUT_EXPONENTIAL,
        *_ZERO,
        ("sqrt(u + 3)*u", lambda u, t, s: np.sqrt(u + 3) * u),
        ("log(4 - u)", lambda u, t, s: np.log(4 - u)),
        ("u**2/(u + 3)", lambda u, t, s: u**2 / (u + 3)),
        ("u/(5 - u)**2", lambda u, t, s: u / (5 - u) ** 2),
        ("sqrt(abs(u))", lambda u, t, s: np.sqrt(np.abs(u))),
    ],
    "Exponential": [
        *_ANYWHERE,
        *_EXPONENTIAL,
        *_CUT,
        *_CUT_EXPONENTIAL,
        ("sqrt(u)*log(u)", lambda u, t, s: np.sqrt(u) * np.log(u)),
        ("u**s", lambda u, t, s: u**s),
    ],
    "Gamma": [*_ANYWHERE, *_EXPONENTIAL, *_CUT, *_CUT_EXPONENTIAL, *_POSITIVE, ("u**-2", lambda u, t, s: u**-2)],
    "Beta": [
        *_ANYWHERE,
        *_POSITIVE,
        ("u**2*(1 - u)**s", lambda u, t, s: u**2 * (1 - u) ** s),
        ("sqrt(u/(1 - u))", lambda u, t, s: np.sqrt(u / (1 - u))),
        ("log(1 - u)*log(u)", lambda u, t, s: np.log1p(-u) * np.log(u)),
        ("1/(u*(u - 1)**2)", lambda u, t, s: 1 / (u * (u - 1) ** 2)),
    ],
    "Laplace": [*_ANYWHERE, *_EXPONENTIAL, *_CUT, *_CUT_EXPONENTIAL, *_ZERO],
    "Poisson": [*_ANYWHERE, *_EXPONENTIAL, ("t**u*u", lambda u, t, s: t**u * u)],
    "Bernoulli": [
        *_ANYWHERE,
        *_EXPONENTIAL,
        *_CUT,
        ("tanh(t + u)/(1 + u)", lambda u, t, s: np.tanh(t + u) / (1 + u)),
        ("where(u == 1, t, s)", lambda u, t, s: np.where(u == 1, t, s)),
    ],
}  # fmt: skip

_CASES = [
    pytest.param(family, *row, id=f"{family}: {row[0]}") for family, rows in _ROWS.items() for row in rows
]


@pytest.mark.parametrize(("family", "text", "function"), _CASES)
def test_every_row_is_the_integral(family: str, text: str, function: Function) -> None:
    @settings(max_examples=2, deadline=None)
    @given(_PARAMETERS[family], fractions(-1.5, 1.75).filter(bool), fractions(0.25, 1.5))
    def holds(parameters: Sequence[Fraction], t: Fraction, s: Fraction) -> None:
        listing = program(family, parameters, text)
        mean, spread = moments(listing)
        assert mean.how == "closed form"
        at = values(listing, t, s)
        found = mean.at(at)
        x, y = float(t), float(s)
        cuts = [x, x / 2, y, x + y, 0.0, math.exp(x)]
        expected = numeric(family, parameters, lambda u: function(u, x, y), cuts)
        size = numeric(family, parameters, lambda u: np.abs(function(u, x, y)), cuts)
        assert found.value == pytest.approx(expected, rel=1e-7, abs=1e-7 * size)
        assert found.high - found.low <= 1e-10 * max(1, abs(found.value))
        if spread.how == "closed form":
            square = numeric(family, parameters, lambda u: function(u, x, y) ** 2, cuts)
            got = spread.at(at)
            if got.how == "closed form":
                assert got.value == pytest.approx(square - expected**2, rel=1e-6, abs=1e-6 * square)

    holds()


def test_a_beta_density_is_what_scipy_says() -> None:
    # The reference of these tests is itself compared with a closed form.
    assert numeric("Beta", (Fraction(2), Fraction(3)), lambda u: u) == pytest.approx(
        special.beta(3, 3) / special.beta(2, 3), rel=1e-10
    )


_SYMBOLS = {
    "Normal": "a : real\nb : positive",
    "LogNormal": "a : real\nb : positive",
    "Uniform": "a : real\nb : real",
    "Exponential": "a : positive",
    "Gamma": "a : positive\nb : positive",
    "Beta": "a : positive\nb : positive",
    "Laplace": "a : real\nb : positive",
    "Poisson": "a : positive",
    "Bernoulli": "a : real(0, 1)",
}
_AT: dict[str, tuple[Fraction, ...]] = {
    "Normal": (Fraction(1, 4), Fraction(3, 4)),
    "LogNormal": (Fraction(-1, 4), Fraction(3, 8)),
    "Uniform": (Fraction(-1, 2), Fraction(5, 4)),
    "Exponential": (Fraction(9, 4),),
    "Gamma": (Fraction(5, 2), Fraction(3, 8)),
    "Beta": (Fraction(5, 2), Fraction(13, 4)),
    "Laplace": (Fraction(1, 4), Fraction(3, 8)),
    "Poisson": (Fraction(3, 2),),
    "Bernoulli": (Fraction(3, 8),),
}


@pytest.mark.parametrize(("family", "text", "function"), _CASES)
def test_parameters_may_be_symbols(family: str, text: str, function: Function) -> None:
    names = "ab"[: len(_AT[family])]
    listing = parse_program(
        f"{_SYMBOLS[family]}\nt : real\ns : positive\nu ~ {family}({', '.join(names)})\ny = {text}"
    )
    (mean,) = expectation([listing["y"]], [listing["u"]], CLOSED)
    t, s = Fraction(5, 8), Fraction(7, 8)
    at = {**values(listing, t, s), **{listing[n]: v for n, v in zip(names, _AT[family], strict=True)}}
    found = mean.at(at)
    x, y = float(t), float(s)
    cuts = [x, x / 2, y, x + y, 0.0, math.exp(x)]
    expected = numeric(family, _AT[family], lambda u: function(u, x, y), cuts)
    assert found.how in {"closed form", "quadrature"}
    assert found.value == pytest.approx(expected, rel=1e-6, abs=1e-8)
