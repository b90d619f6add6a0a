"""Reorder the lines of `where` clauses, which define names below their use.

    -dA_dT*y + t1
    where
      dA_dT = -A*t1
      t1 = exp(x)

The lines of a `where` clause are at the end of a text, and each may read those below it: they are read in reverse
order, before the first line that reads one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from symgrad.frontend.tokens.terms import STEP_CLAUSES, Token

_WHERE = re.compile(r"^[ \t]*where[ \t]*(?:#.*)?$", re.MULTILINE)


def where_start(text: str) -> int:
    """Return the position of the first `where` clause of a text; its end if there is none."""
    found = _WHERE.search(text)
    return len(text) if found is None else found.start()


def order_lines(text: str, tokens: Iterable[Token]) -> Iterable[Token]:
    """Move the lines after `where` before the lines that read them, in the tokens of a text."""
    return _reordered(tokens) if _WHERE.search(text) else tokens


def _reordered(tokens: Iterable[Token]) -> Iterator[Token]:
    above: list[list[Token]] = []
    below: list[list[Token]] = []
    found = above
    for line in _lines(tokens):
        if len(line) == 2 and line[0] == "where":
            found = below
        else:
            found.append(line)
    names = {name for line in below for name in _defined(line)}
    reads = (i for i, line in enumerate(above) if not names.isdisjoint(_read(line)))
    at = next(reads, max(len(above) - 1, 0))
    for line in (*above[:at], *_bottom_up(below), *above[at:]):
        yield from line


def _bottom_up(lines: Sequence[list[Token]]) -> Iterator[list[Token]]:
    """Yield lines in reverse order; the first values of a recurrence stay above its other line."""
    group: list[list[Token]] = []
    for line in reversed(lines):
        starts = len(line) > 1 and line[1] == "[" and not any(t.type in STEP_CLAUSES for t in line)
        if not starts:
            yield from group[::-1]
            group = []
        group.append(line)
    yield from group[::-1]


def _defined(line: list[Token]) -> Iterator[str]:
    """Yield the names that a line defines, without names within a step."""
    if not any(t.type in STEP_CLAUSES for t in line):
        yield str(line[0])
        return
    before = [Token("_NEWLINE", "", 0, 0), *line]
    for last, token, after in zip(before, line, line[1:], strict=False):
        if last.type == "_NEWLINE" and after == "[":
            yield str(token)


def _read(line: list[Token]) -> set[str]:
    """Return the names in a line, without names within a step."""
    found = {str(t) for t in line if t.type == "NAME"}
    if any(t.type in STEP_CLAUSES for t in line):
        parts = [Token("_NEWLINE", "", 0, 0), *line]
        found -= {
            str(t)
            for last, t, after in zip(parts, line, line[1:], strict=False)
            if last.type == "_NEWLINE" and after == "="
        }
    return found


def _lines(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    line: list[Token] = []
    parts: list[list[Token]] = []
    steps = False
    for token in tokens:
        line.append(token)
        steps = steps or token.type in STEP_CLAUSES
        if token.type == "_NEWLINE":
            parts.append(line)
            line = []
            if token != ";":
                # The definitions of one step stay together.
                yield from [[t for part in parts for t in part]] if steps else parts
                parts, steps = [], False
    yield from parts
    if line:
        yield line
