"""erf and erfc.

erfc(t) = exp(-t**2)/(1 + 2*t) * P(s) with s = (t - K)/(t + K) for all t >= 0 (Shepherd and Laframboise, Mathematics of
Computation 36, 1981), with a polynomial of our own.
"""

from __future__ import annotations

from symgrad.llvm.maths import coefficients as c
from symgrad.llvm.maths.exponential import exp_of_pair
from symgrad.llvm.maths.lanes import Lane, Lanes

__all__ = ["erf", "erfc"]


def _complement(lanes: Lanes, x: Lane) -> Lane:
    """erfc(|x|)."""
    t = lanes.at_most(lanes.abs(x), 30.0)
    square, low = lanes.two_product(t, t)
    bell = exp_of_pair(lanes, -square, -low)
    s = (t - c.ERFC_CENTRE) / (t + c.ERFC_CENTRE)
    return bell * lanes.polynomial(s, c.ERFC) / lanes.muladd(t, 2.0, 1.0)


def erfc(lanes: Lanes, x: Lane) -> Lane:
    value = _complement(lanes, x)
    value = lanes.select(x < 0.0, 2.0 - value, value)
    return lanes.select(lanes.abs(x) < 0.5, 1.0 - _near(lanes, x), value)


def _near(lanes: Lanes, x: Lane) -> Lane:
    return lanes.muladd(x, lanes.polynomial(x * x, c.ERF), x)


def erf(lanes: Lanes, x: Lane) -> Lane:
    far = lanes.copysign(1.0 - _complement(lanes, x), x)
    return lanes.select(lanes.abs(x) < 1.0, _near(lanes, x), far)
