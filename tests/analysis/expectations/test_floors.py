"""Whole parts of random inputs between two ends, against numeric integration between their steps."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.analysis.expectations.programs import moments, numeric, program, values

_HALF = Fraction(1, 2)
_ROWS: list[tuple[str, tuple[Fraction, ...], str, Callable[[Any, float], Any]]] = [
    ("Uniform", (-_HALF, _HALF), "round(u + t)", lambda u, t: np.floor(u + t + 0.5)),
    ("Uniform", (-_HALF, _HALF), "(round(u + t) - t)**2", lambda u, t: (np.floor(u + t + 0.5) - t) ** 2),
    ("Uniform", (Fraction(0), Fraction(1)), "floor(u + t)*u", lambda u, t: np.floor(u + t) * u),
    ("Uniform", (Fraction(0), Fraction(1)), "ceil(t - 2*u)**2", lambda u, t: np.ceil(t - 2 * u) ** 2),
    ("Uniform", (Fraction(0), Fraction(7, 3)), "exp(floor(u + t))", lambda u, t: np.exp(np.floor(u + t))),
]


@pytest.mark.parametrize("t", [Fraction(0), Fraction(5, 8), Fraction(-9, 7), Fraction(3)])
@pytest.mark.parametrize(("family", "parameters", "text", "function"), _ROWS)
def test_whole_parts(
    family: str,
    parameters: tuple[Fraction, ...],
    text: str,
    function: Callable[[Any, float], Any],
    t: Fraction,
) -> None:
    listing = program(family, parameters, text)
    mean, variance = moments(listing)
    assert mean.how == variance.how == "closed form"
    cuts = [(k / 2 - float(t)) / scale for k in range(-20, 20) for scale in (1, 2, -2)]
    first, second = (
        numeric(family, parameters, lambda u, e=e: function(u, float(t)) ** e, cuts) for e in (1, 2)
    )
    at = values(listing, t, 1)
    assert mean.at(at).value == pytest.approx(first, rel=1e-7, abs=1e-9)
    assert variance.at(at).value == pytest.approx(second - first**2, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("text", ["floor(t*u)", "floor(100*u)", "floor(u**2)"])
def test_what_has_no_such_form_is_numeric(text: str) -> None:
    mean, _ = moments(program("Uniform", (Fraction(0), Fraction(1)), text))
    assert mean.how != "closed form"


def test_noise_without_ends_is_numeric() -> None:
    mean, _ = moments(program("Normal", (Fraction(0), Fraction(1)), "floor(u + t)"))
    assert mean.how != "closed form"
