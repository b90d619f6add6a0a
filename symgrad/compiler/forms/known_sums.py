"""Regroup derivatives by sums that the user's own expressions compute anyway.

Take ``x1 = x*cos(q) - y*sin(q)`` and ``y1 = x*sin(q) + y*cos(q)``. The chain rule collects the contributions to cos(q)
and to sin(q), and gives ``cos(q)*(b*x - a*y) - sin(q)*(a*x + b*y)``. If its four products are grouped differently, they
are ``b*x1 - a*y1``: two products instead of six. The result is exact up to the order of summation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import reduce
from itertools import chain
from typing import NamedTuple

from symgrad.compiler.forms.coefficients import Number, ratio, times
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, apply
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add, mul, neg
from symgrad.support.progress import steps

_FACTORS = 5
"""Largest number of factors of a product that is split."""


class _Term(NamedTuple):
    """A number times a product, whose factors are in the order of the graph."""

    number: Number
    factors: tuple[Node, ...]


_Key = frozenset[tuple[tuple[Node, ...], Number]]


@gc_paused()
def regrouped(outputs: Sequence[Node], primal: Collection[Node]) -> list[Node]:
    """Return pointwise nodes that equal the outputs in exact arithmetic and take fewer operations; else the outputs.

    Args:
        outputs: derivatives.
        primal: the nodes that the kernel computes too; they stay as they are.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import Declaration
        >>> a, b, c, s, x, y = (symbol(Declaration(name)) for name in "abcsxy")
        >>> turned = [x*c - y*s, x*s + y*c]
        >>> expression_text(regrouped([c*(b*x - a*y) - s*(a*x + b*y)], topological(turned))[0])
        '(x*c - y*s)*b - (x*s + y*c)*a'
    """
    fixed = set(primal)
    sums = _Sums(fixed, topological([*primal, *outputs]))
    if not sums.known:
        return list(outputs)
    order = topological(outputs)
    readers = Counter(chain.from_iterable([n.args for n in order]))
    readers.update(outputs)
    made: dict[Node, Node] = {}  # the new forms of nodes that change
    for node in steps("arrange", "recognising sums", order):
        if node in fixed or not node.args:
            continue
        found = sums.regroup(node, readers) if node.op is add and node.dtype == "real" else None
        if found:
            made[node] = reduce(add, [_written(t, made) for t in found])
        elif not made.keys().isdisjoint(node.args):
            made[node] = apply(node.op, tuple([made.get(a, a) for a in node.args]), node.params)
    if not made:
        return list(outputs)
    result = [made.get(o, o) for o in outputs]
    # Another sum may still read the original form of a product that was split.
    return result if len({*topological(result)} - fixed) < len({*order} - fixed) else list(outputs)


def _written(term: _Term, made: dict[Node, Node]) -> Node:
    return times(term.number, reduce(mul, [made.get(f, f) for f in term.factors]))


class _Sums:
    """The known sums among nodes, with which other sums are rewritten."""

    def __init__(self, nodes: Collection[Node], order: Sequence[Node]) -> None:
        self._place = {n: i for i, n in enumerate(order)}
        self.known: dict[_Key, tuple[Node, Number]] = {}
        self._term_of: dict[Node, _Term | None] = {}
        self._terms: set[tuple[Node, ...]] = set()  # of the known sums, to reject other sums quickly
        for node in steps("arrange", "reading sums", order):
            if node in nodes and node.op is add and node.dtype == "real":
                terms = [self._term(a) for a in node.args]
                found = [t for t in terms if t is not None]
                if len(found) == 2 and found[0].factors != found[1].factors:
                    key, number = self._key(found)
                    self.known.setdefault(key, (node, number))
                    self._terms.update(t.factors for t in found)

    def regroup(self, node: Node, readers: Counter[Node]) -> list[_Term] | None:
        """Return one or two products with known sums that add up to the node; None if there are no such products."""
        terms = [self._term(a) for a in node.args]
        given = [t for t in terms if t is not None]
        if len(given) != 2:
            return None
        whole = self._factored(*given)
        if whole:
            return [whole]
        opened = self._expanded(given[0], readers)
        others = self._expanded(given[1], readers) if len(opened) == 2 else []
        if len(others) != 2:
            return None
        (a, b), (c, d) = opened, others
        for left, right in (((a, c), (b, d)), ((a, d), (b, c))):
            first = self._factored(*left)
            second = self._factored(*right) if first else None
            if first and second:
                together = self._factored(first, second)
                return [together] if together else [first, second]
        return None

    def _expanded(self, term: _Term, readers: Counter[Node]) -> list[_Term]:
        """Expand a product over a factor that is a sum, if nothing else reads that sum."""
        for factor in term.factors:
            if factor.op is add and readers[factor] == 1:
                parts = [t for t in map(self._term, factor.args) if t is not None]
                rest = _without(term, (factor,))
                return [
                    _Term(rest.number * p.number, self._sorted([*rest.factors, *p.factors])) for p in parts
                ]
        return []

    def _factored(self, a: _Term, b: _Term) -> _Term | None:
        """Write two terms as a product with a known sum."""
        others = list(b.factors)
        common: list[Node] = []
        for factor in a.factors:
            if factor in others:
                others.remove(factor)
                common.append(factor)
        for taken in (common, *([f] for f in common if len(common) > 1), []) if common else ([],):
            first = _without(a, taken)
            if first.factors not in self._terms:
                continue
            second = _without(b, taken)
            if second.factors in self._terms and first.factors != second.factors:
                key, number = self._key([first, second])
                if key in self.known:
                    node, of_node = self.known[key]
                    return _Term(ratio(number, of_node), self._sorted([*taken, node]))
        return None

    def _term(self, node: Node) -> _Term | None:
        """Read a node as a number times a product of few factors; None for zero and for long products."""
        if node not in self._term_of:
            number, factors = _flat(node)
            few = number and len(factors) <= _FACTORS
            self._term_of[node] = _Term(number, self._sorted(factors)) if few else None
        return self._term_of[node]

    def _key(self, terms: Sequence[_Term]) -> tuple[_Key, Number]:
        """Return a sum of two terms without its common coefficient, and that coefficient."""
        first = min(terms, key=lambda t: [self._place[f] for f in t.factors])
        return frozenset([(t.factors, ratio(t.number, first.number)) for t in terms]), first.number

    def _sorted(self, factors: Sequence[Node]) -> tuple[Node, ...]:
        return tuple(sorted(factors, key=self._place.__getitem__) if len(factors) > 1 else factors)


def _without(term: _Term, taken: Sequence[Node]) -> _Term:
    if not taken:
        return term
    factors = list(term.factors)
    for factor in taken:
        factors.remove(factor)
    return _Term(term.number, tuple(factors))


def _flat(node: Node) -> tuple[Number, list[Node]]:
    """Return the numeric coefficient and the other factors of a product; expand only a few nested products."""
    number: Number = 1
    factors: list[Node] = []
    pending, products = [node], 0
    while pending:
        item = pending.pop()
        if item.op is neg:
            number = -number
            pending.append(item.args[0])
        elif item.op is mul and products < _FACTORS:
            products += 1
            pending += reversed(item.args)
        elif item.is_number():
            number *= item.value
        else:
            factors.append(item)
    return number, factors
