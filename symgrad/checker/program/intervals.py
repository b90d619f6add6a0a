"""Interval arithmetic with rational ends."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from symgrad.checker.limits import EXACT_BITS, EXPANDED_EXPONENT
from symgrad.checker.numbers import flint

RationalInterval: TypeAlias = "tuple[Fraction | None, Fraction | None]"
"""A closed interval; an end that is None is unbounded."""

UNIT: RationalInterval = (Fraction(1), Fraction(1))
UNBOUNDED: RationalInterval = (None, None)

_ROOT_DENOMINATOR = 2**64


def interval_product(a: RationalInterval, b: RationalInterval) -> RationalInterval:
    """Return an interval of the products of numbers from two intervals."""
    products = [_product(x, y) for x in _float_ends(a) for y in _float_ends(b)]
    return _round_outwards(min(products), up=False), _round_outwards(max(products), up=True)


def _product(x: Fraction | float, y: Fraction | float) -> Fraction | float:
    if x == 0 or y == 0:
        return Fraction(
            0
        )  # this also holds for zero times infinity: infinity is an open end, and not in the interval
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x * y
    return math.inf if (x > 0) == (y > 0) else -math.inf


def _round_outwards(value: Fraction | float, *, up: bool) -> Fraction | None:
    """Return an end of an interval; a number with many digits is rounded outwards."""
    if not isinstance(value, Fraction):
        return None
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= EXACT_BITS:
        return value
    return Fraction(0) if (value < 0) == up else None


def interval_power(a: RationalInterval, n: int) -> RationalInterval:
    """Return the interval of n-th powers, n >= 1; for a large n it tells only the signs."""
    if n > EXPANDED_EXPONENT:
        low, high = a
        zero = Fraction(0)
        if n % 2 == 0:
            return zero, None
        return (None if low is None or low < 0 else zero), (zero if high is not None and high <= 0 else None)
    result = UNIT
    for _ in range(n):
        result = interval_product(result, a)
    if n % 2 == 0:
        # An even power is not negative, but `interval_product` would treat its factors as independent.
        return max(Fraction(0), result[0] or Fraction(0)), result[1]
    return result


def interval_root(a: RationalInterval, order: int) -> RationalInterval:
    """Return an interval that contains the roots of the nonnegative numbers of an interval."""
    low, high = a
    lowest = Fraction(0) if low is None else Fraction(_integer_root(low, order), _ROOT_DENOMINATOR)
    return lowest, None if high is None else Fraction(_integer_root(high, order) + 1, _ROOT_DENOMINATOR)


def _integer_root(x: Fraction, order: int) -> int:
    return int(flint.fmpz(max(math.floor(x * _ROOT_DENOMINATOR**order), 0)).root(order))


def _float_ends(a: RationalInterval) -> tuple[Fraction | float, Fraction | float]:
    return (-math.inf if a[0] is None else a[0]), (math.inf if a[1] is None else a[1])
