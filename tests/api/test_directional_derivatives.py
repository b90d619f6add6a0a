"""jvp, vjp and hvp of scalars of programs are printed in the names of the program, and mean the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symgrad as sg

STATE = """
R = 8.314462618; a = 0.364; b = 4.267e-5
T, rho : real(0, inf)
alpha = (1 + 0.5*(1 - sqrt(T/304.13)))**2
f = R*T*log(rho/(1 - b*rho)) - a*alpha*rho
"""
SIR = """
beta, gamma, N, S, I : real(0, inf)
lam = beta*I/N
dS = -lam*S
dR = gamma*I
"""
P, Q = sg.parse(STATE), sg.parse(SIR)
V, W = sg.symbols("v w")
POINT = {
    "T": 310.0,
    "rho": 2e3,
    "v": 0.7,
    "w": -1.25,
    "beta": 0.3,
    "gamma": 0.1,
    "N": 1e3,
    "S": 900.0,
    "I": 20.0,
}
BY_T = "a*rho*(3*sqrt(304.13)*sqrt(T) - T)/(1216.52*T) + R*log(rho/(1 - b*rho))"
BY_RHO = "R*T/(rho*(1 - b*rho)) - a*alpha"

CASES: list[tuple[Callable[[], sg.Expr], str]] = [
    (lambda: sg.jvp(P["f"], "T", V), f"v*({BY_T})"),
    (lambda: sg.jvp(P["f"], ["rho"], [2]), f"2*({BY_RHO})"),
    (lambda: sg.jvp(P["f"], ["T", "rho"], [V, W]), f"df_dT*v + w*({BY_RHO})\nwhere\n  df_dT = {BY_T}"),
    (lambda: sg.vjp(P["f"], "rho", V), f"v*({BY_RHO})"),
    (lambda: sg.hvp(P["f"], "T", V), "-3*a*rho*v/(8*sqrt(304.13)*T**(3/2))"),
    (lambda: sg.vjp([Q["dS"], Q["dR"]], ["S", "I"], [V, W])[0], "-lam*v"),
    (lambda: sg.jvp([Q["dS"], Q["dR"]], "I", V)[1], "gamma*v"),
    (lambda: W * sg.grad(P["f"], "rho"), f"w*({BY_RHO})"),
    (lambda: sg.grad(sg.jvp(P["f"], "rho", V), "T"),
     "v*(a*(3*sqrt(304.13)*sqrt(T) - T)/(1216.52*T) + R/(rho*(1 - b*rho)))"),
]  # fmt: skip


def value(expr: sg.Expr) -> float:
    return float(expr(**{str(s.name): POINT[str(s.name)] for s in expr.inputs}))


@pytest.mark.parametrize(("made", "text"), CASES)
def test_sums_of_slopes_times_tangents_are_printed(made: Callable[[], sg.Expr], text: str) -> None:
    assert str(made()) == text


@pytest.mark.parametrize("made", [made for made, _ in CASES])
def test_the_text_is_read_back_as_the_value(made: Callable[[], sg.Expr]) -> None:
    expr = made()
    result, _, lines = str(expr).partition("\nwhere\n")
    text = STATE + SIR + "v, w : real\n" + "\n".join(reversed(lines.split("\n"))).replace("  ", "")
    again = sg.parse(f"{text}\nanswer = {result}")["answer"]
    assert value(again) == pytest.approx(value(expr), rel=1e-12)
    expected = made().text(expand=True)
    plain = sg.parse(f"{STATE}{SIR}v, w : real\nanswer = {expected}")["answer"]
    assert value(plain) == pytest.approx(value(expr), rel=1e-11)


def test_latex_has_the_names() -> None:
    slope = r"\frac{R T}{\rho \left(1 - b \rho\right)} - a \alpha"
    assert sg.jvp(P["f"], "rho", V).latex() == rf"v \left({slope}\right)"
    whole = sg.jvp(P["f"], ["T", "rho"], [V, W]).latex()
    assert rf"\frac{{\partial f}}{{\partial T}} v + w \left({slope}\right)" in whole


def test_a_tangent_with_the_name_of_another_value_is_not_mistaken_for_it() -> None:
    alpha = sg.symbols("alpha")
    expr = sg.jvp(P["f"], "rho", alpha)
    assert str(expr) == expr.text(expand=True)
    expected = sg.jvp(P["f"], "rho", V)(T=310.0, rho=2e3, v=3.0)
    assert expr(T=310.0, rho=2e3, alpha=3.0) == pytest.approx(expected, rel=1e-13)


def test_a_new_line_does_not_take_the_name_of_a_tangent() -> None:
    taken, other = sg.symbols("df_dT w")
    lines = str(sg.jvp(P["f"], ["T", "rho"], [taken, other])).split("\n")
    name = lines[2].split(" = ")[0].strip()
    assert name != "df_dT"
    assert {name, "df_dT"} == set(lines[0].split(" + ")[0].split("*"))


def test_a_cotangent_that_varies_is_held_fixed() -> None:
    pulled = sg.vjp(P["f"], "rho", P["rho"] ** 2)
    expected = 2e3**2 * sg.grad(P["f"], "rho")(T=310.0, rho=2e3)
    assert pulled(T=310.0, rho=2e3) == pytest.approx(expected, rel=1e-13)
    again = sg.parse(f"{STATE}answer = {pulled}")["answer"]
    assert again(T=310.0, rho=2e3) == pytest.approx(expected, rel=1e-12)


def test_variables_that_depend_on_each_other_are_independent_in_jvp() -> None:
    pushed = sg.jvp(P["f"], ["T", "alpha"], [V, W])
    at = {"T": 310.0, "rho": 2e3, "v": 0.7, "w": -1.25}
    by_alpha = -0.364 * 2e3
    by_t = 8.314462618 * np.log(2e3 / (1 - 4.267e-5 * 2e3))
    assert pushed(**at) == pytest.approx(0.7 * by_t - 1.25 * by_alpha, rel=1e-12)
    again = sg.parse(f"{STATE}v, w : real\nanswer = {pushed}")["answer"]
    assert again(**at) == pytest.approx(pushed(**at), rel=1e-12)
