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
