"""Recurrences are lines of a program wherever they are printed, and never calls of internal ops."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import dedent

import pytest

import symgrad as sg
from tests.recurrences import RECURRENCES

PROGRAMS = {
    name: RECURRENCES[name]
    for name in (
        "LSTM",
        "likelihood of a Kalman filter",
        "GARCH",
        "Newton's search",
        "Fibonacci",
        "advantage",
    )
}
TRUNCATED = """
a, b : real; x : real[T]
h[0] = b
h[t] = tanh(a*where(x[t-1] > 0, stop_gradient(h[t-1]), h[t-1])) for t in 1..T
y = h[T]**2"""
WALK = """
a, s : real; u ~ Normal(0, 1)[T]
x[0] = s
x[t] = x[t-1] - a*x[t-1] + s*u[t-1] for t in 1..T
y = x[T]**2"""
PRINTED: dict[str, Callable[[sg.Expr, list[str]], object]] = {
    "explain": lambda y, by: sg.explain(y, by),
    "steps": lambda y, by: sg.explain(y, by).text(steps=True),
    "LaTeX": lambda y, by: sg.explain(y, by).latex(),
    "LaTeX of steps": lambda y, by: sg.explain(y, by).latex(steps=True),
    "report": lambda y, by: sg.explain(y, by).report().latex(),
    "page": lambda y, by: sg.explain(y, by).html(),
    "JSON": lambda y, by: sg.explain(y, by).json(),
    "picture": lambda y, by: sg.explain(y, by).svg(),
    "exercise": lambda y, by: sg.explain(y, by).hide_last(),
    "derivatives": lambda y, by: sg.derivatives(y, by).report().latex(),
    "formula": lambda y, by: y.report().latex(),
    "audit": lambda y, by: sg.audit(y, by),
    "report of an audit": lambda y, by: sg.audit(y, by).report().text(),
    "effective": lambda y, by: sg.effective(y, by),
    "report of an effective program": lambda y, by: sg.effective(y, by).report().text(),
    "kernel": lambda y, by: sg.compile([y, sg.grad(y, by[0])]).report().text(),
    "estimators": lambda y, by: sg.compare_estimators({"a": y, "b": y}, by[0]),
}
RAW = re.compile(r"(?<![a-z_])(recurrence\(|part\(|pack\(|inner\[|operatorname\{(recurrence|part|pack)\})")


@pytest.mark.parametrize("printed", PRINTED)
@pytest.mark.parametrize(
    "program", [*PROGRAMS.values(), TRUNCATED, WALK], ids=[*PROGRAMS, "truncated", "walk"]
)
def test_no_internal_op_is_printed(program: str, printed: str) -> None:
    y = sg.parse(dedent(program))["y"]
    inputs = [x for x in y.inputs if x.dtype == "real" and x.node.declaration.distribution is None]
    by = [str(x.name) for x in inputs][:2]
    assert not RAW.findall(str(PRINTED[printed](y, by)))


def test_parts_of_steps_have_positions_in_latex() -> None:
    y = sg.parse(dedent(RECURRENCES["likelihood of a Kalman filter"]))["y"]
    lines = sg.explain(y, "a").latex()
    assert r"\bar{m}_{t-1} &= " in lines
    assert r", \quad t = T, \dots, 1" in lines
    assert re.search(r"_\{t\} &= ", lines)


def _left_sides(latex: str) -> list[str]:
    rows = latex.replace(r"\text{where} \quad ", "").splitlines()
    return [row.split("&=")[0].strip() for row in rows if "&=" in row]


def _nested(y: sg.Expr, step: Callable[[sg.Expr, sg.Expr], sg.Expr]) -> sg.Expr:
    return sg.fori_loop(0, 3, lambda i, s: sg.fori_loop(0, 2, lambda j, r: step(r, i), s), y)


@pytest.mark.parametrize("name", ["a", "h", "k", "inner", "t"])
def test_every_level_of_nested_loops_has_names_of_its_own_in_latex(name: str) -> None:
    a, b = sg.symbols(f"{name} b")
    loops = [
        _nested(a, lambda r, i: r * a + i),
        _nested(a, lambda r, _: _nested(r, lambda s, _: s * a)),
        sg.fori_loop(
            0, 3, lambda _, s: _nested(s, lambda r, i: sg.sin(r) + i) * _nested(s, lambda r, _: r * a), b
        ),
        sg.fori_loop(
            0,
            3,
            lambda _, s: sg.fori_loop(0, 2, lambda _, r: (r[1], r[0] * a), s),
            (a, b),
        )[1],
    ]
    for y in [*loops, *(sg.grad(y, a) for y in loops)]:
        left = _left_sides(y.latex())
        assert len(left) >= 4
        assert len({*left}) == len(left)
        assert name not in {side.partition("_")[0] for side in left}


def test_loops_inside_of_steps_have_the_same_names_as_text_and_in_latex() -> None:
    a = sg.symbols("a")
    y = _nested(a, lambda r, i: r * a + i)
    assert "(inner[0] = h[t]; inner[k] = inner[k-1]*a + t for k in 1..2)[2]" in str(y)
    assert _left_sides(y.latex()) == ["h_{0}", r"\mathrm{inner}_{0}", r"\mathrm{inner}_{k}", "h_{t+1}"]


def test_loops_of_several_values_inside_of_steps_are_no_internal_ops() -> None:
    a, b = sg.symbols("a b")
    x, y = sg.fori_loop(0, 3, lambda _, s: sg.fori_loop(0, 2, lambda j, r: (r[1], r[0] * a + j), s), (a, b))
    text = str(x * y)
    assert "part(" not in text
    assert "h[t] = t1.inner_a[2]; " in text
    assert "g[t] = t1.inner_b[2] for t in 1..3" in text


def test_no_name_looks_like_a_value_of_a_recurrence_in_latex() -> None:
    p = sg.parse("""
    h1, S1 : real; x : real[T]
    h[0] = h1
    S = h1*h[t-1] + S1; h[t] = tanh(S)*S + x[t-1] for t in 1..T
    y = h[T]**2""")
    for by in ("h1", "S1"):
        explained, listed = sg.explain(p["y"], by), sg.derivatives(p["y"], [by])
        for text in (sg.grad(p["y"], by).latex(), p["y"].latex(), explained.latex(), listed.latex()):
            assert "h_{1}" not in text
            assert "S_{1}" not in text
            assert r"\mathtt{h1}" in text


def test_no_part_of_a_derivative_looks_like_a_value_of_a_step_in_latex() -> None:
    p = sg.parse("""
    N : size; A : real[n, n]; w : real[n]; e : positive
    y[0] = w
    u = tanh(A@y[t-1]); p = tanh(A@(y[t-1] + e*u/2)); y[t] = y[t-1] + e*tanh(A@(y[t-1] + e*p)) for t in 1..N
    loss = sum(y[N]**2)""")
    left = _left_sides(sg.grad(p["loss"], "A").latex())
    assert {"u_{t}", "p_{t}"} <= {*left}
    assert not [side for side in left if re.fullmatch(r"[upw]_\{\d+\}", side)]


def test_accents_of_higher_derivatives_in_latex() -> None:
    p = sg.parse("a : real\nh[0] = a\nh[t] = sin(a*h[t-1]) for t in 1..4\ny = h[4]")
    left = _left_sides(sg.grad(sg.grad(p["y"], "a"), "a").latex())
    assert {r"\dot{h}_{0}", r"\bar{h}_{4}", r"\dot{\bar{h}}_{4}"} <= {*left}


def test_a_sum_of_parts_has_no_parentheses_in_latex() -> None:
    slope = sg.grad(sg.parse(dedent(RECURRENCES["GARCH"]))["y"], "w").latex()
    assert r"\left(t_{1, t}\right)" not in slope
