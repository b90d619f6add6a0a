"""exp and related functions: x = n*log(2) + r with |r| <= log(2)/2, exp(x) = 2**n * (1 + r + c), c a polynomial in r.

The reduction is that of Cody and Waite (Software Manual for the Elementary Functions, 1980), without a table. The
terms of a result are added in an order in which only the last addition has a significant rounding error.
"""

from __future__ import annotations

import math

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter, Pair

NORMAL_RESULT_LIMIT = 708.0
"""exp(x) is a normal number for |x| up to this."""

_ONE = 1023 << 52  # the bits of 1.0
_LEAST = math.log2(3 / 4)


def power_of_two(lanes: LaneWriter, n: Lane) -> Lane:
    """2**n of an integer -1022 <= n <= 1023."""
    return lanes.real(lanes.bits(n + (lanes.ROUND + 1023)) << 52)


def scale_by_power(lanes: LaneWriter, x: Lane, n: Lane) -> Lane:
    """x*2**n in two steps, only the second of which may round, for |n| <= 2044."""
    if lanes.single:
        return x * power_of_two(lanes, n)
    half = lanes.nearest(n * 0.5)
    return x * power_of_two(lanes, half) * power_of_two(lanes, n - half)


def reduce_argument(
    lanes: LaneWriter, x: Lane, low: Lane | None = None, least: float = -0.5
) -> tuple[Lane, Lane, Pair]:
    """Return n as the bits of an exponent, n itself, and r with x + low = n*log(2) + r, for |x| < 1500.

    ``least``*log(2) <= r <= (``least`` + 1)*log(2).
    """
    if least == -0.5:
        shifted = lanes.muladd(x, 1 / math.log(2), lanes.ROUND)
    else:
        shifted = lanes.muladd(x, 1 / math.log(2), -0.5 - least) + lanes.ROUND
    n = shifted - lanes.ROUND
    high = lanes.muladd(n, -c.LN2[0], x)
    if low is None:
        r = lanes.muladd_pair(n, -c.LN2[1], high, exact=True)
    else:
        r = lanes.fast_two_sum(high, lanes.muladd(n, -c.LN2[1], low))
    return lanes.bits(shifted) << 52, n, r


def exp_remainder(lanes: LaneWriter, r: Pair) -> Lane:
    """exp(r) - 1 - r[0], at most 0.07."""
    return lanes.muladd(r[0] * r[0], lanes.polynomial(r[0], c.EXP), r[1])


def exp_of_pair(lanes: LaneWriter, x: Lane, low: Lane | None = None) -> Lane:
    # Beyond the limits the result is an infinity or zero.
    high, least = (150.0, -150.0) if lanes.single else (710.0, -746.0)
    _, n, r = reduce_argument(lanes, lanes.at_least(lanes.at_most(x, high), least), low)
    one_and_r, error = lanes.fast_two_sum(lanes.const(1), r[0])
    return scale_by_power(lanes, one_and_r + (error + exp_remainder(lanes, r)), n)


def exp_of_pair_to_normal(lanes: LaneWriter, x: Lane, low: Lane) -> Lane:
    """exp(x + low) for |x| <= `NORMAL_RESULT_LIMIT`, in fewer instructions."""
    places, _, r = reduce_argument(lanes, x, low)
    one_and_r, error = lanes.fast_two_sum(lanes.const(1), r[0])
    value = one_and_r + (error + lanes.muladd(r[0] * r[0], lanes.polynomial(r[0], c.EXP_SHORT), r[1]))
    return lanes.real(lanes.bits(value) + places)


def exp(lanes: LaneWriter, x: Lane) -> Lane:
    """The exponential within 0.9 ulp if 2**n is a normal number, in a third less time than `exp_of_pair`."""
    if not lanes.fused:  # with more roundings the error would exceed one ulp
        return exp_of_pair(lanes, x)
    shifted = lanes.muladd(x, 1 / math.log(2), lanes.ROUND)
    n = shifted - lanes.ROUND
    r = lanes.muladd(n, -c.LN2[1], lanes.muladd(n, -c.LN2[0], x))
    value = lanes.muladd(r, lanes.muladd(r, lanes.polynomial(r, c.EXP_SHORT), 1), 1)
    # The exponent is added as an integer: n is in the last bits of the shifted sum.
    usual = lanes.real(lanes.bits(value) + (lanes.bits(shifted) << 52))
    rare = lanes.not_(lanes.abs(x) <= NORMAL_RESULT_LIMIT)
    return lanes.with_slow_path(rare, [usual], lambda: [exp_of_pair(lanes, x)], x.is_nan)[0]


def exp_as_pair(lanes: LaneWriter, x: Lane) -> Pair:
    """exp(x) as a pair of normal numbers within 0.4 ulp, for -690 <= x <= 0."""
    places, _, r = reduce_argument(lanes, x)
    scale = lanes.real(places + _ONE)
    slope = lanes.muladd(r[0], lanes.polynomial(r[0], c.EXP_SHORT), 1)
    value, error = lanes.muladd_pair(r[0] * scale, slope, scale)
    return value, error if lanes.fused else lanes.muladd(scale, r[1], error)


