"""Argument reduction of large angles modulo pi/2, in integer arithmetic with as many digits of 2/pi as needed.

(Payne and Hanek, Radian Reduction for Trigonometric Functions, 1983.) An angle is m*2**e with an integer m of 53 bits.
Only m*2**e * 2/pi modulo 4 matters, so only the digits of 2/pi from 2**-(e - 1) on. With 192 of these digits the
product has two bits before the point and 190 after it. No double beyond 2**20 is closer to a multiple of pi/2 than
2**-62 relative to pi/2, so the remainder has at least 70 bits, with an error of 2**-137.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter, Pair

_LIMB = 32
_LIMBS = 6
"""The number of limbs of the product, which come most significant first: 32 bits each, in 64-bit integers."""

_LOW = 2**_LIMB - 1

_LEAST = -32
"""The exponent of the integer m of the smallest angle, 2**20."""

_PLACES = 32
"""The number of limbs at which the digits for an angle may start."""

_BEFORE = 2 - _LEAST
"""The number of zeros before the first digit of 2/pi; the digits for the smallest angle start with these zeros."""


@cache
def _digits() -> tuple[int, ...]:
    """Return the limbs of 2/pi, after `_BEFORE` zeros."""
    count = _LIMB * (_PLACES + _LIMBS)
    return tuple(
        (_two_over_pi(count - _BEFORE) >> (count - _LIMB * (k + 1))) & _LOW for k in range(_PLACES + _LIMBS)
    )


def _two_over_pi(bits: int) -> int:
    """2/pi in units of 2**-bits, rounded down: pi by Machin's formula, 16*atan(1/5) - 4*atan(1/239)."""
    more = bits + 64
    one = 1 << more

    def arctangent(of: int) -> int:
        total, power, k = 0, one // of, 0
        while power:
            total += (-1) ** k * (power // (2 * k + 1))
            power //= of * of
            k += 1
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    return (2 << (bits + more)) // pi


def reduce_payne_hanek(lanes: LaneWriter, x: Lane) -> tuple[Lane, Pair]:
    """Return an integer with n in its last two bits, and r = |x| - n*pi/2 as a pair, |r| <= pi/4.

    For an infinite x, r is NaN; for |x| <= 2**20 it is arbitrary.
    """
    bits = lanes.bits(x)
    exponent = (bits >> 52) & 2047
    m = (bits & (2**52 - 1)) | 2**52
    place = exponent - (1023 + 52 + _LEAST)
    shift = place & (_LIMB - 1)
    words = _window(lanes, (place >> 5) & (_PLACES - 1))
    back = lanes.integer(_LIMB) - shift
    factors = [((a << shift) | (b >> back)) & _LOW for a, b in pairwise(words)]
    product = _product(m, factors)
    first, second, third = (product[k] << _LIMB | product[k + 1] for k in (0, 2, 4))
    n = (first + 2**61) >> 62
    # The remainder in units of 2**-128: a signed upper half and an unsigned lower half.
    high, low = (first << 2) | (second >> 62), (second << 2) | (third >> 62)
    a = _real(lanes, (high ^ lanes.SIGN) >> _LIMB, 2.0**-32) - 0.5
    b, d, e = (
        _real(lanes, part, unit)
        for part, unit in ((high & _LOW, 2.0**-64), (low >> _LIMB, 2.0**-96), (low & _LOW, 2.0**-128))
    )
    total, lost = lanes.fast_two_sum(a, b)
    total, more = lanes.two_sum(total, d)
    total, rest = lanes.fast_two_sum(total, (lost + more) + e)
    half_pi, half_pi_low = c.HALF_PI[0], c.HALF_PI[1]
    r = total * half_pi
    error = lanes.product_error(total, lanes.const(half_pi), r)
    low_part = lanes.muladd(total, half_pi_low, lanes.muladd(rest, half_pi, error))
    r, low_part = lanes.fast_two_sum(r, low_part)
    return n, (lanes.select(exponent.equals(2047), float("nan"), r), low_part)


def _window(lanes: LaneWriter, place: Lane) -> list[Lane]:
    """Return the limbs from a start index on, one limb more than the product has; the bits of the index select them."""
    words = [lanes.integer(digit) for digit in _digits()]
    step = _PLACES // 2
    while step:
        later = lanes.not_((place & step).equals(0))
        count = _LIMBS + step
        words = [lanes.select(later, words[k + step], words[k]) for k in range(count)]
        step //= 2
    return words[: _LIMBS + 1]


def _product(m: Lane, factors: list[Lane]) -> list[Lane]:
    """Return the low limbs of m times a number with the same number of limbs, most significant first."""
    upper, lower = m >> _LIMB, m & _LOW
    found: list[Lane] = []
    carry: Lane | None = None
    for k in reversed(range(len(factors))):
        of_lower = lower * factors[k] if carry is None else lower * factors[k] + carry
        if k + 1 == len(factors):
            found.append(of_lower & _LOW)
            carry = of_lower >> _LIMB
            continue
        of_upper = upper * factors[k + 1] + (of_lower & _LOW)
        found.append(of_upper & _LOW)
        carry = (of_lower >> _LIMB) + (of_upper >> _LIMB)
    return found[::-1]


def _real(lanes: LaneWriter, x: Lane, unit: float) -> Lane:
    """Convert an integer below 2**32 exactly, as the last bits of 2**52, and multiply it by a power of two."""
    return (lanes.real(x | 0x4330000000000000) - 2.0**52) * unit
