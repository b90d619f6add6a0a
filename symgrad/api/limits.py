"""Limits of the verbs: tried sizes, searches, and arrays in formulas.

They bound the time of a call and the length of a text; a number without a reason was not tuned.
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
"""Combinations of sizes that are tried to compare the shapes of two sides."""

MAPPED_ENTRIES = 1_000
"""Length of a unit vector whose entry 1 is found by evaluation."""

PUSHED_ENTRIES = 8
"""Number of variables x, of fewer entries than y, that are pushed forward one by one."""

NEWTON_STEPS = 1_200
"""Steps of Newton's method: 1,000 halve the way from 1 to the root of the smallest float."""

BISECTIONS = 2_200
"""Halvings from 1e308 to the smallest float."""

QUOTED_CHARACTERS = 60
"""Characters of an expression that a message quotes."""

PLACED_SIZES = 400
"""Combinations of sizes that are tried to trace the entries of an array."""

PLACED_ENTRIES = 1_000
"""Entries of an array that is traced."""

LIST_DEPTH = 32
"""Nesting depth of lists: as many as NumPy 1 had axes."""

CONSTANT_ENTRIES = 4_096
"""Entries of an array that becomes part of a formula."""

BFGS_VARIABLES = 1_000
"""Variables above which `l-bfgs-b` is the default: the matrix of BFGS then takes 8 MB."""

CURVED_VARIABLES = 500
"""Variables up to which `minimize` computes the whole Hessian, by one product for each."""

KRYLOV_DIRECTIONS = 20
"""Dimension of the Krylov space for the curvature of more variables."""

FLAT_DIRECTIONS = 16
"""Directions of zero curvature along which values of the loss are compared."""

MINIMUM_STEPS = 60
"""Newton's steps after a search: 15 bring x**4 down by a factor of 1e10."""

MINIMUM_ROUNDS = 12
"""Successive searches, each from below the saddle point at the end of the last one."""

PARAMETER_CHARACTERS = 60
"""Characters of a parameter's formula in a message: half a line."""
