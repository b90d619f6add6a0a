"""pad means what it does in NumPy, and is what the pullback of a slice is printed as."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import ShapeError, UnsupportedError, UsageError

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
        ("n", "z[1:]*z[:-1]", "pad(z[:-1], (1, 0)) + pad(z[1:], (0, 1))"),
        ("5", "z[1:]*z[:-1]", "pad(z[:-1], (1, 0)) + pad(z[1:], (0, 1))"),
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
    with pytest.raises(ShapeError, match=r"widths .* do not fit an array with 1 axes"):
        sg.parse(f"z : real[n]\ny = pad(z, {width})")


def test_widths_are_sizes_and_whole_numbers_of_numpy() -> None:
    x, y = sg.tensor("x", ("n",)), sg.tensor("y", ("m",))
    values = {"x": np.array([1.0, 2.0]), "y": np.zeros(3)}
    named = sg.arrays.pad(x, (y.size, 0)) + 0 * sg.sum(y)
    assert named.shape == sg.arrays.concatenate([y, x]).shape
    np.testing.assert_array_equal(named(**values), [0, 0, 0, 1, 2])
    behind = sg.arrays.pad(x, (1, sg.size(y.size) + 1)) + 0 * sg.sum(y)
    np.testing.assert_array_equal(behind(**values), [0, 1, 2, 0, 0, 0, 0])
    for widths in ((np.int64(1), np.int32(2)), np.array([1, 2]), [1, 2]):
        np.testing.assert_array_equal(sg.arrays.pad(x, widths)(x=values["x"]), [0, 1, 2, 0, 0])


@pytest.mark.parametrize("widths", ["(m, 0)", "(0, m)", "(m, m + 1)", "(2*m, 1)"])
def test_named_widths_read_back_and_are_differentiated(widths: str) -> None:
    text = f"x : real[n]; y : real[m]\nz = pad(x, {widths})\nloss = sum(z**2) + sum(y)"
    program = sg.parse(text)
    assert str(program["z"]) == f"pad(x, {widths})"
    x, y = np.array([1.0, 2.0]), np.zeros(3)
    before, after = {"(m, 0)": (3, 0), "(0, m)": (0, 3), "(m, m + 1)": (3, 4), "(2*m, 1)": (6, 1)}[widths]
    np.testing.assert_array_equal(sg.compile(program["z"], ["x", "y"])(x, y), np.pad(x, (before, after)))
    np.testing.assert_array_equal(sg.grad(program["loss"], "x")(x=x, y=y), 2 * x)


@pytest.mark.parametrize("widths", [True, 1.5, (1, True), "n-"])
def test_what_is_no_width(widths: object) -> None:
    with pytest.raises(UsageError, match="is not the size of an axis"):
        sg.arrays.pad(sg.tensor("x", ("n",)), widths)


def test_widths_that_may_be_negative() -> None:
    x = sg.tensor("x", ("n",))
    with pytest.raises(ShapeError, match=r"widths \(n - 3, 0\) do not fit"):
        sg.arrays.pad(x, (sg.size("n") - 3, 0))


def test_numpys_function_pads_expressions() -> None:
    pad: Any = np.pad
    x = sg.tensor("x", ("n",))
    assert pad(x, (1, 2)).same(sg.arrays.pad(x, (1, 2)))
    assert pad(x, 1, mode="constant", constant_values=0).same(sg.arrays.pad(x, 1))
    for options in ({"mode": "edge"}, {"constant_values": 2}):
        with pytest.raises(UnsupportedError, match="something else than zeros"):
            pad(x, 1, **options)
