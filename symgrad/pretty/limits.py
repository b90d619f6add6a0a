"""How long printed results may be, and how long one looks for shorter ones.

They guard against waiting, and against texts that nobody reads; a number with no reason beside it was not tuned.
"""

from __future__ import annotations

__all__ = [
    "COMMON_TERMS",
    "CONDITIONS",
    "EQUATIONS",
    "FOLDED_DENOMINATOR",
    "FOLDED_DIGITS",
    "FOLDED_WHOLE_DIGITS",
    "FORM_CHARACTERS",
    "GRADIENT_CHARACTERS",
    "GROUPED_TERMS",
    "LINE_CHARACTERS",
    "NAMES_READ",
    "POLYNOMIAL_PARTS",
    "POLYNOMIAL_TERMS",
    "PRODUCT_DIGITS",
    "QUOTIENT_TERMS",
    "RATIONAL_EXPONENT",
    "READ_CHARACTERS",
    "RULES_APPLIED",
    "SAVED_CHARACTERS",
    "SHARED_CHARACTERS",
    "UNNAMED_CHARACTERS",
]

SAVED_CHARACTERS = 30
"""Characters that a name for what is written more than once in a backward pass has to save."""

GRADIENT_CHARACTERS = 300
"""Characters of a gradient that may become short."""

LINE_CHARACTERS = 78
"""Characters of a line that one takes in at a glance."""

UNNAMED_CHARACTERS = 12
"""Characters of a derivative that stands where it is read, without a name."""

CONDITIONS = 40
"""Conditions of a formula that are compared; beyond, they are taken as they stand."""

SHARED_CHARACTERS = 20
"""Characters of what is written twice from which on it has a name of its own."""

EQUATIONS = 400
"""Equations of a program that is read by its names, and in which calls are looked for."""

COMMON_TERMS = 8
"""Terms of a sum, and operands of a product, in which common ones are looked for."""

FOLDED_DIGITS = 3
"""Digits up to which a decimal is folded like any number: 0.5, 1e-5, 3.14."""

FOLDED_DENOMINATOR = 1_000
"""The denominator up to which it is: nobody multiplies `v + 1e-5` out."""

FOLDED_WHOLE_DIGITS = 6
"""The same digits of whole numbers."""

PRODUCT_DIGITS = 8
"""Digits that a number may have that is multiplied out."""

QUOTIENT_TERMS = 24
"""Terms up to which a sum is offered as one quotient."""

GROUPED_TERMS = 8
"""The same term by term, and with a part that some of them have in common."""

RATIONAL_EXPONENT = 12
"""Exponents of what is read as a quotient of polynomials."""

POLYNOMIAL_TERMS = 400
"""Terms that a polynomial may have."""

POLYNOMIAL_PARTS = 24
"""What it may be a polynomial of."""

NAMES_READ = 3
"""Names that are read to see that a part is a number."""

READ_CHARACTERS = 200
"""Characters up to which an expression is also looked at with what its names stand for."""

FORM_CHARACTERS = 600
"""Characters beyond which an expression is taken as it is."""

RULES_APPLIED = 30
"""Lines of a derivation by hand; a longer one is told by its steps backward."""
