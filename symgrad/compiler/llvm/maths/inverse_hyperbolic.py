"""asinh, acosh and atanh, as log(1 + f) with f in double-double arithmetic."""

from __future__ import annotations

import math

from symgrad.compiler.llvm.maths.logarithm import log1p_of_pair, log_of_double
from symgrad.compiler.llvm.maths.power import half_inverse_root
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter

_LARGE = 2.0**30
"""From this x on asinh(x) and acosh(x) are log(2*x) after rounding."""


def asinh(lanes: LaneWriter, x: Lane) -> Lane:
    """log(1 + f) with f = t + t**2/(1 + sqrt(1 + t**2)), t = |x|."""
    t = lanes.abs(x)
    square, square_low = lanes.two_product(t, t)
    inverse = 1.0 / (lanes.sqrt(lanes.muladd(t, t, 1.0)) + 1.0)
    q = square * inverse
    # A Newton step for q*(q + 2) = square. 1/(2*(q + 1)) = inverse/2/(1 - inverse).
    residual = lanes.muladd(-q, q, square - (q + q)) + square_low
    f, error = lanes.fast_two_sum(t, q)
    q_low = lanes.const(0) if lanes.plain else residual * (inverse * (inverse + 0.5))
    usual = log1p_of_pair(lanes, f, error + q_low)
    (size,) = lanes.with_slow_path(
        lanes.not_(t < _LARGE), [usual], lambda: [log_of_double(lanes, t)], x.is_nan
    )
    return lanes.copysign(size, x)


def acosh(lanes: LaneWriter, x: Lane) -> Lane:
    """log(1 + f) with f = w + sqrt(w**2 + 2*w), w = x - 1."""
    w, lost = lanes.fast_two_sum(x, lanes.const(-1))
    twice = w + w
    square = lanes.muladd(w, w, twice)
    r = lanes.sqrt(square)
    # The residual square - r**2, added in this order, is accurate for small numbers, for which it matters.
    residual = lanes.muladd(w, w, lanes.division_error(r, twice, r))
    f, error = lanes.fast_two_sum(r, w)
    low = (
        lanes.const(0)
        if lanes.plain
        else lanes.muladd(residual, half_inverse_root(lanes, square), error + lost)
    )
    usual = log1p_of_pair(lanes, f, low)

    def at_ends() -> list[Lane]:
        return [lanes.select(x < 1.0, math.nan, log_of_double(lanes, x))]

    return lanes.with_slow_path(x.outside(1.0, _LARGE), [usual], at_ends, x.is_nan)[0]


def atanh(lanes: LaneWriter, x: Lane) -> Lane:
    """log(1 + f)/2 with f = 2*t/(1 - t), t = |x|."""
    size = lanes.abs(x)
    f, f_low = lanes.quotient((size + size, lanes.const(0)), lanes.fast_two_sum(lanes.const(1), -size))
    value = lanes.copysign(log1p_of_pair(lanes, f, f_low) * 0.5, x)

    def at_ends() -> list[Lane]:
        return [lanes.select(size.equals(1.0), lanes.copysign(math.inf, x), math.nan)]

    return lanes.with_slow_path(lanes.not_(size < 1.0), [value], at_ends, x.is_nan)[0]
