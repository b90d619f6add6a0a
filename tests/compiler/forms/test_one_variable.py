"""Derivatives keep the digits that mathematics keeps: kernel, call and printed stable form against mpmath."""

from __future__ import annotations

import math
import random
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.output import arrange_nodes
from symgrad.compiler.forms.parts import parts_of_one_variable
from symgrad.errors import SymgradError
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate_mp
from symgrad.rewrite.choice.certain_values import CertainValues
from tests.compiler.forms.certain_errors import error_and_bound
from tests.fuzz.formulas import random_formula


def derivative(program: str, by: str) -> sg.Expr:
    """The derivative of L by the variables whose names are in a text, one after another."""
    expr = sg.parse(program)["L"]
    for name in by:
        expr = sg.grad(expr, name)
    return expr


def exact(node: Node, at: dict[str, float], digits: int = 900) -> Any:
    mp = mpmath.mp.clone()
    mp.dps = digits
    return evaluate_mp(mp, [node], {n: mp.mpf(at[n.name]) for n in symbols_of([node])})[0]


def three_ways(expr: sg.Expr, at: dict[str, float]) -> list[float]:
    """The values of the kernel, of a call, and of the printed stable form."""
    names = [str(i.name) for i in expr.inputs]
    values = {name: at[name] for name in names}
    found = [float(sg.compile(expr)(*values.values())), float(expr(**values))]
    return [*found, float(expr.stable()(**values))]


HARD = [
    # Squares of the function leave the range of floats, and the function does not.
    ("x : positive", "log(sinh(x)/x)", "xx", [1e-6, 0.02, 3.0, 400.0, 700.0]),
    ("x : positive", "gamma(x + 1/3)/gamma(x)", "xx", [0.4, 5.0, 110.0, 150.0]),
    ("x : positive", "log(exp(-x)/3 + 2*exp(-2*x)/3)", "xx", [0.1, 30.0, 300.0]),
    ("x : positive", "x**300/(2 + x**300)", "x", [0.5, 1.001, 9.0]),
    ("x : real", "sqrt(1 + x**2)", "xx", [0.0, 1e80, -1e90]),
    # An exponential overflows, and the derivative does not.
    ("r : real\ny : real", "log(1 + exp(r)) - y*r", "r", [(1000.0, 0.25), (-1000.0, 0.25), (0.3, 0.1)]),
    ("x : real\ny : real", "y*log(1 + exp(2*x))", "x", [(800.0, 3.0), (-800.0, 3.0)]),
    ("a : real\nb : real", "log(cosh(2*a - b))", "a", [(900.0, 1.0), (0.25, 1.0)]),
    ("x : positive\ny : positive", "log(exp(-x*y)/4 + 3*exp(-2*x*y)/4)", "x", [(800.0, 1.5), (0.25, 0.5)]),
    ("x : positive\nn : positive", "x**n/(1 + x**n)", "x", [(10.0, 300.0), (0.5, 4.0)]),
    # Beside a removable singularity.
    ("x : real", "sin(x)/x", "xx", [1e-8, -1e-3, 0.1, 3.0, 40.0]),
    ("x : real\nb : real", "b*(x*cos(x) - sin(x))/x**2 + b**2", "x", [(1e-8, 0.5), (1e-3, 3.0), (2.0, 0.25)]),
    ("x : real", "(1 - cos(x))/x", "x", [1e-9, -1e-5, 0.5, 3.0]),
    ("x : real", "x/(exp(x) - 1)", "xx", [1e-7, -0.01, 0.5, 3.0, -50.0]),
    ("x : positive", "log(x)/(x - 1)", "x", [1 + 1e-9, 0.5, 1 - 1e-5, 20.0]),
    ("V : real", "0.01*(V + 55)/(1 - exp(-(V + 55)/10))", "V", [-55 + 1e-9, -54.0, 20.0, -90.0]),
    (
        "V : real\nn : real",
        "0.01*(V + 55)/(1 - exp(-(V + 55)/10))*(1 - n) - n",
        "VV",
        [(-55 + 1e-8, 0.25), (10.0, 0.5)],
    ),
    ("a : real\nx : real", "sin(a*x)/(a*x)", "x", [(2.0, 1e-9), (1.0, 2.0)]),
    ("a : real\nx : real", "sin(a*x)/(a*x)", "xx", [(2.0, 1e-9), (0.5, 2.0)]),
    # A number leaves a sum.
    ("z : real", "sqrt(1 - tanh(z)**2)", "z", [40.0, -5.0, 300.0]),
    ("x : positive", "log(1 - exp(-x))", "x", [1e-9, 1.0, 40.0, 600.0]),
    ("x : real", "log(1 + x**2) - x**2", "x", [1e-5, 0.3, 1e6]),
]
CASES = [(declare, f, by, at) for declare, f, by, points in HARD for at in points]


