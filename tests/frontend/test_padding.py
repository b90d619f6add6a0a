"""pad means what it does in NumPy, and is what the pullback of a slice is printed as."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import ShapeError

WIDTH = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(st.sampled_from(["3", "n"]), st.lists(WIDTH, min_size=2, max_size=2))
def test_it_is_numpys(size: str, widths: list[tuple[int, int]]) -> None:
    X = np.arange(6.0).reshape(3, 2)
    program = sg.parse(f"X : real[{size}, 2]\ny = pad(X, {tuple(widths)})\ng = sum(y**2)")
    np.testing.assert_array_equal(program["y"](X=X), np.pad(X, widths))
    np.testing.assert_array_equal(sg.grad(program["g"], "X")(X=X), 2 * X)
    assert sg.parse(str(program))["y"].same(program["y"])


def test_one_width_and_one_pair_are_for_every_axis() -> None:
    X = np.arange(6.0).reshape(3, 2)
    for width in (2, (1, 2)):
        program = sg.parse(f"X : real[n, m]\ny = pad(X, {width})")
        np.testing.assert_array_equal(program["y"](X=X), np.pad(X, width))


@pytest.mark.parametrize(
    ("declared", "formula", "expected"),
    [
        ("n", "z[1:]*z[:-1]", "pad(z[1:], (0, 1)) + pad(z[:-1], (1, 0))"),
        ("5", "z[1:]*z[:-1]", "pad(z[1:], (0, 1)) + pad(z[:-1], (1, 0))"),
        ("n, 4", "z[:, 2:-1]**2", "2*pad(z[:, 2:-1], ((0, 0), (2, 1)))"),
        ("n", "z[1:-1]**3", "3*pad(z[1:-1]**2, (1, 1))"),
    ],
)
def test_the_gradient_of_a_slice_reads_back(declared: str, formula: str, expected: str) -> None:
    program = sg.parse(f"z : real[{declared}]\ny = sum({formula})")
    gradient = sg.grad(program["y"], "z")
    assert str(gradient) == expected
    again = sg.parse(expected, symbols={"z": program["z"]})
    assert again.last.canonical().same(gradient.canonical())
    for rows in (5,) if "5" in declared else (1, 2, 3, 6):
        z = np.random.default_rng(rows).normal(size=(rows, 4) if "," in declared else rows)
        np.testing.assert_allclose(again.last(z=z), gradient(z=z), rtol=1e-15)


@pytest.mark.parametrize("width", ["(1, 2, 3)", "((1, 2), (1, 2))", "-1", "((1, 2, 3),)"])
def test_widths_that_do_not_fit(width: str) -> None:
    with pytest.raises(ShapeError, match=r"widths .* to pad an array with 1 axes"):
        sg.parse(f"z : real[n]\ny = pad(z, {width})")
