"""What is known of positions, so that a check is left out: each fact by a program that would read outside without it.

Compiled code masks what is outside, so a check that is missing shows as NaN (or 0) where an error should be.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.calls.guards import guards_of
from symgrad.errors import ArrayTypeError, IndexRangeError, ShapeError

A3, A5 = np.arange(3.0), np.arange(5.0)
GRID = np.arange(15.0).reshape(3, 5)  # its largest entry is the last
IDS = np.array([0, 2, -3])

DECLARED = "v : real[n]; f : real[3]; w : real[m]; X : real[n, m]; ids : int[k]; P : int[k, l]; c : int"
VALUES = {
    "v": A3,
    "f": A3,
    "w": A5,
    "X": GRID,
    "ids": IDS,
    "P": np.array([[0, 2], [1, -3], [2, 1]]),
    "c": 2,
}

UNCHECKED = [
    "v[arange(n)]",
    "X[:, arange(m)]",
    "X[arange(n)[:, None], arange(m)]",
    "take_along_axis(X, argmax(X, axis=1, keepdims=True), 1)",
    "v[argmax(v)]",
    "f[argmax(f + 1)]",
    "f[argmin(stack((f, f)), axis=1)]",
    "f[-3] + f[2]",
    "w[argmin(w*2)]",
    "v[argmax(X, axis=0)]",
    "w[argmax(X, axis=1)]",
    "w[argmin(X, axis=1)[:, None]]",
    "X[:, argmax(X, axis=1)]",
    "v[argmax(X, axis=0, keepdims=True)]",
    "w[broadcast_to(argmax(X, axis=1), (4, n))]",
    "v[stack((argmax(X.T@X, axis=0), argmin(X.T@X, axis=1)))[0]*0 + argmax(v)]",
    "take(arange(7), -7)",
    "take(arange(7), 6)",
    "v[reshape(arange(n), (n, 1))]",
    "v[broadcast_to(arange(n), (m, n)).T]",
]

OUTSIDE = [
    # counts of another axis
    ("v[arange(m)]", "a computed index is 3 at"),
    ("X[arange(m)]", "a computed index is 3 at"),
    ("v[arange(n + 1)]", "a computed index is 3 at"),
    ("X[:, arange(m + 1)]", "a computed index is 5 at"),
    # the extreme along another axis, and of several axes
    ("v[argmax(w)]", "a computed index is 4"),
    ("v[argmax(X, axis=1)]", "a computed index is 4 at"),
    ("X[argmax(X, axis=1)]", "a computed index is 4 at"),
    ("v[argmax(X)]", "a computed index is 14"),
    ("w[argmax(X)]", "a computed index is 14"),
    ("w[argmax(X.T)]", "a computed index is 14"),
    ("w[argmin(-X)]", "a computed index is 14"),
    ("v[argmin(-X, axis=1)]", "a computed index is 4 at"),
    ("v[argmin(-w)]", "a computed index is 4"),
    ("take_along_axis(X, argmax(X, axis=1, keepdims=True), 0)", "a computed index is 4 at"),
    ("X[argmax(X, axis=0), argmax(X, axis=0)[::-1] + 3]", "a computed index is 5 at"),
    ("v[:2][argmax(v)]", "a computed index is 2"),
    ("v[:2][argmax(v)*1]", "a computed index is 2"),
    ("concatenate((v, v))[argmax(X)]", "a computed index is 14"),
    # of an axis whose length is a number
    ("f[ids + 1]", "a computed index is 3 at"),
    ("f[argmax(w)]", "a computed index is 4"),
    ("f[argmax(X, axis=1)]", "a computed index is 4 at"),
    ("f[argmax(stack((f, f + 1)))]", "a computed index is 5"),
    ("f[arange(4)]", "a computed index is 3 at"),
    ("f[P*2]", "a computed index is 4 at"),
    ("f[c + 1]", "a computed index is 3"),
    # positions that are moved only, and others that are not
    ("v[argmax(X, axis=0)[:2] + 1]", "a computed index is 3 at"),
    ("v[(P + 1).T]", "a computed index is 3 at"),
    ("v[reshape(P, (-1,)) + 1]", "a computed index is 3 at"),
    ("v[sum(P, axis=1) + 1]", "a computed index is 3 at"),
    ("v[flip(arange(n)) + 1]", "a computed index is 3 at"),
    ("v[-arange(m)]", "a computed index is -4 at"),
    ("v[sum(P, axis=1)]", "a computed index is 3 at"),
    ("v[P.T@P]", "a computed index is 5 at"),
    # numbers
    ("v[3]", "the index 3 is out of range for an axis of length 3"),
    ("v[-4]", "the index -4 is out of range"),
    ("v[c + 1]", "a computed index is 3"),
    ("X[0, 5]", "the index 5 is out of range for an axis of length 5"),
    ("v[1e30]", "the index about 1e30 is out of range"),
    ("v[-18446744073709551616]", "the index -18446744073709551616 is out of range"),
    ("v[[0, 3]]", "a computed index is 3 at"),
    ("v[[0, -4]]", "a computed index is -4 at"),
    ("take(v, 3)", "the index 3 is out of range"),
    ("take(arange(7), 7)*v[0]", "the index 7 is out of range for an axis of length 7"),
    ("take(arange(7), -8)*v[0]", "the index -8 is out of range for an axis of length 7"),
    ("take(X, 15)", "the index 15 is out of range for an axis of length 15"),
    # numbers of sizes
    ("v[m]", "a computed index is 5"),
    ("v[m - 1]", "a computed index is 4"),
    ("v[-m]", "a computed index is -5"),
    ("X[:, n*2]", "a computed index is 6"),
    # scatters
    ("scatter_add(v, arange(n) + 1, axes=0, shape=(n,))", "a computed index is 3 at"),
    ("scatter_add(w, arange(m), axes=0, shape=(n,))", "a computed index is 3 at"),
    ("scatter_add(v, argmax(X, axis=1), axes=0, shape=(n,))", "a computed index is 4 at"),
    ("scatter_add(X, argmax(X, axis=1), axes=0, shape=(n, m))", "a computed index is 4 at"),
    ("scatter_add(v[ids], ids - 3, axes=0, shape=(n,))", "a computed index is -6 at"),
]


def compiled(y: str):
    p = sg.parse(f"{DECLARED}; y = {y}")
    return p["y"], sg.compile(p["y"], list(VALUES))


@pytest.mark.parametrize("y", UNCHECKED)
def test_what_is_inside_for_all_inputs_is_not_checked(y):
    node, kernel = compiled(y)
    if "stack" not in y:
        assert guards_of([node.node]).positions == (), y
    given = {i.name: VALUES[i.name] for i in node.inputs if i.name}
    assert np.array_equal(kernel(**VALUES), node(**given))
    assert not np.any(np.isnan(kernel(**VALUES)))


@pytest.mark.parametrize(("y", "words"), OUTSIDE)
def test_what_may_be_outside_is_checked(y, words):
    node, kernel = compiled(y)
    with pytest.raises(IndexRangeError, match=words):
        kernel(**VALUES)
    with pytest.raises(IndexRangeError):
        node(**{i.name: VALUES[i.name] for i in node.inputs if i.name})
    found = np.asarray(cast("Any", kernel).ufunc(*VALUES.values()))  # nothing outside is read, nor written
    if not y.startswith(("scatter_add", "take(arange")):  # 0 among whole numbers
        assert np.isnan(found).any(), "what is outside reads as NaN"


def test_gradients_are_checked_as_their_values_are():
    p = sg.parse(f"{DECLARED}; y = sum(v[argmax(X, axis=1)]**2)")
    kernel = sg.compile(sg.grad(p["y"], p["v"]), list(VALUES))
    with pytest.raises(IndexRangeError, match="a computed index is 4 at"):
        kernel(**VALUES)
    square = {**VALUES, "w": A3, "X": np.eye(3)}
    assert kernel(**square).tolist() == [0, 2, 4]


EMPTY = [
    ("v[0]", IndexRangeError, "the index 0 is out of range for an axis of length 0"),
    ("v[-1]", IndexRangeError, "the index -1 is out of range for an axis of length 0"),
    ("v[ids]", IndexRangeError, "input 'ids' is 0 at"),
    ("v[argmax(v)]", ShapeError, "argmax of no elements: size n is 0"),
    ("w[argmin(X, axis=0)]", ShapeError, "argmin of no elements: size n is 0"),
    ("max(v)", ShapeError, "max of no elements"),
    ("v[argmax(v[1:])]", ShapeError, "argmax of no elements"),
    ("scatter_add(w, arange(m), axes=0, shape=(n,))", IndexRangeError, "a computed index is 0 at"),
    ("v[c]", IndexRangeError, "input 'c' is 2,"),
]


@pytest.mark.parametrize(("y", "error", "words"), EMPTY)
def test_positions_of_empty_axes(y, error, words):
    node, kernel = compiled(y)
    empty = {**VALUES, "v": A3[:0], "X": GRID[:0]}
    with pytest.raises(error, match=words):
        kernel(**empty)
    with pytest.raises(error):
        node(**{i.name: empty[i.name] for i in node.inputs if i.name})
    cast("Any", kernel).ufunc(*empty.values())  # any value, no crash


def test_no_positions_of_an_empty_axis_are_no_error():
    for y in ("v[ids]", "v[arange(n)]", "sum(v[ids])", "scatter_add(v, arange(n), axes=0, shape=(n,))"):
        node, kernel = compiled(y)
        empty = {**VALUES, "v": A3[:0], "X": GRID[:0], "ids": IDS[:0], "P": VALUES["P"][:0]}
        given = {i.name: empty[i.name] for i in node.inputs if i.name}
        assert np.array_equal(kernel(**empty), node(**given))


def test_literal_positions_of_literal_axes_are_checked_when_they_are_written():
    for y in ("zeros(0)[0]", "zeros(3)[3]", "zeros((2, 3))[:, -4]", "zeros(3)[1e30]"):
        with pytest.raises(IndexRangeError, match="for axis"):
            sg.parse(f"y = {y}")
    for y in ("argmax(zeros(0))", "max(zeros((2, 0)), axis=1)", "zeros(3)[argmin(zeros((0, 3)), axis=0)]"):
        with pytest.raises(ShapeError, match="no elements"):
            sg.parse(f"y = {y}")


@pytest.mark.parametrize(
    "kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
)
def test_positions_of_every_dtype(kind):
    node, kernel = compiled("v[ids]")
    limits = np.iinfo(kind)
    for good in ([0, 1, 2], [2, 2, 0], *([[-1, -2, -3]] if limits.min else [])):
        ids = np.array(good, kind)
        assert np.array_equal(kernel(**{**VALUES, "ids": ids}), A3[np.array(good)])
        assert np.array_equal(node(v=A3, ids=ids), A3[np.array(good)])
    for bad in (3, limits.max, limits.max - 1, limits.min or 4, max(limits.min, -4) or 5):
        for call in (lambda ids: kernel(**{**VALUES, "ids": ids}), lambda ids: node(v=A3, ids=ids)):
            with pytest.raises((IndexRangeError, ArrayTypeError), match=str(bad)):
                call(np.array([0, bad, 1], kind))


@pytest.mark.parametrize("far", [2**31, -(2**31), 2**32, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63)])
def test_positions_far_outside(far):
    for y in ("v[ids]", "v[ids + 1]", "v[-ids]", "v[ids*3]", "X[ids, ids]", "X[:, ids]", "v[P]*sum(v[ids])"):
        node, kernel = compiled(y)
        given = {**VALUES, "ids": np.array([0, far, 1])}
        with pytest.raises(IndexRangeError):
            kernel(**given)
        with pytest.raises(IndexRangeError):
            node(**{i.name: given[i.name] for i in node.inputs if i.name})
        cast("Any", kernel).ufunc(*given.values())
    node, kernel = compiled("one_hot(ids, n)")
    found = kernel(**{**VALUES, "ids": np.array([0, far, 1])})
    assert found.tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_the_position_of_nan_is_inside():
    node, kernel = compiled("v[argmax(X, axis=0)] + v[argmin(X.T, axis=1)]")
    for X in (
        np.full((3, 5), np.nan),
        np.where(GRID % 2, np.nan, GRID),
        np.full((3, 5), -np.inf),
        -np.zeros((3, 5)),
    ):
        assert np.array_equal(kernel(**{**VALUES, "X": X}), node(v=A3, X=X))
