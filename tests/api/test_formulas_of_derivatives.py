"""Formulas of derivatives: printed in the names of the program, computed in the forms of the derivatives."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.expr import handle
from symgrad.api.handles.formatting import format_many, latex_many

STATE = """
rho : positive
T : positive
R = 461.5
delta = rho/322
tau = 647.096/T
f = R*T*(log(delta) + 0.5*delta*tau**2 + exp(-delta))
"""


def state() -> dict[str, sg.Expr]:
    """Pressure, entropy, heat capacity and the square of the speed of sound, from a free energy."""
    p = sg.parse(STATE)
    rho, t, f = p["rho"], p["T"], p["f"]
    pressure = rho**2 * sg.grad(f, rho)
    heat = -t * sg.grad(sg.grad(f, t), t)
    slope = sg.grad(pressure, rho)
    return {
        "P": pressure,
        "s": -sg.grad(f, t),
        "cv": heat,
        "dP": slope,
        "w2": slope + t / rho**2 * sg.grad(pressure, t) ** 2 / heat,
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("P", "161*R*T*delta**2*(tau**2 - 2*exp(-delta) + 2/delta)"),
        ("s", "R*delta*tau**2 - f/T"),
        ("cv", "-R*delta*tau**2"),
        ("dP", "R*T*((delta*tau**2 + 1)*exp(delta) + delta*(delta - 2))*exp(-delta)"),
    ],
)
def test_they_are_printed_in_the_names_of_the_program(name: str, text: str) -> None:
    assert str(state()[name]) == text


@pytest.mark.parametrize("name", ["P", "s", "cv", "dP", "w2"])
def test_what_is_printed_is_the_formula(name: str) -> None:
    expr = state()[name]
    lines = str(expr).split("\n")
    bodies = [line.strip() for line in lines[2:]][::-1]
    again = sg.parse("\n".join([STATE, *bodies, f"result = {lines[0]}"]))["result"]
    at = {"rho": 200.0, "T": 700.0}
    assert float(again(**at)) == pytest.approx(float(expr(**at)), rel=1e-12)
    assert sg.equal(again, expr).status == "proved"


def test_their_derivatives_keep_their_digits() -> None:
    p = sg.parse("x : real\nL = sin(x)/x")
    x = p["x"]
    expr = 2 * x * sg.grad(p["L"], x) + 1 / x
    for value in (1e-8, 0.5):
        found = [float(expr(x=value)), float(sg.compile(expr)(value))]
        found.append(float(pickle.loads(pickle.dumps(expr))(x=value)))
        slope = -value / 3 if value < 1e-3 else math.cos(value) / value - math.sin(value) / value**2
        assert found == pytest.approx([2 * value * slope + 1 / value] * 3, rel=1e-15)
    whole = x * sg.grad(p["L"], x)
    assert float(whole(x=1e-8)) == pytest.approx(-1e-16 / 3, rel=1e-14)
    assert float(sg.compile([p["L"], whole])(1e-8)[1]) == pytest.approx(-1e-16 / 3, rel=1e-14)


def test_what_stands_around_a_derivative_is_computed_as_written() -> None:
    p = sg.parse("x : real\ny = x**2")
    expr = (p["x"] + sg.grad(p["y"], "x")) - p["x"]
    value: Any = np.float64(0.1)
    assert float(expr(x=value)) == (value + 2 * value) - value
    assert float(sg.compile(expr)(value)) == (value + 2 * value) - value


def test_the_same_formula_without_its_derivatives_is_another_kernel() -> None:
    p = sg.parse("x : real\nL = sin(x)/x")
    expr = p["x"] * sg.grad(p["L"], "x")
    plain = handle(expr.node)
    assert not plain.parts
    at = 1e-8
    written = float(plain(x=at))
    assert written != float(expr(x=at))
    assert [float(sg.compile(e)(at)) for e in (expr, plain, expr)] == [
        float(expr(x=at)),
        written,
        float(expr(x=at)),
    ]


def test_stops_of_the_user_stay_in_print() -> None:
    p = sg.parse("x : real\ny = x**2")
    expr = p["x"] + sg.stop_gradient(sg.grad(p["y"], "x") - p["x"])
    assert "stop_gradient" in str(expr)
    assert str(sg.grad(expr, "x")) == "1"


def test_several_of_them_are_written_together() -> None:
    quantities = state()
    pressure, entropy = quantities["P"], quantities["s"]
    texts, below, notes = format_many([pressure, entropy])
    assert texts == [str(pressure), str(entropy)]
    assert below == []
    assert len(notes) == 2
    assert latex_many([pressure], ["P"]) == f"P = {pressure.latex()}"
    for report in (pressure.report(), sg.compile([pressure, entropy]).report()):
        assert str(pressure) in str(report)
        assert "923/2" not in str(report)


def test_their_partial_derivatives_and_hessians_are_named() -> None:
    p = sg.parse(STATE)
    pressure = p["rho"] ** 2 * sg.grad(p["f"], "rho")
    assert str(sg.derivatives(pressure, "rho")["rho"]) == str(sg.grad(pressure, "rho"))


def test_steps_of_optimisers_are_printed_in_the_names_of_the_program() -> None:
    p = sg.parse("X : real[n, d]\ny : real[n]\nw, m : real[d]\nr = X@w - y\nloss = mean(r**2)/2")
    slope = sg.grad(p["loss"], "w")
    moment = 0.9 * p["m"] + 0.1 * slope
    assert str(moment) == "X.T@r/(10*n) + 0.9*m"
    assert str(p["w"] - 0.05 * slope) == "w - 0.05*X.T@r/n"
    again = sg.parse(f"{p}\nresult = {moment}")["result"]
    assert sg.equal(again, moment).status == "proved"
    draw = np.random.default_rng(2)
    values = {
        "X": draw.normal(size=(50, 3)),
        "y": draw.normal(size=50),
        "w": draw.normal(size=3),
        "m": np.ones(3),
    }
    expected = 0.9 + 0.1 * values["X"].T @ (values["X"] @ values["w"] - values["y"]) / 50
    np.testing.assert_allclose(moment(**values), expected, rtol=1e-13)
