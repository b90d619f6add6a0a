r"""Recurrences as rows of an ``aligned`` environment: h_{0} &= 1, and h_{t} &= a h_{t-1}, \quad t = 1, \dots, T."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.literals import ATOM
from symgrad.ir.notation.recurrences import (
    CarryName,
    over_names,
    position_text,
    step_formulas,
    step_places,
    summed,
)
from symgrad.ir.traverse import topological
from symgrad.printing.latex.glyphs import Glyphs
from symgrad.printing.latex.pieces import Written, entry_text, with_accent

_Step = Callable[[Node, Mapping[Node, Written]], tuple[list[str], str]]
"""A function that returns a formula of a step as LaTeX, given the texts of values and rows, with rows of its parts."""


class _RowNames:
    """Marks for the arrays whose rows stand in a step.

    Args:
        text: a function that returns an array as LaTeX.
    """

    def __init__(self, text: Callable[[Node], str]) -> None:
        self._text = text
        self._texts: dict[str, str] = {}

    def add(self, x: Node) -> str:
        """Return the mark of an array, as its name."""
        mark = f"x{len(self._texts)}"
        self._texts[mark] = self._text(x)
        return mark

    def spelled(self, formulas: Sequence[Node], glyphs: Glyphs) -> dict[Node, Written]:
        """Return the LaTeX of values and rows in formulas of a step."""
        found: dict[Node, Written] = {}
        for symbol in topological(formulas):
            name = symbol.name if symbol.op is SYMBOL else ""
            if name.endswith("]"):
                array, _, place = name[:-1].partition("[")
                base = self._texts.get(array) or with_accent(glyphs.name(array))
                found[symbol] = (entry_text(base, place), ATOM)
        return found


def sum_over_steps(node: Node, glyphs: Glyphs, text: Callable[[Node], str], step: _Step, letter: str) -> str:
    r"""Return the last value of a recurrence that sums as a sum, \sum_{t=1}^{T} a_{t}.

    Args:
        node: the recurrence.
        glyphs: as for `recurrence_rows`, like the others.
        text: a function that returns an array of rows as LaTeX.
        step: a function that returns the terms as LaTeX, without parts.
        letter: the name of the position.
    """
    terms, names, arrays = summed(node), [CarryName("")], _RowNames(text)
    assert terms is not None
    (formula,) = over_names(node, [terms], names, arrays.add, letter)
    first, last = map(glyphs.size, step_places(node, names).ends)
    _, result = step(formula, arrays.spelled([formula], glyphs))
    inside = rf"\left({result}\right)" if formula.op.name in ("add", "neg") else result
    return rf"\sum_{{{letter} = {first}}}^{{{last}}} {inside}"


def recurrence_rows(
    node: Node,
    names: Sequence[CarryName],
    glyphs: Glyphs,
    text: Callable[[Node], str],
    step: _Step,
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
    arrays = _RowNames(text)
    formulas, condition = step_formulas(node, names, arrays.add, letter)
    spelled = arrays.spelled([*formulas, *([condition] if condition is not None else [])], glyphs)

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
