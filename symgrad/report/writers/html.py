"""A report as HTML: one page that needs no network and has no script. Every text is escaped here, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape as _escape
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
    LineNote,
    Literal,
    MathLines,
    Maths,
    Paragraph,
    Prose,
    StepItem,
    Steps,
    Table,
)
from symgrad.report.mathml.convert import NotMathML, mathml
from symgrad.report.report import Report
from symgrad.report.writers.drawing import safe_svg
from symgrad.report.writers.rows import aligned_latex
from symgrad.report.writers.style import PAGE, STYLE

__all__ = ["blocks_html", "report_fragment", "report_html"]

_WIDTH = re.compile(r'<svg [^>]*? width="([\d.]+)')
_NARROW = 480.0
"""Width up to which a picture can be read when it is made to fit a phone; the sheet has the same, 30rem."""


def report_html(report: Report) -> str:
    """Return a report as one page.

    Example:
        >>> from symgrad.report.blocks import Paragraph
        >>> page = report_html(Report("<b>", (Paragraph(("1 < 2",)),)))
        >>> "<p>1 &lt; 2</p>" in page, "<b>" in page
        (True, False)
    """
    title = _text(report.title)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{title}</title>",
            f"<style>{PAGE}\n{STYLE}</style></head>",
            f'<body class="sg"><main>\n<h1>{title}</h1>',
            *_blocks(report.blocks, 1),
            "</main></body></html>",
            "",
        ]
    )


def report_fragment(report: Report) -> str:
    """Return a report as a part of a page, with its style."""
    body = "\n".join(_blocks(report.blocks, 2))
    return (
        f'<div class="sg" lang="en"><style>{STYLE}</style>\n<h2>{_text(report.title)}</h2>\n{body}\n</div>\n'
    )


def blocks_html(blocks: Iterable[Block]) -> str:
    """Return blocks as a part of a page that has the style of reports, for elements of the class ``sg``."""
    return "\n".join(_blocks(blocks, 2))


def _text(text: str) -> str:
    """Return text as text, without characters that no page may hold."""
    return _escape("".join(c if c >= " " or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text))


def _prose(words: Prose, *, large: bool = False) -> str:
    return "".join(_inline(word, large=large) for word in words)


def _inline(word: str | Maths | Literal, *, large: bool) -> str:
    if isinstance(word, str):
        return _text(word)
    return _math(word, large=large) if isinstance(word, Maths) else f"<code>{_text(word.text)}</code>"


def _math(formula: Maths, *, display: bool = False, large: bool = False) -> str:
    try:
        return mathml(formula.latex, display=display, large=large)
    except NotMathML:
        return f"<code>{_text(formula.text)}</code>"


def _blocks(blocks: Iterable[Block], depth: int) -> list[str]:
    return [_WRITERS[type(block)](block, depth) for block in blocks]


def _heading(block: Heading, depth: int) -> str:
    level = min(depth + block.level, 6)
    return f"<h{level}>{_text(block.text)}</h{level}>"


def _paragraph(block: Paragraph, _: int) -> str:
    return f"<p{' class=soft' if block.soft else ''}>{_prose(block.words)}</p>"


def _scrolled(content: str, label: str, kind: str = "") -> str:
    """Return what may be wider than the page in a box that scrolls, by keys, too."""
    style = f"scroll {kind}".strip()
    return f'<div class="{style}" tabindex="0" role="group" aria-label="{_text(label)}">{content}</div>'


def _formulas(block: MathLines, _: int) -> str:
    latex = aligned_latex(block.rows)
    try:
        shown = mathml(latex, display=True)
    except NotMathML:
        shown = "".join(f"<div>{_math(row, display=True)}</div>" for row in block.rows)
    tex = f'<details class="tex"><summary>TeX</summary><pre tabindex="0">{_text(latex)}</pre></details>'
    return f'<div class="formula">{_scrolled(shown, block.label)}{tex}</div>'


def _items(block: Items, _: int) -> str:
    return "<ul>" + "".join(f"<li>{_prose(item)}</li>" for item in block.items) + "</ul>"


def _steps(block: Steps, depth: int) -> str:
    more = f"<p class=soft>{block.left} more steps are not listed.</p>" if block.left else ""
    listed = _listed(block.steps, depth) + more
    if not block.folded:
        return listed
    count = len(block.steps) + block.left
    return f"<details><summary>{_text(block.title)} ({count} steps)</summary>{listed}</details>"


def _listed(steps: Sequence[StepItem], depth: int) -> str:
    return f'<ol class="steps">{"".join(_step(s, depth) for s in steps)}</ol>'


def _step(step: StepItem, depth: int) -> str:
    head = (
        f'<span class="rule">{_text(step.title)}</span>{"" if step.formula is None else _math(step.formula)}'
    )
    inner = [f"<p>{_prose(step.reason)}</p>"] if step.reason else []
    inner += _blocks(step.blocks, depth)
    if step.steps:
        inner.append(_listed(step.steps, depth))
    if not inner:
        return f'<li><div class="step" tabindex="0" role="group" aria-label="{_text(step.title)}">{head}</div></li>'
    body = f'<div class="body">{"".join(inner)}</div>'
    return f'<li><details><summary><span class="scroll">{head}</span></summary>{body}</details></li>'


def _table(block: Table, _: int) -> str:
    kinds = [' class="number"' if c.number else "" for c in block.columns]
    head = "".join(
        f'<th scope="col"{k}>{_text(c.title)}</th>' for c, k in zip(block.columns, kinds, strict=True)
    )
    rows = "".join(f"<tr>{_cells(row, kinds)}</tr>" for row in block.rows)
    caption = f"<caption>{_text(block.caption)}</caption>"
    table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return _scrolled(table, block.caption or "table")


def _cells(row: Sequence[Prose], kinds: Sequence[str]) -> str:
    first, *others = row
    cells = "".join(f"<td{k}>{_prose(c, large=True)}</td>" for c, k in zip(others, kinds[1:], strict=True))
    return f'<th scope="row"{kinds[0]}>{_prose(first)}</th>{cells}'


def _picture(block: Figure, _: int) -> str:
    drawn = safe_svg(block.svg, block.title, block.description)
    width = _WIDTH.search(drawn)
    kind = "picture" if width is not None and float(width[1]) <= _NARROW else "wide picture"
    return (
        f"<figure>{_scrolled(drawn, block.title, kind)}<figcaption>{_text(block.title)}</figcaption></figure>"
    )


def _code(block: Code, _: int) -> str:
    caption = f"<figcaption>{_text(block.title)}</figcaption>" if block.title else ""
    label = _text(block.title or "source code")
    code = f'<pre tabindex="0" role="group" aria-label="{label}"><code>{_text(block.text)}</code></pre>'
    return f"<figure>{caption}{code}</figure>" if caption else code


def _document(block: Document, _: int) -> str:
    notes: dict[int, list[LineNote]] = {}
    for note in block.notes:
        notes.setdefault(note.line, []).append(note)
    rows: list[str] = []
    for number, line in enumerate(block.text.rstrip("\n").split("\n"), 1):
        here = notes.get(number, [])
        tone = here[0].tone if here else "plain"
        mark = here[0].mark if here else ""
        spans = sorted(span for note in here for span in note.spans)
        rows.append(
            f'<tr class="{tone}"><td class="mark">{_text(mark)}</td><th scope="row" class="no">{number}</th>'
            f'<td class="line">{_marked(line, spans)}</td></tr>'
        )
        rows += [
            f'<tr class="said {note.tone}"><td></td><td></td><td class="line">{_text(said)}</td></tr>'
            for note in here
            for said in note.said
        ]
    head = "".join(f'<th scope="col">{h}</th>' for h in ("verdict", "line", "text"))
    label = _text(block.name or "document")
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{label}"><table class="doc"><thead><tr>{head}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _marked(line: str, spans: Iterable[tuple[int, int]]) -> str:
    shown, at = "", 0
    for start, end in spans:
        if start >= at:
            shown += f"{_text(line[at:start])}<mark>{_text(line[start:end])}</mark>"
            at = end
    return shown + _text(line[at:])


def _finding(block: FindingBlock, _: int) -> str:
    parts = [f"<p><strong>{_prose(block.title)}</strong></p>"]
    if block.place:
        parts.append(f'<p class="place">{_text(block.place)}</p>')
    if block.line:
        spans = [(block.start, max(block.end, block.start + 1))]
        parts.append(
            f'<pre tabindex="0" role="group" aria-label="the line">{_marked(block.line, spans)}</pre>'
        )
    parts += [f"<p>{_prose(said)}</p>" for said in block.said]
    return f'<div class="finding {block.tone}">{"".join(parts)}</div>'


def _banner(block: Banner, _: int) -> str:
    said = f"<p>{_prose(block.said)}</p>" if block.said else ""
    return f'<div class="banner {block.tone}"><p><strong>{_text(block.word)}</strong></p>{said}</div>'


_WRITERS: dict[type[Any], Callable[[Any, int], str]] = {
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
