"""Where expressions start: symbols by name, and SymPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from symgrad.api.expr import handle
from symgrad.errors import UsageError
from symgrad.ir.graph import symbol
from symgrad.ir.types import DOMAINS, REAL, Declaration, Domain, is_name

__all__ = ["from_sympy", "symbols"]


def symbols(names: str, domain: str | Domain = "real") -> Any:
    """Return symbols by name: one Expr for one name, a tuple for several.

    Args:
        names: names separated by spaces or commas.
        domain: ``real``, ``positive``, ``int`` or ``bool``.

    Returns:
        An Expr, or a tuple of Exprs. The same name and domain always give the same Expr.

    Raises:
        UsageError: for a text that is not a name, or an unknown domain.

    Example:
        >>> import symgrad as sg
        >>> x, y = sg.symbols("x y")
        >>> sg.symbols("x") is x
        True
    """
    if not isinstance(names, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(
            f"names are a text, got a value of type {type(names).__name__}", cure='sg.symbols("x y")'
        )
    found = names.replace(",", " ").split()
    if isinstance(domain, str):
        if domain not in DOMAINS:
            raise UsageError(f"unknown domain '{domain}'", expected="one of " + ", ".join(DOMAINS))
        domain = DOMAINS[domain]
    for name in found:
        if not is_name(name):
            raise UsageError(
                f"'{name}' cannot name a symbol",
                expected="a letter, then letters, digits and _; no word of Python, and not pi",
            )
    if not found:
        raise UsageError("no name was given", cure='sg.symbols("x y")')
    made = tuple(handle(symbol(Declaration(name, domain or REAL))) for name in found)
    return made[0] if len(made) == 1 else made


def from_sympy(expr: Any, domains: Mapping[str, str | Domain] | None = None) -> Any:
    """Return a SymPy expression as an Expr (a list for a list).

    Args:
        expr: a SymPy expression, or a list of them.
        domains: the domain of symbols by name; others follow the symbol's own assumptions, real by default.

    Raises:
        UnsupportedError: for a SymPy head that symgrad does not have.
        DeclarationError: for a complex symbol.

    Example:
        >>> import sympy, symgrad as sg
        >>> x = sympy.Symbol("x")
        >>> print(sg.from_sympy(sympy.sin(x)**2))
        sin(x)**2
    """
    from symgrad.ir.cas import from_sympy as convert

    many = isinstance(expr, list | tuple)
    table: dict[str, Domain] = {}
    for name, domain in (domains or {}).items():
        if isinstance(domain, str):
            if domain not in DOMAINS:
                raise UsageError(f"unknown domain '{domain}'", expected="one of " + ", ".join(DOMAINS))
            domain = DOMAINS[domain]
        table[name] = domain
    nodes = convert(list(cast("list[Any]", expr)) if many else [expr], table)
    return [handle(n) for n in nodes] if many else handle(nodes[0])
