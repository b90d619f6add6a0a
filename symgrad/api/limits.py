"""How far the verbs go: limits of sizes that are tried, of searches, and of arrays in formulas.

They guard against waiting, and against texts that nobody reads; a number with no reason beside it was not tuned.
"""

from __future__ import annotations

__all__ = [
    "BFGS_VARIABLES",
    "BISECTIONS",
    "CONSTANT_ENTRIES",
    "CURVED_VARIABLES",
    "FLAT_DIRECTIONS",
    "KRYLOV_DIRECTIONS",
    "LIST_DEPTH",
    "MAPPED_ENTRIES",
    "MINIMUM_ROUNDS",
    "MINIMUM_STEPS",
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

CURVED_VARIABLES = 500
"""Variables up to which `minimize` looks at the curvature in every direction: a product with the Hessian for each."""

KRYLOV_DIRECTIONS = 20
"""Directions in which it looks at the curvature otherwise: each keeps as many numbers as there are variables."""

FLAT_DIRECTIONS = 16
"""Directions without curvature along which values of the loss are looked at."""

MINIMUM_STEPS = 60
"""Newton's steps after a search: 15 bring x**4 down by a factor of 1e10."""

MINIMUM_ROUNDS = 12
"""Searches one after the other, each from below a saddle point where the last one ended."""

PARAMETER_CHARACTERS = 60
"""Of a parameter's formula that a message repeats: half a line."""
