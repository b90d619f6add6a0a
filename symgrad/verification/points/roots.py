"""Find a sign change of a function between two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from symgrad.verification.limits import ROOT_STEPS


def root_between(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a float at which a function is zero, or next to which its sign changes; use secants and bisection.

    The function may jump. The search ends where the function has no value (NaN). (SciPy's `brentq` would do, but its
    import takes longer than the whole search.) longer than all that is done here.)

    Args:
        function: a function of one number.
        low: a number.
        high: a larger number, at which the function has the opposite sign.

    Example:
        >>> root_between(lambda x: x**2 - 2, 0.0, 2.0), root_between(lambda x: -1 if x < 3 else 1, 0, 100)
        (1.4142135623730951, 3.0)
    """
    below, above = function(low), function(high)
    for step in range(ROOT_STEPS):
        middle = low + (high - low) / 2
        # A secant that ends close to one end of the interval gains little: every third step bisects.
        if step % 3 < 2 and math.isfinite(below - above) and below != above:
            part = min(max(below / (below - above), 0.001), 0.999)
            middle = low + (high - low) * part
        if not low < middle < high:
            break
        value = function(middle)
        if math.isnan(value) or value == 0:
            return middle
        if (value > 0) == (below > 0):
            low, below = middle, value
        else:
            high, above = middle, value
    return high
