"""exp and its kin: x = n*log(2) + r with |r| <= log(2)/2, exp(x) = 2**n * (1 + r + c), c from a polynomial.

The reduction is that of Cody and Waite (Software Manual for the Elementary Functions, 1980), without a table. The
terms of a result are added so that only the last addition rounds it much.
"""

from __future__ import annotations

import math

from symgrad.llvm.maths import coefficients as c
from symgrad.llvm.maths.lanes import Lane, Lanes, Pair

__all__ = [
    "NORMAL_RESULT",
    "cosh",
    "exp",
    "exp2",
    "exp_of_pair",
    "exp_of_pair_to_normal",
    "expm1",
    "sinh",
    "tanh",
]

NORMAL_RESULT = 708.0
"""exp(x) is a normal number for |x| up to this."""


def power_of_two(lanes: Lanes, n: Lane) -> Lane:
    """2**n of an integer -1022 <= n <= 1023."""
    return lanes.real(lanes.bits(n + (lanes.ROUND + 1023)) << 52)


def scaled(lanes: Lanes, x: Lane, n: Lane) -> Lane:
    """x*2**n in two steps, only the second of which may round, for |n| <= 2044."""
    if lanes.single:
        return x * power_of_two(lanes, n)
    half = lanes.nearest(n * 0.5)
    return x * power_of_two(lanes, half) * power_of_two(lanes, n - half)


def reduced(lanes: Lanes, x: Lane, low: Lane | None = None) -> tuple[Lane, Pair]:
    """Return n and r with x + low = n*log(2) + r, for |x| < 1500."""
    n = lanes.nearest(x * (1 / math.log(2)))
    rest = n * -c.LN2[1]
    return n, lanes.fast_two_sum(lanes.muladd(n, -c.LN2[0], x), rest if low is None else rest + low)


def beyond_linear(lanes: Lanes, r: Pair) -> Lane:
    """exp(r) - 1 - r[0], at most 0.07."""
    return lanes.muladd(r[0] * r[0], lanes.polynomial(r[0], c.EXP), r[1])


def exp_of_pair(lanes: Lanes, x: Lane, low: Lane | None = None) -> Lane:
    # Beyond the limits the result is an infinity or zero all the same.
    high, least = (150.0, -150.0) if lanes.single else (710.0, -746.0)
    n, r = reduced(lanes, lanes.at_least(lanes.at_most(x, high), least), low)
    one_and_r, error = lanes.fast_two_sum(lanes.const(1), r[0])
    return scaled(lanes, one_and_r + (error + beyond_linear(lanes, r)), n)


def exp_of_pair_to_normal(lanes: Lanes, x: Lane, low: Lane) -> Lane:
    """For |x| <= `NORMAL_RESULT`, in fewer instructions."""
    shifted = lanes.muladd(x, 1 / math.log(2), lanes.ROUND)
    n = shifted - lanes.ROUND
    r = lanes.fast_two_sum(lanes.muladd(n, -c.LN2[0], x), lanes.muladd(n, -c.LN2[1], low))
    one_and_r, error = lanes.fast_two_sum(lanes.const(1), r[0])
    value = one_and_r + (error + lanes.muladd(r[0] * r[0], lanes.polynomial(r[0], c.EXP_SHORT), r[1]))
    return _times_power_of_two(lanes, value, shifted)


def _times_power_of_two(lanes: Lanes, x: Lane, shifted: Lane) -> Lane:
    """The exponent is added as an integer, which stands in the last bits of a sum with `ROUND`."""
    return lanes.real(lanes.bits(x) + (lanes.bits(shifted) << 52))


def exp(lanes: Lanes, x: Lane) -> Lane:
    """Within 0.9 ulp in a third less time than `exp_of_pair` takes, where 2**n is a normal number."""
    if not lanes.fused:  # with more roundings it would not be within one
        return exp_of_pair(lanes, x)
    shifted = lanes.muladd(x, 1 / math.log(2), lanes.ROUND)
    n = shifted - lanes.ROUND
    r = lanes.muladd(n, -c.LN2[1], lanes.muladd(n, -c.LN2[0], x))
    value = lanes.muladd(r, lanes.muladd(r, lanes.polynomial(r, c.EXP_SHORT), 1), 1)
    usual = _times_power_of_two(lanes, value, shifted)
    (result,) = lanes.rarely(
        lanes.not_(lanes.abs(x) <= NORMAL_RESULT), [usual], lambda: [exp_of_pair(lanes, x)]
    )
    return result


