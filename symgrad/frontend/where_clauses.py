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

from symgrad.frontend.tokens.terms import Token

_WHERE = re.compile(r"^[ \t]*where[ \t]*(?:#.*)?$", re.MULTILINE)


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
    names = {str(line[0]) for line in below}
    reads = (i for i, line in enumerate(above) if any(t.type == "NAME" and t in names for t in line))
    at = next(reads, max(len(above) - 1, 0))
    for line in (*above[:at], *_upwards(below), *above[at:]):
        yield from line


def _upwards(lines: Sequence[list[Token]]) -> Iterator[list[Token]]:
    """Yield lines in reverse order; the first values of a recurrence stay above its other line."""
    group: list[list[Token]] = []
    for line in reversed(lines):
        starts = len(line) > 1 and line[1] == "[" and not any(t.type == "FOR" for t in line)
        if not starts:
            yield from group[::-1]
            group = []
        group.append(line)
    yield from group[::-1]


def _lines(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    line: list[Token] = []
    for token in tokens:
        line.append(token)
        if token.type == "_NEWLINE":
            yield line
            line = []
    if line:
        yield line
