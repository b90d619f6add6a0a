"""What is printed in names has a value wherever the gradient has one: zeros that choices make stay zero."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x : real\nr = relu(x)\nq = sqrt(r)", "where(x > 0, 1/(2*q), 0)"),
        ("x : real\nr = relu(x)\nq = r*log(r)", "where(x > 0, 1 + log(r), 0)"),
        ("x : real\na = relu(x - 0.5)\nq = sqrt(a)*x**2", None),
        ("x : real\na = relu(x)\nb = -3*a\nq = sqrt(-b)", None),
        ("x : real\nm = where(x > 1, x**2, 0)\ns = log(m)\nq = where(x > 1, s, 0)", None),
    ],
)
def test_the_printed_derivative_has_its_values(text, shown):
    p = sg.parse(text)
    gradient = sg.grad(p["q"], "x")
    if shown is not None:
        assert str(gradient) == shown
    printed = sg.parse(f"{text}\n{gradient}").result
    assert printed is not None
    for at in (-2.0, -0.25, 0.25, 1.5, 3.0):
        assert printed(x=at) == pytest.approx(gradient(x=at), rel=1e-12)


def test_of_arrays_too():
    text = "x : real[n]\nr = relu(x)\nq = sqrt(r)\nl = sum(q)"
    p = sg.parse(text)
    gradient = sg.grad(p["l"], "x")
    at = np.array([-1.0, 4.0, -0.5])
    np.testing.assert_allclose(gradient(x=at), [0, 0.25, 0])
    printed = sg.parse(f"{text}\n{gradient}").result
    assert printed is not None
    np.testing.assert_allclose(printed(x=at), [0, 0.25, 0])
