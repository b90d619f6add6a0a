"""Inverse trigonometric functions: reduce to |t| <= 1/2, and evaluate a polynomial in t**2."""

from __future__ import annotations

import math

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.logarithm import sum_with_multiple
from symgrad.compiler.llvm.maths.power import root
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter, Pair

_ORDINARY = 2.0**-450, 2.0**450


def _angle(lanes: LaneWriter, above: Lane, below: Lane, total: Pair, behind: Lane | None = None) -> Lane:
    """atan(above/below), or pi minus this in lanes with ``behind``; above, below >= 0, and ``total`` is their sum.

    atan(t) = pi/4 + atan((t - 1)/(t + 1)) = pi/2 + atan(-1/t) (Abramowitz and Stegun 4.4.34, 4.4.36). The difference
    above - below is exact by Sterbenz's lemma where it is used.
    """
    low, high = above <= below * 0.5, above * 0.5 >= below
    numerator = lanes.select(low, above, lanes.select(high, -below, above - below))
    denominator = lanes.select(low, below, lanes.select(high, above, total[0]))
    denominator_low = lanes.select(low | high, 0.0, total[1])
    quarters = lanes.select(low, 0.0, lanes.select(high, lanes.const(2), lanes.const(1)))
    if behind is not None:
        numerator = lanes.select(behind, -numerator, numerator)
        quarters = lanes.select(behind, 4.0 - quarters, quarters)
    q, q_low = lanes.quotient((numerator, lanes.const(0)), (denominator, denominator_low))
    z = q * q
    small = lanes.muladd(z * q, lanes.polynomial(z, c.ATAN), q_low)
    angle, rest = sum_with_multiple(lanes, quarters, q, c.QUARTER_PI)
    return angle + (rest + small)


def atan(lanes: LaneWriter, x: Lane) -> Lane:
    size, one = lanes.at_most(lanes.abs(x), 2.0**100), lanes.const(1)
    return lanes.copysign(_angle(lanes, size, one, lanes.fast_two_sum(one, size)), x)


def atan2(lanes: LaneWriter, y: Lane, x: Lane) -> Lane:
    """Special values as in C99, F.9.1.4: two infinities count as equal; two zeros count as ordinate 0, abscissa 1."""
    above, below = lanes.abs(y), lanes.abs(x)

    def angle(above: Lane, below: Lane) -> Lane:
        total = lanes.fast_two_sum(lanes.larger(above, below), lanes.smaller(above, below))
        behind = (lanes.bits(x) >> 63).equals(1)
        return lanes.copysign(_angle(lanes, above, below, total, behind), y)

    def at_ends() -> list[Lane]:
        larger = lanes.larger(above, below)
        # The larger number is scaled below 2**900, so that its reciprocal is normal, and a remainder of the smaller
        # number vanishes only if the ratio of both does.
        scale = lanes.select(larger > 2.0**900, 2.0**-200, lanes.select(larger < 2.0**300, 2.0**600, 1.0))
        infinite = larger.equals(math.inf)
        a = lanes.select(infinite, lanes.select(above.equals(math.inf), 1.0, 0.0), above * scale)
        b = lanes.select(infinite, lanes.select(below.equals(math.inf), 1.0, 0.0), below * scale)
        return [angle(a, lanes.select(larger.equals(0.0), 1.0, b))]

    extreme = above.outside(*_ORDINARY) | below.outside(*_ORDINARY)
    return lanes.with_slow_path(extreme, [angle(above, below)], at_ends, lambda: x.unordered(y))[0]


def _asin_parts(lanes: LaneWriter, x: Lane) -> tuple[Lane, Pair]:
    """Return whether |x| > 1/2, and asin(|x|) if not, else asin(sqrt((1 - |x|)/2)) = (pi/2 - asin(|x|))/2."""
    size = lanes.abs(x)
    large = size > 0.5
    half = (1.0 - size) * 0.5
    r, r_low = root(lanes, (half, lanes.const(0)))
    z = lanes.select(large, half, size * size)
    t = lanes.select(large, r, size)
    low = lanes.select(large, r_low, 0.0)
    return large, (t, lanes.muladd(z * t, lanes.polynomial(z, c.ASIN), low))


def asin(lanes: LaneWriter, x: Lane) -> Lane:
    large, (t, low) = _asin_parts(lanes, x)
    h, h_low = c.HALF_PI_FULL
    beside_one, error = lanes.fast_two_sum(lanes.const(h), t * -2.0)
    large_value = beside_one + (error + (h_low - (low + low)))
    return lanes.copysign(lanes.select(large, large_value, t + low), x)


def acos(lanes: LaneWriter, x: Lane) -> Lane:
    large, (t, low) = _asin_parts(lanes, x)
    h, h_low = c.HALF_PI_FULL
    negative = x < 0.0
    # pi/2 - asin(x) for |x| <= 1/2; 2*asin(root) for x > 1/2; pi - 2*asin(root) for x < -1/2.
    sign = lanes.select(negative, 1.0, -1.0) * lanes.select(large, -2.0, 1.0)
    offset, offset_low = (lanes.select(large, lanes.select(negative, 2 * p, 0.0), p) for p in (h, h_low))
    value, error = lanes.fast_two_sum(offset, sign * t)
    return value + (error + lanes.muladd(sign, low, offset_low))
