"""Write reports as HTML: one page without network and script. All text is escaped here, and nowhere else."""

from __future__ import annotations

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
from symgrad.report.mathml.portable import portable_formula
from symgrad.report.report import Report
from symgrad.report.writers.drawing import picture_class, portable_picture, safe_svg
from symgrad.report.writers.rows import aligned_latex
from symgrad.report.writers.style import FORMULA, PAGE, PART, STYLE


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
            _HtmlWriter().join_blocks(report.blocks, 1),
            "</main></body></html>",
            "",
        ]
    )


def report_fragment(report: Report) -> str:
    """Return a report as a part of a page, with its style."""
    body = _HtmlWriter(part=True).join_blocks(report.blocks, 2)
    return (
        f'<div class="sg" lang="en"><style>{PART}</style>\n<h2>{_text(report.title)}</h2>\n{body}\n</div>\n'
    )


def formula_fragment(formula: Maths) -> str:
    r"""Return a formula as a part of a page, with its style.

    Example:
        >>> formula_fragment(Maths("x/2", r"\frac{x}{2}")).endswith("</math></span></div>")
        True
    """
    shown = _HtmlWriter(part=True).formula(formula, large=True)
    return f'<div class="sg-formula"><style>{FORMULA}</style>{shown}</div>'


def blocks_html(blocks: Iterable[Block]) -> str:
    """Return blocks as a part of a page with the style of reports, for elements of the class ``sg``."""
    return _HtmlWriter().join_blocks(blocks, 2)


class _HtmlWriter:
    """A writer of blocks, for the project's own pages or for a part of a page whose viewer may remove markup.

    Args:
        part: whether it writes such a part.
    """

    def __init__(self, *, part: bool = False) -> None:
        self._part = part
        self._written = portable_formula if part else mathml

    def join_blocks(self, blocks: Iterable[Block], depth: int) -> str:
        """Return blocks; their headings are one level below ``depth``."""
        return "\n".join(self._blocks(blocks, depth))

    def _prose(self, words: Prose, *, large: bool = False) -> str:
        return "".join(self._inline(word, large=large) for word in words)

    def _inline(self, word: str | Maths | Literal, *, large: bool) -> str:
        if isinstance(word, str):
            return _text(word)
        if isinstance(word, Maths):
            return self.formula(word, large=large)
        return f"<code>{_text(word.text)}</code>"

    def formula(self, formula: Maths, *, display: bool = False, large: bool = False) -> str:
        """Return a formula; if it has no MathML, its text as code."""
        try:
            return self._written(formula.latex, display=display, large=large)
        except NotMathML:
            return f"<code>{_text(formula.text)}</code>"

    def _blocks(self, blocks: Iterable[Block], depth: int) -> list[str]:
        return [_WRITERS[type(block)](self, block, depth) for block in blocks]

    def paragraph(self, block: Paragraph, _: int) -> str:
        return f"<p{' class=soft' if block.soft else ''}>{self._prose(block.words)}</p>"

    def formulas(self, block: MathLines, _: int) -> str:
        latex = aligned_latex(block.rows)
        try:
            shown = self._written(latex, display=True)
        except NotMathML:
            shown = "".join(f"<div>{self.formula(row, display=True)}</div>" for row in block.rows)
        tex = f'<details class="tex"><summary>TeX</summary><pre tabindex="0">{_text(latex)}</pre></details>'
        return f'<div class="formula">{_scrolled(shown, block.label)}{tex}</div>'

    def items(self, block: Items, _: int) -> str:
        return "<ul>" + "".join(f"<li>{self._prose(item)}</li>" for item in block.items) + "</ul>"

    def steps(self, block: Steps, depth: int) -> str:
        more = f"<p class=soft>{block.left} more steps are not listed.</p>" if block.left else ""
        listed = self._listed(block.steps, depth) + more
        if not block.folded:
            return listed
        count = len(block.steps) + block.left
        return f"<details><summary>{_text(block.title)} ({count} steps)</summary>{listed}</details>"

    def _listed(self, steps: Sequence[StepItem], depth: int) -> str:
        return f'<ol class="steps">{"".join(self._step(s, depth) for s in steps)}</ol>'

    def _step(self, step: StepItem, depth: int) -> str:
        formula = "" if step.formula is None else self.formula(step.formula)
        head = f'<span class="rule">{_text(step.title)}</span> {formula}'
        inner = [f"<p>{self._prose(step.reason)}</p>"] if step.reason else []
        inner += self._blocks(step.blocks, depth)
        if step.steps:
            inner.append(self._listed(step.steps, depth))
        if not inner:
            return f'<li><div class="step" tabindex="0" role="group" aria-label="{_text(step.title)}">{head}</div></li>'
        body = f'<div class="body">{"".join(inner)}</div>'
        return f'<li><details><summary><span class="scroll">{head}</span></summary>{body}</details></li>'

    def table(self, block: Table, _: int) -> str:
        kinds = [' class="number"' if c.number else "" for c in block.columns]
        head = "".join(
            f'<th scope="col"{k}>{_text(c.title)}</th>' for c, k in zip(block.columns, kinds, strict=True)
        )
        rows = "".join(f"<tr>{self._cells(row, kinds)}</tr>" for row in block.rows)
        caption = f"<caption>{_text(block.caption)}</caption>"
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return _scrolled(table, block.caption or "table")

    def _cells(self, row: Sequence[Prose], kinds: Sequence[str]) -> str:
        first, *others = row
        cells = "".join(
            f"<td{k}>{self._prose(c, large=True)}</td>" for c, k in zip(others, kinds[1:], strict=True)
        )
        return f'<th scope="row"{kinds[0]}>{self._prose(first)}</th>{cells}'

    def picture(self, block: Figure, _: int) -> str:
        """Return a picture above its title."""
        drawn = safe_svg(block.svg, block.title, block.description)
        shown = _scrolled(drawn, block.title, picture_class(drawn))
        shown = portable_picture(shown) if self._part else shown
        return f"<figure>{shown}<figcaption>{_text(block.title)}</figcaption></figure>"

    def finding(self, block: FindingBlock, _: int) -> str:
        parts = [f"<p><strong>{self._prose(block.title)}</strong></p>"]
        if block.place:
            parts.append(f'<p class="place">{_text(block.place)}</p>')
        if block.line:
            spans = [(block.start, max(block.end, block.start + 1))]
            parts.append(
                f'<pre tabindex="0" role="group" aria-label="the line">{_marked(block.line, spans)}</pre>'
            )
        parts += [f"<p>{self._prose(said)}</p>" for said in block.said]
        return f'<div class="finding {block.tone}">{"".join(parts)}</div>'

    def banner(self, block: Banner, _: int) -> str:
        said = f"<p>{self._prose(block.said)}</p>" if block.said else ""
        return f'<div class="banner {block.tone}"><p><strong>{_text(block.word)}</strong></p>{said}</div>'


