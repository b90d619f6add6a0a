"""Sine, cosine and tangent of large angles where there is no C: against mpmath."""

from __future__ import annotations

import math
import random

import mpmath
import pytest

from symgrad.compiler.llvm.maths.large_angles import _digits
from symgrad.compiler.llvm.maths.vectors.constant_folding import fold
from symgrad.compiler.llvm.maths.vectors.lanes import FunctionOptions
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64

HARDEST = 6381956970095103 * 2.0**797
"""The double nearest to a multiple of pi/2 (Muller, Elementary Functions, 2016)."""


def angles(count: int) -> list[float]:
    rng = random.Random(5)
    found = [rng.choice((1, -1)) * rng.uniform(1, 2) * 2.0 ** rng.randint(20, 1023) for _ in range(count)]
    with mpmath.workprec(1400):
        near = [float(mpmath.pi / 2 * rng.getrandbits(rng.randint(21, 1000))) for _ in range(count)]
    return [*found, *near, HARDEST, -HARDEST, 2.0**20 + 2.0**-32, 1.7976931348623157e308, 2.0**1023]


def test_the_digits_are_those_of_two_over_pi() -> None:
    with mpmath.workprec(1500):
        whole = sum(digit << 32 * k for k, digit in enumerate(reversed(_digits())))
        assert whole == int(2 / mpmath.pi * mpmath.mpf(2) ** (32 * len(_digits()) - 34))


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(("fast", "most"), [(False, 0.8), (True, 4.0)])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_digits_are_right_at_every_size(name: str, fast: bool, most: float, fused: bool) -> None:
    for x in angles(150):
        found = fold(name, (x,), FLOAT64, FunctionOptions(fused=fused, fast=fast, freestanding=True))
        with mpmath.workprec(1400):
            exact = getattr(mpmath, name)(mpmath.mpf(x))
            assert abs(found - exact) <= most * math.ulp(float(exact)), x


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_what_is_no_number_and_what_is_small(name: str) -> None:
    for x in (math.inf, -math.inf, math.nan):
        assert math.isnan(fold(name, (x,), FLOAT64, FunctionOptions(fused=True, freestanding=True)))
    for x in (0.0, -0.0, 0.5, -3.0, 1e6, 2.0**20):
        for real in (FLOAT64, FLOAT32):
            alone, usual = (
                fold(name, (x,), real, FunctionOptions(fused=True, freestanding=a)) for a in (True, False)
            )
            assert math.copysign(1, alone) == math.copysign(1, usual)
            assert alone == usual


def test_single_precision_is_rounded_once() -> None:
    for x in (2.0**20 + 0.125, 1e30, -3e20, 3.4028234663852886e38):
        with mpmath.workprec(1400):
            exact = mpmath.sin(mpmath.mpf(FLOAT32.scalar(x).item()))
        assert fold("sin", (x,), FLOAT32, FunctionOptions(fused=True, freestanding=True)) == float(
            FLOAT32.scalar(float(exact))
        )
