"""Comments that say of a line that nothing is to be found on it: ``# symgrad: ignore[SG101]``."""

from __future__ import annotations

import ast
import io
import linecache
import re
import tokenize
from collections.abc import Mapping, Sequence

from symgrad.analysis.stop_gradient.finding import Finding
from symgrad.support.source import Place

__all__ = ["unignored"]

_COMMENT = re.compile(r"#\s*symgrad:\s*ignore\b(?:\s*\[(?P<codes>[^\]]*)\])?")

_EVERY = frozenset({"*"})


def unignored(findings: Sequence[Finding], texts: Mapping[str, str] | None = None) -> list[Finding]:
    r"""Return findings without those that a comment on their line says to leave out.

    ``# symgrad: ignore`` leaves out all, ``# symgrad: ignore[SG101, plain-number]`` those of codes or names. In a file
    of Python's the comment may stand on any line of the statement.

    Args:
        findings: what was found.
        texts: of files that are not on disk, by the names that places have for them.

    Example:
        >>> at = Place("<text>", 2)
        >>> found = [Finding("SG101", "redundant-stop", "note", "it changes nothing", "by z alone", places=(at,))]
        >>> len(unignored(found, {"<text>": "x : real\ny = x  # symgrad: ignore[SG101]"}))
        0
        >>> len(unignored(found, {"<text>": "x : real\ny = x  # symgrad: ignore[SG102]"}))
        1
    """
    files = {f.places[0].file for f in findings if f.places}
    given = texts or {}
    said = {file: _said(given.get(file) or "".join(linecache.getlines(file)), file) for file in files}
    return [f for f in findings if not (f.places and _ignores(said, f, f.places[0]))]


def _ignores(said: Mapping[str, Mapping[int, frozenset[str]]], f: Finding, place: Place) -> bool:
    codes = said[place.file].get(place.line, frozenset())
    return codes is _EVERY or f.code in codes or f.name in codes


def _said(text: str, file: str) -> dict[int, frozenset[str]]:
    """Return the codes that are ignored, by line."""
    if "symgrad:" not in text:
        return {}
    python = file.endswith(".py")
    comments = _comments(text) if python else dict(enumerate(text.splitlines(), 1))
    statements = _statements(text) if python else {}
    found: dict[int, frozenset[str]] = {}
    for line, comment in comments.items():
        match = _COMMENT.search(comment)
        if match is None:
            continue
        codes = _EVERY
        if match["codes"] is not None:
            codes = frozenset(code.strip() for code in match["codes"].split(","))
        for k in statements.get(line, range(line, line + 1)):
            before = found.get(k, frozenset[str]())
            found[k] = _EVERY if _EVERY in (codes, before) else codes | before
    return found


def _comments(text: str) -> dict[int, str]:
    """Return the comments of a file of Python's, by line: what is in a string is none."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    try:
        return {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}
    except (tokenize.TokenError, SyntaxError):
        return {}


def _statements(text: str) -> dict[int, range]:
    """Return of each line of a statement without others in it all lines of that; of others, those of their head."""
    found: dict[int, range] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            lines = range(node.lineno, max(last, node.lineno) + 1)
            found.update(dict.fromkeys(lines, lines))
    return found
