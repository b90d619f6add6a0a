"""sin, cos and tan: |x| = n*pi/2 + r with |r| <= pi/4, r as a sum of two doubles; the sign of x is put back at the end.

pi/2 is a sum of parts (Cody and Waite, Software Manual for the Elementary Functions, 1980), long enough together that r
keeps its digits also beside a multiple of pi/2, up to 2**20. Beyond, C's functions are called, for the lanes that need
them.
"""

from __future__ import annotations

import math

from symgrad.llvm.maths import coefficients as c
from symgrad.llvm.maths.lanes import Lane, Lanes, Pair

__all__ = ["sincos", "tan"]

_LARGE = 2.0**20


def _reduced(lanes: Lanes, size: Lane, *, rounded: bool = False) -> tuple[Lane, Pair]:
    """An integer with n in its last bits, and r, which may be ``rounded`` to one term.

    The second term of r is no more than half a unit of the first, but beside a multiple of pi/2, where it is still so
    small that its square is nothing.
    """
    turns = lanes.muladd(size, 2 / math.pi, lanes.ROUND)
    n = turns - lanes.ROUND
    return lanes.bits(turns), (_fused if lanes.fused else _in_four_parts)(lanes, size, n, rounded)


def _fused(lanes: Lanes, size: Lane, n: Lane, rounded: bool) -> Pair:
    """Three parts, the second so short that its multiples are exact up to n = 2**20.

    Where n > 0, x and the first part are whole multiples of 2**-53, and so is their difference; it is below one, so
    53 bits hold it (Boldo, Daumas and Li, Formally Verified Argument Reduction with a Fused Multiply-Add, 2009). What
    is then subtracted, q = n*second, has a last place below 2**-53. So ``rest - r`` is exact: it has the places of q,
    and is hardly larger, if q is the larger one, and else Sterbenz's lemma or Dekker's holds; and so is r's error.
    """
    first, second, third = c.HALF_PI
    rest = lanes.muladd(n, -first, size)
    r = lanes.muladd(n, -second, rest)
    if rounded:
        return r if lanes.single else lanes.muladd(n, -third, r), lanes.const(0)
    return r, lanes.muladd(n, -third, lanes.muladd(n, -second, rest - r))


def _in_four_parts(lanes: Lanes, size: Lane, n: Lane, rounded: bool) -> Pair:
    """Multiples up to n = 2**20 of all parts but the last are exact."""
    first, second, third, fourth = c.HALF_PI_IN_FOUR
    # Each difference is exact where it cancels, and |a| >= |b| where not.
    r, lost = lanes.fast_two_sum(size - n * first, n * -second)
    r, lost_again = lanes.fast_two_sum(r, n * -third)
    low = (lost + lost_again) + n * -fourth
    return (r + low, lanes.const(0)) if rounded else (r, low)


def _sine(lanes: Lanes, r: Pair) -> Pair:
    z = r[0] * r[0]
    if lanes.plain:
        return lanes.muladd(z * r[0], lanes.polynomial(z, c.SIN), r[0]), lanes.const(0)
    slope = r[1] * lanes.muladd(z, -0.5, 1.0)
    return r[0], lanes.muladd(z * r[0], lanes.polynomial(z, c.SIN), slope)


def _cosine(lanes: Lanes, r: Pair) -> Pair:
    z = r[0] * r[0]
    high = lanes.muladd(z, -0.5, 1.0)
    if lanes.plain:
        return lanes.muladd(z * z, lanes.polynomial(z, c.COS), high), lanes.const(0)
    slope = lanes.muladd(-r[0], r[1], lanes.muladd(z, -0.5, 1.0 - high))
    return high, lanes.muladd(z * z, lanes.polynomial(z, c.COS), slope)


def _negated(lanes: Lanes, x: Lane, n: Lane) -> Lane:
    """-x where the second bit of the integer n is set."""
    return lanes.real(lanes.bits(x) ^ ((n << 62) & lanes.SIGN))


def sincos(lanes: Lanes, x: Lane) -> tuple[Lane, ...]:
    size = lanes.abs(x)
    n, r = _reduced(lanes, size, rounded=lanes.plain)
    (s, s_low), (o, o_low) = _sine(lanes, r), _cosine(lanes, r)
    s, o = s + s_low, o + o_low
    even = (n & 1).equals(0)
    sine = lanes.real(lanes.bits(lanes.select(even, s, o)) ^ (((n << 62) ^ lanes.bits(x)) & lanes.SIGN))
    cosine = _negated(lanes, lanes.select(even, o, s), n + 1)
    return lanes.rarely(
        size > _LARGE, (sine, cosine), lambda: (lanes.call_libm("sin", x), lanes.call_libm("cos", x))
    )


def tan(lanes: Lanes, x: Lane) -> Lane:
    """t/(1 - t**2/4) with t = 2*tan(r/2), or minus its reciprocal for an odd n."""
    size = lanes.abs(x)
    n, (r, low) = _reduced(lanes, size, rounded=lanes.single)
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
    usual = lanes.real(lanes.bits(lanes.ratio(above, below)) ^ sign)
    return lanes.rarely(size > _LARGE, [usual], lambda: [lanes.call_libm("tan", x)])[0]
