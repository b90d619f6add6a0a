"""How far reasons are looked for: limits of the search for gaps and for noise, and of what is told.

They guard against waiting, and against texts that nobody reads; a number with no reason beside it was not tuned.
"""

from __future__ import annotations

__all__ = [
    "CANCELLED_COEFFICIENTS",
    "CANCELLED_SECONDS",
    "CHAIN_FACTORS",
    "COEFFICIENT_EQUATIONS",
    "CURES_TOLD",
    "CURE_EQUATIONS",
    "CURE_PLACES",
    "GAP_EQUATIONS",
    "GAP_PLACES",
    "GAP_SECONDS",
    "JUMPS",
    "JUMP_EQUATIONS",
    "JUMP_SECONDS",
    "LANDMARKS",
    "LARGEST_NUMBER_TOLD",
    "NAMED_PARTS",
    "NUMBERS_TRIED",
    "POLYNOMIAL_FACTORS",
    "PRECISE_WORK",
    "PROVABLE_EQUATIONS",
    "QUOTIENT_ATOMS",
    "QUOTIENT_DEGREE",
    "QUOTIENT_EQUATIONS",
    "RECOGNISED_DENOMINATOR",
    "REPEATED_CHARACTERS",
    "REPLAYED_PULLBACKS",
    "RULE_CHARACTERS",
    "SERIES_DEPTH",
    "SERIES_EQUATIONS",
    "SERIES_POWER",
    "SERIES_TERMS_TOLD",
    "SIMPLIFIED_EQUATIONS",
    "SLOPE_GAP_SECONDS",
    "SOLVED_COEFFICIENTS",
    "STRADDLED_ENTRIES",
    "STRADDLED_INPUTS",
    "STRADDLED_KINKS",
    "STRADDLE_POINTS",
    "TERMS_BEYOND",
    "UNDONE_FUNCTIONS",
    "WIDEST_VALUE",
    "WITNESS_ENTRIES_TOLD",
    "WITNESS_INPUTS_TOLD",
    "WITNESS_PAIRS",
    "WITNESS_WORK",
]

CHAIN_FACTORS = 40
"""Factors of a gradient that are searched for a chain."""

GAP_SECONDS = 10.0
"""Seconds for the points of the value that are 0/0, with forms."""

SLOPE_GAP_SECONDS = 2.0
"""Seconds for those of each gradient."""

GAP_PLACES = 8
"""Places at which a formula may be 0/0 that are looked at."""

QUOTIENT_EQUATIONS = 400
"""Equations of a formula that is looked at as a quotient of polynomials."""

QUOTIENT_ATOMS = 12
"""What it may be a polynomial of."""

QUOTIENT_DEGREE = 40
"""Exponents of these."""

GAP_EQUATIONS = 400
"""Equations of a formula in which points without a value are looked for."""

SERIES_TERMS_TOLD = 3
"""Terms of a long series that are shown."""

SERIES_DEPTH = 60
"""Coefficients that wait for one another; Python's own stack holds some 150."""

COEFFICIENT_EQUATIONS = 150
"""Equations of a coefficient of a series."""

SERIES_EQUATIONS = 400
"""Equations of what is expanded."""

CANCELLED_COEFFICIENTS = 12
"""Coefficients that may vanish before one that does not."""

SERIES_POWER = 16
"""The largest power that is a product."""

LARGEST_NUMBER_TOLD = 10**6
"""The largest number in a short text."""

RECOGNISED_DENOMINATOR = 720
"""The denominator of rational numbers that are recognised: 720 is divided by all up to 6, and by 8, 9 and 10."""

TERMS_BEYOND = 3
"""Terms behind the last one of a series that tell whether it was."""

POLYNOMIAL_FACTORS = 4
"""Factors of a polynomial whose zeros are looked for."""

NUMBERS_TRIED = 6
"""Numbers of a formula at which it is tried."""

SOLVED_COEFFICIENTS = 3
"""Coefficients of a polynomial whose roots have a formula here: those of the second degree."""

UNDONE_FUNCTIONS = 12
"""Functions around one another that are undone to solve an equation."""

REPEATED_CHARACTERS = 12
"""Characters of a part that is repeated rather than named."""

NAMED_PARTS = 40
"""Names for parts that a person follows."""

PRECISE_WORK = 30_000
"""Multiplications and entries at high precision, a second or two of mpmath."""

CURE_EQUATIONS = 2_000
"""Equations, and steps of the backward pass, of what cures are looked for in."""

CURE_PLACES = 12
"""Places of a cure that are tried."""

CURES_TOLD = 5
"""Cures that are told."""

LANDMARKS = 8
"""Numbers of a program beside which draws are."""

REPLAYED_PULLBACKS = 400
"""Pullbacks of arrays that are replayed at high precision."""

CANCELLED_SECONDS = 2.0
"""Seconds to decide whether any two draws give the same gradient."""

JUMP_EQUATIONS = 2_000
"""Equations of a value whose jumps are looked at."""

JUMPS = 12
"""Jumps that are looked at."""

JUMP_SECONDS = 0.5
"""Seconds to decide whether a choice is a jump."""

STRADDLED_INPUTS = 4
"""Inputs that are moved to a tie."""

STRADDLED_ENTRIES = 16
"""Entries of an array that are compared."""

STRADDLED_KINKS = 60
"""Entries that are looked at in all."""

STRADDLE_POINTS = 5
"""Points for an input."""

SIMPLIFIED_EQUATIONS = 5_000
"""Equations of a gradient that is simplified for a proof that noise does not enter."""

PROVABLE_EQUATIONS = 500
"""Equations of one that is differentiated once more for it."""

WITNESS_PAIRS = 6
"""Pairs of draws that are worth the high precision."""

WITNESS_WORK = 40_000
"""Equations times pairs, evaluated that way."""

WITNESS_INPUTS_TOLD = 6
"""Inputs that a sentence lists."""

WITNESS_ENTRIES_TOLD = 4
"""Entries of an array, along each axis, that a sentence lists."""

WIDEST_VALUE = 1e250
"""Beyond this, mpmath would need as many digits as the exponent has."""

RULE_CHARACTERS = 240
"""Characters of a formula in a derivation by hand: three lines of a page."""
