"""A derivative as it is written by hand: from the inside out, one rule of calculus a line.

    chain rule (sin)   d(sin(3*x))/dx = 3*cos(3*x)
    product rule       d(x*sin(3*x))/dx = sin(3*x) + x*(3*cos(3*x))

What a line differentiates is a part of the formula that needs a rule: functions of x alone, multiples and signs are
differentiated within the line that reads them, as a person does it.
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

__all__ = ["AppliedRule", "applied_rules"]


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """A line of a derivation by hand.

    Args:
        rule: the rule that it applies: ``"product rule"``, ``"chain rule (sin)"``.
        of: what it differentiates.
        by: by what.
        applied: what the rule gives, with the derivatives of the lines above in their places.
        derivative: the same in a shorter form; ``applied`` itself where there is none, or it is defined in more places.
    """

    rule: str
    of: Node
    by: Node
    applied: Node
    derivative: Node


def applied_rules(
    y: Node, x: Node, named: Collection[Node], written: Callable[[Node], str | None]
) -> tuple[AppliedRule, ...]:
    """Return the lines that lead to the derivative of a number by a number, that of ``y`` the last.

    Args:
        y: what is differentiated.
        x: by what, a symbol or a part of ``y``.
        named: parts that have a name, and so a line each.
        written: returns the text of a formula, None for one that is too long to be read.

    Returns:
        The lines; none where the formula has arrays, cuts derivatives off, does not read ``x`` or takes more or longer
        lines than a person follows.
    """
    order = topological([y], until={x})
    moving = {x}
    for n in order:
        if any(a in moving for a in n.args):
            if n.shape or "stops" in n.op.facts or not n.op.pointwise:
                return ()
            if n.dtype == "real":
                moving.add(n)
    if y not in moving or y is x or x.shape:
        return ()
    graph = _Moving(moving, x)
    inside = {a for n in order if n.op in (mul, add) for a in graph.operands(n) if a.op is n.op}
    told = [
        n
        for n in order
        if n in moving and n is not x and (n is y or n in named or (n not in inside and graph.needs_rule(n)))
    ]
    if len(told) > RULES_APPLIED:
        return ()
    chooses = any(n.op is where for n in order)
    known: dict[Node, Node] = {x: as_node(1)}
    lines: list[AppliedRule] = []
    for n in told:
        applied = graph.applied(n, known)
        if not chooses and any(m.op is where for m in topological([applied])):
            return ()  # where the rule holds is no matter of one line: x**x at zero
        text = written(applied)
        if text is None or written(n) is None:
            return ()
        found = canonical([applied])
        short = _signed(found.nodes[0])
        told_short = None if found.widened else written(short)
        # What is only written in another order is no simpler.
        if told_short is None or len(told_short) >= len(text):
            short = applied
        elif _bare(told_short) == _bare(text):
            applied = short
        known[n] = short
        lines.append(AppliedRule(graph.rule_of(n), n, x, applied, known[n]))
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class _Moving:
    """What of a graph changes with a variable.

    Args:
        parts: the nodes that do.
        x: the variable.
    """

    parts: Collection[Node]
    x: Node

    def operands(self, n: Node) -> list[Node]:
        """Return what of a node's operands changes, without signs."""
        return [_unsigned(a) for a in n.args if a in self.parts]

    def summands(self, n: Node) -> list[Node]:
        """Return the terms of a sum, or the factors of a product, that change, signs left out."""
        found: list[Node] = []
        pending = [n]
        while pending:
            own = self.operands(pending.pop())
            pending += [a for a in reversed(own) if a.op is n.op]
            found += [a for a in own if a.op is not n.op]
        return found

    def needs_rule(self, n: Node) -> bool:
        """Tell whether a part is differentiated by a line of its own."""
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
        """Tell whether a part is the variable, or a multiple of it."""
        while n is not self.x:
            own = self.operands(n)
            if n.op not in (mul, div) or len(own) != 1 or (n.op is div and n.args[1] in self.parts):
                return False
            (n,) = own
        return True

    def applied(self, n: Node, known: Mapping[Node, Node]) -> Node:
        """Return what the rule of a part gives, with the derivatives that are known."""
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
            while top.op is neg:
                (top,), sign = top.args, -sign
            if top.op is mul and (top is n or top not in known):
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
        """Return what the rule of a part is called."""
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
    """Return a text without brackets."""
    return text.replace("(", "").replace(")", "")


def _signed(n: Node) -> Node:
    """Return a quotient of a negative with the sign in front, so that a sum subtracts it."""
    return -(n.args[0].args[0] / n.args[1]) if n.op is div and n.args[0].op is neg else n


def _unsigned(n: Node) -> Node:
    while n.op is neg:
        (n,) = n.args
    return n
