"""Facts about one value, and their arithmetic: intervals with exact ends, nonzero, integer, parity.

The functions return facts about a result on its domain; `op_results.py` assigns them to ops.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from symgrad.ir.exact import HIGHEST, KNOWN, WIDEST, is_longer, root

Bound: TypeAlias = "int | Fraction | float"  # an infinite end is a float

INF = math.inf
_ORDERS = 16  # largest degree of roots of the ends of an interval


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a value: an interval that contains it, and further properties.

    Args:
        low, high: the ends of the interval, exact, or infinite.
        low_open, high_open: whether the value never takes that end.
        nonzero: whether it provably differs from zero.
        integer: whether it provably is an integer.
        parity: 0 if it provably is an even integer, 1 if odd, None if unknown.
    """

    low: Bound = -INF
    high: Bound = INF
    low_open: bool = False
    high_open: bool = False
    nonzero: bool = False
    integer: bool = False
    parity: int | None = None

    @property
    def point(self) -> int | Fraction | None:
        """The only value of the interval; None if it has more than one."""
        return self.low if self.low == self.high and not isinstance(self.low, float) else None

    @property
    def positive(self) -> bool:
        return self.low > 0 or (self.low == 0 and (self.low_open or self.nonzero))

    @property
    def negative(self) -> bool:
        return self.high < 0 or (self.high == 0 and (self.high_open or self.nonzero))

    @property
    def nonnegative(self) -> bool:
        return self.low >= 0

    @property
    def nonpositive(self) -> bool:
        return self.high <= 0


ANYTHING = Facts()
NONNEGATIVE = Facts(low=0)


def facts_between(
    low: Bound,
    high: Bound,
    low_open: bool = False,
    high_open: bool = False,
    *,
    nonzero: bool = False,
    integer: bool = False,
    parity: int | None = None,
) -> Facts:
    """Return facts with long ends rounded outward, and `nonzero` derived from the interval."""
    if low != high:
        if not isinstance(low, float) and is_longer(low, WIDEST):
            low, low_open = (0, True) if low > 0 else (-INF, False)
        if not isinstance(high, float) and is_longer(high, WIDEST):
            high, high_open = (0, True) if high < 0 else (INF, False)
    elif not isinstance(low, float) and is_longer(low, KNOWN):
        integer = low.denominator == 1
        ends = (0, INF, True, False) if low > 0 else (-INF, 0, False, True)
        return Facts(*ends, nonzero=True, integer=integer)
    nonzero = nonzero or low > 0 or high < 0 or (low == 0 and low_open) or (high == 0 and high_open)
    if low == high and not isinstance(low, float):
        integer = low.denominator == 1
        parity = int(low) % 2 if integer else None
    return Facts(low, high, low_open, high_open, nonzero or parity == 1, integer, parity)


def exactly(value: int | Fraction) -> Facts:
    """Return the facts of an exact value."""
    return facts_between(value, value)


def neg(a: Facts) -> Facts:
    """Return the facts of -a."""
    return Facts(-a.high, -a.low, a.high_open, a.low_open, a.nonzero, a.integer, a.parity)


def add(a: Facts, b: Facts) -> Facts:
    """Return the facts of a + b."""
    parity = (a.parity + b.parity) % 2 if a.parity is not None and b.parity is not None else None
    return facts_between(
        a.low + b.low,
        a.high + b.high,
        a.low_open or b.low_open,
        a.high_open or b.high_open,
        integer=a.integer and b.integer,
        parity=parity,
    )


def _times(x: Bound, y: Bound) -> Bound:
    return x * y if x and y else 0


def mul(a: Facts, b: Facts) -> Facts:
    """Return the facts of a*b."""
    parity = None
    if a.integer and b.integer and (a.parity == 0 or b.parity == 0):
        parity = 0
    elif a.parity == 1 and b.parity == 1:
        parity = 1
    return facts_between(
        *_ends_of_product(a, b),
        nonzero=a.nonzero and b.nonzero,
        integer=a.integer and b.integer,
        parity=parity,
    )


def _ends_of_product(a: Facts, b: Facts) -> tuple[Bound, Bound, bool, bool]:
    """Return the ends of a product, and whether they are open: extremes of four products, or fewer in common cases."""
    if not (a.low_open or a.high_open or b.low_open or b.high_open):
        if b.low is b.high:
            a, b = b, a
        if a.low is a.high:
            first, second = _times(a.low, b.low), _times(a.low, b.high)
            return (first, second, False, False) if a.low > 0 else (second, first, False, False)
        if a.low == -a.high and b.low == -b.high:
            high = _times(a.high, b.high)
            return -high, high, False, False
    ends: list[tuple[Bound, bool]] = []
    for x, x_open in ((a.low, a.low_open), (a.high, a.high_open)):
        for y, y_open in ((b.low, b.low_open), (b.high, b.high_open)):
            value = _times(x, y)
            # The product takes zero if one factor takes it.
            reached = not (x_open or y_open) or (not x and not x_open) or (not y and not y_open)
            ends.append((value, not reached))
    low, high = min(e[0] for e in ends), max(e[0] for e in ends)
    return low, high, all(o for v, o in ends if v == low), all(o for v, o in ends if v == high)


def _reciprocal(a: Facts) -> Facts:
    """Return the facts of the reciprocals of the nonzero values."""
    if a.low >= 0:
        low, low_open = (0, True) if a.high == INF else (1 / Fraction(a.high) if a.high else 0, a.high_open)
        high, high_open = (INF, False) if a.low == 0 else (1 / Fraction(a.low), a.low_open)
        return facts_between(low, high, low_open, high_open, nonzero=True)
    if a.high <= 0:
        return neg(_reciprocal(neg(a)))
    return Facts(nonzero=True)


