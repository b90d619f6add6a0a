"""Truth values: as numbers, and moved about in arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

import symgrad as sg
from symgrad.errors import DomainError

MOVED = {
    "where(m[None, :], s, 0)": lambda m, s, x: np.where(m[None, :], s, 0),
    "where(m[1:] & m[:-1], x[1:], 0)": lambda m, s, x: np.where(m[1:] & m[:-1], x[1:], 0),
    "where(not m[0], 1, x)": lambda m, s, x: np.where(~m[0], 1, x),
    "where(m[:, None] | (x > 0)[None, :], s, 0)": lambda m, s, x: np.where(m[:, None] | (x > 0), s, 0),
    "where(where(m, x > 0, x < 0) & m, x, 0)": lambda m, s, x: np.where(np.where(m, x > 0, x < 0) & m, x, 0),
    "where(concatenate((m[1:], m[:1])), x, 0)": lambda m, s, x: np.where(np.r_[m[1:], m[:1]], x, 0),
    "softmax(where(m[None, :], s, -oo), axis=1)": lambda m, s, x: softmax(
        np.where(m[None, :], s, -np.inf), axis=1
    ),
}


@pytest.mark.parametrize("text", MOVED)
def test_truth_values_that_are_moved_about_are_truth_values(text):
    """As in NumPy; as numbers they are 0 and 1. What is printed reads back."""
    declared = "m : bool[4]; s : real[4, 4]; x : real[4]\n"
    y = sg.parse(f"{declared}y = {text}")["y"]
    rng = np.random.default_rng(0)
    s, x = rng.normal(size=(4, 4)), rng.normal(size=4)
    for m in (np.array([True, False, True, True]), np.array([False, True, False, True])):
        values = {str(i.name): {"m": m, "s": s, "x": x}[str(i.name)] for i in y.inputs}
        expected = MOVED[text](m, s, x)
        np.testing.assert_allclose(y(**values), expected, rtol=1e-14)
        np.testing.assert_allclose(sg.compile(y)(**values), expected, rtol=1e-14)
    assert sg.parse(str(y)).last.same(y)
    assert "t1" not in str(y)


def test_numbers_are_no_truth_values():
    for text in ("x & m", "where(x[1:], 1, 0)", "not x[0]", "where(2*m[1:], 1, 0)"):
        with pytest.raises(DomainError, match="condition"):
            sg.parse(f"m : bool[4]; x : real[4]\ny = {text}")
