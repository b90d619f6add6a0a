"""Bounds of roots: exact ends, of decimals of any length."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from symgrad.rewrite.facts.intervals import exactly, facts_between, power

pytestmark = pytest.mark.usefixtures("ends")


def _decimal(rng: random.Random) -> Fraction:
    digits = rng.choice([1, 3, 17, 50, 60, 200, 308, 400])
    return Fraction(rng.randint(1, 10**digits), 10 ** rng.choice([0, 1, digits // 2, digits, digits + 30]))


@pytest.mark.parametrize("seed", range(200))
def test_a_root_lies_between_its_bounds(seed: int) -> None:
    rng = random.Random(seed)
    value, degree = _decimal(rng), rng.choice([2, 3, 5, 16])
    low, high = sorted([value, _decimal(rng)])
    for given, least, most in ((exactly(value), value, value), (facts_between(low, high), low, high)):
        found = power(given, exactly(Fraction(1, degree)))
        assert found.low**degree <= least
        assert found.high**degree >= most
        assert found.positive


def test_bounds_are_near_a_short_number() -> None:
    pi = Fraction("3.14159265358979323846264338327950288419716939937510")
    found = power(exactly(pi), exactly(Fraction(1, 2)))
    assert 0 < found.high - found.low <= Fraction(1, 2**8)
    assert found.low**2 < pi < found.high**2


@pytest.mark.parametrize(
    ("base", "degree"), [(Fraction(3, 2), 2), (Fraction(81, 16), 3), (Fraction(10**20), 5)]
)
def test_exact_powers_have_exact_roots(base: Fraction, degree: int) -> None:
    assert power(exactly(base**degree), exactly(Fraction(1, degree))).point == base
