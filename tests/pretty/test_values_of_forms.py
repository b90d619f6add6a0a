"""Whatever form is chosen, it has the value of the formula: quotients, decimals in front, and tangents by factors."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.values.evaluate import evaluate
from symgrad.pretty.forms.quotients import forms_of
from symgrad.rewrite.rational.read import rational_of

_AT = {"a": 0.75, "b": -1.25, "c": 2.5, "x": 0.6, "y": 1.7}


def _value(listing: Listing, node: Node) -> float:
    return float(evaluate([node], {listing[n]: v for n, v in _AT.items() if n in listing.names})[0])


@pytest.mark.parametrize(
    "text",
    [
        "6*a*b/4",
        "(4*a + 6*b)/(9*c)",
        "(2*a**2 + 4*a*b + 2*b**2)/(3*c - 6)",
        "(a + b)*(a - b)/(5*(x + y)*(x - 2*y))",
        "(a*x + a*y + b)/(7*x)",
        "(3*a*x + 3*a*y + 3*b)/(7*(x + 1)*(y + 2))",
        "2/3*(a*x + a*y + b*c)**2/(x + 1)",
        "a/2 + b/3 + c/(4*x)",
        "(a**2*x - a**2*y)/(2*(a + b)**2)",
        "-5*a/(3*x) - 5*b/(3*x)",
        "(2*a - 4*b)*(3*x + 6*y)/8",
        "x*(1 - y) + 3*y*(1 - y)/2",
        "a*b - (a*b + a*c + 4)/(6*x*b)",
        "1/(2*a) + 1/(3*a*b)",
        "(a + b)**3/(9*(a + b)*(6*x - 9))",
    ],
)  # fmt: skip
def test_all_forms_of_a_quotient_have_its_value(text: str) -> None:
    listing = parse_program(f"a, b, c, x, y : real\nz = {text}")
    quotient = rational_of(listing["z"])
    assert quotient is not None
    forms = list(forms_of(quotient))
    assert forms
    wanted = _value(listing, listing["z"])
    for form in forms:
        assert _value(listing, form) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "0.123456789*x**2*y",
        "2.5*x**2/0.4",
        "x**3/(0.3*y)",
        "0.1*(0.2*x)*(0.3*y)*x",
        "-0.25*x*y**2/3.0",
        "1.602176634e-19*x**2*y/(1.380649e-23*a)",
        "96485.33212*x**2/(8.314462618*a*4)",
        "exp(-0.7*x*y)*x/0.35",
        "3*(x/0.6)**2 - 0.6*x",
        "(1.5*x - 0.5*y)/(2.0*x + 4.0*y)",
        "sqrt(0.25*x**2 + 0.75)",
        "log(x*12.5)*0.08",
        "0.9*x**4 - 0.1*x*y",
    ],
)  # fmt: skip
def test_a_printed_gradient_with_decimals_has_the_value_of_the_gradient(text: str) -> None:
    program = sg.parse(f"a, x, y : real\nz = {text}")
    gradient = sg.grad(program["z"], program["x"])
    at = {n: v for n, v in _AT.items() if n in ("a", "x", "y")}
    step = 1e-6
    ends = [
        float(
            evaluate([program["z"].node], {program[n].node: v for n, v in {**at, "x": at["x"] + s}.items()})[
                0
            ]
        )
        for s in (step, -step)
    ]
    shown = sg.parse(f"a, x, y : real\nz = {text}\ng = {gradient}")
    value = float(evaluate([shown["g"].node], {shown[n].node: v for n, v in at.items()})[0])
    assert value == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-7)
    simple = sg.parse(f"a, x, y : real\nz = {text}\ng = {sg.simplify(gradient)}")
    assert float(
        evaluate([simple["g"].node], {simple[n].node: v for n, v in at.items()})[0]
    ) == pytest.approx(value, rel=1e-11)
