"""log and related functions: x = 2**k * (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), log(x) = k*log(2) + f - tail.

log(1 + f) = 2*s + s*R(s**2) with s = f/(2 + f), arranged as f - (f**2/2 - s*(f**2/2 + R)), so that the rounding error
of s affects only a small term (fdlibm, Sun Microsystems 1993).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.vectors.lanes import Coefficients, Lane, LaneWriter, Pair

_ONE = 1023 << 52  # the bits of 1.0
_ROOT = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_THREE_QUARTERS = 0x3FE8 << 48  # the bits of 3/4
_LARGE = 2.0**1022

NORMAL_RANGE = sys.float_info.min, sys.float_info.max


def exponent(lanes: LaneWriter, x: Lane, least: int) -> tuple[Lane, Lane]:
    """Return k such that m <= x/2**k < 2*m, m being the number with the bits ``least``.

    The second result has bits with the exponent k + 1023.
    """
    above = lanes.bits(x) + (_ONE - least)
    # The bits of 2**52 + biased are the bits of 2**52 with biased in the last places.
    return lanes.real((above >> 52) | (1075 << 52)) - (2.0**52 + 1023), above


def mantissa(lanes: LaneWriter, x: Lane) -> tuple[Lane, Lane]:
    """Return k and 1 + f of a normal number x > 0; arbitrary numbers for any other x."""
    k, above = exponent(lanes, x, _ROOT)
    return k, lanes.real((above & ((1 << 52) - 1)) + _ROOT)


def mantissa_of_positive(lanes: LaneWriter, x: Lane) -> tuple[Lane, Lane]:
    """Return k and 1 + f of any x > 0, subnormal numbers included."""
    tiny = x < 2.0**-1022
    k, m = mantissa(lanes, lanes.select(tiny, x * 2.0**54, x))
    return lanes.select(tiny, k - 54.0, k), m


def _tail(lanes: LaneWriter, f: Lane, series: Coefficients = c.LOG) -> tuple[Lane, Lane]:
    """Return f - log(1 + f), and s."""
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    return lanes.muladd(-s, lanes.muladd(z, lanes.polynomial(z, series), half_square), half_square), s


def _log1p_pair(lanes: LaneWriter, f: Lane) -> Pair:
    """log(1 + f) as a pair of f - f**2/2 and the rest. The rest is a third of the tail, so its error matters less."""
    if lanes.plain:
        return f, -_tail(lanes, f)[0]
    s = f / (f + 2.0)
    z = s * s
    high, error = lanes.muladd_pair(f * -0.5, f, f)
    return high, lanes.muladd(s, lanes.muladd(z, lanes.polynomial(z, c.LOG), f - high), error)


def sum_with_multiple(lanes: LaneWriter, k: Lane, f: Lane, two: tuple[float, ...]) -> Pair:
    """k*two + f as a pair, for a pair two; k*two[0] must be exact, and not smaller than f unless k is zero."""
    total = lanes.muladd(k, two[0], f)
    if lanes.plain:
        return total, k * two[1]
    return total, lanes.muladd(k, two[1], f - lanes.muladd(k, -two[0], total))


def _with_special_values(lanes: LaneWriter, x: Lane, of_parts: Callable[[Lane, Lane], Lane]) -> Lane:
    """Complete a logarithm, written as a function of k and f, by subnormal arguments and special values."""

    def at_ends() -> list[Lane]:
        k, m = mantissa_of_positive(lanes, x)
        value = lanes.select(x < math.inf, of_parts(k, m - 1.0), x)
        return [lanes.select(x <= 0.0, lanes.select(x.equals(0.0), -math.inf, math.nan), value)]

    k, m = mantissa(lanes, x)
    return lanes.with_slow_path(x.outside(*NORMAL_RANGE), [of_parts(k, m - 1.0)], at_ends, x.is_nan)[0]


def _log_of_parts(lanes: LaneWriter, k: Lane, f: Lane) -> Lane:
    total, low = sum_with_multiple(lanes, k, f, c.LN2)
    return total + (low - _tail(lanes, f)[0])


def log(lanes: LaneWriter, x: Lane) -> Lane:
    return _with_special_values(lanes, x, lambda k, f: _log_of_parts(lanes, k, f))


def log_of_double(lanes: LaneWriter, x: Lane) -> Lane:
    """log(2*x) for a normal number x > 0, infinity or NaN."""
    k, m = mantissa(lanes, x)
    return lanes.select(x < math.inf, _log_of_parts(lanes, k + 1.0, m - 1.0), x)


def log1p_of_pair(lanes: LaneWriter, x: Lane, low: Lane) -> Lane:
    """log(1 + x + low) for -1 < x < 2**1022 and |low| at most about an ulp of x.

    With 3/4 <= 1 + f < 3/2 instead of the bounds above, f = x/2**k - (1 - 1/2**k) is exact by Sterbenz's lemma.
    """
    k, above = exponent(lanes, x + 1.0, _THREE_QUARTERS)
    scale = lanes.real(lanes.integer(2046 << 52) - (above & (2047 << 52)))
    f = lanes.muladd(x, scale, scale - 1.0)
    total, rest = _log_of_wide_mantissa(lanes, k, f, low * scale)
    return total + rest


def log_of_one_to_two(lanes: LaneWriter, x: Lane, low: Lane) -> Pair:
    """log(1 + x + low) for 0 <= x <= 1 as a pair, under the same conditions."""
    beyond = x > 0.5
    scale = lanes.select(beyond, 0.5, 1.0)
    return _log_of_wide_mantissa(
        lanes, lanes.select(beyond, 1.0, 0.0), lanes.select(beyond, x * 0.5 - 0.5, x), low * scale
    )


def _log_of_wide_mantissa(lanes: LaneWriter, k: Lane, f: Lane, low: Lane) -> Pair:
    """k*log(2) + log(1 + f + low) for 3/4 <= 1 + f <= 3/2."""
    tail, s = _tail(lanes, f, c.LOG_WIDE)
    if not low.is_zero_literal:
        # d log(1 + f) = df/(1 + f), and 1/(1 + f) = (1 - s)/(1 + s) = 1 - 2*s + 2*s**2 - ...
        tail = tail - lanes.muladd(low * -2.0, s - s * s, low)
    total, rest = sum_with_multiple(lanes, k, f, c.LN2)
    return total, rest - tail


def log1p(lanes: LaneWriter, x: Lane) -> Lane:
    value = lanes.copysign(log1p_of_pair(lanes, x, lanes.const(0)), x)

    def at_ends() -> list[Lane]:
        beyond = lanes.select(x.equals(-1.0), -math.inf, math.nan)
        # `log1p_of_pair` scales by 1/2**k, and 2**-1022 is the smallest normal power of two.
        return [
            lanes.select(x <= -1.0, beyond, lanes.select(x <= _LARGE, value, log_of_double(lanes, x * 0.5)))
        ]

    return lanes.with_slow_path(x.outside(math.nextafter(-1.0, 0.0), _LARGE), [value], at_ends, x.is_nan)[0]


def _log_in_base(lanes: LaneWriter, x: Lane, two: tuple[float, ...], e: tuple[float, ...]) -> Lane:
    """log(x) to a base; ``two`` and ``e`` are the logarithms of 2 and of e to this base as pairs."""

    def of_parts(k: Lane, f: Lane) -> Lane:
        high, rest = _log1p_pair(lanes, f)
        product, lost = lanes.two_product(high, lanes.const(e[0]))
        total, low = sum_with_multiple(lanes, k, product, two)
        return total + (low + lanes.muladd(rest, e[0], lanes.muladd(high, e[1], lost)))

    return _with_special_values(lanes, x, of_parts)


def log2(lanes: LaneWriter, x: Lane) -> Lane:
    return _log_in_base(lanes, x, (1.0, 0.0), c.LOG2_E)


def log10(lanes: LaneWriter, x: Lane) -> Lane:
    return _log_in_base(lanes, x, c.LOG10_2, c.LOG10_E)
