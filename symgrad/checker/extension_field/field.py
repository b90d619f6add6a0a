"""Exact fractions of polynomials in generators, some of which satisfy relations: x*y/(1 + k) with k**2 = x.

A generator stands for a real function of the point (see `symgrad/checker/extension_field/extension.py`), and a relation
holds at every point of the current case. So an equation of fractions holds at every such point at which no denominator
vanishes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, TypeAlias

from symgrad.checker.clock import Budget
from symgrad.checker.limits import (
    COEFFICIENT_BITS,
    DENOMINATOR_TERMS,
    GENERATOR_CHARACTERS,
    LONG_COEFFICIENT_BITS,
    POLYNOMIAL_DEGREE,
    PRODUCT_TERMS,
)
from symgrad.checker.numbers import Rational, flint, rational

Poly: TypeAlias = Any

_GENERATORS_PER_WORD = 64
_SECONDS_PER_TERM = 2e-7  # approximate seconds of a product of two terms
_OPERATION = 3e-5  # seconds of any operation, however small


class GiveUp(Exception):
    """The proof fails or is not found; the message is the reason."""


class UndefinedEverywhere(GiveUp):
    """A side has no value at any point of the case."""


class TooLarge(GiveUp):
    """A power is too large to compute."""


class TooFewGenerators(GiveUp):
    """The capacity of the field is too small: start again with more generators."""


@dataclass(frozen=True, slots=True)
class Element:
    """A fraction: num divided by a product of factors of the field, given by index and exponent."""

    num: Poly
    den: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class FractionField:
    """Arithmetic of fractions; generators are added one by one, and later ones are larger in the monomial order.

    Args:
        capacity: the largest number of generators.
        deadline: on the clock of `symgrad.checker.clock`.
    """

    capacity: int
    deadline: InitVar[float]
    budget: Budget = field(init=False)
    names: list[str] = field(default_factory=list[str])
    factors: list[Poly] = field(default_factory=list[Poly])
    """The factors of denominators: the proof holds where they do not vanish."""
    relations: list[tuple[int, int, Poly]] = field(default_factory=list[tuple[int, int, Poly]])
    """Position of a generator, the degree from which it is reduced, and the polynomial that is zero."""
    ring: Any = None

    def __post_init__(self, deadline: float) -> None:
        self.budget = Budget(deadline, ends=GiveUp)
        self.ring = flint.fmpq_mpoly_ctx.get(tuple(f"g{i}" for i in range(self.capacity)), "lex")

    def spend(self, terms: int = 0) -> None:
        """Give up if the time is not enough for a multiplication of so many terms, or there are too many terms."""
        if terms > PRODUCT_TERMS:
            raise GiveUp("the polynomials grow too large")
        self.wait(terms * _SECONDS_PER_TERM)

    def wait(self, seconds: float) -> None:
        """Give up if the time is not enough for a computation that cannot be interrupted."""
        self.budget.spend(seconds=_OPERATION + seconds)

    # generators

    def generator(self, name: str) -> Poly:
        if len(self.names) == self.capacity:
            raise TooFewGenerators("there are more generators than expected")
        self.spend()
        self.names.append(name)
        return self.ring.gen(self.capacity - len(self.names))

    def index(self, generator: Poly) -> int:
        """Return the position of a generator in the exponents of a monomial."""
        return int(generator.degrees().index(1))

    def add_relation(self, generator: Poly, degree: int, zero: Poly) -> None:
        """Add the relation ``zero`` = 0, a polynomial with the leading monomial generator**degree."""
        self.relations.append((self.index(generator), degree, zero))
        self.relations.sort(key=lambda r: r[0])

    def reduced(self, num: Poly) -> Poly:
        """Reduce a polynomial modulo the relations, the newest generators first."""
        again = bool(self.relations)
        while again:
            again = False
            degrees = num.degrees()
            for position, degree, zero in self.relations:
                if degrees[position] >= degree:
                    self.wait(len(num) * len(zero) * self._width() * _SECONDS_PER_TERM)
                    num = num % zero
                    degrees = num.degrees()
                    again = True
        return num

    # elements

    def constant(self, value: Any) -> Element:
        return Element(self.ring.constant(rational(value)))

    def poly(self, num: Poly) -> Element:
        return Element(self.reduced(num))

    def is_zero(self, a: Element) -> bool:
        return bool(a.num.is_zero())

    def number(self, a: Element) -> Rational | None:
        """Return the rational number to which an element is equal, otherwise None."""
        if a.den or not a.num.is_constant():
            return None
        return a.num.leading_coefficient() if a.num else flint.fmpq(0)

    def integer(self, a: Element) -> int | None:
        """Return the integer to which an element is equal, otherwise None."""
        number = self.number(a)
        return int(number.p) if number is not None and number.q == 1 else None

    def _times(self, a: Poly, b: Poly) -> Poly:
        terms = len(a) * len(b) * self._width()
        bits = sum(p.leading_coefficient().height_bits() for p in (a, b) if p)
        if bits > COEFFICIENT_BITS:
            raise GiveUp("the numbers grow too long")
        if a.total_degree() + b.total_degree() > POLYNOMIAL_DEGREE:
            raise GiveUp("a polynomial of too high a degree")
        if terms > LONG_COEFFICIENT_BITS:
            terms *= 1 + bits // LONG_COEFFICIENT_BITS
        self.spend(terms)
        return a * b

    def _width(self) -> int:
        """Return the cost of a term, which grows with the capacity."""
        return max(1, self.capacity // _GENERATORS_PER_WORD)

    def quotient(self, num: Poly, divisor: Poly) -> Poly | None:
        """Return the exact quotient of two polynomials, or None; a division that fails usually ends early."""
        self.spend()
        try:
            return num / divisor
        except flint.utils.flint_exceptions.DomainError:
            return None

    def product(self, powers: Iterable[tuple[Poly, int]]) -> Poly:
        """Return a product of natural powers of polynomials; it is not reduced."""
        product = self.ring.constant(1)
        for factor, e in powers:
            if len(factor) == 1:
                product = product * factor**e
                continue
            for _ in range(e):
                product = self._times(product, factor)
        return product

    def _expanded(self, powers: Iterable[tuple[int, int]]) -> Poly:
        return self.product((self.factors[i], e) for i, e in powers)

    def _cancel(self, num: Poly, den: Mapping[int, int], which: Iterable[int]) -> tuple[Poly, dict[int, int]]:
        left = dict(den)
        for i in which:
            divisor = self.factors[i]
            if len(divisor) > DENOMINATOR_TERMS and len(num) > 50 * DENOMINATOR_TERMS:
                continue
            while left.get(i, 0):
                quotient = self.quotient(num, divisor)
                if quotient is None:
                    break
                num = quotient
                left[i] -= 1
        return num, {i: e for i, e in left.items() if e}

    def _made(self, num: Poly, den: Mapping[int, int]) -> Element:
        num = self.reduced(num)
        if not num:
            return Element(num)
        return Element(num, tuple(sorted(den.items())))

    def add(self, a: Element, b: Element) -> Element:
        if not a.num:
            return b
        if not b.num:
            return a
        self.spend()
        if a.den == b.den:
            num, den = self._cancel(self.reduced(a.num + b.num), dict(a.den), [i for i, _ in a.den])
            return self._made(num, den)
        left, right = dict(a.den), dict(b.den)
        common = {i: max(left.get(i, 0), right.get(i, 0)) for i in sorted({*left, *right})}
        sides = [
            self._times(x.num, self._expanded((i, e - own.get(i, 0)) for i, e in common.items()))
            for x, own in ((a, left), (b, right))
        ]
        same = [i for i in common if left.get(i, 0) == right.get(i, 0)]
        num, den = self._cancel(self.reduced(sides[0] + sides[1]), common, same)
        return self._made(num, den)

    def neg(self, a: Element) -> Element:
        return Element(-a.num, a.den)

    def sub(self, a: Element, b: Element) -> Element:
        return self.add(a, self.neg(b))

    def mul(self, a: Element, b: Element) -> Element:
        if not a.num or not b.num:
            return Element(self.ring.constant(0))
        left, right = dict(a.den), dict(b.den)
        x, right = self._cancel(a.num, right, right)
        y, left = self._cancel(b.num, left, left)
        den = {i: left.get(i, 0) + right.get(i, 0) for i in {*left, *right}}
        product = self._times(x, y)
        num = self.reduced(product)
        if num != product:
            num, den = self._cancel(num, den, list(den))
        return self._made(num, den)

    def scaled(self, a: Element, by: Any) -> Element:
        return Element(a.num * rational(by), a.den) if by else self.constant(0)

    def over(self, a: Element, powers: Iterable[tuple[Poly, int]], unit: Rational) -> Element:
        """Divide an element by a unit and by powers of polynomials, which become factors of the field."""
        den = dict(a.den)
        touched: list[int] = []
        for poly, e in powers:
            i = self._factor(poly)
            den[i] = den.get(i, 0) + e
            touched.append(i)
        num, den = self._cancel(a.num, den, touched)
        return self._made(num / unit, den)

    def _factor(self, poly: Poly) -> int:
        for i, known in enumerate(self.factors):
            if known == poly:
                return i
        self.factors.append(poly)
        return len(self.factors) - 1

    def denominator(self, a: Element) -> Poly:
        """Return the denominator of an element as one polynomial; it is not reduced."""
        return self._expanded(a.den)

    def equal(self, a: Element, b: Element) -> bool:
        """Tell whether two fractions are equal modulo the relations."""
        if a.den == b.den:
            if a.num == b.num:
                return True
            if not self.relations:
                return False
        return not self._degrees_differ(a, b) and self.is_zero(self.sub(a, b))

    def _degrees_differ(self, a: Element, b: Element) -> bool:
        """Tell whether two fractions differ in the degree of a generator without relations: then they are unequal."""
        if not a.num or not b.num:
            return False
        bound = {p for _, _, zero in self.relations for p, e in enumerate(zero.degrees()) if e}
        degrees = [list(x.num.degrees()) for x in (a, b)]
        for x, own in zip((a, b), degrees, strict=True):
            for i, e in x.den:
                for p, d in enumerate(self.factors[i].degrees()):
                    own[p] -= e * d
        return any(p != q for i, (p, q) in enumerate(zip(*degrees, strict=True)) if i not in bound)

    def fraction_text(self, a: Element) -> str:
        """Return a fraction as text, truncated with dots if it is very long."""
        upper = self.text(a.num)
        if not a.den:
            return upper
        lower = "*".join(f"({self.text(self.factors[i])})" + (f"**{e}" if e > 1 else "") for i, e in a.den)
        return _truncate(f"({upper})/({lower})" if len(a.den) > 1 else f"({upper})/{lower}")

    def text(self, num: Poly) -> str:
        """Return a polynomial as text, truncated with dots if it is very long."""
        terms: list[str] = []
        length = 0
        for exponents, c in num.terms():
            if length > GENERATOR_CHARACTERS:
                terms.append("...")
                break
            powers = [
                f"{self._name(i)}**{e}" if e > 1 else self._name(i) for i, e in enumerate(exponents) if e
            ]
            coefficient = [str(c)] if not powers or c != 1 else []
            terms.append("*".join(coefficient + powers).replace("-1*", "-"))
            length += len(terms[-1])
        return _truncate(" + ".join(terms).replace("+ -", "- ") or "0")

    def _name(self, position: int) -> str:
        place = self.capacity - 1 - position
        return self.names[place] if place < len(self.names) else "?"


def _truncate(text: str) -> str:
    return text if len(text) <= GENERATOR_CHARACTERS else f"{text[:GENERATOR_CHARACTERS]}..."
