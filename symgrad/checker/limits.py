"""Limits of the checker: of exact arithmetic, of evaluation at points, and of files.

The search for proofs uses the same limits, so that the checker can replay every proof that the search finds. The limits
bound the running time; a number without a comment was not tuned.
"""

from __future__ import annotations

NUMBER_CHARACTERS = 100_000
"""Characters of a number in a file: in a statement, a point, or an answer of the oracle."""

COEFFICIENT_BITS = 200_000
"""Bits of a coefficient of a polynomial: repeated products may double them each time."""

POWER_BITS = 20_000
"""Bits of a power of a number that is computed; a longer one becomes an opaque generator."""

FORM_COEFFICIENT_BITS = 20_000
"""Bits of a coefficient in the index form, whose arithmetic is Python's, and slower."""

FORM_TERMS = 100_000
"""The number of terms that are made in the index form of a proof."""

EXPANDED_EXPONENT = 64
"""The largest exponent of a power that is expanded."""

POLYNOMIAL_DEGREE = 1_000_000
"""The degree of a polynomial: nested powers of one variable have one term, but cannot be evaluated."""

PRODUCT_TERMS = 4_000_000
"""Products of terms in one multiplication of polynomials."""

FUNCTION_ORDER = 200
"""The order of polygamma, zeta, polylog and other functions, at a point or in a recurrence."""

FACTORED_BITS = 128
"""Bits of a number that is factored; the time grows with its second largest prime factor."""

EXACT_BITS = 2_048
"""Bits of an exact rational value at a point; a longer one becomes a ball."""


UNBATCHED_PRODUCTS = 4096
"""Products of a contraction that are computed entry by entry; a larger one uses matrix products."""

CONTRACTION_PRODUCTS = 10**9
"""Products of a contraction at a point: beyond, a value is unknown."""

BESSEL_ORDER = 10**6
"""The order of a Bessel function, with which the time grows."""

ARRAY_ENTRIES = 200_000
"""Entries of the largest array that is evaluated at a point: beyond, a value is unknown."""

EXACT_FACTORIAL = 170
"""The largest factorial that is exact: the last one that a double holds."""

ELIMINATED_ROWS = 12
"""Rows of a matrix up to which elimination works entry by entry."""

BALL_ROOT_ORDER = 64
"""The denominator of a rational exponent up to which an exact root is tried."""

SPECIAL_TERMS = 200
"""Terms of a finite sum for a special function."""

ELLIPTIC_ANGLE = 2**20
"""The angle of an elliptic integral, with which the time grows."""

CHECK_SECONDS = 120.0
"""The default time limit of a check, in seconds."""

REASON_CHARACTERS = 300
"""Characters of a printed reason."""

LOG_ARGUMENT_TERMS = 12
"""Terms of an argument of a logarithm that is split into a sum of logarithms."""

UNITY_ROOT_ORDER = 240
"""The order of the root of unity in a complex extension field."""

COMPLEX_ROOT_ORDER = 200
"""The order of a root that becomes a generator of a complex extension field."""

COMPLEX_GENERATORS = 1024
"""Generators of a complex extension field."""

COMPLEX_SAMPLES = 8
"""Sample points at which the checker compares two complex sides."""

COMPLEX_EXPONENT = 10**9
"""An integer exponent at a complex point: beyond, the value is unknown."""

POINT_DIGITS = 110
"""Digits of the values at a witness: if two values agree that far, their difference is printed."""

GENERATORS = 4096
"""Generators of an extension field: every term of a polynomial has an exponent for each."""

CONSTANT_TERMS = 100
"""Terms of a constant polynomial whose sign is computed in balls."""

GENERATOR_CHARACTERS = 2_000
"""Characters of the text of a generator, which contains the texts of its operands."""

LONG_COEFFICIENT_BITS = 512
"""The number of bits of a coefficient beyond which a product costs more of the budget."""

DENOMINATOR_TERMS = 12
"""Terms of a denominator that is tried as a divisor of a large numerator."""

REWRITTEN_DEGREE = 1_000
"""The degree of a factor that the oracle rewrites."""

GAMMA_SHIFTS = 24
"""The distance between arguments of gamma functions that a recurrence connects."""

ORDER_SHIFTS = 24
"""The distance between orders of Bessel functions and others that a recurrence connects."""

POWERS_PER_BASE = 1_000
"""The number of symbolic powers |h|**m of one base h.

The place of a power is the place of its base times this number, plus its own place.
"""

FREE_SIGNS = 6
"""The number of undecided signs of a case: the case is split into one part for each choice of all signs."""

ROOT_ORDER = 1_000
"""The order of a root that becomes a generator."""

DIVIDED_DEGREE = 24
"""The degree of an exponent's numerator that is divided by its denominator."""

ZERO_SIGNS = 6
"""Signs over which a polynomial is split to bound its zero set."""

FILE_BYTES = 32 * 2**20
"""Bytes of a file."""

FILE_VALUES = 2_000_000
"""Values in a file."""

JSON_DIGITS = 100
"""Digits of a JSON number; a longer one is a string."""

FILE_DEPTH = 70
"""Levels of nesting: more than an array may have axes."""

VALUE_CHARACTERS = 60
"""Characters of a value in a message."""

LINE_CHARACTERS = 70
"""Characters of an expression; a longer one gets a name in the printed statement."""

NAME_LETTERS = 1000
"""Characters of a name."""

LENGTH_TERMS = 200
"""Terms of the polynomial of an axis length."""

LENGTH_FACTORS = 8
"""Names in a product that is expanded in n - 1 to prove that it is not negative."""

TEXT_DEPTH = 80
"""The nesting of steps in the text of a condition, and the number of its characters."""

SAMPLES = 6
"""Sample points at which the checker compares the two sides of a proved claim."""

SAMPLE_SECONDS = 5.0
"""Seconds of these comparisons."""

SAMPLE_ENTRIES = 20_000
"""Entries of the variables of a point that the checker chooses: with more, it chooses none."""

ENTRY_STEPS = 20_000
"""Steps of the formulas of all entries of arrays whose lengths are numbers, and of recurrences with them."""

SUM_ENDS = 3
"""The most terms that a sum over the steps of a recurrence may have beside those of the steps."""
