"""How far verdicts look: the limits of the search for points and for proofs, of claims in rows, and of what is told.

They guard against waiting, and against texts that nobody reads; a number with no reason beside it was not tuned.
"""

from __future__ import annotations

__all__ = [
    "AIM_STEPS",
    "BRACKETS",
    "CASES",
    "CERTAIN_DIGITS",
    "CHANCE_POINTS",
    "COMBINED_TERMS",
    "COMBINED_WORK",
    "COMMON_POINTS",
    "COMPLEX_POINTS",
    "CONDITIONS_TOLD",
    "CONDITION_LENGTH",
    "CONDITION_PARTS",
    "COORDINATES",
    "DEFINEDNESS_POINTS",
    "DIAGNOSES_TOLD",
    "DIGITS_TOLD",
    "ENTRIES",
    "FACTORED_DEGREE",
    "FACTORED_TERMS",
    "FARKAS_DENOMINATOR",
    "FIRST_GENERATORS",
    "FIRST_POINTS",
    "INEQUALITIES",
    "LARGEST_INDEX",
    "LARGEST_THRESHOLD",
    "LEFT_OUT_EQUATIONS",
    "LEFT_OUT_PARTS",
    "LEFT_OUT_SECONDS",
    "MOST_BOXES",
    "ORDERS_LOOKED_AT",
    "ORDERS_TRIED",
    "POINTS",
    "POINTS_BESIDE_PROOFS",
    "POINTS_ENOUGH",
    "POINTS_TOLD",
    "POLES",
    "REGION_POINTS",
    "REPEATED_DRAWS",
    "RESTARTS",
    "RESTATED_TERMS",
    "ROOT_STEPS",
    "ROWS_PER_PROCESS",
    "ROW_FILE_BYTES",
    "SCALED_INPUTS",
    "SECONDS_TO_START",
    "SEED_STEPS",
    "SHORTENED_POINTS",
    "SIGNED_STEPS",
    "SIGNED_TERMS",
    "SIZED_ENTRIES",
    "SIZE_ROWS",
    "SWITCHES",
    "THRESHOLDS",
    "THRESHOLD_BITS",
    "THRESHOLD_EXPONENT",
    "WITNESS_STEPS",
]

FIRST_POINTS = 10
"""Points in the common domain that are asked for before a proof is looked for: what is false shows there."""

POINTS_BESIDE_PROOFS = 120
"""Points that are tried after a proof that leaves out thin sets."""

POINTS_TOLD = 16
"""Points that a sentence lists; how many others there are is said."""

DIAGNOSES_TOLD = 3
"""Mistakes that a printed verdict names."""

DIGITS_TOLD = 4_000
"""Characters of a number that is shown exactly."""

POINTS = 600
"""Points that are tried: at random, 600 would miss what is false at one point in a hundred once in 400 times."""

COMMON_POINTS = 240
"""Points in the common domain after which no more are tried."""

ENTRIES = 256
"""Entries of an array that are looked at one by one."""

CERTAIN_DIGITS = 12
"""Digits to which values agree that are not computed once more at once."""

POINTS_ENOUGH = 48
"""Points in the common domain after which some are tried at higher precisions."""

WITNESS_STEPS = 2000
"""Steps of a program whose witness is made moderate."""

COMPLEX_POINTS = 400
"""Points that are tried of claims about complex numbers, each of which takes longer."""

CASES = 64
"""Outcomes of comparisons that a proof has a case for."""

RESTARTS = 60
"""Times that a proof is begun again: with more generators, or with finer kernels."""

FIRST_GENERATORS = 16
"""Generators of the first field of a proof; there are twice as many where these do not do."""

RESTATED_TERMS = 12
"""Terms of a polynomial that may be restated by others."""

FACTORED_TERMS = 300
"""Terms of a polynomial that is factored; a longer one is only divided by what is known."""

FACTORED_DEGREE = 300
"""The degree of one that is."""

COMBINED_TERMS = 500
"""Terms over a common denominator, up to which combinations of all of a basis are looked for."""

COMBINED_WORK = 1_000_000
"""The same of those of a basis that can take part; and rows times the square of columns of an elimination."""

INEQUALITIES = 60
"""Inequalities, and monomials in them, among which a positive combination is looked for."""

FARKAS_DENOMINATOR = 1_000
"""The denominator of a coefficient of such a combination."""

AIM_STEPS = 12_000
"""Steps that are evaluated to aim at points where choices tie."""

SWITCHES = 24
"""Comparisons that are aimed at."""

COORDINATES = 8
"""Inputs that are moved to do so."""

BRACKETS = 4
"""Changes of sign of one input that are followed."""

POLES = 2
"""Poles beside which a root is looked for."""

SIZE_ROWS = 40
"""Combinations of sizes that are tried."""

SIZED_ENTRIES = 20_000
"""Entries of all arrays of a program with sizes that are tried, but for the first ones."""

MOST_BOXES = 64
"""Boxes, by the numbers that variables are compared with, in each of which a point is tried."""

REPEATED_DRAWS = 200
"""Draws of points that were there before, after which there are no others."""

SEED_STEPS = 4000
"""Steps that are read for the seed, and for thresholds."""

ROOT_STEPS = 60
"""Steps of a search for a root: a double is halved as often as it has bits."""

THRESHOLDS = 12
"""Thresholds of a program that points are put beside."""

LARGEST_THRESHOLD = 10**30
"""The largest one."""

THRESHOLD_BITS = 1_024
"""Bits of the denominator of one."""

THRESHOLD_EXPONENT = 64
"""The exponent of a number that is computed for one."""

LARGEST_INDEX = 6
"""Whole numbers that are tried, unless the style is to try large ones."""

SHORTENED_POINTS = 3
"""Witnesses with shorter numbers that are tried, to show the shortest."""

SCALED_INPUTS = 8
"""Inputs that are made larger or smaller in the same way."""

SIGNED_STEPS = 80
"""Steps of a case whose sign is looked for."""

SIGNED_TERMS = 60
"""Terms of a polynomial whose sign is."""

CHANCE_POINTS = 4
"""Points, in a field of 2**61 - 1 elements, at which an identity that is said to hold by chance was seen to."""

ROWS_PER_PROCESS = 200
"""Rows that one process decides: tables of interned nodes and caches grow, and a fresh process forgets them."""

SECONDS_TO_START = 120.0
"""Seconds that a process may take to start."""

ROW_FILE_BYTES = 2**30
"""Bytes of a file of rows."""

DEFINEDNESS_POINTS = 80
"""Points at which it is tried on which side a condition fails."""

CONDITIONS_TOLD = 40
"""Conditions of one side alone that are looked at."""

CONDITION_PARTS = 24
"""Parts of a condition that is told."""

CONDITION_LENGTH = 80
"""Characters of one."""

LEFT_OUT_PARTS = 100
"""Parts of a claim that are compared with the conditions that a proof leaves out."""

LEFT_OUT_EQUATIONS = 100
"""Equations of a part that stands for such a condition."""

LEFT_OUT_SECONDS = 1.0
"""Seconds that this may take; what is not found until then is said as the proof has it."""

REGION_POINTS = 120
"""Points that are tried to say in which parts of the domain a claim holds."""

ORDERS_TRIED = 4
"""Orders that are tried of programs that are not known to be the same function: by then all of our cases were apart."""

ORDERS_LOOKED_AT = 12
"""Orders among which one is looked for at which programs part that are known to part at some order."""
