"""erf and erfc.

erfc(t) = exp(-t**2)/(1 + 2*t) * P(s) with s = (t - K)/(t + K) for all t >= 0 (Shepherd and Laframboise, Mathematics of
Computation 36, 1981); the polynomial P is from tools/minimax.py.
"""

from __future__ import annotations

from collections.abc import Callable

from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths.exponential import exp_of_pair, exp_of_pair_to_normal
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter


def _complement(
    lanes: LaneWriter, t: Lane, exp: Callable[[LaneWriter, Lane, Lane], Lane] = exp_of_pair_to_normal
) -> Lane:
    """erfc(t), t >= 0."""
    square, low = lanes.two_product(t, t)
    s = (t - c.ERFC_CENTRE) / (t + c.ERFC_CENTRE)
    middle, middle_low = c.ERFC_MIDDLE
    value = lanes.muladd(s, lanes.polynomial(s, c.ERFC), middle_low) + middle
    return exp(lanes, -square, -low) * value / lanes.muladd(t, 2.0, 1.0)


def _near(lanes: LaneWriter, x: Lane) -> Lane:
    return lanes.muladd(x, lanes.polynomial(x * x, c.ERF), x)


def erfc(lanes: LaneWriter, x: Lane) -> Lane:
    size = lanes.abs(x)
    value = _complement(lanes, size)
    value = lanes.select(x < 0.0, 2.0 - value, value)
    usual = lanes.select(size < 0.5, 1.0 - _near(lanes, x), value)

    def at_ends() -> list[Lane]:
        value = _complement(lanes, lanes.at_most(size, 30.0), exp_of_pair)
        return [lanes.select(x < 0.0, 2.0 - value, value)]

    return lanes.with_slow_path(lanes.not_(size <= 26.0), [usual], at_ends, x.is_nan)[0]


def erf(lanes: LaneWriter, x: Lane) -> Lane:
    size = lanes.abs(x)
    far = 1.0 - _complement(lanes, lanes.at_most(size, 6.0))
    return lanes.select(size < 1.0, _near(lanes, x), lanes.copysign(far, x))
