"""How far mistakes are looked for; a number with no reason beside it was not tuned."""

from __future__ import annotations

__all__ = [
    "AGREE",
    "CONFIRMED",
    "DIRECTIONS",
    "DRAWS",
    "EDITS",
    "ENTRIES",
    "HUMAN",
    "LANES",
    "LONG",
    "MOST_LANES",
    "NAMED",
    "NESTED",
    "NODES",
    "PAIRS",
    "PAIRS_FOUND",
    "PARTIAL_SITES",
    "PASSED",
    "ROUNDED",
    "SECONDS",
    "SHOWN",
    "SIMPLE",
    "SIZES",
    "SQUARE",
    "TELLING",
    "TERMS",
    "TEXT",
]

SECONDS = 1.5
"""Seconds for one claim, all together."""

LANES = 32
"""Points at which formulas of numbers are compared."""

DRAWS = 256
"""Points from which these are taken."""

SIZES = (5, 3, 7, 4, 6, 9)
"""Lengths of axes: those of rows first, so that X.T@X is regular; none is 2."""

SQUARE = 3
"""The length of all axes, where a claim has no value unless they are alike."""

ENTRIES = 5_000
"""Entries of an array at a point."""

DIRECTIONS = 64
"""Entries of an array by which is differentiated."""

NODES = 600
"""Equations of a program."""

EDITS = 1000
"""Changes of a claim, or of the right derivative, that are tried."""

PAIRS = 400
"""Mistakes of which two may have been made."""

PARTIAL_SITES = 400
"""Equations that are looked at again, for each of their readers."""

CONFIRMED = 6
"""Diagnoses that are looked at exactly."""

SHOWN = 5
"""Diagnoses that are told."""

NAMED = 30
"""Characters of a formula that is called by its name instead, if it has one."""

TEXT = 60
"""Characters of a part of a formula in a message."""

AGREE = 1e-7
"""Relative distance of values that count as equal."""

PAIRS_FOUND = 3
"""Ways in which two mistakes together give a claim."""

SIMPLE = 1000
"""The largest denominator of a number that is told as a fraction."""

LONG = 20
"""The denominator beyond which a fraction is told as a decimal, if it is a short one."""

ROUNDED = 1e-4
"""Relative distance up to which a number in a claim may be rounded."""

PASSED = 3
"""Functions that are passed by at once by who forgets their derivatives."""

TELLING = 4
"""Values of a formula of numbers that are to be other than zero, beside the largest: fewer tell no factor."""

MOST_LANES = 0.9
"""Of the points at which formulas of numbers are compared, the part at which they are to agree."""

TERMS = 32
"""Terms of a formula that is multiplied out to find a slip in one of them."""

HUMAN = 31
"""The rank up to which a mistake is told as a second one, made inside of a first."""

NESTED = 60
"""Mistakes inside of which a second one is looked for."""
