"""SG304: regions without a gradient, with their condition; activations and losses that are zero there are none."""

from __future__ import annotations

import pytest

import symgrad as sg


def found(text: str, **asked: object) -> list[str]:
    return [f.message for f in sg.lint(text, **asked) if f.code == "SG304"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("p : real(0, 1)\ny = log(maximum(p, 1e-8))", "where p < 1e-8"),
        ("x : real\ny = clip(x, -1, 2)**2", "where x < -1 or x > 2"),
        ("x : real\ny = sin(minimum(x, 3))", "where x > 3"),
        ("x : real\ny = relu(relu(x) - 1)", "where relu(x) - 1 < 0"),
        ("x : real\ny = where(x > 0, x**2, stop_gradient(x))", "where x <= 0"),
        ("x : real[n]\ny = sum(clip(x, -1, 2)**2)", "where x < -1 or x > 2"),
        ("x, w, v : real[n]\ny = sum(relu(v*relu(w*x)))", "where w*x < 0"),
        ("x : real[n]\ny = sum(where(x > 0, x**2, stop_gradient(x)))", "where x <= 0"),
        ("p : positive[n]\nt : real[n]\ny = -sum(t*log(maximum(p, 1e-8)))", "where p < 1e-8"),
    ],
)
def test_found(text: str, where: str) -> None:
    assert any(where in message for message in found(text))


@pytest.mark.parametrize(
    "text",
    [
        "p : real(0.5, 1)\ny = log(maximum(p, 1e-8))",  # never cut off
        "x, t : real\ny = maximum(0, 1 - x*t)",  # a loss that is meant to be zero
        "x : real\ny = clip(x, -1, 1) + x",
        "W : real[m, n]; x : real[n]\ny = sum(relu(W@x))",
        "a, b : real\ny = relu(1 - a) + relu(1 + b)",  # beside each other
        "x : real\ny = where(x > 0, x, 0)",  # constant there
        "x : real\ny = where(x > 0, x**2, -x)",
    ],
)
def test_not_found(text: str) -> None:
    assert found(text) == []


def test_the_gradient_is_zero_there_and_the_value_is_not_constant() -> None:
    e = sg.parse("x : real\ny = where(x > 0, x**2, stop_gradient(x))").last
    g = sg.grad(e, "x")
    assert [float(g(x=v)) for v in (-2.0, -1.0)] == [0.0, 0.0]
    assert float(e(x=-2.0)) != float(e(x=-1.0))
