"""Limits of the search for points and for proofs, of batches, and of reports.

They bound the time of a search, and the length of texts. A number without a comment was not tuned.
"""

from __future__ import annotations

FIRST_POINTS = 10
"""Points in the common domain that are tried before a proof is searched for: most false claims fail there."""

POINTS_BESIDE_PROOFS = 120
"""Points that are tried after a proof that excludes thin sets."""

POINTS_TOLD = 16
"""Number of points that a sentence lists; it gives only the number of the others."""

DIAGNOSES_TOLD = 3
"""Mistakes that a printed verdict names."""

DIGITS_TOLD = 4_000
"""Characters of a number that is shown exactly."""

POINTS = 600
"""Number of points that are tried: 600 random points miss, once in 400 times, what is false at one point in a
hundred."""

COMMON_POINTS = 240
"""Points in the common domain after which the search stops."""

ENTRIES = 256
"""Entries of an array that are compared one by one."""

CERTAIN_DIGITS = 12
"""Digits of agreement that need no second evaluation at once."""

POINTS_ENOUGH = 48
"""Points in the common domain after which some are evaluated at higher precision."""

WITNESS_STEPS = 2000
"""Steps of a program whose witness is simplified."""

COMPLEX_POINTS = 400
"""Number of points that are tried for claims about complex numbers, which take longer for each point."""

CASES = 64
"""Cases of a proof, by the outcomes of comparisons."""

RESTARTS = 60
"""Restarts of a proof: with more generators, or with finer generators."""

FIRST_GENERATORS = 16
"""Generators of the first field of a proof; every retry doubles them."""

RESTATED_TERMS = 12
"""Terms of a polynomial that may be rewritten by others."""

FACTORED_TERMS = 300
"""Terms of a polynomial that is factored; a longer one is only divided by known factors."""

FACTORED_DEGREE = 300
"""Degree of a polynomial that is factored."""

COMBINED_TERMS = 500
"""Terms over a common denominator up to which combinations of a whole basis are searched for."""

COMBINED_WORK = 1_000_000
"""The same for the elements that can take part; also the number of rows times the square of the number of columns in an
elimination."""

INEQUALITIES = 60
"""Inequalities, and monomials in them, up to which a positive combination is searched for."""

FARKAS_DENOMINATOR = 1_000
"""Denominator of a coefficient of such a combination."""

AIM_STEPS = 12_000
"""Steps up to which the search moves points to ties between choices."""

SWITCHES = 24
"""Comparisons whose ties are searched for."""

COORDINATES = 8
"""Inputs that are moved to reach a tie."""

BRACKETS = 4
"""Sign changes along one input that are bisected."""

POLES = 2
"""Poles next to which a root is searched for."""

SIZE_ROWS = 40
"""Combinations of sizes that are tried."""

SIZED_ENTRIES = 20_000
"""Entries of all arrays of a program at one combination of sizes, except for the first few."""

MOST_BOXES = 64
"""Boxes, bounded by the constants that variables are compared with, in each of which a point is tried."""

REPEATED_DRAWS = 200
"""Repeated draws of known points after which the sampler stops."""

SEED_STEPS = 4000
"""Steps that are read for the seed and for thresholds."""

ROOT_STEPS = 60
"""Bisection steps of a search for a root: as many as a double has bits."""

THRESHOLDS = 12
"""Thresholds of a program for which points are drawn on both sides."""

LARGEST_THRESHOLD = 10**30
"""The largest of these thresholds."""

THRESHOLD_BITS = 1_024
"""Bits of the denominator of a threshold."""

THRESHOLD_EXPONENT = 64
"""Largest exponent in the computation of a threshold."""

LARGEST_INDEX = 6
"""Largest integer that is tried, unless the style asks for large ones."""

SHORTENED_POINTS = 3
"""Witnesses with shorter numbers that are tried."""

SCALED_INPUTS = 8
"""Inputs that are scaled together."""

SIGNED_STEPS = 80
"""Steps of a case whose sign is determined."""

SIGNED_TERMS = 60
"""Terms of a polynomial whose sign is determined."""

CHANCE_POINTS = 4
"""Points in GF(2**61 - 1) at which a polynomial identity is tested."""

ROWS_PER_PROCESS = 200
"""Rows that one process decides: interned nodes and caches grow, and a fresh process starts without them."""

SECONDS_TO_START = 120.0
"""Seconds that a process may take to start."""

ROW_FILE_BYTES = 2**30
"""Largest file of rows, in bytes."""

DEFINEDNESS_POINTS = 80
"""Points at which both sides are tested for definedness."""

CONDITIONS_TOLD = 40
"""Conditions of only one side that are tested."""

CONDITION_PARTS = 24
"""Nodes of a condition that is reported."""

CONDITION_LENGTH = 80
"""Characters of a condition that is reported."""

LEFT_OUT_PARTS = 100
"""Parts of a claim that are compared with the conditions that a proof excludes."""

LEFT_OUT_EQUATIONS = 100
"""Equations of a part that describes such a condition."""

LEFT_OUT_SECONDS = 1.0
"""Seconds for the description; a condition that has none by then is printed as the proof writes it."""

REGION_POINTS = 120
"""Points that are tried to divide the domain into regions."""

ORDERS_TRIED = 4
"""Orders of derivatives that are compared if the functions may differ: all known cases differ by then."""

ORDERS_LOOKED_AT = 12
"""Orders up to which the first differing derivative is searched for."""

PAIRED_WAYS = 200
"""Ways to pair the tangents of a recurrence with adjoints, in a proof by summation by parts."""
