"""The forms of a quotient of polynomials: factored, as a sum over its denominator, term by term, with a part in front.

The denominator of a form is zero only where the denominator of the given quotient is zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import inf
from typing import Any, TypeAlias

from symgrad.ir.graph import Node, as_node, number
from symgrad.ops.scalar.arith import add, pow
from symgrad.ops.scalar.elementary import sqrt
from symgrad.pretty.forms.cost import COST
from symgrad.pretty.forms.polynomials import LongError, Polynomial, Ring
from symgrad.pretty.limits import GROUPED_TERMS, QUOTIENT_TERMS

Quotient: TypeAlias = "tuple[Polynomial, Polynomial]"
Factors: TypeAlias = "tuple[Any, list[tuple[Polynomial, int]]]"
"""A number, and factors with their exponents."""


@dataclass(slots=True)
class Rational:
    """An expression as a quotient of polynomials without a common factor.

    Args:
        given: the quotient before common factors cancelled.
    """

    _ring: Ring
    root: Node
    above: Polynomial
    below: Polynomial
    given: Quotient
    _squares: list[tuple[Polynomial, Node]] | None = None
    _factors: dict[int, tuple[Polynomial, Factors]] = field(
        default_factory=dict[int, "tuple[Polynomial, Factors]"]
    )
    _terms_met: dict[tuple[tuple[int, ...], int, int], Node] = field(
        default_factory=dict[tuple[tuple[int, ...], int, int], Node]
    )
    _nodes: dict[int, tuple[Polynomial, Node]] = field(default_factory=dict[int, "tuple[Polynomial, Node]"])

    def without_roots(self) -> Rational | None:
        """Return the quotient without roots in the denominator; None if this would make it undefined at further points.

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
        # The result must be equal everywhere, and its denominator zero only where the given one is.
        given_above, given_below = self.given
        try:
            left, right = ring.product(given_above, below), ring.product(above, given_below)
            square = ring.product(given_below, given_below)
        except LongError:
            return None
        if left != right or not (self._divides(below, given_below) or self._divides(below, square)):
            return None
        return Rational(ring, self.root, above, below, self.given)

    @property
    def nodes(self) -> list[Node]:
        """The generators."""
        return self._ring.nodes

    def squares(self) -> list[tuple[Polynomial, Node]]:
        """Return the radicands of the square roots among the generators, as polynomials and as nodes."""
        if self._squares is None:
            nodes = self._ring.nodes
            self._squares = [(p, nodes[k].args[0]) for k, p in self._ring.roots() if nodes[k].op is sqrt]
        return self._squares

    def _divides(self, p: Polynomial, q: Polynomial) -> bool:
        return all(divmod(part, p)[1].is_zero() for part in self._ring.parts(q))

    def forms(self, cost: Callable[[Node], float] | None = None, most: float = inf) -> Iterator[Node]:
        """Yield the quotient as nodes: factored, as a sum over a product, and term by term.

        Args:
            cost: a function that measures the cost of reading a part.
            most: forms that certainly cost more are left out.
        """
        if self.above.is_zero():
            yield as_node(0)
            return
        c, factors = self._factors_of(self.above)
        d, divisors = self._factors_of(self.below)
        bound = _Bound(self, cost, most)
        over = bound.of_product(divisors)
        if over > most:
            return
        below = [(self._sum(f), -e) for f, e in divisors]
        factored = bound.of_product(factors)
        if over + factored <= most:
            yield self._product(_value(c) / _value(d), [(self._sum(f), e) for f, e in factors] + below)
        paired = _paired(factors)
        if len(paired) < len(factors) and over + bound.of_product(paired) <= most:
            yield self._product(_value(c) / _value(d), [(self._sum(f), e) for f, e in paired] + below)
        sums = [f for f, e in divisors if len(f) > 1 and e == 1]
        if len(sums) > 1:
            others = [(f, e) for f, e in divisors if f not in sums]
            whole = reduce(lambda a, b: a * b, sums)
            if factored + bound.of_product([*others, (whole, 1)]) <= most:
                parts = [*((f, e) for f, e in factors), *((f, -e) for f, e in (*others, (whole, 1)))]
                yield self._product(_value(c) / _value(d), [(self._sum(f), e) for f, e in parts])
        if 1 < len(self.above) <= QUOTIENT_TERMS:
            if over + bound.of_sum(self.above) <= most:
                yield self._product(1 / _value(d), [(self._sum(self.above), 1), *below])
            if divisors and len(self.above) <= GROUPED_TERMS:
                yield reduce(lambda a, b: a + b, self._terms(d, divisors))

        yield from self._grouped([*below], _value(d))

    def _grouped(self, below: list[tuple[Node, int]], d: Fraction) -> Iterator[Node]:
        """Yield forms in which a common part of some terms of a factor is factored out of these: `y + s*(1 - y)`."""
        c, factors = self._factors_of(self.above)
        for factor, e in factors:
            if e != 1:
                continue
            others = [(self._sum(f), k) for f, k in factors if f is not factor]
            for first, rest in self._parted(factor):
                product = self._factored(rest)
                if product.op is not add:
                    yield self._product(
                        _value(c) / d, [*others, (self._factored(first) + product, 1), *below]
                    )
                parts = [self._quotient(c * p) for p in (first, rest)] if len(factors) == 1 else []
                if len(parts) > 1 and None not in parts:
                    yield reduce(operator.add, filter(None, parts))

    def _parted(self, p: Polynomial) -> Iterator[tuple[Polynomial, Polynomial]]:
        """Yield the terms that share a generator, and the other terms; each split only once."""
        if 2 < len(p) <= GROUPED_TERMS:
            met: list[Polynomial] = []
            for k, gen in enumerate(self._ring.gens):
                quotient, rest = divmod(p, gen)
                if 1 < len(quotient) < len(p) and rest and rest not in met and not quotient.degrees()[k]:
                    met.append(rest)
                    yield gen * quotient, rest

    def _factors_of(self, p: Polynomial) -> Factors:
        """Return the factors of a polynomial.

        The same object is returned each time, because polynomials have no hash.
        """
        found = self._factors.get(id(p))
        if found is None:
            found = self._factors[id(p)] = p, p.factor()
        return found[1]

    def _quotient(self, above: Polynomial) -> Node | None:
        """Return the quotient of a polynomial and the denominator, factored; None if nothing cancels."""
        common = above.gcd(self.below)
        if common.is_constant():
            return None
        c, factors = (above / common).factor()
        d, divisors = (self.below / common).factor()
        parts = [(self._sum(f), e) for f, e in factors] + [(self._sum(f), -e) for f, e in divisors]
        return self._product(_value(c) / _value(d), parts)

    def _factored(self, p: Polynomial) -> Node:
        c, factors = p.factor()
        return self._product(_value(c), [(self._sum(f), e) for f, e in _paired(factors)])

    def _terms(self, d: Any, divisors: list[tuple[Polynomial, int]]) -> Iterator[Node]:
        """Yield the terms of the quotient; in each, the factors that it shares with the denominator are cancelled."""
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

    def _term(self, monomial: tuple[int, ...], coefficient: Any) -> Node:
        """Return a term as a node; terms are cached, because the forms of a quotient share most of theirs."""
        key = (monomial, int(coefficient.p), int(coefficient.q))
        found = self._terms_met.get(key)
        if found is None:
            powers = [(self._ring.nodes[k], e) for k, e in enumerate(monomial) if e]
            found = self._product(abs(_value(coefficient)), powers)
            found = self._terms_met[key] = -found if coefficient < 0 else found
        return found

    def _product(self, c: Fraction, factors: list[tuple[Node, int]]) -> Node:
        above = [b if e == 1 else b ** number(int(e)) for b, e in factors if e > 0]
        below = [b if e == -1 else b ** number(-int(e)) for b, e in factors if e < 0]
        top = reduce(lambda a, b: a * b, above, number(abs(c.numerator)))
        made = top if not below else top / reduce(lambda a, b: a * b, below)
        made = made / number(c.denominator) if c.denominator != 1 else made
        return -made if c < 0 else made

    def _sum(self, p: Polynomial) -> Node:
        found = self._nodes.get(id(p))
        if found is None:
            found = self._nodes[id(p)] = p, self._summed(p)
        return found[1]

    def _summed(self, p: Polynomial) -> Node:
        for square, base in self.squares():
            if p == square:
                return base
        total: Node | None = None
        for monomial, coefficient in zip(p.monoms(), p.coeffs(), strict=True):
            term = self._term(monomial, coefficient)
            total = term if total is None else total + term
        return as_node(0) if total is None else total


