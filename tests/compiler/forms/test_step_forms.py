"""Steps of derivatives keep their digits: functions that are written out of exponentials have finite gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.forms.step_forms import with_stable_steps
from symgrad.ir.traverse import topological

LOOP = "x : real[T]; w : real\nh[0] = 1\nh[t] = {} for t in 1..T\ny = h[T]"
LAYER = "x : real[T, n]; W : real[n, n]\nh[0] = ones(n)\nh[t] = {} for t in 1..T\ny = sum(h[T])"
WRITTEN_OUT = [
    ("1/(1 + exp(-({})))", "sigmoid({})"),
    ("exp({})/(1 + exp({}))", "sigmoid({})"),
    ("log(1 + exp({}))", "softplus({})"),
]


@pytest.mark.parametrize("size", [-1000.0, -30.0, -0.5, 0.0, 3.0, 40.0, 1000.0])
@pytest.mark.parametrize(("written", "function"), WRITTEN_OUT)
def test_gradients_of_functions_that_are_written_out(written: str, function: str, size: float) -> None:
    one, other = (
        sg.parse(LOOP.format(form.replace("{}", "w*h[t-1] + x[t-1]")))["y"] for form in (written, function)
    )
    right = sg.grad(other, "w")
    x = np.array([0.25, size])
    expected = right(x=x, w=0.5)
    with np.errstate(all="ignore"):
        value = one(x=x, w=0.5)
    if written.startswith("exp") and size > 700:
        assert np.isnan(value)  # the formula of the user has no value there, and keeps its form
        return
    for slope in (sg.grad(one, "w"), sg.compile(sg.grad(one, "w"), inputs=one.inputs)):
        found = slope(x=x, w=0.5)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(("written", "function"), WRITTEN_OUT[:1])
def test_gradients_of_layers(written: str, function: str) -> None:
    x, W = np.array([[-1000.0, 0.3], [1000.0, 0.2], [0.1, -800.0]]), np.array([[0.1, 0.2], [0.3, 0.4]])
    losses = [
        sg.parse(LAYER.format(form.replace("{}", "W@h[t-1] + x[t-1]")))["y"] for form in (written, function)
    ]
    found, right = (sg.compile(sg.grad(y, "W"), inputs=["x", "W"])(x, W) for y in losses)
    assert np.isfinite(right).all()
    np.testing.assert_allclose(found, right, rtol=1e-12)


@pytest.mark.parametrize(
    "step", ["w*h[t-1]**2 + x[t-1]", "w*tanh(h[t-1]) + x[t-1]", "w/h[t-1] + exp(x[t-1])"]
)
def test_steps_that_lose_nothing_stay(step: str) -> None:
    y = sg.parse(LOOP.format(step))["y"]
    slope = sg.grad(y, "w").node
    assert with_stable_steps([slope], topological([y.node])) == [slope]


@pytest.mark.parametrize("first", [-1000.0, -30.0, 0.3, 1000.0])
def test_a_function_that_reads_the_value_of_the_step_before(first: float) -> None:
    written, function = (
        sg.parse(f"a, z0 : real\nz[0] = z0\nz[t] = a*z[t-1] + {form} for t in 1..4\ny = z[4]")["y"]
        for form in ("1/(1 + exp(-z[t-1]))", "sigmoid(z[t-1])")
    )
    expected = sg.compile(list(sg.grad(function, ["a", "z0"])), inputs=["a", "z0"])(0.9, first)
    found = sg.compile(list(sg.grad(written, ["a", "z0"])), inputs=["a", "z0"])(0.9, first)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    called = [slope(a=0.9, z0=first) for slope in sg.grad(written, ["a", "z0"])]
    np.testing.assert_allclose(called, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "step",
    [
        "where(sum(x) > 0, w*h[t-1] + x[t], 2*h[t-1])",
        "where(reshape(x[1] > x[2], (3,)), w*h[t-1] + x[t], 2*h[t-1])",
        "exp(-w*h[t-1]) + x[argmax(x[0])]*argmax(x[2])",
        "where(x[t] > x[0], 1/(1 + exp(-w*h[t-1]*argmax(x[0]))), h[t-1])",
    ],
)
def test_steps_that_read_conditions_and_positions(step: str) -> None:
    p = sg.parse(f"w : real\nx : real[5, 3]\nh[0] = x[0]\nh[t] = {step} for t in 1..4\ny = sum(h[4])")
    x = np.random.default_rng(0).normal(size=(5, 3))
    slope = sg.grad(p["y"], "w")
    shift = 1e-6
    by_differences = (p["y"](w=0.5 + shift, x=x) - p["y"](w=0.5 - shift, x=x)) / (2 * shift)
    assert slope(w=0.5, x=x) == pytest.approx(by_differences, rel=1e-6)
    assert sg.compile(slope)(w=0.5, x=x) == pytest.approx(by_differences, rel=1e-6)


@pytest.mark.parametrize(
    ("step", "function"),
    [
        ("{}/(1 + exp(-w*{}))", lambda w, x: x / (1 + mpmath.exp(-w * x))),
        ("1/(exp(w*{}) + exp(-w*{}))", lambda w, x: 1 / (mpmath.exp(w * x) + mpmath.exp(-w * x))),
        ("log(exp(w*{}) + exp(2*{}))", lambda w, x: mpmath.log(mpmath.exp(w * x) + mpmath.exp(2 * x))),
        ("w*{} - 1/(1 + exp(w*{}))", lambda w, x: w * x - 1 / (1 + mpmath.exp(w * x))),
    ],
)
@pytest.mark.parametrize("z", [1e-9, 0.3, 30.0, -300.0])
def test_steps_keep_the_digits_of_derivatives(step: str, function: Callable[..., Any], z: float) -> None:
    p = sg.parse(f"w, z : real\nh[0] = z\nh[t] = {step.replace('{}', 'h[t-1]')} for t in 1..3\ny = h[3]")

    def exact(w: Any, z: Any) -> Any:
        return function(w, function(w, function(w, z)))

    for place, by in enumerate(("w", "z")):
        with mpmath.workdps(400):
            order = (1, 0) if place == 0 else (0, 1)
            expected = float(mpmath.diff(exact, (mpmath.mpf(0.9), mpmath.mpf(z)), order))
        slope = sg.grad(p["y"], by)
        assert float(slope(w=0.9, z=z)) == pytest.approx(expected, rel=1e-12, abs=1e-300)
        assert float(sg.compile(slope)(w=0.9, z=z)) == pytest.approx(expected, rel=1e-12, abs=1e-300)