@pytest.mark.parametrize(("declare", "formula", "by", "at"), CASES)
def test_hard_derivatives(declare: str, formula: str, by: str, at: Any) -> None:
    expr = derivative(f"{declare}\nL = {formula}", by)
    names = [line.split()[0] for line in declare.splitlines()]
    point = dict(zip(names, at if isinstance(at, tuple) else (at,), strict=True))
    expected = float(exact(expr.node, point))
    assert three_ways(expr, point) == pytest.approx([expected] * 3, rel=1e-11, abs=1e-303)


@pytest.mark.parametrize(("declare", "formula", "by", "at"), CASES)
def test_source_computes_what_the_kernel_computes(declare: str, formula: str, by: str, at: Any) -> None:
    expr = derivative(f"{declare}\nL = {formula}", by)
    point = at if isinstance(at, tuple) else (at,)
    namespace: dict[str, Any] = {}
    exec(expr.numpy_source(), namespace)
    exec(expr.numpy_source("expanded", expand=True), namespace)
    value = float(namespace["f"](*point))
    assert value == float(namespace["expanded"](*point)) == float(expr(*point))
    kernel = float(sg.compile(expr)(*point))
    ulps = 4 if "gamma" not in formula else 4096  # gamma has other code in SciPy
    assert abs(value - kernel) <= ulps * math.ulp(kernel)


@pytest.mark.parametrize(
    ("declare", "formula", "by", "at"),
    [(*row[:3], at) for row in HARD for at in row[3] if "gamma" not in row[1] and np.max(np.abs(at)) < 1e30],
)
def test_hard_derivatives_in_float32(declare: str, formula: str, by: str, at: Any) -> None:
    expr = derivative(f"{declare}\nL = {formula}", by)
    names = [line.split()[0] for line in declare.splitlines()]
    values = at if isinstance(at, tuple) else (at,)
    point = {name: float(np.float32(v)) for name, v in zip(names, values, strict=True)}
    kernel = sg.compile(expr, dtype="float32")
    found = float(kernel(**{str(name): np.float32(point[str(name)]) for name in kernel.inputs}))
    pair = error_and_bound(
        CertainValues([expr.node]), {s: point[s.name] for s in symbols_of([expr.node])}, found, 24
    )
    if pair is None:  # 1.000000001 is 1 in float32
        assert np.isnan(found)
    else:
        assert pair[0] <= pair[1] or not 1e-30 < abs(found) < 1e30


def test_thresholds_beyond_the_range_of_float32() -> None:
    expr = derivative("x : positive\nL = sqrt(1 - 1/(1 + x)**2)", "x")
    assert float(sg.compile(expr, dtype="float32")(np.float32(1e-6))) == pytest.approx(
        1 / math.sqrt(2e-6), rel=1e-5
    )


