"""Noise beside kinks, jumps and thresholds: draws on different sides are found, and what is shown tells them apart."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.analysis.explain.noise.evidence import distinct_decimals
from symgrad.analysis.explain.noise.sample_points import domain_of, draws, only_value
from symgrad.checker.numbers import arb, context
from symgrad.ir.graph import symbol
from symgrad.ir.types import Declaration, Distribution
from symgrad.ir.values.evaluate import evaluate_mp

U = "u ~ Uniform(0.9, 1.1)\n"
NUMBERS = [
    (U, "maximum(x, u)"),
    (U, "relu(x - u)"),
    (U, "abs(x - u)"),
    (U, "abs(2*x - 3*u)"),
    (U, "minimum(x**2, u)"),
    (U, "where(x > u, x, 2*x)"),
    (U, "where(exp(x) > u, x**2, x)"),
    (U, "where(sin(x) > u/2, x, 0)"),
    (U, "where(x**3 > u**2, 1, 2)*hypot(x, 1)"),
    (U, "abs(log(abs(x)) - 5*u)"),
    (U, "relu(w*x - u)"),
    (U, "maximum(w*x, u + 7)"),
    (U, "clip(x, -u, u)"),
    (U, "clip(x, 10*u, 20)"),
    (U, "x*floor(x + u)"),
    (U, "x*floor(x/1000 + u - 1/2)"),
    (U, "x*sign(x - 100*u)"),
    (U, "x*where(1000*u < x, 1, 0)"),
    (U, "x*where(x < -1000000*u, 1, 0)"),
    (U, "relu(stop_gradient(x - u) + x - u)"),
    (U, "maximum(x, 1/u)*maximum(x, 5)"),
    (U, "where((x > u) & (w > 3), x, x**2)"),
    ("u ~ Uniform(0.9999, 1.0001)\n", "maximum(x, u)"),
    ("u ~ Uniform(0.9999999999, 1.0000000001)\n", "abs(x - u)"),
    ("u ~ Uniform(-1/1000000, 1/1000000)\n", "abs(x - 7 - u)"),
    ("u ~ Normal(50, 1)\n", "relu(x - 10000 - u)"),
    ("u ~ Beta(2, 2)\n", "relu(x - u - 4)"),
    ("u ~ Bernoulli(1/2)\n", "relu(x - u)"),
    ("u ~ Poisson(3)\n", "maximum(x, u + 100)"),
    ("u ~ Exponential(2)\n", "abs(x + u + 30)"),
    ("u ~ Uniform(1, 1.0000000000000000000001)\n", "x*u"),
]


@pytest.mark.parametrize(("head", "formula"), NUMBERS)
def test_two_draws_on_different_sides(head: str, formula: str) -> None:
    program = sg.parse(f"{head}x, w : real\ny = {formula}")
    d = sg.explain(program["y"], program["x"])
    verdict = d.noise["u"]
    assert verdict.enters, verdict.how
    witness = verdict.witness
    assert witness is not None
    values = []
    symbols = {x.name: x.node for x in program.inputs}
    gradient = sg.grad(program["y"], program["x"]).node
    with mpmath.workdps(60):
        for draw, shown in zip(witness.draws, witness.gradients, strict=True):
            point = {name: cast("Fraction", v) for name, v in {**witness.values, "u": draw}.items()}
            assert all(domain_of(symbols[name]).admits(value) for name, value in point.items())
            at = {symbols[n]: mpmath.mpf(v.numerator) / v.denominator for n, v in point.items()}
            (value,) = evaluate_mp(mpmath.mp, [gradient], at)
            values.append(value)
            assert mpmath.almosteq(value, mpmath.mpf(shown), 1e-18, 1e-18)
        assert abs(values[0] - values[1]) > 1e-30
    assert witness.gradients[0] != witness.gradients[1]
    assert all(len(str(v)) < 14 for v in witness.values.values()), "short numbers"


ARRAYS = [
    (U + "x : real[n]\n", "sum(maximum(x, u))", "x"),
    (U + "x : real[n]\n", "relu(sum(x) - 30*u)", "x"),
    ("u ~ Uniform(0.9, 1.1)[n]\nx : real[n]\n", "sum(maximum(x, u))", "x"),
    ("u ~ Uniform(0.9, 1.1)[n]\nx : real[n]\n", "sum(relu(x - u))", "x"),
    ("u ~ Uniform(0.9, 1.1)[n]\nx : real[n]\n", "sum(abs(x - u))", "x"),
    (U + "W : real[n, m]\nx : real[m]\n", "sum(relu(W@x - 20*u))", "W"),
    (U + "W : real[n, m]\nx : real[m]\n", "sum(where(W@x > 1000*u, 1, 2)*x[0])", "x"),
]


@pytest.mark.parametrize(("head", "formula", "wrt"), ARRAYS)
def test_arrays(head: str, formula: str, wrt: str) -> None:
    program = sg.parse(f"{head}y = {formula}")
    verdict = sg.explain(program["y"], program[wrt]).noise["u"]
    assert verdict.enters, verdict.how
    witness = verdict.witness
    assert witness is not None
    gradient = sg.grad(program["y"], program[wrt])
    found = []
    for draw, shown in zip(witness.draws, witness.gradients, strict=True):
        point = {k: np.array(v, dtype=float) for k, v in {**witness.values, "u": draw}.items()}
        value = np.asarray(gradient(**{str(x.name): point[str(x.name)] for x in gradient.inputs}))[
            witness.entry
        ]
        np.testing.assert_allclose(value, float(shown), rtol=1e-12)
        found.append(float(value))
    assert found[0] != found[1]


@pytest.mark.parametrize(
    "formula",
    ["maximum(x, u) - maximum(x, u) + x", "maximum(x, stop_gradient(x)) + u", "abs(x) + 0*abs(x - u)"],
)
def test_noise_that_cancels_does_not_enter(formula: str) -> None:
    program = sg.parse(f"{U}x : real\ny = {formula}")
    assert sg.explain(program["y"], program["x"]).noise["u"].enters is False


@pytest.mark.parametrize(("p", "value"), [(0, 0), (1, 1)])
def test_a_variable_with_one_value_is_no_noise(p: int, value: int) -> None:
    source = symbol(Declaration("u", distribution=Distribution("Bernoulli", (p,))))
    assert only_value(source) == value
    assert set(draws(source, [0, 1])) == {value}
    program = sg.parse(f"u ~ Bernoulli({p})\nx : real\ny = x*u")
    verdict = sg.explain(program["y"], program["x"]).noise["u"]
    assert (verdict.enters, verdict.reason) == (False, f"u is always {value}")
    assert (
        sg.equal(program["y"], f"{value}*x").status == "proved"
        or sg.equal(program["y"], f"{value}*x").status == "supported"
    )
    assert sg.equal(program["y"], f"{1 - value}*x").status == "refuted"


@pytest.mark.parametrize("places", [1, 19, 21, 30, 60, 100, 130])
def test_what_is_shown_tells_two_values_apart(places: int) -> None:
    with context.workprec(1000):
        one, other = distinct_decimals(arb(1), 1 + arb(10) ** -places)
    assert one != other
    if other.startswith("the first + "):
        assert places > 100
        assert mpmath.almosteq(mpmath.mpf(other.removeprefix("the first + ")), mpmath.mpf(10) ** -places)
    else:
        with mpmath.workdps(200):
            gap = mpmath.mpf(other) - mpmath.mpf(one)
            assert abs(gap * mpmath.mpf(10) ** places - 1) < 0.5
