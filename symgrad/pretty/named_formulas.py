"""Formulas over the names of a program, as printers take them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from symgrad.autodiff.rows.formulas import array_of_row, reads_row
from symgrad.ir.body import carry_values, pack_values
from symgrad.ir.graph import Node, apply, symbol
from symgrad.ir.listing import Listing
from symgrad.ir.notation.lags import carry_names, named_arrays, with_lags
from symgrad.ir.notation.literals import size_text
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.notation.recurrence_definitions import named_parts
from symgrad.ir.notation.recurrence_names import RecurrenceNames
from symgrad.ir.notation.recurrences import (
    CarryName,
    is_recurrence,
    position_text,
    recurrence_lines,
    row_lines,
    separate_rows,
    sliced_rows,
    step_formulas,
    step_places,
    summed,
    summed_terms,
)
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.pretty.domains import Domains
from symgrad.pretty.forms.calls import Notation
from symgrad.pretty.forms.numbers import Literals
from symgrad.pretty.forms.positions import readings
from symgrad.pretty.forms.steps import with_rows
from symgrad.pretty.named_program import NamedProgram
from symgrad.support.traversal import postorder


@dataclass(frozen=True, slots=True)
class NamedFormulas:
    """Formulas over names.

    Args:
        results: one for each derivative.
        lines: the new names with their bodies; each is above those that it reads.
        slopes: for lines that are derivatives, the value and the variables.
        spelling: the notation of the formulas.
        meaning: the results over declared symbols.
        known: all names of the program.
    """

    results: tuple[Node, ...]
    lines: tuple[tuple[Node, Node], ...]
    slopes: Mapping[Node, tuple[str, tuple[str, ...]]]
    spelling: Notation
    meaning: tuple[Node, ...]
    known: frozenset[str]
    _over_names: Callable[[Node], Node]
    _domains: Domains
    words: NamedProgram

    def notes(self, before: Sequence[Node]) -> list[list[str]]:
        """Return for each result where it is defined although the derivative as built is undefined."""
        table: dict[Node, Node] = {}
        for name, body in reversed(self.lines):  # in evaluation order
            table[name] = substitute([body], table)[0]
        found = zip(before, substitute(self.results, table), strict=True)
        return [self._domains.gained(self._over_names(b), [r]) for b, r in found]

    def readings(self) -> list[list[str]]:
        """Return for each result possible shorter forms of its parts, and the assumptions that they need."""
        table = dict(self.lines)
        return [list(dict.fromkeys(self._readings(r, table))) for r in self.results]

    def _readings(self, result: Node, table: Mapping[Node, Node]) -> Iterator[str]:
        pending, seen = [result], {result}
        while pending:
            node = pending.pop()
            yield from readings(node, self._domains.is_inside, self._domains.bodies)
            fresh = [table[n] for n in topological([node]) if n in table and table[n] not in seen]
            pending += fresh
            seen.update(fresh)

    def __len__(self) -> int:
        """Return the number of characters of the text."""
        return len(self.text([""] * len(self.results)))

    def text(self, titles: Sequence[str]) -> str:
        """Return the formulas after titles such as ``d/dx = ``, then the lines that they need."""
        return formulas_text(self.spelling, titles, self.results, self.lines, self.known, self.words)

    def groups(self) -> list[NamedLines]:
        """Return the lines as text; values of steps that no step reads have lines of their own."""
        return _lines_of(self.spelling, self.results, self.lines, self.known, self.words, apart=True)[1]


class NamedLines(NamedTuple):
    """Lines that stand together: the line of one name, or those of a recurrence.

    Args:
        names: the symbols that the lines define.
        lines: the lines, as text or LaTeX.
        formulas: the formulas of the lines by their left sides; those of steps are over symbols such as h[t-1].
        of: for a recurrence, the name of the value whose adjoint or tangent each of ``names`` is; None for others.
    """

    names: Sequence[Node]
    lines: list[str]
    formulas: Mapping[str, Sequence[Node]]
    of: Sequence[str | None] = ()


def formulas_text(
    spelling: Notation,
    titles: Sequence[str],
    results: Sequence[Node],
    lines: Sequence[tuple[Node, Node]] = (),
    known: Collection[str] = (),
    words: NamedProgram | None = None,
) -> str:
    """Return formulas after titles, then the lines of the names and the recurrences that they read.

    Args:
        spelling: the notation.
        titles: the beginnings of the formulas.
        results: the formulas.
        lines: the new names with their bodies; each is above those that it reads.
        known: names in use.
        words: the program whose names the formulas read.
    """
    shown, groups = _lines_of(spelling, results, lines, known, words)
    found = [f"{title}{spelling.text(r)}" for title, r in zip(titles, shown, strict=True)]
    below = [f"  {line}" for group in reversed(groups) for line in group.lines]
    return "\n".join([*found, *(["where", *below] if below else [])])


def _lines_of(
    spelling: Notation,
    results: Sequence[Node],
    lines: Sequence[tuple[Node, Node]],
    known: Collection[str],
    words: NamedProgram | None,
    *,
    apart: bool = False,
) -> tuple[Sequence[Node], list[NamedLines]]:
    text = spelling.text

    def loop_lines(
        node: Node,
        names: Sequence[CarryName],
        _: Sequence[Node],
        called: RecurrenceNames,
        sums: Sequence[Node],
        rows_of: Mapping[str, Node],
    ) -> tuple[list[str], list[Node], list[str]]:
        letter = called.letter(node)
        terms = [summed_terms(s, text, letter, (node, names)) for s in sums]
        further = row_lines(rows_of, text, letter, (node, names))
        shown, below = recurrence_lines(
            node,
            names,
            lambda n, more: expression_text(n, {**spelling.texts, **more}),
            lambda nodes: named_parts(nodes, called, text, letter, in_sums=bool(sums or (apart and further))),
            letter,
            terms,
            {} if apart else further,
            further if apart else {},
        )
        totals = [symbol(Declaration(t, shape=s.shape[1:])) for t, s in zip(below, sums, strict=False)]
        return shown, totals, below[len(sums) :]

    return lines_read(results, lines, known, loop_lines, lambda n, body: f"{n.name} = {text(body)}", words)


def lines_read(
    results: Sequence[Node],
    lines: Sequence[tuple[Node, Node]],
    known: Collection[str],
    loop_lines: Callable[
        [Node, Sequence[CarryName], Sequence[Node], RecurrenceNames, Sequence[Node], Mapping[str, Node]],
        tuple[list[str], list[Node], list[str]],
    ],
    line: Callable[[Node, Node], str],
    words: NamedProgram | None = None,
) -> tuple[Sequence[Node], list[NamedLines]]:
    """Return formulas with names for recurrences, and the lines of all names, each below those that it reads.

    Args:
        results: the formulas.
        lines: new names with their bodies.
        known: names in use.
        loop_lines: a function that returns the lines of a recurrence, symbols for sums over its steps, and the lines of
            rows of arrays that do not stand among them, given the names of its carries, the symbols of their arrays,
            all names, the recurrences that sum, and those that compute rows of arrays, by name.
        line: a function that returns the line of a name and its body.
        words: the program whose names the formulas read.
    """
    roots, lags = with_lags([*results, *(body for _, body in lines)])
    results, lines = (
        roots[: len(results)],
        [(name, body) for (name, _), body in zip(lines, roots[len(results) :], strict=True)],
    )
    loops = [n for n in topological(roots) if is_recurrence(n)]
    if not loops:
        return results, [
            NamedLines([name], [line(name, body)], {name.name: [body]}) for name, body in reversed(lines)
        ]
    taken = {*known, *(s.name for s in symbols_of(roots)), *(name.name for name, _ in lines)}
    bodies = [] if words is None else [(name.name, body) for name, body in words.bodies.items()]
    called = RecurrenceNames(taken, bodies, {} if words is None else words.steps)
    table: dict[Node, Node] = {}
    groups: dict[Node, NamedLines] = {}
    terms: dict[Node, Sequence[Node]] = {}
    read: dict[Node, Sequence[Node]] = {name: (body,) for name, body in reversed(lines)}
    sums = _sums_over(loops, topological(roots))
    rows = _rows_over(loops, lines)
    inside = {n for some in (*sums.values(), *rows.values()) for n in some}
    own_lines = {loop: name for name, body in lines if (loop := recurrence_with_rows(body)) is not None}
    for node in loops:
        if node in inside:
            continue
        args = tuple(substitute(node.args, table))
        changed = apply(node.op, args, node.params)
        if node in own_lines:
            called.follow(changed)
        names = [own_lines[node].name] if node in own_lines else called.new(changed, {})
        some = lags.get(node, ())
        places = carry_names(names, some)
        called.add(node, places)
        arrays = named_arrays(node, some)
        own = [symbol(Declaration(n, shape=a.shape)) for n, a in zip(names, arrays, strict=True)]
        own = [own_lines[node]] if node in own_lines else own
        table.update(zip(arrays, own, strict=True))
        for one in some:
            table.update(one.rows(table[one.array]))
        table[node] = pack_values([table[v] for v in carry_values(node)], 1)
        totals = [apply(t.op, tuple(substitute(t.args, table)), t.params) for t in sums.get(node, {})]
        rows_of = {
            name.name: apply(x.op, tuple(substitute(x.args, table)), x.params)
            for x, name in rows.get(node, {}).items()
        }
        shown, symbols, below = loop_lines(changed, places, own, called, totals, rows_of)
        first, *others = own
        read[first] = (*args, *(x for r in rows_of.values() for x in r.args))
        defined = [n for n, place in zip(own, places, strict=True) if not place.back]
        letter, at = called.letter(changed), step_places(changed, places)
        step, _ = step_formulas(changed, places, expression_text, letter)
        formulas = {f"{places[k].name}[{size_text(p)}]": [args[k]] for k, p in at.starts}
        formulas |= {f"{places[k].name}[{position_text(letter, p)}]": [step[k]] for k, p in at.after.items()}
        further = row_lines(rows_of, expression_text, letter, (changed, places))
        if not below:
            formulas |= {left: [x] for left, x in further.items()}
        for name, shown_below, left in zip(rows.get(node, {}).values(), below, further, strict=False):
            groups[name] = NamedLines([name], [shown_below], {left: [further[left]]})
        read.update(dict.fromkeys(rows.get(node, {}).values(), (first,)))
        groups[first] = NamedLines(defined, shown, formulas, [called.value_of(n.name) for n in defined])
        read.update(dict.fromkeys(others, (first,)))
        for summing, ends, total in zip(totals, sums.get(node, {}).values(), symbols, strict=True):
            table.update(dict.fromkeys(ends, total))
            read[total] = (first,)
            terms[total] = [summed_terms(summing, expression_text, letter, (changed, places))]
    for name, body in lines:
        if name in own_lines.values() or any(name in some.values() for some in rows.values()):
            continue
        (new,) = substitute([body], table)
        shown = {name.name: [new, *(t for total in topological([new]) for t in terms.get(total, ()))]}
        read[name], groups[name] = (new,), NamedLines([name], [line(name, new)], shown)
    order = postorder(read, lambda n: [s for s in topological(read[n]) if s in read])
    return substitute(results, table), [groups[name] for name in order if name in groups]


def recurrence_with_rows(body: Node) -> Node | None:
    """Return the recurrence whose values are the rows of an array, as `with_rows` makes it; None for other arrays."""
    inner = body.args[0] if body.args and not is_recurrence(body) else body
    whole = bool(body.shape) and is_recurrence(inner) and body is with_rows(inner, body.shape[0])
    return inner if whole else None


def _sums_over(loops: Sequence[Node], order: Sequence[Node]) -> dict[Node, dict[Node, list[Node]]]:
    """Return for recurrences those that sum over their steps, with the nodes that read these sums."""
    found: dict[Node, dict[Node, list[Node]]] = {}
    for node in loops:
        ends = [n for n in order if node in n.args]
        if summed(node) is None or not all(reads_row(n, node, node.params[0]) for n in ends):
            continue
        below = {*topological(node.args)}
        over = next((x for x in reversed(loops) if x in below and x.params[0] == node.params[0]), None)
        if over is not None:
            found.setdefault(over, {})[node] = [n for n in order if array_of_row(n, node.params[0]) is node]
    return found


def _rows_over(loops: Sequence[Node], lines: Sequence[tuple[Node, Node]]) -> dict[Node, dict[Node, Node]]:
    """Return for recurrences those that compute rows of an array with a name from their values, with the name."""
    found: dict[Node, dict[Node, Node]] = {}
    for name, body in lines:
        node, first = sliced_rows(body)
        if first != 1 or not is_recurrence(node) or separate_rows(node) is None:
            continue
        below = {*topological(node.args)}
        over = next((x for x in reversed(loops) if x in below and x.params[0] == node.params[0]), None)
        if over is not None:
            found.setdefault(over, {})[node] = name
    return found


def join_formulas(
    groups: Sequence[NamedFormulas], over_names: Callable[[Node], Node], domains: Domains
) -> NamedFormulas:
    """Return formulas of several groups, each over some lines of one program, with common new lines.

    Args:
        groups: the formulas.
        over_names: a function that puts the names of the whole program into a node.
        domains: the domains of its lines.
    """
    whole = groups[0]
    for more in groups[1:]:
        slopes = {**whole.slopes, **more.slopes}
        bodies = dict(whole.lines)
        taken = {n.name for n in (*bodies, *dict(more.lines))}
        fresh = (f"t{k}" for k in count(1) if f"t{k}" not in taken)
        # Derivatives of one name are equal; other new names may stand for different parts.
        renamed = {
            n: symbol(Declaration(next(fresh), shape=n.shape))
            for n, body in more.lines
            if n in bodies and n not in slopes and bodies[n] is not body
        }
        added = substitute([*dict(more.lines).values(), *more.results], renamed)
        names = [renamed.get(n, n) for n, _ in more.lines]
        lines = {n: body for n, body in whole.lines if n not in names} | dict(zip(names, added, strict=False))
        whole = NamedFormulas(
            (*whole.results, *added[len(names) :]),
            tuple(lines.items()),
            slopes,
            Notation(
                {**whole.spelling.literals, **more.spelling.literals},
                {**whole.spelling.calls, **more.spelling.calls},
                {**whole.spelling.numbers, **more.spelling.numbers},
            ),
            (*whole.meaning, *more.meaning),
            whole.known | more.known,
            over_names,
            domains,
            groups[0].words,
        )
    return whole


@dataclass(frozen=True, slots=True)
class NamedFormula:
    """A formula over names.

    Args:
        formula: the formula.
        spelling: the notation of the formula.
        known: all names of the program.
    """

    formula: Node
    spelling: Notation
    known: frozenset[str]
    _over_names: Callable[[Node], Node]
    _domains: Domains
    words: NamedProgram

    def __str__(self) -> str:
        """Return the formula, then the lines of the recurrences that it reads."""
        return formulas_text(self.spelling, [""], [self.formula], known=self.known, words=self.words)

    def notes(self, before: Node) -> list[str]:
        """Return where the formula is defined although the derivative as built is undefined."""
        return self._domains.gained(self._over_names(before), [self.formula])


@dataclass(frozen=True, slots=True)
class NamedConstants:
    """A program in which long numbers are symbols, named as in the program, or otherwise as they are spelled.

    So no formula of this program multiplies them out, as in `name_derivatives`.

    Args:
        listing: the program: its lines over inputs and these symbols.
        nodes: the requested nodes, over these inputs and symbols.
        numbers: the value of each symbol.
        literals: the spelling of its numbers.
    """

    listing: Listing
    nodes: tuple[Node, ...]
    numbers: Mapping[Node, Node]
    literals: Literals

    def plain(self, node: Node) -> Node:
        """Return a formula with the numbers inserted."""
        return substitute([node], self.numbers)[0]
