"""Parse cells of a notebook in program notation, with the names of earlier cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.program import Program, parse
from symgrad.report.blocks import FindingBlock, Prose, prose
from symgrad.report.report import Report
from symgrad.support.errors import SymgradError, UnknownNameError


def read_cell(text: str, name: str, namespace: Mapping[str, Any]) -> Program:
    r"""Parse a cell; names that it does not define are formulas of the namespace.

    Args:
        text: the program.
        name: the name of the cell in messages.
        namespace: the names of the user.

    Raises:
        SymgradError: as `symgrad.parse`.

    Example:
        >>> first = read_cell("x : positive\ny = x**2", "one", {})
        >>> print(read_cell("z = log(y)", "two", bindings(first))["z"].canonical())
        2*log(x)
    """
    scope: dict[str, Expr] = {}
    while True:
        try:
            found = parse(text, name, scope or None)
        except UnknownNameError as error:
            unknown = "" if error.at is None else _at(error)
            if unknown in scope or not isinstance(namespace.get(unknown), Expr):
                raise
            scope[unknown] = namespace[unknown]
            continue
        undeclared = found.listing.undeclared
        if not undeclared or not all(isinstance(namespace.get(n), Expr) for n in undeclared):
            return found
        # A bare expression of known names uses these.
        scope = {n: namespace[n] for n in undeclared}


def _at(error: SymgradError) -> str:
    assert error.at is not None
    return error.at.source.text[error.at.span.start : error.at.span.end]


def bindings(program: Program) -> dict[str, Expr]:
    """Return the definitions of a program; every name of the notation is a name of Python."""
    return {name: program[name] for name in program}


def error_report(error: SymgradError) -> Report:
    r"""Return an error as a report with the place marked in its line.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> try:
        ...     parse_program("y = sin(q)\nz = y", "a cell")
        ... except SymgradError as error:
        ...     block = error_report(error).blocks[0]
        >>> block.place, block.line[block.start:block.end]
        ('a cell, line 1, column 9', 'q')
    """
    hints: list[Prose] = []
    if error.expected is not None:
        hints.append(prose(f"expected: {error.expected}"))
    if error.cure is not None:
        hints.append(prose(f"try: {error.cure}"))
    kind = type(error).__name__
    if error.at is None:
        return Report(kind, (FindingBlock(prose(error.what), "bad", said=tuple(hints)),))
    at = error.at
    line = at.source.line(at.line)
    start = at.column - 1
    end = start + max(1, at.span.end - at.span.start)
    place = f"{at.source.name}, line {at.line}, column {at.column}"
    return Report(
        kind, (FindingBlock(prose(error.what), "bad", place, line, start, min(end, len(line)), tuple(hints)),)
    )
