"""Functions without an op of their own are printed as the program calls them, and read back."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.pretty.forms.term_order import order_terms
from symgrad.rewrite.facts.inference import Conditions

SIZES = {"n": 3, "d": 2, "k": 4}

SWIGLU = """
X : real[n, d]
W, V : real[d, k]
g = X@W
h = silu(g)*(X@V)
loss = sum(h**2)
"""


@pytest.mark.parametrize(
    ("text", "wrt", "expected"),
    [
        (SWIGLU, "V", "2*X.T@(h*silu(g))"),
        (SWIGLU, "W", "2*X.T@(X@V*h*sigmoid(g)*(1 + g*(1 - sigmoid(g))))"),
        ("x, w : real\ny = w*silu(x)", "w", "silu(x)"),
        ("x, w : real\ny = w*x*sigmoid(x)", "w", "x*sigmoid(x)"),  # as the program has it
        ("x, w : real\ny = w*trigamma(x)", "w", "trigamma(x)"),
    ],
)
def test_what_is_printed_reads_back(text: str, wrt: str, expected: str) -> None:
    program = sg.parse(text)
    gradient = sg.grad(program.last, wrt)
    assert str(gradient) == expected
    names = {str(x.name): x for x in program.inputs} | {n: program[n] for n in program.names}
    again = sg.parse(expected, symbols=names).last
    rng = np.random.default_rng(len(text))
    values = {
        s: rng.normal(size=[SIZES[str(n)] for n in s.shape]) for s in symbols_of([again.node, gradient.node])
    }
    computed, told = evaluate([gradient.node, again.node], values, SIZES)
    np.testing.assert_allclose(told, computed, rtol=1e-12)


@pytest.mark.parametrize(
    "line", ["y = w*silu(x) + 1", "a = w*x\ny = gelu(a)**2", "y = silu(w)", "y = silu(x) + silu(x)"]
)
def test_a_program_is_printed_with_its_calls(line: str) -> None:
    text = f"x : real\nw : real\n{line}"
    program = sg.parse(text)
    again = sg.parse(str(program))
    assert again["y"].same(program["y"])
    if line.count("silu(x)") < 2:
        assert str(program) == text


def test_latex_has_the_calls_of_the_text() -> None:
    program = sg.parse("x, a : real\nf = ndtr(a*x)*silu(x)\ny = f**2")
    explained = sg.explain(program["y"], "x")
    assert "ndtr(a*x)" in str(explained)
    assert "silu(x)" in str(explained)
    for text in (explained.latex(), sg.grad(program["f"], "x").latex()):
        assert r"\Phi\left(a x\right)" in text
        assert r"\operatorname{SiLU}\left(x\right)" in text
        assert "erfc" not in text


def test_latex_of_a_jacobian_has_the_calls_of_the_text() -> None:
    program = sg.parse("x : real[n]; a : real\ny = x*ndtr(a*x)")
    jacobian = sg.jacobian(program["y"], program["x"])
    assert isinstance(jacobian, sg.Expr)
    assert "ndtr(a*x)" in str(jacobian)
    assert r"\Phi\left(a x\right)" in jacobian.latex()


def test_calls_in_calls_read_back() -> None:
    program = sg.parse("x : real\ny = silu(silu(x))")
    assert "y = silu(silu(x))" in str(program)
    assert sg.parse(str(program))["y"].same(program["y"])


def test_a_diagonal_of_three_axes_is_no_factor_of_a_chain() -> None:
    text = 'T : real[n, n, n]; A : real[n, n]\nY = einsum("iij,ik->jk", T, A)'
    node = sg.parse(text)["Y"].node
    assert order_terms(node, Conditions()) is node
