"""sin, cos and tan: |x| = n*pi/2 + r with |r| <= pi/4, r as a sum of two doubles; the sign of x is put back at the end.

Where the processor looks numbers up in registers, sin and cos are those of x = n*pi/8 + r with |r| <= pi/16.

pi/2 is a sum of parts (Cody and Waite, Software Manual for the Elementary Functions, 1980), long enough together that r
keeps its digits also beside a multiple of pi/2, up to 2**20 (2**22 of pi/8). Beyond, C's functions are called, for the
lanes that need them; where there is no C, the reduction has as many digits as that takes (`large_angles.py`).
"""

from __future__ import annotations

import math

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.large_angles import reduce_payne_hanek
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter, Pair
from symgrad.compiler.llvm.maths.vectors.table_lookup import lookup

__all__ = ["sincos", "tan"]

_LARGE = 2.0**20


def _reduce_cody_waite(lanes: LaneWriter, size: Lane, *, rounded: bool = False) -> tuple[Lane, Pair]:
    """An integer with n in its last bits, and r, which may be ``rounded`` to one term.

    The second term of r is no more than half a unit of the first, but beside a multiple of pi/2, where it is still so
    small that its square is nothing.
    """
    turns = lanes.muladd(size, 2 / math.pi, lanes.ROUND)
    n = turns - lanes.ROUND
    if not lanes.fused:
        return lanes.bits(turns), _subtract_without_fma(lanes, size, n, rounded)
    return lanes.bits(turns), _subtract_with_fma(lanes, size, n, c.HALF_PI, rounded)


def _subtract_with_fma(lanes: LaneWriter, x: Lane, n: Lane, parts: tuple[float, ...], rounded: bool) -> Pair:
    """Three parts, the second so short that its multiples are exact.

    Where n is not zero, x and the first part are whole multiples of 2**-53 (of pi/8, 2**-55), and so is their
    difference; it is below one (a quarter), so 53 bits hold it (Boldo, Daumas and Li, Formally Verified Argument
    Reduction with a Fused Multiply-Add, 2009). What is then subtracted, q = n*second, has a last place below that. So
    ``rest - r`` is exact: it has the places of q, and is hardly larger, if q is the larger one, and else Sterbenz's
    lemma or Dekker's holds; and so is r's error.
    """
    first, second, third = parts
    rest = lanes.muladd(n, -first, x)
    r = lanes.muladd(n, -second, rest)
    if rounded:
        return r if lanes.single else lanes.muladd(n, -third, r), lanes.const(0)
    # Written so that it is -0 for n = 0: added to a zero r it leaves its sign.
    return r, lanes.muladd(n, -third, lanes.muladd(n, -second, -(r - rest)))


def _subtract_without_fma(lanes: LaneWriter, size: Lane, n: Lane, rounded: bool) -> Pair:
    """Multiples up to n = 2**20 of all parts but the last are exact."""
    first, second, third, fourth = c.HALF_PI_IN_FOUR
    # Each difference is exact where it cancels, and |a| >= |b| where not.
    r, lost = lanes.fast_two_sum(size - n * first, n * -second)
    r, lost_again = lanes.fast_two_sum(r, n * -third)
    low = (lost + lost_again) + n * -fourth
    return (r + low, lanes.const(0)) if rounded else (r, low)


def _sine(lanes: LaneWriter, r: Pair) -> Pair:
    z = r[0] * r[0]
    if lanes.plain:
        return lanes.muladd(z * r[0], lanes.polynomial(z, c.SIN), r[0]), lanes.const(0)
    slope = r[1] * lanes.muladd(z, -0.5, 1.0)
    return r[0], lanes.muladd(z * r[0], lanes.polynomial(z, c.SIN), slope)


def _cosine(lanes: LaneWriter, r: Pair) -> Pair:
    z = r[0] * r[0]
    high = lanes.muladd(z, -0.5, 1.0)
    if lanes.plain:
        return lanes.muladd(z * z, lanes.polynomial(z, c.COS), high), lanes.const(0)
    slope = lanes.muladd(-r[0], r[1], lanes.muladd(z, -0.5, 1.0 - high))
    return high, lanes.muladd(z * z, lanes.polynomial(z, c.COS), slope)


def _negated(lanes: LaneWriter, x: Lane, n: Lane) -> Lane:
    """-x where the second bit of the integer n is set."""
    return lanes.real(lanes.bits(x) ^ ((n << 62) & lanes.SIGN))


_LARGEST_MULTIPLE = 1 << 22
"""The largest multiple of pi/8."""
_MIDDLE = 2.0 + _LARGEST_MULTIPLE * 2.0**-51
_NEVER_SET = ~(1 << 62 | (2 * _LARGEST_MULTIPLE - 1))


