"""Jacobians keep the named constants of their program: E/(1 - nu**2), not 3000000000000/13."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

HEAD = "E = 210e9; nu = 0.3; e : real[3]\n"
PLANE = "array([[1, nu, 0], [nu, 1, 0], [0, 0, (1 - nu)/2]])"
WHOLE = HEAD + f"C = {PLANE}*E/(1 - nu**2)\ns = C@e\nW = dot(e, s)/2"
DIRECT = HEAD + f"s = ({PLANE}*E/(1 - nu**2))@e"
FACTOR = HEAD + f"k = E/(1 - nu**2)\ns = k*({PLANE}@e)"
ENTRIES = HEAD + "s = E/(1 - nu**2)*array([e[0] + nu*e[1], nu*e[0] + e[1], (1 - nu)/2*e[2]])"
LINE = WHOLE + "\nJ = jacobian(s, e)\nt = J@e"
EPIDEMIC = """
beta = 0.3; gamma = 0.1; N = 1e6
y : real[3]
lam = beta*y[1]/N
dy = array([-lam*y[0], lam*y[0] - gamma*y[1], gamma*y[1]])
"""
ARMS = """
L1 = 1.2; L2 = 0.7
th : real[2]
x = array([L1*sin(th[0]) + L2*sin(th[1]), -L1*cos(th[0]) - L2*cos(th[1])])
"""
SPEEDS = "m = 1.67e-27; kB = 1.380649e-23; T : positive; v : real[3]; f = exp(-m*dot(v, v)/(2*kB*T))"

CASES = {
    "named matrix": (WHOLE, "jacobian", "s", "e", "C"),
    "energy": (WHOLE, "grad", "W", "e", "s"),
    "curvature of the energy": (WHOLE, "hessian", "W", "e", "C"),
    "matrix without a name": (DIRECT, "jacobian", "s", "e", f"{PLANE}*E/(1 - nu**2)"),
    "named factor": (FACTOR, "jacobian", "s", "e", f"k*{PLANE}"),
    "entry by entry": (
        ENTRIES,
        "jacobian",
        "s",
        "e",
        "E*array([[1/(1 - nu**2), nu/(1 - nu**2), 0], [nu/(1 - nu**2), 1/(1 - nu**2), 0], [0, 0, 1/(2*(nu + 1))]])",
    ),
    "epidemic": (
        EPIDEMIC,
        "jacobian",
        "dy",
        "y",
        "array([[-lam, -beta*y[0]/N, 0], [lam, beta*y[0]/N - gamma, 0], [0, gamma, 0]])",
    ),
    "arms": (
        ARMS,
        "jacobian",
        "x",
        "th",
        "array([[L1*cos(th[0]), L2*cos(th[1])], [L1*sin(th[0]), L2*sin(th[1])]])",
    ),
    "speeds": (SPEEDS, "hessian", "f", "v", "m*f*(m*outer(v, v) - kB*T*eye(3))/(kB**2*T**2)"),
}


def _made(name: str) -> tuple[str, sg.Expr, str]:
    text, verb, y, x, printed = CASES[name]
    return text, getattr(sg, verb)(sg.parse(text)[y], x), printed


@pytest.mark.parametrize("name", CASES)
def test_constants_keep_their_names(name: str) -> None:
    _, expr, printed = _made(name)
    assert str(expr) == printed


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_the_derivative(name: str) -> None:
    text, expr, _ = _made(name)
    again = sg.parse(f"{text}\nanswer = {expr}")["answer"]
    rng = np.random.default_rng(1)
    at = {str(s.name): rng.uniform(0.5, 2.0, tuple(int(str(n)) for n in s.shape)) for s in expr.inputs}
    known = {str(s.name): at.get(str(s.name), 1.0) for s in again.inputs}
    np.testing.assert_allclose(again(**known), expr(**at), rtol=1e-12)


def test_latex_keeps_the_names_too() -> None:
    rows = r"1 & \nu & 0 \\ \nu & 1 & 0 \\ 0 & 0 & \frac{1 - \nu}{2}"
    expected = rf"\frac{{E}}{{1 - \nu^{{2}}}} \begin{{pmatrix}} {rows} \end{{pmatrix}}"
    assert sg.jacobian(sg.parse(DIRECT)["s"], "e").latex() == expected


def test_a_line_that_is_a_jacobian_is_printed_as_one() -> None:
    assert str(sg.parse(LINE)["J"]) == "C"


def test_a_matrix_is_symmetric_only_if_its_entries_are() -> None:
    text = HEAD + "C = array([[1, nu, 0], [2*nu, 1, 0], [0, 0, E]])\nW = e@C@e/2"
    p = sg.parse(text)
    assert "C.T" in str(sg.hessian(p["W"], "e"))
    assert "C.T" in str(sg.grad(p["W"], "e"))


def test_positions_that_are_constants_are_no_factors() -> None:
    p = sg.parse("k = 3; x : real[5]; y = array([x[k], x[k - 1]**2*x[0]])")
    expr = sg.jacobian(p["y"], "x")
    again = sg.parse(f"k = 3; x : real[5]; answer = {expr}")["answer"]
    x = np.arange(1.0, 6.0)
    np.testing.assert_array_equal(again(x=x), [[0, 0, 0, 1, 0], [9, 0, 6, 0, 0]])


def test_batches_are_no_jacobians() -> None:
    p = sg.parse("c = 2.5e3; X : real[4, 3]; y = sum(c*X**2, axis=1)")
    found = sg.batch_jacobian(p["y"], "X")
    x = np.arange(12.0).reshape(4, 3)
    again = sg.parse(f"c = 2.5e3; X : real[4, 3]; answer = {found}")["answer"]
    np.testing.assert_allclose(again(X=x), 5e3 * x)


@pytest.mark.parametrize("whole", ["ones((2, 2))", "array([[1, 2], [3, 4]])"])
def test_a_constant_array_of_whole_numbers_is_a_factor(whole: str) -> None:
    text = f"A : real[2, 2]; H = {whole}; S = A*H; y = sum(S**2)"
    slope = sg.grad(sg.parse(text)["y"], "A")
    again = sg.parse(f"{text}\nanswer = {slope}")["answer"]
    assert "H" in str(slope)
    assert sg.equal(again, slope).status == "proved"
