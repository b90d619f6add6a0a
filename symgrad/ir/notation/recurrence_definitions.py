"""The lines that define the recurrences in formulas, apart from the program to which the formulas belong."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import NamedTuple

from symgrad.ir.body import Body, StepNotation, carry_values
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.arrays import write_call
from symgrad.ir.notation.lags import lags_in_text
from symgrad.ir.notation.literals import ATOM, Part
from symgrad.ir.notation.printer import ONE_LINE, definition_lines, expression_text, parts_named, short_text
from symgrad.ir.notation.recurrence_names import NamedStep, RecurrenceNames, name_recurrences
from symgrad.ir.notation.recurrences import (
    CarryName,
    is_recurrence,
    joined_lines,
    recurrence_lines,
    search_of,
)
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import topological
from symgrad.ir.types import NAME


class RecurrenceDefinitions(NamedTuple):
    """The recurrences in formulas.

    Args:
        names: the arrays that recurrences compute, with their names.
        lines: the lines of each recurrence, in evaluation order.
        carries: the names of the carries of each recurrence.
        called: the names in use.
    """

    names: dict[Node, str]
    lines: dict[Node, list[str]]
    carries: dict[Node, list[CarryName]]
    called: RecurrenceNames

    def steps(self) -> Iterator[tuple[Node, NamedStep]]:
        """Yield each recurrence whose steps can be named, with its step over the names of its values."""
        for node, carries in self.carries.items():
            name = next(c.name for c in carries if not c.back)
            step = self.called.step_of(name, expression_text, self.called.letter(node))
            if step is not None:
                yield node, step


def recurrence_definitions(
    roots: Sequence[Node],
    names: Mapping[Node, str] = {},
    steps: Mapping[Body, StepNotation] = {},
    spelled: Mapping[Node, str] = {},
) -> RecurrenceDefinitions:
    r"""Return names for the recurrences in formulas, and the lines that define them.

    Args:
        roots: the formulas.
        names: the names of nodes, which the lines read.
        steps: how the program writes the steps of recurrences.
        spelled: other spellings of numbers, and of calls.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> root = sg.fori_loop(1, 4, lambda k, z: (z + x / z) / 2, x)
        >>> for lines in recurrence_definitions([root.node]).lines.values():
        ...     print("\n".join(lines))
        h[0] = x
        h[t] = (h[t-1] + x/h[t-1])/2 for t in 1..3
    """
    order = topological(roots)
    if not any(map(is_recurrence, order)):
        return RecurrenceDefinitions({}, {}, {}, RecurrenceNames(set()))
    own = {n: name for n, name in names.items() if name.isidentifier()}
    read = [n.name for n in order if n.op is SYMBOL]
    taken = {*read, *names.values(), *names_of(*(n.shape for n in order))}
    called = RecurrenceNames(taken, steps=steps)
    joined = lags_in_text([*roots, *(n for n in order if n in own)])
    loops = name_recurrences(order, own, called, joined, expression_text)
    # The values of carries that keep those of another one are rows of an array, but not in searches.
    rows: dict[Node, str] = {}
    for node, some in joined.items():
        if search_of(node.params[-1]) is not None:
            continue
        arrays = {one.array: loops.names[one.array] for one in some}
        for one in some:
            rows |= {v: expression_text(r, arrays) for v, r in one.rows(one.array).items()}
        values = [rows.get(v) or loops.names[v] for v in carry_values(node)]
        rows[node] = f"({', '.join(values)})"
    texts = {**spelled, **names, **loops.names}
    lines = {node: definition_lines(node, carries, called, texts) for node, carries in loops.lines.items()}
    return RecurrenceDefinitions({**loops.names, **rows}, lines, loops.lines, called)


def named_parts(
    nodes: Sequence[Node], called: RecurrenceNames, text: Callable[[Node], str], letter: str, *, in_sums: bool
) -> dict[Node, str]:
    """Return names for long common parts of formulas of a step, and for those that have names within the step.

    Args:
        nodes: the formulas.
        called: the names of recurrences.
        text: a function that returns an array as text.
        letter: the name of the position.
        in_sums: whether sums over the steps read parts; then their names, S[t], are arrays, and no longer free.
    """
    formulas = called.formulas(text, letter)
    own = {f: name for f, name in formulas.items() if name not in called.arrays}
    found = parts_named(nodes, {}, called.taken, own)
    if in_sums:
        called.arrays.update(found.values())
        called.taken.update(found.values())
    return found


_LETTERS = "kjilmnpq"
_WORD = re.compile(NAME)


def names_inside(node: Node, taken: Collection[str] = ()) -> tuple[list[str], str]:
    """Return names for the carries of a recurrence inside of a step, and for its positions.

    Args:
        node: the recurrence, over the names of the step.
        taken: further names in use.
    """
    body: Body = node.params[-1]
    used = {*taken, *(w for s in topological([node]) if s.op is SYMBOL for w in _WORD.findall(s.name))}
    base, carries = "inner" if body.height == 1 else "middle", len(body.carries)
    # Letters that are no positions: in LaTeX, a value has the letter and the position as subscripts.
    several = (f"{base}_{c * repeated}" for repeated in count(1) for c in "abcdefgh")
    free = (name for name in chain([base] if carries == 1 else [], several) if name not in used)
    first = (body.height - 1) % len(_LETTERS)
    letters = chain(_LETTERS[first:], _LETTERS, (f"{_LETTERS[0]}_{k}" for k in count(1)))
    return list(islice(free, carries)), next(c for c in letters if c not in used)


def write_inside(node: Node, _names: Container[Node]) -> tuple[list[Part], int]:
    """Return the lines of a recurrence in parentheses, for places where a program cannot have lines, such as a step."""
    names, letter = names_inside(node)
    lines, _ = recurrence_lines(
        node, list(map(CarryName, names)), lambda n, _: expression_text(n), lambda _: {}, letter
    )
    return [f"({joined_lines(lines)})"], ATOM


def write_part(node: Node, names: Container[Node]) -> tuple[list[Part], int]:
    """Return one carry of a recurrence inside of a step: the name of the carry after the lines, or after their name."""
    whole = node.args[0]
    if not is_recurrence(whole):
        return write_call(node, names)
    return [(whole, ATOM, False), f".{names_inside(whole)[0][node.params[0]]}"], ATOM


def short_lines(
    node: Node,
    names: Mapping[Node, str] = {},
    spelled: Mapping[Node, str] = {},
    longest: int = ONE_LINE,
) -> str | None:
    """Return a node as an expression, with the lines of its recurrences below; None if that is too long.

    Args:
        node: the node.
        names: names of nodes.
        spelled: other spellings of numbers, and of calls.
        longest: the number of characters of the expression.
    """
    found = recurrence_definitions([node], names, {}, spelled)
    text = short_text(node, {**spelled, **names, **found.names}, longest)
    if text is None or not found.lines:
        return text
    return "\n".join([text, "where", *(f"  {line}" for lines in found.lines.values() for line in lines)])
