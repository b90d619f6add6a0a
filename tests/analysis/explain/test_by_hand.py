"""Derivations by hand: every line is true, follows from the lines above, and is a rule that a student knows."""

from __future__ import annotations

import random

import numpy as np
import pytest

import symgrad as sg
from symgrad.analysis.explain.by_hand import RuleLine
from symgrad.analysis.explain.derivation import explain
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import substitute, symbols_of
from tests.graphs import SMOOTH, inputs, random_graph


def lines(text: str, wrt: str = "x", head: str = "x : real") -> list[str]:
    d = sg.explain(f"{head}\ny = {text}", wrt)
    return [f"{line.rule}: {line}" for line in d.rules]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x**2*sin(3*x)", ["chain rule (sin): d(sin(3*x))/dx = 3*cos(3*x)",
                           "product rule: dy/dx = 2*x*sin(3*x) + x**2*(3*cos(3*x)) = 3*x**2*cos(3*x) + 2*x*sin(3*x)"]),
        ("x/(1 + x**2)", ["quotient rule: dy/dx = (1 + x**2 - x*(2*x))/(1 + x**2)**2 = (1 - x**2)/(x**2 + 1)**2"]),
        ("1/(1 + exp(-x))", ["reciprocal rule: dy/dx = exp(-x)/(1 + exp(-x))**2"]),
        ("(x**2 + 1)**5", ["power and chain rule: dy/dx = 5*(x**2 + 1)**4*(2*x) = 10*x*(x**2 + 1)**4"]),
        ("2**(x**2)", ["exponential rule: dy/dx = 2**x**2*log(2)*(2*x) = 2*log(2)*x*2**x**2"]),
        ("x**2 + 3*x", ["sum rule: dy/dx = 2*x + 3"]),
        ("x**3", ["power rule: dy/dx = 3*x**2"]),
        ("tan(x)", ["derivative of tan: dy/dx = 1 + tan(x)**2"]),
        ("-x", ["sign: dy/dx = -1"]),
        ("3*x", ["constant factor: dy/dx = 3"]),
        ("where(x > 0, x**2, x**3)", ["piece by piece: dy/dx = where(x > 0, 2*x, 3*x**2)"]),
    ],
)  # fmt: skip
def test_lines_are_those_of_a_textbook(text: str, told: list[str]) -> None:
    assert lines(text) == told


def test_named_values_have_a_line_each() -> None:
    p = sg.parse("x : real\nu = x**2 + 1\nv = sin(u)\ny = u*v")
    assert [str(line) for line in sg.explain(p["y"], "x").rules] == [
        "du/dx = 2*x",
        "dv/dx = cos(u)*(2*x) = 2*x*cos(u)",
        "dy/dx = 2*x*v + u*(2*x*cos(u)) = 2*(x*cos(u)*u + x*v)",
    ]


STATE = """
R = 8.314462618; a = 0.364; b = 4.267e-5
T, rho : real(0, inf)
alpha = (1 + 0.5*(1 - sqrt(T/304.13)))**2
f = R*T*log(rho/(1 - b*rho)) - a*alpha*rho
P = rho**2*grad(f, rho)
dP = grad(P, rho)
"""


def test_a_derivative_inside_a_formula_is_written_as_one() -> None:
    p = sg.parse(STATE)
    d = sg.explain(p["P"], "rho")
    again, product = d.rules
    curvature = "R*T*(2*b*rho - 1)/(rho**2*(b*rho - 1)**2)"
    assert (again.rule, str(again)) == ("higher derivative", f"d(grad(f, rho))/drho = {curvature}")
    assert product.applied == f"2*rho*grad(f, rho) + rho**2*({curvature})"
    assert str(d).split("\n")[2] == "  P = rho**2*grad(f, rho)"
    assert d.steps[0].equation == "P = rho**2*grad(f, rho)"
    at = {"T": 300.0, "rho": 2e3}
    expected = sg.grad(sg.grad(p["f"], "rho"), "rho")(**at)
    assert _value(again.derivative, at) == pytest.approx(expected, rel=1e-12)
    assert r"2 \rho \frac{\partial f}{\partial \rho} + \rho^{2}" in d.latex()
    assert r"\frac{\partial^{2} f}{\partial \rho^{2}} &= " in d.latex()


def _value(text: str, at: dict[str, float]) -> float:
    return float(sg.parse(f"{STATE}answer = {text}")["answer"](**at))


