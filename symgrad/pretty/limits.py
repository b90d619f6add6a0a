"""Limits of the length of printed results, and of the search for short forms.

They bound the time and the size of texts; a number without a comment was not tuned.
"""

from __future__ import annotations

SAVED_CHARACTERS = 30
"""Characters that a name for a common subexpression of a backward pass must save."""

GRADIENT_CHARACTERS = 300
"""Characters of a gradient for which a short form is sought."""

LINE_CHARACTERS = 78
"""Characters of a line that is readable at a glance."""

UNNAMED_CHARACTERS = 12
"""Characters of a derivative that is inlined instead of named."""

CONDITIONS = 40
"""Conditions of a formula that are compared."""

SHARED_CHARACTERS = 20
"""Characters from which on a common subexpression gets a name."""

EQUATIONS = 400
"""Equations of a program that is read by its names, and searched for calls."""

COMMON_TERMS = 8
"""Terms of a sum, and operands of a product, among which common ones are searched for."""

FOLDED_DIGITS = 3
"""Digits up to which a decimal is folded like any number: 0.5, 1e-5, 3.14."""

FOLDED_DENOMINATOR = 1_000
"""The denominator up to which a decimal is folded; `v + 1e-5` is not multiplied out."""

FOLDED_WHOLE_DIGITS = 6
"""Digits up to which an integer is folded."""

PRODUCT_DIGITS = 8
"""Digits of a number that may be multiplied out."""

QUOTIENT_TERMS = 24
"""Terms of a sum that may become one quotient."""

GROUPED_TERMS = 8
"""Terms of a sum that are grouped one by one, and by common factors of some of them."""

NAMES_READ = 3
"""Names that are inserted to find that a part is a number."""

READ_CHARACTERS = 200
"""Characters up to which an expression is also simplified with the bodies of its names."""

FORM_CHARACTERS = 600
"""Characters above which an expression is not simplified."""

MAX_ENTRIES = 64
"""Entries of an array that may be written one by one."""

RULES_APPLIED = 30
"""Lines of a derivation by hand; longer ones are shown as backward steps."""

STEP_CHARACTERS = 300
"""Characters of a step of a recurrence above which its common parts get short forms of their own."""

IN_STEPS = 5 / 4
"""How many times as long formulas of steps, and sums over them, may be as formulas with whole arrays."""
