"""A report as plain text, and on a terminal with the tones of verdicts in colour."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from symgrad.report.blocks import (
    Banner,
    Block,
    Code,
    Document,
    Figure,
    FindingBlock,
    Heading,
    Items,
    LineNote,
    MathLines,
    Paragraph,
    StepItem,
    Steps,
    Table,
    plain,
)
from symgrad.report.report import Report

__all__ = ["block_text", "print_report", "report_text"]

_Line = tuple[str, str]  # a line, and its tone: that of a block, "head" or ""


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
    return "\n".join(text for text, _ in _lines(report, width))


def block_text(block: Block, width: int = 100) -> str:
    """Return one block as text."""
    return "\n".join(text for text, _ in _WRITERS[type(block)](block, width))


def print_report(report: Report, stream: TextIO | None = None, width: int | None = None) -> None:
    """Print a report; in colour on a terminal, unless the environment has NO_COLOR.

    Args:
        report: what is printed.
        stream: where; by default standard output.
        width: columns; by default those of the terminal, up to 100.
    """
    # for start-up time: texts that are not printed need no terminal
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    columns = min(console.width, 100) if width is None else width
    for text, tone in _lines(report, columns):
        console.print(Text(text, style=_STYLES[tone]))


_STYLES = {
    "": "",
    "plain": "bold",
    "head": "bold",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "open": "blue",
}


def _lines(report: Report, width: int) -> Iterator[_Line]:
    yield _shown(report.title), "head"
    for block in report.blocks:
        yield "", ""
        yield from _WRITERS[type(block)](block, width)


def _shown(text: str) -> str:
    """Return text without what would steer a terminal."""
    return "".join(
        c if c.isprintable() or c == "\n" else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def _wrapped(text: str, width: int, indent: str = "", hang: str | None = None) -> Iterator[_Line]:
    for part in _shown(text).split("\n"):
        for line in textwrap.wrap(
            part,
            max(width, 20),
            initial_indent=indent,
            subsequent_indent=indent if hang is None else hang,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]:
            yield line, ""


def _indented(text: str, indent: str) -> Iterator[_Line]:
    for line in _shown(text).split("\n"):
        yield (indent + line).rstrip(), ""


def _heading(block: Heading, _: int) -> Iterator[_Line]:
    yield _shown(block.text), "head"


def _paragraph(block: Paragraph, width: int) -> Iterator[_Line]:
    yield from _wrapped(plain(block.words), width)


def _formulas(block: MathLines, _: int) -> Iterator[_Line]:
    for row in block.rows:
        yield from _indented(row.text, "  ")


def _items(block: Items, width: int) -> Iterator[_Line]:
    for item in block.items:
        yield from _wrapped(plain(item), width, "- ", "  ")


def _steps(block: Steps, width: int) -> Iterator[_Line]:
    yield from _listed(block.steps, width, "  ")
    if block.left:
        yield f"  … {block.left} more steps", ""


def _listed(steps: Sequence[StepItem], width: int, indent: str) -> Iterator[_Line]:
    digits = len(str(len(steps)))
    for number, step in enumerate(steps, 1):
        head = f"{indent}{number:>{digits}}  {step.title}"
        yield from _indented(head if step.formula is None else f"{head}  {step.formula.text}", "")
        inner = indent + " " * (digits + 4)
        if step.reason:
            yield from _wrapped(plain(step.reason), width, inner)
        for block in step.blocks:
            for text, tone in _WRITERS[type(block)](block, width - len(inner)):
                yield (inner + text).rstrip(), tone
        yield from _listed(step.steps, width, inner)


def _table(block: Table, width: int) -> Iterator[_Line]:
    if block.caption:
        yield from _wrapped(block.caption, width)
    cells = [[_shown(plain(c)) for c in row] for row in block.rows]
    heads = [_shown(c.title) for c in block.columns]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for k, row in enumerate([heads, *cells]):
        shown = [
            text.rjust(w) if column.number else text.ljust(w)
            for text, w, column in zip(row, widths, block.columns, strict=True)
        ]
        yield ("  " + "  ".join(shown)).rstrip(), "" if k else "head"


def _picture(block: Figure, width: int) -> Iterator[_Line]:
    yield from _wrapped(f"[picture: {block.title}] {block.description}", width)


def _code(block: Code, width: int) -> Iterator[_Line]:
    if block.title:
        yield from _wrapped(block.title, width)
    yield from _indented(block.text.rstrip("\n"), "    ")


def _document(block: Document, _: int) -> Iterator[_Line]:
    notes: dict[int, list[LineNote]] = {}
    for note in block.notes:
        notes.setdefault(note.line, []).append(note)
    lines = block.text.rstrip("\n").split("\n")
    digits, margin = len(str(len(lines))), max((len(n.mark) for n in block.notes), default=0)
    for number, line in enumerate(lines, 1):
        here = notes.get(number, [])
        mark, tone = (here[0].mark, here[0].tone) if here else ("", "")
        yield (
            _shown(f"{mark:<{margin}}  {number:>{digits}} | {line}").rstrip(),
            "" if tone == "plain" else tone,
        )
        below = " " * (margin + 2 + digits) + " | "
        for note in here:
            if note.spans and note.said:
                carets = "".join(
                    "^" if any(a <= k < b for a, b in note.spans) else " " for k in range(note.spans[-1][1])
                )
                yield below + carets, ""
            for said in note.said:
                yield from _indented(said, below)


def _finding(block: FindingBlock, width: int) -> Iterator[_Line]:
    yield _shown(plain(block.title)), block.tone
    if block.place:
        yield f"  {_shown(block.place)}", ""
    if block.line:
        yield f"    {_shown(block.line)}", ""
        yield " " * (4 + block.start) + "^" * max(1, block.end - block.start), ""
    for said in block.said:
        yield from _wrapped(plain(said), width, "  ")


def _banner(block: Banner, width: int) -> Iterator[_Line]:
    yield _shown(block.word), block.tone
    if block.said:
        yield from _wrapped(plain(block.said), width, "  ")


_Writer = Callable[[Any, int], Iterator[_Line]]
_WRITERS: dict[type[Block], _Writer] = {
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
