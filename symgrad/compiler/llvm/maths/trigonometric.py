"""sin, cos and tan: |x| = n*pi/2 + r with |r| <= pi/4 and a pair r; the sign of x is restored at the end.

If the processor has table lookup in registers, sin and cos use x = n*pi/8 + r with |r| <= pi/16.

pi/2 is a sum of several doubles (Cody and Waite, Software Manual for the Elementary Functions, 1980): so many that r is
accurate even near a multiple of pi/2, up to 2**20 (multiples of pi/8: up to 2**22). For larger numbers C's functions
are called; freestanding code reduces such numbers by the method of Payne and Hanek (`large_angles.py`).
"""

from __future__ import annotations

import math

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.large_angles import reduce_payne_hanek
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter, Pair
from symgrad.compiler.llvm.maths.vectors.table_lookup import lookup

_LARGE = 2.0**20


def _reduce_cody_waite(lanes: LaneWriter, size: Lane, *, rounded: bool = False) -> tuple[Lane, Pair]:
    """Return an integer with n in its last bits, and r, ``rounded`` to one term on request.

    The second term of r is at most half an ulp of the first. Near a multiple of pi/2 it may be larger, but its square
    is still negligible.
    """
    turns = lanes.muladd(size, 2 / math.pi, lanes.ROUND)
    n = turns - lanes.ROUND
    if not lanes.fused:
        return lanes.bits(turns), _subtract_without_fma(lanes, size, n, rounded)
    return lanes.bits(turns), _subtract_with_fma(lanes, size, n, c.HALF_PI, rounded)


def _subtract_with_fma(lanes: LaneWriter, x: Lane, n: Lane, parts: tuple[float, ...], rounded: bool) -> Pair:
    """Subtract n*pi/2 (or n*pi/8) in three parts; the second part is so short that its multiples are exact.

    If n is not zero, x and n*first are integer multiples of 2**-53 (for pi/8: of 2**-55), and so is their
    difference. It is below 1 (for pi/8: 1/4), so 53 bits hold it (Boldo, Daumas and Li, Formally Verified Argument
    Reduction with a Fused Multiply-Add, 2009). The last bit of the second term, q = n*second, is below that unit. So
    ``rest - r`` is exact: if |q| is larger than |rest|, it has the last bit of q and is hardly larger than q; else
    Sterbenz's or Dekker's lemma applies. Hence the error of r is exact, too.
    """
    first, second, third = parts
    rest = lanes.muladd(n, -first, x)
    r = lanes.muladd(n, -second, rest)
    if rounded:
        return r if lanes.single else lanes.muladd(n, -third, r), lanes.const(0)
    # This form is -0 for n = 0, and r + -0 keeps the sign of a zero r.
    return r, lanes.muladd(n, -third, lanes.muladd(n, -second, -(r - rest)))


def _subtract_without_fma(lanes: LaneWriter, size: Lane, n: Lane, rounded: bool) -> Pair:
    """Subtract n*pi/2 in four parts; multiples up to n = 2**20 of all parts but the last are exact."""
    first, second, third, fourth = c.HALF_PI_IN_FOUR
    # Each difference is exact if its terms cancel; otherwise |a| >= |b|.
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
    """Take a point in the direction of n*pi/8 from tables, and rotate it by r = x - n*pi/8.

    The number n*2**-51 + `_MIDDLE` is between 2 and 4. Its last bits are n, the index into the tables, and of the other
    bits only the bit of 2 is set. Any other nonnegative number has further bits set, unless it is zero or subnormal,
    which the sum never is, because 8/pi has too many digits.

    Sine and cosine of the direction are (1 + e) times the doubles s and o, which were chosen to be within 2**-64 of the
    direction with e = LACKS below 2**-50.9. (Gal, An Accurate Elementary Mathematical Library for the IEEE Floating
    Point Standard, 1991, varies the angle to make the values nearly doubles; here the radius varies.) With
    sin(r) = r*(1 + b) and cos(r) = 1 + d the results are s + s*(d + e) + o*r + o*r*(b + e) and
    o + o*(d + e) - s*r - s*r*(b + e), up to products of e with b or d: below 2**-56.7 where the result is above 0.8,
    below 2**-58 elsewhere.

    The error of a sine, in units of its last place: if s = 0, the other terms are r and less than r/100; rounding
    their sum costs half a unit, the rest some hundredths. Else the sine is above 0.19, and the sum of the other
    terms is below 0.2: it is rounded by at most 2**-56, and its terms other than o*r by 2**-59, or 2**-57 where the
    sine is above 1/2. For a sine below 1/4 that is half a unit, and the last sum is exact; below 1/2 it is a
    quarter, plus half a unit for the last sum; above 1/2 it is less. With the products of e, the products of low
    and r and the errors of the polynomials the total stays below 0.9. The same holds for cosines.

    A zero keeps its sign: all terms have it, because LACKS is a tiny positive number there, except s and low, which
    are -0 and change no other zero when added.
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
    """Sine and cosine of x from the sine and cosine of r."""
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
