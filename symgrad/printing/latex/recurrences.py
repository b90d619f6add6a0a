r"""Recurrences as rows of an ``aligned`` environment: h_{0} &= 1, and h_{t} &= a h_{t-1}, \quad t = 1, \dots, T."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.literals import ATOM
from symgrad.ir.notation.recurrence_definitions import named_parts
from symgrad.ir.notation.recurrence_names import RecurrenceNames
from symgrad.ir.notation.recurrences import (
    CarryName,
    formulas_with_parts,
    step_places,
    summed_terms,
)
from symgrad.ir.sizes import Size
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
        self._marks: dict[Node, str] = {}
        self._texts: dict[str, str] = {}

    def add(self, x: Node) -> str:
        """Return the name of an array, or a mark that stands for it."""
        if x not in self._marks:
            mark = self._marks[x] = x.name if x.op is SYMBOL else f"__rows{len(self._marks)}"
            self._texts[mark] = self._text(x)
        return self._marks[x]

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
        glyphs: the glyphs of names and sizes.
        text: a function that returns an array of rows as LaTeX.
        step: a function that returns the terms as LaTeX, without parts.
        letter: the name of the position.
    """
    arrays = _RowNames(text)
    formula = summed_terms(node, arrays.add, letter)
    _, result = step(formula, arrays.spelled([formula], glyphs))
    ends = step_places(node, [CarryName("")]).ends
    return _sum(ends, formula, result, glyphs, letter)


def _sum(ends: tuple[Size, Size], terms: Node, text: str, glyphs: Glyphs, letter: str) -> str:
    first, last = map(glyphs.size, ends)
    inside = rf"\left({text}\right)" if terms.op.name in ("add", "neg") else text
    return rf"\sum_{{{letter} = {first}}}^{{{last}}} {inside}"


def recurrence_rows(
    node: Node,
    names: Sequence[CarryName],
    glyphs: Callable[[Iterable[str]], Glyphs],
    text: Callable[[Node], str],
    step: _Step,
    letter: str,
    called: RecurrenceNames | None = None,
    sums: Sequence[Node] = (),
) -> tuple[list[str], list[str]]:
    """Return the rows of a recurrence, and sums over its steps.

    Args:
        node: the recurrence.
        names: the names of its carries.
        glyphs: a function that returns the glyphs of names and sizes, given names of parts.
        text: a function that returns a first value or an array of rows as LaTeX.
        step: a function that returns a formula of the step as LaTeX, given the texts of values and rows, with the rows
            of its parts.
        letter: the name of the position.
        called: the names that parts have, also in the text; None if ``step`` gives names to parts.
        sums: recurrences that sum over the steps.
    """
    arrays = _RowNames(text)
    terms = [summed_terms(s, arrays.add, letter, (node, names)) for s in sums]

    def parts(formulas: Sequence[Node]) -> Mapping[Node, str]:
        if called is None:
            return {}
        named = named_parts(formulas, called, arrays.add, letter, in_sums=True)
        return {f: name for f, name in named.items() if f.dtype != "bool"}

    places = step_places(node, names)
    found = formulas_with_parts(node, names, arrays.add, parts, letter, terms)
    known = glyphs({name.partition("[")[0] for name in found.parts.values()})
    formulas = [*found.values.values(), *found.parts, *terms]
    spelled = arrays.spelled([*formulas, *([found.condition] if found.condition is not None else [])], known)

    def side(name: str) -> str:
        base, _, place = name.partition("[")
        return entry_text(with_accent(known.name(base)), place[:-1] or letter)

    marks = {n: (side(name), ATOM) for n, name in found.parts.items()}
    rows = [
        f"{side(f'{names[k].name}[{known.size(at)}]')} &= {text(node.args[k])}" for k, at in places.starts
    ]
    defined = [
        (name, n, {m: mark for m, mark in marks.items() if m is not n}) for n, name in found.parts.items()
    ]
    defined += [(name, n, marks) for name, n in found.values.items() if found.parts.get(n) != name]
    for name, formula, others in defined:
        own, result = step(formula, {**spelled, **others})
        rows += [*own, f"{side(name)} &= {result}"]
    first, end = map(known.size, places.ends)
    span = f"{letter} = " + (rf"{end}, \dots, {first}" if node.params[1] else rf"{first}, \dots, {end}")
    if found.condition is not None:
        until = found.condition
        word, shown = ("while", until.args[0]) if until.op.name == "not_" else ("until", until)
        own, holds = step(shown, spelled)
        rows[-1:] = [*own, rows[-1]]
        span = rf"\text{{{word} }} {holds},\ \text{{at most }} {known.size(places.length)}"
    shown_terms = [step(t, {**spelled, **marks})[1] for t in terms]
    totals = [_sum(places.ends, *pair, known, letter) for pair in zip(terms, shown_terms, strict=True)]
    return [*rows[:-1], rf"{rows[-1]}, \quad {span}"], totals