def test_a_derivative_that_is_explained_is_written_as_one() -> None:
    p = sg.parse(STATE)
    assert "  dP = grad(P, rho)\n" in str(sg.explain(p["dP"], "T"))
    slope = sg.explain(sg.grad(p["f"], "rho"), "T")
    title, _, value, gradient, *_ = str(slope).split("\n")
    assert title == "grad(f, rho), differentiated by T"
    assert value == "  grad(f, rho) = R*T/(rho*(1 - b*rho)) - a*alpha"
    assert gradient.startswith("  d(grad(f, rho))/dT = a*(3*sqrt(304.13)")
    assert str(slope.adjoints[0]) == "alpha_bar = -a"
    (product,) = [
        str(a) for a in sg.explain(p["rho"] * sg.grad(p["f"], "rho"), "T").adjoints if a.of == "alpha"
    ]
    assert product == "alpha_bar = -a*rho"
    rows = str(sg.explain(p["dP"], "T").report()).split("\n")
    assert rows[3:6] == [
        "  f = R*T*log(rho/(1 - b*rho)) - 0.364*alpha*rho",
        "  P = rho**2*grad(f, rho)",
        "  dP = grad(P, rho)",
    ]


def test_a_derivative_without_the_variable_stays_a_factor() -> None:
    text = "q, v, m, k : real; L = m*v**2/2 - k*q**4/2; H = v*derivative(L, q, 2)*grad(L, v)"
    assert [line.applied for line in sg.explain(text, "q").rules] == ["-12*k*q", "v*(-12*k*q)*grad(L, v)"]


def test_the_page_ends_in_the_gradient_that_it_begins_with() -> None:
    text = str(sg.explain("I_0, V_T, R, v : real(0, inf)\nI = I_0*(exp(v/V_T) - 1) - v/R", "v"))
    head, _, derivation = text.partition("by the rules, from the inside out")
    assert "from the output back" not in text
    assert derivation.split(" = ")[-1] == head.split("dI/dv = ")[1].strip() == "I_0*exp(v/V_T)/V_T - 1/R"


def test_several_variables_one_after_the_other() -> None:
    d = sg.explain("a, x : real\ny = sin(a*x)", ["a", "x"])
    assert [str(line) for line in d.rules] == ["dy/da = cos(a*x)*x", "dy/dx = cos(a*x)*a"]
    assert d.latex().count(r"\text{chain rule (sin)}") == 2
    assert [r["by"] for r in d.json()["rules"]] == ["a", "x"]


@pytest.mark.parametrize(
    ("program", "wrt"),
    [
        ("x : real[n]\ny = sum(x**2)", "x"),
        ("x : real\ny = sin(stop_gradient(x))*x", "x"),
        ("x : real\nu ~ Uniform(0, 1)\ny = sin(x*u)", "x"),
        ("x : real\ny = x**x", "x"),  # where that has a derivative is no matter of one line
        ("x, z : real\ny = z**2", "x"),
        ("x : real\ny = " + "sin(" * 40 + "x" + ")" * 40, "x"),
    ],
)
def test_what_is_no_calculus_is_told_by_its_steps(program: str, wrt: str) -> None:
    d = sg.explain(program, wrt)
    assert d.rules == ()
    assert "by the rules" not in str(d)


def slope(of: Node, by: Node) -> Node:
    return pull_back([of], [as_node(1)], [by]).gradients[0]


@pytest.mark.parametrize("seed", range(60))
def test_every_line_is_true(seed: int) -> None:
    """Each line, and what its rule gives, against the backward pass of the same part, at points."""
    graph = random_graph(seed, inputs(2), size=9, ops=(*SMOOTH, "log", "atan2", "hypot", "cosh", "cbrt"))
    found = [line for x in symbols_of([graph]) for line in explain(graph, [x]).rules]
    rng = random.Random(seed)
    points = {s.name: np.array([rng.uniform(-2, 2) for _ in range(40)]) for s in inputs(2)}
    for line in found:
        assert_same(line, points)


def assert_same(told: RuleLine, points: dict[str, np.ndarray]) -> None:
    line = told.line
    truth, applied, short = (
        values(n, points) for n in (slope(line.of, line.by), line.applied, line.derivative)
    )
    there = np.isfinite(truth)
    np.testing.assert_allclose(applied[there], truth[there], rtol=1e-9, atol=1e-9, err_msg=str(told))
    np.testing.assert_allclose(short[there], truth[there], rtol=1e-9, atol=1e-9, err_msg=str(told))
    assert np.isnan(truth[np.isnan(short)]).all(), "what is short is not defined in fewer places"


def values(node: Node, points: dict[str, np.ndarray]) -> np.ndarray:
    e = sg.Expr(node)
    given = {str(i): points[str(i)] for i in e.inputs}
    with np.errstate(all="ignore"):
        value = sg.compile(e, list(given))(*given.values()) if given else float(e())
    return np.broadcast_to(np.asarray(value, dtype=float), (40,))


def test_random_graphs_are_derived_by_hand() -> None:
    told = sum(bool(explain(g, [x]).rules) for k in range(60) for g, x in [some(k)])
    assert told > 30


def some(seed: int) -> tuple[Node, Node]:
    graph = random_graph(seed, inputs(2), size=9)
    x = inputs(1)[0]
    return substitute([graph], {inputs(2)[1]: x * 2})[0] + x, x
