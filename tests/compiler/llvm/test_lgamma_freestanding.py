"""lgamma of negative numbers where there is no C: by reflection, against mpmath."""

from __future__ import annotations

import math
import random
from typing import Any

import mpmath
import pytest

from symgrad.compiler.llvm.maths.vectors.constant_folding import fold
from symgrad.compiler.llvm.maths.vectors.lanes import FunctionOptions
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64


def of(x: float, *, fused: bool = True) -> float:
    return fold("lgamma", (x,), FLOAT64, FunctionOptions(fused=fused, freestanding=True))


@pytest.mark.parametrize("fused", [True, False])
def test_it_is_right_beside_the_larger_term(fused: bool) -> None:
    rng = random.Random(2)
    given = [-rng.uniform(0, 30) for _ in range(300)] + [-(2.0 ** rng.uniform(-1074, 50)) for _ in range(200)]
    for x in (*given, -1e-300, -5e-324, -0.5, -1.5, -2.457024738220801, -170.5):
        if x == round(x):
            continue
        with mpmath.workprec(200):
            exact = mpmath.log(abs(mpmath.gamma(mpmath.mpf(x)))) if abs(x) < 1e6 else _large(x)
            terms = abs(mpmath.log(abs(mpmath.sinpi(x)) / mpmath.pi)) + abs(
                mpmath.loggamma(1 - mpmath.mpf(x))
            )
            assert abs(of(x, fused=fused) - exact) <= 4e-16 * (1 + terms), x


def _large(x: float) -> Any:
    return -mpmath.log(abs(mpmath.sinpi(x)) / mpmath.pi) - mpmath.loggamma(1 - mpmath.mpf(x))


def test_where_it_is_infinite_or_no_number() -> None:
    for x in (-1.0, -2.0, -170.0, -(2.0**60), -math.inf, 0.0, -0.0, math.inf):
        assert of(x) == math.inf, x
    assert math.isnan(of(math.nan))


def test_positive_numbers_have_the_usual_bits() -> None:
    for x in (1e-310, 0.3, 1.0, 1.2, 2.0, 7.9, 8.0, 1e300):
        assert of(x) == fold("lgamma", (x,), FLOAT64, FunctionOptions(fused=True))


def test_single_precision() -> None:
    for x in (-0.5, -3.75, -100.25):
        exact = math.lgamma(x)
        assert abs(
            fold("lgamma", (x,), FLOAT32, FunctionOptions(fused=True, freestanding=True)) - exact
        ) <= 1e-7 * abs(exact)
