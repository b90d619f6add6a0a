"""Derivatives of the solutions of equations are printed in the names of the program, as in a textbook."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg

GAS = """
R = 8.314462618; a = 0.364; b = 4.267e-5
T, V, P0 : real(0, inf)
alpha = (1 + 0.5*(1 - sqrt(T/304.13)))**2
P = R*T/(V - b) - a*alpha/(V*(V + b))
residual = P - P0
h = V**2*alpha
"""
POLAR = "x, y, a, b : real; r = sqrt(x**2 + y**2); f = r - a; g = atan(y/x) - b*r"


def gas() -> tuple[sg.Program, Any]:
    p = sg.parse(GAS)
    return p, sg.implicit(p["residual"], "V", start=0.025)


def value(text: str, expr: sg.Expr, at: dict[str, float]) -> float:
    head, where, lines = expr.text().partition("\nwhere\n")
    again = sg.parse(f"{text}\nanswer = {head}{where}{lines}")["answer"]
    return float(again(**{str(s.name): at[str(s.name)] for s in again.inputs}))


def test_the_first_derivative_of_a_solution() -> None:
    p, volume = gas()
    slope = volume.grad(p["V"], "T")
    assert str(slope).split("\n")[0] == "dP_dT/(R*T/(V - b)**2 - a*alpha*(b + 2*V)/(V**2*(V + b)**2))"
    assert (
        str(volume.grad(p["h"], "P0")) == "2*V*alpha/(a*alpha*(b + 2*V)/(V**2*(V + b)**2) - R*T/(V - b)**2)"
    )
    assert r"V^{2} \frac{\partial \alpha}{\partial T}" in volume.grad(p["h"], "T").latex()


def test_the_second_derivative_of_a_solution_is_the_formula_of_textbooks() -> None:
    p, volume = gas()
    again = volume.grad(volume.grad(p["V"], "T"), "T")
    assert str(again).split("\n")[0] == (
        "(2*d2P_dV_dT*dP_dT*dP_dV - d2P_dT2*dP_dV**2 - d2P_dV2*dP_dT**2)/dP_dV**3"
    )


def test_values_of_named_derivatives() -> None:
    p, volume = gas()
    root = float(volume(T=310.0, P0=1e5))
    at = {"T": 310.0, "P0": 1e5, "V": root}
    step = 1e-2
    nearby = [float(volume(T=310.0 + k * step, P0=1e5)) for k in (-1, 0, 1)]
    differences = ((nearby[2] - nearby[0])/(2*step), (nearby[2] - 2*nearby[1] + nearby[0])/step**2)  # fmt: skip
    first = volume.grad(p["V"], "T")
    for expr, expected, rel in zip((first, volume.grad(first, "T")), differences, (1e-8, 1e-2), strict=True):
        assert value(GAS, expr, at) == pytest.approx(expected, rel=rel)
        assert value(GAS, expr, at) == pytest.approx(volume.evaluate(expr, T=310.0, P0=1e5), rel=1e-12)
    mixed = [volume.grad(p["h"], x) for x in ("T", "P0")]
    for expr in (*mixed, volume.grad(mixed[0], "P0")):
        assert value(GAS, expr, at) == pytest.approx(volume.evaluate(expr, T=310.0, P0=1e5), rel=1e-12)


def test_two_unknowns() -> None:
    p = sg.parse(POLAR)
    point = sg.implicit([p["f"], p["g"]], ["x", "y"], start=[1, 1])
    assert [str(point.grad(p["r"], s)) for s in ("a", "b")] == ["1", "0"]
    assert str(point.grad("x", "b")) == "-r*y"
    for expr in (point.grad("x", "a"), point.grad("y", "b"), point.grad(point.grad("x", "a"), "b")):
        x, y = point(a=2.0, b=0.3)
        at = {"a": 2.0, "b": 0.3, "x": float(x), "y": float(y)}
        assert value(POLAR, expr, at) == pytest.approx(point.evaluate(expr, a=2.0, b=0.3), rel=1e-12)


def test_an_equation_with_derivatives_is_written_in_names() -> None:
    p = sg.parse("R = 461.5; rho, T, P0 : positive; delta = rho/322; f = R*T*(log(delta) + exp(-delta))")
    density = sg.implicit(p["rho"] ** 2 * sg.grad(p["f"], "rho") - p["P0"], "rho", start=1.0)
    assert str(density).split("\n")[0] == "rho with 322*R*T*delta**2*(1/delta - exp(-delta)) - P0 = 0"
