"""Values that the steps of a recurrence define and no other step reads: a_bar[t] = ..., read at these positions."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError

HEAD = """
x : real[T]; w, a : real
h[0] = a
h[t] = tanh(w*h[t-1] + x[t-1]) for t in 1..T
h_bar[T] = 2*h[T]
a_bar[t] = (1 - h[t]**2)*h_bar[t]; h_bar[t-1] = w*a_bar[t] for t in T..1
loss = h[T]**2
"""


def test_gradients_by_hand_are_proved() -> None:
    p = sg.parse(HEAD)
    for by, text in (("w", "sum(a_bar[t]*h[t-1], t=1..T)"), ("x", "a_bar[1:]"), ("a", "h_bar[0]")):
        assert sg.verify(p["loss"], by, sg.parse(HEAD + text).last).status == "proved"
    wrong = sg.parse(HEAD + "sum(a_bar[t]*h[t], t=1..T)").last
    assert sg.verify(p["loss"], "w", wrong).status == "refuted"


def test_values_and_positions() -> None:
    text = "n : size; x : real[3]\nh[0] = 1\nh[t] = 2*h[t-1]; g[t] = h[t] + x[t-1] for t in 1..3\n"
    read = {
        "g[1]": 2.0,
        "g[3]": 8.0,
        "g[1:]": [2, 4, 8],
        "g[2:4]": [4, 8],
        "sum(g[t]*h[t-1], t=1..3)": 42.0,
        "sum(g[t], t=2..3)": 12.0,
        "u[t-1] = g[t]; k[t] = g[t] for t in 1..3\nsum(u)*u[0]": 28.0,
        "k[0] = 0\nk[t] = k[t-1] + g[t] for t in 1..3\nk[3]": 14.0,
    }
    for line, value in read.items():
        np.testing.assert_array_equal(sg.parse(text + line).last(x=np.zeros(3)), value)
    assert sg.parse(text)["g"].shape == (3,)
    both = sg.parse("h[0] = 1\nu[t] = 3*h[t-1]; v[t] = u[t] + t; h[t] = v[t] for t in 1..3\nu[3] + v[1]").last
    assert float(both()) == 42.0 + 4.0


@pytest.mark.parametrize(
    "read",
    [
        "a_bar[0]",
        "sum(a_bar)",
        "a_bar[:1]",
        "a_bar[-1]",
        "sum(a_bar[t], t=0..T - 1)",
        "a_bar",
        "grad(sum(a_bar), a)",
        "where(a > 0, a, shape(a_bar)[0])",
    ],
)
def test_other_positions_are_errors(read: str) -> None:
    with pytest.raises(SymgradError):
        sg.parse(HEAD + read)


@pytest.mark.parametrize(
    "line",
    [
        "g[t] = g[t-1] + 1 for t in 1..3",
        "h[0] = 1\nh[t] = 2*h[t-1] + g[t-1]; g[t] = h[t] for t in 1..3",
        "h[0] = 1\nh[t] = 2*h[t-1] + g[t]; g[t] = h[t-1] for t in 1..3",
        "h[0] = 1\nh[t] = 2*h[t-1]; h[0] = 2 for t in 1..3",
    ],
)
def test_values_that_other_steps_read_need_a_first_value(line: str) -> None:
    with pytest.raises(SymgradError):
        sg.parse(line)


@pytest.mark.parametrize(
    ("read", "step"),
    [
        ("y[t-1, 1]", "y[t-1][1]"),
        ("y[t-1, -1]", "y[t-1][2]"),
        ("y[t-1, t]", "y[t-1][t]"),
        ("y[t-1, i]", "y[t-1][i]"),
        ("y[t-1, k[t-1]]", "y[t-1][k[t-1]]"),
        ("m[t-1, 1]", "m[t-1][1]"),
        ("n[1, t-1]", "n[1][t-1]"),
        ("c[t-1, 1, 0]", "c[t-1][1, 0]"),
        ("sum(c[t-1, 1:, 0])", "sum(c[t-1][1:, 0])"),
    ],
)
def test_entries_of_rows(read: str, step: str) -> None:
    text = "i : int; k : int[2]; v : real[3]; m : real[2, 3]; n : real[3, 2]; c : real[2, 3, 2]\ny[0] = v"
    found, same = (
        sg.parse(f"{text}\ny[t] = y[t-1] + v*{part} for t in 1..2\nz = sum(y[2])") for part in (read, step)
    )
    m = np.arange(6.0).reshape(2, 3)
    given = {"i": 1, "k": [0, 2], "v": [1, 2, 3], "m": m, "n": m.T**2, "c": np.arange(12).reshape(2, 3, 2)}
    values = [p["z"](**{str(x.name): given[str(x.name)] for x in p["z"].inputs}) for p in (found, same)]
    assert values[0] == values[1]
    for p in (found, sg.parse(str(found))):
        assert p["z"].node is found["z"].node
    assert "squeeze" not in str(found)
