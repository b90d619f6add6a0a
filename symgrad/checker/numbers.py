"""Exact integers and rationals of python-flint, and their text in files."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, TypeAlias, cast

import flint as _flint

from symgrad.checker.limits import NUMBER_CHARACTERS

# python-flint has no type information.
flint = cast(Any, _flint)
fmpq, arb, acb, context = flint.fmpq, flint.arb, flint.acb, flint.ctx
Rational: TypeAlias = Any

NUMERAL = re.compile(r"-?[0-9]++(/[0-9]++)?")
"""A rational number as text."""


def rational(value: Any) -> Rational:
    """Convert a Fraction or an int to flint's rational."""
    return fmpq(value.numerator, value.denominator)


def number_to_json(value: Fraction | int) -> str:
    """Return a rational number as text of any length: Python refuses integers of more than 4,300 digits.

    Example:
        >>> number_to_json(Fraction(-1, 2)), len(number_to_json(10**5000))
        ('-1/2', 5001)
    """
    return str(rational(value))


def number_from_json(value: Any) -> Fraction:
    """Read a rational number: an int, or a text such as ``-1/2``.

    Exponents are refused, because they allow huge numbers.

    Raises:
        ValueError: if the text is not a rational number, or longer than `symgrad.checker.limits` allows.
    """
    if type(value) is int and value.bit_length() <= 3 * NUMBER_CHARACTERS:
        return Fraction(value)
    if isinstance(value, str) and len(value) <= NUMBER_CHARACTERS and NUMERAL.fullmatch(value):
        parts = [int(flint.fmpz(part)) for part in value.split("/")]
        return Fraction(*parts)
    raise ValueError(f"{value!r:.60} is no rational number")
