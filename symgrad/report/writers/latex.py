"""Write reports as LaTeX documents, for any engine: words are escaped, formulas are copied."""

from __future__ import annotations

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
from symgrad.report.mathml.vocabulary import LETTERS, OPERATORS, RELATIONS
from symgrad.report.report import Report
from symgrad.report.writers.rows import aligned_latex
from symgrad.report.writers.text import block_text

_ROWS = 20  # number of rows of an aligned formula that fit on a page

_HEAD = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb,graphicx,xcolor}
\usepackage[margin=25mm]{geometry}
"""
_MEANINGS = r"""\definecolor{good}{HTML}{00664A}\definecolor{bad}{HTML}{A8201A}\definecolor{warn}{HTML}{8F4700}
\definecolor{open}{HTML}{3F4A8A}\definecolor{plain}{HTML}{1B1F24}\definecolor{soft}{HTML}{545D69}
\setlength{\parindent}{0pt}\setlength{\parskip}{.5\baselineskip}\emergencystretch=3em
% What is wider than the page is made smaller.
\newcommand{\fitted}[1]{\sbox0{#1}\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi}
\newcommand{\shown}[1]{\par\smallskip\hspace*{1em}\fitted{$\displaystyle #1$}\par\smallskip}
\newcommand{\banner}[2]{\par\medskip{\color{#1}\rule{3pt}{1.6ex}\ \textbf{#2}}\par}
"""

_WORDS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "-": "-{}", "−": r"\ensuremath{-}", "…": r"\ldots{}", "²": r"\ensuremath{^2}", "∞": r"\ensuremath{\infty}",
    "[": "{[}", "]": "{]}", "*": "{*}", "\n": " ", "\t": " ", "–": "--", "—": "---", "\N{NO-BREAK SPACE}": "~",
}  # fmt: skip
_SIGNS = {
    sign: rf"\ensuremath{{\{name}}}"
    for table in (RELATIONS, OPERATORS, LETTERS)
    for name, sign in table.items()
}


def report_latex(report: Report) -> str:
    r"""Return a report as a document.

    Example:
        >>> from symgrad.report.blocks import Paragraph
        >>> print(report_latex(Report("50% of x_1", (Paragraph(("{}",)),))).partition(r"\begin{document}")[2])
        <BLANKLINE>
        \section*{50\% of x\_1}
        <BLANKLINE>
        \{\}
        <BLANKLINE>
        \end{document}
        <BLANKLINE>
    """
    return f"{_HEAD}{_MEANINGS}\\begin{{document}}\n{_body(report)}\n\n\\end{{document}}\n"


def latex_fragment(report: Report) -> str:
    r"""Return a report as a part of a document whose preamble loads amsmath, amssymb, graphicx and xcolor.

    Its definitions are local, because nbconvert copies the output of notebooks into its own documents.

    Example:
        >>> from symgrad.report.blocks import Paragraph
        >>> print(latex_fragment(Report("t", (Paragraph(("50%",)),))).partition("}\\par}\n")[2])
        \section*{t}
        <BLANKLINE>
        50\%
        \par\endgroup
    """
    return f"\\begingroup\n{_MEANINGS}{_body(report)}\n\\par\\endgroup"


def _body(report: Report) -> str:
    parts = [rf"\section*{{{_text(report.title)}}}"]
    for block in report.blocks:
        parts += _WRITERS[type(block)](block)
    return "\n\n".join(parts)


def _text(text: str) -> str:
    """Escape the special characters of TeX, and write characters without a glyph as their numbers."""
    return "".join(map(_escaped, text))


def _escaped(c: str) -> str:
    if c in _WORDS:
        return _WORDS[c]
    if c.isascii():
        return c if c.isprintable() else "?"
    if c in _SIGNS:
        return _SIGNS[c]
    return c if "\xa1" <= c <= "\xff" and c.isalpha() else f"[U+{ord(c):04X}]"


def _code_line(line: str) -> str:
    return "".join("~" if c == " " else _escaped(c) for c in line.expandtabs(4))


def _verbatim(text: str) -> str:
    """Return lines of code as escaped characters; code could end a verbatim environment."""
    lines = r"\\".join(_code_line(line) + "\n" for line in text.rstrip("\n").split("\n"))
    return f"{{\\small\\ttfamily\\raggedright\n\\noindent {lines}\\par}}"


def _latex(formula: Maths) -> str | None:
    """Return the LaTeX of a formula; None if it is not a valid formula."""
    try:
        mathml(formula.latex)
    except NotMathML:
        return None
    return formula.latex if formula.latex.isascii() else None


def _inline(word: str | Maths | Literal) -> str:
    if isinstance(word, str):
        return _text(word)
    latex = _latex(word) if isinstance(word, Maths) else None
    return rf"\texttt{{{_text(word.text)}}}" if latex is None else f"${latex}$"


def _prose(words: Prose) -> str:
    return "".join(map(_inline, words))


def _heading(block: Heading) -> Iterator[str]:
    yield rf"\{'sub' * min(block.level, 2)}section*{{{_text(block.text)}}}"


def _paragraph(block: Paragraph) -> Iterator[str]:
    words = _prose(block.words)
    yield rf"{{\color{{soft}}{words}}}" if block.soft else words


def _formulas(block: MathLines) -> Iterator[str]:
    for k in range(0, len(block.rows), _ROWS):
        rows = block.rows[k : k + _ROWS]
        whole = _latex(Maths("", aligned_latex(rows)))
        if whole is None:
            yield _verbatim("\n".join(row.text for row in rows))
        else:
            yield rf"\shown{{{whole}}}"


def _items(block: Items) -> Iterator[str]:
    items = "\n".join(rf"\item {_prose(item)}" for item in block.items)
    yield f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}"


def _steps(block: Steps) -> Iterator[str]:
    yield from _listed(block.steps, 0)
    if block.left:
        yield f"{block.left} more steps are not listed."


def _listed(steps: Sequence[StepItem], depth: int) -> Iterator[str]:
    """Yield the paragraphs of steps; lists are not used, because LaTeX allows only four levels."""
    for number, step in enumerate(steps, 1):
        yield rf"\hspace*{{{depth}em}}{number}.\enspace {_text(step.title)}"
        if step.formula is not None:
            latex = _latex(step.formula)
            yield _verbatim(step.formula.text) if latex is None else rf"\shown{{{latex}}}"
        if step.reason:
            yield _prose(step.reason)
        for block in step.blocks:
            yield from _WRITERS[type(block)](block)
        yield from _listed(step.steps, depth + 1)


def _table(block: Table) -> Iterator[str]:
    if block.caption:
        yield _text(block.caption)
    columns = "".join("r" if c.number else "l" for c in block.columns)
    head = " & ".join(rf"\textbf{{{_text(c.title)}}}" for c in block.columns)
    rows = " \\\\\n".join(" & ".join(map(_prose, row)) for row in block.rows)
    yield f"\\fitted{{\\begin{{tabular}}{{{columns}}}\n{head} \\\\ \\hline\n{rows}\n\\end{{tabular}}}}"


def _picture(block: Figure) -> Iterator[str]:
    yield rf"\emph{{Figure (drawn in the HTML form): {_text(block.title)}.}} {_text(block.description)}"


def _code(block: Code) -> Iterator[str]:
    if block.title:
        yield _text(block.title)
    yield _verbatim(block.text)


def _document(block: Document) -> Iterator[str]:
    yield _verbatim(block_text(block))


def _finding(block: FindingBlock) -> Iterator[str]:
    yield rf"\banner{{{block.tone}}}{{{_prose(block.title)}}}"
    if block.place:
        yield rf"{{\color{{soft}}{_text(block.place)}}}"
    if block.line:
        yield _verbatim(f"{block.line}\n{block.carets}")
    yield from (_prose(said) for said in block.said)


def _banner(block: Banner) -> Iterator[str]:
    yield rf"\banner{{{block.tone}}}{{{_text(block.word)}}}"
    if block.said:
        yield _prose(block.said)


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
