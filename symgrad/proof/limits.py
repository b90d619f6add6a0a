"""What the checker computes exactly, and how much of it: the budgets of exact arithmetic in proofs, with their reasons.

Whoever looks for a proof computes with the same ones: what it finds, the checker can replay.
"""

from __future__ import annotations

__all__ = [
    "ANSWER",
    "DEGREE",
    "EXACT",
    "HIGHEST",
    "NUMBER",
    "ORDER",
    "POWER",
    "PRIME",
    "SERIES",
]

ANSWER = 100_000
"""Characters of a number in a file: of a statement, of a point, of an answer that guided the proof."""

NUMBER = 200_000
"""Bits of a coefficient of a polynomial: products of numbers may double them, again and again."""

POWER = 20_000
"""Bits of a power of a number that is computed; a longer one is a kernel of which nothing is known."""

SERIES = 20_000
"""Bits of a coefficient in the normal form of arrays, whose arithmetic is Python's, and slower."""

HIGHEST = 64
"""The exponent of a power that is multiplied out."""

DEGREE = 1_000_000
"""The degree of a polynomial: powers of powers of one variable cost nothing by their terms, but cannot be evaluated."""

ORDER = 200
"""The order of a function that is computed at a point, or by a recurrence: of polygamma, zeta, polylog and others."""

PRIME = 128
"""Bits of a number whose prime factors are computed, which takes a second at most."""

EXACT = 2_048
"""Bits of a value at a point that is kept as a rational number; a longer one becomes a ball."""
