"""sin, cos and tan: x = n*pi/2 + r with |r| <= pi/4, r as a sum of two doubles.

pi/2 is a sum of four parts (Cody and Waite, Software Manual for the Elementary Functions, 1980), the first three short
enough that their multiples are exact up to n = 2**20; so r keeps its digits also beside a multiple of pi/2. Beyond, C's
functions are called, for the lanes that need them.
"""

from __future__ import annotations

import math

from symgrad.llvm.maths import coefficients as c
from symgrad.llvm.maths.lanes import Lane, Lanes, Pair

__all__ = ["sincos", "tan"]

_LARGE = 2.0**20


def _reduced(lanes: Lanes, x: Lane) -> tuple[Lane, Pair]:
    """An integer with n in its last bits, and r."""
    turns = x * (2 / math.pi)
    n = lanes.nearest(turns)
    first, second, third, fourth = c.HALF_PI
    # Each difference is exact where it cancels, and |a| >= |b| where not.
    r, lost = lanes.fast_two_sum(lanes.muladd(n, -first, x), n * -second)
    r, lost_again = lanes.fast_two_sum(r, n * -third)
    low = (lost + lost_again) + n * -fourth
    return lanes.bits(turns + lanes.ROUND), lanes.fast_two_sum(r, low)


def _sine(lanes: Lanes, r: Pair) -> Pair:
    z = r[0] * r[0]
    slope = r[1] * lanes.muladd(z, -0.5, 1.0)
    return r[0], lanes.muladd(z * r[0], lanes.polynomial(z, c.SIN), slope)


def _cosine(lanes: Lanes, r: Pair) -> Pair:
    z = r[0] * r[0]
    high, error = lanes.fast_two_sum(lanes.const(1), z * -0.5)
    slope = lanes.muladd(-r[0], r[1], error)
    return high, lanes.muladd(z * z, lanes.polynomial(z, c.COS), slope)


def _is_large(lanes: Lanes, x: Lane) -> Lane:
    size = lanes.abs(x)
    return (size > _LARGE) & (size < math.inf)


def sincos(lanes: Lanes, x: Lane) -> tuple[Lane, ...]:
    n, r = _reduced(lanes, x)
    (s, s_low), (o, o_low) = _sine(lanes, r), _cosine(lanes, r)
    s, o = s + s_low, o + o_low
    odd = (n & 1).equals(1)
    sine = lanes.negated_where(lanes.select(odd, o, s), n)
    cosine = lanes.negated_where(lanes.select(odd, s, o), n + 1)
    usual = lanes.select(lanes.abs(x) < 2.0**-27, x, sine), cosine
    return lanes.rarely(
        _is_large(lanes, x), usual, lambda: (lanes.call_libm("sin", x), lanes.call_libm("cos", x))
    )


def tan(lanes: Lanes, x: Lane) -> Lane:
    n, r = _reduced(lanes, x)
    s, o = lanes.fast_two_sum(*_sine(lanes, r)), lanes.fast_two_sum(*_cosine(lanes, r))
    odd = (n & 1).equals(1)
    above = lanes.select(odd, o[0], s[0]), lanes.select(odd, o[1], s[1])
    below = lanes.select(odd, -s[0], o[0]), lanes.select(odd, -s[1], o[1])
    q, low = lanes.quotient(above, below)
    usual = lanes.select(lanes.abs(x) < 2.0**-27, x, q + low)
    return lanes.rarely(_is_large(lanes, x), [usual], lambda: [lanes.call_libm("tan", x)])[0]
