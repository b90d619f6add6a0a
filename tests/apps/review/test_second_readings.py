"""Steps that are wrong as they stand, and right as they are meant: nothing right is refuted, and no mistake is lost."""

from __future__ import annotations

import pytest

import symgrad as sg

RIGHT = {
    "the next exercise": "Exercise 1. f(x) = x^2 + 1\nf'(x) = 2x\nExercise 2. f(x) = x^3\nf'(x) = 3x^2",
    "the next bullet": "- $V(\\mu) = \\mu$, $V'(\\mu) = 1$\n- $V(\\mu) = \\mu^2$, $V'(\\mu) = 2\\mu$",
    "numbers put in": "A = pi*d^2/4 = pi*0.02^2/4 = 3.14e-4",
    "a number that was rounded": "P = s T^4\nWith s = 5.67e-8, T = 600: P = 7348\ndP/dT = 4*7348/600",
    "a case": "f(w) = |w| + w\nCase w > 0.\nf(w) = 2w\nf'(w) = 2",
    "a name that is held": "y = r + g w is the target, treated as a constant.\nL = (y - w)^2/2\ndL/dw = -(y - w)",
    "a reason behind": "Let $y\\in\\mathbb{R}^K$, $L(c) = \\sum_i y_i c^2$.\n"
    "$L'(c) = 2c\\sum_i y_i = 2c$, since $\\sum_i y_i = 1$.",
    "a constraint that was put in": "f = x^2 + y^2 subject to x + 2y = 5\nx = 5 - 2y\n"
    "f = 5y^2 - 20y + 25\nf' = 10y - 20",
    "a number behind a name": "p_i = exp(z_i)/Σ_j exp(z_j)\np_1 = 1/(1 + exp(z2 - z1))\n∂p_1/∂z1 = p_1 (1 - p_1)",
    "a value in brackets": "x = v t\ny = u t - g t²/2\nt = x/v\nRange (y = 0): x = 2 u v/g",
    "differentials": "$F = U - TS$\n$dU = TdS - pdV$\n$dF = -SdT - pdV$",
    "a rate of a constraint": "V = (1/3) pi r^2 h\nr/h = 1/2 so r = h/2\ndV/dt = (pi/4) h^2 dh/dt",
    "a point": "x^2 + y^2 = 25\ndy/dx = -x/y\nat (3, 4): dy/dx = -3/4",
    "a time": "v = 18 - 9.8t\nAfter 1 second the velocity is v = 8.2",
    "a value": "P = 500e^(0.03t)\nP(0) = 500",
    "a boundary": "T = a x^2 + b x + c\nT'(0) = 0 -> b = 0",
    "a law": "$\\frac12 kx^2 = mgh$\n$kx^2 = 2mgh$",
    "an oscillator": "$m\\ddot x = -kx$. Ansatz:\n$x = A\\cos\\omega t$\n"
    "$\\ddot x = -\\omega^2 x$\n$\\omega^2 = \\frac km$",
    "a charge": "$R\\dot Q + \\frac QC = 0$ has the solution\n$Q = Q_0e^{-\\frac{t}{RC}}$",
    "two equations on a line": "f(x) = ln(1+x)        f(0) = 0\nf'(x) = 1/(1+x)       f'(0) = 1",
    "a sum of plain text": "p_k = exp(z_k)/Σ_j exp(z_j)\nlog p_k = z_k - log Σ_j exp(z_j)",
    "raised letters": "y = ½ x² + 3x⁻¹\ny' = x − 3x⁻²",
    "units": "t = 18/9.8 = 1.84 s\nh = 4.9*2 = 9.8 m",
    "an equation": "Solve for x.\n3(x - 2) = 2x + 5\n3x - 6 = 2x + 5\nx = 11",
}
WRONG = {
    "a value in brackets": "x = v t\ny = u t - g t²/2\nt = x/v\nRange (y = 0): x = u v/g",
    "differentials": "$F = U - TS$\n$dU = TdS - pdV$\n$dF = SdT - pdV$",
    "no other regime": "In deep water w^2 = g k tanh(k h)\nIn general w = g k\n",
    "no change": "Let $m = 2$ and $v = 3$.\n$E = \\frac12 m v^2$\n$E = \\frac12\\cdot 2\\cdot 6^2$",
    "the next exercise": "Exercise 1. f(x) = x^2 + 1\nf'(x) = 2x\nExercise 2. f(x) = x^3\nf'(x) = 3x",
    "numbers put in": "A = pi*d^2/4 = pi*0.02^2/4 = 4.14e-4",
    "a case": "f(w) = |w| + w\nCase w > 0.\nf(w) = 2w\nf'(w) = 3",
    "a constraint that was put in": "f = x^2 + y^2 subject to x + 2y = 5\nx = 5 - 2y\n"
    "f = 5y^2 - 20y + 25\nf' = 10y - 5",
    "a point": "x^2 + y^2 = 25\ndy/dx = -x/y\nat (3, 4): dy/dx = -4/3",
    "a value": "P = 500e^(0.03t)\nP(0) = 400",
    "a law": "$\\frac12 mv^2 = mgh$\n\n$v^2 = gh$\n\n$v = \\sqrt{gh}$",
    "gas": "$\\frac{p_1V_1}{T_1} = \\frac{p_2V_2}{T_2}$\n\n$p_2V_2 = p_1V_1\\frac{T_1}{T_2}$",
    "an equation": "2x + 3 = 7\n2x = 10\nx = 5",
    "two equations": "2x + y = 7\nx - y = 2\nadding the equations 3x = 8\nso x = 8/3",
    "two equations on a line": "f(x) = ln(1+x)        f(0) = 0\nf'(x) = 1/(1+x)       f'(0) = 2",
}
UNDECIDED = {
    "a second entry": "p_1 = 1/(1 + exp(z2 - z1))\n∂p_1/∂z2 = -p_1 p_2",
    "a change": "Let $m = 2$ and $v = 3$.\n$E = \\frac12 m v^2$\nDoubling it gives $E = \\frac12\\cdot 2\\cdot 6^2$",
    "a regime": "w^2 = g*k*tanh(k*h)\nIn deep water w = sqrt(g*k), and dw/dk = 1/2*sqrt(g/k).",
    "units that differ": "v = 36 km/h = 36 m/s",
    "a root without a sign": "$E = \\frac{p^2}{2m}$, so $p = \\sqrt{2mE}$",
    "arrays that nothing declares": "$s = u^\\top M v$\n$\\nabla_v s = Mu$",
    "a slope where x has its value": "f(x) = (x-1)^2\nf'(x) = 2(x-1) = 0 => x = 1\nf''(x) = 2x",
    "a name where x has its value": "f = x^2\nat x = 2, f = 4\nf = 2x",
    "a rate that words may say": "V = x^3\ndV/dt = 3x^2 dx/dt = 3x^2*0.2",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_as_it_is_meant_is_right(name: str) -> None:
    review = sg.review(RIGHT[name])
    assert review.status in ("proved", "supported"), review.text()


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_one_in_every_reading(name: str) -> None:
    review = sg.review(WRONG[name])
    assert review.status == "refuted", review.text()
    assert review.first_wrong is not None
    assert review.first_wrong.line > 1 or "pi" in WRONG[name]


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_may_be_meant_otherwise_is_undecided(name: str) -> None:
    review = sg.review(UNDECIDED[name])
    assert review.status == "undecided", review.text()


def test_an_identity_proves_nothing() -> None:
    """Where an input has its value an equation for it says nothing, and every claim is a form of it."""
    review = sg.review("q = (a - c - q)/2\nhence q = (a - c)/3\np = a - q\n(p - c)*q = (a - c)^2/6")
    assert review.steps[-1].status not in ("proved", "supported"), review.text()
