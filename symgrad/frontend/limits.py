"""Limits of the length and the nesting of programs, which bound the time of parsing.

A number without a comment was not tuned.
"""

from __future__ import annotations

CALL_DEPTH = 50
"""The nesting of calls of a program's functions: each call is read by a parser inside the parser of the other, on
Python's stack."""

BODY_TOKENS = 2**17
"""The number of tokens of all bodies that one program reads: functions that call others twice grow like powers of
two."""

FIRST_SHAPES = 300
"""The number of choices of shapes for the first values of a recurrence, where the text does not say them."""

QUOTED_CHARACTERS = 40
"""Characters of a part of a program that a message quotes."""

TEXT_CHARACTERS = 2**26
"""The number of characters of a program: this protects against files that are not programs."""

SPELLING_CHARACTERS = 60
"""The number of characters in which the end of a construct of another notation is searched for."""

DERIVATIVE_ORDER = 20
"""The highest order of a derivative in a program, since each order may double the formula."""

NESTING = 1_000
"""The number of open brackets, or of nested powers, signs and `not`, at one place: more than anybody writes, but few
enough to print."""