def exp2(lanes: Lanes, x: Lane) -> Lane:
    high, least = (200.0, -200.0) if lanes.single else (1025.0, -1080.0)
    x = lanes.at_least(lanes.at_most(x, high), least)
    n = lanes.nearest(x)
    f = x - n
    r = f * c.LN2_FULL[0]
    error = lanes.muladd(f, c.LN2_FULL[1], lanes.product_error(f, lanes.const(c.LN2_FULL[0]), r))
    one_and_r, rounded = lanes.fast_two_sum(lanes.const(1), r)
    return scaled(lanes, one_and_r + (rounded + beyond_linear(lanes, (r, error))), n)


def expm1(lanes: Lanes, x: Lane) -> Lane:
    n, r = reduced(lanes, lanes.at_least(lanes.at_most(x, 710.0), -40.0))
    # Half of the result, which the largest n still has room for.
    scale = power_of_two(lanes, n - 1.0)
    total, lost = lanes.two_sum(scale, lanes.const(-0.5))
    total, lost_again = lanes.fast_two_sum(total, scale * r[0])
    # Above log(2)/2 the sum so far is 0.15, and the square as large as a third of it.
    square, square_low = lanes.two_product(r[0], r[0])
    total, lost_last = lanes.fast_two_sum(total, (scale * 0.5) * square)
    small = lanes.muladd(
        square * r[0], lanes.polynomial(r[0], c.EXP_CUBIC), lanes.muladd(square_low, 0.5, r[1])
    )
    half = total + lanes.muladd(scale, small, (lost + lost_again) + lost_last)
    return lanes.select(lanes.abs(x) < 2.0**-54, x, half * 2.0)


def tanh(lanes: Lanes, x: Lane) -> Lane:
    """-e/(2 + e) with e = exp(-2*|x|) - 1, which is within (-1, 0]."""
    n, r = reduced(lanes, lanes.at_least(lanes.abs(x) * -2.0, -44.0))
    scale = power_of_two(lanes, n)
    total, lost = lanes.fast_two_sum(lanes.const(-1), scale)
    total, lost_again = lanes.fast_two_sum(total, scale * r[0])
    e, e_low = lanes.fast_two_sum(total, lanes.muladd(scale, beyond_linear(lanes, r), lost + lost_again))
    d, d_low = lanes.fast_two_sum(lanes.const(2), e)
    q, q_low = lanes.quotient((e, e_low), (d, d_low + e_low))
    return lanes.copysign(q + q_low, x)


def halves(lanes: Lanes, x: Lane) -> tuple[Pair, Pair]:
    """exp(|x|)/4 and exp(-|x|)/4, of which the second is negligible where it is wrong."""
    n, r = reduced(lanes, lanes.at_most(lanes.abs(x), 710.6))
    z = r[0] * r[0]
    even = z * lanes.polynomial(z, c.COSH)
    odd = lanes.muladd(z * r[0], lanes.polynomial(z, c.SINH), r[1])
    up = power_of_two(lanes, n - 2.0)
    down = power_of_two(lanes, -2.0 - lanes.at_most(n, 100.0))
    plus, plus_error = lanes.fast_two_sum(lanes.const(1), r[0])
    minus, minus_error = lanes.fast_two_sum(lanes.const(1), -r[0])
    return (up * plus, up * (plus_error + (even + odd))), (down * minus, down * (minus_error + (even - odd)))


def sinh(lanes: Lanes, x: Lane) -> Lane:
    up, down = halves(lanes, x)
    total, error = lanes.fast_two_sum(up[0], -down[0])
    size = (total + (error + (up[1] - down[1]))) * 2.0
    linear = 2.0**-20 if lanes.single else 2.0**-28
    return lanes.select(lanes.abs(x) < linear, x, lanes.copysign(size, x))


def cosh(lanes: Lanes, x: Lane) -> Lane:
    up, down = halves(lanes, x)
    total, error = lanes.fast_two_sum(up[0], down[0])
    return (total + (error + (up[1] + down[1]))) * 2.0