class _Bound:
    """Lower bounds of the costs of reading forms of a quotient, computed from the polynomials.

    A reader reads each generator of a term, and each sign between factors and terms; numbers may merge with others.
    """

    def __init__(self, quotient: Rational, cost: Callable[[Node], float] | None, most: float) -> None:
        self._most = most
        self._squares = [p for p, _ in quotient.squares()]
        self._costs = None
        if cost is not None:
            nodes = quotient.nodes
            # The power of a power may be written as its base.
            self._costs = [cost(n.args[0] if n.op is pow else n) + COST for n in nodes]

    def of_product(self, factors: list[tuple[Polynomial, int]]) -> float:
        """Return a lower bound of the cost of a product of powers."""
        return sum(self.of_sum(f) for f, _ in factors)

    def of_sum(self, p: Polynomial) -> float:
        """Return a lower bound of the cost of a polynomial; if it is above the limit, any number above the limit."""
        if self._costs is None or p in self._squares:
            return 0.0
        total = -1.0 * COST  # the first term has no sign
        for monomial in p.monoms():
            factors = [cost for cost, e in zip(self._costs, monomial, strict=True) if e]
            total += sum(factors) or COST
            if total > self._most:
                break
        return total


def _paired(factors: Sequence[tuple[Polynomial, int]]) -> list[tuple[Polynomial, int]]:
    """Return factors in which conjugates are multiplied: (1 + h)*(1 - h) is 1 - h**2."""
    left = list(factors)
    found: list[tuple[Polynomial, int]] = []
    while left:
        first, e = left.pop(0)
        other = next(
            (p for p in left if p[1] == e and len(first) == len(p[0]) == len(first * p[0]) == 2), None
        )
        if other is not None:
            left.remove(other)
            first = first * other[0]
        found.append((first, e))
    return found


def _value(c: Any) -> Fraction:
    return Fraction(int(c.p), int(c.q))
