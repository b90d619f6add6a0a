"""`simplify`: simplify a formula."""

from __future__ import annotations

from symgrad.api.handles.expr import Expr, Operand
from symgrad.api.handles.formula_arguments import formula
from symgrad.api.handles.program import Program

__all__ = ["simplify"]


def simplify(expression: Operand | str | Program) -> Expr:
    """Return an expression in the form that is easiest to read, of those that are looked at in bounded time.

    Args:
        expression: an expression, scalar or array, a number; or the text of a program that ends with one.

    Returns:
        One that is equal wherever the given one is defined, or the given one. `Expr.simplified_notes` of the given one
        tells where it is defined at more points.

    Example:
        >>> import symgrad as sg
        >>> e, a, l = sg.symbols("e a l")
        >>> print(sg.simplify(e**2*sg.exp(-l) + e*(a - e*sg.exp(-l))))
        a*e
    """
    return formula(expression).simplify()