def _by_tables(lanes: LaneWriter, x: Lane) -> tuple[Lane, tuple[Lane, ...]]:
    """Take a point in the direction of n*pi/8 from tables, and turn it by r = x - n*pi/8.

    The number n*2**-51 + `_MIDDLE`, between 2 and 4, has n in its last bits, which say the places in the tables, and no
    other bit but that of 2. All numbers from 0 on that are not such ones have further bits, except those below the
    normal ones, which the sum never gives: it is zero for no x, as 8/pi has too many digits.

    Sine and cosine of the direction are (1 + e) times the doubles s and o, which were chosen to be within 2**-64 of the
    direction with an e = LACKS below 2**-50.9. (In Gal, An Accurate Elementary Mathematical Library for the IEEE
    Floating Point Standard, 1991, the angle is free for the values to be nearly doubles, here the radius.) With
    sin(r) = r*(1 + b) and cos(r) = 1 + d the results are s + s*(d + e) + o*r + o*r*(b + e) and
    o + o*(d + e) - s*r - s*r*(b + e), but for products of e with b or d: below 2**-56.7 where the result is above 0.8,
    below 2**-58 elsewhere.

    The error of a sine, in units of its last place: what is added to s = 0 is r, and less than r/100; rounding that sum
    makes half a unit, the rest some hundredths. Else the sine is above 0.19, and what is added to s is below 0.2:
    rounded by 2**-56 at most, in its terms beside o*r by 2**-59, or 2**-57 where the sine is above 1/2. Of a sine below
    1/4 that is half a unit, and the last sum is exact; below 1/2 it is a quarter, and half a unit for the last sum;
    above still less. With the products of e, the low part's with r and the polynomials' errors it stays below 0.9. For
    cosines the same holds.

    Zero keeps its sign: all terms have it, as LACKS is a tiny positive number there, but s and the low part of r, which
    are -0: added to another zero, that changes nothing.
    """
    turns = lanes.muladd(x, c.EIGHTHS, _MIDDLE)
    r, low = _subtract_with_fma(lanes, x, turns - _MIDDLE, c.EIGHTH_PI, lanes.plain)
    place = lanes.bits(turns)
    s, o = lookup(lanes, c.SINES, place), lookup(lanes, c.COSINES, place)
    lack = lanes.const(c.LACKS[0]) if lanes.single else lookup(lanes, c.LACKS, place)
    z = r * r
    b = lanes.muladd(z, lanes.polynomial(z, c.SIN_SHORT), lack)
    d = lanes.muladd(z, lanes.polynomial(z, c.COS_SHORT), lack)
    if lanes.plain:
        y = lanes.muladd(r, b, r)
        usual = lanes.muladd(o, y, lanes.muladd(s, d, s)), lanes.muladd(-s, y, lanes.muladd(o, d, o))
    else:
        y = lanes.muladd(r, b, low)
        usual = (
            s + lanes.muladd(o, r, lanes.muladd(o, y, s * d)),
            o + lanes.muladd(-s, r, lanes.muladd(-s, y, o * d)),
        )
    return lanes.not_((place & _NEVER_SET).equals(0)), usual


def _by_quadrants(lanes: LaneWriter, x: Lane) -> tuple[Lane, tuple[Lane, ...]]:
    size = lanes.abs(x)
    n, r = _reduce_cody_waite(lanes, size, rounded=lanes.plain)
    return size > _LARGE, _rotate_by_quadrants(lanes, x, n, r)


def _rotate_by_quadrants(lanes: LaneWriter, x: Lane, n: Lane, r: Pair) -> tuple[Lane, Lane]:
    """Sine and cosine of x by those of r."""
    (s, s_low), (o, o_low) = _sine(lanes, r), _cosine(lanes, r)
    s, o = s + s_low, o + o_low
    even = (n & 1).equals(0)
    sine = lanes.real(lanes.bits(lanes.select(even, s, o)) ^ (((n << 62) ^ lanes.bits(x)) & lanes.SIGN))
    return sine, _negated(lanes, lanes.select(even, o, s), n + 1)


def sincos(lanes: LaneWriter, x: Lane) -> tuple[Lane, ...]:
    large, usual = (_by_tables if lanes.tables else _by_quadrants)(lanes, x)

    def in_c() -> tuple[Lane, ...]:
        if lanes.freestanding:
            return _rotate_by_quadrants(lanes, x, *reduce_payne_hanek(lanes, x))
        return lanes.call_libm("sin", x), lanes.call_libm("cos", x)

    return lanes.with_slow_path(large, usual, in_c, x.is_nan)


def tan(lanes: LaneWriter, x: Lane) -> Lane:
    size = lanes.abs(x)
    usual = _tangent(lanes, x, *_reduce_cody_waite(lanes, size, rounded=lanes.single))

    def in_c() -> tuple[Lane, ...]:
        if lanes.freestanding:
            return (_tangent(lanes, x, *reduce_payne_hanek(lanes, x)),)
        return (lanes.call_libm("tan", x),)

    return lanes.with_slow_path(size > _LARGE, [usual], in_c)[0]


def _tangent(lanes: LaneWriter, x: Lane, n: Lane, reduced: Pair) -> Lane:
    """t/(1 - t**2/4) with t = 2*tan(r/2), or minus its reciprocal for an odd n."""
    r, low = reduced
    z = r * r
    # The derivative of t is 1 + tan(r/2)**2.
    slope = low * lanes.muladd(z, 0.25, 1.0)
    t, t_low = lanes.fast_two_sum(r, lanes.muladd(z * r, lanes.polynomial(z, c.TAN), slope))
    quarter = t * -0.25
    d = lanes.muladd(quarter, t, 1.0)
    d_low = lanes.muladd(quarter * t_low, 2.0, lanes.product_error(quarter, t, d - 1.0))
    even = (n & 1).equals(0)
    above = lanes.select(even, t, d), lanes.select(even, t_low, d_low)
    below = lanes.select(even, d, t), lanes.select(even, d_low, t_low)
    sign = ((n << 63) ^ lanes.bits(x)) & lanes.SIGN
    return lanes.real(lanes.bits(lanes.ratio(above, below)) ^ sign)
