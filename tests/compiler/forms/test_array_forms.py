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
    for x in PLACES:
        values = np.full(6, x)
        expected_by_w = 6 * sg.grad(term["y"], "w")(w=1.0, x=x)
        assert sg.grad(whole["y"], "w")(w=1.0, x=values) == pytest.approx(expected_by_w, rel=1e-12)
