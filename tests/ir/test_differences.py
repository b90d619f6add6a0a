"""Slopes by differences: what they settle on, how far off they are, and where they are no evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symgrad.ir.values.differences import Rounding, slope_of

SETTLES: list[tuple[Callable[[float], float], float, float]] = [
    (math.sin, 1.0, math.cos(1.0)),
    (math.sin, -1e10, math.cos(1e10)),
    (math.cos, 0.0, 0.0),
    (lambda x: x * x, 5e18, 1e19),
    (lambda x: x * x, -1e12, -2e12),
    (math.log, 1e-12, 1e12),
    (lambda x: math.log(1 - x), 0.999, -1000.0),  # there are no values a tenth further
    (
        lambda x: math.exp(-((x * 1e20) ** 2)),
        1e-20,
        -2e20 / math.e,
    ),  # a peak that wide steps miss on both sides
    (lambda x: max(x, 0.0) + 1 / 3, -3.0, 0.0),
    (math.tanh, 30.0, 4 * math.exp(-60)),
    (lambda x: x * x * 1e300, 3.0, 6e300),
]


@pytest.mark.parametrize(("f", "x", "slope"), SETTLES)
def test_a_slope_is_as_far_off_as_it_says(f: Callable[[float], float], x: float, slope: float) -> None:
    seen = Rounding()
    seen.see(1 / 3)
    found = slope_of(f, x, seen)
    assert found is not None
    assert abs(found.value - slope) <= found.error(seen)
    assert found.error(seen) <= 1e-10 * abs(slope) + 1e-10


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (math.sin, 5e18),  # the next float is 163 periods further
        (math.sin, -5e18),
        (abs, 0.0),
        (lambda x: math.sqrt(abs(x)), 0.0),
        (lambda x: math.cos(2 * math.pi * 2**20 * x), 1.0),  # waves that are shorter than the steps
        (lambda x: math.nan, 1.0),
        (lambda x: 1 / 0, 1.0),
    ],
)
def test_where_steps_do_not_settle_there_is_no_slope(f: Callable[[float], float], x: float) -> None:
    assert slope_of(f, x, Rounding()) is None


@pytest.mark.parametrize("x", [0.3, -5e18, 1e-12, 0.0])
def test_equal_values_cancel_exactly(x: float) -> None:
    seen = Rounding()
    found = slope_of(lambda _: 0.55906, x, seen)
    assert found is not None
    assert (found.value, found.change, found.moves) == (0.0, 0.0, False)


def test_steps_move_the_input_by_many_of_its_floats() -> None:
    for x in (1.0, 1e6, 1e16, 5e18, 1e300):
        places: list[float] = []
        slope_of(lambda t, places=places: places.append(t) or float(len(places) % 7), x, Rounding())
        assert min(abs(p - x) for p in places if p != x) >= 15 * math.ulp(x)
    narrow: list[float] = []
    slope_of(lambda t: narrow.append(t) or float(len(narrow) % 7), 1.5, Rounding(), np.float32)
    assert all(t == float(np.float32(t)) for t in narrow)


def test_rounding_is_read_off_the_values() -> None:
    single = Rounding()
    slope = slope_of(lambda x: float(np.sin(np.float32(x))), 1.0, single, np.float32)
    assert slope is not None
    assert abs(slope.value - math.cos(1.0)) <= slope.error(single) < 1e-4
    assert single.of(1.0) == 2.0**-24

    coarse = Rounding()  # all values are even: what lies between is lost
    still = slope_of(lambda x: (1e16 + math.sin(x)) - 1e16, 1.0, coarse)
    assert still is None or still.error(coarse) > 1
    moved = slope_of(lambda x: (1e16 + x) - 1e16, 1e6, coarse)
    assert moved is not None
    assert abs(moved.value - 1) <= moved.error(coarse)


def test_a_function_that_moves_in_steps_of_its_rounding_has_no_slope() -> None:
    assert slope_of(lambda x: ((1e16 + 100 * math.sin(x)) - 1e16) / 3, 1.0, Rounding()) is None


def test_polynomials_are_differentiated_exactly() -> None:
    def f(x: Any) -> Any:
        return 3 * x**4 - x**2

    seen = Rounding()
    found = slope_of(lambda t: float(f(Fraction(t))), 0.5, seen)
    assert found is not None
    assert abs(found.value - 0.5) <= found.error(seen) < 1e-13
