"""`simplify`: simplify a formula."""

from __future__ import annotations

from symgrad.api.handles.expr import Expr, Operand
from symgrad.api.handles.formula_arguments import formula
from symgrad.api.handles.program import Program


def simplify(expression: Operand | str | Program) -> Expr:
    """Return the most readable form of an expression that is found in bounded time.

    Args:
        expression: a scalar or array expression, a number, or the text of a program that ends with an expression.

    Returns:
        An expression that is equal to the original wherever the original is defined, or the original itself.
        `Expr.simplified_notes` of the original tells where else the result is defined.

    Example:
        >>> import symgrad as sg
        >>> e, a, l = sg.symbols("e a l")
        >>> print(sg.simplify(e**2*sg.exp(-l) + e*(a - e*sg.exp(-l))))
        a*e
    """
    return formula(expression).simplify()