@pytest.mark.parametrize(
    ("formula", "points", "expected"),
    [
        ("log(1 - exp(-x))", [1e-9, 40.0], [math.log(-math.expm1(-1e-9)), math.log1p(-math.exp(-40.0))]),
        ("log(tanh(x))", [1e-9, 25.0], [math.log(1e-9), -2 * math.exp(-50)]),
        ("log(1 - tanh(x)**2)", [0.1, 300.0], [-2 * math.log(math.cosh(0.1)), 2 * math.log(2) - 600]),
        ("1 - (1 - x)**5", [1e-18, 0.5], [5e-18, 1 - 0.5**5]),
        ("log(x/(3 + x))", [1e12, 1.0], [-math.log1p(3e-12), math.log(0.25)]),
        ("x - sin(x)", [1e-5, 3.0], [1e-15 / 6 * (1 - 1e-10 / 20), 3 - math.sin(3.0)]),
    ],
)
def test_stable_values(formula: str, points: list[float], expected: list[float]) -> None:
    stable = sg.parse(f"x : positive\nL = {formula}")["L"].stable()
    assert [float(stable(x=v)) for v in points] == pytest.approx(expected, rel=1e-13, abs=0)
    again = sg.parse(f"x : positive\nL = {stable}")["L"]
    assert [float(again(x=v)) for v in points] == pytest.approx(expected, rel=1e-13, abs=0)


def test_values_as_written_stay() -> None:
    p = sg.parse("x : positive\nL = log(1 - exp(-x))")
    kernel = sg.compile([p["L"], sg.grad(p["L"], "x")])
    value, slope = kernel(40.0)
    assert value == 0
    assert slope == pytest.approx(math.exp(-40.0), rel=1e-14)


def test_rows_of_a_regression() -> None:
    p = sg.parse("X : real[n, d]\nw : real[d]\ny : real[n]\nL = mean(log(1 + exp(X@w)) - y*(X@w))")
    X, w = np.array([[1000.0, 0.0], [0.0, 1.0], [-800.0, 2.0]]), np.array([1.0, 1.0])
    y = np.array([0.0, 1.0, 1.0])
    expected = X.T @ (np.array([1.0, 1 / (1 + math.exp(-1)), 0.0]) - y) / 3
    gradient = sg.grad(p["L"], "w")
    assert sg.compile(gradient, [p["X"], p["w"], p["y"]])(X, w, y) == pytest.approx(expected, rel=1e-14)
    assert gradient(X=X, w=w, y=y) == pytest.approx(expected, rel=1e-14)


def test_a_gradient_without_the_divisor_of_a_logarithm() -> None:
    p = sg.parse("h : real[k]\nt : int\np = softmax(h)\nL = -log(p[t])")
    gradient = sg.grad(p["L"], "h")
    h = np.array([1000.0, 0.0])
    namespace: dict[str, Any] = {}
    exec(gradient.numpy_source(), namespace)
    for compute in (sg.compile(gradient), gradient, namespace["f"]):
        assert compute(h, 1).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("program", "by", "expected"),
    [
        ("h : real[n]\nW : real[n, n]\ny : real[n]\nL = -sum(y*log(softmax(W@h)))", "W", True),
        # One denominator for all terms has the same zeros, and leaves the range of floats earlier.
        ("A : real[n, n]\nw : real[n]\nb : real[n]\nL = sum((A@w)*b)/sum(w*b)", "w", False),
    ],
)
def test_fewer_divisors_of_array_programs(program: str, by: str, expected: bool) -> None:
    gradient = sg.grad(sg.parse(program)["L"], by)
    (computed,) = arrange_nodes([gradient]).nodes
    assert (computed is gradient.simplify().node) is expected
    assert any(n.op.name == "div" for n in topological([computed])) is not expected


def test_what_is_not_chosen_may_overflow() -> None:
    expr = derivative("a : real\nm : real\nv = a*a*m\nL = where(a > 1e100, m, where(a >= 0, v, -v))", "m")
    assert three_ways(expr, {"a": 1e200, "m": 2.0}) == [1, 1, 1]
    assert three_ways(expr, {"a": -3.0, "m": 2.0}) == [-9, -9, -9]


def test_a_derivative_has_values_where_its_printed_form_has() -> None:
    expr = derivative("x : real\nL = ((x - 1)**2)**(5/3)", "xx")
    assert str(expr) == "70*abs(x - 1)**(4/3)/9"
    assert three_ways(expr, {"x": 1.0})[:2] == [0, 0]


