"""Relations such as x > 0 that say where something holds: of one sentence, or of all that follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from symgrad.apps.review.layout.prose import CASE_CUES, GENERAL_CUES
from symgrad.apps.review.layout.statements import ChainText, SideText
from symgrad.support.source import Source, Span

CaseScope: TypeAlias = Literal["sentence", "general"]
_SIGNS = r"""
    < > <= >= != ≤ ≥ ≠ \le \leq \ge \geq \ne \neq \leqslant \geqslant
"""
COMPARISONS = frozenset(_SIGNS.split())
"""The relations that a case is written with."""

_SENTENCE_END = re.compile(r"[.!?;](?=[\s$]|$)|\n[ \t]*\n")
_MARKUP = re.compile(r"\\(?:q?quad|text|mbox|textrm|mathrm|[,;!:( )\[\]])|\\(?:begin|end)\{[^}]*\}|[{}$&`]")
_BEHIND = re.compile(
    r"[\s,(]*(?:for|if|when|where|whenever|wherever|provided|as long as|on|in the case|in the region|with)"
    r"(?:\s+(?:all|that))*\s*"
)  # in small letters: with a capital one a sentence begins
_VALUE_BEHIND = re.compile(
    r"[\s,(]*(?:(?:evaluated )?at|for|if|when|whenever|with|and)\s*(?:the point\s*)?[\s(]*"
)
_SET_OFF = re.compile(r",|\\q?quad")


@dataclass(frozen=True, slots=True)
class DocumentCase:
    """Where something is said to hold.

    Args:
        span: of the relation.
        said: as it is written.
        scope: whether it is said of its sentence, or of all that follows.
    """

    span: Span
    said: str
    scope: CaseScope


def case_text(statement: ChainText, source: Source) -> SideText | None:
    """Return a statement as one text where it is nothing but comparisons; else None."""
    if statement.continues or not statement.relations:
        return None
    if any(r.text.strip() not in COMPARISONS for r in statement.relations):
        return None
    first, last = statement.sides[0], statement.sides[-1]
    start = first.span.start  # words before it are not its
    return SideText(start, source.text[start : last.start] + last.text, first.notation)


def scope_of(before: str, statement: ChainText, source: Source) -> CaseScope | None:
    """Return what a case is said of, by the words before it; None where it is no case, but a claim."""
    if GENERAL_CUES.search(before):
        return "general"
    if CASE_CUES.search(before):
        return "sentence"
    start, end = statement.sides[0].span.start, statement.sides[-1].span.end
    begins = source.text[:start].rsplit("\n", 1)[-1].strip(" \t$-*") == ""
    return "sentence" if begins and re.match(r"\s*\$?\s*[:,]", source.text[end:]) else None


def is_behind(statement: ChainText, case: ChainText, source: Source) -> bool:
    """Tell whether a case stands behind what it is said of: f' = 1 for x > 0."""
    between = source.text[statement.sides[-1].span.end : case.sides[0].span.start]
    if statement.passage.kind == "line" and "\n" in between:
        return False
    plain = _MARKUP.sub(" ", between)
    if _BEHIND.fullmatch(plain) is not None:
        return True
    return (
        plain.strip(" ,\n") == ""
        and _SET_OFF.search(between) is not None
        and case.passage is statement.passage
    )


def is_joined(case: ChainText, other: ChainText, source: Source) -> bool:
    """Tell whether a case is one more beside another: h > 0, k > 0 and T > 0."""
    between = source.text[case.sides[-1].span.end : other.sides[0].span.start]
    return re.fullmatch(r"[\s,]*(?:and)?\s*", _MARKUP.sub(" ", between)) is not None and "\n\n" not in between


def is_value_behind(statement: ChainText, value: ChainText, source: Source, *, first: bool) -> bool:
    """Tell whether an equation behind a statement, or one more value, says where that holds: dy/dx = 6 at x = 3."""
    between = source.text[statement.sides[-1].span.end : value.sides[0].span.start]
    if _SENTENCE_END.search(between) is not None or len(value.sides) != 2 or value.continues:
        return False
    plain = _MARKUP.sub(" ", between)
    return _VALUE_BEHIND.fullmatch(plain) is not None or (not first and plain.strip() == ",")


def reaches(case: Span, at: int, source: Source, *, used: bool) -> bool:
    """Tell whether what stands at a place is in the sentence of a case before it.

    Args:
        case: where it stands.
        at: the place.
        source: the document.
        used: whether something on its own line is in it already; then it ends with that line.
    """
    between = source.text[case.end : at]
    return case.end <= at and _SENTENCE_END.search(between) is None and not (used and "\n" in between)
