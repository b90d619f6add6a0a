"""Polynomials in the parts of an expression, with relations for powers of parts: a power of a root is its base."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, cast

import flint as _flint

from symgrad.ir.graph import Node
from symgrad.pretty.limits import POLYNOMIAL_PARTS, POLYNOMIAL_TERMS

# python-flint has no type information.
flint = cast(Any, _flint)
Polynomial: TypeAlias = Any


class LongError(Exception):
    """The polynomial would be too long, or has no value anywhere."""


@dataclass(slots=True)
class Ring:
    """Generators, and relations for their powers.

    Args:
        nodes: the generators, in order.
        place: the position of each generator.
        context: the context of flint.
        gens: the generators as polynomials.
        relations: for a generator, by its position, a power, and a polynomial that has this power as leading term and
            is zero.
    """

    nodes: list[Node] = field(default_factory=list[Node])
    place: dict[Node, int] = field(default_factory=dict[Node, int])
    context: Any = None
    gens: tuple[Polynomial, ...] = ()
    relations: list[tuple[int, int, Polynomial]] = field(default_factory=list[tuple[int, int, Polynomial]])

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
        if len(self.nodes) > POLYNOMIAL_PARTS:
            raise LongError
        # The first generators are the largest: a generator with a relation comes first, so that its power leads.
        self.context = flint.fmpq_mpoly_ctx.get(tuple(f"g{k}" for k in range(len(self.nodes))), "lex")
        self.gens = self.context.gens()

    def constant(self, value: int | Fraction) -> Polynomial:
        """Return a number as a polynomial."""
        return self.context.constant(flint.fmpq(value.numerator, value.denominator))

    def roots(self) -> list[tuple[int, Polynomial]]:
        """Return the generators whose squares are polynomials in later generators, with these polynomials."""
        found = [(k, self.gens[k] ** 2 - zero) for k, degree, zero in self.relations if degree == 2]
        return [(k, square) for k, square in found if not square.degrees()[k]]

    def conjugate(self, p: Polynomial, k: int) -> Polynomial:
        """Return a polynomial in which a generator has the opposite sign."""
        terms = zip(p.monoms(), p.coeffs(), strict=True)
        return self.context.from_dict({m: -c if m[k] % 2 else c for m, c in terms})

    def parts(self, p: Polynomial) -> list[Polynomial]:
        """Return the coefficients of a polynomial in its roots."""
        places = [k for k, _ in self.roots()]
        found: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
        for m, c in zip(p.monoms(), p.coeffs(), strict=True):
            rest = tuple(0 if k in places else e for k, e in enumerate(m))
            found.setdefault(tuple(m[k] for k in places), {})[rest] = c
        return [self.context.from_dict(terms) for terms in found.values()]

    def product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Return a product, reduced.

        Raises:
            LongError: if the product would be too long.
        """
        if len(a) * len(b) > 4 * POLYNOMIAL_TERMS:
            raise LongError
        return self.reduced(a * b)

    def reduced(self, p: Polynomial) -> Polynomial:
        """Return a polynomial in which powers with a known relation are replaced."""
        again = True
        while again:
            again = False
            for k, degree, zero in self.relations:
                if p.degrees()[k] >= degree:
                    p = divmod(p, zero)[1]
                    again = True
        return p
