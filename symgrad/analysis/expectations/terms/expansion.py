"""Expansion of every node of a program into a sum of products; each node is expanded once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import reduce

from symgrad.analysis.expectations.assumptions import Assumptions, Undecided
from symgrad.analysis.expectations.terms.monomials import (
    ONE,
    Monomial,
    Terms,
    is_indicator,
    node_of,
    opposite,
    ordered,
    plus,
    product,
)
from symgrad.checker.clock import Budget
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import fold
from symgrad.ops.scalar.logic import NEGATION
from symgrad.rewrite.facts.point_masses import PointMasses
from symgrad.rewrite.pipeline import canonical
from symgrad.support.traversal import leaves, postorder

_0, _1 = as_node(0), as_node(1)
_LOGIC = frozenset({"and_", "not_", "or_"})
_REGIONS = 3  # number of thresholds of one argument of an op
_TERMS = 8_000  # number of terms of all equations; in a long program with growing sums these take minutes


class Expansion:
    """The expansions of nodes; results are cached.

    Args:
        sources: the random inputs; all other inputs are constants.
        given: the known facts of nodes.
        rules: the rule of each op for terms, by its name.
        listed: the random inputs with few values: every function of these has an expectation.
    """

    def __init__(
        self,
        sources: Collection[Node],
        given: Assumptions,
        rules: Mapping[str, TermRule],
        listed: Collection[Node] = (),
    ) -> None:
        self.sources = {s: 1 << i for i, s in enumerate(sources)}
        self.given = given
        self.listed = frozenset(listed)
        self.masses = PointMasses(sources, given.known)
        self._rules = rules
        self._mask: dict[Node, int] = dict(self.sources)
        self._terms: dict[Node, Terms] = {}
        self._budget = Budget(most=_TERMS, of="terms", ends=Undecided)

    def mask(self, node: Node) -> int:
        """Return a bit for each random input on which the value of a node depends."""
        known = self._mask
        if node not in known:
            fold([node], lambda _, masks: reduce(int.__or__, masks, 0), known)
        return known[node]

    def of(self, node: Node) -> Node | None:
        """Return the only random input on which a node depends; None if there is none, or more than one."""
        mask = self.mask(node)
        return next((s for s, bit in self.sources.items() if bit == mask), None)

    def __call__(self, node: Node) -> Terms:
        """Return the terms of a node; a node with too many terms is an atom.

        Raises:
            Undecided: if all nodes together have too many terms.
        """
        known = self._terms
        self._budget.spend()
        for n in postorder([node], self._operands, until=known):
            if not self.mask(n):
                known[n] = {ONE: n} if not n.is_number(0) else {}
            elif n not in known:  # the call of a rule may have expanded the node already
                known[n] = self._expanded(n)
                self._budget.spend(len(known[n]))
        return known[node]

    def _operands(self, node: Node) -> Iterable[Node]:
        """Return the numbers that a node or its conditions contain, from right to left."""
        if not self.mask(node):
            return ()
        numbers = [a for a in node.args if a.dtype != "bool"]
        return reversed([*numbers, *(a for c in _conditions(node) for a in c.args)])

    def _expanded(self, node: Node) -> Terms:
        if node in self.sources:
            return {((node, _1),): _1}
        rule = self._rules.get(node.op.name)
        if rule is not None:
            try:
                return rule(self, node)
            except Undecided:
                pass
        return {((node, _1),): _1}

    # ------------------------------------------------------------------------------------------------- regions

    def regions(self, terms: Terms) -> Iterator[tuple[Terms, Terms]]:
        """Yield the indicator of every region in which a sum has no indicators, with the sum in this region."""
        sides = {a for m in terms for a, _ in m if is_indicator(a)}
        edges = ordered((a, _1) for a in sides if opposite(a) not in sides or a.args[0].op.name == "lt")
        if len(edges) > _REGIONS:
            raise Undecided
        places: list[tuple[Terms, frozenset[Node]]] = [({ONE: _1}, frozenset())]
        for edge, _ in edges:
            places = [
                (product(t, {((side, _1),): _1}), held | {side})
                for t, held in places
                for side in (edge, opposite(edge))
            ]
        for where, held in places:
            here: Terms = {}
            for m, c in terms.items():
                if all(not is_indicator(a) or a in held for a, _ in m):
                    plus(here, self._signed(tuple(f for f in m if not is_indicator(f[0])), c, held))
            yield where, here

    def _signed(self, m: Monomial, c: Node, held: frozenset[Node]) -> Terms:
        """Replace inputs by their absolute values in a product if a region determines their signs."""
        factors: list[tuple[Node, Node]] = []
        for atom, e in m:
            sides = [s.args[0] for s in held if s.args[0].args[0] is atom and is_integer(e)]
            if any(s.op.name == "ge" and self.nonnegative(s.args[1]) for s in sides):
                factors.append((OPS["abs"](atom), e))
            elif any(s.op.name == "lt" and self.nonnegative(-s.args[1]) for s in sides):
                factors.append((OPS["abs"](atom), e))
                c = c if is_even(e) else -c
            else:
                factors.append((atom, e))
        return {ordered(factors): c}

    def by_region(self, terms: Terms, function: Callable[[Terms], Terms]) -> Terms:
        """Apply a function to a sum, region by region."""
        if not any(is_indicator(a) for m in terms for a, _ in m):
            return function(terms)
        found: Terms = {}
        for where, here in self.regions(terms):
            plus(found, product(where, function(here)))
        return found

    # --------------------------------------------------------------------------------------------------------- facts

    def positive(self, node: Node) -> bool:
        """Tell whether a node is known to be positive."""
        return self.given.known.positive(node) == "yes"

    def nonnegative(self, node: Node) -> bool:
        """Tell whether a node is known to be nonnegative."""
        return self.given.known.nonnegative(node) == "yes"

    def is_continuous(self, node: Node) -> bool:
        """Tell whether a node is a random input for which each single value has probability 0."""
        return node in self.sources and node.dtype == "real"

    def is_count(self, node: Node) -> bool:
        """Tell whether a node is a random input with integer values."""
        return node in self.sources and node.dtype == "int"

    def affine(self, terms: Terms) -> tuple[Node, Node, Node] | None:
        """Return u, c0 and c1 for a sum c0 + c1*u."""
        noisy = [m for m in terms if m]
        if len(noisy) != 1 or len(noisy[0]) != 1:
            return None
        ((atom, exponent),) = noisy[0]
        if atom not in self.sources or not exponent.is_number(1):
            return None
        return atom, terms.get(ONE, _0), terms[noisy[0]]

    def factored(self, terms: Terms) -> tuple[Node, Monomial]:
        """Write a sum as a coefficient times a monomial: the common factors, times c0 + u or the remaining sum.

        Raises:
            Undecided: if the sum is zero.
        """
        if not terms:
            raise Undecided
        if len(terms) == 1:
            ((m, c),) = terms.items()
            return c, m
        common = dict(next(iter(terms)))
        for m in terms:
            powers = dict(m)
            common = {
                a: e if e is powers[a] or e.value <= powers[a].value else powers[a]
                for a, e in common.items()
                if a in powers and (e is powers[a] or (e.is_number() and powers[a].is_number()))
            }
        rest: Terms = {}
        for m, c in terms.items():
            less = [(a, e - common[a] if a in common else e) for a, e in m]
            plus(rest, {tuple(f for f in less if not f[1].is_number(0)): c})
        affine = self.affine(rest)
        scale = _1
        if affine is not None:
            u, c0, c1 = affine
            sign = 1 if self.positive(c1) else -1 if self.positive(-c1) else 0
            if sign:
                scale = sign * c1
                base = simple(c0 / scale + sign * u)
                if self.given.known.negative(base) == "yes":
                    scale, base = -scale, simple(-base)
            else:
                base = c0 + c1 * u
        else:
            base = node_of_sum(rest)
        return scale, ordered([*common.items(), (simple(base), _1)])


def is_integer(e: Node) -> bool:
    """Tell whether an exponent is an integer."""
    return e.is_number() and isinstance(e.value, int)


def is_even(e: Node) -> bool:
    """Tell whether an exponent is an even number."""
    return e.is_number() and isinstance(e.value, int) and e.value % 2 == 0


def simple(node: Node) -> Node:
    """Return a node in canonical form."""
    return canonical([node]).nodes[0]


def node_of_sum(terms: Terms) -> Node:
    """Return a sum as one node."""
    total = _0
    for m, c in terms.items():
        total = total + c * node_of(m)
    return total


def _conditions(node: Node) -> list[Node]:
    """Return the comparisons of numbers in the conditions of a node, from right to left."""
    conditions = [a for a in node.args if a.dtype == "bool"]
    parts = [c for a in conditions for c in leaves(a, lambda c: c.args if c.op.name in _LOGIC else None)]
    return [c for c in reversed(parts) if c.op.name in NEGATION and all(a.dtype != "bool" for a in c.args)]


TermRule = Callable[[Expansion, Node], Terms]
