"""Exact fractions of polynomials in generators, some of which satisfy relations: x*y/(1 + k) with k**2 = x.

A generator stands for a real number that depends on the point (`symgrad/checker/kernels/fractions.py` says
which), and a relation is true of these numbers at every point of the case at hand. So what is computed here
holds at every such point where no denominator vanishes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from symgrad.checker.clock import has_time, now
from symgrad.checker.limits import DEGREE, DENOMINATOR_TERMS, LONG_COEFFICIENT_BITS, NAME_CHARACTERS, NUMBER
from symgrad.checker.numbers import Rational, flint, rational

__all__ = [
    "Budget",
    "Element",
    "Field",
    "TooFewGenerators",
    "GiveUp",
    "Poly",
    "TooLarge",
]

Poly: TypeAlias = Any

_ROOM = 64
_PER_TERM = 2e-7  # seconds of a product of two terms, roughly
_OPERATION = 3e-5  # seconds of any, however short
_SELDOM = 0.1  # of the longest that something may take


class GiveUp(Exception):
    """The search for a proof ends here, and why."""


class Nowhere(GiveUp):
    """A side has no value at any point, or none of this case."""


class TooLarge(GiveUp):
    """A power is not computed."""


class TooFewGenerators(GiveUp):
    """There are too few generators: begin again with more."""


@dataclass(slots=True)
class Budget:
    """What a proof may cost.

    Args:
        deadline: on the count of `symgrad.checker.clock`.
        terms: products of the numbers of terms that are multiplied.
    """

    deadline: float
    terms: int = 4_000_000

    def spend(self, terms: int) -> None:
        """Give up rather than multiply so many terms."""
        if terms > self.terms:
            raise GiveUp("the polynomials grow too large")
        self.wait(terms * _PER_TERM)

    def wait(self, seconds: float) -> None:
        """Give up rather than begin what nothing interrupts and what takes so long."""
        if not has_time(self.deadline, _OPERATION + seconds):
            raise GiveUp("the time limit")

    def allows(self, seconds: float) -> bool:
        """Whether there is so much time, for what may take it and seldom does: a part of it is counted."""
        return now() + seconds <= self.deadline and has_time(self.deadline, seconds * _SELDOM)


@dataclass(frozen=True, slots=True)
class Element:
    """num divided by the product of factors of the field, each with its exponent."""

    num: Poly
    den: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class Field:
    """Arithmetic; generators are taken one after the other, and later ones are larger in the order of monomials.

    Args:
        capacity: how many generators there may be.
        budget: when to give up.
    """

    capacity: int
    budget: Budget
    names: list[str] = field(default_factory=list[str])
    factors: list[Poly] = field(default_factory=list[Poly])
    """Polynomials that were divided by: the proof holds where they do not vanish."""
    relations: list[tuple[int, int, Poly]] = field(default_factory=list[tuple[int, int, Poly]])
    """Position of a generator, degree from which it is replaced, and the polynomial that is zero."""
    ring: Any = None

    def __post_init__(self) -> None:
        self.ring = flint.fmpq_mpoly_ctx.get(tuple(f"g{i}" for i in range(self.capacity)), "lex")

    # generators

    def generator(self, name: str) -> Poly:
        if len(self.names) == self.capacity:
            raise TooFewGenerators("there are more kernels than foreseen")
        self.budget.spend(0)
        self.names.append(name)
        return self.ring.gen(self.capacity - len(self.names))

    def index(self, generator: Poly) -> int:
        """The position of a generator among a monomial's exponents."""
        return int(generator.degrees().index(1))

    def relate(self, generator: Poly, degree: int, zero: Poly) -> None:
        """Let ``zero`` be zero, a polynomial whose leading monomial is generator**degree."""
        self.relations.append((self.index(generator), degree, zero))
        self.relations.sort(key=lambda r: r[0])

    def reduced(self, num: Poly) -> Poly:
        """Replace powers by the relations, the newest generators first."""
        again = bool(self.relations)
        while again:
            again = False
            degrees = num.degrees()
            for position, degree, zero in self.relations:
                if degrees[position] >= degree:
                    self.budget.wait(len(num) * len(zero) * self._width() * _PER_TERM)
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
        """The rational number that it is, if it is one."""
        if a.den or not a.num.is_constant():
            return None
        return a.num.leading_coefficient() if a.num else flint.fmpq(0)

    def _times(self, a: Poly, b: Poly) -> Poly:
        terms = len(a) * len(b) * self._width()
        bits = sum(p.leading_coefficient().height_bits() for p in (a, b) if p)
        if bits > NUMBER:
            raise GiveUp("the numbers grow too long")
        if a.total_degree() + b.total_degree() > DEGREE:
            raise GiveUp("a polynomial of too high a degree")
        if terms > LONG_COEFFICIENT_BITS:
            terms *= 1 + bits // LONG_COEFFICIENT_BITS
        self.budget.spend(terms)
        return a * b

    def _width(self) -> int:
        """How much room a term takes: the more the more generators there may be."""
        return max(1, self.capacity // _ROOM)

    def quotient(self, num: Poly, divisor: Poly) -> Poly | None:
        """The quotient of two polynomials if it is one; where it is none that mostly shows at once."""
        self.budget.spend(0)
        try:
            return num / divisor
        except flint.utils.flint_exceptions.DomainError:
            return None

    def product(self, powers: Iterable[tuple[Poly, int]]) -> Poly:
        """A product of natural powers of polynomials, not reduced."""
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

    def _cancelled(
        self, num: Poly, den: Mapping[int, int], which: Iterable[int]
    ) -> tuple[Poly, dict[int, int]]:
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
        self.budget.spend(0)
        if a.den == b.den:
            num, den = self._cancelled(self.reduced(a.num + b.num), dict(a.den), [i for i, _ in a.den])
            return self._made(num, den)
        left, right = dict(a.den), dict(b.den)
        common = {i: max(left.get(i, 0), right.get(i, 0)) for i in sorted({*left, *right})}
        sides = [
            self._times(x.num, self._expanded((i, e - own.get(i, 0)) for i, e in common.items()))
            for x, own in ((a, left), (b, right))
        ]
        same = [i for i in common if left.get(i, 0) == right.get(i, 0)]
        num, den = self._cancelled(self.reduced(sides[0] + sides[1]), common, same)
        return self._made(num, den)

    def neg(self, a: Element) -> Element:
        return Element(-a.num, a.den)

    def sub(self, a: Element, b: Element) -> Element:
        return self.add(a, self.neg(b))

    def mul(self, a: Element, b: Element) -> Element:
        if not a.num or not b.num:
            return Element(self.ring.constant(0))
        left, right = dict(a.den), dict(b.den)
        x, right = self._cancelled(a.num, right, right)
        y, left = self._cancelled(b.num, left, left)
        den = {i: left.get(i, 0) + right.get(i, 0) for i in {*left, *right}}
        product = self._times(x, y)
        num = self.reduced(product)
        if num != product:
            num, den = self._cancelled(num, den, list(den))
        return self._made(num, den)

    def scaled(self, a: Element, by: Any) -> Element:
        return Element(a.num * rational(by), a.den) if by else self.constant(0)

    def over(self, a: Element, powers: Iterable[tuple[Poly, int]], unit: Rational) -> Element:
        """A divided by unit times a product of powers of polynomials: these become factors of the field."""
        den = dict(a.den)
        touched: list[int] = []
        for poly, e in powers:
            i = self._factor(poly)
            den[i] = den.get(i, 0) + e
            touched.append(i)
        num, den = self._cancelled(a.num, den, touched)
        return self._made(num / unit, den)

    def _factor(self, poly: Poly) -> int:
        for i, known in enumerate(self.factors):
            if known == poly:
                return i
        self.factors.append(poly)
        return len(self.factors) - 1

    def cleared(self, a: Element) -> Poly:
        """The numerator of 1/a before it is reduced: the product of the denominator's factors."""
        return self._expanded(a.den)

    def equal(self, a: Element, b: Element) -> bool:
        """Whether two fractions are the same by the relations."""
        if a.den == b.den:
            if a.num == b.num:
                return True
            if not self.relations:
                return False
        return not self._other_degrees(a, b) and self.is_zero(self.sub(a, b))

    def _other_degrees(self, a: Element, b: Element) -> bool:
        """Whether two fractions have different degrees in a generator that no relation has, so that they differ."""
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
        """A fraction with the generators' names; of one that is very long the beginning, and dots."""
        upper = self.text(a.num)
        if not a.den:
            return upper
        lower = "*".join(f"({self.text(self.factors[i])})" + (f"**{e}" if e > 1 else "") for i, e in a.den)
        return _cut(f"({upper})/({lower})" if len(a.den) > 1 else f"({upper})/{lower}")

    def text(self, num: Poly) -> str:
        """A polynomial with the generators' names; of one that is very long the beginning, and dots."""
        terms: list[str] = []
        length = 0
        for exponents, c in num.terms():
            if length > NAME_CHARACTERS:
                terms.append("...")
                break
            powers = [
                f"{self._name(i)}**{e}" if e > 1 else self._name(i) for i, e in enumerate(exponents) if e
            ]
            coefficient = [str(c)] if not powers or c != 1 else []
            terms.append("*".join(coefficient + powers).replace("-1*", "-"))
            length += len(terms[-1])
        return _cut(" + ".join(terms).replace("+ -", "- ") or "0")

    def _name(self, position: int) -> str:
        place = self.capacity - 1 - position
        return self.names[place] if place < len(self.names) else "?"


def _cut(text: str) -> str:
    return text if len(text) <= NAME_CHARACTERS else f"{text[:NAME_CHARACTERS]}..."
