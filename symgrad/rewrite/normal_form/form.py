"""The forms of products and sums.

A product is a coefficient, and bases with their exponents. A sum is a constant, and terms with their coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from symgrad.ir.exact import MADE, is_longer
from symgrad.ir.graph import Node, constant
from symgrad.ops.scalar.arith import add

Exponent: TypeAlias = "int | Fraction"

HALF = Fraction(1, 2)
E = constant("E")


class Form(NamedTuple):
    """A product: a coefficient, bases with rational exponents, and bases with symbolic exponents."""

    coefficient: Exponent
    factors: dict[Node, Exponent]
    powers: dict[Node, Node]


def odd_sums(form: Form) -> list[Node]:
    """Return the factors that are sums with odd exponents: a minus sign may enter one of them."""
    return [b for b, e in form.factors.items() if b.op is add and e.denominator == 1 and e.numerator % 2]


@dataclass(slots=True)
class Sum:
    """A sum: a constant, and monic terms with their coefficients."""

    constant: Exponent
    terms: dict[Node, Exponent]

    def __len__(self) -> int:
        return len(self.terms) + (self.constant != 0)

    def scaled(self, c: Exponent) -> Sum:
        if c == -1:
            return Sum(-self.constant, {t: -k for t, k in self.terms.items()})
        return Sum(short(self.constant * c), {t: short(k * c) for t, k in self.terms.items()})


def short(value: Exponent) -> Exponent:
    """Return an integer as an int."""
    return value.numerator if value.denominator == 1 else value


def is_long(value: Exponent) -> bool:
    """Tell whether an exact number is too long to replace the expression that computes it."""
    return is_longer(value, MADE)
