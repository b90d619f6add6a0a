"""Powers, roots and exponentials in an extension field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from symgrad.checker.extension_field.extension import ExtensionField, Product, TooCoarse
from symgrad.checker.extension_field.field import Element, GiveUp, Poly, TooLarge
from symgrad.checker.extension_field.generators import to_fraction
from symgrad.checker.limits import DIVIDED_DEGREE, POWERS_PER_BASE, ROOT_ORDER
from symgrad.checker.numbers import Rational
from symgrad.checker.program.intervals import interval_root


@dataclass(slots=True)
class Powers(ExtensionField):
    """An extension field with powers, roots and exponentials."""

    def constant(self, name: str) -> Element:
        if name == "E":
            return self.exp(self.field.constant(1))
        made = self.new(name, "constant", 0, positive=True)
        if name == "pi":
            self.bounds[self.field.index(made.num)] = Fraction(333, 106), Fraction(355, 113)
        return made

    def power(self, u: Element, v: Element, *, whole: bool = False) -> Element:
        """Return u**v: with an integer exponent for any base, otherwise for a nonnegative base.

        Args:
            u: the base.
            v: the exponent.
            whole: whether v is an integer at every point.
        """
        F = self.field
        number, exponent = F.number(v), F.integer(v)
        if exponent is not None:
            return self.integer_power(u, exponent)
        if F.is_zero(u):
            if v.den or self.sign_by_bounds(v.num) != 1 or not self.never_zero(v.num):
                raise GiveUp("a power of zero whose exponent may be zero")
            return u
        p = self.product(u)
        if whole and F.number(p.sign) != 1:
            # sign**v is 1 where the sign is 1, else (-1)**v.
            up, down = F.add(F.constant(1), p.sign), F.sub(F.constant(1), p.sign)
            sign = F.scaled(F.add(up, F.mul(down, self._parity(v))), Fraction(1, 2))
            return F.mul(sign, self._raised(p, v))
        if number is None and F.number(p.sign) != 1:
            if not self.varies(v):
                raise GiveUp("an exponent that may be an integer on an open set")
            self.assumed.append(f"{F.fraction_text(u)} <= 0 and {F.fraction_text(v)} is an integer")
        if number is not None and number < 0:
            self.require_positive(p.sign)
        else:
            self.require_nonnegative(p)
        return self._raised(p, v)

    def _parity(self, v: Element) -> Element:
        """Return (-1)**v for an integer-valued polynomial v with integer coefficients, term by term."""
        F = self.field
        if v.den:
            raise GiveUp("the parity of a fraction")
        result = F.constant(1)
        for exponents, c in v.num.terms():
            if c.q != 1:
                raise GiveUp("the parity of a fraction")
            if c.p % 2 and any(exponents):
                result = F.mul(result, self._parity_of(F.ring.from_dict({tuple(exponents): 1})))
            elif c.p % 2:
                result = F.neg(result)
        return result

    def _parity_of(self, term: Poly) -> Element:
        F = self.field
        for known, parity in self.parities:
            if known == term:
                return parity
        made = self.new(f"(-1)**({F.text(term)})", "sign", 0)
        F.add_relation(made.num, 2, made.num * made.num - 1)
        self.parities.append((term, made))
        return made

    def real_root(self, u: Element, order: int) -> Element:
        """Return the root of odd order, which is real for negative numbers, too."""
        if self.field.is_zero(u):
            return u
        p = self.product(u)
        return self.field.mul(p.sign, self._raised(p, self.field.constant(Fraction(1, order))))

    def _raised(self, p: Product, v: Element) -> Element:
        F = self.field
        result = F.constant(1) if F.is_zero(p.exponent) else self.exp(F.mul(p.exponent, v))
        for at, e in p.powers.items():
            result = F.mul(result, self._base_power(at, F.mul(e, v)))
        return result

    def _base_power(self, at: int, e: Element) -> Element:
        """Return |h|**e: a root for the rational part of e, and a generator for every other term."""
        F = self.field
        known = Fraction(0)
        result = F.constant(1)
        for term in self._terms(e):
            number = F.number(term)
            if number is not None:
                known += to_fraction(number)
            else:
                result = F.mul(result, self._symbolic_power(at, term))
        return F.mul(result, self._root_power(at, known))

    def _terms(self, e: Element) -> list[Element]:
        """Split a fraction into the terms of its polynomial part and those of its remainder over the denominator."""
        F = self.field
        parts = [(e.num, e.den)]
        lower = F.denominator(e)
        # A quotient in several generators may have very many terms.
        if e.den and (len(lower) <= 2 or e.num.total_degree() <= DIVIDED_DEGREE):
            whole, rest = divmod(e.num, lower)
            parts = [(whole, ()), (rest, e.den)]
        return [
            self._over_denominator({tuple(exponents): c}, den)
            for num, den in parts
            for exponents, c in num.terms()
        ]

    def _over_denominator(
        self, terms: Mapping[tuple[int, ...], Rational], den: tuple[tuple[int, int], ...]
    ) -> Element:
        """Return a polynomial over a denominator, as a reduced fraction."""
        F = self.field
        return F.mul(Element(F.ring.from_dict(terms)), Element(F.ring.constant(1), den))

    def _root_power(self, at: int, e: Fraction) -> Element:
        F, atom = self.field, self.atoms[at]
        whole, rest = divmod(e.numerator, e.denominator)
        size = F.mul(atom.sign, atom.value)
        result = self.integer_power(size, whole)
        if not rest:
            return result
        if atom.root is None:
            order = math.lcm(self.oracle.scale("root", at), e.denominator)
            if order > ROOT_ORDER:
                raise TooLarge("a root of too high an order")
            k = self.new(f"|{F.text(atom.value.num)}|**(1/{order})", "root", at, positive=True)
            F.add_relation(k.num, order, k.num**order - size.num)
            self.bounds[F.index(k.num)] = interval_root(self.range(size.num), order)
            atom.root = k, order
        k, order = atom.root
        if order % e.denominator:
            raise TooCoarse(("root", at), math.lcm(order, e.denominator))
        return F.mul(result, self.integer_power(k, rest * order // e.denominator))

    def _symbolic_power(self, at: int, m: Element) -> Element:
        F, powers = self.field, self.atoms[at].powers
        for i, (known, value) in enumerate(powers):
            ratio = self._ratio(m, known)
            if ratio is not None:
                if ratio.denominator != 1:
                    raise TooCoarse(("power", at * POWERS_PER_BASE + i), ratio.denominator)
                return self.integer_power(value, ratio.numerator)
        place = at * POWERS_PER_BASE + len(powers)
        fine = F.scaled(m, Fraction(1, self.oracle.scale("power", place)))
        name = f"|{F.text(self.atoms[at].value.num)}|**({F.fraction_text(fine)})"
        powers.append((fine, self.new(name, "power", place, positive=True)))
        return self._symbolic_power(at, m)

    def _ratio(self, a: Element, b: Element) -> Fraction | None:
        ratio = a.num.leading_coefficient() / b.num.leading_coefficient()
        same = self.field.is_zero(self.field.sub(a, Element(b.num * ratio, b.den)))
        return to_fraction(ratio) if same else None

    # exponentials

    def exp(self, u: Element) -> Element:
        F = self.field
        rest, powers = self._split_logs(u)
        result = self._exp_without_logs(rest)
        for at, e in powers.items():
            result = F.mul(result, self._base_power(at, e))
        return result

    def _split_logs(self, u: Element) -> tuple[Element, dict[int, Element]]:
        """Split the terms d*log|h| off a sum: return the rest of the sum, and d for every h."""
        logs = {p: place for p, (kind, place) in self.meaning.items() if kind == "log"}
        rest: dict[tuple[int, ...], Rational] = {}
        powers: dict[int, Element] = {}
        for exponents, c in u.num.terms():
            e = list(exponents)
            found = [p for p in logs if e[p]]
            if len(found) != 1 or e[found[0]] != 1:
                rest[tuple(e)] = c
                continue
            e[found[0]] = 0
            self._count(powers, logs[found[0]], self._over_denominator({tuple(e): c}, u.den))
        return (self._over_denominator(rest, u.den), powers) if powers else (u, powers)

    def _exp_without_logs(self, u: Element) -> Element:
        F = self.field
        if F.is_zero(u):
            return F.constant(1)
        place = len(self.exps)
        parts = self.verified_combination(u, [a for a, _ in self.exps])
        if parts is None:
            a = F.scaled(u, Fraction(1, self.oracle.scale("exp", place)))
            self.exps.append((a, self.new(f"exp({F.fraction_text(a)})", "exp", place, positive=True)))
            parts = [*[Fraction(0)] * place, Fraction(self.oracle.scale("exp", place))]
        result = F.constant(1)
        for i, (n, (_, value)) in enumerate(zip(parts, self.exps, strict=True)):
            if n.denominator != 1:
                raise TooCoarse(("exp", i), n.denominator)
            result = F.mul(result, self.integer_power(value, n.numerator))
        return result
