"""Recurrences inside of steps are read as they are printed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symgrad as sg

PROGRAM = """
x : real[T]; b : real
h[0] = 1
h[t] = (g[0] = h[t-1]; g[k] = sin(b*g[k-1]) + x[t-1]*h[t-1]/k for k in 1..3)[3] for t in 1..T
y = h[T]**2
"""


def value(b: float, x: np.ndarray) -> float:
    """Return the value of the program, in Python."""
    h = 1.0
    for row in x:
        g = h
        for k in (1, 2, 3):
            g = np.sin(b * g) + row * h / k
        h = g
    return h**2


def test_values_and_derivatives() -> None:
    x = np.array([0.3, 0.4, 0.1])
    p = sg.parse(PROGRAM)
    assert float(p["y"](x=x, b=0.5)) == pytest.approx(value(0.5, x), rel=1e-13)
    slope = sg.grad(p["y"], "b")
    wanted = (value(0.5 + 1e-6, x) - value(0.5 - 1e-6, x)) / 2e-6
    assert float(slope(x=x, b=0.5)) == pytest.approx(wanted, rel=1e-6)
    assert sg.parse(str(p))["y"].node is p["y"].node
    again = sg.parse(f"{PROGRAM}\n{slope}").last
    assert float(again(x=x, b=0.5)) == pytest.approx(wanted, rel=1e-6)


def _nested(y: sg.Expr, step: Callable[[sg.Expr, sg.Expr], sg.Expr]) -> sg.Expr:
    return sg.fori_loop(0, 3, lambda i, s: sg.fori_loop(0, 2, lambda j, r: step(r, i), s), y)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("deep", [False, True])
def test_loops_of_python_are_read_back(deep: bool, order: int) -> None:
    a = sg.symbols("a")
    y = _nested(a, (lambda r, _: _nested(r, lambda s, _: s * a)) if deep else (lambda r, i: r * a + i))
    if order:
        y = sg.grad(y, a)
    again = sg.parse(str(y)).last
    assert order or again.node is y.node
    assert float(again(a=0.9)) == pytest.approx(float(y(a=0.9)), rel=1e-12)


def test_a_search_inside_of_a_step() -> None:
    p = sg.parse("""
    a : positive
    s[0] = a
    s[t] = (z[0] = 1; z[k] = (z[k-1] + s[t-1]/z[k-1])/2 \\
        until abs(z[k]**2 - s[t-1]) < 1e-14, at most 40)[40] for t in 1..2
    """)
    assert float(p["s"][2](a=5.0)) == pytest.approx(5.0**0.25, rel=1e-14)
    assert sg.parse(str(p))["s"].node is p["s"].node


def test_parentheses_in_other_lines_are_read_too() -> None:
    p = sg.parse("x : real\ny = 1 + (h[0] = 1; h[k] = h[k-1]*x for k in 1..3)[3]")
    assert float(p["y"](x=2.0)) == 9.0
