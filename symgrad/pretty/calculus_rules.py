"""Derivatives by hand: from the inside out, one rule of calculus for each line.

    chain rule (sin)   d(sin(3*x))/dx = 3*cos(3*x)
    product rule       d(x*sin(3*x))/dx = sin(3*x) + x*(3*cos(3*x))

Each line differentiates a part of the formula that needs a rule; functions of x alone, multiples and signs are
differentiated in the line that reads them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import reduce

from symgrad.autodiff.jvp import push_forward
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.logic import where
from symgrad.pretty.limits import RULES_APPLIED
from symgrad.rewrite.pipeline import canonical


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """A line of a derivation by hand.

    Args:
        rule: the name of the rule: ``"product rule"``, ``"chain rule (sin)"``.
        of: the differentiated part.
        by: the variable of the derivative.
        applied: the result of the rule, with the derivatives of the lines above inserted.
        derivative: a shorter form of ``applied``; ``applied`` itself if there is none, or if the shorter form extends
            the domain.
    """

    rule: str
    of: Node
    by: Node
    applied: Node
    derivative: Node


def applied_rules(
    y: Node,
    x: Node,
    named: Collection[Node],
    written: Callable[[Node], str | None],
    slopes: Mapping[Node, Node] = {},
) -> tuple[AppliedRule, ...]:
    """Return the lines of the derivative of a scalar with respect to a scalar; the line for ``y`` is last.

    Args:
        y: the formula.
        x: the variable, a symbol or a part of ``y``.
        named: parts with a name, which get their own lines.
        written: a function that returns the text of a formula; None if the text is too long.
        slopes: the derivatives by ``x`` of parts that the program writes as derivatives, which no line takes apart.

    Returns:
        The lines; none if the formula has arrays or stop_gradients, does not depend on ``x``, or needs more lines, or
        longer ones, than a reader can follow.
    """
    order = topological([y], until={x, *slopes})
    moving = {x, *(n for n in order if n in slopes and not slopes[n].is_number(0))}
    for n in order:
        if n not in slopes and any(a in moving for a in n.args):
            if n.shape or "stops" in n.op.facts or not n.op.pointwise:
                return ()
            if n.dtype == "real":
                moving.add(n)
    if y not in moving or y is x or x.shape:
        return ()
    graph = _Moving(moving, x, slopes)
    inside = {a for n in order if n.op in (mul, add) for a in graph.operands(n) if a.op is n.op}
    whole = {y, *named, *slopes}
    parts = [
        n
        for n in order
        if n in moving and n is not x and (n in whole or (n not in inside and graph.needs_rule(n)))
    ]
    if len(parts) > RULES_APPLIED:
        return ()
    chooses = any(n.op is where for n in order)
    known: dict[Node, Node] = {x: as_node(1)}
    lines: list[AppliedRule] = []
    for n in parts:
        if n in slopes:
            known[n] = slopes[n]
            lines.append(AppliedRule("higher derivative", n, x, known[n], known[n]))
            continue
        applied = graph.applied(n, known)
        if not chooses and any(m.op is where for m in topological([applied])):
            return ()  # the rule has exceptions that no line mentions: x**x at zero
        text = written(applied)
        if text is None or written(n) is None:
            return ()
        found = canonical([applied])
        short = _signed(found.nodes[0])
        short_text = None if found.widened else written(short)
        if short_text is None or len(short_text) >= len(text):
            short = applied
        elif _bare(short_text) == _bare(text):  # the two texts differ only in brackets
            applied = short
        known[n] = short
        lines.append(AppliedRule(graph.rule_of(n), n, x, applied, known[n]))
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class _Moving:
    """The nodes of a graph that depend on a variable.

    Args:
        parts: these nodes.
        x: the variable.
        whole: nodes that are not taken apart.
    """

    parts: Collection[Node]
    x: Node
    whole: Collection[Node]

    def operands(self, n: Node) -> list[Node]:
        """Return the operands of a node that depend on the variable, without signs."""
        return [] if n in self.whole else [_unsigned(a) for a in n.args if a in self.parts]

    def summands(self, n: Node) -> list[Node]:
        """Return the terms of a sum, or factors of a product, that depend on the variable, without signs."""
        found: list[Node] = []
        pending = [n]
        while pending:
            own = self.operands(pending.pop())
            pending += [a for a in reversed(own) if a.op is n.op and a not in self.whole]
            found += [a for a in own if a.op is not n.op or a in self.whole]
        return found

    def needs_rule(self, n: Node) -> bool:
        """Tell whether a part gets its own line."""
        if n.op is neg:
            return False
        if n.op is add:
            terms = self.summands(n)
            return len(terms) > 1 and not all(map(self._is_linear, terms))
        if n.op is mul:
            return len(self.summands(n)) > 1
        if n.op is div:
            above, below = n.args
            return below in self.parts and not (below is self.x and above not in self.parts)
        return any(a is not self.x for a in self.operands(n))

    def _is_linear(self, n: Node) -> bool:
        """Tell whether a part is a multiple of the variable."""
        while n is not self.x:
            own = self.operands(n)
            if n.op not in (mul, div) or len(own) != 1 or (n.op is div and n.args[1] in self.parts):
                return False
            (n,) = own
        return True

    def applied(self, n: Node, known: Mapping[Node, Node]) -> Node:
        """Apply the rule of a part to known derivatives."""
        if n.op is mul:
            return self._product(n, known)
        if n.op is not div or n.args[1] not in self.parts:
            (found,) = push_forward([n], known)
            # People write the outer derivative first.
            chained = found.op is mul and n.op not in (add, mul, div, neg) and not found.args[0].is_number()
            return found.args[1] * found.args[0] if chained else found
        above, below = n.args
        slope = push_forward([below], known)[0]
        if above not in self.parts:
            return -(above * slope) / below**2
        return (push_forward([above], known)[0] * below - above * slope) / below**2

    def _product(self, n: Node, known: Mapping[Node, Node]) -> Node:
        factors: list[Node] = []
        pending, sign = [n], 1
        while pending:
            top = pending.pop()
            while top.op is neg and top not in self.whole:
                (top,), sign = top.args, -sign
            if top.op is mul and (top is n or (top not in known and top not in self.whole)):
                pending += reversed(top.args)
            else:
                factors.append(top)
        terms = [
            reduce(operator.mul, [slope if i == k else f for i, f in enumerate(factors)])
            for k, factor in enumerate(factors)
            if factor in self.parts and not (slope := push_forward([factor], known)[0]).is_number(0)
        ]
        total = reduce(operator.add, terms) if terms else as_node(0)
        return total if sign > 0 else -total

    def rule_of(self, n: Node) -> str:
        """Return the name of the rule for a part."""
        inner = any(a is not self.x for a in self.operands(n))
        if n.op is neg:
            return "sign"
        if n.op is add:
            return "sum rule"
        if n.op is mul:
            return "product rule" if len(self.summands(n)) > 1 else "constant factor"
        if n.op is div:
            if n.args[1] not in self.parts:
                return "constant factor"
            return "quotient rule" if n.args[0] in self.parts else "reciprocal rule"
        if n.op is pow:
            if n.args[1] in self.parts:
                return "power, both parts" if n.args[0] in self.parts else "exponential rule"
            return "power and chain rule" if inner else "power rule"
        if n.op is where:
            return "piece by piece"
        return f"chain rule ({n.op.name})" if inner else f"derivative of {n.op.name}"


def _bare(text: str) -> str:
    """Remove brackets from a text."""
    return text.replace("(", "").replace(")", "")


def _signed(n: Node) -> Node:
    """Move the sign of a quotient's numerator to the front, so that a sum subtracts the quotient."""
    return -(n.args[0].args[0] / n.args[1]) if n.op is div and n.args[0].op is neg else n


def _unsigned(n: Node) -> Node:
    while n.op is neg:
        (n,) = n.args
    return n
