"""Convert SymPy formulas, matrices, and results of `sympy.cse` to expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from symgrad.api.derivatives.targets import as_list
from symgrad.api.functions.symbols import Values, declaration
from symgrad.api.handles.expr import Expr, handle
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.literals import decimals_in
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Declaration, Number
from symgrad.ops.numpy.calls import reshaped, stack
from symgrad.support.traversal import leaves

if TYPE_CHECKING:
    from fractions import Fraction

    from symgrad.ops.sympy_bridge.objects import Basic


@overload
def from_sympy(
    expr: list[Any] | tuple[Any, ...], domains: Mapping[str, Values] | None = None
) -> list[Expr]: ...
@overload
def from_sympy(expr: Basic | float | Fraction, domains: Mapping[str, Values] | None = None) -> Expr: ...
def from_sympy(expr: Any, domains: Mapping[str, Values] | None = None) -> Any:
    """Return a SymPy expression as an Expr (a list for a list).

    A matrix or array of explicit entries becomes an array of its shape. The result of `sympy.cse`, a pair of
    replacements and expressions, becomes the list of the expressions; the replacements become named intermediate
    values. An undefined function theta(t) becomes an input ``theta``, and its derivatives become inputs ``dtheta_dt``,
    ``d2theta_dt2``; so an expression with such functions cannot also contain t.

    Args:
        expr: a SymPy expression or matrix, a list of them, or the result of `sympy.cse`.
        domains: the domains or distributions of symbols by name, as for `symgrad.symbols`. All other symbols get a
            domain from their assumptions in SymPy; by default they are real.

    Raises:
        UnsupportedError: for a SymPy head that symgrad does not have.
        DeclarationError: for a complex symbol.
        RedefinitionError: if two symbols, or a symbol and a function, have the same name.

    Example:
        >>> import sympy, symgrad as sg
        >>> x = sympy.Symbol("x")
        >>> print(sg.from_sympy(sympy.sin(x)**2))
        sin(x)**2
        >>> sg.from_sympy(sympy.Matrix([[x, 1], [0, x**2]])).shape
        (2, 2)
        >>> t, theta = sympy.Symbol("t"), sympy.Function("theta")
        >>> print(sg.from_sympy(theta(t).diff(t)**2/2 - sympy.cos(theta(t))))
        1/2*dtheta_dt**2 - cos(theta)
        >>> (e,) = sg.from_sympy(sympy.cse(sympy.exp(x**2) + x**2))
        >>> float(sg.grad(e, "x0")(x=0.0))
        2.0
    """
    table = {name: declaration(name, domain) for name, domain in (domains or {}).items()}
    if _is_cse(expr):
        return _with_replacements(expr[0], expr[1], table)
    nodes, decimals = _read(cast("list[Any]", as_list(expr)), table)
    listing = Listing({s.name: s for s in symbols_of(nodes)}, {}, decimals=decimals)
    found = [Expr(n, listings=(listing,)) if decimals else handle(n) for n in nodes]
    return found if isinstance(expr, list | tuple) else found[0]


def _is_cse(expr: Any) -> bool:
    """Tell whether a value is a result of `sympy.cse`: pairs of symbols and formulas, and formulas."""
    if not isinstance(expr, tuple) or len(cast("tuple[Any, ...]", expr)) != 2:
        return False
    replacements, formulas = cast("tuple[Any, Any]", expr)
    return (
        isinstance(replacements, list)
        and isinstance(formulas, list | tuple)
        and all(
            isinstance(pair, tuple) and len(cast("tuple[Any, ...]", pair)) == 2
            for pair in cast("list[Any]", replacements)
        )
    )


def _with_replacements(
    replacements: Sequence[tuple[Any, Any]], formulas: Sequence[Any], table: Mapping[str, Declaration]
) -> list[Expr]:
    nodes, decimals = _read([*(part for pair in replacements for part in pair), *formulas], table)
    values: dict[Node, Node] = {}
    for symbol, formula in zip(nodes[0 : 2 * len(replacements) : 2], nodes[1::2], strict=False):
        values[symbol] = substitute([formula], values)[0]
    results = substitute(nodes[2 * len(replacements) :], values)
    inputs = {s.name: s for s in symbols_of([*results, *values.values()])}
    listing = Listing(inputs, {s.name: value for s, value in values.items()}, decimals=decimals)
    return [Expr(node, listings=(listing,)) for node in results]


def _read(exprs: Sequence[Any], table: Mapping[str, Declaration]) -> tuple[list[Node], dict[Number, str]]:
    """Return expressions as nodes, and the texts of numbers that are floats."""
    from symgrad.ops.sympy_bridge import from_sympy as convert  # SymPy starts slowly

    parts = [_entries(e) if _is_array(e) else [e] for e in exprs]
    floats: set[Fraction] = set()
    nodes = iter(convert([entry for part in parts for entry in part], table, floats))
    found = [
        _array([next(nodes) for _ in part], tuple(map(int, e.shape))) if _is_array(e) else next(nodes)
        for e, part in zip(exprs, parts, strict=True)
    ]
    return found, {value: text for value, text in decimals_in(found).items() if value in floats}


def _is_array(e: Any) -> bool:
    """Tell whether a value is a SymPy matrix or array with explicit entries."""
    known = hasattr(e, "tolist") and hasattr(e, "shape") and type(e).__module__.startswith("sympy.")
    return known and all(str(size).isdecimal() for size in e.shape) and bool(e.shape)


def _entries(e: Any) -> list[Any]:
    return leaves(e.tolist(), lambda part: cast("list[Any]", part) if isinstance(part, list) else None)


def _array(entries: Sequence[Node], shape: tuple[int, ...]) -> Node:
    return reshaped(stack(entries), shape) if len(shape) > 1 else stack(entries)
