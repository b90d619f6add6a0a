"""Rounding of exact numbers to the formats of kernels."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64, float_type
from symgrad.errors import NumberTooLargeError, UsageError
from symgrad.ir.exact import CONSTANTS

exact = st.one_of(
    st.fractions(),
    st.builds(
        lambda m, e: Fraction(m) * Fraction(2) ** e, st.integers(-(2**60), 2**60), st.integers(-220, 60)
    ),
)


@given(exact)
def test_float64_is_pythons_rounding(number):
    assert FLOAT64.round(number) == float(number)


@given(exact)
def test_float32_is_nearest_ties_to_even(number):
    value = FLOAT32.round(number)
    assert value.dtype == np.float32
    error = abs(Fraction(float(value)) - number)
    for direction in (-np.inf, np.inf):
        neighbour = np.nextafter(value, np.float32(direction), dtype=np.float32)
        if np.isfinite(neighbour):
            other = abs(Fraction(float(neighbour)) - number)
            assert error < other or (error == other and value.view(np.uint32) % 2 == 0)


@given(st.floats(allow_nan=False, width=32))
def test_floats_stay_and_literals_hold_their_bits(number):
    for real in (FLOAT32, FLOAT64):
        value = real.round(number)
        assert float(value) == number
        assert math.copysign(1, value) == math.copysign(1, number)
        assert int(real.literal(value), 16) == np.float64(number).view(np.uint64)


def test_edges():
    assert FLOAT64.round(Fraction(1, 10**324)) == 0
    assert math.copysign(1, FLOAT32.round(Fraction(-1, 10**324))) == -1
    assert FLOAT32.round(Fraction(3, 4) * Fraction(1, 2**149)) == np.float32(1e-45)
    largest = (2**24 - 1) * 2**104
    assert FLOAT32.round(largest) == np.finfo(np.float32).max
    assert FLOAT32.round(largest + 2**102) == np.finfo(np.float32).max
    for real, number in (
        (FLOAT32, largest + 2**103),
        (FLOAT64, 2**1024),
        (FLOAT32, 1e39),
        (FLOAT64, -(10**5000)),
    ):
        with pytest.raises(NumberTooLargeError, match=real.numpy):
            real.round(number)
    assert math.isnan(FLOAT64.round(math.nan))


def test_constants_against_the_math_module():
    assert FLOAT64.round(CONSTANTS["pi"]) == math.pi
    assert FLOAT64.round(CONSTANTS["E"]) == math.e
    assert FLOAT64.round(CONSTANTS["GoldenRatio"]) == (1 + math.sqrt(5)) / 2
    assert FLOAT64.round(CONSTANTS["EulerGamma"]) == np.euler_gamma


def test_constants_to_sixty_digits():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(70):
        values = {"pi": mpmath.pi, "E": mpmath.e, "EulerGamma": mpmath.euler, "Catalan": mpmath.catalan}
        for name, value in {**values, "GoldenRatio": mpmath.phi}.items():
            number = CONSTANTS[name]
            assert abs(mpmath.mpf(number.numerator) / number.denominator - +value) < mpmath.mpf(10) ** -59


def test_dtypes():
    assert float_type("float64") is float_type(np.float64) is float_type(float) is FLOAT64
    assert float_type(np.dtype("f4")) is FLOAT32
    for wrong in ("float16", "int64", complex, "what"):
        with pytest.raises(UsageError, match="kernels cannot compute"):
            float_type(wrong)
