"""Write a backward pass in the names of its program, as text and as LaTeX."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.analysis.explain.derivation import DerivationRecord
from symgrad.ir.listing import Listing
from symgrad.ir.notation.printer import one_line, str_text
from symgrad.pretty.adjoints import Adjoint
from symgrad.printing.latex.expressions import latex
from symgrad.printing.latex.pieces import latex_name, with_accent
from symgrad.printing.limits import LINE_CHARACTERS
from symgrad.printing.texts.named_formulas import formula_rows, named_latex, program_name, row_groups


def adjoint_text(adjoint: Adjoint, width: int) -> list[str]:
    """Return a line as text; a line that is too long is broken inside parentheses, so that it can still be parsed."""
    lines = [part for line in str(adjoint).split("\n") for part in program_line(line, width)]
    return [*lines, *(f"      # {note}" for note in adjoint.notes)]


_NO_BREAK = "\N{NO-BREAK SPACE}"
_DEFINITION = re.compile(r"( *[^=]* = )(.*?)(; \\| for \S+ in \S+| until .*|)")
"""A definition in a line of steps: its left side, the formula, and what follows it."""


def program_line(line: str, width: int) -> list[str]:
    """Return a line of a program, indented; if it is too long, it is broken, so that it can still be parsed."""
    found = _DEFINITION.fullmatch(line)
    if 2 + len(line) <= width or found is None:
        return [f"  {line}"]
    head, body, end = found.groups()
    first, *others = _definitions(line)
    if others and others != ["\\"]:
        parts = [first, *(f"    {part}" for part in others)]
        shown = [*(f"{part}; \\" for part in parts[:-1]), parts[-1]]
        return [row for part in shown for row in program_line(part, width)]
    suffix = end.replace(" ", _NO_BREAK)
    lines = textwrap.wrap(
        f"({body}){suffix}",
        width,
        initial_indent=f"  {head}",
        subsequent_indent=" " * (len(head) - len(head.lstrip()) + 6),
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [row.replace(_NO_BREAK, " ") for row in lines]


def _definitions(line: str) -> list[str]:
    """Return the definitions in a line of steps; a recurrence in parentheses is part of a formula."""
    found = [""]
    for part in line.split("; "):
        inside = found[-1].count("(") > found[-1].count(")")
        found[-1:] = [f"{found[-1]}; {part}"] if inside else [found[-1], part]
    return found[1:]


def adjoint_rows(adjoints: Sequence[Adjoint], listing: Listing | None) -> list[str]:
    """Return lines of a program's backward pass as aligned rows of LaTeX, with bars over names.

    A recurrence has several rows.
    """
    bars = {
        a.symbol: rf"\overline{{{program_name(a.of, listing)}}}"
        for a in adjoints
        if a.body is not None and a.of is not None and not a.is_by_steps
    }
    _, groups = row_groups(adjoints[0].whole, names=bars, apart=True)
    return [" \\\\\n".join(group.lines) for group in groups]


@dataclass(frozen=True, slots=True)
class Brief:
    """A gradient above the lines or steps of its backward pass.

    Args:
        text: the value of the gradient if it is short, otherwise the name of its line.
        latex: the same, as LaTeX.
        notes: conditions under which the gradient has a value although the gradient as built has none; None for the
            notes of the derivation.
    """

    text: str
    latex: str
    notes: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Briefs:
    """The gradients of a derivation as they are printed above the lines or steps that lead to them.

    Args:
        gradients: one for each variable; None if the value itself is printed.
        lines: definitions of the new names in the gradients, as text.
        rows: the same definitions as aligned rows of LaTeX.
    """

    gradients: tuple[Brief | None, ...]
    lines: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def briefs(d: DerivationRecord, adjoints: Sequence[Adjoint]) -> Briefs:
    """Return the gradients to print: each by itself if it needs no new names, the others with common names."""
    found = [_brief(d, i, adjoints) for i in range(len(d.wrt))]
    left = [i for i, b in enumerate(found) if b is None and not adjoints and _has_notation(d, i)]
    together = d.named_slopes(*(d.wrt[i] for i in left)) if left else None
    if together is None or len(together) > sum(len(str_text(d.canonical[i])) for i in left):
        return Briefs(tuple(found))
    texts, rows = together.text([""] * len(left)).split("\n"), formula_rows(together)
    notes = together.notes([d.gradient[i] for i in left])
    for i, text, row, noted in zip(left, texts, rows, notes, strict=False):
        found[i] = Brief(text, row, tuple(noted))
    return Briefs(tuple(found), tuple(texts[len(left) :]), tuple(rows[len(left) :]))


def _brief(d: DerivationRecord, index: int, adjoints: Sequence[Adjoint]) -> Brief | None:
    """Return a gradient without new names; None if there is no such form, or if the value itself is printed."""
    value, name = d.values[index], d.naming.text(d.wrt[index])
    line = next((a for a in adjoints if a.of == name), None)
    if line is None:
        return _in_notation(d, index)
    text = one_line(value, d.spelled)
    if value is not d.canonical[index] and text is not None and len(text) <= LINE_CHARACTERS:
        shown = latex(value, d.spelled)
        return Brief(text, shown, None)  # stop_gradient is left out here, but the lines keep it
    if line.alone is not None:
        spelling = line.whole.spelling
        return Brief(spelling.text(line.alone), named_latex(line.alone, spelling), line.alone_notes)
    shown = rf"\overline{{{program_name(name, d.listing)}}}"
    shown = with_accent(latex_name(line.name)) if line.is_by_steps else shown
    return Brief(line.name, shown, ())


def _has_notation(d: DerivationRecord, index: int) -> bool:
    """Tell whether a gradient exists and has a form in the notation of its program that drops no stop_gradient."""
    dropped = d.values[index] is not d.canonical[index]
    return d.listing is not None and not dropped and d.nothing[index] is None


def _in_notation(d: DerivationRecord, index: int) -> Brief | None:
    """Return a gradient in the notation of its program, if this takes one line."""
    found = d.named_slopes(d.wrt[index]) if _has_notation(d, index) else None
    if found is None or found.lines:
        return None
    (notes,) = found.notes([d.gradient[index]])
    return Brief(found.text([""]), formula_rows(found)[0], tuple(notes))
