"""Read the formula arguments of public functions: an expression, the text of a program, or a program.

Operators and functions of expressions (``x + ...``, ``sg.sin(...)``) accept no texts (see `convert`), because a text
among operands could be a name, a size or a formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from symgrad.api.handles.expr import Expr, ExprLike, Operand, as_expr
from symgrad.api.handles.inputs import listings_of
from symgrad.api.handles.program import Program, parse
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import ProgramSyntaxError, RedefinitionError, SymgradError

Formula: TypeAlias = "ExprLike | str | Program"
"""The argument of a function that takes one formula."""

Formulas: TypeAlias = "Sequence[Operand | str | Program]"
"""The argument of a function that takes one formula or a list, and returns a list for a list."""


def formula(value: Any, beside: Sequence[Expr] = ()) -> Expr:
    r"""Read one formula argument as an Expr.

    Args:
        value: an Expr, a number, or a list as an array; or the text of a program or a Program, which stands for its
            last value.
        beside: expressions whose names a text without declarations may use.

    Raises:
        UsageError: for anything else.
        NotInProgramError: for a program without values.
        ProgramSyntaxError: for a text that is not a program; parsing may raise other errors.

    Example:
        >>> formula("x : positive\ny = log(x)\nz = y**2")
        Expr(log(x)**2)
    """
    if isinstance(value, str):
        return formulas([value], beside)[0] if beside else parse(value).last
    return value.last if isinstance(value, Program) else as_expr(value)


def formulas(values: Sequence[Any], beside: Sequence[Expr] = ()) -> list[Expr]:
    r"""Read several formula arguments as Exprs; texts may use the names of the other arguments.

    Args:
        values: as for `formula`. A text without declarations may use the names of the other values. It must then be a
            single formula.
        beside: more expressions whose names texts may use.

    Raises:
        UnknownNameError: for a text with a name that no other argument has; or the errors of `formula`.

    Example:
        >>> p = parse("x : positive\ny = log(x)")
        >>> formulas([p, "y**2", "x"])
        [Expr(log(x)), Expr(log(x)**2), Expr(x)]
    """
    read = [parse_closed(value) for value in values]
    found = [e for e in read if e is not None]
    if len(found) == len(read):
        return found  # collecting names takes a traversal of each formula
    found += beside
    known: dict[str, Node] = {}
    for expr in reversed(found):
        known.update(names_in(expr))
    if not known:
        return [formula(value) for value in values]
    listings = listings_of(found)
    return [
        Expr(_parse_in_names(value, known), listings=listings) if expr is None else expr
        for value, expr in zip(values, read, strict=True)
    ]


def names_in(expr: Expr) -> dict[str, Node]:
    """Return the names in the programs of an expression and the names of its inputs, with their nodes."""
    found = {s.name: s for s in symbols_of([expr.node])}
    for listing in expr.listings:
        found.update({name: listing[name] for name in listing.names})
    return found


def _parse_in_names(text: str, known: Mapping[str, Node]) -> Node:
    try:
        return parse_expression(text, known)
    except (ProgramSyntaxError, RedefinitionError):
        formula(text)  # raises a more precise error
        raise


def parse_closed(value: Any, name: str = "<text>") -> Expr | None:
    """Parse a formula that needs no names from elsewhere; return None for a text without declarations or with errors.

    Args:
        value: as for `formula`.
        name: the name of the text in messages.
    """
    if not isinstance(value, str):
        return formula(value)
    try:
        program = parse(value, name)
    except SymgradError:
        return None
    return None if program.listing.undeclared or not program.names else program.last
