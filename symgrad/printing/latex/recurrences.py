r"""Recurrences as rows of an ``aligned`` environment: h_{0} &= 1, and h_{t} &= a h_{t-1}, \quad t = 1, \dots, T."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.literals import ATOM
from symgrad.ir.notation.recurrences import bare_length, step_formulas
from symgrad.ir.traverse import topological
from symgrad.printing.latex.glyphs import Glyphs
from symgrad.printing.latex.pieces import Written, entry_text, with_accent


def recurrence_rows(
    node: Node,
    names: Sequence[str],
    glyphs: Glyphs,
    text: Callable[[Node], str],
    step: Callable[[Node, Mapping[Node, Written]], tuple[list[str], str]],
    letter: str,
) -> list[str]:
    """Return the rows of a recurrence.

    Args:
        node: the recurrence.
        names: the names of its carries.
        glyphs: the glyphs of names and sizes.
        text: a function that returns a first value or an array of rows as LaTeX.
        step: a function that returns a formula of the step as LaTeX, given the texts of values and rows, with the rows
            of its parts.
        letter: the name of the position.
    """
    length, reverse, _ = node.params
    end = glyphs.size(bare_length(length))
    marks: dict[str, str] = {}

    def marked(x: Node) -> str:
        """Return the name of an array for a mark, whose LaTeX is added."""
        mark = f"x{len(marks)}"
        marks[mark] = text(x)
        return mark

    formulas = step_formulas(node, names, marked, letter)
    spelled: dict[Node, Written] = {}
    for symbol in topological(formulas):
        name = symbol.name if symbol.op is SYMBOL else ""
        if name.endswith("]"):
            array, _, place = name[:-1].partition("[")
            spelled[symbol] = (entry_text(marks.get(array) or with_accent(glyphs.name(array)), place), ATOM)
    first, now = (end, f"{letter}-1") if reverse else ("0", letter)
    own = [with_accent(glyphs.name(name)) for name in names]
    rows = [f"{entry_text(name, first)} &= {text(s)}" for name, s in zip(own, node.args, strict=False)]
    for name, formula in zip(own, formulas, strict=True):
        parts, result = step(formula, spelled)
        rows += [*parts, f"{entry_text(name, now)} &= {result}"]
    span = rf"{end}, \dots, 1" if reverse else rf"1, \dots, {end}"
    return [*rows[:-1], rf"{rows[-1]}, \quad {letter} = {span}"]
