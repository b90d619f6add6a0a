"""Double-double arithmetic with about 104 bits, where terms cancel (Dekker 1971).

For a `plain` function the second terms are literal zeros, and the arithmetic is that of doubles.
"""

from __future__ import annotations

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.logarithm import mantissa
from symgrad.compiler.llvm.maths.vectors.lanes import LaneWriter, Pair, PairCoefficients


def plus(lanes: LaneWriter, a: Pair, b: Pair) -> Pair:
    total, lost = lanes.two_sum(a[0], b[0])
    return lanes.fast_two_sum(total, lost + (a[1] + b[1]))


def minus(lanes: LaneWriter, a: Pair, b: Pair) -> Pair:
    return plus(lanes, a, (-b[0], -b[1]))


def times(lanes: LaneWriter, a: Pair, b: Pair) -> Pair:
    product, lost = lanes.two_product(a[0], b[0])
    return lanes.fast_two_sum(product, lanes.muladd(a[0], b[1], lanes.muladd(a[1], b[0], lost)))


def polynomial_of_pair(lanes: LaneWriter, x: Pair, series: PairCoefficients) -> Pair:
    """Evaluate by Horner's scheme; terms with double coefficients are too small to need double-double arithmetic."""
    value = lanes.horner(x[0], series.small), lanes.const(0)
    for high, low in reversed(series.leading):
        value = plus(lanes, times(lanes, value, x), lanes.constant_pair(high, low))
    return value


def log_of_pair(lanes: LaneWriter, x: Pair) -> Pair:
    """log(x) for x >= 2, so that the first term of the pair is a normal number."""
    k, m = mantissa(lanes, x[0])
    f = m - 1.0
    s = lanes.quotient((f, lanes.const(0)), lanes.fast_two_sum(lanes.const(2), f))
    high, low = times(lanes, s, polynomial_of_pair(lanes, times(lanes, s, s), c.ATANH_DOUBLED))
    # The second term of the pair adds log(1 + t), t = x[1]/x[0], which is t after rounding.
    of_m = high + high, low + low + x[1] / x[0]
    first, second, third = c.LN2_LONG
    whole = lanes.fast_two_sum(k * first, k * second)
    return plus(lanes, (whole[0], whole[1] + k * third), of_m)
