"""Sizes that no input has in its shape: by name in an evaluation, by an array that has them in a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArrayTypeError, MissingInputError, ShapeError


@pytest.fixture(scope="module")
def s():
    return sg.parse("m : size; x : real; s = sum(x**arange(m))")["s"]


def test_a_size_is_given_by_name(s):
    assert s(x=2.0, m=4) == 15
    assert s(2.0, m=np.int64(1)) == 1
    assert s(2.0, m=0) == 0
    assert sg.grad(s, "x")(x=2.0, m=4) == 17


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"x": 2.0}, MissingInputError, "no value for the size m"),
        ({"x": 2.0, "m": 4.0}, ArrayTypeError, "the size m is 4.0"),
        ({"x": 2.0, "m": [4]}, ArrayTypeError, r"the size m is \[4\]"),
        ({"x": 2.0, "m": -1}, ShapeError, "the size m is -1"),
        ({"m": 4}, MissingInputError, "no value for x"),
        ({"x": 2.0, "m": 4, "k": 1}, MissingInputError, "'k' is not an input"),
    ],
)
def test_wrong_sizes(s, values, error, words):
    with pytest.raises(error, match=words):
        s(**values)


def test_a_size_that_an_array_has_may_be_given_too():
    y = sg.parse("x : real[n]; y = sum(x)/n")["y"]
    assert y(x=np.ones(3), n=3) == 1
    with pytest.raises(ShapeError, match="size n is 4 as given and 3 in 'x'"):
        y(x=np.ones(3), n=4)


def test_a_kernel_reads_sizes_off_its_inputs(s):
    with pytest.raises(MissingInputError, match="the size m") as caught:
        sg.compile(s)
    assert caught.value.cure == "declare one, such as like_m : real[m], which need not occur in the outputs"
    p = sg.parse("x : real; like_m : real[m]; s = sum(x**arange(m))")
    kernel = sg.compile(p["s"])
    assert kernel.inputs == ("x", "like_m")
    assert kernel(2.0, np.zeros(4)) == 15
