"""Formulas over the names of a program, as printers take them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from symgrad.ir.body import carry_values, pack_values
from symgrad.ir.graph import Node, apply, symbol
from symgrad.ir.listing import Listing
from symgrad.ir.notation.lags import carry_names, named_arrays, with_lags
from symgrad.ir.notation.printer import expression_text, parts_named
from symgrad.ir.notation.recurrences import CarryName, is_recurrence, letter_for, names_for, recurrence_lines
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.pretty.domains import Domains
from symgrad.pretty.forms.calls import Notation
from symgrad.pretty.forms.numbers import Literals
from symgrad.pretty.forms.positions import readings
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
        return formulas_text(self.spelling, titles, self.results, self.lines, self.known)


def formulas_text(
    spelling: Notation,
    titles: Sequence[str],
    results: Sequence[Node],
    lines: Sequence[tuple[Node, Node]] = (),
    known: Collection[str] = (),
) -> str:
    """Return formulas after titles, then the lines of the names and the recurrences that they read.

    Args:
        spelling: the notation.
        titles: the beginnings of the formulas.
        results: the formulas.
        lines: the new names with their bodies; each is above those that it reads.
        known: names in use.
    """
    text = spelling.text

    def loop_lines(node: Node, names: Sequence[CarryName], _: Sequence[Node], taken: set[str]) -> list[str]:
        return recurrence_lines(
            node,
            names,
            lambda n, more: expression_text(n, {**spelling.texts, **more}),
            lambda nodes: parts_named(nodes, {}, taken),
            letter_for(taken),
        )

    shown, below = lines_below(results, lines, known, loop_lines, lambda n, body: f"{n.name} = {text(body)}")
    found = [f"{title}{text(r)}" for title, r in zip(titles, shown, strict=True)]
    return "\n".join([*found, *(["where", *(f"  {line}" for line in below)] if below else [])])


def lines_below(
    results: Sequence[Node],
    lines: Sequence[tuple[Node, Node]],
    known: Collection[str],
    loop_lines: Callable[[Node, Sequence[CarryName], Sequence[Node], set[str]], list[str]],
    line: Callable[[Node, Node], str],
) -> tuple[Sequence[Node], list[str]]:
    """Return formulas with names for recurrences, and all lines below them.

    Args:
        results: the formulas.
        lines: new names with their bodies.
        known: names in use.
        loop_lines: a function that returns the lines of a recurrence, given the names of its carries, the symbols of
            their arrays, and all names in use.
        line: a function that returns the line of a name and its body.
    """
    roots, lags = with_lags([*results, *(body for _, body in lines)])
    results, lines = (
        roots[: len(results)],
        [(name, body) for (name, _), body in zip(lines, roots[len(results) :], strict=True)],
    )
    loops = [n for n in topological(roots) if is_recurrence(n)]
    if not loops:
        return results, [line(name, body) for name, body in lines]
    taken = {*known, *(s.name for s in symbols_of(roots)), *(name.name for name, _ in lines)}
    table: dict[Node, Node] = {}
    written: dict[Node, list[str]] = {}
    read: dict[Node, Sequence[Node]] = {name: (body,) for name, body in lines}
    for node in loops:
        args = tuple(substitute(node.args, table))
        changed = apply(node.op, args, node.params)
        names = names_for(changed, {}, taken)
        some = lags.get(node, ())
        arrays = named_arrays(node, some)
        own = [symbol(Declaration(n, shape=a.shape)) for n, a in zip(names, arrays, strict=True)]
        shown = loop_lines(changed, carry_names(names, some), own, taken)
        first, *others = own
        written[first], read[first] = shown, args
        for other in others:
            written[other], read[other] = [], (first,)
        table.update(zip(arrays, own, strict=True))
        for one in some:
            table.update(one.rows(table[one.array]))
        table[node] = pack_values([table[v] for v in carry_values(node)], 1)
    for name, body in lines:
        (new,) = substitute([body], table)
        read[name], written[name] = (new,), [line(name, new)]
    order = postorder(read, lambda n: [s for s in topological(read[n]) if s in read])
    return substitute(results, table), [line for name in reversed(order) for line in written[name]]


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

    def __str__(self) -> str:
        """Return the formula, then the lines of the recurrences that it reads."""
        return formulas_text(self.spelling, [""], [self.formula], known=self.known)

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
