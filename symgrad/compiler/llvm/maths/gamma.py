"""lgamma, the logarithm of |gamma|.

Between 1.25 and 2.5 lgamma(2 + t) is computed as t*Q(t), the distance from its zero times a polynomial. Below and
above, the recurrence lgamma(x + 1) = lgamma(x) + log(x) leads to this interval, with the logarithm of one product; from
8 on Stirling's series is used. So only one logarithm is computed, that of x or that of the product. (From 1.25 to 1.5
the recurrence would cancel three bits.)

For negative numbers C's function is called. Freestanding code uses the reflection
lgamma(-x) = -log(|sin(pi*x)|/pi) - lgamma(1 + x). Its terms cancel near the zeros of lgamma, so the error is small
relative to the larger term.
"""

from __future__ import annotations

import math

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.logarithm import log
from symgrad.compiler.llvm.maths.trigonometric import sincos
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter

_STIRLING_FROM = 8.0

_INTEGERS_FROM = 2.0**51
"""From this number on all numbers count as integers, so lgamma(-x) is infinite."""


def lgamma(lanes: LaneWriter, x: Lane) -> Lane:
    def of_negative() -> list[Lane]:
        return [_reflected(lanes, x) if lanes.freestanding else lanes.call_libm("lgamma", x)]

    return lanes.with_slow_path(x < 0.0, [_of_positive(lanes, x)], of_negative)[0]


def _reflected(lanes: LaneWriter, x: Lane) -> Lane:
    size = -x
    distance = lanes.abs(size - lanes.nearest(size))
    sine, _ = sincos(lanes, distance * math.pi)
    value = -log(lanes, sine * (1 / math.pi)) - _of_positive(lanes, size + 1.0)
    return lanes.select(size >= _INTEGERS_FROM, math.inf, value)


def _of_positive(lanes: LaneWriter, x: Lane) -> Lane:
    small, large = x < 0.5, x >= _STIRLING_FROM
    up = x < 1.25
    # The argument is x + 2, x + 1 or x - k for an integer k; its distance t from 2 is exact.
    k = lanes.select(large, 0.0, lanes.nearest(lanes.at_least(x, 2.0) - 2.0))
    t = lanes.select(small, x, lanes.select(up, x - 1.0, x - k - 2.0))
    product = lanes.select(small, x * (x + 1.0), lanes.select(up, x, 1.0))
    for j in range(1, 7):
        product = product * lanes.select(k >= float(j), x - float(j), 1.0)
    logarithm = log(lanes, lanes.select(large, x, product))
    near = lanes.muladd(t, lanes.polynomial(t, c.LGAMMA, chains=1), lanes.select(up, -logarithm, logarithm))
    r = 1.0 / x
    series = lanes.muladd(r, lanes.polynomial(r * r, c.STIRLING), c.STIRLING_CONSTANT)
    far = lanes.muladd(x - 0.5, logarithm - 1.0, series)
    return lanes.select(large, far, near)
