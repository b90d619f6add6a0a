"""asinh, acosh and atanh: the logarithm of a sum, whose terms are kept as sums of two doubles."""

from __future__ import annotations

import math

from symgrad.llvm.maths.lanes import Lane, Lanes
from symgrad.llvm.maths.logarithm import log_of_sum
from symgrad.llvm.maths.power import root

__all__ = ["acosh", "asinh", "atanh"]

_LARGE = 2.0**30
"""From here on asinh and acosh are log(2*x)."""


def asinh(lanes: Lanes, x: Lane) -> Lane:
    """log(1 + f) with f = t + t**2/(1 + sqrt(1 + t**2)), t = |x|."""
    size = lanes.abs(x)
    t = lanes.at_most(size, _LARGE)
    square, square_low = lanes.two_product(t, t)
    radicand, error = lanes.two_sum(lanes.const(1), square)
    r, r_low = root(lanes, (radicand, error + square_low))
    below, error = lanes.fast_two_sum(r, lanes.const(1))
    q, q_low = lanes.quotient((square, square_low), (below, error + r_low))
    f, error = lanes.fast_two_sum(t, q)
    f_low = error + q_low
    total, lost = lanes.two_sum(lanes.const(1), f)
    large = size >= _LARGE
    total, lost = lanes.select(large, size, total), lanes.select(large, 0.0, lost + f_low)
    value = lanes.copysign(log_of_sum(lanes, total, lost, (f, f_low), large), x)
    return lanes.select((size > 2.0**-28) & (size < math.inf), value, x)


def acosh(lanes: Lanes, x: Lane) -> Lane:
    """log(1 + f) with f = (x - 1) + sqrt(x**2 - 1)."""
    t = lanes.at_most(x, _LARGE)
    square, square_low = lanes.two_product(t, t)
    radicand, error = lanes.fast_two_sum(square, lanes.const(-1))
    r, r_low = root(lanes, (radicand, error + square_low))
    less_one, error = lanes.fast_two_sum(t, lanes.const(-1))
    f, lost = lanes.fast_two_sum(r, less_one)
    f_low = lost + (error + r_low)
    total, lost = lanes.two_sum(lanes.const(1), f)
    large = x >= _LARGE
    total, lost = lanes.select(large, x, total), lanes.select(large, 0.0, lost + f_low)
    value = lanes.select(x < math.inf, log_of_sum(lanes, total, lost, (f, f_low), large), x)
    return lanes.select(x < 1.0, math.nan, value)


def atanh(lanes: Lanes, x: Lane) -> Lane:
    """log(1 + f)/2 with f = 2*t/(1 - t), t = |x|."""
    size = lanes.abs(x)
    f, f_low = lanes.quotient((size + size, lanes.const(0)), lanes.fast_two_sum(lanes.const(1), -size))
    total, lost = lanes.two_sum(lanes.const(1), f)
    value = log_of_sum(lanes, total, lost + f_low, (f, f_low)) * 0.5
    value = lanes.select(size < 1.0, value, lanes.select(size.equals(1.0), math.inf, math.nan))
    return lanes.select(size < 2.0**-28, x, lanes.copysign(value, x))
