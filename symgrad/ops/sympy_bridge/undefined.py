"""Undefined functions of SymPy, theta(t), and their derivatives, as inputs; the cure for matrices without entries."""

from __future__ import annotations

from typing import Any

from symgrad.ops.sympy_bridge.objects import sympy
from symgrad.support.errors import RedefinitionError, UnsupportedError

_AppliedUndef: Any = sympy.core.function.AppliedUndef


def is_undefined(e: Any) -> bool:
    """Tell whether an expression is theta(t), with only symbols as arguments, or a derivative of theta(t).

    Example:
        >>> t, theta = sympy.Symbol("t"), sympy.Function("theta")
        >>> [is_undefined(e) for e in (theta(t), theta(t).diff(t, 2), theta(0), t)]
        [True, True, False, False]
    """
    if isinstance(e, sympy.Derivative):
        if not e.args or not all(map(_is_count, e.args[1:])):
            return False  # the object was not made by its constructor
        e = e.args[0]
    return isinstance(e, _AppliedUndef) and bool(e.args) and all(isinstance(a, sympy.Symbol) for a in e.args)


def _is_count(pair: Any) -> bool:
    """Tell whether an argument of a derivative is a pair of a symbol and an order."""
    parts = pair.args if isinstance(pair, sympy.Tuple) else ()
    return (
        len(parts) == 2
        and isinstance(parts[0], sympy.Symbol)
        and isinstance(parts[1], sympy.Integer)
        and parts[1].is_positive
    )


def name_of(e: Any) -> str:
    """Return the name of the input for an undefined function or a derivative of such a function.

    Example:
        >>> x, t, u = sympy.Symbol("x"), sympy.Symbol("t"), sympy.Function("u")
        >>> [name_of(e) for e in (u(x, t), u(x, t).diff(t), u(x, t).diff(t, 2), u(x, t).diff(x, t))]
        ['u', 'du_dt', 'd2u_dt2', 'd2u_dtdx']
    """
    if not isinstance(e, sympy.Derivative):
        return str(e.func.__name__)
    function, *by = e.args
    counts = sorted((str(variable), int(count)) for variable, count in by)
    order = sum(count for _, count in counts)
    below = "".join(f"d{variable}{count if count > 1 else ''}" for variable, count in counts)
    return f"d{order if order > 1 else ''}{function.func.__name__}_{below}"


def arguments_of(e: Any) -> tuple[Any, ...]:
    """Return the arguments of an undefined function, or of the function in a derivative."""
    return tuple((e.args[0] if isinstance(e, sympy.Derivative) else e).args)


def clash(e: Any, other: Any) -> RedefinitionError:
    """Return the error for two expressions that would have the same name."""
    name = name_of(e)
    return RedefinitionError(
        f"{other} and {e} would both be inputs named {name}",
        cure=f"put Symbol('{name}2') in the place of one: expr.subs({e}, Symbol('{name}2'))",
    )


def check_arguments(functions: dict[str, Any], symbols: dict[str, Any]) -> None:
    """Raise an error for a function of an input, since derivatives with respect to the input would ignore the function.

    Raises:
        UnsupportedError: if there is such a function; the error names the function and the input.
    """
    for e in functions.values():
        for argument in arguments_of(e):
            if symbols.get(argument.name) == argument:
                raise UnsupportedError(
                    f"{e} has no definition, and {argument} stands beside it as a variable",
                    expected=f"functions of {argument} where {argument} itself is not read",
                    cure=f"put a formula, or Symbol('{name_of(e)}'), in the place of {e}",
                )


def with_entries(e: Any) -> str:
    """Return the cure for a matrix expression: symbols as the entries of the first matrix without entries."""
    whole = "write the formula with arrays of symgrad's: sg.tensor"
    named = sorted(e.atoms(sympy.MatrixSymbol), key=str)
    if not named or not all(size.is_Integer for size in named[0].shape):
        return whole
    matrix, (rows, columns) = named[0], named[0].shape
    entries = f"Matrix({rows}, {columns}, symbols('{matrix}:{rows * columns}'))"
    return f"give it entries: expr.subs({matrix}, {entries}).doit()"
