"""Values in balls contain the values in floats, for arrays and for ops of the user."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.checker.balls.entries import box
from symgrad.ir.graph import Node
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.user_ops import OWN, drop_own
from symgrad.rewrite.choice.certain_values import CertainValues, ball_values, exact_ball

POINT = [[Fraction(1, 3), Fraction(2)], [Fraction(-1, 7), Fraction(5, 4)]]

FORMULAS = (
    "softmax(A @ v, axis=0)",
    "A[argmax(v)]*n",
    "sum(where(A > 0, log(abs(A)), A), axis=1)",
    "cumsum(v)[0] + max(A) - trace(A)",
    "exp(v)*(v < 1) + logsumexp(A)",
)


@pytest.mark.parametrize("formula", FORMULAS)
def test_values_of_arrays(formula: str) -> None:
    program = sg.parse(f"A : real[n, n]\nv : real[n]\ny = {formula}")
    A, v, y = (program[name].node for name in "Avy")
    at: dict[Node, Any] = {A: np.array(POINT, dtype=object), v: np.array(POINT[0], dtype=object)}
    found = ball_values([y], {s: exact_ball(x) for s, x in at.items()}, 128)[y]
    floats = evaluate([y], {s: x.astype(float) for s, x in at.items()})[0]
    np.testing.assert_allclose(box(found).astype(float), floats, rtol=1e-14)


def test_a_choice_that_no_ball_decides_has_no_value() -> None:
    program = sg.parse("x : real\ny = where(sin(x)**2 + cos(x)**2 > 1, x, 2*x)\nz = floor(exp(log(x)))")
    x, y, z = (program[name].node for name in "xyz")
    values = ball_values([y, z], {x: exact_ball(Fraction(3))}, 200)
    assert (values[y], values[z]) == (None, None)


def test_an_op_with_a_definition() -> None:
    twice = sg.register_op("twice_in_balls", "x", definition="x + exp(x) - exp(x)*1 + x")
    try:
        x = sg.symbols("x").node
        y = (twice(sg.symbols("x")) - 1).node
        (value,) = CertainValues([y]).at({x: Fraction(1, 4)})
        found = ball_values([y], {x: exact_ball(Fraction(1, 4))}, 128)[y]
        assert (float(value), float(found)) == (-0.5, -0.5)
    finally:
        drop_own(OWN["twice_in_balls"])  # other tests go through all ops that there are


def test_an_op_with_a_reference_alone() -> None:
    cube = sg.register_op(
        "cube_in_mpmath", "x", reference=lambda mp, x: mp.sin(x) ** 3, partials=["3*sin(x)**2*cos(x)"]
    )
    try:
        x = sg.symbols("x")
        program = (cube(-sg.sqrt(x)) / sg.sin(sg.sqrt(x)) ** 3).node
        found = ball_values([program], {x.node: exact_ball(Fraction(2))}, 256)[program]
        assert found.overlaps(found * 0 - 1)
        assert found.rad() < 1e-60
        away = ball_values([program], {x.node: exact_ball(Fraction(-2))}, 256)[program]
        assert away is None
    finally:
        drop_own(OWN["cube_in_mpmath"])
