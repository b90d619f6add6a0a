"""pow, cbrt and hypot: results whose parts are kept as sums of two doubles until the end."""

from __future__ import annotations

import math

from symgrad.llvm.maths import coefficients as c
from symgrad.llvm.maths.exponential import exp_of_pair, power_of_two
from symgrad.llvm.maths.lanes import Lane, Lanes, Pair
from symgrad.llvm.maths.logarithm import any_positive

__all__ = ["cbrt", "hypot", "pow", "root"]


def _log_as_pair(lanes: Lanes, x: Lane) -> Pair:
    """log(x), x > 0, with about 66 correct bits, so that 53 are left when it is multiplied by 700."""
    k, m = any_positive(lanes, x)
    f = m - 1.0
    s, s_low = lanes.quotient((f, lanes.const(0)), lanes.fast_two_sum(lanes.const(2), f))
    z = s * s
    z_low = lanes.muladd(s + s, s_low, lanes.product_error(s, s, z))
    # log(1 + f) = s*(2 + 2/3*z + ...), the second term to twice the precision too.
    third = z * c.LOG_THIRD[0]
    third_low = lanes.muladd(
        z_low, c.LOG_THIRD[0], lanes.product_error(z, lanes.const(c.LOG_THIRD[0]), third)
    )
    third_low = lanes.muladd(z, c.LOG_THIRD[1], third_low)
    series, lost = lanes.fast_two_sum(third, z * z * lanes.polynomial(z, c.LOG_FIFTH))
    slope, lost_again = lanes.fast_two_sum(lanes.const(2), series)
    log, log_low = lanes.two_product(s, slope)
    log_low = log_low + lanes.muladd(s, lost_again + (lost + third_low), s_low * slope)
    high, error = lanes.fast_two_sum(k * c.LN2[0], log)
    return lanes.fast_two_sum(high, error + lanes.muladd(k, c.LN2[1], log_low))


def _is_integer(size: Lane) -> Lane:
    return (size >= 2.0**52) | (size + 2.0**52 - 2.0**52).equals(size)


def pow(lanes: Lanes, x: Lane, y: Lane) -> Lane:
    size, y_size = lanes.abs(x), lanes.abs(y)
    # With 2**70 the result is zero or infinite for every base but one.
    bounded = lanes.copysign(lanes.at_most(y_size, 2.0**70), y)
    log, log_low = _log_as_pair(lanes, size)
    product = bounded * log
    low = lanes.muladd(bounded, log_low, lanes.product_error(bounded, log, product))
    value = exp_of_pair(lanes, product, lanes.select(lanes.abs(product) < 1000.0, low, 0.0))

    common = (x > 0.0) & (x < math.inf) & (y_size < 2.0**70)
    return lanes.rarely(lanes.not_(common), [value], lambda: [_power_at_ends(lanes, x, y, value)])[0]


def _power_at_ends(lanes: Lanes, x: Lane, y: Lane, of_size: Lane) -> Lane:
    """x**y given |x|**y for finite |x| > 0: the signs of negative bases, and the ends (C99, F.9.4.4)."""
    size, y_size = lanes.abs(x), lanes.abs(y)
    ordinary = (size > 0.0) & (size < math.inf)
    end = lanes.select(size.equals(0.0) ^ (y < 0.0), 0.0, math.inf)
    value = lanes.select(ordinary, of_size, end)
    integer = _is_integer(y_size)
    odd = integer & lanes.not_(_is_integer(y_size * 0.5))
    value = lanes.select(odd, lanes.copysign(value, x), value)
    undefined = ordinary & (x < 0.0) & lanes.not_(integer)
    value = lanes.select(undefined | lanes.not_(x.equals(x) & y.equals(y)), math.nan, value)
    return lanes.select(y.equals(0.0) | x.equals(1.0), 1.0, value)


def cbrt(lanes: Lanes, x: Lane) -> Lane:
    """A polynomial for m**(-1/3), a step of third order to 45 bits, and one of Newton's for the root itself."""
    size = lanes.abs(x)
    k, m = any_positive(lanes, size)
    third = lanes.nearest(k * (1 / 3))
    rest = k - third * 3.0
    start = lanes.select(rest < 0.0, 2 ** (1 / 3), lanes.select(rest > 0.0, 2 ** (-1 / 3), 1.0))
    y = lanes.polynomial(m, c.CBRT) * start
    m = m * power_of_two(lanes, rest)
    wrong = 1.0 - m * (y * y * y)
    y = lanes.muladd(y * wrong, lanes.muladd(wrong, 2 / 9, 1 / 3), y)
    r = m * (y * y)
    square, square_low = lanes.two_product(r, r)
    cube, cube_low = lanes.two_product(square, r)
    residual = ((m - cube) - cube_low) - square_low * r
    value = lanes.muladd(residual, y * y * (1 / 3), r) * power_of_two(lanes, third)
    ordinary = (size > 0.0) & (size < math.inf)
    return lanes.select(ordinary, lanes.copysign(value, x), x)


def root(lanes: Lanes, square: Pair) -> Pair:
    """The square root of a sum, of zero too."""
    r = lanes.sqrt(square[0])
    residual = square[1] - lanes.product_error(r, r, square[0])
    return r, residual * (0.5 / lanes.at_least(r, 2.0**-500))


def hypot(lanes: Lanes, x: Lane, y: Lane) -> Lane:
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
