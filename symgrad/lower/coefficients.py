"""Derivatives with every number in front: products that differ in a number or a sign alone become one.

The chain rule leaves ``2*a*b``, ``-(b*a)`` and ``b*(3*a)`` apart, which are one product and three numbers. So every
value is written as a number times a core: products are products of cores, and a sum has the number of its first term
taken out. Exact, in one pass; nothing is expanded, reordered beyond a pair, or cancelled, so no domain changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple

from symgrad.ir.graph import Node, as_node, growing
from symgrad.ir.traverse import topological
from symgrad.ops.arith import add, div, mul, neg

__all__ = ["gathered", "times"]

_LARGEST = 2**40
"""Numbers with larger numerators or denominators are not taken out further: long products of them would overflow."""


class _Scaled(NamedTuple):
    """A value: a number that is not zero, times a core."""

    number: Fraction
    core: Node

    def node(self) -> Node:
        return times(self.number, self.core)


def times(number: Fraction, node: Node) -> Node:
    """Return a node times a number, as briefly as can be."""
    if number == 1:
        return node
    return neg(node) if number == -1 else mul(as_node(number), node)


@growing()
def gathered(outputs: Sequence[Node], kept: Collection[Node] = ()) -> list[Node]:
    """Return pointwise nodes with the numbers of their products and sums taken out.

    Args:
        outputs: what to rewrite; in arrays programs, what is not pointwise is left alone.
        kept: nodes that stay as they are, with everything that they are computed from.

    Returns:
        Nodes that are equal to the outputs in exact arithmetic, on the same domain.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.printer import expression_text
        >>> from symgrad.ir.types import Declaration
        >>> a, b = symbol(Declaration("a")), symbol(Declaration("b"))
        >>> [expression_text(n) for n in gathered([2*a*b, -(b*a), b*(3*a)])]
        ['2*(a*b)', '-(a*b)', '3*(a*b)']
    """
    fixed = set(topological(list(kept)))
    known: dict[Node, _Scaled] = {}
    place: dict[Node, int] = {}  # of cores: pairs are put in the order of their first appearance
    for node in topological(outputs):
        made = _Scaled(Fraction(1), node)
        if node.args and node not in fixed:
            parts = [known[a] for a in node.args]
            if not all(a.dtype == "real" or a.is_number() for a in (node, *node.args)):
                made = _applied(node, parts)
            elif node.op is neg:
                made = _Scaled(-parts[0].number, parts[0].core)
            elif node.op is mul or node.op is div:
                made = _product(node, parts[0], parts[1], place)
            elif node.op is add:
                made = _sum(node, parts[0], parts[1], place)
            else:
                made = _applied(node, parts)
            if max(abs(made.number.numerator), made.number.denominator) > _LARGEST:
                made = _Scaled(Fraction(1), made.node())
        known[node] = made
        place.setdefault(made.core, len(place))
    return [known[o].node() for o in outputs]


def _applied(node: Node, parts: Sequence[_Scaled]) -> _Scaled:
    args = [p.node() for p in parts]
    same = all(a is b for a, b in zip(args, node.args, strict=True))
    return _Scaled(Fraction(1), node if same else node.op(*args, params=node.params))


def _number(node: Node) -> Fraction | None:
    """The value of a literal other than zero."""
    return Fraction(node.value) if node.is_number() and node.value else None


def _product(node: Node, a: _Scaled, b: _Scaled, place: dict[Node, int]) -> _Scaled:
    first, second = (_number(x) for x in node.args)
    if node.op is div:
        if second is not None and not node.args[0].is_number():
            return _Scaled(a.number / second, a.core)
        if first is not None:
            return _Scaled(first / b.number, div(as_node(1), b.core))
        return _Scaled(a.number / b.number, div(a.core, b.core))
    if first is not None and not node.args[1].is_number():
        return _Scaled(first * b.number, b.core)
    if second is not None and not node.args[0].is_number():
        return _Scaled(second * a.number, a.core)
    return _Scaled(a.number * b.number, mul(*sorted((a.core, b.core), key=place.__getitem__)))


def _sum(node: Node, a: _Scaled, b: _Scaled, place: dict[Node, int]) -> _Scaled:
    if any(x.is_number() for x in node.args):
        return _applied(node, [a, b])
    if place[b.core] < place[a.core]:
        a, b = b, a
    return _Scaled(a.number, add(a.core, _Scaled(b.number / a.number, b.core).node()))
