"""Sides of equations, brought to one shape."""

from __future__ import annotations

from symgrad.api.functions.layout import broadcast_to
from symgrad.api.handles.expr import Expr
from symgrad.ir.graph import NUMBER


def match_shapes(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Return two sides of an equation; a number alone is an array of the other's shape, as in ``= 0``."""
    if a.shape and b.node.op is NUMBER:
        return a, broadcast_to(b, a.shape)
    if b.shape and a.node.op is NUMBER:
        return broadcast_to(a, b.shape), b
    return a, b
