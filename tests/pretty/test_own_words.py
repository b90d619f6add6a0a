"""What is printed keeps what the user wrote: functions, differences, named values; and rows are stacked."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.pretty.named_derivatives import name_derivatives

_OPTION = """S, K, sigma, T : positive
r : real
d1 = (log(S/K) + (r + sigma**2/2)*T)/(sigma*sqrt(T))
d2 = d1 - sigma*sqrt(T)
C = S*ndtr(d1) - K*exp(-r*T)*ndtr(d2)"""
_CHAIN = """T : real[k, k]
U : real[3, k]
a0 = U[0]
a1 = logsumexp(a0[:, None] + T, axis=0) + U[1]
a2 = logsumexp(a1[:, None] + T, axis=0) + U[2]
Z = logsumexp(a2)"""
_GAS = "V, T, n, R, a, b : positive\nP = n*R*T/(V - n*b) - a*n**2/V**2"
_FERMI = "E, mu : real\nkT : positive\nf = 1/(exp((E - mu)/kT) + 1)"

CASES = [
    ("z : real[k]\nt : int(0, k-1)\nP = softmax(z)\nloss = -log(P[t])", "z", "P - one_hot(t, k)"),
    ("z : real[5]\nt : int(0, 4)\nP = softmax(z)\nloss = -2*log(P[t])", "z", "2*(P - one_hot(t, 5))"),
    ("x : real\ny = gelu(x)", "x", "x*exp(-x**2/2)/sqrt(2*pi) + ndtr(x)"),
    ("x : real\ny = x*ndtr(3*x)", "x", "3*x*exp(-9*x**2/2)/sqrt(2*pi) + ndtr(3*x)"),
    ("x : real\ny = x*erfc(x)", "x", "erfc(x) - 2*x*exp(-x**2)/sqrt(pi)"),
    (_FERMI, "E", "-f*(1 - f)/kT"),
    (_FERMI, "mu", "f*(1 - f)/kT"),
    (_GAS, "V", "2*a*n**2/V**3 - n*R*T/(V - n*b)**2"),
    (_GAS, "n", "R*T*V/(V - n*b)**2 - 2*a*n/V**2"),
    ("V, n, b, c : positive\nF = -c*log(V - n*b)", "V", "-c/(V - n*b)"),
    ("V, n, b : positive\nF = (V - n*b)**3", "n", "-3*b*(V - n*b)**2"),
    (_CHAIN, "U", "stack((dZ_da0, dZ_da1, softmax(a2)))"),
    ("X : real[4, k]\ns = sum(X[:1]**2) + sum(X[1:]**3)", "X", "concatenate((2*X[:1], 3*X[1:]**2), axis=0)"),
]


@pytest.mark.parametrize(("text", "wrt", "expected"), CASES)
def test_what_is_printed(text: str, wrt: str, expected: str) -> None:
    assert str(sg.grad(sg.parse(text), wrt)).split("\n")[0] == expected


@pytest.mark.parametrize("wrt", ["S", "K", "sigma", "T", "r"])
def test_the_value_of_an_option_keeps_the_function_that_was_written(wrt: str) -> None:
    shown = str(sg.grad(_OPTION, wrt))
    assert "erf" not in shown
    assert r"\operatorname{erf" not in sg.grad(_OPTION, wrt).latex()


def test_the_slope_of_an_option() -> None:
    assert str(sg.grad(_OPTION, "K")).split("\n")[0].endswith("- ndtr(d2)*exp(-r*T)")
    assert r"\Phi\left(d_{2}\right)" in sg.grad(_OPTION, "K").latex()


@pytest.mark.parametrize(
    ("text", "wrt"), [*((text, wrt) for text, wrt, _ in CASES), (_OPTION, "S"), (_OPTION, "T")]
)
def test_what_is_printed_has_the_values_of_the_gradient(text: str, wrt: str) -> None:
    p = sg.parse(text)
    g = sg.grad(p.last, wrt)
    assert g.slope is not None
    found = name_derivatives(p.listing, [g.slope])
    assert found is not None
    first, *rest = str(g).split("\n")
    lines = [r.strip() for r in rest if " = " in r and not r.strip().startswith("#")]
    again = sg.parse("\n".join([text, *reversed(lines), f"shown = {first}"]))["shown"]
    random = np.random.default_rng(3)
    shapes = {str(s.name): tuple(n if isinstance(n, int) else 5 for n in s.shape) for s in p.inputs}
    values = {str(s.name): 1.5 + random.random(shapes[str(s.name)]) for s in p.inputs if s.dtype == "real"}
    values |= {str(s.name): 2 for s in p.inputs if s.dtype == "int"}
    if "V" in values:
        values["V"] = values["V"] + 20
    np.testing.assert_allclose(again(**values), g(**values), rtol=1e-11, atol=1e-13)


def test_second_derivatives_move_what_stands_in_calls() -> None:
    p = sg.parse(_OPTION)
    second = sg.grad(sg.grad(p.last, "S"), "S")
    at = {"S": 100.0, "K": 95.0, "sigma": 0.3, "T": 0.7, "r": 0.02}
    assert "erf" not in str(second)
    d1 = (np.log(100 / 95) + (0.02 + 0.045) * 0.7) / (0.3 * np.sqrt(0.7))
    assert second(**at) == pytest.approx(
        np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi) / (100 * 0.3 * np.sqrt(0.7))
    )
    again = sg.grad("x : real\ny = gelu(x)", "x")
    assert str(sg.grad(again, "x")) == "(2 - x**2)*exp(-x**2/2)/sqrt(2*pi)"


def test_own_functions_of_the_error_function_stay() -> None:
    shown = str(sg.grad("x : real\ny = x*(1 + erf(x/sqrt(2)))/2", "x"))
    assert "erf(" in shown
    assert "ndtr" not in shown


@pytest.mark.parametrize(
    ("y", "wrt", "expected"),
    [
        ("y[0]", "a", "A.T@one_hot(0, n)*cos(a)"),
        ("y[0]", "A", "outer(one_hot(0, n), sin(a))"),
        ("y@y", "y", "2*y"),
    ],
)
def test_the_slope_of_a_part_of_a_named_value_is_in_names(y: str, wrt: str, expected: str) -> None:
    p = sg.parse("a : real[n]\nA : real[n, n]\ny = A@sin(a)")
    e = {"y[0]": p["y"][0], "y@y": p["y"] @ p["y"]}[y]
    g = sg.grad(e, wrt)
    assert str(g) == expected
    random = np.random.default_rng(5)
    values = {"a": random.random(4), "A": random.random((4, 4))}
    table = {**values, "y": values["A"] @ np.sin(values["a"]), "n": 4}
    shown = eval(
        expected,
        {**table, "one_hot": lambda i, n: np.eye(n)[i], "outer": np.outer, "sin": np.sin, "cos": np.cos},
    )
    np.testing.assert_allclose(g(**values), shown)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a/b/c", r"\frac{a}{b c}"),
        ("(a/b)/(c/d)", r"\frac{a d}{b c}"),
        ("-(a/b)/c", r"-\frac{a}{b c}"),
        ("2*(a/b)/c", r"\frac{2 a}{b c}"),
        ("a*(2/b)/c", r"\frac{a \cdot 2}{b c}"),
        ("1/a/b", r"\frac{1}{a b}"),
        ("(a + b)/c/d", r"\frac{a + b}{c d}"),
        ("(a/b + c)/2", r"\frac{1}{2} \left(\frac{a}{b} + c\right)"),
        ("-(a/b + c)/d", r"-\frac{1}{d} \left(\frac{a}{b} + c\right)"),
        ("(a + c)/2", r"\frac{a + c}{2}"),
        ("(a/b + c)/(d + 1)", r"\frac{\frac{a}{b} + c}{d + 1}"),
    ],
)
def test_no_fraction_stands_in_a_fraction_where_one_will_do(text: str, latex: str) -> None:
    assert sg.parse(text).last.latex() == latex
