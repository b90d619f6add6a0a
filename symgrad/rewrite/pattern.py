"""Patterns: graphs over metavariables, and the matcher.

    Pattern ::= Metavariable | number | op(Pattern*)
    Metavariable ::= a, b, ... : any number node    m, n, ... : an exact number    c, d, ... : any truth value

A pattern is an ordinary Node whose symbols are metavariables, so rules read as formulas: ``exp(log(a))``.
A `View` finds further ops in a node: in the normal form of products, -2*x is the negation of 2*x and sqrt(x) is
the power x**(1/2). Patterns are a few nodes deep, so matching recurses over the pattern, never over the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from symgrad.ir.graph import NUMBER, SYMBOL, Node, apply, symbol
from symgrad.ir.types import BOOL, REAL, Declaration, Domain
from symgrad.support.traversal import walk

Bindings = Mapping[Node, Node]

_LITERAL = Domain("literal", "real")


class View(Protocol):
    """Ways to read a node as an application of another op."""

    def sees(self, op_name: str) -> bool:
        """Tell whether a node with another op may match this op through the view."""
        ...

    def arguments(self, op_name: str, node: Node) -> tuple[Node, ...] | None:
        """Return the arguments for which the op is equal to the node, or None."""
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
    return [n for n in walk([pattern], lambda n: n.args) if n.op is SYMBOL]


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
        bindings: metavariables that are already bound.
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
