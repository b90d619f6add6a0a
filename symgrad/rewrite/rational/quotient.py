"""A formula as a quotient of polynomials without a common factor, and what can be read from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.rational.ring import LongError, Polynomial, Quotient, Ring

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Rational:
    """A formula as a quotient of polynomials without a common factor.

    Args:
        ring: the ring of the polynomials.
        above: the numerator.
        below: the denominator.
        given: the quotient before common factors cancelled.
    """

    ring: Ring
    above: Polynomial
    below: Polynomial
    given: Quotient

    def node(self) -> Node:
        """Return the quotient as a node; numerator and denominator are sums of products.

        Example:
            >>> import symgrad as sg
            >>> from symgrad.api.handles.expr import handle
            >>> from symgrad.rewrite.rational.read import rational_of
            >>> r = sg.symbols("r")
            >>> print(handle(rational_of((1/(r - 1) + r + 1).node).node()))
            r**2/(r - 1)
        """
        return self.ring.node(self.above) / self.ring.node(self.below)

    def factored(self, times: Fraction = _ONE) -> Node:
        """Return the quotient, times a number, as a node; numerator and denominator are products of factors.

        Example:
            >>> import symgrad as sg
            >>> from symgrad.api.handles.expr import handle
            >>> from symgrad.rewrite.rational.read import rational_of
            >>> x = sg.symbols("x")
            >>> print(handle(rational_of(((x**2 - 1)*(x + 2)**3/(x - 1)).node).factored()))
            (x + 1)*(x + 2)**3
        """
        (c, above), (d, below) = self.ring.factors(self.above), self.ring.factors(self.below)
        return self.ring.product_node(times * c / d, [*above, *((f, -e) for f, e in below)])

    def part(self, terms: Polynomial) -> Rational:
        """Return the quotient of some terms of the numerator, in lowest terms."""
        return Rational(self.ring, *self.ring.lowest(terms, self.below), self.given)

    def coefficients(self, v: Node) -> tuple[Node, list[list[Node]]] | None:
        r"""Factor the numerator; return the generator that reads v, and the coefficients of its powers in each factor.

        Return None if the numerator has no such generator, or several, as in x + exp(x).

        Example:
            >>> from symgrad.frontend.text import parse_program
            >>> from symgrad.ir.notation.printer import str_text
            >>> from symgrad.rewrite.rational.read import rational_of
            >>> p = parse_program("a, x : real\ny = exp(x)**2 - (1 + a)*exp(x) + a")
            >>> generator, factors = rational_of(p["y"]).coefficients(p["x"])
            >>> str_text(generator), sorted([str_text(c) for c in f] for f in factors)
            ('exp(x)', [['-1', '1'], ['-a', '1']])
        """
        ring, degrees = self.ring, self.above.degrees()
        places = [k for k, n in enumerate(ring.nodes) if degrees[k] and v in topological([n])]
        if len(places) != 1:
            return None
        parts = [ring.collect(f, places) for f, _ in ring.factors(self.above)[1]]
        zero = ring.constant(0)
        found = [[ring.node(p.get((k,), zero)) for k in range(max(p)[0] + 1)] for p in parts if max(p)[0]]
        return ring.nodes[places[0]], found

    def without_roots(self) -> Rational | None:
        """Return the quotient without roots in the denominator; None if this would make it undefined at further points.

        `1/(x - sqrt(2)) - 1/(x + sqrt(2))` is `2*sqrt(2)/(x**2 - 2)`.
        """
        ring = self.ring
        above, below = self.above, self.below
        try:
            for k, _ in ring.roots():
                if below.degrees()[k]:
                    other = ring.conjugate(below, k)
                    above, below = ring.quotient(ring.product(above, other), ring.product(below, other))
            if below == self.below:
                return None
            common = below
            for part in self._parts(above):
                common = common.gcd(part)
            above, below = above / common, below / common
            # The result must be equal everywhere, and its denominator zero only where the given one is.
            given_above, given_below = self.given
            difference = ring.reduced(ring.product(given_above, below) - ring.product(above, given_below))
            square = ring.reduced(ring.product(given_below, given_below))
        except LongError:
            return None
        if not difference.is_zero() or not (
            self._divides(below, given_below) or self._divides(below, square)
        ):
            return None
        return Rational(ring, above, below, self.given)

    def _parts(self, p: Polynomial) -> list[Polynomial]:
        """Return the coefficients of a polynomial in its roots."""
        return [*self.ring.collect(p, [k for k, _ in self.ring.roots()]).values()]

    def _divides(self, p: Polynomial, q: Polynomial) -> bool:
        return all(divmod(part, p)[1].is_zero() for part in self._parts(q))
