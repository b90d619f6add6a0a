"""Limits of the search for gaps and noise, and of the length of reports.

They bound the time and the size of texts; a number without a comment was not tuned.
"""

from __future__ import annotations

CHAIN_FACTORS = 40
"""The number of factors of a gradient in which a chain is searched for."""

GAP_SECONDS = 10.0
"""Seconds for the gaps of the value, with forms."""

SLOPE_GAP_SECONDS = 2.0
"""Seconds for the gaps of each gradient."""

GAP_PLACES = 8
"""Candidates for a gap in a formula."""

GAP_EQUATIONS = 400
"""Equations of a formula that is searched for gaps."""

SERIES_TERMS_TOLD = 3
"""Terms of a long series that are printed."""

SERIES_DEPTH = 60
"""The depth of recursion between coefficients; Python's own stack allows about 150."""

COEFFICIENT_EQUATIONS = 150
"""Equations of a coefficient of a series."""

SERIES_EQUATIONS = 400
"""Equations of an expanded formula."""

CANCELLED_COEFFICIENTS = 12
"""Coefficients that may vanish before the first nonzero one."""

SERIES_POWER = 16
"""The largest power that is expanded as a product."""

LARGEST_NUMBER_TOLD = 10**6
"""The largest number in a short text."""

RECOGNISED_DENOMINATOR = 720
"""The denominator of recognised rational numbers: 720 is divisible by 1 to 6, 8, 9 and 10."""

TERMS_BEYOND = 3
"""The number of terms after the last term of a series that bound the truncation error."""

POLYNOMIAL_FACTORS = 4
"""The number of factors of a polynomial whose zeros are searched for."""

NUMBERS_TRIED = 6
"""The number of numbers in a formula that are tried as zeros."""

SOLVED_COEFFICIENTS = 3
"""The number of coefficients of the polynomials that are solved: those of degree two have three."""

UNDONE_FUNCTIONS = 12
"""Nested functions that are inverted to solve an equation."""

REPEATED_CHARACTERS = 12
"""The number of characters of a part that is repeated, and not named."""

NAMED_PARTS = 40
"""Names for parts that a reader can follow."""

PRECISE_WORK = 30_000
"""The number of multiplications, and of entries, at high precision: balls need a fraction of a second."""

CURE_EQUATIONS = 2_000
"""The number of equations, and of steps of the backward pass, of a program for which cures are searched for."""

CURE_PLACES = 12
"""Candidates for the place of a cure."""

CURES_TOLD = 5
"""Cures that are printed."""

LANDMARKS = 8
"""Numbers of a program that have draws on both sides."""

REPLAYED_PULLBACKS = 400
"""Array pullbacks that are replayed at high precision."""

CANCELLED_SECONDS = 2.0
"""Seconds to decide whether any two draws give the same gradient."""

JUMP_EQUATIONS = 2_000
"""The number of equations of a value that is searched for jumps."""

JUMPS = 12
"""Jumps that are examined."""

JUMP_SECONDS = 0.5
"""Seconds to decide whether a choice is a jump."""

STRADDLE_POINTS = 20
"""Points at ties between two draws, for each choice of the inputs."""

SIMPLIFIED_EQUATIONS = 5_000
"""Equations of a gradient that is simplified to prove that noise does not enter."""

PROVABLE_EQUATIONS = 500
"""Equations of a gradient that is differentiated once more for such a proof."""

WITNESS_PAIRS = 6
"""Pairs of draws that are evaluated at high precision."""

WITNESS_WORK = 40_000
"""Equations times pairs at high precision."""

WITNESS_INPUTS_TOLD = 6
"""Inputs in a sentence."""

WITNESS_ENTRIES_TOLD = 4
"""Entries of an array in a sentence, along each axis."""

RULE_CHARACTERS = 240
"""Characters of a formula in a derivation by hand: three lines of a page."""
