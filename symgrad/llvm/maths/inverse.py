"""Inverse trigonometric functions: a reduction to |t| <= 1/2, and a polynomial in t**2."""

from __future__ import annotations

import math

from symgrad.llvm.maths import coefficients as c
from symgrad.llvm.maths.lanes import Lane, Lanes, Pair

__all__ = ["acos", "asin", "atan", "atan2"]


def _angle(lanes: Lanes, above: Lane, below: Lane) -> Pair:
    """atan(above/below) for 0 <= above, below, neither so large that their sum overflows.

    atan(t) = pi/4 + atan((t - 1)/(t + 1)) = pi/2 + atan(-1/t) (Abramowitz and Stegun 4.4.34, 4.4.36).
    """
    low, high = above <= below * 0.5, above >= below * 2.0
    total, total_error = lanes.two_sum(above, below)
    difference, difference_error = lanes.two_sum(above, -below)
    outer = low | high
    numerator = lanes.select(low, above, lanes.select(high, -below, difference))
    numerator_low = lanes.select(outer, 0.0, difference_error)
    denominator = lanes.select(low, below, lanes.select(high, above, total))
    denominator_low = lanes.select(outer, 0.0, total_error)
    q, q_low = lanes.quotient((numerator, numerator_low), (denominator, denominator_low))
    z = q * q
    small = lanes.muladd(z * q, lanes.polynomial(z, c.ATAN), q_low)
    offset = [lanes.select(low, 0.0, lanes.select(high, p, p / 2)) for p in c.HALF_PI_FULL]
    angle, error = lanes.fast_two_sum(offset[0], q)
    return angle, error + (offset[1] + small)


def atan(lanes: Lanes, x: Lane) -> Lane:
    angle, low = _angle(lanes, lanes.at_most(lanes.abs(x), 2.0**100), lanes.const(1))
    return lanes.copysign(angle + low, x)


def atan2(lanes: Lanes, y: Lane, x: Lane) -> Lane:
    """The ends are those of C99, F.9.1.4: infinities count as equal, zeros as ordinate 0 and abscissa 1."""
    above, below = lanes.abs(y), lanes.abs(x)
    larger = lanes.select(above > below, above, below)
    # The larger one stays below 2**900, so that its reciprocal is normal, and a remainder of the smaller one does not
    # vanish, unless their ratio does.
    scale = lanes.select(larger > 2.0**900, 2.0**-200, lanes.select(larger < 2.0**300, 2.0**600, 1.0))
    infinite = larger.equals(math.inf)
    above = lanes.select(infinite, lanes.select(above.equals(math.inf), 1.0, 0.0), above * scale)
    below = lanes.select(infinite, lanes.select(below.equals(math.inf), 1.0, 0.0), below * scale)
    angle, low = _angle(lanes, above, lanes.select(larger.equals(0.0), 1.0, below))
    mirrored, error = lanes.fast_two_sum(lanes.const(2 * c.HALF_PI_FULL[0]), -angle)
    behind = mirrored + (error + (2 * c.HALF_PI_FULL[1] - low))
    value = lanes.select((lanes.bits(x) >> 63).equals(1), behind, angle + low)
    return lanes.select(x.equals(x) & y.equals(y), lanes.copysign(value, y), math.nan)


def _asin_parts(lanes: Lanes, x: Lane) -> tuple[Lane, Pair]:
    """Whether |x| > 1/2, and asin(|x|) if not, else asin(sqrt((1 - |x|)/2)), which is (pi/2 - asin(|x|))/2."""
    size = lanes.abs(x)
    large = size > 0.5
    half = (1.0 - size) * 0.5
    root = lanes.sqrt(half)
    root_low = -lanes.product_error(root, root, half) * (0.5 / lanes.at_least(root, 2.0**-500))
    z = lanes.select(large, half, size * size)
    t = lanes.select(large, root, size)
    low = lanes.select(large, root_low, 0.0)
    return large, (t, lanes.muladd(z * t, lanes.polynomial(z, c.ASIN), low))


def asin(lanes: Lanes, x: Lane) -> Lane:
    large, (t, low) = _asin_parts(lanes, x)
    h, h_low = c.HALF_PI_FULL
    beside_one, error = lanes.fast_two_sum(lanes.const(h), t * -2.0)
    large_value = beside_one + (error + (h_low - (low + low)))
    return lanes.copysign(lanes.select(large, large_value, t + low), x)


def acos(lanes: Lanes, x: Lane) -> Lane:
    large, (t, low) = _asin_parts(lanes, x)
    h, h_low = c.HALF_PI_FULL
    negative = x < 0.0
    # pi/2 - asin(x); 2*asin(root) for x > 1/2, pi less that for x < -1/2.
    sign = lanes.select(negative, 1.0, -1.0) * lanes.select(large, -2.0, 1.0)
    offset, offset_low = (lanes.select(large, lanes.select(negative, 2 * p, 0.0), p) for p in (h, h_low))
    value, error = lanes.fast_two_sum(offset, sign * t)
    return value + (error + lanes.muladd(sign, low, offset_low))
