"""Integrals, limits, expansions and two signs at once: right lines, wrong ones, those that say too little."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.apps.review.integrals.syntax import last_operator
from symgrad.apps.review.layout.passages import FormulaNotation
from symgrad.apps.review.layout.statements import SideText
from symgrad.ir.graph import as_node
from symgrad.ops.sympy_bridge.integration import definite_integral

RIGHT = {
    "an antiderivative": "∫ x e^(2x) dx = x e^(2x)/2 − e^(2x)/4 + C",
    "by parts, in a chain": "∫ x cos x dx = x sin x − ∫ sin x dx\n= x sin x + cos x + C",
    "constants that differ": "∫ 2 sin x cos x dx = sin^2 x + C\n= -cos^2 x + C",
    "a substitution": r"Let $u = \ln x$. $\int \frac{\ln x}{x}\,dx = \int u\,du = \frac{u^2}{2} + C$",
    "a name for an integral": "I = ∫ x e^(-2x) dx\nI = -x/2 e^(-2x) + 1/2 ∫ e^(-2x) dx\n"
    "I = -x/2 e^(-2x) - 1/4 e^(-2x) + C",
    "a row that goes on with an integral in words": "please check ∫ 1/(x² − 4) dx\n= ¼ ln|(x−2)/(x+2)| + C",
    "a definite integral": "∫_0^2 (x² + 1) dx = [x³/3 + x]_0^2 = 14/3",
    "bounds as lowered and raised digits": "A = ∫₀² (2x − x²) dx = [x² − x³/3]₀² = 4/3",
    "bounds in words": "∫ from 0 to 1 of x e^(-2x) dx = 1/4 - 3/4 e^(-2)",
    "bounds behind": "P = k/V\nW = ∫ P dV from V1 to V2 = k ln(V2/V1)",
    "an integral in letters": "int_0^1 x^2 dx = 1/3",
    "two integrals": r"$\int_0^{2\pi}\int_0^R r\,dr\,d\theta = \pi R^2$",
    "an infinite bound, with a parameter": "∫_0^∞ e^(-a x) dx = 1/a",
    "the derivative of an integral": r"$\frac{d}{dx}\int_0^x e^{-t^2}\,dt = e^{-x^2}$",
    "a differential above": r"$\int_1^e \frac{dx}{x} = \left[\ln x\right]_1^e = 1$",
    "a limit": "lim x->0 sin(x)/x = 1",
    "a limit in LaTeX": r"$\lim_{x\to 0} \frac{1-\cos x}{x^2} = \frac{1}{2}$",
    "a limit at infinity": "lim x->inf (1 + 2/x)^x = e^2",
    "a remainder": "e^x cos x = 1 + x − x³/3 + O(x⁴)",
    "a remainder at a removable singularity": r"$\frac{x}{e^x - 1} = 1 - \frac{x}{2} + \frac{x^2}{12} + O(x^3)$",
    "dots": r"$\arctan x = x - \frac{x^3}{3} + \frac{x^5}{5} - \cdots$",
    "two signs": "Solve 2x^2 − 7x + 3 = 0.\nx = (7 ± 5)/4",
    "hundredths in LaTeX": r"$75\% \cdot 80 = 60$",
    "a derivative by a value": r"$L = I\omega$, $E = L^2/(2I)$, so $\frac{\partial E}{\partial L} = \omega$.",
    "a product with the name in its brackets": r"$V(p) = \frac{p(1-p)}{n}$, $V'(p) = \frac{1-2p}{n}$",
    "a word before a quantity": "k = 4, m = 1\nPeriod T = 2π√(m/k) = π",
}
WRONG = {
    "a wrong antiderivative": "∫ cos 2x dx = 2 sin 2x + C",
    "a sign in an antiderivative": "∫ x e^(2x) dx = 1/2 x e^(2x) + 1/4 e^(2x) + C",
    "a wrong function between bounds": "∫_0^π sin x dx = [cos x]_0^π",
    "a wrong value": r"$\int_1^{e^2} \frac{\ln x}{x}\,dx = 1$",
    "a wrong parameter": "∫_0^∞ e^(-a x) dx = 2/a",
    "a wrong derivative of an integral": "d/dx ∫_0^x e^(-t^2) dt = e^(x^2)",
    "a wrong limit": "lim x->0 (tan x - x)/x^3 = 1/6",
    "a wrong coefficient": r"$\cos x = 1 - \frac{x^2}{2} + \frac{x^4}{4} + O(x^6)$",
    "a wrong coefficient before dots": "cosh x = 1 + x^2/3 + ...",
    "a wrong root of two": "Solve x^2 = 4.\nx = ±3",
}
OPEN = {
    "an integral over another variable": "∫ dy/y = ∫ x dx",
    "an integral whose bounds are not said": "M = ∫ g y (H - y) dy = 1/6 g H^3",
    "an integral that has no value": "∫_-1^1 1/x^2 dx = -2",
    "an integrand that an equation relates to the variable": "p V = C\nW = ∫_1^2 p dV = p",
    "an integral over a region": r"$\int_D x\,dx = 1$",
    "an integral in words": "integral of x^2 from 0 to 1 = 1/3",
    "a limit that does not exist": "lim x->0 |x|/x = 1",
    "a kink at the point of an expansion": "|x| = 0 + O(x^1)",
    "a new name with two values": "x = 3 ± 1",
    "an area": r"Let $x = r\cos\theta$, $y = r\sin\theta$. $dx\,dy = r\,dr\,d\theta$",
    "a name that may be a unit": "I = m r²/2\nm = 4 kg, r = 0.5 m → I = 0.5 kg m²",
    "a recurrence": "F_n = F_{n-1} + F_{n-2}\nF_n = 2^n",
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_line_is_proved_or_agrees(name: str) -> None:
    review = sg.review(RIGHT[name])
    assert review.status in ("proved", "supported"), review.text()
    assert not review.not_understood


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_refuted(name: str) -> None:
    review = sg.review(WRONG[name])
    assert review.status == "refuted", review.text()


@pytest.mark.parametrize("name", OPEN)
def test_what_says_too_little_is_undecided(name: str) -> None:
    review = sg.review(OPEN[name])
    assert review.status == "undecided", review.text()


def test_values_that_sympy_finds_are_listed_and_never_proved() -> None:
    review = sg.review("∫_0^1 x^2 dx = 1/3")
    assert [s.status for s in review.steps] == ["supported"]
    assert any("quadrature" in a.text for a in review.assumptions)


def test_a_value_of_an_integral_is_its_continuation_in_later_lines() -> None:
    text = r"$M(t) = \int_0^\infty e^{tx}\lambda e^{-\lambda x}\,dx = \frac{\lambda}{\lambda-t}$. "
    text += r"$M''(t) = \frac{2\lambda}{(\lambda-t)^3}$"
    assert [s.status for s in sg.review(text).steps] == [None, "supported", "proved"]


@pytest.mark.parametrize(
    ("text", "notation", "body", "by"),
    [
        ("2∫_0^π sin x dx + 1", "symgrad", " sin x   ", "x"),
        ("∫ dx/(x^2-1)", "symgrad", "1 /(x^2-1)", "x"),
        (r"\int\frac{x\,dx}{1+x^2}", "latex", r"\frac{x\,  }{1+x^2}", "x"),
        (r"\int_0^1 dx\, x^2 + 1", "latex", r"   \, x^2 ", "x"),
        ("lim x->0 sin x/x + 1", "symgrad", "sin x/x ", "x"),
    ],
)
def test_where_an_operator_ends(text: str, notation: FormulaNotation, body: str, by: str) -> None:
    found = last_operator(SideText(0, text, notation))
    assert found is not None
    assert (found.body.text, found.by) == (body, by)


def test_the_process_of_sympy_is_started_again_after_it_was_killed() -> None:
    p = sg.parse("x : real\nhard = sin(x**3 + 1/x)*exp(sin(x))/(x + 2)\neasy = x")
    x = p["x"].node
    assert definite_integral(p["hard"].node, x, as_node(1), as_node(2), seconds=0.01) is None
    found = definite_integral(p["easy"].node, x, as_node(0), as_node(2), seconds=60)
    assert found is not None
    assert str(sg.Expr(found[0])) == "2"
