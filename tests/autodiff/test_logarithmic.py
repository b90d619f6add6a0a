"""Logarithmic differentiation: equal to the chain rule, and without factors that overflow."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.autodiff.logarithmic import LogarithmicDifferentiation
from symgrad.autodiff.products import reassociate
from symgrad.ir.graph import Node
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.choice.certain_values import CertainValues

FORMULAS = [
    "x**3*exp(-x)/(1 + x**2)",
    "sqrt(x + 1)/sqrt(x)*log(x)",
    "1/(sqrt(x + 1) + sqrt(x))",
    "x**400/(1 + x**400)",
    "gamma(x + 1/2)/gamma(x)",
    "sinh(x)/(cosh(x) + 1)",
    "exp(-x**2/2)*(x - 1)/(exp(x) - 1)",
    "log(exp(-x)/3 + 2*exp(-2*x)/3)",
    "tanh(x)**2*sech(x)",
    "x**x",
    "2**x/x**(3/2)",
    "hypot(x, 1)/asinh(x)",
    "where(x > 1, x**2, x**3)*exp(x)",
    "maximum(x, 1)**3/x",
    "sigmoid(x)*softplus(x)",
    "atan(x)*expm1(x)/log1p(x)",
    "abs(x - 1)*x",
    "3",
    "(x - 2)**2*(x - 3)",
]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("order", [1, 2])
def test_it_agrees_with_the_chain_rule(formula: str, order: int) -> None:
    p = sg.parse(f"x : positive\ny = {formula}")
    x, slope, expr = p["x"].node, p["y"].node, p["y"]
    for _ in range(order):
        found = LogarithmicDifferentiation(x).derivative(slope)
        slope = found if found is not None else sg.parse("z = 0")["z"].node
        expr = sg.grad(expr, p["x"])
    for at in (0.3, 0.75, 1.7, 4.25):
        a, b = CertainValues([slope, expr.node]).at({x: at})
        assert a is not None
        assert float(abs(a - b)) <= 1e-50 * float(abs(b)) + 1e-60, at


@pytest.mark.parametrize("formula", FORMULAS)
def test_reassociate_formulas_are_equal(formula: str) -> None:
    p = sg.parse(f"x : positive\ny = {formula}")
    x, y = p["x"].node, p["y"].node
    form = reassociate(y)
    for at in (0.3, 1.7, 4.25):
        a, b = CertainValues([form, y]).at({x: at})
        assert float(abs(a - b)) <= 1e-50 * float(abs(b))


def test_factors_meet_before_they_overflow() -> None:
    p = sg.parse("x : positive\ny = x**400/(1 + x**400)")
    x = p["x"].node
    slope: Node | None = LogarithmicDifferentiation(x).derivative(p["y"].node)
    assert slope is not None
    with np.errstate(all="ignore"):
        found = evaluate([slope], {x: np.array([0.5, 0.999, 1.001, 6.0, 10.0])})[0]
    z = [400 * np.log(v) for v in (0.5, 0.999, 1.001)]
    expected = [400 / v / (2 + np.exp(t) + np.exp(-t)) for v, t in zip((0.5, 0.999, 1.001), z, strict=True)]
    assert found[:3] == pytest.approx(expected, rel=1e-10)
    assert found[3:] == pytest.approx([400 / 6.0 * 6.0**-400, 0], rel=1e-10)


def test_a_strong_zero_stays() -> None:
    """What is not chosen may overflow."""
    p = sg.parse("a : real\nm : real\nv = a*a*m\ny = where(a > 1e100, m, v)")
    m = p["m"].node
    slope = LogarithmicDifferentiation(m).derivative(p["y"].node)
    assert slope is not None
    with np.errstate(all="ignore"):
        assert evaluate([slope], {p["a"].node: np.float64(1e200), m: np.float64(2.0)})[0] == 1
