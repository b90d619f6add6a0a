"""Roots of one point: `scalar` computes as vectors do, on every processor that the machine can stand for."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg


@pytest.mark.parametrize("text", ["1/sqrt(x)", "arcsin(x)", "sqrt(x)*x", "arccosh(x + 1)", "hypot(x, 2)"])
def test_a_point_has_the_bits_of_an_array(text: str) -> None:
    p = sg.parse(f"x : real; y = {text}")
    kernel = sg.compile([p["y"], sg.grad(p["y"], "x")], ["x"], effort="high")
    for x in (0.3, 0.75, 1e-12):
        rows = [np.asarray(v)[0] for v in kernel(np.full(8, x))]
        assert np.array_equal(np.array(kernel.scalar(x)), np.array(rows), equal_nan=True), x