def div(a: Facts, b: Facts) -> Facts:
    """Return the facts of a/b."""
    return replace(mul(a, _reciprocal(b)), integer=False, parity=None)


def absolute(a: Facts) -> Facts:
    """Return the facts of abs(a)."""
    if a.low >= 0:
        return a
    if a.high <= 0:
        return neg(a)
    high = max(-a.low, a.high)
    high_open = all(o for v, o in ((-a.low, a.low_open), (a.high, a.high_open)) if v == high)
    return facts_between(0, high, a.nonzero, high_open, nonzero=a.nonzero, integer=a.integer, parity=a.parity)


def _root(value: Bound, degree: int, *, up: bool) -> Bound:
    """Return a rational bound of value**(1/degree), from below or (if ``up``) from above.

    It is exact for exact powers.
    """
    if isinstance(value, float):
        return value
    scale = 1 if is_longer(value, WIDEST) else 2**8
    scaled = value * scale**degree
    found = root(scaled.__floor__(), degree)
    exact = found**degree == scaled
    return Fraction(found if exact or not up else found + 1, scale)


def int_power(a: Facts, n: int) -> Facts:
    """Return the facts of a**n."""
    if n < 0:
        return _reciprocal(int_power(a, -n))
    if n == 0:
        return exactly(1)
    if n % 2 == 0:
        a = absolute(a)
    if n > HIGHEST and not (a.low in (0, 1) and a.high in (1, INF)):
        return Facts(0 if n % 2 == 0 or a.low >= 0 else -INF, INF if a.high > 0 else 0, nonzero=a.nonzero)
    return facts_between(
        a.low**n, a.high**n, a.low_open, a.high_open, nonzero=a.nonzero, integer=a.integer, parity=a.parity
    )


def power(a: Facts, b: Facts) -> Facts:
    """Return the facts of a**b, for real exponents."""
    exponent = b.point
    if exponent is None:
        if a.positive:
            return facts_between(0, INF, True)
        return NONNEGATIVE if a.nonnegative or b.parity == 0 else ANYTHING
    if exponent.denominator == 1:
        return int_power(a, int(exponent))
    if exponent < 0:
        return _reciprocal(power(a, exactly(-exponent)))
    # A fractional power has a value only for nonnegative bases.
    low, low_open = (a.low, a.low_open) if a.low >= 0 else (0, False)
    if a.high < 0 or exponent.numerator > HIGHEST or exponent.denominator > _ORDERS:
        return facts_between(0, INF, low_open and low >= 0, nonzero=a.nonzero)
    top, bottom = exponent.numerator, exponent.denominator
    low_root, high_root = _root(low, bottom, up=False), _root(a.high, bottom, up=True)
    return facts_between(
        low_root**top,
        high_root**top,
        low_open and low == 0,
        a.high_open and high_root**bottom == a.high,
        nonzero=a.nonzero,
    )


def hull(a: Facts, b: Facts) -> Facts:
    """Return the facts of a value that equals one of two values."""
    low, high = min(a.low, b.low), max(a.high, b.high)
    return facts_between(
        low,
        high,
        all(f.low_open for f in (a, b) if f.low == low),
        all(f.high_open for f in (a, b) if f.high == high),
        nonzero=a.nonzero and b.nonzero,
        integer=a.integer and b.integer,
        parity=a.parity if a.parity == b.parity else None,
    )


def maximum(a: Facts, b: Facts) -> Facts:
    """Return the facts of the larger of two values."""
    either = hull(a, b)
    low = max(a.low, b.low)
    low_open = any(f.low_open for f in (a, b) if f.low == low)
    return facts_between(
        low,
        either.high,
        low_open,
        either.high_open,
        nonzero=either.nonzero,
        integer=either.integer,
        parity=either.parity,
    )


def minimum(a: Facts, b: Facts) -> Facts:
    """Return the facts of the smaller of two values."""
    return neg(maximum(neg(a), neg(b)))


def sign(a: Facts) -> Facts:
    """Return the facts of the sign: -1, 0 or 1."""
    if a.positive or a.negative or a.point == 0:
        return exactly(0 if a.point == 0 else 1 if a.positive else -1)
    return facts_between(
        0 if a.nonnegative else -1, 0 if a.nonpositive else 1, nonzero=a.nonzero, integer=True
    )


def rounding(how: Callable[[Fraction], int]) -> Callable[[Facts], Facts]:
    """Return the transfer function of a nondecreasing function to the integers."""

    def rule(a: Facts) -> Facts:
        low, high = (end if isinstance(end, float) else how(Fraction(end)) for end in (a.low, a.high))
        return a if a.integer else facts_between(low, high, integer=True)

    return rule


def exp(a: Facts) -> Facts:
    """Return the facts of the exponential: it is positive, and its side of 1 follows from the sign of the argument."""
    low = 1 if a.low >= 0 else 0
    high = 1 if a.high <= 0 else INF
    return facts_between(
        low, high, low == 0 or a.low > 0 or a.low_open, high == 1 and (a.high < 0 or a.high_open)
    )


def log(a: Facts) -> Facts:
    """Return the facts of the logarithm: its sign follows from the argument's side of 1."""
    low = 0 if a.low >= 1 else -INF
    high = 0 if a.high <= 1 else INF
    return facts_between(low, high, a.low > 1 or a.low_open, high == 0 and (a.high < 1 or a.high_open))