def exp2(lanes: LaneWriter, x: Lane) -> Lane:
    def normal() -> tuple[Lane, Lane, Lane]:
        shifted = x + lanes.ROUND
        n = shifted - lanes.ROUND
        f = x - n
        r = f * c.LN2_FULL[0]
        error = lanes.muladd(f, c.LN2_FULL[1], lanes.product_error(f, lanes.const(c.LN2_FULL[0]), r))
        one_and_r, rounded = lanes.fast_two_sum(lanes.const(1), r)
        return one_and_r + (rounded + exp_remainder(lanes, (r, error))), lanes.bits(shifted) << 52, n

    value, places, _ = normal()
    usual = lanes.real(lanes.bits(value) + places)

    def at_ends() -> list[Lane]:
        nonlocal x
        high, least = (200.0, -200.0) if lanes.single else (1025.0, -1080.0)
        x = lanes.at_least(lanes.at_most(x, high), least)
        value, _, n = normal()
        return [scale_by_power(lanes, value, n)]

    return lanes.with_slow_path(lanes.not_(lanes.abs(x) <= 1020.0), [usual], at_ends, x.is_nan)[0]


def expm1(lanes: LaneWriter, x: Lane) -> Lane:
    """2**n - 1 + 2**n*r + ..., with 3/4 <= exp(r) < 3/2, so that later terms are small for n = 1 and n = -1 too."""

    def less_one(factor: Lane, one: float, r: Pair) -> Lane:
        """``factor``*exp(r) - ``one``."""
        start, lost = lanes.fast_two_sum(factor, lanes.const(-one))
        total, error = lanes.muladd_pair(factor, r[0], start, exact=True)
        square = r[0] * r[0]
        cubic = lanes.muladd(square * r[0], lanes.polynomial(r[0], c.EXP_CUBIC), r[1])
        return total + lanes.muladd(factor, lanes.muladd(square, 0.5, cubic), error + lost)

    places, _, r = reduce_argument(lanes, x, least=_LEAST)
    usual = lanes.copysign(less_one(lanes.real(places + _ONE), 1.0, r), x)

    def at_ends() -> list[Lane]:
        _, n, r = reduce_argument(lanes, lanes.at_least(lanes.at_most(x, 710.0), -40.0), least=_LEAST)
        # This is half of the result, which does not overflow for the largest n.
        return [less_one(power_of_two(lanes, n - 1.0), 0.5, r) * 2.0]

    return lanes.with_slow_path(x.outside(-37.0, 709.0), [usual], at_ends, x.is_nan)[0]


def tanhsech(lanes: LaneWriter, x: Lane) -> tuple[Lane, ...]:
    """-e/(2 + e) and 2*sqrt(1 + e)/(2 + e) with e = exp(-2*|x|) - 1, which is within (-1, 0]."""
    size = lanes.abs(x)
    places, _, r = reduce_argument(lanes, size * -2.0)
    scale = lanes.real(places + _ONE)
    beyond = exp_remainder(lanes, r)
    start, lost = lanes.fast_two_sum(lanes.const(-1), scale)
    total, error = lanes.muladd_pair(scale, r[0], start, exact=True)
    e, e_low = lanes.fast_two_sum(total, lanes.muladd(scale, beyond, error + lost))
    d, d_low = lanes.fast_two_sum(lanes.const(2), e)
    tanh = lanes.copysign(lanes.ratio((e, e_low), (d, d_low + e_low)), x)
    # If e rounds to -1, this root is still accurate.
    root = lanes.sqrt(lanes.muladd(scale, r[0] + beyond, scale))
    usual = tanh, (root + root) / d

    def at_ends() -> tuple[Lane, ...]:
        return lanes.copysign(1.0, x), exp_of_pair(lanes, -size) * 2.0

    return lanes.with_slow_path(size > NORMAL_RESULT_LIMIT / 2, usual, at_ends)


def sinhcosh(lanes: LaneWriter, x: Lane) -> tuple[Lane, ...]:
    """cosh(n*log(2))*sinh(r) + sinh(n*log(2))*cosh(r), and cosh(n*log(2))*cosh(r) + sinh(n*log(2))*sinh(r)."""

    def of(up: Lane, down: Lane, r: Pair) -> Pair:
        """sinh(|x|) and cosh(|x|) from up = 2**n/2 and down = 2**-n/2."""
        z = r[0] * r[0]
        even = z * lanes.polynomial(z, c.COSH)
        odd = lanes.muladd(z * r[0], lanes.polynomial(z, c.SINH), r[1])
        cosine, cosine_low = lanes.fast_two_sum(up, down)
        sine, sine_low = lanes.fast_two_sum(up, -down)
        # With only one term the product is exact (and splitting such a large number would overflow).
        s, s_error = lanes.muladd_pair(cosine, r[0], sine, exact=down.is_zero_literal)
        o, o_error = lanes.muladd_pair(sine, r[0], cosine, exact=down.is_zero_literal)
        return (
            s + lanes.muladd(sine, even, lanes.muladd(cosine, odd, s_error + sine_low)),
            o + lanes.muladd(cosine, even, lanes.muladd(sine, odd, o_error + cosine_low)),
        )

    size = lanes.abs(x)
    places, _, r = reduce_argument(lanes, size)
    s, o = of(lanes.real(places + (1022 << 52)), lanes.real((1022 << 52) - places), r)
    usual = lanes.copysign(s, x), o

    def at_ends() -> tuple[Lane, ...]:
        _, n, r = reduce_argument(lanes, lanes.at_most(size, 710.6))
        # This is a quarter of the result.
        s, o = of(power_of_two(lanes, n - 3.0), lanes.const(0), r)
        return lanes.copysign(s * 4.0, x), o * 4.0

    return lanes.with_slow_path(lanes.not_(size <= 690.0), usual, at_ends, x.is_nan)
