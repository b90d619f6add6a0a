"""Find the definitions of a text without reading formulas, for messages about unknown names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from symgrad.ir.types import NAME

_LINE = re.compile(rf"[ \t]*({NAME}(?:[ \t]*,[ \t]*{NAME})*)[ \t]*(=(?!=)|:|~)")
_NAME = re.compile(rf"{NAME}(?![\w\u0300-\u036f])(?!\s*\()")


@dataclass(frozen=True, slots=True)
class Definition:
    """The place where a name is defined, and the names in its formula."""

    start: int
    uses: tuple[str, ...]


def definitions(text: str) -> dict[str, Definition]:
    """Return the first definition of every name.

    Lines inside brackets belong to the line on which the brackets open.
    """
    found: dict[str, Definition] = {}
    for start, end in _statements(text):
        match = _LINE.match(text, start, end)
        if match is None:
            continue
        body = re.sub(r"#[^\n]*", "", text[match.end() : end])
        uses = () if match.group(2) == ":" else tuple(_NAME.findall(body))
        for name in re.finditer(NAME, match.group(1)):
            found.setdefault(name.group(), Definition(match.start(1) + name.start(), uses))
    return found


def _statements(text: str) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    depth, start = 0, 0
    for match in re.finditer(r"[(\[]|[)\]]|\\\r?\n|#[^\n]*|[\n;]", text):
        token = match.group()
        if token in "([":
            depth += 1
        elif token in ")]":
            depth = max(0, depth - 1)
        elif token in "\n;" and depth == 0:
            ranges.append((start, match.start()))
            start = match.end()
    ranges.append((start, len(text)))
    return ranges


def find_cycle(known: Mapping[str, Definition], name: str, target: str | None) -> tuple[str, ...] | None:
    """Return the names of a cycle of definitions, each of which uses the next name; None without a cycle.

    Args:
        known: the definitions.
        name: a name that is used.
        target: the name whose definition uses ``name``, or None; a cycle through this name is preferred.
    """
    if target is not None:
        back = _path(known, name, target)
        if back is not None:
            return (target, *back[:-1])
    back = next((p for n in known[name].uses if (p := _path(known, n, name)) is not None), None)
    return (name, *back[:-1]) if back is not None else None


def _path(known: Mapping[str, Definition], start: str, goal: str) -> list[str] | None:
    """Return names from start to goal, such that each definition uses the next name."""
    came_from: dict[str, str | None] = {start: None}
    stack = [start]
    while stack:
        here = stack.pop()
        if here == goal:
            path: list[str] = []
            step: str | None = here
            while step is not None:
                path.append(step)
                step = came_from[step]
            return path[::-1]
        for used in known[here].uses if here in known else ():
            if used not in came_from and used in known:
                came_from[used] = here
                stack.append(used)
    return None
