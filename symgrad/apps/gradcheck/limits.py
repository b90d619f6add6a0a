"""How far gradient code is tried, and when it counts as right."""

from __future__ import annotations

__all__ = [
    "DIGITS",
    "MAGNITUDES",
    "MOST_ENTRIES",
    "MOST_PATHS",
    "MOST_POINTS",
    "MOST_UNROLLED",
    "POINTS_OF_DIFFERENCES",
    "REPEATED_CALLS",
    "SLACK",
    "STEADY",
]

DIGITS = 60
"""Decimal digits of the derivative that code is compared with."""

MOST_ENTRIES = 50_000
"""Entries of all arrays at a point: in 60 digits each operation takes about a second for them."""

MOST_POINTS = 60
"""Points at which code is called; the first ones are generic, and each is one or two calls."""

MOST_PATHS = 128
"""Ways through code that asks which of two entries is larger, and where labels point."""

MAGNITUDES = tuple(10.0**k for k in (-2, -4, -6, -8, -10, 2, 4, -12, 6))
"""By what one input at a time is multiplied: this is where terms cancel."""

POINTS_OF_DIFFERENCES = 12
"""Points where a function that cannot be read is differentiated by differences: many calls for each entry."""

REPEATED_CALLS = 3
"""Points at which code is called twice: whether it gives the same again."""

SLACK = 256.0
"""How many times the error of one rounding a right computation may be off: it has many roundings."""

STEADY = 0.02
"""By how much of itself an error changes where it is a mistake: one that comes of rounding jumps."""

MOST_UNROLLED = 400
"""Entries of the arguments of code that is read entry by entry: each becomes a formula of its own."""
