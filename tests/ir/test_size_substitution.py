"""Sizes with others in the place of names, sums of the smaller and the larger of two, and sizes that are never equal.

The checker's forms of lengths, which it works out by itself, are tried with the same sizes.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.checker.program.length_polynomials import add
from symgrad.checker.program.length_polynomials import length_polynomial as form_of
from symgrad.checker.program.length_values import length_value
from symgrad.errors import ShapeError
from symgrad.frontend.text import parse_program
from symgrad.ir.shapes import slice_length
from symgrad.ir.size_substitution import never_equal, resized, size_names, size_with
from symgrad.ir.sizes import Size, evaluate_size, size_max, size_min, size_product, size_sum
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate

CHOICES = [{"n": n, "m": m} for n in range(1, 6) for m in (1, 2, 5)]

leaves = st.sampled_from(["n", "m"]) | st.integers(-3, 4)
sizes = st.recursive(
    leaves,
    lambda inner: (
        st.tuples(st.sampled_from([size_max, size_min]), inner, inner).map(lambda t: t[0](t[1], t[2]))
        | st.lists(inner, min_size=2, max_size=3).map(size_sum)
        | st.tuples(inner, inner).map(size_product)
    ),
    max_leaves=6,
)


@given(sizes, sizes)
def test_sums_are_those_of_numbers_in_both_forms(a: Size, b: Size) -> None:
    total = size_sum([a, b])
    form = add([form_of(_text(a)), form_of(_text(b))])
    for at in [*CHOICES, {"n": 0, "m": 0}, {"n": 0, "m": 3}]:
        assert evaluate_size(total, at) == evaluate_size(a, at) + evaluate_size(b, at)
    for at in CHOICES:
        assert _value(form, at) == length_value(_text(total), at)


@given(sizes, sizes)
def test_what_is_never_equal_is_not(a: Size, b: Size) -> None:
    if never_equal(a, b):
        assert all(evaluate_size(a, at) != evaluate_size(b, at) for at in CHOICES)
    if form_of(_text(a)) == form_of(_text(b)):
        assert all(evaluate_size(a, at) == evaluate_size(b, at) for at in CHOICES)


@given(sizes, sizes)
def test_sizes_in_the_place_of_names(size: Size, other: Size) -> None:
    found = size_with(size, {"n": other})
    for at in CHOICES:
        inner = evaluate_size(other, at)
        if inner >= 0:
            assert evaluate_size(found, at) == evaluate_size(size, {**at, "n": inner})


def test_lengths_that_are_one_from_one_on() -> None:
    short = slice_length("n", (1, None, 1))
    assert size_sum([short, 1]) != "n"  # the other one is 1 where n is 0
    assert form_of(_text(size_sum([short, 1]))) == form_of("n")
    assert form_of("max(n - 2, 0) + 2") != form_of("n")  # it is 2 where n is 1
    assert form_of("max(2*n*m - n - m, 0)") == form_of("2*n*m - n - m")
    assert form_of("max(n*m - n - m, 0)") != form_of("n*m - n - m")
    assert never_equal(size_sum([short, 2]), "n")
    assert not never_equal(size_sum([short, 2]), 2)


def test_graphs_with_other_sizes() -> None:
    y = parse_program("x : real[n]\ny = n*x[1:]")["y"]
    assert size_names([y]) == ["n"]
    (four,) = resized([y], {"n": 4})
    assert four.shape == (3,)
    assert evaluate([four], {symbols_of([four])[0]: np.arange(1.0, 5.0)})[0].tolist() == [8.0, 12.0, 16.0]
    (more,) = resized([y], {"n": size_sum(["k", 1])})
    assert more.shape == ("k",)
    assert resized([y], {}) == [y]
    with pytest.raises(ShapeError):
        resized([parse_program("x : real[n]\nz : real[m]\ny = x@z[:n]")["y"]], {"n": 3, "m": 2})


def _text(size: Size) -> int | str:
    return size if isinstance(size, int) else str(size)


def _value(form, at: dict[str, int]) -> int:
    total = 0
    for monomial, c in form:
        for a in monomial:
            if isinstance(a, str):
                c *= at[a]
            else:
                c *= {"max": max, "min": min}[a[0]](_value(a[1], at), _value(a[2], at))
        total += c
    return total
