"""Right lines of several documents, which nothing may refute; and wrong ones beside them, which something does."""

from __future__ import annotations

import pytest

import symgrad as sg

RIGHT = {
    "a sign of its own": "p̂ = k/n",
    "a derivative by a square": r"""
$\ell = -\frac n2 \ln(\sigma^2)$
$\frac{\partial\ell}{\partial\sigma^2} = -\frac{n}{2\sigma^2}$""",
    "the first law": "H = U + p V\ndH = dU + p dV + V dp\ndU = T dS - p dV\ndH = T dS + V dp",
    "entropy of a gas": r"""
S = \frac{3}{2} n R \ln T + n R \ln V
p V = n R T
\left(\frac{\partial S}{\partial T}\right)_p = \frac{5nR}{2T}
\left(\frac{\partial S}{\partial V}\right)_T = p/T""",
    "a budget": "U = x^2\np x + q y = I",
    "a constraint": "2x + y = 100\nA = x y\ndA/dx = y",
    "a constraint put in": "Given 2x + y = 100 and A = x y = x(100 - 2x).\ndA/dx = 100 - 4x",
    "a rate as a formula": "E = 1/2 m v^2\ndE/dt = m v dv/dt\nWith dv/dt = -g: dE/dt = -m g v.",
    "a momentum": r"""
$q = A \cos(w t)$
$\dot q = p/m$
$\dot q = -A w \sin(w t)$""",
    "a monopoly": """
Monopoly: p = a - b q, TR = p q, MR = dTR/dq = a - 2 b q, MC = c.
MR = MC gives q = (a - c)/(2b) and p = (a + c)/2.""",
    "a mean": r"""
$\ell = n \ln\lambda - \lambda \sum_{i=1}^n x_i$
$\frac{d\ell}{d\lambda} = \frac{n}{\lambda} - \sum_{i=1}^n x_i = 0$
$\hat\lambda = \frac{n}{\sum_{i=1}^n x_i} = \frac{1}{\bar x}$""",
    "a square below": "KL = σ^2\n∂KL/∂σ^2 = 1",
    "an unread curve": "Ellipse x^2/a^2 + y^2/b^2 = 1\ndy/dx = -b^2 x/(a^2 y)\nd^2y/dx^2 = -b^4/(a^2 y^3)",
    "a multiplier": """
max x y s.t. x + y = 10
L = x y - λ (x + y - 10)
L_x = y - λ = 0
L_y = x - λ = 0
x = y = λ
x = 5, y = 5""",
    "a circle": "x = R cos(w t), y = R sin(w t)\nẋ^2 + ẏ^2 = R^2 w^2",
}
WRONG = {
    "the first law": "H = U + p V\ndU = T dS - p dV\ndH = T dS - V dp",
    "entropy of a gas": r"""
S = \frac{3}{2} n R \ln T + n R \ln V
p V = n R T
\left(\frac{\partial S}{\partial T}\right)_p = \frac{3nR}{2T}
\left(\frac{\partial S}{\partial V}\right)_T = p/T""",
    "a constraint put in": "Given 2x + y = 100 and A = x y = x(100 - 2x).\ndA/dx = 100 - 3x",
    "a rate as a formula": "E = 1/2 m v^2\ndE/dt = m v dv/dt\nWith dv/dt = -g: dE/dt = m g v.",
    "a momentum": r"""
$q = A \cos(w t)$
$\dot q = A w \sin(w t)$""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_lines_are_not_refuted(name: str) -> None:
    assert "refuted" not in [step.status for step in sg.review(RIGHT[name]).steps]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_lines_beside_them_are_refuted(name: str) -> None:
    assert "refuted" in [step.status for step in sg.review(WRONG[name]).steps]


@pytest.mark.parametrize(
    "name", ["the first law", "entropy of a gas", "a constraint put in", "a rate as a formula"]
)
def test_where_inputs_follow_equations_above_the_last_line_is_proved(name: str) -> None:
    assert sg.review(RIGHT[name]).steps[-1].status == "proved"
