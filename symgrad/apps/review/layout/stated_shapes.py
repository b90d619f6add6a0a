"""Shapes that words give to arrays: A is m×n, u and v in R^d, an n×d matrix X. Each is a declaration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from unicodedata import normalize

from symgrad.support.source import Span


@dataclass(frozen=True, slots=True)
class StatedShape:
    """A shape of some arrays.

    Args:
        span: where the words stand.
        names: of the arrays.
        sizes: one of a vector, two of a matrix.
        symmetric: whether they are symmetric matrices.
    """

    span: Span
    names: tuple[str, ...]
    sizes: tuple[str, ...]
    symmetric: bool = False


_NAME = r"(?:[^\W\d_]|[αβγδεθλμσφω]|[^\W\d_]_\w{1,3}|[A-Z][a-z]|[^\W\d_]\d{1,2}|[^\W\d_][₀-₉ᵢⱼ])(?![\w'(])"
_NAMES = rf"(?P<names>{_NAME}(?:\s*(?:,\s*and\b|,|and\b|&)\s*{_NAME})*)"
_SIZE = r"(?!a\b|A\b|I\b)(?:\d{1,4}|[a-zA-Z](?:_\w)?)"
_TIMES = r"\s*(?:×|\\times|\bx\b|-?by-?)\s*"
_BY = rf"\(?(?<!\w)(?P<rows>{_SIZE}){_TIMES}(?P<columns>{_SIZE})(?![\w^])\)?"
_ADJECTIVES = r"(?:(?!matri|vector)[a-z-]{3,}\s+){0,3}?"
_ARRAY = r"(?:matrix|matrices|vectors?|arrays?)"
_IS = (
    r"\s*(?:,|:|is|are|has shape|have shape|of shape|of size|be|being|denotes?)?\s*(?:an?\s+|both\s+|the\s+)?"
)
_POWER = (
    rf"(?:\^?\s*[{{(]\s*(?P<first>{_SIZE})(?:\s*(?:×|\\times|x|,)\s*(?P<second>{_SIZE}))?\s*[}})]"
    rf"|(?:\^\s*|(?<=ℝ))(?P<alone>{_SIZE})(?:[×x](?P<other>{_SIZE}))?)(?!\w)"
)
_PATTERNS = (
    # A is m×n; X an n×d matrix; A and B are symmetric n×n matrices
    re.compile(rf"(?<![\w'^_*/+=-]){_NAMES}{_IS}{_ADJECTIVES}{_BY}(?:\s*{_ADJECTIVES}{_ARRAY})?"),
    # the n×d matrix X
    re.compile(rf"{_BY}\s*{_ADJECTIVES}{_ARRAY}\s+{_NAMES}"),
    # u, v in R^d; X ∈ ℝ^{n×d}; vectors x in R^n
    re.compile(rf"(?<![\w'^_*/+=-]){_NAMES}\s*(?:,\s*)?(?:{_ARRAY}\s+)?(?:∈|in|from|of)\s*[Rℝ]\s*{_POWER}"),
    # x is an n-vector, a vector of length n, an n-dimensional vector
    re.compile(
        rf"(?<![\w'^_*/+=-]){_NAMES}{_IS}{_ADJECTIVES}(?:(?P<size>{_SIZE})-(?:dimensional\s+)?vectors?"
        rf"|vectors? of (?:length|size|dimension) (?P<length>{_SIZE}))(?!\w)"
    ),
)
_SYMMETRIC = re.compile(r"\s*,?\s*\b(?:symmetric|positive[- ](?:semi-?)?definite|SPD|PSD|spd|psd)\b")
_SEPARATOR = re.compile(r"\s*(?:,\s*and\b|,|and\b|&)\s*")
_RAISED = re.compile(r"(?<=ℝ)[⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ×]+")
_DOLLARS = re.compile(r"\$|\\times(?![a-zA-Z])")


def stated_shapes(text: str) -> Iterator[StatedShape]:
    """Yield the shapes that the words of a text give to arrays; d×1 is a vector.

    Args:
        text: of a document.

    Example:
        >>> for found in stated_shapes("A is m×n, x is n×1 and u, v in ℝᵈ. Let X be an n×p matrix."):
        ...     print(found.names, found.sizes)
        ('A',) ('m', 'n')
        ('x',) ('n',)
        ('u', 'v') ('d',)
        ('X',) ('n', 'p')
    """
    text = _RAISED.sub(lambda m: normalize("NFKC", m[0]), text)
    text = _DOLLARS.sub(lambda m: " " if m[0] == "$" else "×".ljust(len(m[0])), text)
    found: list[StatedShape] = []
    for pattern in _PATTERNS:
        text = blank_spans(text, (shape.span for shape in found))
        for match in pattern.finditer(text):
            groups = match.groupdict()
            rows = groups.get("rows") or groups.get("first") or groups.get("alone")
            rows = rows or groups.get("size") or groups.get("length") or ""
            columns = groups.get("columns") or groups.get("second") or groups.get("other")
            sizes = (rows,) if columns in (None, "1") else (rows, columns)
            names = tuple(_SEPARATOR.split(match["names"].strip()))
            span = Span(*match.span())
            said = _SYMMETRIC.search(match[0]) or _SYMMETRIC.match(text, match.end())
            symmetric = said is not None and len(sizes) == 2 and sizes[0] == sizes[1]
            if not any(f.span.start < span.end and span.start < f.span.end for f in found):
                found.append(StatedShape(span, names, sizes, symmetric))
    return iter(sorted(found, key=lambda f: f.span.start))


def blank_spans(text: str, spans: Iterable[Span]) -> str:
    """Return a text with blanks in the place of some of it."""
    shown = list(text)
    for span in spans:
        shown[span.start : span.end] = " " * (span.end - span.start)
    return "".join(shown)
