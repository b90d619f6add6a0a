"""The reference arithmetic itself, on functions whose derivatives are known."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import symgrad as sg
from benchmarks.reference import Balls, indices, series_of


def test_indices_are_all_multisets() -> None:
    assert indices(2, 2) == [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    assert len(indices(5, 4)) == math.comb(9, 4)


def test_series_of_a_rational_function() -> None:
    found = series_of(lambda x, y: x**3 * y - x / y, [Fraction(2), Fraction(3)], 3)
    x, y = Fraction(2), Fraction(3)
    assert found[()] == x**3 * y - x / y
    assert found[0,] == 3 * x**2 * y - 1 / y
    assert found[0, 0, 1] == 6 * x
    assert found[0, 1, 1] == -2 / y**3
    assert found[1, 1, 1] == 6 * x / y**4


def test_series_of_functions() -> None:
    found = series_of(lambda x: x.log(math.log).exp(math.exp), [0.7], 4)  # x itself
    assert [found[(0,) * k] for k in range(5)] == pytest.approx([0.7, 1, 0, 0, 0], abs=1e-12)
    found = series_of(lambda x: x.power(1.5), [4.0], 3)
    assert [found[(0,) * k] for k in range(4)] == pytest.approx([8, 3, 0.375, -0.046875])


def test_balls_contain_the_value_and_comparisons_decide() -> None:
    program = sg.parse("x : positive\ny = where(x < 2, expm1(x), -cbrt(x))/3")
    balls = Balls([program["y"].node])
    assert float(balls({"x": 1.0})[0].mid()) == pytest.approx(math.expm1(1) / 3, rel=1e-15)
    assert float(balls({"x": 8.0})[0].mid()) == pytest.approx(-2 / 3, rel=1e-15)
    assert balls({"x": 1.0})[0].rel_accuracy_bits() > 200


def test_overlapping_balls_are_not_compared() -> None:
    program = sg.parse("x : positive\ny = where(sqrt(x)**2 < x, 1, 2)")
    with pytest.raises(ArithmeticError, match="overlapping"):
        Balls([program["y"].node])({"x": 2.0})
