"""Limits of the search for mistakes. A number without a comment was not tuned."""

from __future__ import annotations

SECONDS = 1.5
"""Seconds for one claim in all."""

LANES = 32
"""Points at which scalar formulas are compared."""

DRAWS = 256
"""Points from which these are selected."""

SIZES = (5, 3, 7, 4, 6, 9)
"""Lengths of axes: those of rows come first, so that X.T@X is regular; none is 2."""

OTHER_SIZES = 3
"""Numbers of a claim beside which further lengths are tried."""

LARGEST_SIZE = 40
"""Numbers of a claim up to which that is done."""

SQUARE = 3
"""The length of all axes, for a claim that is defined only for equal lengths."""

ENTRIES = 5_000
"""Entries of an array at a point."""

DIRECTIONS = 64
"""Entries of the variable, if it is an array."""

NODES = 600
"""Equations of a program."""

EDITS = 1000
"""Edits of a claim, or of the right derivative, that are tried."""

PAIRS = 400
"""Mistakes that are tried in pairs."""

PARTIAL_SITES = 400
"""Equations that are visited again for only one of the equations that read them."""

CONFIRMED = 6
"""Diagnoses that are tested at exact points."""

SHOWN = 5
"""Diagnoses that are reported."""

NAMED = 30
"""Characters of a formula that is replaced by its name, if it has one."""

TEXT = 60
"""Characters of a quoted part of a formula."""

AGREE = 1e-7
"""Relative distance of values that count as equal."""

PAIRS_FOUND = 3
"""Pairs of mistakes that explain a claim."""

SIMPLE = 1000
"""Largest denominator of a number that is written as a fraction."""

LONG = 20
"""Denominator beyond which a number is written as a short decimal, if it is one."""

ROUNDED = 1e-4
"""Relative distance up to which a number in a claim may be rounded."""

PASSED = 3
"""Nested functions whose derivatives are forgotten at once."""

TELLING = 4
"""Nonzero values of a scalar formula from which a factor is inferred: fewer would fit any factor."""

MOST_LANES = 0.9
"""Fraction of the points at which scalar formulas must agree."""

TERMS = 32
"""Terms of a formula that is multiplied out to find a slip in one of them."""

HUMAN = 31
"""Largest rank of a second mistake that is made inside a first one."""

NESTED = 60
"""Mistakes inside which a second one is searched for."""
