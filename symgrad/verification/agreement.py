"""Measure the decimal digits to which two balls agree."""

from __future__ import annotations

import math
from typing import Any

from symgrad.checker.numbers import flint

arb: Any = flint.arb

TOO_FEW = 6
"""Values that agree to fewer digits were not computed precisely enough."""

_TEN = math.log(10) / math.log(2)  # decimal digits for each bit


def agreement(gap: Any, size: Any, precision: int) -> int:
    """Return the number of decimal digits to which two balls agree.

    Near zero the absolute distance counts instead of the relative one. A distance below the rounding of numbers near
    1 counts as no agreement: both values may be tiny and imprecise.

    Args:
        gap: a positive upper bound of the distance of the balls.
        size: a lower bound of the absolute value of either.
        precision: the precision of the computation, in bits.

    Example:
        >>> agreement(arb(2) ** -40, arb(1), 64), agreement(arb(2) ** -40, arb(0), 64)
        (12, 12)
        >>> agreement(arb(2) ** -400, arb(0), 64)
        0
    """
    if not size > 0 and gap < arb(2) ** -precision:
        return 0
    bits = -((gap / size if size > 0 else gap).log() / arb(2).log())
    if not bits > 0:
        return 0
    return math.floor(min(float(bits.mid()), precision) / _TEN)


def shrinks(before: Any, after: Any, precision: int) -> bool:
    """Tell whether doubling the precision shrinks a distance as it does for equal values.

    Args:
        before: an upper bound of the distance at half the precision.
        after: an upper bound of the distance at the full precision.
        precision: the full precision, in bits.

    Example:
        >>> shrinks(arb(2) ** -400, arb(2) ** -464, 128), shrinks(arb(2) ** -400, arb(2) ** -4000, 128)
        (True, False)
    """
    ratio = before / after
    return bool(ratio > arb(2) ** (precision // 4) and ratio < arb(2) ** (2 * precision))
