"""Limits of the public functions: how many sizes are tried, how long searches are, how large arrays in formulas are.

They bound the time of a call and the length of a text. If no reason is stated for a number, it was not tuned.
"""

from __future__ import annotations

SIZE_ROWS = 40
"""How many combinations of sizes are tried to compare the shapes of two sides."""

MAPPED_ENTRIES = 1_000
"""The length of the longest unit vector that is evaluated to find the position of its nonzero entry."""

NEWTON_STEPS = 1_200
"""The most steps of Newton's method; if each step only halves x, it takes 1,000 steps from 1 to a root near the
smallest float."""

BISECTIONS = 2_200
"""The most bisections; this many halvings lead from 1e308 to the smallest float."""

QUOTED_CHARACTERS = 60
"""The most characters of an expression that a message quotes."""

PLACED_SIZES = 400
"""How many combinations of sizes are tried to trace the entries of an array."""

PLACED_ENTRIES = 1_000
"""The most entries of an array that is traced."""

LIST_DEPTH = 32
"""The largest nesting depth of lists: the number of axes that an array could have in NumPy 1."""

CONSTANT_ENTRIES = 4_096
"""The most entries of an array that becomes part of a formula."""

BFGS_VARIABLES = 1_000
"""With more variables than this `l-bfgs-b` is the default, since the matrix of BFGS would take more than 8 MB."""

CURVED_VARIABLES = 500
"""With at most this many variables `minimize` computes the whole Hessian, with one product for each variable."""

KRYLOV_DIRECTIONS = 20
"""The dimension of the Krylov space in which the curvature of losses with more variables is computed."""

FLAT_DIRECTIONS = 16
"""The number of directions of zero curvature along which values of the loss are compared."""

MINIMUM_STEPS = 60
"""The most Newton steps after a search; 15 steps reduce x**4 by a factor of 1e10."""

MINIMUM_ROUNDS = 12
"""The most successive searches; each one starts below the saddle point at the end of the previous search."""

PRINTED_TANGENTS = 8
"""Variables of a `jvp` that is printed as slopes times tangents."""

UNROLLED_STEPS = 16
"""The most steps of a loop over Python's `range` in a function of NumPy that is always written out."""
