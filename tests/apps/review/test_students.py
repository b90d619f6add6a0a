"""Pages as students type them, each right line of which has to be found right, and each wrong one wrong."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.apps.review.layout.higher_derivatives import typed_quotients


def told(text: str) -> list[str]:
    return [s.status or s.kind for s in sg.review(text).steps]


@pytest.mark.parametrize(
    "line",
    [
        "d^2f/dx^2 = 2 y^3",
        "d²f/dx² = 2y^3",
        "d^2 f/dx^2 = 2y^3",
        "d^2/dx^2 f = 2y^3",
        "d^2/dx^2 (x^3) = 6x",
        "∂^2f/∂x^2 = 2y^3",
        "d2f/dxdy = 6x*y^2",
        "d^2f/dx dy = 6x*y^2",
        "d^2f/(dx dy) = 6x*y^2",
        "d2f/(dx*dy) = 6x*y^2",
        "∂²f/∂x∂y = 6x*y^2",
        "d^3f/dx^2dy = 6y^2",
    ],
)
def test_derivatives_of_higher_order_as_they_are_typed(line: str) -> None:
    assert told(f"f = x^2 * y^3\n{line}") == ["definition", "proved"]
    assert told(f"f = x^2 * y^3\n{line} + 1") == ["definition", "refuted"]


def test_what_is_no_derivative_of_higher_order_is_left_alone() -> None:
    for text in ("d^2*x/dt", "d2f/dx/dy", "d^2f/dx^3", "x^2/dx"):
        assert not list(typed_quotients(text))
    assert told("d, x, y : real\nf = d^2*x/y\ndf/dx = d^2/y") == ["definition", "proved"]


def test_letters_side_by_side_are_a_product_where_each_is_a_name() -> None:
    assert told("f(x,y) = x^2 y + xy^2\ndf/dx = 2xy + y^2\ndf/dy = x^2 + xy") == [
        "definition",
        "proved",
        "refuted",
    ]
    found = sg.review("f = xy\ndf/dx = y\ndf/dy = x")
    assert found.status == "proved"
    assert "xy is read as x*y; otherwise: a declaration of xy" in [a.text for a in found.assumptions]
    # One quantity below a fraction and above a base, as a name of its own would be.
    assert told("f = e^xy + 1/xy + sin xy\ndf/dx = y e^(x y) - 1/(x^2 y) + y cos(x y)")[-1] == "proved"
    assert told("f = a^xy + 1/xy^2\nf = a^(x*y) + 1/(x*y^2)")[-1] == "proved"


def test_names_of_several_letters_stay_names() -> None:
    # Declared, defined above or below, of letters that are no names, and of arrays.
    assert told("x, y, xy : real\nf = xy^2\ndf/dxy = 2xy") == ["definition", "proved"]
    assert told("a, b : real\nab = a + b\nf = ab^2\ndf/da = 2ab")[-1] == "proved"
    assert told("f = a*b*ab\nf = a*b*(a + b)\nwhere ab = a + b")[1] == "proved"
    assert told("f = x*rate\ndf/drate = x") == ["definition", "proved"]
    assert told("x, y : real[n]\nf = sum(x) + sum(y) + mu\ndf/dmu = 1") == ["definition", "proved"]


def test_a_value_that_is_found_below_does_not_change_the_derivative_above() -> None:
    text = "f = x^2 - 2*a*x\ndf/dx = 2x - 2a\n"
    assert told(text + "So x = a") == ["definition", "proved", "condition"]
    assert told(text + "At the minimum x = a") == ["definition", "proved", "proved"]
    found = sg.review(text + "At the minimum x = 2a")
    assert found.first_wrong is not None
    assert (found.first_wrong.line, found.first_wrong.corrected) == (3, "x = a")
    # What is explained with something new is still an explanation.
    assert told("L = (z - y)^2/2\ndL/dz = z - y\nz = w*x + b\ndL/dw = (z-y)*x")[-1] == "proved"


def test_the_gradient_that_is_set_to_zero_is_the_first_derivative() -> None:
    text = r"""
