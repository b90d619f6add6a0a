"""Rational forms: what is written with + - * / and powers, as one quotient of polynomials in its other parts.

The parts become generators: `sqrt(u)` one whose square is u, `exp(2*u)` a power of that of `exp(u)`, `sigmoid(-u)` what
is left of `sigmoid(u)` to 1. What is equal then looks alike, common factors cancel, and a quotient has several forms:
factored, as a sum over its denominator, term by term, and with a part that several terms share in front of them. No
form is zero below where the expression is not; one may have a value where a factor of the expression has cancelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import Any, TypeAlias

from symgrad.ir.graph import Node, as_node, number
from symgrad.ir.traverse import topological
from symgrad.ops.arith import add, div, mul, neg, pow
from symgrad.ops.elementary import exp, sigmoid, sqrt
from symgrad.ops.hyperbolic import cosh, sech, sinh, tanh
from symgrad.ops.logic import where
from symgrad.ops.trig import cos, sin
from symgrad.words.ring import TERMS, LongError, Polynomial, Ring

__all__ = ["Rational", "opened"]

_Fraction: TypeAlias = "tuple[Polynomial, Polynomial]"

_POWER = 12
_SUMMED = 24
"""Terms up to which a sum is offered as one."""

_GROUPED = 8
"""The same term by term, and with a part that some of them have in common."""

_SQUARES = {sin: (cos, 1, -1), cosh: (sinh, 1, 1), sech: (tanh, 1, -1)}
"""Functions whose square is a + b times that of a fellow."""

_ARITHMETIC = frozenset((add, mul, div, neg))


def opened(root: Node, named: Mapping[Node, Node] = {}) -> Rational | None:
    """Return an expression as a quotient of polynomials; None if it is no arithmetic, or too long.

    Args:
        root: the expression.
        named: values that have a name, which stands for them.
    """
    region = _region(root, named)
    if not any(n.op in _ARITHMETIC or n.op is pow for n in region):
        return None
    try:
        return _Opening(region, named).rational(root)
    except LongError:
        return None


def _is_arithmetic(node: Node) -> bool:
    if node.op is pow:
        return node.args[1].is_number() and abs(node.args[1].value) <= _POWER
    return node.op in _ARITHMETIC or node.op is sqrt


def _region(root: Node, named: Mapping[Node, Node]) -> list[Node]:
    """Return the arithmetic of an expression and its parts, arguments first."""
    parts: set[Node] = set()
    pending = [root]
    seen = {root}
    while pending:
        node = pending.pop()
        if node in named or not _is_arithmetic(node):
            parts.add(node)
            continue
        fresh = [a for a in node.args if a not in seen]
        seen.update(fresh)
        pending += fresh
    return topological([root], until=parts)


class _Opening:
    """One expression on its way."""

    def __init__(self, region: list[Node], named: Mapping[Node, Node]) -> None:
        self._named = named
        self._region = region
        self._ring = Ring()
        self._roots: dict[Node, int] = {}  # of a base, the root of which the generator is
        self._scales: dict[
            Node, Fraction
        ] = {}  # of an exponent without its number, what the generator has of it
        self._values: dict[Node, _Fraction] = {}
        self._plan()

    def _plan(self) -> None:
        """Choose the generators, those with relations first."""
        parts = [n for n in self._region if n in self._named or not _is_arithmetic(n)]
        for n in self._region:
            base, exponent = _power(n)
            if base is not None and exponent.denominator != 1:
                self._roots[base] = lcm(self._roots.get(base, 1), exponent.denominator)
        for n in parts:
            if n.op is exp and n not in self._named:
                c, rest = _split(n.args[0])
                found = self._scales.get(rest)
                self._scales[rest] = abs(c) if found is None else _common(found, c)
        plain: list[Node] = []
        for base, root in self._roots.items():
            self._ring.part(_root_of(base, root))
        for n in parts:
            if (n.op in _SQUARES and n not in self._named and self._fellow(n, parts) is not None) or (
                n.op is where and _is_indicator(n)
            ):
                self._ring.part(n)
            else:
                plain.append(n)
        for n in plain:
            if n.is_number():
                continue
            if n in self._named:
                self._ring.part(self._named[n])
            elif n.op is exp:
                c, rest = _split(n.args[0])
                self._ring.part(self._exponential(rest))
            elif n.op is sigmoid:
                self._ring.part(self._upright(n)[0])
            else:
                self._ring.part(n)
        self._ring.close()
        for n in self._ring.nodes:
            self._relate(n)

    def _fellow(self, n: Node, parts: list[Node]) -> Node | None:
        fellow = _SQUARES[n.op][0](n.args[0])
        if fellow in self._named:
            return self._named[fellow]
        return fellow if fellow in parts else None

    def _exponential(self, rest: Node) -> Node:
        scale = self._scales[rest]
        one = exp(rest if scale == 1 else number(scale) * rest)
        return self._named.get(one, one)

    def _upright(self, n: Node) -> tuple[Node, bool]:
        """Return the generator of a sigmoid, and whether it is what is left of it to 1."""
        other = sigmoid(-n.args[0])
        if other in self._named:
            return self._named[other], True
        negative = _split(n.args[0])[0] < 0
        return (other, True) if negative else (n, False)

    def _relate(self, n: Node) -> None:
        ring = self._ring
        k = ring.place[n]
        own = ring.gens[k]
        if n.op in _SQUARES:
            fellow, a, b = _SQUARES[n.op]
            g = fellow(n.args[0])
            g = self._named.get(g, g)
            if g in ring.place and ring.place[g] > k:
                ring.relations.append((k, 2, own**2 - ring.constant(a) - b * ring.gens[ring.place[g]] ** 2))
        elif n.op is where and _is_indicator(n):
            ring.relations.append((k, 2, own**2 - own))

    # -- values ----------------------------------------------------------------------------------------------

    def rational(self, root: Node) -> Rational:
        for n in self._region:
            self._values[n] = self._value(n)
            if self._roots.get(n, 1) > 1:
                self._relate_root(n)
        above, below = self._values[root]
        common = above.gcd(below)
        if not common.is_constant():
            above, below = above / common, below / common
        return Rational(self._ring, root, above, below, self._values[root])

    def _relate_root(self, base: Node) -> None:
        """The power of a root is its base, where that is a polynomial in what comes later."""
        root = self._roots[base]
        place = self._ring.place[_root_of(base, root)]
        above, below = self._values[base]
        if below.is_constant() and above.degrees()[place] == 0:
            own = self._ring.gens[place]
            # Only if the power of the generator leads: what the base is made of comes later.
            if all(d == 0 for d in above.degrees()[:place]):
                self._ring.relations.append((place, root, own**root - above / below.leading_coefficient()))

    def _value(self, n: Node) -> _Fraction:
        ring = self._ring
        one = ring.constant(1)
        if n in self._named:
            return ring.gens[ring.place[self._named[n]]], one
        if n.is_number():
            return ring.constant(n.value), one
        if n.op is exp:
            c, rest = _split(n.args[0])
            return _raised(ring.gens[ring.place[self._exponential(rest)]], one, int(c / self._scales[rest]))
        if n.op is sigmoid:
            g, left = self._upright(n)
            own = ring.gens[ring.place[g]]
            return (1 - own if left else own), one
        base, exponent = _power(n)
        if base is not None and exponent.denominator != 1:
            root = self._roots[base]
            own = ring.gens[ring.place[_root_of(base, root)]]
            return self._checked(*_raised(own, one, int(exponent * root)))
        if not _is_arithmetic(n):
            return ring.gens[ring.place[n]], one
        values = [self._values[a] for a in n.args]
        match n.op:
            case op if op is add:
                (a, b), (c, d) = values
                if b == d:
                    return self._checked(a + c, b)
                g = b.gcd(d)
                left, right = d / g, b / g
                return self._checked(self._times(a, left) + self._times(c, right), self._times(b, left))
            case op if op is neg:
                return -values[0][0], values[0][1]
            case op if op is mul:
                (a, b), (c, d) = values
                return self._checked(self._times(a, c), self._times(b, d))
            case op if op is div:
                (a, b), (c, d) = values
                if c.is_zero():
                    raise LongError
                return self._checked(self._times(a, d), self._times(b, c))
            case _:
                a, b = values[0]
                k = int(exponent)
                if k < 0:
                    if a.is_zero():
                        raise LongError
                    a, b, k = b, a, -k
                above, below = one, one
                for _ in range(k):
                    above, below = self._times(above, a), self._times(below, b)
                return self._checked(above, below)

    def _times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        if len(a) * len(b) > 4 * TERMS:
            raise LongError
        return a * b

    def _checked(self, a: Polynomial, b: Polynomial) -> _Fraction:
        a, b = self._ring.reduced(a), self._ring.reduced(b)
        if b.is_zero() or max(len(a), len(b)) > TERMS:
            raise LongError
        return a, b


@dataclass(slots=True)
class Rational:
    """An expression as a quotient of polynomials without a common factor.

    Args:
        given: the quotient before anything cancelled.
    """

    _ring: Ring
    root: Node
    above: Polynomial
    below: Polynomial
    given: _Fraction

    def without_roots(self) -> Rational | None:
        """Return it with no root below, whose factors then cancel; None if that is zero where the given one is not.

        `1/(x - sqrt(2)) - 1/(x + sqrt(2))` is `2*sqrt(2)/(x**2 - 2)`.
        """
        ring = self._ring
        above, below = self.above, self.below
        try:
            for k, _ in ring.roots():
                if below.degrees()[k]:
                    other = ring.conjugate(below, k)
                    above, below = ring.product(above, other), ring.product(below, other)
        except LongError:
            return None
        if below.is_zero() or below == self.below:
            return None
        common = below
        for part in ring.parts(above):
            common = common.gcd(part)
        above, below = above / common, below / common
        # It has to be the same everywhere, and zero below only where the given one is.
        given_above, given_below = self.given
        try:
            left, right = ring.product(given_above, below), ring.product(above, given_below)
            square = ring.product(given_below, given_below)
        except LongError:
            return None
        if left != right or not (self._divides(below, given_below) or self._divides(below, square)):
            return None
        return Rational(ring, self.root, above, below, self.given)

    def _divides(self, p: Polynomial, q: Polynomial) -> bool:
        return all(divmod(part, p)[1].is_zero() for part in self._ring.parts(q))

    def forms(self) -> Iterator[Node]:
        """Yield it as nodes: factored, as a sum over a product, and term by term."""
        if self.above.is_zero():
            yield as_node(0)
            return
        c, factors = self.above.factor()
        d, divisors = self.below.factor()
        below = [(self._sum(f), -e) for f, e in divisors]
        yield self._product(_value(c) / _value(d), [(self._sum(f), e) for f, e in factors] + below)
        sums = [f for f, e in divisors if len(f) > 1 and e == 1]
        if len(sums) > 1:
            others = [(self._sum(f), -e) for f, e in divisors if f not in sums]
            whole = (self._sum(reduce(lambda a, b: a * b, sums)), -1)
            yield self._product(
                _value(c) / _value(d), [*[(self._sum(f), e) for f, e in factors], *others, whole]
            )
        if 1 < len(self.above) <= _SUMMED:
            yield self._product(1 / _value(d), [(self._sum(self.above), 1), *below])
            if divisors and len(self.above) <= _GROUPED:
                yield reduce(lambda a, b: a + b, self._terms(d, divisors))

        yield from self._grouped([*below], _value(d))

    def _grouped(self, below: list[tuple[Node, int]], d: Fraction) -> Iterator[Node]:
        """Yield it with a part that some of its terms have in front of these: `y + s*(1 - y)`."""
        terms = len(self.above)
        if not 2 < terms <= _GROUPED:
            return
        for gen in self._ring.gens:
            quotient, rest = divmod(self.above, gen)
            if 1 < len(quotient) < terms and rest:
                total = self._factored(gen * quotient) + self._factored(rest)
                yield self._product(1 / d, [(total, 1), *below])

    def _factored(self, p: Polynomial) -> Node:
        c, factors = p.factor()
        return self._product(_value(c), [(self._sum(f), e) for f, e in factors])

    def _terms(self, d: Any, divisors: list[tuple[Polynomial, int]]) -> Iterator[Node]:
        """Yield the terms of the quotient, each without the factors that it shares with the denominator."""
        for monomial, coefficient in zip(self.above.monoms(), self.above.coeffs(), strict=True):
            term = self._ring.context.from_dict({monomial: coefficient})
            below: list[tuple[Node, int]] = []
            for f, e in divisors:
                left = e
                while left:
                    quotient, rest = divmod(term, f)
                    if not rest.is_zero():
                        break
                    term, left = quotient, left - 1
                if left:
                    below.append((self._sum(f), -left))
            yield self._product(1 / _value(d), [(self._sum(term), 1), *below])

    def _product(self, c: Fraction, factors: list[tuple[Node, int]]) -> Node:
        above = [b if e == 1 else b ** number(int(e)) for b, e in factors if e > 0]
        below = [b if e == -1 else b ** number(-int(e)) for b, e in factors if e < 0]
        top = reduce(lambda a, b: a * b, above, number(abs(c.numerator)))
        made = top if not below else top / reduce(lambda a, b: a * b, below)
        made = made / number(c.denominator) if c.denominator != 1 else made
        return -made if c < 0 else made

    def _sum(self, p: Polynomial) -> Node:
        for k, square in self._ring.roots():
            root = self._ring.nodes[k]
            if root.op is sqrt and p == square:
                return root.args[0]
        total: Node | None = None
        for monomial, coefficient in zip(p.monoms(), p.coeffs(), strict=True):
            powers = [(self._ring.nodes[k], e) for k, e in enumerate(monomial) if e]
            term = self._product(abs(_value(coefficient)), powers)
            if coefficient < 0:
                term = -term
            total = term if total is None else total + term
        return as_node(0) if total is None else total


def _value(c: Any) -> Fraction:
    return Fraction(int(c.p), int(c.q))


def _raised(base: Polynomial, one: Polynomial, k: int) -> _Fraction:
    if abs(k) > _POWER:
        raise LongError
    return (base**k, one) if k >= 0 else (one, base**-k)


def _power(n: Node) -> tuple[Node | None, Fraction]:
    if n.op is sqrt:
        return n.args[0], Fraction(1, 2)
    if n.op is pow and n.args[1].is_number():
        return n.args[0], Fraction(n.args[1].value)
    return None, Fraction(1)


def _root_of(base: Node, root: int) -> Node:
    return sqrt(base) if root == 2 else pow(base, number(Fraction(1, root)))


def _split(node: Node) -> tuple[Fraction, Node]:
    """Return a node as a number times the rest."""
    c = Fraction(1)
    while True:
        if node.op is neg:
            c, node = -c, node.args[0]
        elif node.op is mul and node.args[0].is_number() and node.args[0].value:
            c, node = c * node.args[0].value, node.args[1]
        elif node.op is div and node.args[1].is_number() and node.args[1].value:
            c, node = c / Fraction(node.args[1].value), node.args[0]
        elif node.op in (mul, div) and node.args[0].op is neg:
            c, node = -c, node.op(node.args[0].args[0], node.args[1])
        else:
            return c, node


def _common(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(
        gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator
    )


def _is_indicator(n: Node) -> bool:
    return {0, 1} == {a.value if a.is_number() else None for a in n.args[1:]}
