"""Parse numbers of a command line or a table, and quote their texts in messages."""

from __future__ import annotations

import math
import re

from symgrad.support.errors import NumberTooLargeError

_DIGITS = "[0-9](?:_?[0-9])*"
_NUMBER = re.compile(
    rf"[+-]?(?:(?P<whole>{_DIGITS})|(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?|(?i:inf|infinity|nan))"
)
_LONG = 60  # characters of a value in a message


def read_number(text: str) -> bool | int | float:
    """Parse a number; integers keep all their digits, since they may be positions in arrays.

    Raises:
        ValueError: if the text is no number.
        NumberTooLargeError: if it is too large for a float.
    """
    text = text.strip()
    if text in ("True", "False"):
        return text == "True"
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(text)
    if found["whole"] and len(text) < 40 and -(2**63) <= int(text) < 2**63:
        return int(text)
    value = float(text)
    if math.isinf(value) and "n" not in text.lower():
        raise NumberTooLargeError(
            f"{quoted(text)} is too large for a float",
            expected="numbers up to 1.8e308, or inf",
        )
    return value


def quoted(text: str) -> str:
    """Return a text in quotes, truncated if it is long."""
    return f"'{text}'" if len(text) <= _LONG else f"'{text[:_LONG]}...' ({len(text):,} characters)"
