"""Comments that suppress findings on their line: ``# symgrad: ignore[SG101]``."""

from __future__ import annotations

import ast
import io
import linecache
import re
import tokenize
from collections.abc import Mapping, Sequence

from symgrad.analysis.stop_gradient.finding import Finding
from symgrad.support.source import Place

_COMMENT = re.compile(r"#\s*symgrad:\s*ignore\b(?:\s*\[(?P<codes>[^\]]*)\])?")

_EVERY = frozenset({"*"})


def unignored(findings: Sequence[Finding], texts: Mapping[str, str] | None = None) -> list[Finding]:
    r"""Return the findings that no comment on their line suppresses.

    ``# symgrad: ignore`` suppresses all findings; ``# symgrad: ignore[SG101, plain-number]`` suppresses those with a
    code or name in the list. In a Python file, the comment may stand on any line of the statement.

    Args:
        findings: the findings.
        texts: the texts of files that are not on disk, by the file names in the findings' places.

    Example:
        >>> at = Place("<text>", 2)
        >>> found = [Finding("SG101", "redundant-stop", "note", "it changes nothing", "by z alone", places=(at,))]
        >>> len(unignored(found, {"<text>": "x : real\ny = x  # symgrad: ignore[SG101]"}))
        0
        >>> len(unignored(found, {"<text>": "x : real\ny = x  # symgrad: ignore[SG102]"}))
        1
    """
    files = {f.places[0].file for f in findings if f.places}
    known = texts or {}
    ignored = {
        file: _ignored_codes(known.get(file) or "".join(linecache.getlines(file)), file) for file in files
    }

    def is_ignored(f: Finding, place: Place) -> bool:
        codes = ignored[place.file].get(place.line, frozenset())
        return codes is _EVERY or f.code in codes or f.name in codes

    return [f for f in findings if not (f.places and is_ignored(f, f.places[0]))]


def _ignored_codes(text: str, file: str) -> dict[int, frozenset[str]]:
    """Return the suppressed codes and names by line."""
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
    """Return the comments of a Python file by line; a comment inside a string does not count."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    try:
        return {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}
    except (tokenize.TokenError, SyntaxError):
        return {}


def _statements(text: str) -> dict[int, range]:
    """Return for each line the lines of its simple statement, or of the head of its compound statement."""
    found: dict[int, range] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            lines = range(node.lineno, max(last, node.lineno) + 1)
            found.update(dict.fromkeys(lines, lines))
    return found