@pytest.mark.parametrize(
    "formula",
    [
        "sqrt(x*p)",
        "cbrt(x*p)",
        "sqrt(atan(x*p))",
        "atan2(x*p, x + p)**tan(where(1/2 > p, 1/2, p))",
        "log(1 + sqrt(x*p))*sin(p)",
    ],
)
def test_a_function_that_is_constant_at_a_zero(formula: str) -> None:
    expr = derivative(f"x : real\np : real\nL = {formula}", "p")
    assert three_ways(expr, {"x": 0.0, "p": 0.25})[:2] == [0, 0]
    expected = float(exact(expr.node, {"x": 0.75, "p": 0.25}))
    assert three_ways(expr, {"x": 0.75, "p": 0.25}) == pytest.approx([expected] * 3, rel=1e-14)


def test_a_function_of_the_other_variable_at_a_zero() -> None:
    second = derivative("x : real\np : real\nL = sqrt(x*p)*exp(p) + p**3", "pp")
    assert three_ways(second, {"x": 0.0, "p": 0.25})[:2] == [1.5, 1.5]
    # Where the formula has no value, its derivative has none: 0*log(p) is not 0 for all p.
    first = derivative("x : real\np : real\nL = sqrt(x*p) + x*log(p)", "p")
    assert np.isnan(three_ways(first, {"x": 0.0, "p": -1.0})[:2]).all()


@pytest.mark.parametrize(("at", "expected"), [(1e110, 6e220), (-1e110, 3e220), (2.0, 24.0), (0.0, 0.0)])
def test_two_infinite_values_are_no_tie(at: float, expected: float) -> None:
    expr = derivative("a : real\nL = maximum(a**3, 2*a**3)", "a")
    assert three_ways(expr, {"a": at}) == pytest.approx([expected] * 3, rel=1e-15)


def test_no_value_at_a_hole() -> None:
    expr = derivative("x : real\nL = sin(x)/x", "x")
    assert np.isnan(three_ways(expr, {"x": 0.0})).all()


def test_the_printed_form_is_the_kernel_if_it_keeps_the_digits() -> None:
    expr = derivative("x : real(1.00001, 2)\nL = (x - 1)/(x*x - 1)", "x")
    assert str(expr) == str(expr.stable()) == "-1/(x + 1)**2"


def test_parts_of_one_variable() -> None:
    scalars = sg.parse("a : real\nx : real\nu = sin(a*x)/(a*x)\nv = u*exp(x**2)/(1 + exp(x**2))*a")
    arrays = sg.parse("X : real[n]\nw = sum(exp(X)/(1 + exp(X)))")
    parts = parts_of_one_variable([scalars["v"].node, arrays["w"].node])
    assert [(str(sg.Expr(n)), str(sg.Expr(v))) for n, v in parts] == [
        ("sin(a*x)/(a*x)", "a*x"),
        ("exp(x**2)", "x"),
        ("1 + exp(x**2)", "x"),
        ("exp(X)/(1 + exp(X))", "X"),
    ]


@pytest.mark.parametrize("seed", range(30))
def test_random_formulas_of_one_variable(seed: int) -> None:
    """Where the chain rule keeps half of the digits in floats, the chosen form does not lose more."""
    text = random_formula(random.Random(1000 + seed), 3, "x")
    try:
        expr = derivative(f"x : real\nL = {text}", "x")
    except SymgradError:
        return
    if expr.node.is_number():
        return
    kernel = sg.compile(expr, [sg.parse("x : real\nL = x")["x"]])
    for at in (-7.25, -1.0, -0.375, 1e-3, 0.75, 2.5, 30.0):
        expected = exact(expr.node, {"x": at}, 60)
        moved = exact(expr.node, {"x": at * (1 + 1e-12)}, 60)
        if not np.isfinite([float(expected), float(moved)]).all():
            continue
        allowed = 1e-9 * abs(float(expected)) + 1e5 * abs(float(moved - expected)) + 1e-290
        value = float(kernel(at))
        if expected:
            assert abs(value - float(expected)) <= allowed, (text, at)
            assert float(expr(x=at)) == pytest.approx(value, rel=1e-9, abs=allowed)
