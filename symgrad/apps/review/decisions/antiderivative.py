"""Decides steps with integrals without bounds: their sides are differentiated, since they hold up to constants."""

from __future__ import annotations

from collections.abc import Mapping

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import Antiderivative
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import UnsupportedError


def integrals_in(node: Node, known: Mapping[Node, Antiderivative], *, bounded: bool) -> list[Node]:
    """Return the integrals that a formula reads: those with bounds, or those without."""
    return [s for s in symbols_of([node]) if s in known and known[s].bounded == bounded]


def variable_of(integrals: list[Node], known: Mapping[Node, Antiderivative]) -> Node | None:
    """Return the input over which integrals without bounds are; None if there is not one.

    An integral over a computed value, such as u = log(x), is one over x.
    """
    found: set[Node] = set()
    for s in integrals:
        by = known[s].by
        inputs = [by] if by.op is SYMBOL else [i for i in inputs_of(by) if i.dtype == "real"]
        found.update(inputs if len(inputs) == 1 else ())
        if len(inputs) != 1:
            return None
    return found.pop() if len(found) == 1 else None


def differentiated(node: Node, x: Node, known: Mapping[Node, Antiderivative]) -> Node:
    """Return the derivative of a formula with integrals without bounds, by the input that these are over.

    Raises:
        UnsupportedError: if the formula is no sum of multiples of integrals.

    Example:
        >>> import symgrad as sg
        >>> x, j = sg.symbols("x j")
        >>> found = differentiated((x - 2*j).node, x.node, {j.node: Antiderivative(sg.sin(x).node, x.node)})
        >>> print(sg.Expr(found).canonical())
        1 - 2*sin(x)
    """
    integrals = integrals_in(node, known, bounded=False)
    total = derivative(Expr(node), (Expr(x),))
    for s in integrals:
        factor = derivative(Expr(node), (Expr(s),)).canonical()
        if not {x, *known}.isdisjoint(symbols_of([factor.node])):
            raise UnsupportedError("an integral without bounds in a formula that is no sum of its multiples")
        by = known[s].by
        inner = Expr(known[s].integrand) * (1 if by is x else derivative(Expr(by), (Expr(x),)))
        total = total + factor * inner
    return total.node
