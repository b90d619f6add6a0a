"""Kernels: the real numbers that generators stand for, and how functions of them become fractions again.

    symbol  x          constant  pi            exp  exp(A)              root   |h|**(1/q)
    tan     tan(B)     sign      sign(h)       log  log|h|              power  |h|**m        function  f(A, ...)

where h is a polynomial that is not split any further, or a prime number, and A, B, m are fractions of other kernels.
Every nonzero fraction is a sign times exp(A) times powers of such |h|: its logarithm, its powers and its sign follow
from that. What is proposed by an oracle (factors, decompositions, how fine a kernel is) is verified before use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol, TypeAlias

from symgrad.proof.field import Element, Field, GiveUp, Poly, Rational, flint

__all__ = ["Contradiction", "Kernels", "Oracle", "Refine"]

Range: TypeAlias = "tuple[Fraction | None, Fraction | None]"

_ONE: Range = (Fraction(1), Fraction(1))
_ANY: Range = (None, None)
_MANY = 1_000  # places of power kernels of one h
_LARGEST_POWER = 64
_LARGEST_BITS = 20_000


class Contradiction(Exception):
    """No point has the signs that the case asks for."""


class Refine(Exception):
    """A kernel must be finer: begin again with ``scale`` of it multiplied by ``by``."""

    def __init__(self, key: tuple[str, int], by: int) -> None:
        super().__init__(f"{key} by {by}")
        self.key, self.by = key, by


class Oracle(Protocol):
    """What proposes; nothing that it says is believed."""

    def factors(self, ring: Field, num: Poly) -> list[tuple[Poly, int]]:
        """Polynomials and exponents whose product is the numerator, up to a rational number."""
        ...

    def combination(self, ring: Field, target: Element, basis: Sequence[Element]) -> list[Fraction] | None:
        """Rational coefficients with which the basis gives the target."""
        ...

    def restate(
        self, ring: Field, h: Poly, roots: Sequence[int], atoms: Sequence[Poly]
    ) -> list[tuple[Poly, int]] | None:
        """Simpler polynomials whose product with these exponents is h, up to a number and by the relations."""
        ...

    def scale(self, kind: str, index: int) -> int:
        """How many times finer a kernel is than where it was met first; the order of a root."""
        ...


@dataclass(slots=True)
class Atom:
    """An h: its polynomial or prime number, and the kernels made of it."""

    value: Element
    sign: Element
    log: Element | None = None
    root: tuple[Element, int] | None = None
    powers: list[tuple[Element, Element]] = field(default_factory=list[tuple[Element, Element]])


@dataclass(frozen=True, slots=True)
class Product:
    """sign * exp(exponent) * product of |h|**power."""

    sign: Element
    exponent: Element
    powers: dict[int, Element]


@dataclass(slots=True)
class Kernels:
    """The kernels of one proof.

    Args:
        field: their fractions.
        oracle: what proposes.
    """

    field: Field
    oracle: Oracle
    atoms: list[Atom] = field(default_factory=list[Atom])
    exps: list[tuple[Element, Element]] = field(default_factory=list[tuple[Element, Element]])
    """A and exp(A)."""
    angles: list[tuple[Element, Element]] = field(default_factory=list[tuple[Element, Element]])
    """B and tan(B)."""
    functions: list[tuple[str, tuple[Element, ...], Element]] = field(
        default_factory=list[tuple[str, tuple[Element, ...], Element]]
    )
    bounds: dict[int, Range] = field(default_factory=dict[int, Range])
    """Between which numbers the generator at a position is; None is no bound."""
    meaning: dict[int, tuple[str, int]] = field(default_factory=dict[int, tuple[str, int]])
    """What a generator at a position is: its kind and its place in the list of that kind."""
    parities: list[tuple[Poly, Element]] = field(default_factory=list[tuple[Poly, Element]])
    """Terms of integer exponents, and -1 to their power."""
    signs: list[tuple[Poly, Poly]] = field(default_factory=list[tuple[Poly, Poly]])
    """The generators of signs that nothing decides, and the polynomials that they belong to."""

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

    def constant(self, name: str) -> Element:
        if name == "E":
            return self.exp(self.field.constant(1))
        made = self.new(name, "constant", 0, positive=True)
        if name == "pi":
            self.bounds[self.field.index(made.num)] = Fraction(333, 106), Fraction(355, 113)
        return made

    # arithmetic

    def inverse(self, a: Element) -> Element:
        F = self.field
        if F.is_zero(a):
            raise GiveUp("a division by something that is zero everywhere")
        unit, factors = self.split(a.num)
        cleared = F.cleared(a)
        return F.over(F.poly(cleared), [(f, e) for f, e in factors], unit)

    def div(self, a: Element, b: Element) -> Element:
        number = self.field.number(b)
        if number is not None and number != 0:
            return Element(a.num / number, a.den)
        return self.field.mul(a, self.inverse(b))

    def integer_power(self, a: Element, n: int) -> Element:
        F = self.field
        bits = F.number(a)
        size = 1 if bits is None else max(int(bits.p).bit_length(), int(bits.q).bit_length())
        if abs(n) > (_LARGEST_POWER if bits is None else _LARGEST_BITS // size):
            raise GiveUp("a power with too large an exponent")
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
        """A rational number and factors with positive leading coefficients whose product is the numerator."""
        F = self.field
        if num.is_constant():
            return num.leading_coefficient(), []
        found = [(f / f.leading_coefficient(), e) for f, e in self.oracle.factors(F, num) if not f.is_constant()]
        product = F.ring.constant(1)
        for f, e in found:
            product = product * f**e
        unit = num.leading_coefficient() / product.leading_coefficient()
        if product * unit != num or any(f.is_constant() or e < 1 for f, e in found):
            raise GiveUp("factors whose product is something else")
        return unit, found

    # signs

    def atom(self, h: Poly | int) -> int:
        value = self.field.constant(h) if isinstance(h, int) else Element(h)
        for i, known in enumerate(self.atoms):
            if known.value.num == value.num:
                return i
        self.atoms.append(Atom(value, self.field.constant(1) if isinstance(h, int) else self._sign(h)))
        return len(self.atoms) - 1

    def _sign(self, h: Poly) -> Element:
        F = self.field
        known = self.sign_by_bounds(h)
        if known:
            return F.constant(known)
        s = self.new(f"sign({F.text(h)})", "sign", len(self.signs))
        self.signs.append((s.num, h))
        F.relate(s.num, 2, s.num * s.num - 1)
        return s

    def sign_by_bounds(self, h: Poly) -> int:
        """The sign of a polynomial wherever it is not zero, if the bounds of its generators tell, or 0."""
        low, high = self.range(h)
        if low is not None and low >= 0:
            return 1
        return -1 if high is not None and high <= 0 else 0

    def range(self, h: Poly) -> Range:
        """Numbers between which a polynomial is, from the bounds of its generators."""
        lowest, highest = Fraction(0), Fraction(0)
        down = up = False  # whether there is no bound
        for exponents, c in h.terms():
            low, high = _ONE
            for position, e in enumerate(exponents):
                if e:
                    low, high = _times((low, high), _power(self.bounds.get(position, _ANY), e))
            low, high = _times((low, high), (Fraction(int(c.p), int(c.q)),) * 2)
            down, up = down or low is None, up or high is None
            lowest, highest = lowest + (low or 0), highest + (high or 0)
        return (None if down else lowest), (None if up else highest)

    def require_positive(self, sign: Element) -> None:
        """Restrict the case to the points where a product of signs is 1."""
        F = self.field
        sign = F.poly(sign.num)
        number = F.number(sign)
        if number is not None:
            if number != 1:
                raise Contradiction
            return
        newest = next(
            p for p in range(F.capacity) if sign.num.degrees()[p]
        )  # the first position is the newest generator
        s = F.ring.gens()[newest]
        # s*rest = 1 and rest**2 = 1, so s = rest.
        rest, remainder = divmod(sign.num, s)
        if remainder or len(rest) != 1:
            raise GiveUp("a sign that is no product")
        F.relate(s, 1, s - rest)

    # products

    def product(self, u: Element) -> Product:
        """Write u, which is not zero, as a sign, an exponential and powers."""
        F = self.field
        if F.is_zero(u):
            raise GiveUp("the logarithm or a power of something that is zero everywhere")
        unit, factors = self.split(u.num)
        sign, exponent, powers = F.constant(1 if unit > 0 else -1), F.constant(0), dict[int, Element]()
        for prime, e in _primes(abs(unit)):
            powers[self.atom(prime)] = F.constant(e)
        everything = [*factors, *((F.factors[i], -e) for i, e in u.den)]
        budget = 200
        while everything:
            h, e = everything.pop(0)
            other = self._restated(h) if budget > 0 else None
            if other is not None:
                budget -= 1
                unit, parts = other
                sign = F.mul(sign, F.constant((1 if unit > 0 else -1) ** (e % 2)))
                for prime, n in _primes(abs(unit)):
                    self._count(powers, self.atom(prime), F.constant(n * e))
                everything += [(f, n * e) for f, n in parts]
                continue
            kind, place = self._generator(h)
            if kind == "sign":
                sign = F.mul(sign, self.integer_power(F.poly(h), e % 2))
            elif kind == "exp":
                exponent = F.add(exponent, F.scaled(self.exps[place][0], Fraction(e)))
            elif kind == "root":
                self._count(powers, place, F.constant(Fraction(e, self.atoms[place].root[1])))
            elif kind == "power":
                base, which = divmod(place, _MANY)
                self._count(powers, base, F.scaled(self.atoms[base].powers[which][0], Fraction(e)))
            else:
                at = self.atom(h)
                self._count(powers, at, F.constant(e))
                if e % 2:
                    sign = F.mul(sign, self.atoms[at].sign)
        return Product(sign, exponent, powers)

    def _restated(self, h: Poly) -> tuple[Rational, list[tuple[Poly, int]]] | None:
        """A number and factors, some of negative exponent, whose product is h by the relations."""
        F = self.field
        degrees = h.degrees()
        roots = [p for p, (kind, _) in self.meaning.items() if kind == "root" and degrees[p]]
        found = self.oracle.restate(F, h, roots, [a.value.num for a in self.atoms]) if roots else None
        if found is None or len(h) == 1:
            return None
        upper, lower = F.ring.constant(1), h
        for f, e in found:
            upper, lower = (upper * f**e, lower) if e > 0 else (upper, lower * f**-e)
        upper, lower = F.reduced(upper), F.reduced(lower)
        unit = lower.leading_coefficient() / upper.leading_coefficient()
        if upper * unit != lower:
            raise GiveUp("factors whose product is something else")
        parts: list[tuple[Poly, int]] = []
        for f, e in found:
            number, factors = self.split(F.reduced(f))
            unit = unit * number**e
            parts += [(g, n * e) for g, n in factors]
        return unit, parts

    def _count(self, powers: dict[int, Element], at: int, e: Element) -> None:
        powers[at] = self.field.add(powers[at], e) if at in powers else e

    def _generator(self, h: Poly) -> tuple[str, int]:
        if len(h) != 1 or h.total_degree() != 1:
            return "", 0
        return self.meaning[self.field.index(h)]

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
        return atom.log

    def power(self, u: Element, v: Element, *, whole: bool = False) -> Element:
        """u**v: an integer power of anything, else of a positive number.

        Args:
            whole: whether v is an integer at every point.
        """
        F = self.field
        number = F.number(v)
        if number is not None and number.q == 1:
            return self.integer_power(u, int(number.p))
        if F.is_zero(u):
            raise GiveUp("a power of something that is zero everywhere")
        p = self.product(u)
        if whole and F.number(p.sign) != 1:
            # sign**v is 1 where the sign is, else (-1)**v.
            up, down = F.add(F.constant(1), p.sign), F.sub(F.constant(1), p.sign)
            sign = F.scaled(F.add(up, F.mul(down, self._parity(v))), Fraction(1, 2))
            return F.mul(sign, self._raised(p, v))
        self.require_positive(p.sign)
        return self._raised(p, v)

    def _parity(self, v: Element) -> Element:
        """(-1)**v of an integer v, a product over the terms of a polynomial with integer coefficients."""
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
        F.relate(made.num, 2, made.num * made.num - 1)
        self.parities.append((term, made))
        return made

    def real_root(self, u: Element, order: int) -> Element:
        """The root of odd order, real for negative numbers too."""
        if self.field.is_zero(u):
            return u
        p = self.product(u)
        return self.field.mul(p.sign, self._raised(p, self.field.constant(Fraction(1, order))))

    def _raised(self, p: Product, v: Element) -> Element:
        F = self.field
        result = F.constant(1) if F.is_zero(p.exponent) else self.exp(F.mul(p.exponent, v))
        for at, e in p.powers.items():
            result = F.mul(result, self._atom_power(at, F.mul(e, v)))
        return result

    def _atom_power(self, at: int, e: Element) -> Element:
        """|h|**e: the rational part of e is a root, every other term a kernel of its own."""
        F = self.field
        known = Fraction(0)
        result = F.constant(1)
        for exponents, c in e.num.terms():
            over = Element(F.ring.constant(1), e.den)
            term = F.mul(Element(F.ring.from_dict({tuple(exponents): c})), over)
            number = F.number(term)
            if number is not None:
                known += Fraction(int(number.p), int(number.q))
            else:
                result = F.mul(result, self._kernel_power(at, term))
        return F.mul(result, self._root_power(at, known))

    def _root_power(self, at: int, e: Fraction) -> Element:
        F, atom = self.field, self.atoms[at]
        whole, rest = divmod(e.numerator, e.denominator)
        size = F.mul(atom.sign, atom.value)
        result = self.integer_power(size, whole)
        if not rest:
            return result
        if atom.root is None:
            order = math.lcm(self.oracle.scale("root", at), e.denominator)
            k = self.new(f"|{F.text(atom.value.num)}|**(1/{order})", "root", at, positive=True)
            F.relate(k.num, order, k.num**order - size.num)
            self.bounds[F.index(k.num)] = _root(self.range(size.num), order)
            atom.root = k, order
        k, order = atom.root
        if order % e.denominator:
            raise Refine(("root", at), math.lcm(order, e.denominator))
        return F.mul(result, self.integer_power(k, rest * order // e.denominator))

    def _kernel_power(self, at: int, m: Element) -> Element:
        F, powers = self.field, self.atoms[at].powers
        for i, (known, value) in enumerate(powers):
            ratio = self._ratio(m, known)
            if ratio is not None:
                if ratio.denominator != 1:
                    raise Refine(("power", at * _MANY + i), ratio.denominator)
                return self.integer_power(value, ratio.numerator)
        place = at * _MANY + len(powers)
        fine = F.scaled(m, Fraction(1, self.oracle.scale("power", place)))
        name = f"|{F.text(self.atoms[at].value.num)}|**({F.text(fine.num)})"
        powers.append((fine, self.new(name, "power", place, positive=True)))
        return self._kernel_power(at, m)

    def _ratio(self, a: Element, b: Element) -> Fraction | None:
        ratio = a.num.leading_coefficient() / b.num.leading_coefficient()
        same = self.field.is_zero(self.field.sub(a, Element(b.num * ratio, b.den)))
        return Fraction(int(ratio.p), int(ratio.q)) if same else None

    # exponentials

    def exp(self, u: Element) -> Element:
        F = self.field
        rest, powers = self._without_logs(u)
        result = self._pure_exp(rest)
        for at, e in powers.items():
            result = F.mul(result, self._atom_power(at, e))
        return result

    def _without_logs(self, u: Element) -> tuple[Element, dict[int, Element]]:
        """Take the terms d*log|h| out of a sum: the rest, and d of every h."""
        F = self.field
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
            self._count(powers, logs[found[0]], F.mul(Element(F.ring.from_dict({tuple(e): c})), Element(F.ring.constant(1), u.den)))
        if not powers:
            return u, powers
        return F.mul(Element(F.ring.from_dict(rest)), Element(F.ring.constant(1), u.den)), powers

    def _pure_exp(self, u: Element) -> Element:
        F = self.field
        if F.is_zero(u):
            return F.constant(1)
        place = len(self.exps)
        parts = self.combined(u, [a for a, _ in self.exps])
        if parts is None:
            a = F.scaled(u, Fraction(1, self.oracle.scale("exp", place)))
            self.exps.append((a, self.new(f"exp({F.text(a.num)})", "exp", place, positive=True)))
            parts = [*[Fraction(0)] * place, Fraction(self.oracle.scale("exp", place))]
        result = F.constant(1)
        for i, (n, (_, value)) in enumerate(zip(parts, self.exps, strict=True)):
            if n.denominator != 1:
                raise Refine(("exp", i), n.denominator)
            result = F.mul(result, self.integer_power(value, n.numerator))
        return result

    def combined(self, target: Element, basis: Sequence[Element]) -> list[Fraction] | None:
        """Rational coefficients with which the basis gives the target, as the oracle says and as is verified."""
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


def _times(a: Range, b: Range) -> Range:
    """The product of two ranges."""
    ends: list[Fraction | float] = []
    for x, y in ((x, y) for x in _ends(a) for y in _ends(b)):
        ends.append(Fraction(0) if x == 0 or y == 0 else x * y)
    low, high = min(ends), max(ends)
    return (low if isinstance(low, Fraction) else None), (high if isinstance(high, Fraction) else None)


def _root(a: Range, order: int) -> Range:
    """Between which numbers the root is of something nonnegative in the range."""
    fine = 2**64
    ends: list[Fraction | None] = []
    for end, up in zip(a, (0, 1), strict=True):
        if end is None:
            ends.append(None)
            continue
        whole = max(math.floor(end * fine**order) + up, 0)
        ends.append(Fraction(int(flint.fmpz(whole).root(order)) + up, fine))
    return ends[0] or Fraction(0), ends[1]


def _ends(a: Range) -> tuple[Fraction | float, Fraction | float]:
    return (-math.inf if a[0] is None else a[0]), (math.inf if a[1] is None else a[1])


def _power(a: Range, n: int) -> Range:
    result = _ONE
    for _ in range(n):
        result = _times(result, a)
    if n % 2 == 0:
        return max(Fraction(0), result[0] or Fraction(0)), result[1]
    return result


def _primes(c: Rational) -> list[tuple[int, int]]:
    """The prime numbers of a positive rational number, and their exponents."""
    found: list[tuple[int, int]] = []
    for size, sign in ((int(c.p), 1), (int(c.q), -1)):
        if size.bit_length() > 128:
            raise GiveUp("a power of a number with many digits")
        if size > 1:
            found += [(int(p), sign * int(e)) for p, e in flint.fmpz(size).factor()]
    return found
