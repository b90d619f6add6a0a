"""Pages as students type them, each right line of which has to be found right, and each wrong one wrong."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.documents.sides.quotients import typed_quotients


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
