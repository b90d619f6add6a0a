"""Derivatives of middle size in kernels: written cheaply, but with a value wherever the canonical form has one."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate

X = sg.symbols("x")


def total(term: str, count: int = 30) -> sg.Expr:
    """Return a sum of terms that differ in a number."""
    text = " + ".join(term.format(a=f"({k + 2}/{k + 5})") for k in range(count))
    return sg.parse(f"x : real\ny = {text}")["y"]


@pytest.mark.parametrize("term", ["exp(-exp({a}*x))", "exp({a}*x)*exp(-x)*x", "log(1 + exp({a}*x))"])
def test_where_the_canonical_form_has_a_value_the_kernel_has_it(term: str):
    y = total(term)
    slope = sg.grad(y, X)
    assert 160 < len(topological([slope.node])) <= 400
    at = np.array([-800.0, -30.0, 0.0, 1.0, 30.0, 800.0, 1e200])
    (expected,) = evaluate([slope.canonical().node], {X.node: at})
    found = sg.compile([y, slope], [X])(at)[1]
    known = np.isfinite(expected)
    assert known.sum() >= 4
    np.testing.assert_allclose(found[known], expected[known], rtol=1e-9, atol=0)


def test_a_sum_of_many_terms_has_slopes_where_each_of_its_terms_overflows():
    slope = sg.grad(total("log(1 + exp({a}*x))"), X)
    weights = np.array([(k + 2) / (k + 5) for k in range(30)])
    found = sg.compile(slope, [X])([800.0, 1e5])
    np.testing.assert_allclose(found, weights.sum(), rtol=1e-15)


def test_functions_of_the_value_are_not_computed_again_in_other_words():
    y = total("x*exp(-x*{a})")
    both, alone = sg.compile([y, sg.grad(y, X)], [X]), sg.compile([y], [X])
    assert both.llvm_ir.count("@maths.exp.") == alone.llvm_ir.count("@maths.exp.")
