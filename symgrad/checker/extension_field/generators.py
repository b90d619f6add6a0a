"""Generators of an extension field: their kinds, operands and bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from symgrad.checker.extension_field.field import Element, FractionField, GiveUp, Poly
from symgrad.checker.limits import FACTORED_BITS, POWERS_PER_BASE
from symgrad.checker.numbers import Rational, flint
from symgrad.checker.program.intervals import (
    UNBOUNDED,
    UNIT,
    RationalInterval,
    interval_power,
    interval_product,
)
from symgrad.support.traversal import walk


@dataclass(slots=True)
class PowerBase:
    """A base h, a polynomial or a prime number, with the generators log|h|, |h|**(1/q) and |h|**m."""

    value: Element
    sign: Element
    log: Element | None = None
    root: tuple[Element, int] | None = None
    powers: list[tuple[Element, Element]] = dataclasses.field(default_factory=list[tuple[Element, Element]])


@dataclass(slots=True)
class Generators:
    """The generators of a field.

    Args:
        field: fractions of polynomials in the generators.
    """

    field: FractionField
    atoms: list[PowerBase] = dataclasses.field(init=False, default_factory=list[PowerBase])
    exps: list[tuple[Element, Element]] = dataclasses.field(
        init=False, default_factory=list[tuple[Element, Element]]
    )
    """A and exp(A)."""
    angles: list[tuple[Element, Element]] = dataclasses.field(
        init=False, default_factory=list[tuple[Element, Element]]
    )
    """B and tan(B)."""
    functions: list[tuple[str, tuple[Element, ...], Element]] = dataclasses.field(
        init=False, default_factory=list[tuple[str, tuple[Element, ...], Element]]
    )
    bounds: dict[int, RationalInterval] = dataclasses.field(
        init=False, default_factory=dict[int, RationalInterval]
    )
    """The bounds of the generator at each position; None is no bound."""
    meaning: dict[int, tuple[str, int]] = dataclasses.field(
        init=False, default_factory=dict[int, tuple[str, int]]
    )
    """The kind of the generator at each position, and its place in the list of this kind."""

    parities: list[tuple[Poly, Element]] = dataclasses.field(
        init=False, default_factory=list[tuple[Poly, Element]]
    )
    """Integer-valued monomials m, and (-1)**m."""
    signs: list[tuple[Poly, Poly]] = dataclasses.field(init=False, default_factory=list[tuple[Poly, Poly]])
    """Generators that are undecided signs, each with the polynomial whose sign it is."""

    def new(self, name: str, kind: str, place: int, *, positive: bool = False) -> Element:
        made = self.field.generator(name)
        position = self.field.index(made)
        self.meaning[position] = (kind, place)
        if positive:
            self.bounds[position] = Fraction(0), None
        return Element(made)

    def symbol(self, name: str, low: Fraction | None, high: Fraction | None) -> Element:
        made = self.new(name, "symbol", 0)
        self.bounds[self.field.index(made.num)] = low, high
        return made

    def generator(self, h: Poly) -> tuple[str, int]:
        """Return the kind and the place of a polynomial that is a generator; an empty kind for any other polynomial."""
        if len(h) != 1 or h.total_degree() != 1 or h.leading_coefficient() != 1:
            return "", 0
        return self.meaning[self.field.index(h)]

    def dependencies(self, positions: Iterable[int]) -> set[int]:
        """Return positions of generators, together with the positions of all generators on which they depend."""

        def direct(p: int) -> list[int]:
            operands = self.operands_of(p)
            polys = [f for a in operands for f in (a.num, *(self.field.factors[i] for i, _ in a.den))]
            return [q for poly in polys for q, d in enumerate(poly.degrees()) if d > 0]

        return set(walk(positions, direct))

    def operands_of(self, position: int) -> list[Element]:
        """Return the operands of a generator, such as A of exp(A)."""
        kind, place = self.meaning[position]
        match kind:
            case "exp":
                return [self.exps[place][0]]
            case "tan":
                return [self.angles[place][0]]
            case "root" | "log":
                return [self.atoms[place].value]
            case "power":
                at, i = divmod(place, POWERS_PER_BASE)
                return [self.atoms[at].value, self.atoms[at].powers[i][0]]
            case "function":
                return list(self.functions[place][1])
            case "sign":
                mine = [h for s, h in self.signs if self.field.index(s) == position]
                mine += [term for term, made in self.parities if self.field.index(made.num) == position]
                return [Element(h) for h in mine if self.field.number(Element(h)) is None]
            case _:
                return []

    # bounds

    def sign_by_bounds(self, h: Poly) -> int:
        """Return the sign of a polynomial outside its zeros, if the bounds of its generators imply it, otherwise 0."""
        low, high = self.range(h)
        if low is not None and low >= 0:
            return 1
        return -1 if high is not None and high <= 0 else 0

    def range(self, h: Poly) -> RationalInterval:
        """Return bounds of a polynomial, by interval arithmetic on the bounds of its generators."""
        lowest, highest = Fraction(0), Fraction(0)
        down = up = False  # whether there is no bound
        for exponents, c in h.terms():
            low, high = UNIT
            for position, e in enumerate(exponents):
                if e:
                    low, high = interval_product(
                        (low, high), interval_power(self.bounds.get(position, UNBOUNDED), e)
                    )
            low, high = interval_product((low, high), (to_fraction(c), to_fraction(c)))
            down, up = down or low is None, up or high is None
            lowest, highest = lowest + (low or 0), highest + (high or 0)
        return (None if down else lowest), (None if up else highest)


def to_fraction(c: Rational) -> Fraction:
    """Convert flint's rational to a Fraction."""
    return Fraction(int(c.p), int(c.q))


def factor_rational(c: Rational) -> list[tuple[int, int]]:
    """Return the prime factors of a positive rational, with exponents that may be negative."""
    found: list[tuple[int, int]] = []
    for size, sign in ((int(c.p), 1), (int(c.q), -1)):
        if size.bit_length() > FACTORED_BITS:
            raise GiveUp("a power of a number with many digits")
        if size > 1:
            found += [(int(p), sign * int(e)) for p, e in flint.fmpz(size).factor()]
    return found
