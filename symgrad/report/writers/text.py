"""Write reports as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from symgrad.report.blocks import (
    Banner,
    Block,
    Code,
    Document,
    Figure,
    FindingBlock,
    Heading,
    Items,
    MathLines,
    Paragraph,
    StepItem,
    Steps,
    Table,
    plain,
)
from symgrad.report.report import Report


def report_text(report: Report, width: int = 100) -> str:
    """Return a report as text.

    Example:
        >>> from symgrad.report.blocks import Banner, Paragraph
        >>> print(report_text(Report("Audit of z", (Banner("u enters", "warn"), Paragraph(("Its path is short.",))))))
        Audit of z
        <BLANKLINE>
        u enters
        <BLANKLINE>
        Its path is short.
    """
    lines = [_printable(report.title)]
    for block in report.blocks:
        lines += ["", *_WRITERS[type(block)](block, width)]
    return "\n".join(lines)


def block_text(block: Block, width: int = 100) -> str:
    """Return one block as text."""
    return "\n".join(_WRITERS[type(block)](block, width))


def _printable(text: str) -> str:
    """Replace control characters, which a terminal would obey."""
    return "".join(
        c if c.isprintable() or c == "\n" else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def _wrapped(text: str, width: int, indent: str = "", hang: str | None = None) -> Iterator[str]:
    for part in _printable(text).split("\n"):
        yield from textwrap.wrap(
            part,
            max(width, 20),
            initial_indent=indent,
            subsequent_indent=indent if hang is None else hang,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]


def _indented(text: str, indent: str) -> Iterator[str]:
    for line in _printable(text).split("\n"):
        yield (indent + line).rstrip()


def _heading(block: Heading, _: int) -> Iterator[str]:
    yield _printable(block.text)


def _paragraph(block: Paragraph, width: int) -> Iterator[str]:
    yield from _wrapped(plain(block.words), width)


def _formulas(block: MathLines, _: int) -> Iterator[str]:
    for row in block.rows:
        yield from _indented(row.text, "  ")


def _items(block: Items, width: int) -> Iterator[str]:
    for item in block.items:
        yield from _wrapped(plain(item), width, "- ", "  ")


def _steps(block: Steps, width: int) -> Iterator[str]:
    yield from _listed(block.steps, width, "  ")
    if block.left:
        yield f"  … {block.left} more steps"


def _listed(steps: Sequence[StepItem], width: int, indent: str) -> Iterator[str]:
    digits = len(str(len(steps)))
    for number, step in enumerate(steps, 1):
        head = f"{indent}{number:>{digits}}  {step.title}"
        yield from _indented(head if step.formula is None else f"{head}  {step.formula.text}", "")
        inner = indent + " " * (digits + 4)
        if step.reason:
            yield from _wrapped(plain(step.reason), width, inner)
        for block in step.blocks:
            for line in _WRITERS[type(block)](block, width - len(inner)):
                yield (inner + line).rstrip()
        yield from _listed(step.steps, width, inner)


def _table(block: Table, width: int) -> Iterator[str]:
    if block.caption:
        yield from _wrapped(block.caption, width)
    cells = [[_printable(plain(c)) for c in row] for row in block.rows]
    heads = [_printable(c.title) for c in block.columns]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for row in [heads, *cells]:
        shown = [
            text.rjust(w) if column.number else text.ljust(w)
            for text, w, column in zip(row, widths, block.columns, strict=True)
        ]
        yield ("  " + "  ".join(shown)).rstrip()


def _picture(block: Figure, width: int) -> Iterator[str]:
    yield from _wrapped(f"[picture: {block.title}] {block.description}", width)


def _code(block: Code, width: int) -> Iterator[str]:
    if block.title:
        yield from _wrapped(block.title, width)
    yield from _indented(block.text.rstrip("\n"), "    ")


def _document(block: Document, _: int) -> Iterator[str]:
    notes = block.notes_by_line()
    lines = block.text.rstrip("\n").split("\n")
    digits, margin = len(str(len(lines))), max((len(n.mark) for n in block.notes), default=0)
    for number, line in enumerate(lines, 1):
        here = notes.get(number, [])
        mark = here[0].mark if here else ""
        yield _printable(f"{mark:<{margin}}  {number:>{digits}} | {line}").rstrip()
        below = " " * (margin + 2 + digits) + " | "
        for note in here:
            if note.spans and note.said:
                columns = range(note.spans[-1][1])
                yield below + "".join("^" if any(a <= k < b for a, b in note.spans) else " " for k in columns)
            for said in note.said:
                yield from _indented(said, below)


def _finding(block: FindingBlock, width: int) -> Iterator[str]:
    yield _printable(plain(block.title))
    if block.place:
        yield f"  {_printable(block.place)}"
    if block.line:
        yield f"    {_printable(block.line)}"
        yield f"    {block.carets}"
    for said in block.said:
        yield from _wrapped(plain(said), width, "  ")


def _banner(block: Banner, width: int) -> Iterator[str]:
    yield _printable(block.word)
    if block.said:
        yield from _wrapped(plain(block.said), width, "  ")


_WRITERS: dict[type[Block], Callable[[Any, int], Iterator[str]]] = {
    Heading: _heading,
    Paragraph: _paragraph,
    MathLines: _formulas,
    Items: _items,
    Steps: _steps,
    Table: _table,
    Figure: _picture,
    Code: _code,
    Document: _document,
    FindingBlock: _finding,
    Banner: _banner,
}
