"""A review as a report: the document with a mark on each line, and what is to be said below it."""

from __future__ import annotations

from symgrad.apps.review.formatting import details, mark, summary
from symgrad.apps.review.steps import ReviewRecord, ReviewStep
from symgrad.report.blocks import (
    Banner,
    Block,
    Document,
    Heading,
    Items,
    LineNote,
    Literal,
    Paragraph,
    Tone,
    prose,
)
from symgrad.report.report import Report
from symgrad.verification.reporting.report import TONES


def review_report(review: ReviewRecord) -> Report:
    r"""Return a review as a report.

    Example:
        >>> import symgrad as sg
        >>> page = review_report(sg.review("f = x**2\ndf/dx = x\n")).html()
        >>> page.startswith("<!DOCTYPE html>"), "<mark>x</mark>" in page
        (True, True)
    """
    head, *rest = summary(review)
    status, _, counts = head.partition(": ")
    blocks: list[Block] = [Banner(status, TONES[review.status], prose(f"{counts}."))]
    blocks += [Paragraph(prose(line)) for line in rest if not line.startswith("  ") and line != "assumed:"]
    by_line: dict[int, list[ReviewStep]] = {}
    for step in review.steps:
        by_line.setdefault(step.line, []).append(step)
    notes = tuple(_note(line, steps) for line, steps in sorted(by_line.items()))
    name = review.source.name.strip("<>")
    blocks += [Heading("The document"), Document(review.source.text, notes, name)]
    if review.assumptions:
        blocks += [Heading("Assumed"), Items(tuple(prose(Literal(str(a))) for a in review.assumptions))]
    return Report(f"Review of {name}", tuple(blocks))


def _note(line: int, steps: list[ReviewStep]) -> LineNote:
    kinds = [step.status or step.kind for step in steps]
    tone: Tone = "plain"
    if "refuted" in kinds:
        tone = "bad"
    elif kinds and set(kinds) == {"proved"}:
        tone = "good"
    elif {"undecided", "supported", "not understood"} & set(kinds):
        tone = "open"
    spans = tuple(
        (step.column - 1, step.column - 1 + step.span.end - step.span.start)
        for step in sorted(steps, key=lambda s: s.column)
        if step.status == "refuted"
    )
    said = tuple("\n".join(details(step)) for step in steps if details(step))
    return LineNote(line, mark(steps), tone, spans, said)
