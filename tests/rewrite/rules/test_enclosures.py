"""Enclosures hold the exact values that mpmath finds, and answer as these do."""

import random

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice.samples import Sample, has_extended
from symgrad.rewrite.facts.inference import Conditions
from tests.fuzz.formulas import random_formula

pytestmark = pytest.mark.skipif(not has_extended(), reason="the machine has no extended precision")


def sample_of(text):
    formula = sg.parse(f"x : real\ny : real\nz : positive\nf = {text}")["f"].node
    return formula, Sample([formula], Conditions())


FORMULAS = [
    "exp(x) - 1 + log(1 + z)",
    "(1 + x**2)**(1/3) - 1",
    "log1p(x*y)*tanh(x) + cbrt(z)*sin(y)",
    "(x**2 - y**2)/(x - y)",
    "sqrt(z)/expm1(-z) + pi*2**(4/3)",
    "x*y - cos(x*y) + atan(y)**(-3)",
    "(x - x) + z**x",
]


@pytest.mark.parametrize("text", FORMULAS + [random_formula(random.Random(k), 4, "xyz") for k in range(30)])
def test_exact_values_are_inside(text):
    formula, sample = sample_of(text)
    known = 0
    for node in topological([formula]):
        value, error = (np.broadcast_to(v, len(sample._points)) for v in sample._enclosures.of(node))
        for i in np.flatnonzero(np.isfinite(error)):
            exact = sample.exact(node)[i]
            assert exact is not None, (node, i)
            mp = sample._contexts[i]
            mantissa, exponent = np.frexp(value[i])
            middle = mp.ldexp(mp.mpf(int(np.ldexp(mantissa, 64))), int(exponent) - 64)
            mantissa, exponent = np.frexp(error[i])
            assert abs(exact - middle) <= mp.ldexp(mp.mpf(float(mantissa)), int(exponent)), (node, i)
            known += 1
    assert known or formula.is_number() or text not in FORMULAS


@pytest.mark.parametrize("text", FORMULAS + [random_formula(random.Random(k), 4, "xyz") for k in range(30)])
def test_bits_are_inside_and_questions_have_the_same_answer(text):
    formula, sample = sample_of(text)
    for node in topological([formula]):
        if node.dtype != "real":
            continue
        low, high = sample._enclosures.bits(sample.floats(node), node, node)
        asked = {most: sample.exceeds(node, most) for most in (0.25, 1.0, 2.0, 4.0)}
        bits = sample.errors(node, node)
        there = ~np.isnan(low)
        assert (low[there] <= bits[there]).all()
        assert (bits[there] <= high[there]).all()
        assert asked == {most: bool((bits > most).any()) for most in asked}


def test_gains_close_in_on_the_exact_ones():
    written, sample = sample_of("log(1 + exp(x))*y/(z*y)*y")
    other = sg.parse("x : real\ny : real\nz : positive\nf = log(1 + exp(x))*(y/z)")["f"].node
    widths = []
    ends = []
    for low, high in sample.gains(written, other):
        assert (low <= high).all()
        widths.append(float((high - low).sum()))
        ends.append((low.copy(), high.copy()))
    exact = np.nan_to_num(sample.errors(written, written) - sample.errors(other, written))
    assert all((low <= exact).all() and (exact <= high).all() for low, high in ends)
    assert widths == sorted(widths, reverse=True)
    assert len(widths) > 1
    assert widths[-1] == 0.0
    assert (ends[-1][0] == exact).all()