def _text(text: str) -> str:
    """Escape text, and replace characters that a page must not contain."""
    return _escape("".join(c if c >= " " or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text))


def _heading(_writer: _HtmlWriter, block: Heading, depth: int) -> str:
    level = min(depth + block.level, 6)
    return f"<h{level}>{_text(block.text)}</h{level}>"


def _scrolled(content: str, label: str, kind: str = "") -> str:
    """Put content that may be wider than the page into a box that can be scrolled, also with the keyboard."""
    style = f"scroll {kind}".strip()
    return f'<div class="{style}" tabindex="0" role="group" aria-label="{_text(label)}">{content}</div>'


def _code(_writer: _HtmlWriter, block: Code, _: int) -> str:
    caption = f"<figcaption>{_text(block.title)}</figcaption>" if block.title else ""
    label = _text(block.title or "source code")
    code = f'<pre tabindex="0" role="group" aria-label="{label}"><code>{_text(block.text)}</code></pre>'
    return f"<figure>{caption}{code}</figure>" if caption else code


def _document(_writer: _HtmlWriter, block: Document, _: int) -> str:
    notes = block.notes_by_line()
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


_WRITERS: dict[type[Block], Callable[[_HtmlWriter, Any, int], str]] = {
    Heading: _heading,
    Paragraph: _HtmlWriter.paragraph,
    MathLines: _HtmlWriter.formulas,
    Items: _HtmlWriter.items,
    Steps: _HtmlWriter.steps,
    Table: _HtmlWriter.table,
    Figure: _HtmlWriter.picture,
    FindingBlock: _HtmlWriter.finding,
    Banner: _HtmlWriter.banner,
    Code: _code,
    Document: _document,
}
