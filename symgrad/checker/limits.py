"""What the checker computes, and how much of it: limits of exact arithmetic, of values at points, and of files.

Whoever looks for a proof computes with the same ones: what it finds, the checker can replay. They guard against
waiting; a number with no reason beside it was not tuned.
"""

from __future__ import annotations

__all__ = [
    "BALL_ROOT_ORDER",
    "BESSEL_ORDER",
    "LOG_ARGUMENT_TERMS",
    "CHECK_SECONDS",
    "COMPLEX_GENERATORS",
    "COMPLEX_EXPONENT",
    "COMPLEX_ROOT_ORDER",
    "CONSTANT_TERMS",
    "CONTRACTION_PRODUCTS",
    "DENOMINATOR_TERMS",
    "DIVIDED_DEGREE",
    "ELIMINATED_ROWS",
    "ELLIPTIC_ANGLE",
    "ARRAY_ENTRIES",
    "EXACT_FACTORIAL",
    "FILE_BYTES",
    "FILE_DEPTH",
    "FILE_VALUES",
    "FREE_SIGNS",
    "GAMMA_SHIFTS",
    "GENERATORS",
    "JSON_DIGITS",
    "ROOT_ORDER",
    "LENGTH_FACTORS",
    "LENGTH_TERMS",
    "LINE_CHARACTERS",
    "LONG_COEFFICIENT_BITS",
    "GENERATOR_CHARACTERS",
    "NAME_LETTERS",
    "ORDER_SHIFTS",
    "COMPLEX_SAMPLES",
    "POINT_DIGITS",
    "POWERS_PER_BASE",
    "UNBATCHED_PRODUCTS",
    "REASON_CHARACTERS",
    "REWRITTEN_DEGREE",
    "SPECIAL_TERMS",
    "SAMPLES",
    "SAMPLE_SECONDS",
    "TEXT_DEPTH",
    "UNITY_ROOT_ORDER",
    "VALUE_CHARACTERS",
    "ZERO_SIGNS",
    "NUMBER_CHARACTERS",
    "POLYNOMIAL_DEGREE",
    "EXACT_BITS",
    "EXPANDED_EXPONENT",
    "COEFFICIENT_BITS",
    "FUNCTION_ORDER",
    "POWER_BITS",
    "FACTORED_BITS",
    "FORM_COEFFICIENT_BITS",
]

NUMBER_CHARACTERS = 100_000
"""Characters of a number in a file: of a statement, of a point, of an answer that guided the proof."""

COEFFICIENT_BITS = 200_000
"""Bits of a coefficient of a polynomial: products of numbers may double them, again and again."""

POWER_BITS = 20_000
"""Bits of a power of a number that is computed; a longer one is a kernel of which nothing is known."""

FORM_COEFFICIENT_BITS = 20_000
"""Bits of a coefficient in the normal form of arrays, whose arithmetic is Python's, and slower."""

EXPANDED_EXPONENT = 64
"""The exponent of a power that is multiplied out."""

POLYNOMIAL_DEGREE = 1_000_000
"""The degree of a polynomial: powers of powers of one variable cost nothing by their terms, but cannot be evaluated."""

FUNCTION_ORDER = 200
"""The order of a function that is computed at a point, or by a recurrence: of polygamma, zeta, polylog and others."""

FACTORED_BITS = 128
"""Bits of a number whose prime factors are computed; the time grows with the second largest of them."""

EXACT_BITS = 2_048
"""Bits of a value at a point that is kept as a rational number; a longer one becomes a ball."""


UNBATCHED_PRODUCTS = 4096
"""Products of a contraction that are formed one by one."""

CONTRACTION_PRODUCTS = 10**9
"""Products of a contraction at a point: beyond, a value is unknown."""

BESSEL_ORDER = 10**6
"""Orders of Bessel functions: the time grows with it."""

ARRAY_ENTRIES = 200_000
"""Entries of the largest array that is evaluated at a point: beyond, a value is unknown."""

EXACT_FACTORIAL = 170
"""The largest factorial that is exact: the last one that a double holds."""

ELIMINATED_ROWS = 12
"""Rows of a matrix that is eliminated entry by entry."""

BALL_ROOT_ORDER = 64
"""The denominator of an exponent for which a power of a ball is a root."""

SPECIAL_TERMS = 200
"""Terms of a special function that is a sum."""

ELLIPTIC_ANGLE = 2**20
"""The angle of an elliptic integral, whose time grows with it."""

CHECK_SECONDS = 120.0
"""Seconds that a check takes, whatever the file asks for, if nothing else is said."""

REASON_CHARACTERS = 300
"""Characters of a reason that is printed."""

LOG_ARGUMENT_TERMS = 12
"""Terms of the argument of a logarithm that is taken apart."""

UNITY_ROOT_ORDER = 240
"""The highest order of a root of unity."""

COMPLEX_ROOT_ORDER = 200
"""The highest root that is a kernel."""

COMPLEX_GENERATORS = 1024
"""Generators of the field of a proof about complex numbers."""

COMPLEX_SAMPLES = 8
"""Points that the checker tries by itself."""

COMPLEX_EXPONENT = 10**9
"""Whole exponents at a complex point: beyond, a value is unknown."""

POINT_DIGITS = 110
"""Digits that values at a point are compared to: two that agree so far are not told apart."""

GENERATORS = 4096
"""Generators of the field of a proof: each polynomial has an exponent for every one."""

CONSTANT_TERMS = 100
"""Terms of a constant whose value is computed."""

GENERATOR_CHARACTERS = 2_000
"""Characters of the text of a kernel; texts are made of texts of what they are functions of."""

LONG_COEFFICIENT_BITS = 512
"""Bits of a coefficient, beyond which products count for more."""

DENOMINATOR_TERMS = 12
"""Terms of a denominator that is tried as a factor of a large numerator."""

REWRITTEN_DEGREE = 1_000
"""The degree of a factor that is written in other words."""

GAMMA_SHIFTS = 24
"""How far apart the arguments of gamma functions may be that are expressed by each other."""

ORDER_SHIFTS = 24
"""The same of orders of Bessel functions and polynomials."""

POWERS_PER_BASE = 1_000
"""Places of power kernels of one polynomial."""

FREE_SIGNS = 6
"""Signs that a case leaves open: it has a part for each choice of all of them."""

ROOT_ORDER = 1_000
"""The highest root that is a kernel."""

DIVIDED_DEGREE = 24
"""The degree of a numerator that is divided when a kernel is made."""

ZERO_SIGNS = 6
"""Signs that a zero is looked for with."""

FILE_BYTES = 32 * 2**20
"""Bytes of a file."""

FILE_VALUES = 2_000_000
"""Values in it."""

JSON_DIGITS = 100
"""Digits of a number that is no text."""

FILE_DEPTH = 70
"""Levels of nesting: more than an array may have axes."""

VALUE_CHARACTERS = 60
"""Characters of a value in a message."""

LINE_CHARACTERS = 70
"""Characters of a text that gets a line and a name of its own."""

NAME_LETTERS = 1000
"""Letters of a name."""

LENGTH_TERMS = 200
"""Terms of the length of an axis."""

LENGTH_FACTORS = 8
"""Factors of a product in which names are written by what they exceed one by."""

TEXT_DEPTH = 80
"""Steps inside one another in a text."""

SAMPLES = 6
"""Points at which the checker looks whether what is proved is false after all."""

SAMPLE_SECONDS = 5.0
"""Seconds that this may take."""
