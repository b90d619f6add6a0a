"""The forms of a quotient of polynomials: factored, as a sum over its denominator, term by term, with a part in front.

The denominator of a form is zero only where the denominator of the given quotient is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from math import inf
from operator import mul

from symgrad.ir.graph import Node, as_node
from symgrad.ops.scalar.arith import add, pow
from symgrad.pretty.forms.cost import COST
from symgrad.pretty.limits import GROUPED_TERMS, QUOTIENT_TERMS
from symgrad.rewrite.rational.quotient import Rational
from symgrad.rewrite.rational.ring import Polynomial, Ring, product_of, sum_of

_Powers = list[tuple[Polynomial, int]]


def forms_of(
    quotient: Rational, cost: Callable[[Node], float] | None = None, most: float = inf
) -> Iterator[Node]:
    """Yield a quotient as nodes: factored, as a sum over a product, and term by term.

    Args:
        quotient: the quotient.
        cost: a function that measures the cost of reading a part.
        most: forms that certainly cost more are left out.
    """
    ring, above = quotient.ring, quotient.above
    if above.is_zero():
        yield as_node(0)
        return
    (c, factors), (d, divisors) = ring.factors(above), ring.factors(quotient.below)
    below = _inverted(divisors)
    bound = _Bound(ring, cost, most)
    over = bound.of_product(divisors)
    if over > most:
        return
    factored = bound.of_product(factors)
    if over + factored <= most:
        yield ring.product_node(c / d, [*factors, *below])
    paired = _paired(factors)
    if len(paired) < len(factors) and over + bound.of_product(paired) <= most:
        yield ring.product_node(c / d, [*paired, *below])
    sums = [f for f, e in divisors if len(f) > 1 and e == 1]
    if len(sums) > 1:
        joined = [*((f, e) for f, e in divisors if f not in sums), (reduce(mul, sums), 1)]
        if factored + bound.of_product(joined) <= most:
            yield ring.product_node(c / d, [*factors, *_inverted(joined)])
    if 1 < len(above) <= QUOTIENT_TERMS:
        if over + bound.of_sum(above) <= most:
            yield ring.product_node(1 / d, [(above, 1), *below])
        if divisors and len(above) <= GROUPED_TERMS:
            yield sum_of([quotient.part(ring.context.from_dict(dict([t]))).factored() for t in above.terms()])
    yield from _grouped(quotient, c, factors, d, below)


def _grouped(
    quotient: Rational, c: Fraction, factors: _Powers, d: Fraction, below: _Powers
) -> Iterator[Node]:
    """Yield forms in which a common part of some terms of a factor is factored out of these: `y + s*(1 - y)`."""
    ring = quotient.ring
    for factor, e in factors:
        if e != 1:
            continue
        others = [(ring.node(f), k) for f, k in (*(p for p in factors if p[0] is not factor), *below)]
        for first, rest in _splits(ring, factor):
            product = _product(ring, rest)
            if product.op is not add:
                whole = _product(ring, first) + product
                yield product_of(
                    c / d, [*others[: len(factors) - 1], (whole, 1), *others[len(factors) - 1 :]]
                )
            parts = [quotient.part(first), quotient.part(rest)]
            if len(factors) == 1 and all(p.below is not quotient.below for p in parts):
                yield parts[0].factored(c) + parts[1].factored(c)


def _splits(ring: Ring, p: Polynomial) -> Iterator[tuple[Polynomial, Polynomial]]:
    """Yield the terms that share a generator, and the other terms; each split only once."""
    if 2 < len(p) <= GROUPED_TERMS:
        met: list[Polynomial] = []
        for k, gen in enumerate(ring.gens):
            quotient, rest = divmod(p, gen)
            if 1 < len(quotient) < len(p) and rest and rest not in met and not quotient.degrees()[k]:
                met.append(rest)
                yield gen * quotient, rest


def _product(ring: Ring, p: Polynomial) -> Node:
    c, factors = ring.factors(p)
    return ring.product_node(c, _paired(factors))


def _inverted(factors: _Powers) -> _Powers:
    return [(f, -e) for f, e in factors]


class _Bound:
    """Lower bounds of the costs of reading forms of a quotient, computed from the polynomials.

    A reader reads each generator of a term, and each sign between factors and terms; numbers may merge with others.
    """

    def __init__(self, ring: Ring, cost: Callable[[Node], float] | None, most: float) -> None:
        self._most = most
        self._squares = [p for p, _ in ring.squares()]
        # The power of a power may be written as its base.
        self._costs = cost and [cost(n.args[0] if n.op is pow else n) + COST for n in ring.nodes]

    def of_product(self, factors: _Powers) -> float:
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


def _paired(factors: Sequence[tuple[Polynomial, int]]) -> _Powers:
    """Return factors in which conjugates are multiplied: (1 + h)*(1 - h) is 1 - h**2."""
    left = list(factors)
    found: _Powers = []
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
