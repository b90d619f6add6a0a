"""Curves: derivatives by a value along a parameter, tangents and normals at a point, intersections."""

from __future__ import annotations

import pytest

import symgrad as sg

CYCLOID = "x = r(θ - sin θ)\ny = r(1 - cos θ)\ndy/dθ = r sin θ\n"
THROW = "x = v c t\ny = v s t - g t^2/2\n"
HIGHEST = "$x = v c t$, $y = v s t - \\frac12 g t^2$\n$\\frac{dy}{dx} = 0 \\implies x = \\frac"
CIRCLE = "x² + y² = 25, point (3, 4)\ndy/dx = -x/y\n"
RIGHT = {
    "a cycloid": CYCLOID + "dy/dx = sin θ/(1 - cos θ)\nd^2y/dx^2 = -1/(r(1 - cos θ)^2)",
    "an ellipse": "x = a cos t, y = b sin t\ndy/dx = -(b/a) cot t",
    "an astroid": "$x = \\cos^3 t$, $y = \\sin^3 t$\n$\\frac{dy}{dx} = \\frac{dy/dt}{dx/dt} = -\\tan t$",
    "a throw": THROW + "y = x s/c - g x^2/(2 v^2 c^2)\ndy/dx = s/c - g x/(v^2 c^2)",
    "a highest point": HIGHEST + "{v^2 c s}{g}$",
    "a tangent": "y = x² - 3x + 4 at P(3, 4).\nTangent: y - 4 = 3(x - 3) → y = 3x - 5",
    "a normal": "y = x² - 3x + 4 at P(3, 4).\nNormal: y - 4 = -(1/3)(x - 3) → 3y + x = 15",
    "a slope at a point": "y = x² - 3x + 4 at P(3, 4).\nGradient: dy/dx = 2x - 3 = 3 at P.",
    "a tangent of a circle": CIRCLE + "tangent: y - 4 = -3/4 (x - 3)\ni.e. 3x + 4y = 25",
    "a tangent of a function": "f(x) = x^2 - 2x\nThe tangent at x = 3 is y = 4x - 9",
    "a tangent at a letter": "y = x^2, at x = a.\nThe tangent is y = 2 a x - a^2",
    "an intersection": "y = x^2\ny = 2x + 3\nx^2 = 2x + 3\nx^2 - 2x - 3 = 0\n(x - 3)(x + 1) = 0",
}
WRONG = {
    "a cycloid": CYCLOID + "dy/dx = sin θ/(1 + cos θ)",
    "an ellipse": "x = a cos t, y = b sin t\ndy/dx = (b/a) cot t",
    "a throw": THROW + "y = x s/c - g x^2/(2 v^2 c^2)\ndy/dx = s/c - 2 g x/(v^2 c^2)",
    "a highest point": HIGHEST + "{2 v^2 c s}{g}$",
    "a tangent": "y = x² - 3x + 4 at P(3, 4).\nTangent: y - 4 = 2(x - 3)",
    "a tangent that is rewritten": "y = x² - 3x + 4 at P(3, 4).\nTangent: y - 4 = 3(x - 3) → y = 3x - 13",
    "a tangent for a normal": "y = x² - 3x + 4 at P(3, 4).\nNormal: y - 4 = 3(x - 3)",
    "another line through the point": CIRCLE + "The tangent is 4x + 3y = 24.",
    "a tangent of a function": "f(x) = x^2 - 2x\nThe tangent at x = 3 is y = 4x - 8",
    "an intersection": "y = x^2\ny = 2x + 3\nThe curves intersect where x^2 = 2x - 3",
    "no intersection": "y = (x + 1)^2\ny = x^2 + x + 1",
}
UNDECIDED = {
    "several parameters": "p = c q r\ns = q r^2\ndp/ds = c/(2 r)",
    "a tangent nowhere": "y = x^2 + 1\nThe tangent is y = 2x",
    "a tangent from elsewhere": "y = x^2 + 1, at x = 3.\nThe tangent through the origin is y = 2x",
    "a parallel": "y = x^2 + 1, at x = 3.\nThe tangent is parallel to the line y = 6x + 2",
}


@pytest.mark.parametrize("case", RIGHT)
def test_right_lines_about_a_curve_are_proved(case: str) -> None:
    found = sg.review(RIGHT[case])
    assert {s.status for s in found.steps if s.status} == {"proved"}, found.text()


@pytest.mark.parametrize("case", WRONG)
def test_wrong_lines_about_a_curve_are_refuted(case: str) -> None:
    found = sg.review(WRONG[case])
    assert [s.line for s in found.steps if s.status == "refuted"][-1:] == [len(WRONG[case].splitlines())], (
        found.text()
    )


@pytest.mark.parametrize("case", UNDECIDED)
def test_what_does_not_name_its_point_or_parameter_is_undecided(case: str) -> None:
    found = sg.review(UNDECIDED[case])
    assert found.status == "undecided", found.text()


def test_what_is_held_fixed_along_a_curve_is_listed() -> None:
    found = sg.review(THROW + "dy/dx = (v s - g t)/(v c)")
    assert "line 3: v held fixed in derivatives along a curve" in [str(a) for a in found.assumptions]
