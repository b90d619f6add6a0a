"""log and its kin: x = 2**k * (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), log(x) = k*log(2) + f - tail.

log(1 + f) = 2*s + s*R(s**2) with s = f/(2 + f), arranged as f - (f**2/2 - s*(f**2/2 + R)): the rounding errors of s are
then those of a small term (the arrangement of fdlibm, Sun Microsystems 1993).
"""

from __future__ import annotations

import math

from symgrad.llvm.maths import coefficients as c
from symgrad.llvm.maths.lanes import Lane, Lanes, Pair

__all__ = ["any_positive", "ends", "log", "log1p", "log2", "log10", "log_of_sum"]

_ONE = 1023 << 52  # the bits of 1.0
_ROOT = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)


def mantissa(lanes: Lanes, x: Lane) -> tuple[Lane, Lane]:
    """Return k and 1 + f of a normal number x > 0; some numbers for any other x."""
    above = lanes.bits(x) + (_ONE - _ROOT)
    biased = above >> 52
    # The bits of 2**52 + biased are those of 2**52 with biased in the last places.
    k = lanes.real(biased | (1075 << 52)) - (2.0**52 + 1023)
    return k, lanes.real((above & ((1 << 52) - 1)) + _ROOT)


def tail(lanes: Lanes, f: Lane, k: Lane) -> tuple[Lane, Lane]:
    """Return f - log(1 + f) - k * (the last bits of log(2)), and s."""
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    series = lanes.muladd(z, lanes.polynomial(z, c.LOG), half_square)
    return half_square - lanes.muladd(s, series, k * c.LN2[1]), s


def any_positive(lanes: Lanes, x: Lane) -> tuple[Lane, Lane]:
    """Return k and 1 + f, numbers below the smallest normal one included."""
    tiny = x < 2.0**-1022
    k, m = mantissa(lanes, lanes.select(tiny, x * 2.0**54, x))
    return lanes.select(tiny, k - 54.0, k), m


def ends(lanes: Lanes, x: Lane, pole: float, value: Lane, shifted: Lane) -> Lane:
    """The value, and what it is at the pole, beyond it, at infinity and for NaN."""
    value = lanes.select(shifted < math.inf, value, shifted)
    return lanes.select(x <= pole, lanes.select(x.equals(pole), -math.inf, math.nan), value)


def log(lanes: Lanes, x: Lane) -> Lane:
    k, m = any_positive(lanes, x)
    f = m - 1.0
    total, error = lanes.fast_two_sum(k * c.LN2[0], f)
    return ends(lanes, x, 0.0, total + (error - tail(lanes, f, k)[0]), x)


def log_of_sum(
    lanes: Lanes, total: Lane, lost: Lane, f: Pair | None = None, doubled: Lane | None = None
) -> Lane:
    """log(total + lost) for a normal number total > 0, lost at most about an ulp of it.

    Args:
        lanes: the lanes.
        total: the larger part.
        lost: the smaller one.
        f: the same less one, to be used where that is more precise, for k = 0.
        doubled: where to add log(2).
    """
    k, m = mantissa(lanes, total)
    exponent = (lanes.bits(total) + (_ONE - _ROOT)) & (2047 << 52)
    high, low = m - 1.0, lost * lanes.real(lanes.integer(2046 << 52) - exponent)
    if f is not None:
        whole = k.equals(0.0)
        high, low = lanes.select(whole, f[0], high), lanes.select(whole, f[1], low)
    if doubled is not None:
        k = lanes.select(doubled, k + 1.0, k)
    t, s = tail(lanes, high, k)
    # d log(1 + f) = df/(1 + f), and 1/(1 + f) = (1 - s)/(1 + s) = 1 - 2*s + 2*s**2 - ...
    correction = lanes.muladd(low * -2.0, s - s * s, low)
    value, error = lanes.fast_two_sum(k * c.LN2[0], high)
    return value + (error - (t - correction))


def log1p(lanes: Lanes, x: Lane) -> Lane:
    value = log_of_sum(lanes, *lanes.two_sum(lanes.const(1), x), (x, lanes.const(0)))
    return ends(lanes, x, -1.0, lanes.select(lanes.abs(x) < 2.0**-54, x, value), x)


def _log_in_base(lanes: Lanes, x: Lane, two: tuple[float, ...], e: tuple[float, ...]) -> Lane:
    """log(x) to the base in which the logarithms of 2 and of e are given as sums."""
    k, m = any_positive(lanes, x)
    f = m - 1.0
    high, low = lanes.fast_two_sum(f, -tail(lanes, f, lanes.const(0))[0])
    product = high * e[0]
    rest = lanes.product_error(high, lanes.const(e[0]), product) + lanes.muladd(high, e[1], low * e[0])
    total, error = lanes.fast_two_sum(k * two[0], product)
    return ends(lanes, x, 0.0, total + (error + lanes.muladd(k, two[1], rest)), x)


def log2(lanes: Lanes, x: Lane) -> Lane:
    return _log_in_base(lanes, x, (1.0, 0.0), c.LOG2_E)


def log10(lanes: Lanes, x: Lane) -> Lane:
    return _log_in_base(lanes, x, c.LOG10_2, c.LOG10_E)
