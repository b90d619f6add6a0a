"""Exact arithmetic and its budgets, against Python's integers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.errors import NumberTooLargeError
from symgrad.ir.exact import (
    DIGITS,
    decimal_digits,
    exact_value,
    fits,
    float_of,
    nearest_float,
    power,
    root,
    without,
)

pytestmark = pytest.mark.usefixtures("ends")


@given(st.integers(0, 10**60), st.integers(2, 12))
def test_a_root_is_the_largest_whole_one(value: int, degree: int) -> None:
    found = root(value, degree)
    assert found**degree <= value < (found + 1) ** degree


@given(st.integers(0, 10**30), st.integers(2, 8), st.integers(-1, 1))
def test_roots_of_powers_are_exact(base: int, degree: int, beside: int) -> None:
    value = max(base**degree + beside, 0)
    found = root(value, degree)
    assert found**degree <= value < (found + 1) ** degree


@given(st.fractions(min_value=-9, max_value=9, max_denominator=9), st.integers(-40, 40))
def test_powers(base: Fraction, exponent: int) -> None:
    found = power(base, exponent, 10**6)
    assert found == (None if base == 0 and exponent < 0 else Fraction(base) ** exponent)


@pytest.mark.parametrize("exponent", [10**9, -(10**9), 10**400], ids=lambda value: "number")
def test_long_powers_are_not_begun(exponent: int) -> None:
    assert power(3, exponent, 10**6) is None
    assert power(Fraction(1, 3), exponent, 10**6) is None
    assert power(-1, exponent, 10**6) == 1
    assert power(-1, exponent + 1, 10**6) == -1


def test_what_is_too_long_is_said() -> None:
    assert exact_value(10**DIGITS - 1) == 10**DIGITS - 1
    assert exact_value(Fraction(6, 3)) == 2
    for value in (10**DIGITS, -(10**DIGITS), Fraction(1, 10**DIGITS)):
        assert not fits(value)
        with pytest.raises(NumberTooLargeError, match="4,000 digits"):
            exact_value(value)


@pytest.mark.parametrize(
    "value", [10**309, -(10**4000), 10**50_000, Fraction(10**9000, 10**8000 + 1)], ids=lambda value: "number"
)
def test_a_number_without_a_float_is_named_by_its_size(value: int | Fraction) -> None:
    with pytest.raises(NumberTooLargeError, match=r"about 10\*\*(309|4000|50000|1000) is beyond"):
        float_of(value)
    assert nearest_float(value) == (math.inf if value > 0 else -math.inf)


@given(st.integers(1, 10**20), st.integers(2, 12), st.integers(0, 60))
def test_factors_are_taken_out(rest: int, factor: int, count: int) -> None:
    found, times = without(rest * factor**count, factor)
    assert found * factor**times == rest * factor**count
    assert found % factor
    assert times >= count


@given(st.integers(0, 10**30), st.integers(0, 40))
def test_decimals(digits: int, places: int) -> None:
    found = decimal_digits(Fraction(digits, 10**places))
    assert found is not None
    assert Fraction(int(found[0]), 10 ** found[1]) == Fraction(digits, 10**places)
    assert decimal_digits(Fraction(1, 3 * 10**places)) is None
