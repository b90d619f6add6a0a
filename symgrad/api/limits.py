"""Limits of the public functions: numbers of tried sizes, lengths of searches, sizes of arrays in formulas.

They bound the time of a call and the length of a text. A number without a reason was not tuned.
"""

from __future__ import annotations

SIZE_ROWS = 40
"""Number of combinations of sizes that are tried to compare the shapes of two sides."""

MAPPED_ENTRIES = 1_000
"""Length of the longest unit vector whose nonzero position is found by evaluating it."""

PUSHED_ENTRIES = 8
"""Largest number of variables with one forward pass each, for variables that have fewer entries than y."""

NEWTON_STEPS = 1_200
"""Most steps of Newton's method; steps that only halve x need 1,000 from 1 to a root near the smallest float."""

BISECTIONS = 2_200
"""Most bisections: as many halvings lead from 1e308 to the smallest float."""

QUOTED_CHARACTERS = 60
"""Most characters of an expression that a message quotes."""

PLACED_SIZES = 400
"""Number of combinations of sizes that are tried to trace the entries of an array."""

PLACED_ENTRIES = 1_000
"""Most entries of an array that is traced."""

LIST_DEPTH = 32
"""Nesting depth of lists: as many as NumPy 1 had axes."""

CONSTANT_ENTRIES = 4_096
"""Most entries of an array that becomes part of a formula."""

BFGS_VARIABLES = 1_000
"""Number of variables above which `l-bfgs-b` is the default: the matrix of BFGS then takes 8 MB."""

CURVED_VARIABLES = 500
"""Number of variables up to which `minimize` computes the whole Hessian, with one product for each variable."""

KRYLOV_DIRECTIONS = 20
"""Dimension of the Krylov space for the curvature of losses with more variables."""

FLAT_DIRECTIONS = 16
"""Number of directions of zero curvature along which values of the loss are compared."""

MINIMUM_STEPS = 60
"""Most Newton steps after a search: 15 steps reduce x**4 by a factor of 1e10."""

MINIMUM_ROUNDS = 12
"""Most successive searches; each starts below the saddle point at the end of the previous search."""

PARAMETER_CHARACTERS = 60
"""Most characters of a parameter's formula in a message: half a line."""
