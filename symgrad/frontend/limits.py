"""Limits of the length and the nesting of programs, which bound the time of parsing.

A number without a reason was not tuned.
"""

from __future__ import annotations

__all__ = [
    "BODY_TOKENS",
    "NESTING",
    "CALL_DEPTH",
    "QUOTED_CHARACTERS",
    "SPELLING_CHARACTERS",
    "TEXT_CHARACTERS",
]

CALL_DEPTH = 50
"""Calls of functions of a program inside calls: each is read by the parser inside the other, on Python's stack."""

BODY_TOKENS = 2**17
"""Tokens of all bodies that one program reads: functions that call others twice grow like powers of two."""

QUOTED_CHARACTERS = 40
"""Characters of a part of a program that a message quotes."""

TEXT_CHARACTERS = 2**26
"""Characters of a program: a guard against a file that is none."""

SPELLING_CHARACTERS = 60
"""Characters that are searched for the end of a construct of another notation."""

NESTING = 1_000
"""Open brackets, or powers of powers, signs and `not`, at one place: more than anybody writes, few enough to print."""
