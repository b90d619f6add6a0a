"""The extension field of a proof: its generators, and the sign, the inverse and the logarithm of an element.

    symbol  x          constant  pi            exp  exp(A)              root   |h|**(1/q)
    tan     tan(B)     sign      sign(h)       log  log|h|              power  |h|**m        function  f(A, ...)

where h is a polynomial that is not factored any further, or a prime number, and A, B, m are fractions in other
generators. Every nonzero fraction is a sign times exp(A) times powers of such |h|; its logarithm, its powers and its
sign are computed from this product. An oracle proposes factors, linear combinations and scales of generators; its
proposals are verified.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from symgrad.checker.extension_field.ball_values import sign_of_constant
from symgrad.checker.extension_field.field import (
    Element,
    FractionField,
    GiveUp,
    Poly,
    TooLarge,
    UndefinedEverywhere,
)
from symgrad.checker.extension_field.generators import PowerBase, factor_rational
from symgrad.checker.extension_field.zeros import Zeros
from symgrad.checker.limits import (
    EXPANDED_EXPONENT,
    POLYNOMIAL_DEGREE,
    POWER_BITS,
    POWERS_PER_BASE,
    REWRITTEN_DEGREE,
)
from symgrad.checker.numbers import Rational


class Contradiction(Exception):
    """No point has the signs that the case requires."""


class TooCoarse(Exception):
    """A generator must be finer, such as exp(x/2) for exp(x): start again with its scale multiplied by ``by``."""

    def __init__(self, key: tuple[str, int], by: int) -> None:
        super().__init__(f"{key} by {by}")
        self.key, self.by = key, by


class Oracle(Protocol):
    """The search behind a proof: it proposes answers, and each is verified."""

    def factors(self, ring: FractionField, num: Poly) -> list[tuple[Poly, int]]:
        """Propose factors with exponents whose product is a polynomial, up to a rational number."""
        ...

    def combination(
        self, ring: FractionField, target: Element, basis: Sequence[Element]
    ) -> list[Fraction] | None:
        """Propose rational coefficients of the target in a basis; None if it is not in the span."""
        ...

    def restate(
        self, ring: FractionField, h: Poly, roots: Sequence[int], atoms: Sequence[Poly]
    ) -> list[tuple[Poly, int]] | None:
        """Propose simpler factors with exponents whose product is h modulo the relations, up to a number."""
        ...

    def scale(self, kind: str, index: int) -> int:
        """Return the scale of a generator: the number by which its operand is divided; for a root, its order."""
        ...


@dataclass(frozen=True, slots=True)
class Product:
    """A nonzero element as sign * exp(exponent) * product of |h|**power."""

    sign: Element
    exponent: Element
    powers: dict[int, Element]


@dataclass(slots=True)
class ExtensionField(Zeros):
    """The extension field of one proof.

    Args:
        field: fractions of polynomials in the generators.
        oracle: the object that proposes factors and combinations.
    """

    oracle: Oracle
    assumed: list[str] = dataclasses.field(default_factory=list[str])
    """Excluded thin sets, as conditions: where a generator or a sign is not defined."""
    poles: list[str] = dataclasses.field(default_factory=list[str])
    """The poles of the tangents that represent sines and cosines, as conditions."""

    def left_out(self) -> tuple[str, ...]:
        """Return the excluded thin sets, as conditions: zeros of divisors, poles, and zeros of what has a used sign."""
        return tuple(dict.fromkeys([*self._divisors(self.field.factors), *self.poles, *self.assumed]))

    def exclusions_at_pole(self, pole: str) -> tuple[str, ...]:
        """Return those points at the pole of another proof that this proof excludes, too.

        The only angle of this proof is shifted by pi/4, so that its tangent is 1 at the pole of the other proof.
        """
        t = self.angles[0][1].num
        there = [self.field.reduced(f % (t - 1)) for f in self.field.factors]
        conditions = [*self._divisors([f for f in there if f]), *self.assumed]
        found = [f"{pole} and {c}" for c in conditions] if all(there) else [pole]
        return tuple(dict.fromkeys(found))

    def _divisors(self, factors: Sequence[Poly]) -> list[str]:
        return [f"{self.field.text(f)} = 0" for f in factors if not self.never_zero(f)]

    # arithmetic

    def inverse(self, a: Element) -> Element:
        F = self.field
        if F.is_zero(a):
            raise UndefinedEverywhere("a division by something that is zero everywhere")
        unit, factors = self.split(a.num)
        return F.over(F.poly(F.denominator(a)), factors, unit)

    def div(self, a: Element, b: Element) -> Element:
        number = self.field.number(b)
        if number is not None and number != 0:
            return Element(a.num / number, a.den)
        return self.field.mul(a, self.inverse(b))

    def integer_power(self, a: Element, n: int) -> Element:
        F = self.field
        bits = F.number(a)
        size = 1 if bits is None else max(int(bits.p).bit_length(), int(bits.q).bit_length())
        if abs(n) > (EXPANDED_EXPONENT if bits is None else POWER_BITS // size):
            raise TooLarge("a power with too large an exponent")
        if bits is None and a.num.total_degree() * abs(n) > POLYNOMIAL_DEGREE:
            raise TooLarge("a power of too high a degree")
        if n < 0:
            a, n = self.inverse(a), -n
        result = F.constant(1)
        while n:
            if n & 1:
                result = F.mul(result, a)
            n >>= 1
            a = F.mul(a, a) if n else a
        return result

    def split(self, num: Poly) -> tuple[Rational, list[tuple[Poly, int]]]:
        """Factor a polynomial: return a rational number and factors with positive leading coefficients."""
        F = self.field
        if num.is_constant():
            return num.leading_coefficient(), []
        found = [
            (f / f.leading_coefficient(), e) for f, e in self.oracle.factors(F, num) if not f.is_constant()
        ]
        if any(e < 1 for _, e in found) or sum(e * f.total_degree() for f, e in found) != num.total_degree():
            raise GiveUp("factors whose product is something else")
        product = F.product(found)
        unit = num.leading_coefficient() / product.leading_coefficient()
        if product * unit != num:
            raise GiveUp("factors whose product is something else")
        return unit, found

    # signs

    def atom(self, h: Poly | int) -> int:
        value = self.field.constant(h) if isinstance(h, int) else Element(h)
        for i, known in enumerate(self.atoms):
            if known.value.num == value.num:
                return i
        self.atoms.append(PowerBase(value, self.field.constant(1) if isinstance(h, int) else self._sign(h)))
        return len(self.atoms) - 1

    def _sign(self, h: Poly) -> Element:
        F = self.field
        known = self.sign_by_bounds(h) or sign_of_constant(self, h)
        if known:
            return F.constant(known)
        gap = self._log_difference(h)
        if gap is not None and not F.is_zero(gap):
            return self.sign(gap)
        s = self.new(f"sign({F.text(h)})", "sign", len(self.signs))
        self.signs.append((s.num, h))
        F.add_relation(s.num, 2, s.num * s.num - 1)
        return s

    def _log_difference(self, h: Poly) -> Element | None:
        """Return log(M) - log(N) for a difference M - N of exponentials: this has the same sign as the difference."""
        F, terms = self.field, list(h.terms())
        if len(terms) != 2 or terms[0][1] * terms[1][1] != -(terms[0][1] ** 2):
            return None
        gap = F.constant(0)
        for exponents, c in terms:
            for position, e in enumerate(exponents):
                if e:
                    kind, place = self.meaning[position]
                    if kind != "exp":
                        return None
                    gap = F.add(gap, F.scaled(self.exps[place][0], Fraction(int(e) if c > 0 else -int(e))))
        return gap

    def exclude_zeros(self, h: Poly) -> None:
        """Exclude the zeros of a polynomial.

        Raises:
            GiveUp: if the zeros may contain an open set.
        """
        if h.is_constant() or h in self.field.factors or self.never_zero(h):
            return
        if not self.is_thin(h):
            raise GiveUp("the sign of something that may be zero on an open set")
        self.assumed.append(f"{self.field.text(h)} = 0")

    def try_exclude_zeros(self, u: Element) -> bool:
        """Exclude the zeros of a fraction and return True; return False if the zeros may contain an open set."""
        if self.field.number(u) is not None or self.never_zero(u.num):
            return True
        if not self.is_thin(u.num):
            return False
        self.assumed.append(f"{self.field.fraction_text(u)} = 0")
        return True

    def require_nonnegative(self, p: Product) -> None:
        """Restrict the case to the points where a product is not negative.

        At its zeros the signs are not determined.
        """
        F = self.field
        sign = F.poly(p.sign.num)
        if F.number(sign) != 1:
            degrees = sign.num.degrees()
            mine = [h for s, h in self.signs if degrees[F.index(s)]]
            zeros = [self.atoms[at].value.num for at in p.powers]
            # A single sign may have either value at the zeros of its own polynomial, if no other factor vanishes there.
            if len(mine) != 1 or any(h != mine[0] for h in zeros):
                for h in zeros:
                    self.exclude_zeros(h)
        self.require_positive(sign)

    def require_positive(self, sign: Element) -> None:
        """Restrict the case to the points where a product of signs is 1."""
        F = self.field
        sign = F.poly(sign.num)
        number = F.number(sign)
        if number is not None:
            if number != 1:
                raise Contradiction
            return
        degrees = sign.num.degrees()
        newest = next(p for p, d in enumerate(degrees) if d)  # the first position is the newest generator
        s = F.ring.gen(newest)
        several = [(t, h) for t, h in self.signs if degrees[F.index(t)]]
        if len(several) > 1:
            # At a zero of one polynomial the product of the other signs is not determined.
            for _, h in several:
                self.exclude_zeros(h)
        # s*rest = 1 and rest**2 = 1, so s = rest.
        rest, remainder = divmod(sign.num, s)
        if remainder or len(rest) != 1:
            raise GiveUp("a sign that is no product")
        F.add_relation(s, 1, s - rest)

    # combinations

    def verified_combination(self, target: Element, basis: Sequence[Element]) -> list[Fraction] | None:
        """Return verified rational coefficients of the target in a basis; None if the oracle finds none."""
        F = self.field
        found = self.oracle.combination(F, target, basis)
        if found is None:
            return None
        total = target
        for c, b in zip(found, basis, strict=True):
            total = F.sub(total, F.scaled(b, c))
        if not F.is_zero(total):
            raise GiveUp("a combination that is something else")
        return found

    # products

    def product(self, u: Element) -> Product:
        """Write a nonzero element as a sign, an exponential and powers."""
        F = self.field
        if F.is_zero(u):
            raise GiveUp("the logarithm or a power of something that is zero everywhere")
        unit, factors = self.split(u.num)
        sign, exponent, powers = F.constant(1 if unit > 0 else -1), F.constant(0), dict[int, Element]()
        for prime, e in factor_rational(abs(unit)):
            powers[self.atom(prime)] = F.constant(e)
        everything = [*factors, *((F.factors[i], -e) for i, e in u.den)]
        budget = 200
        while everything:
            h, e = everything.pop(0)
            other = self._rewrite(h) if budget > 0 else None
            if other is not None:
                budget -= 1
                unit, parts = other
                sign = F.mul(sign, F.constant((1 if unit > 0 else -1) ** (e % 2)))
                for prime, n in factor_rational(abs(unit)):
                    self._count(powers, self.atom(prime), F.constant(n * e))
                everything += [(f, n * e) for f, n in parts]
                continue
            kind, place = self.generator(h)
            if kind == "sign":
                sign = F.mul(sign, self.integer_power(F.poly(h), e % 2))
            elif kind == "exp":
                exponent = F.add(exponent, F.scaled(self.exps[place][0], Fraction(e)))
            elif kind == "root":
                root = self.atoms[place].root
                self._count(powers, place, F.constant(Fraction(e, root[1] if root else 1)))
            elif kind == "power":
                base, which = divmod(place, POWERS_PER_BASE)
                self._count(powers, base, F.scaled(self.atoms[base].powers[which][0], Fraction(e)))
            else:
                at = self.atom(h)
                self._count(powers, at, F.constant(e))
                if e % 2:
                    sign = F.mul(sign, self.atoms[at].sign)
        return Product(sign, exponent, powers)

    def _rewrite(self, h: Poly) -> tuple[Rational, list[tuple[Poly, int]]] | None:
        """Return a number and factors, some with negative exponents, whose product is h modulo the relations."""
        F = self.field
        degrees = h.degrees()
        roots = [p for p, (kind, _) in self.meaning.items() if kind == "root" and degrees[p]]
        found = self.oracle.restate(F, h, roots, [a.value.num for a in self.atoms]) if roots else None
        if found is None or len(h) == 1:
            return None
        if any(not f or abs(e) * f.total_degree() > REWRITTEN_DEGREE for f, e in found):
            raise GiveUp("factors of high degree")
        upper = F.reduced(F.product((f, e) for f, e in found if e > 0))
        lower = F.reduced(F.product([(h, 1), *((f, -e) for f, e in found if e < 0)]))
        unit = lower.leading_coefficient() / upper.leading_coefficient() if upper else None
        if not lower or unit is None or upper * unit != lower:
            raise GiveUp("factors whose product is something else")
        parts: list[tuple[Poly, int]] = []
        for f, e in found:
            number, factors = self.split(F.reduced(f))
            unit = unit * number**e
            parts += [(g, n * e) for g, n in factors]
            for g, _ in (
                factors if e < 0 else ()
            ):  # where this factor is zero, h need not be zero, and the other factors do not determine the sign of h
                self.exclude_zeros(g)
        return unit, parts

    def _count(self, powers: dict[int, Element], at: int, e: Element) -> None:
        powers[at] = self.field.add(powers[at], e) if at in powers else e

    def sign(self, u: Element) -> Element:
        if self.field.is_zero(u):
            return self.field.constant(0)
        return self.product(u).sign

    def log(self, u: Element) -> Element:
        F = self.field
        p = self.product(u)
        self.require_positive(p.sign)
        total = p.exponent
        for at, e in p.powers.items():
            total = F.add(total, F.mul(e, self._log(at)))
        return total

    def _log(self, at: int) -> Element:
        atom = self.atoms[at]
        if atom.log is None:
            atom.log = self.new(f"log|{self.field.text(atom.value.num)}|", "log", at)
            number = self.field.number(atom.value)
            if number is not None and number >= 2:
                self.bounds[self.field.index(atom.log.num)] = Fraction(1, 2), None
        return atom.log
