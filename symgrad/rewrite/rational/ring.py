"""Polynomials in the parts of a formula, with relations for powers of parts: a power of a root is its base."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

from symgrad.checker.numbers import flint, rational
from symgrad.ir.exact import FOLDED, HIGHEST, PARTS
from symgrad.ir.graph import Node, as_node, number
from symgrad.ops.scalar.elementary import sqrt

Polynomial: TypeAlias = Any
Quotient: TypeAlias = "tuple[Polynomial, Polynomial]"
Factors: TypeAlias = "tuple[Fraction, list[tuple[Polynomial, int]]]"
"""A number, and factors with their exponents."""


class LongError(Exception):
    """The polynomial would be too long, or has no value anywhere."""


@dataclass(slots=True)
class Ring:
    """Generators, and relations for their powers.

    Args:
        terms: the most terms of a polynomial.
        nodes: the generators, in order.
        place: the position of each generator.
        context: the context of flint.
        gens: the generators as polynomials.
        relations: for a generator, by its position, a power, and a polynomial that has this power as leading term and
            is zero.
    """

    terms: int
    nodes: list[Node] = field(default_factory=list[Node])
    place: dict[Node, int] = field(default_factory=dict[Node, int])
    context: Any = None
    gens: tuple[Polynomial, ...] = ()
    relations: list[tuple[int, int, Polynomial]] = field(default_factory=list[tuple[int, int, Polynomial]])
    # By the identity of polynomials, which have no hash; the polynomials are kept, so that identities stay unique.
    _factors: dict[int, tuple[Polynomial, Factors]] = field(
        default_factory=dict[int, "tuple[Polynomial, Factors]"]
    )
    _nodes: dict[int, tuple[Polynomial, Node]] = field(default_factory=dict[int, "tuple[Polynomial, Node]"])
    _terms: dict[tuple[Any, ...], Node] = field(default_factory=dict[tuple[Any, ...], Node])
    _squares: list[tuple[Polynomial, Node]] | None = None

    def part(self, node: Node) -> int:
        """Return the position of a generator; add the generator if it is new."""
        if node not in self.place:
            self.place[node] = len(self.nodes)
            self.nodes.append(node)
        return self.place[node]

    def close(self) -> None:
        """Make the ring, once all generators are known.

        Raises:
            LongError: if there are too many generators.
        """
        if len(self.nodes) > PARTS:
            raise LongError
        # The first generators are the largest: a generator with a relation comes first, so that its power leads.
        self.context = flint.fmpq_mpoly_ctx.get(tuple(f"g{k}" for k in range(len(self.nodes))), "lex")
        self.gens = self.context.gens()

    # -- arithmetic ------------------------------------------------------------------------------------------

    def of(self, node: Node) -> Polynomial:
        """Return a generator as a polynomial."""
        return self.gens[self.place[node]]

    def constant(self, value: int | Fraction) -> Polynomial:
        """Return a number as a polynomial."""
        return self.context.constant(rational(value))

    def product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Return a product.

        Raises:
            LongError: if the product would be too long.
        """
        if len(a) * len(b) > 4 * self.terms:
            raise LongError
        return a * b

    def quotient(self, above: Polynomial, below: Polynomial) -> Quotient:
        """Return a quotient, reduced.

        Raises:
            LongError: if it is too long, or the denominator is zero.
        """
        above, below = self.reduced(above), self.reduced(below)
        if below.is_zero() or max(len(above), len(below)) > self.terms:
            raise LongError
        return above, below

    def check(self, quotient: Quotient) -> None:
        """Test the degrees and the coefficients of a quotient.

        Raises:
            LongError: if they are too large.
        """
        for p in quotient:
            c = p.leading_coefficient()  # the other coefficients grow only with the degrees
            if max(p.degrees(), default=0) > HIGHEST or max(c.p.bit_length(), c.q.bit_length()) > FOLDED:
                raise LongError

    def reduced(self, p: Polynomial) -> Polynomial:
        """Return a polynomial in which powers with a known relation are replaced."""
        again = bool(self.relations)
        while again:
            again = False
            for k, degree, zero in self.relations:
                if p.degrees()[k] >= degree:
                    p = divmod(p, zero)[1]
                    again = True
        return p

    def lowest(self, above: Polynomial, below: Polynomial) -> Quotient:
        """Return a quotient without common factors; the same polynomials if there are none."""
        common = above.gcd(below)
        return (above, below) if common.is_constant() else (above / common, below / common)

    def roots(self) -> list[tuple[int, Polynomial]]:
        """Return the generators whose squares are polynomials in later generators, with these polynomials."""
        found = [(k, self.gens[k] ** 2 - zero) for k, degree, zero in self.relations if degree == 2]
        return [(k, square) for k, square in found if not square.degrees()[k]]

    def conjugate(self, p: Polynomial, k: int) -> Polynomial:
        """Return a polynomial in which a generator has the opposite sign."""
        return self.context.from_dict({m: -c if m[k] % 2 else c for m, c in p.terms()})

    def collect(self, p: Polynomial, places: Sequence[int]) -> dict[tuple[int, ...], Polynomial]:
        """Return the coefficients of the powers of some generators, by the exponents."""
        found: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
        for m, c in p.terms():
            rest = tuple(0 if k in places else e for k, e in enumerate(m))
            found.setdefault(tuple(m[k] for k in places), {})[rest] = c
        return {powers: self.context.from_dict(terms) for powers, terms in found.items()}

    def factors(self, p: Polynomial) -> Factors:
        """Return the factors of a polynomial; the same object is returned each time."""
        found = self._factors.get(id(p))
        if found is None:
            if len(p) == 1:
                ((monomial, c),) = p.terms()
                factors = zip(self.gens, monomial, strict=True)
            else:
                c, factors = p.factor()
            found = self._factors[id(p)] = p, (_value(c), [(f, int(e)) for f, e in factors if e])
        return found[1]

    # -- nodes -----------------------------------------------------------------------------------------------

    def squares(self) -> list[tuple[Polynomial, Node]]:
        """Return the radicands of the square roots among the generators, as polynomials and as nodes."""
        if self._squares is None:
            self._squares = [(p, self.nodes[k].args[0]) for k, p in self.roots() if self.nodes[k].op is sqrt]
        return self._squares

    def node(self, p: Polynomial) -> Node:
        """Return a polynomial as a node; a radicand is written as it is under its root."""
        found = self._nodes.get(id(p))
        if found is None:
            same = (base for square, base in self.squares() if p == square)
            found = self._nodes[id(p)] = p, next(same, None) or sum_of(self.terms_of(p))
        return found[1]

    def terms_of(self, p: Polynomial) -> list[Node]:
        """Return the terms of a polynomial as nodes, those with a minus sign last."""
        return [self._term(m, c) for m, c in sorted(p.terms(), key=lambda term: term[1] < 0)]

    def scaled_terms_of(self, p: Polynomial) -> list[Node]:
        """Return the terms of a polynomial, with fractions as one number: their numerators alone may overflow."""
        found: list[Node] = []
        for monomial, c in sorted(p.terms(), key=lambda term: term[1] < 0):
            size = abs(_value(c))
            term = self._term(monomial, abs(c) if size.denominator == 1 else c / c)
            scaled = (
                term if size.denominator == 1 else number(size) if not any(monomial) else number(size) * term
            )
            found.append(-scaled if c < 0 else scaled)
        return found

    def _term(self, monomial: tuple[int, ...], c: Any) -> Node:
        """Return a term as a node; terms are cached, because the forms of a quotient share most of theirs."""
        key = monomial, c.p, c.q
        found = self._terms.get(key)
        if found is None:
            powers = [(self.nodes[k], int(e)) for k, e in enumerate(monomial) if e]
            found = self._terms[key] = product_of(_value(c), powers)
        return found

    def product_node(self, c: Fraction, factors: Iterable[tuple[Polynomial, int]]) -> Node:
        """Return a number times powers of polynomials as a node."""
        return product_of(c, [(self.node(f), e) for f, e in factors])


def product_of(c: Fraction, factors: Sequence[tuple[Node, int]]) -> Node:
    """Return a number times powers of nodes as one quotient, with the sign in front."""
    above = [b if e == 1 else b ** number(e) for b, e in factors if e > 0]
    below = [b if e == -1 else b ** number(-e) for b, e in factors if e < 0]
    found = reduce(operator.mul, above, number(abs(c.numerator)))
    found = found / reduce(operator.mul, below) if below else found
    found = found / number(c.denominator) if c.denominator != 1 else found
    return -found if c < 0 else found


def sum_of(terms: Sequence[Node]) -> Node:
    """Return the sum of nodes; 0 if there are none."""
    return reduce(operator.add, terms) if terms else as_node(0)


def _value(c: Any) -> Fraction:
    return Fraction(int(c.p), int(c.q))
