"""The extension field of a complex proof: generators, with relations that hold at every point, on branch cuts, too.

    omega  exp(2*pi*i/N), with omega**(N/4) = i      exp  exp(A)             root  exp(log(h)/q), whose q-th power is h
    symbol  z            constant  pi                log  log(h)             function  f(A, ...)

The laws are exp(A + B) = exp(A)*exp(B), exp(log(h)) = h, log(c*h) = log(c) + log(h) for positive numbers c,
log(exp(log(h)*r)) = r*log(h) for -1 < r < 1, the logarithms of roots of unity, (g*h)**n = g**n*h**n for integers n,
and log(1/h) = -log(h) where h + 1/h is twice a principal root. No sign and no bound is used. log(g*h) is
log(g) + log(h) only for the pairs of `symgrad.checker.complex.branch_laws`.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction

from symgrad.checker.complex.branch_laws import root_of_prime, split_log
from symgrad.checker.extension_field.extension import ExtensionField, Oracle, TooCoarse
from symgrad.checker.extension_field.field import Element, FractionField, GiveUp, Poly, TooLarge
from symgrad.checker.extension_field.generators import factor_rational, to_fraction
from symgrad.checker.limits import COMPLEX_ROOT_ORDER, UNITY_ROOT_ORDER
from symgrad.checker.numbers import flint, rational

_ONE = Fraction(1)


@dataclass(slots=True)
class ComplexBase:
    """A base h: a fraction, a prime number or a positive constant, with the generators log(h) and exp(log(h)/q).

    For a fraction h = g/d the generator is d*exp(log(h)/q), whose q-th power is a polynomial.
    """

    value: Element
    positive: bool
    log: Element | None = None
    root: tuple[Element, int] | None = None


@dataclass(slots=True)
class ComplexExtensionField:
    """The extension field of one proof about complex numbers.

    Args:
        field: fractions of polynomials in the generators.
        oracle: the object that proposes factors and combinations, which are then verified.
    """

    field: FractionField
    oracle: Oracle
    ring: ExtensionField = dataclasses.field(init=False)
    """Only the arithmetic of this class is used: its signs are those of real numbers."""
    turns: int = 4
    omega: Element = dataclasses.field(init=False)
    bases: list[ComplexBase] = dataclasses.field(default_factory=list[ComplexBase])
    exps: list[tuple[Element, Element]] = dataclasses.field(default_factory=list[tuple[Element, Element]])
    """A and exp(A)."""
    functions: list[tuple[str, tuple[Element, ...], Element]] = dataclasses.field(
        default_factory=list[tuple[str, tuple[Element, ...], Element]]
    )
    constants: dict[str, Element] = dataclasses.field(default_factory=dict[str, Element])
    symbols: dict[str, Element] = dataclasses.field(default_factory=dict[str, Element])
    positive: dict[int, tuple[int, Fraction]] = dataclasses.field(
        default_factory=dict[int, tuple[int, Fraction]]
    )
    """Generators that are positive at every point, by position: base and exponent; the base -1 is E."""
    roots: dict[int, tuple[int, Fraction]] = dataclasses.field(
        default_factory=dict[int, tuple[int, Fraction]]
    )
    """Generators that are exp(log(h)*r), by position: the place of the base h, and r."""

    def __post_init__(self) -> None:
        self.ring = ExtensionField(self.field, self.oracle)
        self.turns = 4 * self.oracle.scale("turns", 0)
        if self.turns > UNITY_ROOT_ORDER:
            raise GiveUp("a root of unity of high order")
        F = self.field
        made = F.generator("i" if self.turns == 4 else f"exp(2*pi*i/{self.turns})")
        zero = F.ring.constant(0)
        for n, c in enumerate(flint.fmpz_poly.cyclotomic(self.turns).coeffs()):
            zero = zero + made**n * rational(int(c))
        F.add_relation(made, int(zero.total_degree()), zero)
        self.omega = Element(made)

    # leaves

    def _new(self, name: str) -> Element:
        return Element(self.field.generator(name))

    def unity(self, turn: Fraction) -> Element:
        """exp(2*pi*i*turn)."""
        k = turn * self.turns
        if k.denominator != 1:
            raise TooCoarse(("turns", 0), k.denominator)
        return self.field.poly(self.omega.num ** (k.numerator % self.turns))

    def symbol(self, name: str, *, positive: bool) -> Element:
        if name not in self.symbols:
            made = self.symbols[name] = self._new(name)
            if positive:
                self.positive[self.field.index(made.num)] = self._base(made, positive=True), _ONE
        return self.symbols[name]

    def constant(self, name: str) -> Element:
        """Return a constant; all but i are positive."""
        if name == "i":
            return self.unity(Fraction(1, 4))
        if name == "E":
            return self.exp(self.field.constant(1))
        if name not in self.constants:
            made = self.constants[name] = self._new(name)
            self.positive[self.field.index(made.num)] = self._base(made, positive=True), _ONE
        return self.constants[name]

    def opaque(self, name: str, *args: Element) -> Element:
        """Return an opaque function: equal arguments give equal values; no other law is used."""
        F = self.field
        for known, its, value in self.functions:
            if known == name and all(F.is_zero(F.sub(a, b)) for a, b in zip(args, its, strict=True)):
                return value
        value = self._new(f"{name}({', '.join(F.fraction_text(a) for a in args)})")
        self.functions.append((name, args, value))
        return value

    # exponentials

    def exp(self, u: Element) -> Element:
        F = self.field
        if F.is_zero(u):
            return F.constant(1)
        half_turn = (
            F.mul(self.unity(Fraction(1, 4)), self.constants["pi"]) if "pi" in self.constants else None
        )
        logs = [(at, b.log) for at, b in enumerate(self.bases) if b.log is not None]
        basis = (
            [a for a, _ in self.exps]
            + [log for _, log in logs]
            + ([half_turn] if half_turn is not None else [])
        )
        parts = self.ring.verified_combination(u, basis) if basis else None
        if parts is None:
            return self._new_exp(u)
        result = F.constant(1) if half_turn is None else self.unity(parts[-1] / 2)
        for i, (n, (_, value)) in enumerate(zip(parts, self.exps, strict=False)):
            if n.denominator != 1:
                raise TooCoarse(("exp", i), n.denominator)
            result = F.mul(result, self.ring.integer_power(value, n.numerator))
        for r, (at, _) in zip(parts[len(self.exps) :], logs, strict=False):
            result = F.mul(result, self._root_power(at, r)) if r else result
        return result

    def _new_exp(self, u: Element) -> Element:
        F, place = self.field, len(self.exps)
        scale = self.oracle.scale("exp", place)
        a = F.scaled(u, Fraction(1, scale))
        made = self._new(f"exp({F.fraction_text(a)})")
        self.exps.append((a, made))
        number = F.number(a)
        if number is not None:
            self.positive[F.index(made.num)] = -1, to_fraction(number)
        return self.ring.integer_power(made, scale)

    def _root_power(self, at: int, r: Fraction) -> Element:
        """Return exp(r*log(h)); where h is 0 and r is positive, it is 0."""
        F, base = self.field, self.bases[at]
        if r.denominator == 1:
            return self.ring.integer_power(base.value, r.numerator)
        if base.root is None:
            base.root = self._new_root(at, math.lcm(self.oracle.scale("root", at), r.denominator))
        root, order = base.root
        if order % r.denominator:
            raise TooCoarse(("root", at), r.denominator)
        return F.mul(
            self.ring.integer_power(base.value, r.numerator // r.denominator),
            self.ring.integer_power(root, r.numerator % r.denominator * (order // r.denominator)),
        )

    def _new_root(self, at: int, order: int) -> tuple[Element, int]:
        F, value = self.field, self.bases[at].value
        if order > COMPLEX_ROOT_ORDER:
            raise GiveUp("a root of too high an order")
        below = F.denominator(value)
        made = self._new(
            f"({F.fraction_text(value)})**(1/{order})" + (f"*({F.text(below)})" if value.den else "")
        )
        power, degree = value.num, order
        for _ in range(order - 1):
            F.spend(len(power) * len(below))
            power = F.reduced(power * below)
        root = root_of_prime(F, self.turns, self.unity, value)
        if root is not None and order % 2 == 0:
            power, degree = root.num, order // 2
        F.add_relation(made.num, degree, made.num**degree - power)
        position = F.index(made.num)
        if self.bases[at].positive:
            self.positive[position] = at, Fraction(1, order)
        elif not value.den:
            self.roots[position] = at, Fraction(1, order)
        return F.over(made, [(F.factors[i], e) for i, e in value.den], flint.fmpq(1)), order

    # logarithms

    def log(self, u: Element) -> Element:
        F = self.field
        if F.is_zero(u):
            raise GiveUp("the logarithm of something that is zero everywhere")
        total, rest = self._split_positive(u)
        turn = self._turn(rest)
        if turn is not None:
            return F.add(total, F.scaled(F.mul(self.unity(Fraction(1, 4)), self.constant("pi")), 2 * turn))
        known = self._base_of_root(rest)
        if known is not None:
            at, r = known
            return F.add(total, F.scaled(self._log(at), r))
        known = self._reciprocal_base(rest)
        if known is not None:
            return F.sub(total, self._log(known))
        two = split_log(self.ring, rest)
        if two is not None:
            g, h, power = two
            return F.add(total, F.add(self.log(g), F.scaled(self.log(h), Fraction(power))))
        return F.add(total, self._log(self._base(rest)))

    def _reciprocal_base(self, u: Element) -> int | None:
        """Return the place of a base h = 1/u with -pi/2 < arg(h) < pi/2: then u + h is twice a principal root."""
        F = self.field
        for at, base in enumerate(self.bases):
            if F.number(F.mul(base.value, u)) == 1:
                mean = F.scaled(F.add(base.value, u), Fraction(1, 2))
                square = F.mul(mean, mean)
                if not F.is_zero(square) and F.is_zero(F.sub(mean, self.sqrt(square))):
                    return at
        return None

    def _split_positive(self, u: Element) -> tuple[Element, Element]:
        """Write u = p*v with a positive p; return log(p) and v."""
        F = self.field
        unit = abs(u.num.leading_coefficient())
        total = F.constant(0)
        for prime, e in factor_rational(unit):
            total = F.add(
                total, F.scaled(self._log(self._base(F.constant(prime), positive=True)), Fraction(e))
            )
        lowest = [min(column) for column in zip(*u.num.monoms(), strict=True)]
        powers = {p: int(e) for p, e in enumerate(lowest) if e and p in self.positive}
        den: list[tuple[int, int]] = []
        for i, e in u.den:
            factor = F.factors[i]
            if len(factor) == 1 and factor.total_degree() == 1 and F.index(factor) in self.positive:
                powers[F.index(factor)] = powers.get(F.index(factor), 0) - e
            else:
                den.append((i, e))
        exponents = [0] * F.capacity
        for p, e in powers.items():
            at, r = self.positive[p]
            part = F.constant(r * e) if at < 0 else F.scaled(self._log(at), r * e)
            total = F.add(total, part)
            exponents[p] = max(e, 0)
        num, _ = divmod(u.num / unit, F.ring.from_dict({tuple(exponents): 1}))
        return total, Element(num, tuple(den))

    def _turn(self, u: Element) -> Fraction | None:
        """Return the t with -1/2 < t <= 1/2 and u = exp(2*pi*i*t), if u is a power of omega."""
        F = self.field
        if u.den or any(d for p, d in enumerate(u.num.degrees()) if p != F.index(self.omega.num)):
            return None
        for k in range(self.turns):
            turn = Fraction(k, self.turns)
            if u.num == self.unity(turn).num:
                return turn if turn <= Fraction(1, 2) else turn - 1
        return None

    def _base_of_root(self, u: Element) -> tuple[int, Fraction] | None:
        """If u is exp(r*log(h)) with -1 < r < 1, return r and the place of h."""
        if u.den or len(u.num) != 1 or u.num.leading_coefficient() != 1:
            return None
        degrees = u.num.degrees()
        used = [p for p, d in enumerate(degrees) if d]
        if len(used) != 1 or used[0] not in self.roots:
            return None
        at, r = self.roots[used[0]]
        r *= int(degrees[used[0]])
        return (at, r) if r < 1 else None

    def _base(self, value: Element, *, positive: bool = False) -> int:
        F = self.field
        for at, known in enumerate(self.bases):
            if F.is_zero(F.sub(known.value, value)):
                return at
        self.bases.append(ComplexBase(value, positive))
        return len(self.bases) - 1

    def _log(self, at: int) -> Element:
        base = self.bases[at]
        if base.log is None:
            base.log = self._new(f"log({self.field.fraction_text(base.value)})")
            if base.positive and self.field.number(base.value) is not None:
                self.positive[self.field.index(base.log.num)] = self._base(base.log, positive=True), _ONE
        return base.log

    # functions

    def power(self, u: Element, v: Element) -> Element:
        F = self.field
        exponent = F.integer(v)
        if exponent is not None:
            try:
                return self.ring.integer_power(u, exponent)
            except TooLarge:
                return self.opaque("pow", u, v)
        if F.is_zero(u):
            raise GiveUp("a power of something that is zero everywhere")
        return self.exp(F.mul(v, self.log(u)))

    def power_with_integer_exponent(self, u: Element, v: Element) -> Element:
        """Return u**v, where v is an integer at every point: then any branch of log(u) gives the same power."""
        F, ring = self.field, self.ring
        if F.number(v) is not None or F.is_zero(u):
            return self.power(u, v)
        unit, factors = ring.split(u.num)
        total = self.log(F.scaled(F.constant(1), to_fraction(unit)))
        exps = {F.index(e.num): a for a, e in self.exps}
        for h, e in [*factors, *((F.factors[i], -e) for i, e in u.den)]:
            at = F.index(h) if len(h) == 1 and h.total_degree() == 1 else -1
            if at in exps:
                part = exps[at]
            elif at in self.roots:
                place, r = self.roots[at]
                part = F.scaled(self._log(place), r)
            else:
                part = self.log(Element(h))
            total = F.add(total, F.scaled(part, Fraction(e)))
        return self.exp(F.mul(v, total))

    def is_thin(self, u: Element) -> bool:
        """Tell whether the zero set of a nonzero fraction certainly contains no open set.

        It does not if the fraction or its norm is meromorphic: the norm is the product of its conjugates over all roots
        in it.
        """
        F, norm = self.field, u.num
        roots = {
            F.index(root[0].num): root for b in self.bases if not b.positive and (root := b.root) is not None
        }
        relations = {position: zero for position, _, zero in F.relations}
        for position in sorted(roots):  # the newest generator first
            if norm.degrees()[position]:
                F.spend(len(norm) ** 2)
                norm = F.reduced(norm.resultant(relations[position], position))
        meromorphic = {
            *self.positive,
            F.index(self.omega.num),
            *(F.index(e.num) for e in self.symbols.values()),
        }

        def made_of(h: Poly) -> bool:
            return all(p in meromorphic for p, d in enumerate(h.degrees()) if d)

        for a, value in self.exps:  # an exponential follows the generators of its exponent
            if made_of(a.num) and all(made_of(F.factors[i]) for i, _ in a.den):
                meromorphic.add(F.index(value.num))
        return bool(norm) and made_of(norm)

    def sqrt(self, u: Element) -> Element:
        return u if self.field.is_zero(u) else self.power(u, self.field.constant(Fraction(1, 2)))

    def cos(self, u: Element) -> Element:
        up, down = self._turned(u)
        return self.field.scaled(self.field.add(up, down), Fraction(1, 2))

    def sin(self, u: Element) -> Element:
        F = self.field
        up, down = self._turned(u)
        return F.scaled(F.mul(self.unity(Fraction(3, 4)), F.sub(up, down)), Fraction(1, 2))

    def _turned(self, u: Element) -> tuple[Element, Element]:
        """Return exp(i*u) and exp(-i*u)."""
        up = self.exp(self.field.mul(self.unity(Fraction(1, 4)), u))
        return up, self.ring.inverse(up)
