"""Multiply powers: equal bases add their exponents, and notes record where the domain grows."""

from __future__ import annotations

from fractions import Fraction

from symgrad.ir.exact import FOLDED, fits, power
from symgrad.ir.graph import Node, number
from symgrad.ops.scalar.arith import add, mul, neg, pow
from symgrad.ops.scalar.elementary import sqrt
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.normal_form.form import HALF, E, Exponent, Form, short
from symgrad.rewrite.normal_form.primes import prime_powers
from symgrad.rewrite.trace import ZERO, Note, Soundness

MORE = "also defined for some more values of {}"
NEGATIVE = "also defined for {} < 0"


class Factors:
    """The factors of one product, and the points that the domain gains by their multiplication.

    Args:
        known: facts about nodes.

    Attributes:
        coefficient, factors, powers: the product so far, as in a `Form`; an exponent may be zero.
        laws: names of the laws that were used.
        notes: where the domain of the product is larger than the domain of its factors.
        fired: whether a law included nodes that have no normal form yet.
        stays: whether the product stays unchanged: it divides by the number zero, or a number grew too long.
    """

    def __init__(self, known: Conditions) -> None:
        self._known = known
        self.coefficient: Exponent = 1
        self.factors: dict[Node, Exponent] = {}
        self.powers: dict[Node, Node] = {}
        self.laws: dict[str, None] = {}
        self.notes: dict[Note, None] = {}
        self.fired = False
        self.stays = False
        # Whether the current factor is in a denominator (possibly of a denominator), and so is not zero.
        self._below = False
        self._inverse: set[Node] = set()
        self._fractional: set[Node] = set()

    def form(self) -> Form:
        """Return the form of the product so far."""
        return Form(self.coefficient, self.factors, self.powers)

    def include(self, base: Node, e: Exponent) -> None:
        """Multiply by base**e; the base is not a product."""
        if base.is_number():
            self._include_number(base.value, e)
            return
        if base in self.factors:
            self.laws["product-of-exponentials" if base is E else "product-of-powers"] = None
        self._raise(base, e)
        if e < 0 or self._below:
            self._inverse.add(base)
        if e.denominator != 1:
            self._fractional.add(base)

    def _include_power(self, base: Node, exponent: Node, e: Exponent) -> None:
        """Multiply by base**(e*exponent)."""
        if base is E:
            if e != 1:
                self.laws["power-of-an-exponential"] = None
            if E in self.factors or E in self.powers:
                self.laws["product-of-exponentials"] = None
            if exponent.is_number():
                self._raise(E, short(Fraction(exponent.value) * e))
                return
        if not fits(e):
            self.stays = True
            return
        if base is not E and (e < 0 or self._below) and self._known.positive(base) != "yes":
            if e < 0:
                # The forms differ at x = 0: 1/x**a is undefined for every nonzero a, but x**(-a) only for a > 0.
                self.include(pow(base, exponent), e)
                return
            self.notes[Note(MORE, base)] = None
        if e != 1:
            exponent = neg(exponent) if e == -1 else mul(number(e), exponent)
            self.fired = True
        old = self.powers.get(base)
        if old is not None:
            exponent = add(old, exponent)
            self.fired = True
            if base is not E:
                self.laws["product-of-powers"] = None
                if self._known.positive(base) != "yes":
                    self.notes[Note(MORE, base)] = None
        self.powers[base] = exponent

    def _include_number(self, value: Exponent, e: Exponent) -> None:
        if value == 1 or (e == 1 and not self._below):
            self._scale(value)
            return
        if value == 0 and (e < 0 or self._below):
            self.stays = True
            return
        if e.denominator == 1:
            folded = power(value, e.numerator, FOLDED)
            if folded is None:
                self._raise(number(value), e)
            else:
                self._scale(folded)
            return
        if value < 0:
            # A root of a negative number is undefined everywhere, so it stays.
            root = pow(number(value), number(abs(e))) if abs(e) != HALF else sqrt(number(value))
            self.factors[root] = self.factors.get(root, 0) + (1 if e > 0 else -1)
            return
        self.laws["root-of-a-number"] = None
        for prime, count in prime_powers(Fraction(value)):
            total = Fraction(self.factors.pop(number(prime), 0)) + e * count
            whole = total.__floor__()
            folded = power(prime, whole, FOLDED)
            if folded is not None:
                self._scale(folded)
                total -= whole
            if total:
                self._raise(number(prime), short(total))

    def _scale(self, by: Exponent) -> None:
        """Multiply the coefficient."""
        scaled = self.coefficient * by
        self.stays = self.stays or not fits(scaled)
        self.coefficient = short(scaled) if not self.stays else 1

    def _raise(self, base: Node, e: Exponent) -> None:
        """Add to the exponent of a base."""
        exponent = self.factors.get(base, 0) + e
        self.stays = self.stays or not fits(exponent)
        self.factors[base] = short(exponent) if not self.stays else 1

    def divide(self, base: Node, e: Exponent) -> None:
        """Divide by a power that a rule replaces."""
        present = self.factors.pop(base)
        self._note_growth(base, present)
        left = short(present - e)
        if left != 0:
            self.factors[base] = left

    def _note_growth(self, base: Node, e: Exponent) -> None:
        """Record the points that a power gains if its base was in a denominator, or under a root."""
        if base in self._inverse and e >= 0 and not self._known.facts(base).nonzero:
            self.notes[Note(ZERO, base)] = None
        if base in self._fractional and e.denominator == 1 and not self._known.facts(base).nonnegative:
            self.notes[Note(NEGATIVE, base)] = None

    @property
    def soundness(self) -> Soundness:
        return "widens" if self.notes else "exact"
