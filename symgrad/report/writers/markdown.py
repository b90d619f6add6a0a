"""Write reports as Markdown (CommonMark with tables and dollars), with all special characters escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    Literal,
    MathLines,
    Maths,
    Paragraph,
    Prose,
    StepItem,
    Steps,
    Table,
)
from symgrad.report.mathml.convert import mathml
from symgrad.report.mathml.markup import NotMathML
from symgrad.report.report import Report
from symgrad.report.writers.rows import aligned_latex
from symgrad.report.writers.text import block_text


def report_markdown(report: Report) -> str:
    r"""Return a report as Markdown.

    Example:
        >>> from symgrad.report.blocks import Paragraph, prose
        >>> print(report_markdown(Report("A *title*", (Paragraph(prose("1 < 2, ", Maths("x/2", r"\frac{x}{2}"))),))))
        # A \*title\*
        <BLANKLINE>
        1 &lt; 2, $\frac{x}{2}$
        <BLANKLINE>
    """
    parts = [f"# {_text(report.title)}"]
    for block in report.blocks:
        parts += _WRITERS[type(block)](block)
    return "\n\n".join(parts) + "\n"


def _text(text: str) -> str:
    """Escape the special characters of Markdown and HTML, on one line."""
    return "".join(map(_escaped, text.replace("\n", " ")))


def _escaped(c: str) -> str:
    if c in "<>&":
        return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}[c]
    if c in "\\`*_[]#|~$!{}":
        return f"\\{c}"
    return c if c >= " " else "\N{REPLACEMENT CHARACTER}"


def _literal(text: str) -> str:
    """Return text in backticks; the row of backticks is longer than any in the text."""
    text = "".join(max(c, " ") for c in text)
    fence = "`" * (_longest(text) + 1)
    room = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) or not text else ""
    return f"{fence}{room}{text}{room}{fence}"


def _longest(text: str) -> int:
    """Return the length of the longest row of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def _fenced(text: str, language: str = "") -> str:
    fence = "`" * max(3, _longest(text) + 1)
    body = "".join(c if c >= " " or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text.rstrip("\n"))
    return f"{fence}{language if language.isalnum() else ''}\n{body}\n{fence}"


def _tex(latex: str) -> str | None:
    """Return LaTeX for Markdown; None if it is not a valid formula."""
    try:
        mathml(latex)
    except NotMathML:
        return None
    if "$" in latex or "`" in latex:
        return None
    # A viewer that does not support formulas would take brackets as links.
    return latex.replace("<", r"\lt ").replace(">", r"\gt ").replace("](", "] (").replace("][", "] [")


def _inline(word: str | Maths | Literal) -> str:
    if isinstance(word, str):
        return _text(word)
    tex = _tex(word.latex) if isinstance(word, Maths) else None
    return _literal(word.text) if tex is None or "\n" in tex else f"${tex.strip()}$"


def _prose(words: Prose) -> str:
    return "".join(map(_inline, words))


def _strong(text: str) -> str:
    return f"**{text.strip()}**" if text.strip() else ""


def _heading(block: Heading) -> Iterator[str]:
    yield f"{'#' * min(block.level + 1, 6)} {_text(block.text)}"


def _paragraph(block: Paragraph) -> Iterator[str]:
    yield _prose(block.words)


def _formulas(block: MathLines) -> Iterator[str]:
    tex = _tex(aligned_latex(block.rows))
    yield _fenced("\n".join(row.text for row in block.rows)) if tex is None else f"$$\n{tex}\n$$"


def _items(block: Items) -> Iterator[str]:
    yield "\n".join(f"- {_prose(item)}" for item in block.items)


def _steps(block: Steps) -> Iterator[str]:
    lines = [*_listed(block.steps, "")]
    if block.left:
        lines.append(f"\n{block.left} more steps are not listed.")
    yield "\n".join(lines)


def _listed(steps: Sequence[StepItem], indent: str) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        formula = "" if step.formula is None else f": {_inline(step.formula)}"
        yield f"{indent}{number}. {_text(step.title)}{formula}"
        inner = indent + " " * (len(str(number)) + 2)
        parts = [_prose(step.reason)] if step.reason else []
        for block in step.blocks:
            parts += _WRITERS[type(block)](block)
        for part in parts:
            yield ""
            yield from (f"{inner}{line}".rstrip() for line in part.split("\n"))
        if step.steps:
            yield ""
            yield from _listed(step.steps, inner)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(block: Table) -> Iterator[str]:
    if block.caption:
        yield _text(block.caption)
    heads = [_text(c.title) for c in block.columns]
    rules = ["---:" if c.number else "---" for c in block.columns]
    rows = [[_cell(c) for c in row] for row in block.rows]
    yield "\n".join(_row(cells) for cells in [heads, rules, *rows])


def _cell(words: Prose) -> str:
    """Return prose for a cell of a table, where even a bar in backticks or dollars would end the cell."""
    cells: list[str] = []
    for w in words:
        bar = "|" if isinstance(w, str) else r"\|" if isinstance(w, Literal) else r"\vert "
        cells.append(_inline(w).replace("|", bar))
    return "".join(cells)


def _picture(block: Figure) -> Iterator[str]:
    yield f"*Figure (drawn in the HTML form): {_text(block.title)}.* {_text(block.description)}"


def _code(block: Code) -> Iterator[str]:
    if block.title:
        yield _text(block.title)
    yield _fenced(block.text, block.language)


def _document(block: Document) -> Iterator[str]:
    yield _fenced(block_text(block))


def _finding(block: FindingBlock) -> Iterator[str]:
    yield _strong(_prose(block.title)) + (f" ({_text(block.place)})" if block.place else "")
    if block.line:
        yield _fenced(f"{block.line}\n{block.carets}")
    yield from (_prose(said) for said in block.said)


def _banner(block: Banner) -> Iterator[str]:
    said = f"\n>\n> {_prose(block.said)}" if block.said else ""
    yield f"> {_strong(_text(block.word))}{said}"


_WRITERS: dict[type[Block], Callable[[Any], Iterator[str]]] = {
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
