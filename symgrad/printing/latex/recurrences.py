r"""Recurrences as rows of an ``aligned`` environment: h_{0} &= 1, and h_{t} &= a h_{t-1}, \quad t = 1, \dots, T."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.literals import ATOM
from symgrad.ir.notation.recurrences import CarryName, position_text, step_formulas, step_places
from symgrad.ir.traverse import topological
from symgrad.printing.latex.glyphs import Glyphs
from symgrad.printing.latex.pieces import Written, entry_text, with_accent


def recurrence_rows(
    node: Node,
    names: Sequence[CarryName],
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
    places = step_places(node, names)
    marks: dict[str, str] = {}

    def marked(x: Node) -> str:
        """Return the name of an array for a mark, whose LaTeX is added."""
        mark = f"x{len(marks)}"
        marks[mark] = text(x)
        return mark

    formulas, condition = step_formulas(node, names, marked, letter)
    spelled: dict[Node, Written] = {}
    for symbol in topological([*formulas, *([condition] if condition is not None else [])]):
        name = symbol.name if symbol.op is SYMBOL else ""
        if name.endswith("]"):
            array, _, place = name[:-1].partition("[")
            spelled[symbol] = (entry_text(marks.get(array) or with_accent(glyphs.name(array)), place), ATOM)

    def entry(k: int, place: str) -> str:
        return entry_text(with_accent(glyphs.name(names[k].name)), place)

    rows = [f"{entry(k, glyphs.size(at))} &= {text(node.args[k])}" for k, at in places.starts]
    for k, at in places.after.items():
        parts, result = step(formulas[k], spelled)
        rows += [*parts, f"{entry(k, position_text(letter, at))} &= {result}"]
    first, end = map(glyphs.size, places.ends)
    span = f"{letter} = " + (rf"{end}, \dots, {first}" if node.params[1] else rf"{first}, \dots, {end}")
    if condition is not None:
        word, shown = ("while", condition.args[0]) if condition.op.name == "not_" else ("until", condition)
        parts, holds = step(shown, spelled)
        rows[-1:] = [*parts, rows[-1]]
        span = rf"\text{{{word} }} {holds},\ \text{{at most }} {glyphs.size(places.length)}"
    return [*rows[:-1], rf"{rows[-1]}, \quad {span}"]
