"""Infer three-valued facts about the value of a node bottom up (abstract interpretation over intervals).

    Truth ::= "yes" | "no" | "unknown"       -- at every point of the domain; at no point; undecided

A fact holds on the domain of the node: `sqrt(x)` is nonnegative although it is undefined for x < 0. `defined` decides
whether the domain contains all points. Facts come from declarations (interval, distribution), from op records, and from
interval arithmetic on exact rationals. Equal symbols count as independent, so the facts also hold for the frozen copies
inside stop_gradient. An unknown fact never permits a rewrite.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias

from symgrad.ir.graph import Node
from symgrad.ir.traverse import fold
from symgrad.ops.array.along import axes_of
from symgrad.rewrite.facts.intervals import Facts, add, exactly, mul
from symgrad.rewrite.facts.op_results import COMPARISONS, facts_of, is_ruled, operands_of
from symgrad.support.traversal import postorder

Truth: TypeAlias = Literal["yes", "no", "unknown"]

_INF = math.inf
_TERMS = 16  # largest number of terms of two sums that are compared term by term

_BY_POINTS = frozenset(["add", "neg", "mul", "div", "exp"])
"""Ops whose result has several values if an argument has several, except products with zero."""


def _arguments_by_points(node: Node) -> tuple[Node, ...]:
    """Return the arguments that decide whether a node can have only one value."""
    return node.args if node.op.name in _BY_POINTS else ()


class Conditions:
    """Facts about nodes, computed lazily and cached.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> import symgrad.ops
        >>> x = symbol(Declaration("x"))
        >>> known = Conditions()
        >>> known.positive(1 + x**2), known.positive(x), known.nonnegative(x**2)
        ('yes', 'unknown', 'yes')
    """

    def __init__(self) -> None:
        self._facts: dict[Node, Facts] = {}
        self._defined: dict[Node, bool] = {}
        self._points: dict[Node, int | Fraction | None] = {}

    def facts(self, node: Node) -> Facts:
        """Return the facts about a node's value."""
        facts = self._facts
        if node not in facts:
            for n in postorder([node], operands_of, until=facts):
                facts[n] = facts_of(n, [facts[a] for a in operands_of(n)])
        return facts[node]

    def point(self, node: Node) -> int | Fraction | None:
        """Return the only value that a node can take; None if there is no value or more than one.

        This is ``facts(node).point``, but the points of the arguments exclude most nodes before their facts are
        computed.
        """
        points = self._points
        if node not in points:
            for n in postorder([node], _arguments_by_points, until=points):
                points[n] = self.facts(n).point if self._may_be_one(n) else None
        return points[node]

    def _may_be_one(self, node: Node) -> bool:
        """Tell from the points of its arguments whether a node may have only one value."""
        name = node.op.name
        if name in _BY_POINTS:
            points = [self._points[a] for a in node.args]
            return None not in points or (name == "mul" and 0 in points) or (name == "div" and points[0] == 0)
        return is_ruled(node) or node.dtype == "bool" or not node.args or "odd" in node.op.facts

    def holds(self, condition: Node) -> Truth:
        """Return whether a condition (a truth-valued node) holds."""
        point = self.facts(condition).point
        if point is None and condition.op.name in COMPARISONS:
            point = self._by_difference(condition)
        return "unknown" if point is None else "yes" if point else "no"

    def _by_difference(self, comparison: Node) -> int | Fraction | None:
        """Decide a comparison of two sums by the difference of its sides: x + 1 is never x."""
        left, right = comparison.args
        if left.dtype == "bool" or right.dtype == "bool":
            return None
        terms: dict[Node, int | Fraction] = {}
        constant: int | Fraction = 0
        pending: list[tuple[Node, int | Fraction]] = [(left, 1), (right, -1)]
        for count, (node, number) in enumerate(pending):
            if count > _TERMS:
                return None
            if node.is_number():
                constant += number * node.value
            elif node.op.name == "add":
                pending += [(a, number) for a in node.args]
            elif node.op.name == "neg":
                pending.append((node.args[0], -number))
            elif node.op.name == "mul" and node.args[0].is_number():
                pending.append((node.args[1], number * node.args[0].value))
            else:
                terms[node] = terms.get(node, 0) + number
        difference = exactly(constant)
        for node, number in terms.items():
            if number:
                difference = add(difference, mul(exactly(number), self.facts(node)))
        return COMPARISONS[comparison.op.name](difference, exactly(0)).point

    def positive(self, node: Node) -> Truth:
        """Return whether node > 0."""
        f = self.facts(node)
        return "yes" if f.positive else "no" if f.nonpositive else "unknown"

    def negative(self, node: Node) -> Truth:
        """Return whether node < 0."""
        f = self.facts(node)
        return "yes" if f.negative else "no" if f.nonnegative else "unknown"

    def nonnegative(self, node: Node) -> Truth:
        """Return whether node >= 0."""
        f = self.facts(node)
        return "yes" if f.nonnegative else "no" if f.negative else "unknown"

    def nonzero(self, node: Node) -> Truth:
        """Return whether node != 0."""
        f = self.facts(node)
        return "yes" if f.nonzero or f.positive or f.negative else "no" if f.point == 0 else "unknown"

    def integer(self, node: Node) -> Truth:
        """Return whether the value is an integer."""
        f = self.facts(node)
        point = f.point
        return "yes" if f.integer else "no" if point is not None and point.denominator != 1 else "unknown"

    def bounded(self, node: Node) -> Truth:
        """Return whether the value stays within finite bounds."""
        f = self.facts(node)
        return "yes" if f.low > -_INF and f.high < _INF else "unknown"

    def defined(self, node: Node) -> Truth:
        """Return whether the node has a value at every point of the declared domains."""
        if node not in self._defined:
            fold([node], lambda n, args: all(args) and self.total(n), self._defined)
        return "yes" if self._defined[node] else "unknown"

    def total(self, node: Node) -> bool:
        """Tell whether the node provably has a value wherever its arguments have one."""
        if node.op.name == "pow" and node.args[1].is_number():
            return self._power_everywhere(node.args[0], Fraction(node.args[1].value))
        if not node.op.pointwise:
            total = node.op.array.total
            return total == "always" or (total in ("of some", "of some only") and _is_filled(node))
        return node.op.domain is None or self.holds(node.op.domain(*node.args)) == "yes"

    def _power_everywhere(self, base: Node, exponent: Fraction) -> bool:
        """Tell whether a power with a number as exponent is total; the base decides."""
        if exponent.denominator == 1:
            return exponent >= 0 or self.nonzero(base) == "yes"
        return (self.nonnegative(base) if exponent > 0 else self.positive(base)) == "yes"


def _is_filled(node: Node) -> bool:
    """Tell whether an op over axes provably has an entry to compute each entry of its result from."""
    sizes = [node.args[0].shape[axis] for axis in axes_of(node)]
    return all(isinstance(size, int) and size > 0 for size in sizes)
