"""Forms of derivatives of array programs: their elementwise parts keep the digits that formulas of numbers keep."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

FORMULAS = [
    "w*{}/(1 + exp(-w*{}))",
    "(exp(w*{}) - exp(-w*{}))/(exp(w*{}) + exp(-w*{}))",
    "log(exp(w*{}) + exp(2*{}))",
    "log(1 + exp(w*{}))",
    "exp(w*{})/(1 + exp(w*{}))**2",
    "1/(1 + exp(w*{})) + 1/(1 + exp(-{}))",
    "(w*{} - sin(w*{}))/{}**3",
    "(exp(w*{}) - 1 - w*{})/{}**2",
    "1/tanh(w*{}) - 1/(w*{})",
    "log(1 - exp(-w*{}**2))",
    "sqrt({}**2 + w) - {}",
]
PLACES = [1e-9, 0.3, -4.0, 30.0, 400.0, -800.0]


@pytest.mark.parametrize("written", FORMULAS)
@pytest.mark.parametrize("size", ["n", "6"])
def test_sums_have_the_derivatives_of_their_terms(written: str, size: str) -> None:
    term = sg.parse(f"w, x : real\ny = {written.replace('{}', 'x')}")
    whole = sg.parse(f"w : real\nx : real[{size}]\ny = sum({written.replace('{}', 'x')})")
    slope, slopes = sg.grad(term["y"], "x"), sg.grad(whole["y"], "x")
    expected = [slope(w=1.0, x=x) for x in PLACES]
    assert np.isfinite(expected).all()
    assert slopes(w=1.0, x=np.array(PLACES)) == pytest.approx(expected, rel=1e-12)
    assert sg.compile(slopes)(w=1.0, x=np.array(PLACES)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("written", FORMULAS)
def test_sums_have_the_derivatives_by_what_all_terms_read(written: str) -> None:
    term = sg.parse(f"w, x : real\ny = {written.replace('{}', 'x')}")
    whole = sg.parse(f"w : real\nx : real[n]\ny = sum({written.replace('{}', 'x')})")
    slope, slopes = sg.grad(term["y"], "w"), sg.grad(whole["y"], "w")
    for x in PLACES:
        assert slopes(w=1.0, x=np.full(6, x)) == pytest.approx(6 * slope(w=1.0, x=x), rel=1e-12)
