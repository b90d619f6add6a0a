r"""Recurrences as rows of an ``aligned`` environment: h_{0} &= 1, and h_{t} &= a h_{t-1}, \quad t = 1, \dots, T."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from symgrad.autodiff.rows.formulas import array_of_row, reads_row
from symgrad.ir.body import carry_values
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.contractions import subscript
from symgrad.ir.notation.literals import ADD, ATOM, MUL
from symgrad.ir.notation.recurrence_definitions import named_parts, names_inside
from symgrad.ir.notation.recurrence_names import RecurrenceNames
from symgrad.ir.notation.recurrences import (
    CarryName,
    formulas_with_parts,
    is_recurrence,
    row_lines,
    rows_read,
    step_places,
    summed,
    summed_terms,
)
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import topological
from symgrad.printing.latex.glyphs import Glyphs
from symgrad.printing.latex.pieces import Written, entry_text, with_accent, within


def arrays_with_entries(nodes: Iterable[Node]) -> list[str]:
    """Return the names of arrays whose rows the steps of recurrences among nodes read: x_{t-1}."""
    loops = [n for n in nodes if is_recurrence(n)]
    return [x.name for loop in loops for x in rows_read(loop) if x.op is SYMBOL]


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


class _Inside:
    """Writes the formulas of a step, with rows for the recurrences inside of it.

    Args:
        glyphs: as for `recurrence_rows`.
        step: as for `recurrence_rows`; the formulas that it is given have no recurrences inside.
        taken: names in use.
    """

    def __init__(self, glyphs: Callable[[Iterable[str]], Glyphs], step: _Step, taken: set[str]) -> None:
        self._glyphs, self._step, self._taken = glyphs, step, taken
        self._texts: dict[Node, Written] = {}
        self._ends: dict[Node, Size] = {}

    def step(self, formula: Node, more: Mapping[Node, Written]) -> tuple[list[str], str]:
        """Return a formula as LaTeX, and the rows of its parts and of recurrences that have no rows yet."""
        rows: list[str] = []

        def text(x: Node) -> str:
            own, result = self._step(x, {**more, **self._texts})
            rows.extend(own)
            return result

        def inner(r: Node, further: Mapping[Node, Written]) -> tuple[list[str], str]:
            return self._step(r, {**more, **self._texts, **further})

        order = topological([formula], until={*more, *self._texts} - {formula})
        for node in order:
            if not is_recurrence(node) or node in self._texts:
                continue
            names, letter = names_inside(node, self._taken)
            self._taken.update(names)
            glyphs = self._glyphs(self._taken)
            ends = ends_of_sum(node, order)
            if ends:
                total = sum_over_steps(node, glyphs, text, inner, letter)
                self._texts.update(dict.fromkeys(ends, (total, MUL)))
                continue
            own, _ = recurrence_rows(
                node, [*map(CarryName, names)], self._glyphs, text, inner, letter, self._taken
            )
            rows += own
            for array, name in zip(carry_values(node), names, strict=True):
                self._texts[array] = glyphs.name(name), ATOM
                self._ends[array] = 0 if node.params[1] else node.params[0]
        for array, end in self._ends.items():
            last = entry_text(self._texts[array][0], self._glyphs(self._taken).size(end)), ATOM
            self._texts |= {n: last for n in order if array_of_row(n, end) is array}
        for n in order:
            base, items = subscript(n, more) or (n, ())
            text_of_base = more[base][0] if base in more else ","
            # y_{t-1, 0} is an entry of y_{t-1}; t_{1, t} has no room for a further position.
            if items and "," not in text_of_base and all(isinstance(i, int) for i in items):
                self._texts[n] = entry_text(text_of_base, ", ".join(map(str, items))), ATOM
        result = text(formula)
        return rows, result


def ends_of_sum(node: Node, order: Sequence[Node]) -> list[Node]:
    """Return what reads the last value of a recurrence that sums; nothing if other values are read.

    Args:
        node: the recurrence.
        order: all nodes that may read it.
    """
    readers = [n for n in order if node in n.args]
    if summed(node) is None or not all(reads_row(n, node, node.params[0]) for n in readers):
        return []
    return [*readers, *(n for n in order if array_of_row(n, node.params[0]) is node)]


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
    _, result = _Inside(lambda _: glyphs, step, set()).step(formula, arrays.spelled([formula], glyphs))
    ends = step_places(node, [CarryName("")]).ends
    return _sum(ends, (result, _rank(formula)), glyphs, letter)


def _rank(terms: Node) -> float:
    return ADD if terms.op.name in ("add", "neg") else ATOM


def _sum(ends: tuple[Size, Size], terms: Written, glyphs: Glyphs, letter: str) -> str:
    first, last = map(glyphs.size, ends)
    inside = within(terms, MUL)
    return rf"\sum_{{{letter} = {first}}}^{{{last}}} {inside}"


def recurrence_rows(
    node: Node,
    names: Sequence[CarryName],
    glyphs: Callable[[Iterable[str]], Glyphs],
    text: Callable[[Node], str],
    step: _Step,
    letter: str,
    taken: set[str],
    called: RecurrenceNames | None = None,
    sums: Sequence[Node] = (),
    rows_of: Mapping[str, Node] = {},
    *,
    apart: bool = False,
) -> tuple[list[str], list[str]]:
    """Return the rows of a recurrence, and sums over its steps; rows apart follow these.

    Args:
        node: the recurrence.
        names: the names of its carries.
        glyphs: a function that returns the glyphs of names and sizes, given names of parts.
        text: a function that returns a first value or an array of rows as LaTeX.
        step: a function that returns a formula of the step as LaTeX, given the texts of values and rows, with the rows
            of its parts.
        letter: the name of the position.
        taken: all names in use; those of recurrences inside of the step are added.
        called: the names that parts have, also in the text; None if ``step`` gives names to parts.
        sums: recurrences that sum over the steps.
        rows_of: names of arrays, with recurrences whose steps read no values and compute their rows.
        apart: whether these arrays have rows of their own below.
    """
    arrays = _RowNames(text)
    terms = [summed_terms(s, arrays.add, letter, (node, names)) for s in sums]

    def parts(formulas: Sequence[Node]) -> Mapping[Node, str]:
        if called is None:
            return {}
        named = named_parts(formulas, called, arrays.add, letter, in_sums=True)
        return {f: name for f, name in named.items() if f.dtype != "bool"}

    places = step_places(node, names)
    further = row_lines(rows_of, arrays.add, letter, (node, names))
    within_steps, below = ({}, further) if apart else (further, {})
    found = formulas_with_parts(
        node, names, arrays.add, parts, letter, [*terms, *below.values()], within_steps
    )
    known = glyphs({name.partition("[")[0] for name in (*found.parts.values(), *rows_of)})
    terms, below = found.outside[: len(terms)], dict(zip(below, found.outside[len(terms) :], strict=True))
    formulas = [*found.values.values(), *found.parts, *found.outside]
    spelled = arrays.spelled([*formulas, *([found.condition] if found.condition is not None else [])], known)
    inside = _Inside(glyphs, step, taken)

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
        own, result = inside.step(formula, {**spelled, **others})
        rows += [*own, f"{side(name)} &= {result}"]
    first, end = map(known.size, places.ends)
    span = f"{letter} = " + (rf"{end}, \dots, {first}" if node.params[1] else rf"{first}, \dots, {end}")
    if found.condition is not None:
        until = found.condition
        word, shown = ("while", until.args[0]) if until.op.name == "not_" else ("until", until)
        own, holds = inside.step(shown, spelled)
        rows[-1:] = [*own, rows[-1]]
        span = rf"\text{{{word} }} {holds},\ \text{{at most }} {known.size(places.length)}"
    shown_terms = [(inside.step(t, {**spelled, **marks})[1], ATOM if t in marks else _rank(t)) for t in terms]
    totals = [_sum(places.ends, shown, known, letter) for shown in shown_terms]
    shown_below = [
        rf"{side(left)} &= {inside.step(f, {**spelled, **marks})[1]}, \quad {span}"
        for left, f in below.items()
    ]
    return [*rows[:-1], rf"{rows[-1]}, \quad {span}"], [*totals, *shown_below]
