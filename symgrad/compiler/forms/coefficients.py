"""Write derivatives with coefficients in front; expressions equal up to a factor, sign or order share a node.

The chain rule leaves ``2*a*b``, ``-(b*a)`` and ``b*(3*a)`` apart, although they are one product with three
coefficients. So every value is written as a number times a core. A product is the product of its cores. If all terms of
a sum have coefficients, the coefficient of the first term is factored out. Short products and sums are recognised in
any order; like terms with equal signs are added; quotients with the same divisor multiply by one shared reciprocal.

This is exact and takes one pass. Nothing is expanded or cancelled, so no domain changes, with one exception: a
subnormal number may have no finite reciprocal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from symgrad.compiler.lowering.cost import own_cost
from symgrad.ir.exact import MADE, is_longer
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.support.progress import steps

Number: TypeAlias = "int | Fraction"

_LARGEST = 2**40
"""Numbers with larger numerators or denominators are not factored out: long products of them would overflow."""


class _Scaled(NamedTuple):
    """A value: a number that is not zero, times a core."""

    number: Number
    core: Node

    def node(self) -> Node:
        return self.core if self.number == 1 else times(self.number, self.core)


def ratio(a: Number, b: Number) -> Number:
    """Return a/b exactly; as an int if possible, with which Python computes much faster."""
    if b == 1:
        return a
    if b == -1:
        return -a
    if a == b:
        return 1
    found = Fraction(a) / b
    return found.numerator if found.denominator == 1 else found


def times(number: Number, node: Node) -> Node:
    """Return a node times a number, in the shortest form."""
    if number == 1:
        return node
    return neg(node) if number == -1 else mul(as_node(number), node)


_TERMS = 8
"""Number of factors of a product, or terms of a sum, up to which any order is recognised."""

_Terms: TypeAlias = "tuple[tuple[int, Number], ...]"


@gc_paused()
def gathered(outputs: Sequence[Node], kept: Collection[Node] = ()) -> list[Node]:
    """Return pointwise nodes with the coefficients of their products and sums factored out.

    Args:
        outputs: the nodes to rewrite; array ops that are not pointwise are left alone.
        kept: nodes that stay as they are, with all values that they depend on.

    Returns:
        Nodes that are equal to the outputs in exact arithmetic, on the same domain.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import Declaration
        >>> a, b = symbol(Declaration("a")), symbol(Declaration("b"))
        >>> [expression_text(n) for n in gathered([2*a*b, -(b*a), b*(3*a)])]
        ['2*(a*b)', '-(a*b)', '3*(a*b)']
    """
    fixed = topological(list(kept))
    order = topological(outputs)
    forms = _Forms(fixed, order)
    found = [forms.known[o].node() for o in outputs]
    kept = set(fixed)
    return found if _operations(topological(found), kept) < _operations(order, kept) else list(outputs)


def _operations(order: Sequence[Node], kept: Collection[Node]) -> int:
    return sum([own_cost(n) for n in order if n.op is not neg and n not in kept])


class _Forms:
    """Every value as a number times a core, and the known products and sums of cores.

    Args:
        fixed: nodes that stay as they are, arguments first.
        order: the nodes to rewrite, arguments first.
    """

    def __init__(self, fixed: Sequence[Node], order: Sequence[Node]) -> None:
        self.known: dict[Node, _Scaled] = {}
        self._place: dict[Node, int] = {}  # of cores, in the order of their first appearance
        self._factors: dict[Node, tuple[int, ...]] = {}  # of products: places of other factors
        self._terms: dict[Node, _Terms] = {}
        self._products: dict[tuple[int, ...], Node] = {}
        self._sums: dict[_Terms, _Scaled] = {}
        kept = set(fixed)
        self._divisors = Counter(n.args[1] for n in order if n.op is div and n not in kept)
        for node in steps("arrange", "gathering numbers", order):
            made = _Scaled(1, node)
            if node not in kept:
                made = self._made(node) if node.args else made
                if made.number != 1 and max(abs(made.number.numerator), made.number.denominator) > _LARGEST:
                    made = _Scaled(1, made.node())
            elif node.op is mul and node.dtype == "real" and not any(a.is_number() for a in node.args):
                self._times(node.args[0], node.args[1], node)
            self.known[node] = made
            self._place.setdefault(made.core, len(self._place))

    def _made(self, node: Node) -> _Scaled:
        parts = [self.known[a] for a in node.args]
        if node.dtype != "real" or [a for a in node.args if a.dtype != "real" and not a.is_number()]:
            return _applied(node, parts)
        if node.op is neg:
            return _Scaled(-parts[0].number, parts[0].core)
        if node.op is mul:
            return self._product(node, parts[0], parts[1])
        if node.op is div:
            return self._quotient(node, parts[0], parts[1])
        if node.op is add:
            return self._sum(node, parts[0], parts[1])
        return _applied(node, parts)

    def _product(self, node: Node, a: _Scaled, b: _Scaled) -> _Scaled:
        first, second = _number(node.args[0]), _number(node.args[1])
        if first is not None and not node.args[1].is_number():
            return _Scaled(first * b.number, b.core)
        if second is not None and not node.args[0].is_number():
            return _Scaled(second * a.number, a.core)
        return _Scaled(a.number * b.number, self._times(a.core, b.core))

    def _times(self, a: Node, b: Node, written: Node | None = None) -> Node:
        """Return the product of two cores: the same node for all orders of factors.

        A new product is `written`, if that is set.
        """
        place = self._place
        if place.setdefault(b, len(place)) < place.setdefault(a, len(place)):
            a, b = b, a
        factors = tuple(sorted((self._factors.get(a) or (place[a],)) + (self._factors.get(b) or (place[b],))))
        found = self._products.get(factors)
        if found is None:
            found = self._products[factors] = written or mul(a, b)
        if len(factors) <= _TERMS:
            self._factors[written or found] = factors
        return found

    def _quotient(self, node: Node, a: _Scaled, b: _Scaled) -> _Scaled:
        first, second = _number(node.args[0]), _number(node.args[1])
        if second is not None and not node.args[0].is_number():
            return _Scaled(ratio(a.number, second), a.core)
        if first is not None:
            return _Scaled(ratio(first, b.number), div(as_node(1), b.core))
        number = ratio(a.number, b.number)
        if self._divisors[node.args[1]] > 1:
            return _Scaled(number, self._times(a.core, div(as_node(1), b.core)))
        return _Scaled(number, div(a.core, b.core))

    def _sum(self, node: Node, a: _Scaled, b: _Scaled) -> _Scaled:
        if node.args[0].is_number() or node.args[1].is_number():
            return _applied(node, [a, b])
        if self._place[b.core] < self._place[a.core]:
            a, b = b, a
        terms = self._terms_of_both(a, b)
        if not terms or node.args[0] is node.args[1]:
            return self._plus(a, b)
        if a.core is b.core:
            return _Scaled(a.number + b.number, a.core)
        _, number = terms[0]
        key = terms if number == 1 else tuple([(place, ratio(n, number)) for place, n in terms])
        found = self._sums.get(key)
        if found is None:
            made = self._plus(a, b)
            found = self._sums[key] = _Scaled(ratio(made.number, number), made.core)
            of_core = key if found.number == 1 else tuple([(p, ratio(n, found.number)) for p, n in key])
            self._terms.setdefault(made.core, of_core)
        return _Scaled(found.number * number, found.core)

    def _terms_of_both(self, a: _Scaled, b: _Scaled) -> _Terms:
        """Return the terms of a sum by their places.

        The result is empty if there are many terms or long numbers, or if terms cancel.
        """
        terms: dict[int, Number] = {}
        for part in (a, b):
            for place, number in self._terms.get(part.core) or ((self._place[part.core], 1),):
                if part.number != 1:
                    number *= part.number
                other = terms.get(place)
                if other is not None:
                    if (other < 0) != (number < 0):
                        return ()
                    number += other
                if is_longer(number, MADE):
                    return ()
                terms[place] = number
        return tuple(sorted(terms.items())) if len(terms) <= _TERMS else ()

    def _plus(self, a: _Scaled, b: _Scaled) -> _Scaled:
        # If only one of the terms has a coefficient, keep it there: every later use would multiply by a factored one.
        if abs(b.number) == 1 != abs(a.number):
            a, b = b, a
        return _Scaled(a.number, add(a.core, _Scaled(ratio(b.number, a.number), b.core).node()))


def _applied(node: Node, parts: Sequence[_Scaled]) -> _Scaled:
    args = [p.node() for p in parts]
    return _Scaled(1, node if tuple(args) == node.args else node.op(*args, params=node.params))


def _number(node: Node) -> Number | None:
    """The value of a literal other than zero."""
    return node.value if node.is_number() and node.value else None
