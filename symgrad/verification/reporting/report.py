"""Write a verdict as a report: the claim, its status, a witness, the mistake that explains it."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.report.about import Subject
from symgrad.report.blocks import (
    Banner,
    Block,
    Column,
    FindingBlock,
    Heading,
    Items,
    Literal,
    Paragraph,
    Prose,
    Table,
    Tone,
    prose,
    ticked,
)
from symgrad.report.report import Report
from symgrad.verification.diagnosis import Diagnosis, first_of_each_kind
from symgrad.verification.verdict import Verdict, by_text, derivatives_text, distinct_values, value_text

TONES: dict[str, Tone] = {"proved": "good", "refuted": "bad", "supported": "open", "undecided": "open"}
"""The tone of each status."""

SAVED = Literal("verdict.proof.save(path)")
"""How a proof is saved, in Python; a page shows the proof itself."""


def verdict_report(verdict: Verdict) -> Report:
    """Return the report of a verdict.

    Example:
        >>> print(verdict_report(Verdict("proved", "both sides are one")))
        Verdict
        <BLANKLINE>
        proved
          both sides are one.
    """
    subject = verdict.about.subject() or Subject("Verdict")
    return Report(subject.title, (*subject.blocks, *verdict_blocks(verdict, subject.sides)))


def verdict_blocks(verdict: Verdict, sides: tuple[str, str]) -> Iterator[Block]:
    """Yield the blocks of a verdict.

    Args:
        verdict: the verdict.
        sides: the names of the two sides.
    """
    yield Banner(verdict.status, TONES[verdict.status], prose(_sentence(verdict.why)))
    if verdict.note is not None:
        yield Paragraph(prose(_sentence(verdict.note)))
    yield from _witness(verdict, sides)
    found = verdict.diagnosis
    if found:
        yield Heading("The mistake" if len({d.kind for d in found}) == 1 else "Mistakes that explain it")
        yield from map(diagnosis_block, first_of_each_kind(found))
    yield from _regions(verdict)
    yield from _parts(verdict, sides)
    yield from _evidence(verdict)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _witness(verdict: Verdict, sides: tuple[str, str]) -> Iterator[Block]:
    if verdict.witness is None or verdict.values is None:
        return
    entry = f", entry {list(verdict.index)}" if verdict.index else ""
    rows: list[tuple[Prose, ...]] = [
        (prose(Literal(name)), prose(Literal(value_text(value)))) for name, value in verdict.witness.items()
    ]
    values = distinct_values(*verdict.values)
    rows += [(prose(side + entry), prose(Literal(v))) for side, v in zip(sides, values, strict=True)]
    yield Heading("A point at which it fails")
    yield Table(
        "Exact inputs, and what both sides are there", (Column("quantity"), Column("value")), tuple(rows)
    )


def diagnosis_block(d: Diagnosis) -> FindingBlock:
    """Return a mistake, and its place in the text if the place is known."""
    notes = () if d.corrected is None else (prose("Right is ", Literal(d.corrected), "."),)
    if d.where is None:
        return FindingBlock(ticked(d.message), "bad", d.kind, said=notes)
    line = d.where.source.line(d.where.line)
    start = d.where.column - 1
    end = min(len(line), start + d.where.span.end - d.where.span.start)
    place = f"{d.kind}; {d.where.source.name}, line {d.where.line}, column {d.where.column}"
    return FindingBlock(ticked(d.message), "bad", place, line, start, end, notes)


def _regions(verdict: Verdict) -> Iterator[Block]:
    if verdict.regions:
        rows = tuple(
            (
                prose(Literal(r.where)),
                prose(r.status),
                prose(Literal("; ".join(r.excluded))) if r.excluded else (),
            )
            for r in verdict.regions
        )
        columns = (Column("where"), Column("verdict"), Column("not claimed where"))
        yield Heading("Parts of the domain")
        yield Table("What is known in each part", columns, rows)
    left_out = verdict.excluded if verdict.left_out is None else verdict.left_out
    if left_out:
        yield Paragraph(prose("Not claimed where ", Literal("; ".join(left_out)), "."))
    if verdict.undefined:
        yield Items(tuple(prose(_sentence(str(u))) for u in verdict.undefined))


def _parts(verdict: Verdict, sides: tuple[str, str]) -> Iterator[Block]:
    if verdict.of_values is None:
        return
    derivatives = [*(((name,), v) for name, v in verdict.of_gradients.items()), *verdict.of_higher.items()]
    parts = [("values", verdict.of_values)]
    parts += [(f"{derivatives_text(len(names))} by {by_text(names)}", v) for names, v in derivatives]
    if verdict.of_all_orders is not None:
        parts.append(("all orders", verdict.of_all_orders))
    rows = tuple((prose(what), prose(v.status), prose(_sentence(v.why))) for what, v in parts)
    yield Heading("What was compared")
    yield Table("Values and derivatives", (Column("of"), Column("verdict"), Column("why")), rows)
    for what, v in parts:
        if v.witness is not None:
            yield Heading(f"Where the {what} differ", 2)
            yield from (b for b in _witness(v, sides) if isinstance(b, Table))


def _evidence(verdict: Verdict) -> Iterator[Block]:
    texts: list[Prose] = []
    if verdict.points and verdict.digits is not None:
        texts.append(prose(f"Both sides agree at {verdict.points} points, to {verdict.digits} digits."))
    if verdict.error_probability is not None:
        texts.append(
            prose(f"The probability that it is false all the same is below {verdict.error_probability:.2g}.")
        )
    if verdict.proof is not None:
        kind = "refutation" if verdict.status == "refuted" else "proof"
        texts.append(prose(f"A {kind} is kept, which symgrad check derives anew: ", SAVED, "."))
    yield from (Paragraph(words, soft=True) for words in texts)
