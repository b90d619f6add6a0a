"""digamma, the derivative of log(gamma).

On [1, 2] digamma is computed as a polynomial times the distance from its root. On (0, 1) and [2, 3) the recurrence
digamma(x + 1) = digamma(x) + 1/x leads to [1, 2]. From 3 on it is computed as a logarithm and a series, digamma(y +
1/2) = log(y) + 1/(24*y**2) - ... (Luke, The Special Functions and their Approximations 1, 1969), whose argument y is
exact.

For negative x digamma has a root between any two poles. Terms cancel near these roots, so all arithmetic for negative x
is double-double.
"""

from __future__ import annotations

import math

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.double_double import log_of_pair, minus, plus, polynomial_of_pair, times
from symgrad.compiler.llvm.maths.logarithm import log
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter, Pair

_SERIES_FROM = 3.0
"""From this argument on a polynomial replaces the series, with the accuracy of the logarithm."""
_STEPS = 16
"""The number of steps of the recurrence from the reflected argument up to the series."""
_TINY = 2.0**-60
"""For |x| up to this, digamma(x) is -1/x after rounding."""


def digamma(lanes: LaneWriter, x: Lane) -> Lane:
    usual = _of_positive(lanes, x)
    return lanes.with_slow_path(lanes.not_(x > 0.0), [usual], lambda: [_of_nonpositive(lanes, x)], x.is_nan)[
        0
    ]


def _of_positive(lanes: LaneWriter, x: Lane) -> Lane:
    up, down, large = x < 1.0, x >= 2.0, x >= _SERIES_FROM
    # root - 1 is exact, and the difference is exact where it matters.
    root, root_low = c.DIGAMMA_ROOT
    lower = x - 1.0
    distance = lanes.select(down, lower, x) - lanes.select(up, root - 1.0, lanes.const(root))
    t = distance - root_low
    near = t + lanes.muladd(t, lanes.polynomial(t, c.DIGAMMA), distance - t - root_low)

    # For x up to 1 this is digamma(x + 1) - 1/x, from 2 on digamma(x - 1) + 1/(x - 1).
    y, one = x - 0.5, lanes.const(1)
    above = lanes.select(down, one, lanes.select(up, -1.0, lanes.const(0)))
    q = above / lanes.select(large, y, lanes.select(down, lower, x))
    square = q * q
    far = lanes.muladd(
        square, lanes.polynomial(square, c.DIGAMMA_FAR), log(lanes, lanes.select(large, y, one))
    )
    return lanes.select(large, far, near + q)


def _of_nonpositive(lanes: LaneWriter, x: Lane) -> Lane:
    """Reflect negative numbers: digamma(x) = digamma(1 - x) - pi/tan(pi*x)."""
    # `nearest` is valid below 2**51, which is the reason for the first step. Larger numbers are integers, and r is
    # zero.
    whole = lanes.nearest(x * 2.0**-20) * 2.0**20
    rest = x - whole
    r = rest - lanes.nearest(rest)
    sign = lanes.copysign(1.0, r)
    high, low = _cotangent(lanes, lanes.abs(r))
    image = _of_pair(lanes, lanes.two_sum(lanes.const(1), -x))
    value, _ = minus(lanes, image, (high * sign, low * sign))
    return lanes.select(r.equals(0.0), math.nan, lanes.select(x > -_TINY, -1.0 / x, value))


def _cotangent(lanes: LaneWriter, size: Lane) -> Pair:
    """pi/tan(pi*size) for 0 < size <= 1/2."""
    far = size > 0.25
    turns = lanes.select(far, 0.5 - size, size)
    square = lanes.two_product(turns, turns)
    turned = polynomial_of_pair(lanes, square, c.SINE_OF_TURNS)
    sine = times(lanes, (turns, lanes.const(0)), turned)  # divided by pi
    cosine = polynomial_of_pair(lanes, square, c.COSINE_OF_TURNS)
    mirrored = times(lanes, sine, lanes.constant_pair(*c.PI_SQUARED))
    above = [lanes.select(far, m, o) for m, o in zip(mirrored, cosine, strict=True)]
    below = [lanes.select(far, o, s) for s, o in zip(sine, cosine, strict=True)]
    return lanes.quotient((above[0], above[1]), (below[0], below[1]))


def _of_pair(lanes: LaneWriter, x: Pair) -> Pair:
    """digamma(x) for x >= 1."""

    def raised(by: float) -> Pair:
        return plus(lanes, x, (lanes.const(by), lanes.const(0)))

    # 1/(x + i) + 1/(x + n - i) = (2*x + n)/(x*(x + n) + i*(n - i))
    n = _STEPS - 1
    last = raised(n)
    product = times(lanes, x, last)
    one = lanes.const(1), lanes.const(0)
    total = lanes.quotient(one, product)
    for i in range(1, _STEPS // 2):
        term = plus(lanes, product, (lanes.const(i * (n - i)), lanes.const(0)))
        total = plus(lanes, total, lanes.quotient(one, term))
    climbed = times(lanes, plus(lanes, x, last), total)

    y = raised(_STEPS - 0.5)
    inverse = lanes.quotient(one, y)
    square = times(lanes, inverse, inverse)
    series = times(lanes, square, polynomial_of_pair(lanes, square, c.DIGAMMA_DOUBLED))
    return minus(lanes, plus(lanes, log_of_pair(lanes, y), series), climbed)
