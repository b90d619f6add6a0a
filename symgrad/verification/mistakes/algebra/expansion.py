"""Expand the products in a formula, so that a slip in one of the resulting terms has a place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as choices

from symgrad.ir.graph import NUMBER, Node, apply
from symgrad.ir.traverse import fold
from symgrad.ops.array.layout import full
from symgrad.verification.mistakes.limits import TERMS
from symgrad.verification.mistakes.rewriting import signed, total

_Terms = list[tuple[int, Node]]


def expanded(formula: Node) -> Node | None:
    """Expand the products in a formula; None if nothing changes, or there are too many terms.

    Example:
        >>> import symgrad as sg
        >>> from symgrad.api.handles.expr import handle
        >>> a, b = sg.symbols("a b")
        >>> print(handle(expanded(((a - b)*(a + 1)).node)))
        a*a + a*1 + -b*a + -b*1
    """
    terms = fold([formula], _terms)[formula]
    if len(terms) < 2:
        return None
    found = total(signed(s, full(t, formula.shape)) for s, t in terms)
    return None if found is formula else found


def _terms(node: Node, args: list[_Terms]) -> _Terms:
    name = node.op.name
    if name == "add":
        found = [t for terms in args for t in terms]
    elif name == "neg":
        found = [(-s, t) for s, t in args[0]]
    elif name == "mul" or (name == "einsum" and len(node.args) == 2):
        found = [*_products(node, args)]
    elif name == "div":
        found = [(s, t / node.args[1]) for s, t in args[0]]
    elif name == "pow" and node.args[1].op is NUMBER and node.args[1].value in (2, 3):
        found = _power(args[0], int(node.args[1].value))
    else:
        return [(1, node)]
    return found if 1 < len(found) <= TERMS else [(1, node)]


def _products(node: Node, args: list[_Terms]) -> Iterator[tuple[int, Node]]:
    if any(t.shape != a.shape for a, terms in zip(node.args, args, strict=True) for _, t in terms):
        yield 1, node  # keep broadcast operands
        return
    for (s, a), (t, b) in choices(*args):
        yield s * t, apply(node.op, (a, b), node.params)


def _power(terms: _Terms, exponent: int) -> _Terms:
    if len(terms) < 2:
        return []
    if exponent == 2 and len(terms) == 2:
        (s, a), (t, b) = terms
        return [(1, a**2), (s * t, 2 * a * b), (1, b**2)]
    found = terms
    for _ in range(exponent - 1):
        found = [(s * t, a * b) for s, a in found for t, b in terms]
    return found
