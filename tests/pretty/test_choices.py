"""Choices as they are written: equal to what they were at kinks too, and clip for the slope of Huber's loss."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

LOSSES = {
    "X.T@clip(r, -1, 1)/n": "where(abs(r) <= 1, r**2/2, abs(r) - 1/2)",
    "X.T@clip(r, -d, d)/n": "where(abs(r) <= d, r**2/2, d*(abs(r) - d/2))",
    "X.T@clip(r, -1.5, 1.5)/n": "where(abs(r) < 1.5, 0.5*r**2, 1.5*(abs(r) - 0.75))",
    "X.T@where(r > 0, d, d - 1)/n": "where(r > 0, d*r, (d - 1)*r)",
    # Not limited: another bound than the one that is asked for, and one that may be negative.
    "X.T@where(abs(r) <= 1, r, 2*sign(r))/n": "where(abs(r) <= 1, r**2/2, 2*abs(r))",
    "X.T@where(abs(r) <= c, r, c*sign(r))/n": "where(abs(r) <= c, r**2/2, c*abs(r))",
}


def loss(body: str) -> sg.Program:
    text = "X : real[n, m]; w : real[m]; t : real[n]; d : positive; c : real"
    return sg.parse(f"{text}\nr = X@w - t\nloss = mean({body})")


@pytest.mark.parametrize(("expected", "body"), LOSSES.items(), ids=LOSSES.values())
def test_what_is_printed(expected: str, body: str) -> None:
    program = loss(body)
    found = sg.grad(program["loss"], "w")
    assert str(found) == expected
    shown = sg.parse(
        expected, symbols={"X": program["X"], "r": program["r"], "d": program["d"], "c": program["c"]}
    )
    rng = np.random.default_rng(3)
    for at in (0.0, 1.0, -1.0, 1.5, -1.5, 0.3, 1e-40, 1e40):
        X = np.eye(2)
        w, t = np.array([at, rng.normal()]), np.array([0.0, 0.5])
        values = {"X": X, "w": w, "t": t, "d": 1.5, "c": -0.5}
        read = {k: v for k, v in values.items() if k in {str(i.name) for i in found.inputs}}
        again = {k: v for k, v in values.items() if k in {str(i.name) for i in shown.last.inputs}}
        np.testing.assert_array_equal(shown.last(**again), found(**read))


def test_a_sign_before_a_sum_of_choices_goes_into_them() -> None:
    p = sg.parse("x, y : real[n]; a : real\nf = a - sum(where(x > 1, 0, -y**2*a/x))")
    found = sg.grad(p["f"], "a")
    assert str(found) == "1 + sum(where(x > 1, 0, y**2/x))"
    x, y = np.array([0.5, 2.0, -1.0]), np.array([1.0, 2.0, 3.0])
    assert found(x=x, y=y) == pytest.approx(1 + 2 - 9)
    kept = sg.parse("x, y : real[n]; a : real\nf = a - sum(where(x > 1, y*a, -y*a**2))")
    assert str(sg.grad(kept["f"], "a")) == "1 - sum(y*where(x > 1, 1, -2*a))"
