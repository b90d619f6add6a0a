"""Patterns: graphs over metavariables, and the matcher.

    Pattern ::= Metavariable | number | op(Pattern*)
    Metavariable ::= a, b, ... : any number node    m, n, ... : an exact number    c, d, ... : any truth value

A pattern is an ordinary Node whose symbols are metavariables, so rules read as formulas: ``exp(log(a))``.
An op can also be *seen* in a node that is written differently, through views: in the normal form of
products, -2*x is the negation of 2*x and sqrt(x) is the power x**(1/2). Views are given by the rules; the
matcher knows none. Patterns are a few nodes deep, so matching recurses over the pattern (never over the
graph).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from symgrad.ir.graph import NUMBER, SYMBOL, Node, apply, symbol
from symgrad.ir.types import BOOL, REAL, Declaration, Domain

__all__ = [
    "Bindings",
    "View",
    "instantiate",
    "is_literal",
    "literal",
    "match",
    "meta",
    "metavariables",
    "proposition",
]

Bindings = Mapping[Node, Node]

_LITERAL = Domain("literal", "real")


class View(Protocol):
    """Ways to see a node as an application of an op that it is not written as."""

    def sees(self, op_name: str) -> bool:
        """Tell whether nodes are matched against this op through the view alone."""
        ...

    def arguments(self, op_name: str, node: Node) -> tuple[Node, ...] | None:
        """Return the arguments under which the node is an application of the op, or None."""
        ...


def meta(name: str) -> Node:
    """Return a metavariable for any node that is a number."""
    return symbol(Declaration(name, REAL))


def literal(name: str) -> Node:
    """Return a metavariable for exact numbers only."""
    return symbol(Declaration(name, _LITERAL))


def proposition(name: str) -> Node:
    """Return a metavariable for any truth value."""
    return symbol(Declaration(name, BOOL))


def is_literal(node: Node) -> bool:
    """Tell whether a metavariable stands for exact numbers only."""
    return node.op is SYMBOL and node.declaration.domain is _LITERAL


def metavariables(pattern: Node) -> list[Node]:
    """Return the metavariables of a pattern in order of first appearance."""
    found: dict[Node, None] = {}
    pending = [pattern]
    while pending:
        part = pending.pop()
        if part.op is SYMBOL:
            found[part] = None
        else:
            pending += part.args[::-1]
    return list(found)


def instantiate(template: Node, bindings: Bindings) -> Node:
    """Replace the metavariables of a template."""
    if template.op is SYMBOL:
        return bindings[template]
    if not template.args:
        return template
    return apply(template.op, tuple(instantiate(a, bindings) for a in template.args), template.params)


def match(pattern: Node, node: Node, bindings: Bindings, view: View) -> Iterator[Bindings]:
    """Yield every way to make a pattern equal a node by binding metavariables, in a fixed order.

    Args:
        pattern: the pattern.
        node: the node.
        bindings: metavariables that are bound already.
        view: other ways to read nodes.
    """
    if pattern.op is SYMBOL:
        bound = bindings.get(pattern)
        if bound is node:
            yield bindings
        elif bound is None and _stands_for(pattern, node):
            yield {**bindings, pattern: node}
        return
    if not pattern.args:
        if pattern is node:
            yield bindings
        return
    name = pattern.op.name
    if view.sees(name):
        args = view.arguments(name, node)
    else:
        args = node.args if node.op is pattern.op and node.params == pattern.params else None
    if args is None:
        return
    yield from _match_all(pattern.args, args, bindings, view)
    if "commutative" in pattern.op.facts and len(args) == 2 and args[0] is not args[1]:
        yield from _match_all(pattern.args, (args[1], args[0]), bindings, view)


def _match_all(
    patterns: tuple[Node, ...], nodes: tuple[Node, ...], bindings: Bindings, view: View
) -> Iterator[Bindings]:
    if not patterns:
        yield bindings
        return
    for found in match(patterns[0], nodes[0], bindings, view):
        yield from _match_all(patterns[1:], nodes[1:], found, view)


def _stands_for(metavariable: Node, node: Node) -> bool:
    if metavariable.dtype == "bool" or node.dtype == "bool":
        return metavariable.dtype == node.dtype
    return node.op is NUMBER if is_literal(metavariable) else True
