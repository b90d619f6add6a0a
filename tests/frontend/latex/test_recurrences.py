"""Recurrences in LaTeX: what symgrad prints reads back, and what papers write means what the lines of programs mean."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from tests.recurrences import RECURRENCES

_DECLARATION = re.compile(r"\s*[\w, ]+ : ")


def assert_same_values(found: sg.Expr, wanted: sg.Expr) -> None:
    if found.node is wanted.node:
        return
    numbers = np.random.default_rng(7)
    sizes = {"T": 4, "n": 3, "m": 2, "k": 2}
    values: dict[str, Any] = {}
    for i in {str(i.name): i for i in (*found.inputs, *wanted.inputs)}.values():
        shape = tuple(s if isinstance(s, int) else sizes[str(s)] for s in i.shape)
        values[str(i.name)] = numbers.uniform(0.3, 0.6, shape)
    left, right = (e(**{str(i.name): values[str(i.name)] for i in e.inputs}) for e in (found, wanted))
    assert np.shape(left) == np.shape(right)  # also of T and max(T - 1, 0) + 1 rows
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("title", RECURRENCES)
def test_what_is_printed_reads_back(title: str) -> None:
    text = RECURRENCES[title]
    program = sg.parse(text)
    declared = "\n".join(line for line in text.splitlines() if _DECLARATION.match(line))
    y = program["y"]
    assert_same_values(sg.read_latex(y.latex(), declared).expr, y)
    for name in program.inputs:
        gradient = sg.grad(y, name)
        assert_same_values(sg.read_latex(gradient.latex(), program).expr, gradient)


DECLARED = "x : real[T, m]; W : real[n, n]; U : real[n, m]; b, h0 : real[n]"
STEP = r"h_t = \tanh(W h_{t-1} + U x_t + b)"
NETWORK = """
h[0] = h0
h[t] = tanh(W@h[t-1] + U@x[t-1] + b) for t in 1..T
sum(h[T]**2)
"""
FORMS = [
    rf"h_0 = h_0 \\ {STEP}, \quad t = 1, \dots, T",
    rf"{STEP}, \quad t = 1, \ldots, T",
    rf"{STEP} \qquad t = 1, \dots, T",
    rf"{STEP} \text{{ for }} t = 1, \dots, T",
    rf"{STEP} \text{{ for all }} t = 1, 2, \dots, T",
    rf"{STEP}, \qquad 1 \le t \le T",
    rf"{STEP}, \quad t \in \{{1, \dots, T\}}",
    rf"{STEP}, \quad t = 1, \dots, T, \quad h_0 = h_0",
    r"h_{t} = \tanh(z_t) \\ z_{t} = W h_{t-1} + U x_t + b, \quad t = 1, \dots, T",
    r"h_{t+1} = \tanh(W h_t + U x_{t+1} + b), \quad t = 0, \dots, T - 1",
    r"h_t = \tanh(W h_{t-1} + U x_{t-1} + b), \quad t = 1, \dots, T",
    r"\begin{align} z_t &= W h_{t-1} + U x_t \\ h_t &= \tanh(z_t + b), && t = 1, \dots, T \end{align}",
]


@pytest.mark.parametrize("lines", FORMS)
def test_forms_of_papers(lines: str) -> None:
    found = sg.read_latex(rf"{lines} \\ \|h_T\|^2", DECLARED)
    network = sg.parse(DECLARED.replace("; ", "\n") + NETWORK).last
    assert found.expr.node is network.node
    one = [r for r in found.readings if r.meaning == "a position counted from 1"]
    assert len(one) == (0 if "U x_{t-1}" in lines else 1)


# What follows `x : real[T]; a : real`, and what it means in the notation of programs.
MEANINGS = [
    (
        r"h_0 = 1 \\ h_t = a h_{t-1} + x_t, \quad t = 1, \dots, T \\ \sum_{t=1}^{T} h_t x_t",
        "h[0] = 1\nh[t] = a*h[t-1] + x[t-1] for t in 1..T\nsum(h[1:]*x)",
    ),
    (
        r"h_0 = 1 \\ h_t = a h_{t-1} + x_{t-1}, \quad t = 1, \dots, T \\ \sum_{t=1}^{T} h_t x_{t-1}",
        "h[0] = 1\nh[t] = a*h[t-1] + x[t-1] for t in 1..T\nsum(h[1:]*x)",
    ),
    (
        r"h_0 = 1 \\ h_t = a h_{t-1}, \quad t = 1, \dots, T \\ \sum_{t=0}^{T} h_t",
        "h[0] = 1\nh[t] = a*h[t-1] for t in 1..T\nsum(h)",
    ),
    (
        r"\bar h_T = 1 \\ \bar h_{t-1} = a \bar h_t + x_t, \quad t = T, \dots, 1 \\ \bar h_0",
        "c[T] = 1\nc[t-1] = a*c[t] + x[t-1] for t in T..1\nc[0]",
    ),
    (
        r"\bar h_T = 1 \\ \bar h_{t-1} = a \bar h_t + x_t, \quad t = 1, \dots, T \\ \bar h_0",
        "c[T] = 1\nc[t-1] = a*c[t] + x[t-1] for t in T..1\nc[0]",
    ),
    (
        r"\lambda_{T+1} = 0 \\ \lambda_t = a \lambda_{t+1} + x_t, \quad t = T, \dots, 1 \\ \lambda_1",
        "c[T] = 0\nc[t-1] = a*c[t] + x[t-1] for t in T..1\nc[0]",
    ),
    (
        r"h_0 = 1 \\ h_t = a h_{t-1}, \quad t = 1, \dots, T \\ o_t = h_t x_t, \quad t = 1, \dots, T \\"
        r"\sum_{t=1}^{T} o_t^2 + o_1",
        "h[0] = 1\nh[t] = a*h[t-1] for t in 1..T\no = h[1:]*x\nsum(o**2) + o[0]",
    ),
    (
        r"F_0 = a \\ F_1 = 1 \\ F_n = F_{n-1} + F_{n-2}, \quad n = 2, \dots, 9 \\ F_9",
        "F[0] = a; F[1] = 1\nF[n] = F[n-1] + F[n-2] for n in 2..9\nF[9]",
    ),
    (
        r"g_2 = 1 \\ g_\tau = a g_{\tau-1}, \quad \tau = 3, \dots, 5 \\ g_5 + \sum_{t=2}^{4} g_t",
        "h[0] = 1\nh[t] = a*h[t-1] for t in 1..3\nh[3] + sum(h[:3])",
    ),
    (
        r"h_{1,0} = 0 \\ h_{1,t} = a h_{1,t-1} + t, \quad t = 1, \dots, 4 \\ h_{1,4}",
        "h[0] = 0\nh[t] = a*h[t-1] + t for t in 1..4\nh[4]",
    ),
    (
        r"z_0 = a \\ z_k = z_{k-1} - \frac{z_{k-1}^2 - a}{2 z_{k-1}} \text{ until } |z_k^2 - a| < 10^{-3}, "
        r"\text{ at most } 50 \\ z_{50}",
        "z[0] = a\nz[k] = z[k-1] - (z[k-1]**2 - a)/(2*z[k-1]) until abs(z[k]**2 - a) < 1/1000, at most 50\nz[50]",
    ),
    (
        r"w_{k+1} = w_k + x_k, \quad \text{while } w_k \le x_k, \ \text{at most } T \\ w_T",
        "w[0] = w0\nw[k+1] = w[k] + x[k] until not w[k] <= x[k], at most T\nw[T]",
    ),
    (
        r"z_3 = 1 \\ d_3 = 1 \\ d_k = \frac{v}{3} \\ v = z_{k-1} a \\ z_k = z_{k-1} + d_k"
        r"\text{ until } z_k > 2 \vee d_k > 1, \text{ at most } 4 \\ z_5 + d_4",
        "z[0] = 1; d[0] = 1\nv = z[k-1]*a; d[k] = v/3; z[k] = z[k-1] + d[k] "
        "until z[k] > 2 or d[k] > 1, at most 4\nz[2] + d[1]",
    ),
    (  # The rows of x are 0..T-1; the sum reads all but the first one.
        r"h_0 = 0 \\ h_t = a h_{t-1} + 1, \quad t = 1, \dots, T - 1 \\ \sum_{t=1}^{T - 1} h_t x_t",
        "h[0] = 0\nh[t] = a*h[t-1] + 1 for t in 1..T-1\nsum(h[t]*x[t], t=1..T-1)",
    ),
    (  # A number is one position, also of two digits.
        r"h_0 = (1, w_0) \\ h_t = \sin(h_{t-1} + h_{t-1, 1}), \quad t = 1, \dots, 12 \\ \|h_{12}\|^2",
        "h[0] = array([1, w0])\nh[t] = sin(h[t-1] + h[t-1][1]) for t in 1..12\nsum(h[12]**2)",
    ),
]


@pytest.mark.parametrize(("latex", "text"), MEANINGS)
def test_meanings(latex: str, text: str) -> None:
    declared = "x : real[T]; a, w0 : real"
    found = sg.read_latex(latex, declared).expr
    assert_same_values(found, sg.parse(f"{declared}\n{text}").last)


# Formulas after `x : real[T]; a, h1 : real`, and what the message says.
REFUSED = [
    (r"h_0 = 1 \\ h_t = a h_{t-1} + x_t - x_{t-1}, \quad t = 1, \dots, T \\ h_T", "is -1 for t = 1"),
    (
        r"h_0 = 1 \\ h_t = a h_{t-1} + x_{t-1}, \quad t = 1, \dots, T \\ \sum_{t=1}^{T} x_t",
        "leads outside an axis",
    ),
    (r"h_0 = 1 \\ h_t = a h_{t-1}, \quad t = 1, \dots, 4 \\ h_1", "also a value of the array 'h'"),
    (r"h_0 = 1 \\ h_t = a h_{t+1}, \quad t = 1, \dots, 4 \\ h_4", "'h' reads its future"),
    (r"h_t = a h_{t-1}, \quad t = 1, \dots, 4 \\ h_4", "'h' has no first value"),
    (r"h_0 = 1 \\ h_t = a h_{t-1}, \quad t = 1, \dots, 4 \\ h_{-1}", "the first one has the number 0"),
    (r"h_0 = 1 \\ h_t = a h_{t-1}, \quad t = 1, \dots, 4 \\ \sum_{t=1}^{5} h_t", "leads outside an axis"),
    (r"g_2 = 1 \\ g_t = a g_{t-1}, \quad t = 3, \dots, 5 \\ g_1", "the first one has the number 2"),
    (r"h_0 = 1 \\ h_t = a h_{t-1}, \quad t = 1, \dots, 4 \\ h_t", "which positions t stands for"),
    (r"h_0 = 1 \\ h_t = a h_{t-1}, \quad t = 1, 3, \dots, 5 \\ h_5", "not next to the first one"),
    (r"h_1 = a \\ h_t = a h_{t-1}, \quad t = 2, \dots, 5 \\ h_5", "h_1 is the name 'h1'"),
    (r"g_1 = 1 \\ g_t = a g_{t-1}, \quad t = 2, \dots, 5 \\ g_{1:}", "do not count from 0"),
    (
        r"h_0 = 1 \\ h_t = a h_{t-1}, \quad t = 1, \dots, 4 \\"
        r"g_1 = 1 \\ g_t = a g_{t-1}, \quad t = 2, \dots, 5 \\ g_4 + h_4",
        "positions have other numbers",
    ),
    (
        r"h_0 = 0 \\ h_t = \operatorname{cumsum}(h_{t-1}), \quad t = 1, \dots, 4 \\ h_4",
        "may have the shapes (T) or (m) or (n)",
    ),
    (r"z_k = \frac{z_{k-1}}{2} \text{ until } z_k < 1, \text{ at most } 5 \\ z_5", "'z' has no first value"),
    (
        r"z_0 = 1 \\ z_k = \frac{z_{k-1}}{2} \text{ until } z_k, \text{ at most } 5 \\ z_5",
        "'z_k' is no condition",
    ),
    (
        r"z_0 = 1 \\ z_k = z_{k-1} + v_k \\ v_k = 2 z_{k-1} \text{ until } v_k > 9, \text{ at most } 5 \\ z_5",
        "'v' has no first value",
    ),
    (r"z_0 = 1 \\ z_k = \frac{z_{k-1}}{2} \text{ until } a < 1, \text{ at most } 5 \\ z_5", "reads no value"),
    (
        r"z_0 = 1 \\ z_k = z_{k-1} + x_k \text{ until } z_k > x_k, \text{ at most } T \\ z_T",
        "is -1 for k = 1",
    ),
    (r"t = 1, \dots, 5", "dots stand for what only a reader can guess"),
]


@pytest.mark.parametrize(("latex", "what"), REFUSED)
def test_what_has_two_meanings_or_none_is_refused(latex: str, what: str) -> None:
    with pytest.raises(SymgradError) as caught:
        sg.read_latex(latex, "x : real[T]; a, h1 : real; u : real[n]; v : real[m]; W : real[n, n]")
    assert what in str(caught.value)
    assert caught.value.at is not None


# Recurrences, the shape of the last formula, and of how many first values the shape is noted.
SHAPES = [
    (r"h_0 = 0 \\ h_t = \tanh(W h_{t-1} + b), \quad t = 1, \dots, 3 \\ h_3", ("n",), 1),
    (r"h_0 = 0 \\ h_t = \tanh(a h_{t-1} + b^\top b), \quad t = 1, \dots, 3 \\ h_3", (), 0),
    (r"P_0 = 0 \\ P_t = A P_{t-1} A^\top + b b^\top, \quad t = 1, \dots, 3 \\ P_3", ("n", "n"), 1),
    (
        r"h_0 = 0 \\ c_0 = 0 \\ h_t = \tanh(W h_{t-1} + b) \\ c_t = c_{t-1} + \|h_t\|^2, \quad t = 1, \dots, 3 \\ c_3",
        (),
        1,
    ),
]


@pytest.mark.parametrize(("latex", "shape", "noted"), SHAPES)
def test_numbers_begin_arrays_of_the_shape_that_the_step_needs(
    latex: str, shape: tuple[str, ...], noted: int
) -> None:
    found = sg.read_latex(latex, "W, A : real[n, n]; b : real[n]; a : real")
    assert found.expr.shape == shape
    assert len([r for r in found.readings if "array of the shape" in r.meaning]) == noted


def test_an_option_says_from_which_number_rows_are_counted() -> None:
    lines = r"h_0 = 1 \\ h_t = h_{t-1} + x_t, \quad t = 1, \dots, 3 \\ h_3"
    from_0, from_1 = (sg.read_latex(lines, "x : real[4]", first=first) for first in (0, 1))
    x = [1.0, 10.0, 100.0, 1000.0]
    assert float(from_0.expr(x=x)) == 1111.0
    assert float(from_1.expr(x=x)) == 112.0
    assert [r.meaning for r in from_0.readings] == ["a position counted from 0"]
    with pytest.raises(SymgradError):
        sg.read_latex(lines.replace("x_t", "x_{t-1}"), "x : real[4]", first=1)
