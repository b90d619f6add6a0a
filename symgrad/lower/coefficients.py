"""Derivatives with every number in front: products that differ in a number or a sign alone become one.

The chain rule leaves ``2*a*b``, ``-(b*a)`` and ``b*(3*a)`` apart, which are one product and three numbers. So every
value is written as a number times a core: products are products of cores, and a sum has the number of its first term
taken out. Exact, in one pass; nothing is expanded, reordered beyond a pair, or cancelled, so no domain changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from symgrad.ir.graph import Node, as_node, growing
from symgrad.ir.traverse import topological
from symgrad.ops.arith import add, div, mul, neg

__all__ = ["Number", "gathered", "ratio", "times"]

Number: TypeAlias = "int | Fraction"

_LARGEST = 2**40
"""Numbers with larger numerators or denominators are not taken out further: long products of them would overflow."""


class _Scaled(NamedTuple):
    """A value: a number that is not zero, times a core."""

    number: Number
    core: Node

    def node(self) -> Node:
        return self.core if self.number == 1 else times(self.number, self.core)


def ratio(a: Number, b: Number) -> Number:
    """Return a/b, exactly."""
    if b == 1:
        return a
    return -a if b == -1 else Fraction(a) / b


def times(number: Number, node: Node) -> Node:
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
        made = _Scaled(1, node)
        if node.args and node not in fixed:
            parts = [known[a] for a in node.args]
            if node.dtype != "real" or [a for a in node.args if a.dtype != "real" and not a.is_number()]:
                made = _applied(node, parts)
            elif node.op is neg:
                made = _Scaled(-parts[0].number, parts[0].core)
            elif node.op is mul or node.op is div:
                made = _product(node, parts[0], parts[1], place)
            elif node.op is add:
                made = _sum(node, parts[0], parts[1], place)
            else:
                made = _applied(node, parts)
            if made.number != 1 and max(abs(made.number.numerator), made.number.denominator) > _LARGEST:
                made = _Scaled(1, made.node())
        known[node] = made
        place.setdefault(made.core, len(place))
    return [known[o].node() for o in outputs]


def _applied(node: Node, parts: Sequence[_Scaled]) -> _Scaled:
    args = [p.node() for p in parts]
    return _Scaled(1, node if tuple(args) == node.args else node.op(*args, params=node.params))


def _number(node: Node) -> Number | None:
    """The value of a literal other than zero."""
    return node.value if node.is_number() and node.value else None


def _product(node: Node, a: _Scaled, b: _Scaled, place: dict[Node, int]) -> _Scaled:
    first, second = _number(node.args[0]), _number(node.args[1])
    if node.op is div:
        if second is not None and not node.args[0].is_number():
            return _Scaled(ratio(a.number, second), a.core)
        if first is not None:
            return _Scaled(ratio(first, b.number), div(as_node(1), b.core))
        return _Scaled(ratio(a.number, b.number), div(a.core, b.core))
    if first is not None and not node.args[1].is_number():
        return _Scaled(first * b.number, b.core)
    if second is not None and not node.args[0].is_number():
        return _Scaled(second * a.number, a.core)
    if place[b.core] < place[a.core]:
        a, b = b, a
    return _Scaled(a.number * b.number, mul(a.core, b.core))


def _sum(node: Node, a: _Scaled, b: _Scaled, place: dict[Node, int]) -> _Scaled:
    if node.args[0].is_number() or node.args[1].is_number():
        return _applied(node, [a, b])
    if place[b.core] < place[a.core]:
        a, b = b, a
    return _Scaled(a.number, add(a.core, _Scaled(ratio(b.number, a.number), b.core).node()))
