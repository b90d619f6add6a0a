"""Unsupported operations of an imported function: its reader collects them and reports them in one error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from symgrad.api.handles.expr import Expr
from symgrad.ir.graph import SYMBOL
from symgrad.support.errors import UnsupportedError
from symgrad.support.source import Location, Place

_PLACEHOLDER = "what_is_not_covered"


@dataclass(frozen=True, slots=True)
class Problem:
    """An unsupported operation and its place; an empty ``what`` means that the problem follows from another one."""

    what: str
    place: Place
    cure: str | None = None


def placeholder_name(*numbers: int) -> str:
    """Return the name of an input that replaces an unsupported value, so that the reader can find further problems."""
    return "_".join(map(str, (_PLACEHOLDER, *numbers)))


def is_placeholder(value: Any) -> bool:
    """Tell whether a value replaces an unsupported one."""
    return isinstance(value, Expr) and value.node.op is SYMBOL and value.node.name.startswith(_PLACEHOLDER)


def not_covered(name: str, problems: Sequence[Problem]) -> UnsupportedError:
    """Return one error for all problems; each line is listed once."""
    lines: dict[str, None] = {}
    for p in problems:
        if p.what:
            lines[f"{p.place}: {p.what}" + (f" (try: {p.cure})" if p.cure else "")] = None
    return UnsupportedError(f"{name} has operations that symgrad does not have:\n  " + "\n  ".join(lines))


def depends_on_data(name: str, file: str, traceback: TracebackType | None, cure: str) -> UnsupportedError:
    """Return the error for a function that branches on a value."""
    return UnsupportedError(
        f"{name} branches on a value that is not known while it is read{line_in(file, traceback)}",
        expected="control flow by shapes and Python's own values",
        cure=cure,
    )


def needs_number(what: str, said: str, framework: str, at: Location | None = None) -> UnsupportedError:
    """Return the error for a function that cannot be traced with a named size.

    ``said`` is the error of the framework.
    """
    return UnsupportedError(
        f"{what} needs the number of a size that is a name: {framework} says '{said[:200]}'",
        at=at,
        expected="operations that are the same for all sizes",
        cure="import it with numbers as sizes",
    )


def line_in(file: str, traceback: TracebackType | None) -> str:
    """Return the last line of a traceback that is in a given file, in brackets; empty if there is none."""
    place = ""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            place = f" ({file}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    return place
