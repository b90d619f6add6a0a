"""Sums over data in blocks: values, bits, what is verified of the loss, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.api.kernels.over_data import add_parts
from symgrad.errors import MissingInputError, NotScalarError, ShapeError, UsageError

REGRESSION = sg.parse("X : real[n, d]; w : real[d]; y : real[n]; loss = sum(tanh(X@w - y)**2)")
LABELS = sg.parse(
    "X : real[n, 4]; W : real[4, 3]; y : int[n]; loss = -mean(log_softmax(X@W, axis=1)[arange(n), y])"
)
RNG = np.random.default_rng(11)
X, Y, W = RNG.normal(size=(1003, 3)), RNG.normal(size=1003), RNG.normal(size=3)
TOTAL = sg.over_data(REGRESSION["loss"], "w", "n", rows=100)


def test_value_and_gradient_are_those_of_the_whole() -> None:
    value, gradient = TOTAL({"X": X, "y": Y}, w=W)
    loss, slope = sg.value_and_grad(REGRESSION["loss"], "w")
    np.testing.assert_allclose(value, loss(X=X, y=Y, w=W), rtol=1e-13)
    np.testing.assert_allclose(gradient, slope(X=X, y=Y, w=W), rtol=1e-12)


def test_a_mean_with_labels_is_recognised() -> None:
    total = sg.over_data(LABELS["loss"], ["W"], "n", rows=64)
    assert total.mean
    data = {"X": RNG.normal(size=(200, 4)), "y": RNG.integers(0, 3, 200)}
    W = RNG.normal(size=(4, 3))
    value, (gradient,) = total(data, W=W)
    loss, slope = sg.value_and_grad(LABELS["loss"], "W")
    np.testing.assert_allclose(value, loss(**data, W=W), rtol=1e-13)
    np.testing.assert_allclose(gradient, slope(**data, W=W), rtol=1e-12)


@given(st.integers(1, 200))
def test_the_tree_of_the_stream_is_the_tree_of_all_parts(count: int) -> None:
    total = sg.over_data(SUM["s"], "m", "n", rows=1, reduce="sum")
    x = RNG.normal(size=count) * 10.0 ** RNG.integers(-8, 8, count)
    parts = [total.part({"x": x[k : k + 1]}, {"m": 0.5}) for k in range(count)]
    assert total({"x": x}, m=0.5) == total.finished(add_parts(parts), count)
    for base in (2, 8):  # branches of a power of two may be added apart
        groups = [add_parts(parts[k : k + base]) for k in range(0, count, base)]
        assert add_parts(groups) == add_parts(parts)


SUM = sg.parse("x : real[n]; m : real; s = sum((x - m)**2); a = mean((x - m)**2)")


def test_what_is_larger_than_one_block_is_cut_where_it_says() -> None:
    seen: list[tuple[int, int]] = []

    def read(first: int, last: int) -> dict[str, np.ndarray]:
        seen.append((first, last))
        return {"X": X[first:last], "y": Y[first:last]}

    assert_same(TOTAL(read, 1003, w=W), TOTAL({"X": X, "y": Y}, w=W))
    assert seen == [(100 * k, min(100 * k + 100, 1003)) for k in range(11)]


def assert_same(a: tuple, b: tuple) -> None:
    assert a[0] == b[0]
    np.testing.assert_array_equal(a[1], b[1])


def test_files_lists_other_axes_and_dtypes(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    opened = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(TOTAL({"X": opened, "y": Y}, w=W), TOTAL({"X": X, "y": Y}, w=W))
    p = sg.parse("X : real[d, n]; w : real[d]; loss = sum((w@X)**2)")
    total = sg.over_data(p["loss"], "w", "n", rows=100, dtype="float32")
    value, gradient = total({"X": X.T.astype(np.float32)}, w=W.astype(np.float32))
    assert (value.dtype, gradient.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(value, np.sum((X @ W) ** 2), rtol=1e-5)


@pytest.mark.parametrize(("name", "empty"), [("s", 0.0), ("a", np.nan)])
def test_no_rows(name: str, empty: float) -> None:
    total = sg.over_data(SUM[name], "m", "n")
    np.testing.assert_array_equal(total({"x": np.empty(0)}, m=1.0), (empty, empty))


def test_infinities_and_nan_stay() -> None:
    total = sg.over_data(SUM["s"], "m", "n", rows=2)
    x = np.array([1.0, np.inf, 2.0, 3.0, np.nan])
    assert total({"x": x[:4]}, m=0.0)[0] == np.inf
    assert np.isnan(total({"x": x}, m=0.0)[0])


def test_it_travels() -> None:
    again = pickle.loads(pickle.dumps(TOTAL))
    assert repr(again) == repr(TOTAL)
    assert_same(again({"X": X, "y": Y}, w=W), TOTAL({"X": X, "y": Y}, w=W))


@pytest.mark.parametrize(
    "text",
    [
        "sum((x - mean(x))**2)",  # a statistic of all rows
        "sum((x - m)**2) + m**2",  # something without rows
        "sqrt(sum((x - m)**2))",
        "max((x - m)**2)",
        "sum(x*m)*sum(x)",
        "sum(x[1:]*x[:-1])*m",
        "sum(arange(n)*x)*m",  # rows by their numbers
        "sum(softmax(x)*m*x)",
        "sum(x*m)/2*n",
    ],
)
def test_what_is_no_sum_over_rows_is_refused(text: str) -> None:
    p = sg.parse(f"n : size; x : real[n]; m : real; loss = {text}")
    with pytest.raises(UsageError, match="the loss is no sum or mean over rows of n"):
        sg.over_data(p["loss"], "m", "n")
    with pytest.raises(UsageError, match="the loss is no mean over rows"):
        sg.over_data(p["loss"], "m", "n", reduce="mean")


def test_a_penalty_beside_a_mean_is_in_the_mean() -> None:
    p = sg.parse("x : real[n]; m : real; loss = mean((x - m)**2) + m**2")
    x = RNG.normal(size=25)
    found = sg.over_data(p["loss"], "m", "n", rows=4)({"x": x}, m=0.5)
    np.testing.assert_allclose(found, (np.mean((x - 0.5) ** 2) + 0.25, np.mean(1 - 2 * x) + 1), rtol=1e-13)


def test_gradients_are_verified_too() -> None:
    p = sg.parse("x : real[n]; m : real; loss = sum((x - m)**2)*m/stop_gradient(m) + stop_gradient(m) - m")
    with pytest.raises(UsageError, match="no sum or mean"):
        sg.over_data(p["loss"], "m", "n")


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(NotScalarError, match=r"the loss has shape \('n',\)"):
        sg.over_data(REGRESSION["X"] @ REGRESSION["w"], "w", "n")
    with pytest.raises(UsageError, match="no input of the loss has the size 'm'"):
        sg.over_data(REGRESSION["loss"], "w", "m")
    with pytest.raises(UsageError, match="the gradient with respect to 'X' has rows itself"):
        sg.over_data(REGRESSION["loss"], "X", "n")
    with pytest.raises(UsageError, match="rows=0"):
        sg.over_data(REGRESSION["loss"], "w", "n", rows=0)
    with pytest.raises(UsageError, match="reduce='max'"):
        sg.over_data(REGRESSION["loss"], "w", "n", reduce="max")
    square = sg.parse("A : real[n, n]; m : real; loss = sum(A)*m")
    with pytest.raises(UsageError, match="has 'n' in more than one axis"):
        sg.over_data(square["loss"], "m", "n")


def test_data_that_do_not_fit_are_said() -> None:
    with pytest.raises(ShapeError, match=r"different numbers of rows: X has 1,003, y has 3"):
        TOTAL({"X": X, "y": Y[:3]}, w=W)
    with pytest.raises(MissingInputError, match="no rows for 'y'"):
        TOTAL({"X": X}, w=W)
    with pytest.raises(MissingInputError, match="'z' is no input of the loss with rows"):
        TOTAL({"X": X, "y": Y, "z": Y}, w=W)
    with pytest.raises(MissingInputError, match="no value for 'w'"):
        TOTAL({"X": X, "y": Y})
    with pytest.raises(UsageError, match="the number of rows is unknown"):
        TOTAL(lambda first, last: {}, w=W)
    with pytest.raises(ShapeError, match=r"'X' has shape \(5, 3\) for the rows 0 to 100"):
        TOTAL(lambda first, last: {"X": X[:5], "y": Y[:5]}, 1003, w=W)
