"""Curves: derivatives by a value along a parameter, tangents and normals at a point, intersections."""

from __future__ import annotations

import pytest

import symgrad as sg

CYCLOID = "x = r(θ - sin θ)\ny = r(1 - cos θ)\ndy/dθ = r sin θ\n"
THROW = "x = v c t\ny = v s t - g t^2/2\n"
HIGHEST = "$x = v c t$, $y = v s t - \\frac12 g t^2$\n$\\frac{dy}{dx} = 0 \\implies x = \\frac"
CENTRE = "circle x² + y² − 4x + 6y − 12 = 0\n"
SURFACE = "Let $F(x,y,z) = x^2 + 2y^2 + 3z^2$. At the point $(1,1,1)$ "
CIRCLE = "x² + y² = 25, point (3, 4)\ndy/dx = -x/y\n"
FOLIUM = "Find y' if x^3 + y^3 = 6xy\n3x^2 + 3y^2 y' = 6y + 6xy'\n"
ELLIPSE = "x^2 + xy + y^2 = 3, tangent at (1, 1)\n2x + y + x dy/dx + 2y dy/dx = 0\n"
MARKET = (
    "Supply $S(p) = c + s p$ and demand $D(p) = d - b p$. With a tax $t$, equilibrium requires $D(p+t) = S(p)$:\n"
    "$-b(1 + \\frac{dp}{dt}) = s\\frac{dp}{dt}$\n$$\\frac{dp}{dt} = -\\frac{b}"
)
RESISTORS = "1/R = 1/R1 + 1/R2\nR = R1 R2/(R1 + R2)\n"
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
    "a tangent where a sine is zero": "y = x^2 sin 3x\nso the tangent line at x = pi is y = -3 pi^2 (x - pi)",
    "a tangent that is vertical": CENTRE + "The tangent at (-3, -3) is x = -3.",
    "a tangent that is horizontal": CENTRE + "The tangent at (2, 2) is horizontal: y = 2",
    "a linear approximation": "f(x) = sqrt(x)\nAt x = 4 the linear approximation is L(x) = 2 + (x - 4)/4",
    "a plane": "z = x^2 + y^2\nAt (1, 2) the tangent plane is z = 2x + 4y - 5",
    "a plane at a surface": SURFACE + "the tangent plane is $x + 2y + 3z = 6$.",
    "a normal in space": SURFACE + "the normal line is $\\frac{x-1}{1} = \\frac{y-1}{2} = \\frac{z-1}{3}$.",
    "a line and a circle": "x² + y² = 8\ny = x\n2x² = 8",
    "a line that words name": CENTRE
    + "line y = x, sub it in\n2x² + 2x − 12 = 0\nx² + x − 6 = 0 → x = 2 or x = −3",
    "a multiplier": "x + y = 9\n2x = λ\n4y = λ\nso x = 2y",
    "a multiplier of a formula": "L = x*y + λ(10 − x − y)\nx + y = 10\ny = λ\nx = λ\n2 λ = 10",
    "a question": FOLIUM + "y'(y^2 - 2x) = 2y - x^2\nat (3,3): y' = (6-9)/(9-6) = -1",
    "a tangent below its curve": ELLIPSE + "dy/dx = -(2x + y)/(x + 2y)\ntangent: y = -x + 2",
    "an equilibrium": MARKET + "{b+s}.$$",
    "an input that was solved for": RESISTORS + "dR/dR1 = R2^2/(R1 + R2)^2 = (R/R1)^2",
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
    "a tangent where a sine is zero": "y = x^2 sin 3x\nso the tangent line at x = pi is y = 7 (x - pi)",
    "a tangent in another direction": CENTRE + "The tangent at (-3, -3) is y = -3.",
    "a linear approximation": "y = e^(2x)\nAt x = 0, the linear approximation is y = 1 + 3x",
    "a plane": "z = x^2 + y^2\nAt (1, 2) the tangent plane is z = 2x + 4y - 4",
    "a plane at a surface": SURFACE + "the tangent plane is $x + y + 4z = 6$.",
    "a normal in space": SURFACE + "the normal line is $\\frac{x-1}{1} = \\frac{y-1}{3}= \\frac{z-1}{2}$.",
    "a sign that is lost": "x + y = 9\ny = 9 + x",
    "a multiplier": "f = x^2 + 2y^2\nx + y = 9\n2x = λ\n2y = λ",
    "what does not follow from conditions that say the same": "R T/(4 b^2) = 2a/(27 b^3)\n"
    "2 R T/(8 b^3) = 6 a/(81 b^4)\nR T/(2b) - a/(9b^2) = a/(9 b^2)",
    "a slope at a point": FOLIUM + "at (3,3): y' = 1",
    "a tangent below its curve": ELLIPSE + "dy/dx = -(2x + y)/(x + 2y)\ntangent: y = x",
    "an equilibrium": MARKET + "{b-s}.$$",
    "an input that was solved for": RESISTORS + "dR/dR1 = R1^2/(R1 + R2)^2",
    "no intersection": "y = (x + 1)^2\ny = x^2 + x + 1",
}
UNDECIDED = {
    "several parameters": "p = c q r\ns = q r^2\ndp/ds = c/(2 r)",
    "a tangent nowhere": "y = x^2 + 1\nThe tangent is y = 2x",
    "a tangent from elsewhere": "y = x^2 + 1, at x = 3.\nThe tangent through the origin is y = 2x",
    "a line that is not put in": CENTRE + "line y = x, sub it in\n2x² + 4x − 12 = 0",
    "a pair of equations that is not solved": "x² + y² = 8\nxy = 4\nx = y",
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