Let $X \in \mathbb{R}^{n \times d}$, $y \in \mathbb{R}^n$, $w \in \mathbb{R}^d$, $J = \frac12 \|X w - y\|^2$.
$$ \nabla_w J = X^\top (X w - y) $$
The Hessian is $$ \nabla_w^2 J = X^\top X. $$
Setting the gradient to zero, $$ w^* = %s X^\top y. $$
"""
    assert sg.review(text % r"(X^\top X)^{-1}").status == "proved"
    found = sg.review(text % "").first_wrong
    assert found is not None
    assert found.line == 5


def test_a_curve_is_what_dy_dx_follows() -> None:
    curve = "x^2 + x*y + y^2 = 7\n"
    assert told(
        curve
        + "2x + y + x dy/dx + 2 y dy/dx = 0\ndy/dx = -(2x + y)/(x + 2y)\n"
        + "d2y/dx2 = -(2 + 2 dy/dx + 2 (dy/dx)^2)/(x + 2y)"
    ) == ["condition", "proved", "proved", "proved"]
    assert told(curve + "2x + y + x y' + 2 y y' = 0\n2x + y + 2 y y' = 0") == [
        "condition",
        "proved",
        "refuted",
    ]
    # What the equation says is used: on both of its branches, in other names, in LaTeX.
    assert told("x^2 + y^2 = 25\nd^2y/dx^2 = -25/y^3\nd^2y/dx^2 = -5/y^3")[1:] == ["proved", "refuted"]
    one = sg.review("x^2 + y^2 = 25\ndy/dx = -x/sqrt(25 - x^2)").steps[-1]
    assert one.verdict is not None
    assert one.verdict.why == "it holds where y = sqrt(25 - x**2), and not where y = -sqrt(25 - x**2)"
    # It is not looked at where the curve has no points.
    assert told("x^2 + y^2 = 25\ny^2*dy/dx = -abs(25 - x^2)*x/y")[1:] != ["refuted"]
    assert told("xy = 1\ny + x dy/dx = 0\ndy/dx = -y/x = -1/x^2")[1:] == ["proved"] * 3
    assert told("sin y = x\ncos y dy/dx = 1\ndy/dx = 1/cos y")[1:] == ["proved"] * 2
    assert told("$x^2 + y^2 = r^2$ so $2x + 2y y' = 0$, $y'' = -r^2/y^3$")[1:] == ["proved"] * 2


def test_the_mistake_in_the_slope_of_a_curve_has_a_name() -> None:
    for claim, kind in (("x/y", "implicit-sign"), ("-y/x", "implicit-upside-down"), ("-2x/y", "factor-2")):
        wrong = sg.review(f"x^2 + y^2 = 25\ndy/dx = {claim}").first_wrong
        assert wrong is not None
        assert wrong.verdict is not None
        assert wrong.verdict.diagnosis[0].kind == kind
        assert wrong.corrected == "dy/dx = -x/y"


def test_what_is_not_known_of_a_curve_is_told_without_a_mistake() -> None:
    found = sg.review("x^3 + y^3 = 6xy\ndy/dx = (2y - x^2)/(y^2 - 2x)\ndy/dx = (2y + x^2)/(y^2 - 2x)")
    assert [s.status for s in found.steps[1:]] == ["proved", "undecided"]
    assert found.steps[-1].verdict is not None
    assert not found.steps[-1].verdict.diagnosis
    assert "the mistake" not in str(found)


def test_an_equation_without_dy_dx_is_a_claim() -> None:
    assert told("(x+y)^2 = x^2 + y^2") == ["refuted"]
    assert told("f = x^2 + y^2\n(x+y)^2 = x^2 + y^2\ndf/dx = 2x")[1:] == ["refuted", "proved"]
    # And of what has a curve the second one is.
    assert told("x^2 + y^2 = 25\ndy/dx = -x/y\n(x+y)^2 = x^2 + y^2")[1:] == ["proved", "refuted"]


CYLINDER = "V = pi r^2 h{}.\nS = 2 pi r^2 + 2 pi r h\nh = V/(pi r^2)\nS = 2 pi r^2 + 2V/r\ndS/dr = {}"


def test_what_words_hold_fixed_does_not_move() -> None:
    assert told(CYLINDER.format(" is fixed", "4 pi r - 2V/r^2"))[-1] == "proved"
    assert told(CYLINDER.format(" is fixed", "4 pi r + 2V/r^2"))[-1] == "refuted"
    found = sg.review(CYLINDER.format("", "4 pi r + 2 pi h"))
    assert found.status == "proved"
    assert any("otherwise: say that V is fixed" in a.text for a in found.assumptions)


def test_what_was_found_as_a_formula_of_x_follows_x() -> None:
    text = "A = x*y\n2x + 2y = 40 is required\ny = 20 - x\nA = x*(20 - x)\n"
    assert told(text.replace("2x +", "require 2x +") + "dA/dx = 20 - 2x")[-1] == "proved"
    assert told(text.replace("2x +", "require 2x +") + "dA/dx = 20 - x")[-1] == "refuted"
    assert told("f = x*y\nat y = x\ndf/dx = y = x")[-2:] == ["proved", "proved"], "chosen, and not found"


def test_a_value_that_is_zero_within_rounding_is_shown() -> None:
    """Its ball is written without a middle."""
    found = sg.review("f = exp(x)*exp(-x/2) - exp(x/2)\nf = 25")
    verdict = found.steps[-1].verdict
    assert verdict is not None
    assert verdict.values is not None
    assert verdict.values[0].startswith("[+/-")
    assert "it was 0 before, and is 25 here" in str(found)


def test_several_equations_are_solved_together() -> None:
    text = "Maximise f = x*y subject to x + y = 10.\nL = x*y - m*(x + y - 10)\ndL/dx = y - m = 0\ndL/dy = x - m = 0\n"
    found = sg.review(text + "so x = y = m\nx + y = 10 gives x = 5, y = 5")
    assert found.status == "proved"
    assert sg.review(text + "so x = 2y").status == "refuted"
    text = (
        "minimise f = x^2 + y^2 subject to a*x + b*y = c.\nL = x^2 + y^2 - k*(a*x + b*y - c)\n"
        "dL/dx = 2x - k a = 0\ndL/dy = 2y - k b = 0\nx = k a/2\ny = k b/2\n"
    )
    assert told(text + "k = 2c/(a^2 + b^2)\nx = a c/(a^2 + b^2)")[-2:] == ["proved", "proved"]
    assert told(text + "k = c/(a^2 + b^2)")[-1] == "refuted"


def test_a_series_is_no_array() -> None:
    text = r"For $f(x) = x^3 - a$ $$x_{n+1} = x_n - \frac{f(x_n)}{f'(x_n)} = \frac{%s x_n^3 + a}{3x_n^2}.$$"
    assert told(text % "2") == ["definition", "definition", "proved"]
    assert told(text % "4") == ["definition", "definition", "refuted"]


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        (
            "y = (3x^2 + 1)^5\ny' = 30x(3x^2+1)^4\ny'' = 30(3x^2+1)^4 + 120x(3x^2+1)^3",
            "forgot-inner-derivative",
        ),
        (
            "f(x) = arctan(x/a)\nf'(x) = a/(a^2 + x^2)\nf''(x) = -2a x/(a^2+x^2)",
            "quotient-denominator-not-squared",
        ),
        (
            "H = -p*log(p) - (1-p)*log(1-p)\ndH/dp = log(1-p) - log(p)\nd2H/dp2 = 1/(1-p) - 1/p",
            "forgot-inner-derivative",
        ),
        (
            r"$f = x^2 y^3$, $\partial f/\partial x = 2 x y^3$, $\frac{\partial^2 f}{\partial x \partial y} = 2 x y^2$",
            "power-lost-factor",
        ),
        (
            "X : real[n, d]; y : real[n]; w : real[d]\nL = sum((X@w - y)**2)/2\ndL/dw = X@(X@w - y)",
            "missing-transpose",
        ),
    ],
)
def test_the_mistake_of_the_last_step_is_named(page: str, kind: str) -> None:
    """Of second derivatives that from the first one as it is written; nobody wrote what is inside of it."""
    wrong = sg.review(page).first_wrong
    assert wrong is not None
    assert wrong.verdict is not None
    assert wrong.verdict.diagnosis[0].kind == kind


def test_what_was_ambiguous_in_a_definition_is_told_there_alone() -> None:
    declared = r"$X \in \mathbb{R}^{n \times d}$, $y \in \mathbb{R}^n$, $w \in \mathbb{R}^d$, "
    found = sg.review(declared + r"$J(w) = \|Xw - y\|^2$, $\nabla_w J(w) = 2 X^\top (X w - y)$")
    assert found.status == "proved"
    assert [a.text for a in found.assumptions if "is read as" in a.text] == [
        'Xw is read as X*w; otherwise: letters="name", or a declaration of Xw'
    ]


def test_a_sign_behind_a_definition_is_meant_from_there_on() -> None:
    assert told(r"Let $f = \sqrt{c^2} x$ with $c > 0$. Then $\frac{df}{dx} = c$.")[-1] == "proved"
    assert told(r"Let $f = \sqrt{c^2} x$. With $c > 0$, $\frac{df}{dx} = c$. Now $\frac{df}{dx} = c$.")[
        -2:
    ] == [
        "proved",
        "undecided",
    ], "that of a claim is one of its sentence, or of all below"


def test_a_name_that_is_let_anew_has_another_meaning() -> None:
    page = "y = tan x\ndy/dx = 1 + tan^2 x\n{}y = sin^2 x\ndy/dx = 2 sin x cos x"
    assert told(page.format("Now let ")) == ["definition", "proved", "definition", "proved"]
    assert told(page.format("")) == ["definition", "proved", "refuted", "refuted"]


def test_an_array_that_is_explained_behind_its_use() -> None:
    text = r"$x \in \mathbb{R}^n$, $f(x) = \log \sum_i e^{x_i}$. Then $\nabla^2 f(x) = \mathrm{diag}(p) %s p p^\top$"
    where = r" where $p = \nabla f(x)$."
    assert told(text % "-" + where)[-2] == "proved"
    assert "refuted" in told(text % "+" + where)


def test_a_bracket_behind_a_product_of_letters() -> None:
    page = "f(x, y) = x e^(x y)\n∂f/∂x = e^(xy)(1 + {})"
    assert told(page.format("xy")) == ["definition", "proved"]
    assert told(page.format("x")) == ["definition", "refuted"]


def test_primes_of_a_change_of_coordinates_are_names() -> None:
    page = r"$x' = x \cos a - y \sin a$, $y' = x \sin a + y \cos a$. Then $x'^2 + y'^2 = x^2 %s y^2$."
    assert told(page % "+") == ["definition", "definition", "proved"]
    assert told(page % "-") == ["definition", "definition", "refuted"]
