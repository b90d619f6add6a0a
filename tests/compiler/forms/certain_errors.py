"""How far floats are from certain values, and how far they may be."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symgrad.ir.graph import Node
from symgrad.rewrite.choice.certain_values import CertainValues, as_floats, distance


def error_and_bound(
    values: CertainValues, at: Mapping[Node, float], found: float, bits: int = 53
) -> tuple[float, float] | None:
    """How far a float is from the certain value, and how far it may be, as inputs are rounded; None if undefined."""
    (exact,) = values.at(at)
    if exact is None:
        return None
    high, low = as_floats(exact)
    change = 0.0
    for x in at:
        (moved,) = values.at({**at, x: Fraction(at[x]) * (1 + Fraction(1, 2**60))})
        change += 0.0 if moved is None else 2.0**60 * distance(moved, exact)
    smallest = 1e-280 if bits == 53 else 1e-35
    return abs(found - high - low), 2.0 ** (7 - bits) * (abs(high) + change) + smallest
