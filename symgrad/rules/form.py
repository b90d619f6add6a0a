"""The form of a product: a number, and bases with their exponents."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, TypeAlias

from symgrad.ir.exact import MADE, is_longer
from symgrad.ir.graph import Node, constant

__all__ = ["HALF", "E", "Exponent", "Form", "is_long", "short"]

Exponent: TypeAlias = "int | Fraction"

HALF = Fraction(1, 2)
E = constant("E")


class Form(NamedTuple):
    """A product: coefficient, rational powers, symbolic powers (base to exponent)."""

    coefficient: Exponent
    factors: dict[Node, Exponent]
    powers: dict[Node, Node]


def short(value: Exponent) -> Exponent:
    """Return an integer as an int."""
    return value.numerator if value.denominator == 1 else value


def is_long(value: Exponent) -> bool:
    """Tell whether an exact number is too long to be written in place of what it was computed from."""
    return is_longer(value, MADE)
