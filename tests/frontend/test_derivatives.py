"""Derivatives inside programs: what they are, how they are printed and computed, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError

STATE = """
rho, T : positive
R = 461.5
delta = rho/322
tau = 647.096/T
f = R*T*(log(delta) + tau*delta**2 - tau**3*delta)
P = rho**2*grad(f, rho)
s = -grad(f, T)
cv = -T*derivative(f, T, 2)
w2 = grad(P, rho) + T*grad(P, T)**2/(rho**2*cv)
w = sqrt(w2)
"""


def state() -> tuple[sg.Program, dict[str, sg.Expr]]:
    """Return the program, and the same values built in Python."""
    p = sg.parse(STATE)
    f, rho, t = p["f"], p["rho"], p["T"]
    pressure = rho**2 * sg.grad(f, rho)
    capacity = -t * sg.grad(sg.grad(f, t), t)
    squared = sg.grad(pressure, rho) + t * sg.grad(pressure, t) ** 2 / (rho**2 * capacity)
    return p, {"P": pressure, "s": -sg.grad(f, t), "cv": capacity, "w2": squared, "w": sg.sqrt(squared)}


def test_they_are_those_of_grad() -> None:
    p, built = state()
    for name, value in built.items():
        assert p[name].node is value.node


def test_values_and_derivatives_of_later_lines_see_through_them() -> None:
    p, built = state()
    at = {"rho": np.linspace(5, 15, 7), "T": np.linspace(600, 700, 7)}
    for name, value in built.items():
        np.testing.assert_allclose(p[name](**at), value(**at), rtol=1e-12)
    step = 1e-4
    around = [p["w"](rho=at["rho"], T=at["T"] + d) for d in (-step, step)]
    np.testing.assert_allclose(
        sg.grad(p["w"], "T")(**at), (around[1] - around[0]) / (2 * step), rtol=1e-6, atol=1e-9
    )


def test_a_kernel_computes_all_lines() -> None:
    p, built = state()
    kernel = sg.compile(list(p.outputs.values())[4:])
    got = kernel(rho=10.0, T=650.0)
    np.testing.assert_allclose(
        got, [built[n](rho=10.0, T=650.0) for n in ("P", "s", "cv", "w2", "w")], rtol=1e-12
    )


def test_the_program_is_printed_with_them() -> None:
    p, _ = state()
    text = str(p)
    assert "P = rho**2*grad(f, rho)" in text
    assert "cv = -T*derivative(f, T, 2)" in text
    assert "w2 = grad(P, rho) + T*grad(P, T)**2/(rho**2*cv)" in text
    again = sg.parse(text)
    assert str(again) == text
    assert all(again[name].node is p[name].node for name in p.outputs)
    assert str(pickle.loads(pickle.dumps(p))) == text


def test_lines_are_printed_in_the_names_above_them() -> None:
    p, _ = state()
    names = {*p.names}
    for name in ("P", "s", "cv", "w2"):
        text = str(p[name])
        assert text != name
        back = sg.parse(f"{p}\nresult = {text}")["result"] if "where" not in text else None
        assert back is None or sg.equal(back, p[name]).status == "proved"
    assert str(p["w"]) == "sqrt(w2)"
    assert str(sg.grad(p["w"], "w2")) == "1/(2*w)"
    assert names == {*p.names}


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("derivative(sin(x)*y, x, 2, y)", "-sin(x)"),
        ("grad(x**3*y, x)", "3*x**2*y"),
        ("hessian(x**3*y, x)", "6*x*y"),
        ("x : real[3]\njacobian(x**2, x)", "diag(2*x)"),
        ("x : real[3]\ngrad(sum(x**2), x)", "2*x"),
        ("x : real\nh = sin(x)\ny = h**2 + x\ngrad(y, h)", "2*h"),
        ("k : int\nx : real\ngrad(k*x, k)", "0"),
        ("x : real\nf = stop_gradient(x)*x\ng = grad(f, x)\ngrad(g, x)", "0"),
        ("m, k, q, v : real\nL(a, b) = m*b**2/2 - k*a**2/2\np = derivative(L(q, v), v)", "m*v"),
        ("m, k, q, v : real\nL(a, b) = m*b**2/2 - k*a**2/2\np(a, b) = derivative(L(a, b), b)\nH = v*p(q, v) - L(q, v)",
         "(k*q**2 + m*v**2)/2"),
        ("x : real\nf(t) = t**3\ndf(t) = derivative(f(t), t)\ndf(2*x)", "3*(2*x)**2"),
        ("f(t) = t**3\ndf(t) = derivative(f(t), t)\nx : real\ndf(2)*x", "3*2**2*x"),
    ],
)  # fmt: skip
def test_each_function_of_the_notation(text: str, printed: str) -> None:
    assert str(sg.parse(text).last) == printed


def test_a_function_differentiates_by_its_parameter_alone() -> None:
    """The argument 2*x also occurs in the body, where it is a constant."""
    p = sg.parse("x : real\ng(s) = derivative(s*(2*x)**2, s)\ny = g(2*x)")
    assert p["y"](x=3.0) == 36.0


def test_entries_of_inputs() -> None:
    p = sg.parse(
        "x : real[3]\ny = sum(x**3)\na = grad(y, x[1])\nb = grad(y, x[:2])\nc = derivative(y, x[2], 2)"
    )
    x = [1.0, 2.0, 3.0]
    assert p["a"](x=x) == 12.0
    np.testing.assert_array_equal(p["b"](x=x), [3.0, 12.0])
    assert p["c"](x=x) == 18.0


def test_a_formula_that_a_line_contains_as_written_stays_so() -> None:
    p = sg.parse("x : real\nf = sin(x)\ng = grad(f, x)\nh = cos(x)")
    assert p["g"].node is p["h"].node
    assert not p["h"].derived
    assert str(p).endswith("h = cos(x)") or str(p).endswith("h = g")


def test_derivatives_by_latex_are_recorded_too() -> None:
    p = sg.parse("rho, T : real\nf = T*log(rho)")
    q: Any = sg.parse_latex(r"P = \rho^2 \frac{\partial f}{\partial \rho}", p)
    assert str(q).endswith("P = rho**2*grad(f, rho)")
    assert str(q["P"]) == "T*rho"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("grad(x**2, 3)", "'3' is no variable of differentiation"),
        ("grad(x**2, x + 1)", "'x + 1' is no variable of differentiation"),
        ("grad(x**2)", "wrong arguments for grad"),
        ("grad(x**2, x, 2)", "wrong arguments for grad"),
        ("grad(x > 0, x)", "is a truth value"),
        ("derivative(x**2, x, 1/2)", "the order of a derivative is a whole number"),
        ("derivative(x**2, x, 0)", "the order of a derivative is a whole number"),
        ("derivative(x**2, 2)", "the order of a derivative is a whole number"),
        ("derivative(x**2, x, 10**9)", "is no variable of differentiation"),
        ("derivative(x**2, x, 1000000000)", "a derivative of an order above 20"),
        ("x : real[3]\ngrad(x, x)", "grad needs a scalar, and 'x' has shape (3,)"),
        ("x : real[3]\nderivative(sum(x), x, 2)", "a higher derivative by 'x', which is an array"),
        ("x : real[3]\njacobian(x, x[1])", "the derivative of an array by entries"),
        ("m : real\nu ~ Normal(m, 1)\ngrad(u**2, m)", "'u' is drawn from Normal(m, 1), whose mean depends on 'm'"),
        ("grad(x) = x**2", "'grad' is a function already"),
    ],
)  # fmt: skip
def test_what_has_no_derivative_is_refused(text: str, said: str) -> None:
    with pytest.raises(SymgradError) as error:
        sg.parse(text)
    assert said in str(error.value)
    assert "line" in str(error.value)
    assert "try:" in str(error.value)
