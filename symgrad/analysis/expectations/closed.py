"""Closed forms of entrywise programs: linearity, independence, and one rule per family for the remaining factors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from symgrad.analysis.expectations.assumptions import Assumptions, NoMoment, Undecided
from symgrad.analysis.expectations.families.table import expected, values_of
from symgrad.analysis.expectations.terms.expansion import Expansion
from symgrad.analysis.expectations.terms.monomials import ONE, Monomial, Terms, is_indicator, node_of, times
from symgrad.analysis.expectations.terms.rules import RULES
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import NumberTooLargeError

_0, _1 = as_node(0), as_node(1)
_JOINED = 4  # number of random inputs in a product that does not separate
_PAIRS = 20_000  # number of pairs of terms in a covariance


class ClosedForms:
    """Expectations of entrywise nodes over independent random inputs.

    Args:
        sources: the random inputs.
        given: the known facts; conditions under which the formulas hold are added to it.
    """

    def __init__(self, sources: Sequence[Node], given: Assumptions) -> None:
        self.sources = list(sources)
        self.given = given
        listed = [s for s in sources if values_of(s) is not None]
        self.expand = Expansion(sources, given, RULES, listed)
        self._expected: dict[Monomial, Node | NoMoment] = {ONE: _1}

    def expectation(self, node: Node) -> Node:
        """Return the expectation of a node.

        Raises:
            NoMoment: if the expectation is proved not to exist.
            Undecided: if no closed form is known.
        """
        return self.of_terms(self.expand(node))

    def of_terms(self, terms: Terms) -> Node:
        """Return the expectation of a sum."""
        total = _0
        lost: list[tuple[Monomial, NoMoment]] = []
        for m, c in terms.items():
            c = canonical([c]).nodes[0] if lost or len(m) else c
            if c.is_number(0):
                continue
            try:
                total = total + c * self.of_monomial(m)
            except NoMoment as none:
                lost.append((m, self._without(c, none)))
        # Divergent terms may cancel each other, unless they belong to different regions.
        if any(times(a, b) is not None for i, (a, _) in enumerate(lost) for b, _ in lost[:i]):
            raise Undecided
        if lost:
            raise lost[0][1]
        return total

    def _without(self, c: Node, none: NoMoment) -> NoMoment:
        """Return the exception for a divergent term with a given coefficient."""
        if self.given.known.nonzero(c) == "yes":
            return none
        return NoMoment(f"{none.reason} (where {expression_text(c)} is not 0)")

    def covariance(self, a: Node, b: Node) -> Node:
        """Return the covariance of two nodes, entry by entry.

        Raises:
            NoMoment: if the covariance is proved not to exist.
            Undecided: if no closed form is known.
        """
        first, second = self.expand(a), self.expand(b)
        if len(first) * len(second) > _PAIRS:
            raise Undecided
        masks = {m: reduce(int.__or__, (self.expand.mask(a) for a, _ in m), 0) for m in {**first, **second}}
        if a is b:
            self._check_squares(first)
        total = _0
        for m, c in first.items():
            for n, d in second.items():
                if not masks[m] & masks[n] or c.is_number(0) or d.is_number(0):
                    continue
                both = times(m, n)
                try:
                    joint = _0 if both is None else self.of_monomial(both)
                    total = total + c * d * (joint - self.of_monomial(m) * self.of_monomial(n))
                except NoMoment:
                    raise Undecided from None
        return total

    def _check_squares(self, terms: Terms) -> None:
        """Raise an error if a term has no variance: if exactly one term has none, the sum has none."""
        lost: list[NoMoment] = []
        for m, c in terms.items():
            square = times(m, m)
            assert square is not None
            c = canonical([c]).nodes[0]
            if m == ONE or c.is_number(0):
                continue
            try:
                self.of_monomial(square)
            except NoMoment as none:
                lost.append(self._without(c, none))
        if len(lost) > 1:
            raise Undecided
        if lost:
            raise lost[0]

    def of_monomial(self, m: Monomial) -> Node:
        """Return the expectation of a product: the product of the expectations of its independent parts."""
        known = self._expected.get(m)
        if known is None:
            try:
                known = self._of_parts(m)
            except NoMoment as none:
                known = none
            self._expected[m] = known
        if isinstance(known, NoMoment):
            raise known
        return known

    def parts(self, m: Monomial) -> list[tuple[int, Monomial]]:
        """Return the independent parts of a product, each with a bit for every input on which it depends."""
        parts: list[tuple[int, Monomial]] = []
        for factor in m:
            mask, part = self.expand.mask(factor[0]), (factor,)
            rest: list[tuple[int, Monomial]] = []
            for other, factors in parts:
                if mask & other:
                    mask, part = mask | other, factors + part
                else:
                    rest.append((other, factors))
            parts = [*rest, (mask, part)]
        return parts

    def _of_parts(self, m: Monomial) -> Node:
        total = _1
        lost: NoMoment | None = None
        for mask, part in self.parts(m):
            sources = [s for s, bit in self.expand.sources.items() if bit & mask]
            try:
                total = total * self._of_part(sources, part)
            except NoMoment as none:
                lost = none
        if lost is not None:
            raise self._without(canonical([total]).nodes[0], lost)
        return total

    def _of_part(self, sources: list[Node], part: Monomial) -> Node:
        few = next((s for s in sources if values_of(s) is not None), None)
        if few is not None:
            return self._enumerated(few, [s for s in sources if s is not few], part)
        if len(sources) == 1:
            return expected(sources[0], part, self.given)
        if len(sources) > _JOINED:
            raise Undecided
        # Iterated expectations need absolute convergence, which is given if the integrand is nonnegative.
        node = node_of(part)
        if self.given.known.nonnegative(node) != "yes":
            raise Undecided
        for first in sources:
            rest = [s for s in sources if s is not first]
            conditions = dict(self.given.conditions)
            try:
                inner = ClosedForms([first], self.given).expectation(node)
                return ClosedForms(rest, self.given).expectation(canonical([inner]).nodes[0])
            except Undecided:
                self.given.conditions = conditions
        raise Undecided

    def _enumerated(self, source: Node, others: list[Node], part: Monomial) -> Node:
        values = values_of(source)
        assert values is not None
        # Where an indicator is 0, the other factors may be undefined.
        node = node_of(tuple(f for f in part if not is_indicator(f[0])))
        for atom, _ in part:
            node = OPS["where"](atom.args[0], node, _0) if is_indicator(atom) else node
        total = _0
        for value, probability in values:
            if probability.is_number(0):
                continue
            at = _at(node, source, value)
            if others:
                at = ClosedForms(others, self.given).expectation(at)
            total = total + probability * at
        return total


def _at(node: Node, source: Node, value: Node) -> Node:
    """Return a function of a random input at one of its values.

    Raises:
        NoMoment: if the function is undefined at this value.
    """
    try:
        (found,) = canonical(substitute([node], {source: value})).nodes
        if not symbols_of([found]) and not np.all(np.isfinite(evaluate([found], {})[0])):
            raise NoMoment(
                f"there is no value at {source.name} = {expression_text(value)}, which has a probability above 0"
            )
    except NumberTooLargeError:
        raise Undecided from None
    return found
