"""Unsupported operations of an imported function: collected by its reader, reported in one error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from symgrad.support.errors import UnsupportedError
from symgrad.support.source import Location, Place

__all__ = ["Problem", "depends_on_data", "line_in", "needs_number", "not_covered"]


@dataclass(frozen=True, slots=True)
class Problem:
    """An unsupported operation and its place; an empty ``what`` marks a consequence of another problem."""

    what: str
    place: Place
    cure: str | None = None


def not_covered(name: str, problems: Sequence[Problem]) -> UnsupportedError:
    """Return the error that says all of them, each line once."""
    lines: dict[str, None] = {}
    for p in problems:
        if p.what:
            lines[f"{p.place}: {p.what}" + (f" (try: {p.cure})" if p.cure else "")] = None
    return UnsupportedError(f"{name} has operations that symgrad has not:\n  " + "\n  ".join(lines))


def depends_on_data(name: str, file: str, traceback: TracebackType | None, cure: str) -> UnsupportedError:
    """Return the error for a function that decides by a value."""
    return UnsupportedError(
        f"{name} decides by a value that is not known while it is read{line_in(file, traceback)}",
        expected="control flow by shapes and Python's own values",
        cure=cure,
    )


def needs_number(what: str, said: str, framework: str, at: Location | None = None) -> UnsupportedError:
    """Return the error for a function that cannot be traced with a named size; ``said`` is its error."""
    return UnsupportedError(
        f"{what} needs the number of a size that is a name: {framework} says '{said[:200]}'",
        at=at,
        expected="operations that are the same for all sizes",
        cure="read it for the sizes that it has",
    )


def line_in(file: str, traceback: TracebackType | None) -> str:
    """Return the last line of a file that was run, in brackets; nothing if there is none."""
    place = ""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            place = f" ({file}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    return place
