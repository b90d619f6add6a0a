"""Gradient code of functions with loops: formulas whose loops are recurrences, and code with loops of Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

LOSS = """
x : real[T]; a : real
h[0] = 0
h[t] = tanh(a*h[t-1] + x[t-1]) for t in 1..T
loss = h[T]**2
"""


def gradient(x: Any, a: Any) -> Any:
    length = x.shape[0]
    h = np.zeros(length + 1)
    for t in range(length):
        h[t + 1] = np.tanh(a * h[t] + x[t])
    g = np.zeros(length)
    back = 2 * h[length]
    for t in reversed(range(length)):
        g[t] = back * (1 - h[t + 1] ** 2)
        back = a * g[t]
    return g


def wrong(x: Any, a: Any) -> Any:
    return gradient(x, a) * 1.01


@pytest.mark.parametrize("size", ["3", "T", "40"])
def test_gradient_code_of_a_recurrence(size: str) -> None:
    loss = sg.parse(LOSS.replace("T", size))["loss"]
    assert sg.verify_code(loss, gradient, wrt="x", time_limit=5).status in ("proved", "supported")
    found = sg.verify_code(loss, wrong, wrt="x", time_limit=5)
    assert found.status == "refuted"
    assert "x" in str(found)
