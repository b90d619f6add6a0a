"""pow, cbrt and hypot: intermediate results are pairs (double-double) up to the final rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.exponential import NORMAL_RESULT_LIMIT, exp_of_pair, exp_of_pair_to_normal
from symgrad.compiler.llvm.maths.logarithm import (
    NORMAL_RANGE,
    mantissa,
    mantissa_of_positive,
    sum_with_multiple,
)
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter, Pair


def _log_as_pair(lanes: LaneWriter, k: Lane, f: Lane) -> Pair:
    """k*log(2) + log(1 + f) with about 66 correct bits, so that 53 bits are left after a product of up to 700."""
    s, s_low = lanes.quotient((f, lanes.const(0)), lanes.fast_two_sum(lanes.const(2), f))
    z = s * s
    z_low = lanes.muladd(s + s, s_low, lanes.product_error(s, s, z))
    # log(1 + f) = s*(2 + 2/3*z + ...), with the second term in double-double arithmetic too.
    third = z * c.LOG_THIRD[0]
    third_low = lanes.muladd(
        z_low, c.LOG_THIRD[0], lanes.product_error(z, lanes.const(c.LOG_THIRD[0]), third)
    )
    third_low = lanes.muladd(z, c.LOG_THIRD[1], third_low)
    series, lost = lanes.fast_two_sum(third, z * z * lanes.polynomial(z, c.LOG_FIFTH))
    slope, lost_again = lanes.fast_two_sum(lanes.const(2), series)
    log, log_low = lanes.two_product(s, slope)
    log_low = log_low + lanes.muladd(s, lost_again + (lost + third_low), s_low * slope)
    high, low = sum_with_multiple(lanes, k, log, c.LN2)
    return high, low + log_low


def _is_integer(size: Lane) -> Lane:
    return (size >= 2.0**52) | (size + 2.0**52 - 2.0**52).equals(size)


def _times(lanes: LaneWriter, y: Lane, log: Pair) -> Pair:
    product = y * log[0]
    return product, lanes.muladd(y, log[1], lanes.product_error(y, log[0], product))


def pow(lanes: LaneWriter, x: Lane, y: Lane) -> Sequence[Lane]:
    """x**y, and log(x), which is computed anyway and which the derivative with respect to y needs."""
    k, m = mantissa(lanes, x)
    log = _log_as_pair(lanes, k, m - 1.0)
    exponent, low = _times(lanes, y, log)
    rare = x.outside(*NORMAL_RANGE) | lanes.not_(lanes.abs(exponent) <= NORMAL_RESULT_LIMIT)
    if not lanes.fused:  # splitting a larger y would overflow, although its product with log(1) does not
        rare = rare | (lanes.abs(y) > 2.0**900)
    usual = exp_of_pair_to_normal(lanes, exponent, low), log[0] + log[1]

    def undefined() -> Lane:
        return x.is_nan() & lanes.not_(y.equals(0.0))  # NaN**0 is one

    return lanes.with_slow_path(rare, usual, lambda: _special_powers(lanes, x, y), undefined)


def _special_powers(lanes: LaneWriter, x: Lane, y: Lane) -> Sequence[Lane]:
    """x**y from |x|**y, with the sign for negative bases and special values (C99, F.9.4.4), and log(x) (F.9.3.7)."""
    size, y_size = lanes.abs(x), lanes.abs(y)
    k, m = mantissa_of_positive(lanes, size)
    # With an exponent of 2**70 the result is zero or infinite for every base except 1.
    bounded = lanes.copysign(lanes.at_most(y_size, 2.0**70), y)
    pair = _log_as_pair(lanes, k, m - 1.0)
    exponent, low = _times(lanes, bounded, pair)
    of_size = exp_of_pair(lanes, exponent, lanes.select(lanes.abs(exponent) < 1000.0, low, 0.0))
    ordinary = (size > 0.0) & (size < math.inf)
    end = lanes.select(size.equals(0.0) ^ (y < 0.0), 0.0, math.inf)
    value = lanes.select(ordinary, of_size, end)
    integer = _is_integer(y_size)
    odd = integer & lanes.not_(_is_integer(y_size * 0.5))
    value = lanes.select(odd, lanes.copysign(value, x), value)
    undefined = ordinary & (x < 0.0) & lanes.not_(integer)
    value = lanes.select(undefined | lanes.not_(x.equals(x) & y.equals(y)), math.nan, value)
    log = lanes.select(size.equals(0.0), -math.inf, lanes.select(x.equals(math.inf), x, math.nan))
    log = lanes.select(ordinary & (x > 0.0), pair[0] + pair[1], log)
    return lanes.select(y.equals(0.0) | x.equals(1.0), 1.0, value), log


def _cube_root(lanes: LaneWriter, x: Lane) -> Pair:
    """m**(1/3): a polynomial for m**(-1/3), a step of third order to 45 bits, and a Newton step for the root itself."""
    k, m = mantissa(lanes, x)
    shifted = lanes.muladd(k, 1 / 3, lanes.ROUND)
    rest = lanes.muladd(shifted - lanes.ROUND, -3.0, k)
    places = lanes.bits(shifted) << 52
    m_and_rest = lanes.real(lanes.bits(x) - (places + places + places))
    start = lanes.select(rest < 0.0, 2 ** (1 / 3), lanes.select(rest > 0.0, 2 ** (-1 / 3), lanes.const(1)))
    y = lanes.polynomial(m, c.CBRT) * start
    wrong = lanes.muladd(m_and_rest * (y * y), -y, 1.0)
    y = lanes.muladd(y * wrong, lanes.muladd(wrong, 2 / 9, 1 / 3), y)
    square = y * y
    r = m_and_rest * square
    if lanes.single:
        r, low = lanes.round_to_single(r)
    else:
        r_square, square_low = lanes.two_product(r, r)
        residual = lanes.muladd(-square_low, r, lanes.division_error(r_square, m_and_rest, r))
        r, low = lanes.fast_two_sum(r, residual * (square * (1 / 3)))
    return lanes.real(lanes.bits(r) + places), low * lanes.real(places + (1023 << 52))


def cbrt(lanes: LaneWriter, x: Lane) -> Sequence[Lane]:
    """The cube root, and its rounding error: powers with exponents k/3 are products of the pair."""
    size = lanes.abs(x)

    def signed(value: Lane) -> Lane:
        return lanes.real(lanes.bits(value) ^ (lanes.bits(x) & lanes.SIGN))

    usual = tuple(map(signed, _cube_root(lanes, size)))

    def at_ends() -> Sequence[Lane]:
        ordinary, tiny = (size > 0.0) & (size < math.inf), size < NORMAL_RANGE[0]
        of_tiny = [signed(v * 2.0**-18) for v in _cube_root(lanes, size * 2.0**54)]
        value, low = (lanes.select(tiny, t, u) for t, u in zip(of_tiny, usual, strict=True))
        return lanes.select(ordinary, value, x), lanes.select(ordinary, low, 0.0)

    return lanes.with_slow_path(size.outside(*NORMAL_RANGE), usual, at_ends, x.is_nan)


def half_inverse_root(lanes: LaneWriter, x: Lane) -> Lane:
    """1/(2*sqrt(x)) within four per cent, which is enough to correct a root; a finite number for zero.

    To halve the exponent, the integer with the bits of x is halved.
    """
    return lanes.real(lanes.integer(0x5FD6EB50C7B537A9) - (lanes.bits(x) >> 1))


def root(lanes: LaneWriter, square: Pair) -> Pair:
    """The square root of a pair, which may be zero."""
    r = lanes.sqrt(square[0])
    residual = square[1] - lanes.product_error(r, r, square[0])
    return r, residual * half_inverse_root(lanes, square[0])


def hypot(lanes: LaneWriter, x: Lane, y: Lane) -> Lane:
    x, y = lanes.abs(x), lanes.abs(y)
    larger, smaller = lanes.select(x > y, x, y), lanes.select(x > y, y, x)
    large, small = larger > 2.0**500, larger < 2.0**-400
    scale = lanes.select(large, 2.0**-600, lanes.select(small, 2.0**600, 1.0))
    unscale = lanes.select(large, 2.0**600, lanes.select(small, 2.0**-600, 1.0))
    larger, smaller = larger * scale, smaller * scale
    (a, a_low), (b, b_low) = lanes.two_product(larger, larger), lanes.two_product(smaller, smaller)
    total, error = lanes.fast_two_sum(a, b)
    r, low = root(lanes, (total, error + (a_low + b_low)))
    value = lanes.select(x.equals(x) & y.equals(y), (r + low) * unscale, math.nan)
    return lanes.select(x.equals(math.inf) | y.equals(math.inf), math.inf, value)
