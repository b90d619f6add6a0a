"""What a text defines, found without reading formulas: only ever needed for the message about a name that is not known yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Definition", "definitions", "find_cycle"]

_LINE = re.compile(r"[ \t]*([^\W\d]\w*(?:[ \t]*,[ \t]*[^\W\d]\w*)*)[ \t]*(=(?!=)|:|~)")
_NAME = re.compile(r"[^\W\d]\w*(?!\w)(?!\s*\()")


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name is defined, and the names in its formula."""

    start: int
    uses: tuple[str, ...]


def definitions(text: str) -> dict[str, Definition]:
    """Return the first definition of every name; lines inside brackets belong to the line that opened them."""
    found: dict[str, Definition] = {}
    for start, end in _statements(text):
        match = _LINE.match(text, start, end)
        if match is None:
            continue
        body = re.sub(r"#[^\n]*", "", text[match.end() : end])
        uses = tuple(_NAME.findall(body)) if match.group(2) == "=" else ()
        for name in re.finditer(r"\w+", match.group(1)):
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
    """Return the names by which a definition leads back to itself, if the one of `target`, which uses `name`, does."""
    if target is None:
        return None
    came_from: dict[str, str] = {name: target}
    stack = [name]
    while stack:
        here = stack.pop()
        if here == target:
            path = [here]
            while came_from[path[-1]] != target:
                path.append(came_from[path[-1]])
            path.reverse()
            return (target, *path[:-1])
        if here in known:
            for used in known[here].uses:
                if used not in came_from and used in known:
                    came_from[used] = here
                    stack.append(used)
    return None
