"""Where the formulas of a document stand: of Markdown, of LaTeX, of plain text. What lies between is left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, TypeAlias

from symgrad.support.errors import UsageError
from symgrad.support.source import Span

DocumentForm: TypeAlias = Literal["markdown", "latex", "text"]
FORMS: tuple[DocumentForm, ...] = ("markdown", "latex", "text")
FormulaNotation: TypeAlias = Literal["symgrad", "latex"]
PassageKind: TypeAlias = Literal["block", "inline", "line", "option"]

_SUFFIXES: dict[str, DocumentForm] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".tex": "latex",
    ".ltx": "latex",
}


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document that is formulas.

    Args:
        span: the characters, without what marks them as formulas.
        notation: ``symgrad`` for the notation of programs, ``latex``.
        kind: ``block`` on lines of its own, ``inline`` in a sentence, ``line`` of plain text, which may have words in
            it, ``option`` where declarations stand that readers of the document do not see.
    """

    span: Span
    notation: FormulaNotation
    kind: PassageKind


def form_of(text: str, name: str) -> DocumentForm:
    r"""Return what a document is, by the name of its file, else by what is in it.

    Example:
        >>> form_of("x = 1", "a.tex"), form_of("so $x = 1$", "<text>"), form_of("x = 1", "<text>")
        ('latex', 'markdown', 'text')
    """
    suffix = PurePath(name).suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if suffix in (".txt", ".sg"):
        return "text"
    if r"\documentclass" in text or r"\begin{document}" in text:
        return "latex"
    return "markdown" if _MARKED_UP.search(text) is not None else "text"


def passages(text: str, form: DocumentForm) -> list[Passage]:
    r"""Return the formulas of a document in their order.

    Args:
        text: the document.
        form: what it is.

    Raises:
        UsageError: for a form that there is none of.

    Example:
        >>> page = "Let $z = x^2$.\n\n```symgrad\ndz/dx = 2*x\n```\n"
        >>> [(p.notation, page[p.span.start : p.span.end]) for p in passages(page, "markdown")]
        [('latex', 'z = x^2'), ('symgrad', 'dz/dx = 2*x\n')]
    """
    if form == "markdown":
        return list(_of_markdown(text))
    if form == "latex":
        return list(_of_latex(text))
    if form == "text":
        return [Passage(Span(0, len(text)), "symgrad", "line")]
    raise UsageError(f"a document of the form {form!r}", expected=f"one of {', '.join(FORMS)}")


# Both are found by one expression each, and not by a library. Those of Markdown give lines of blocks and no columns of
# what is inside them; messages need both. pylatexenc 2.11, as all that builds a tree, takes what follows a missing
# brace for a part of the formula before it, up to the end of the document; here what ends nowhere ends at the next
# empty line, where TeX ends it, too, and all else is still found. So each character is looked at a few times at most.
_WITHIN = r"(?:(?!\n[ \t]*\n).)"
_ENVIRONMENTS = (
    "equation|align|aligned|alignat|alignedat|gather|gathered|multline|multlined|split|eqnarray|flalign|displaymath|math"
    "|subequations|dmath|dgroup|IEEEeqnarray"
)
# What some of them are given: the number of columns, or how these are set.
_COLUMNS = r"(?:\[[tbc]\])?(?:\{(?:\d+|[rclRCLs]{2,})\})?"
_MARKED_UP = re.compile(
    rf"\$|^ {{0,3}}(```|~~~)|(?<!\\)\\\[|(?<!\\)\\\(|\\begin\{{(?:{_ENVIRONMENTS})\*?\}}|`", re.MULTILINE
)
LAYOUTS = rf"\\(?:begin|end)\{{(?:{_ENVIRONMENTS})\*?\}}{_COLUMNS}"
"""Beginnings and ends of environments that lay lines out and mean nothing, as a regular expression."""
_MATHS = rf"""
    \\begin\{{(?P<name>(?:{_ENVIRONMENTS})\*?)\}}{_COLUMNS}
        (?P<environment>{_WITHIN}*?)(?:\\end\{{(?P=name)\}}|(?=\n[ \t]*\n)|\Z)
   |\$\$(?P<display>{_WITHIN}+?)(?:\$\$|(?=\n[ \t]*\n)|\Z)
   |(?<!\\)\\\[(?P<bracket>{_WITHIN}+?)(?:\\\]|(?=\n[ \t]*\n)|\Z)
   |(?<!\\)\\\((?P<paren>{_WITHIN}+?)(?:\\\)|(?=\n[ \t]*\n)|\Z)
"""
_MARKDOWN = re.compile(
    rf"""
    ^\ {{0,3}}(?P<ticks>`{{3,}}|~{{3,}})[ \t]*(?P<info>[^\n`]*)\n(?P<code>.*?)(?:^\ {{0,3}}(?P=ticks)[`~]*[ \t]*$|\Z)
   |<!--(?P<comment>.*?)(?:-->|\Z)
   |{_MATHS}
   |(?<!\\)\$(?P<dollar>[^\s$](?:[^$\n]|\n(?![ \t]*\n))*?)(?<!\s)\$(?!\d)
   |(?<!`)(?P<quote>`+)(?!`)(?P<span>{_WITHIN}+?)(?<!`)(?P=quote)(?!`)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_LATEX = re.compile(
    rf"""
    (?<!\\)%(?P<comment>[^\n]*)
   |\\begin\{{(?P<verbatim>verbatim\*?|lstlisting|minted|comment)\}}.*?(?:\\end\{{(?P=verbatim)\}}|\Z)
   |\\verb\*?(?P<delimiter>[^\sa-zA-Z]).*?(?P=delimiter)
   |{_MATHS}
   |(?<!\\)\$(?P<dollar>(?:[^$\n\\]|\\.|\n(?![ \t]*\n))+?)(?:\$|(?=\n[ \t]*\n)|\Z)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_LANGUAGES: dict[str, FormulaNotation] = {
    "symgrad": "symgrad",
    "sg": "symgrad",
    "latex": "latex",
    "tex": "latex",
    "math": "latex",
}
_OPTION = re.compile(r"\s*symgrad\s*:\s*", re.IGNORECASE)
_MARKED: dict[str, PassageKind] = {
    "environment": "block",
    "display": "block",
    "bracket": "block",
    "dollar": "inline",
    "paren": "inline",
}


def _of_markdown(text: str) -> Iterator[Passage]:
    for match in _MARKDOWN.finditer(text):
        if match["ticks"] is not None:
            language = (match["info"].split() or [""])[0].lower()
            if language in _LANGUAGES:
                yield Passage(Span(*match.span("code")), _LANGUAGES[language], "block")
            elif not language:
                yield Passage(Span(*match.span("code")), "symgrad", "line")
        elif match["span"] is not None:
            yield Passage(Span(*match.span("span")), "symgrad", "inline")
        else:
            yield from _of_either(match)


def _of_latex(text: str) -> Iterator[Passage]:
    for match in _LATEX.finditer(text):
        yield from _of_either(match)


def _of_either(match: re.Match[str]) -> Iterator[Passage]:
    if match["comment"] is not None:
        option = _OPTION.match(match["comment"])
        if option is not None:
            start, end = match.span("comment")
            yield Passage(Span(start + option.end(), end), "symgrad", "option")
        return
    for group, kind in _MARKED.items():
        if match[group] is not None:
            yield Passage(Span(*match.span(group)), "latex", kind)
