"""How far the verbs go: limits of sizes that are tried, of searches, and of arrays in formulas.

They guard against waiting, and against texts that nobody reads; a number with no reason beside it was not tuned.
"""

from __future__ import annotations

__all__ = [
    "BFGS_VARIABLES",
    "BISECTIONS",
    "CONSTANT_ENTRIES",
    "LIST_DEPTH",
    "MAPPED_ENTRIES",
    "NEWTON_STEPS",
    "PARAMETER_CHARACTERS",
    "PLACED_ENTRIES",
    "PLACED_SIZES",
    "PUSHED_ENTRIES",
    "QUOTED_CHARACTERS",
    "SIZE_ROWS",
]

SIZE_ROWS = 40
"""Combinations of sizes that are tried to make the shapes of two sides agree."""

MAPPED_ENTRIES = 1_000
"""Length of an axis of an array of zeros in which the one is found by its values."""

PUSHED_ENTRIES = 8
"""Entries of x, fewer than of y, that are pushed forward one by one."""

NEWTON_STEPS = 1_200
"""Steps of Newton's method: 1,000 halve the way from 1 to the root of the smallest float."""

BISECTIONS = 2_200
"""Halvings from 1e308 to the smallest float."""

QUOTED_CHARACTERS = 60
"""Characters of an expression that a message quotes."""

PLACED_SIZES = 400
"""Combinations of sizes that are tried to see where entries of an array go."""

PLACED_ENTRIES = 1_000
"""Entries of an array that is looked at for it."""

LIST_DEPTH = 32
"""Lists inside lists: as many as NumPy 1 had axes."""

CONSTANT_ENTRIES = 4_096
"""Entries of an array that becomes part of a formula, entry by entry."""

BFGS_VARIABLES = 1_000
"""Variables beyond which `l-bfgs-b` is chosen: BFGS holds the square of so many numbers, 8 MB."""

PARAMETER_CHARACTERS = 60
"""Of a parameter's formula that a message repeats: half a line."""
