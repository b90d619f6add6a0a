"""Write recurrences as lines of programs: first values, and the formulas of a step with the range of the steps.

h[0] = h0
h[t] = tanh(W@h[t-1] + U@x[t-1] + b) for t in 1..T

A recurrence whose values all stay once a condition holds ends with `until c, at most N` instead. A carry that keeps
the value of the step before is no line of its own: with F[0] = a, F[1] = b stands F[n] = F[n-1] + F[n-2] for n in 2..9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import NamedTuple

from symgrad.ir.body import Body, carry_values, pack_values
from symgrad.ir.graph import OPS, Node, as_node, number, symbol
from symgrad.ir.notation.common_signs import with_common_signs
from symgrad.ir.notation.literals import size_text
from symgrad.ir.sizes import Size, bare_size, size_product, size_sum
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import INT, REAL, Declaration

RECURRENCE = "recurrence"
"""The name of the op."""


def is_recurrence(node: Node) -> bool:
    """Tell whether a node is a recurrence."""
    return node.op.name == RECURRENCE


def has_recurrences(nodes: Sequence[Node]) -> bool:
    """Tell whether formulas contain recurrences."""
    return any(map(is_recurrence, topological(nodes)))


def recurrence_of(node: Node) -> tuple[Node, int] | None:
    """Return the recurrence of whose carries a node is one, and its number; None for other nodes."""
    if node.op.name == "part" and is_recurrence(node.args[0]):
        return node.args[0], node.params[0]
    return (node, 0) if is_recurrence(node) and len(node.params[-1].carries) == 1 else None


class CarryName(NamedTuple):
    """How the values of a carry are written: as those of a name, some steps back, from some position on."""

    name: str
    back: int = 0
    first: int = 0


def pack_names(node: Node, names: Sequence[str]) -> Node:
    """Return the values of all carries side by side, as a formula over the names of the carries."""
    parts = (
        symbol(Declaration(name, shape=c.shape)) for name, c in zip(names, carry_values(node), strict=True)
    )
    return pack_values(list(parts), 1)


def letter_for(taken: Iterable[str]) -> str:
    """Return a letter for positions that is no name."""
    used = set(taken)
    return next(c for c in chain("tskijn", (f"t_{k}" for k in count(1))) if c not in used)


def rows_read(node: Node) -> list[Node]:
    """Return the arrays whose rows the steps of a recurrence read: those that need a name."""
    body: Body = node.params[-1]
    first = len(body.carries)
    rows = node.args[first : first + len(body.rows)]
    return [sliced_rows(x)[0] for x in rows if _first_count(x) is None]


def recurrence_lines(
    node: Node,
    names: Sequence[CarryName],
    text: Callable[[Node, Mapping[Node, str]], str],
    parts: Callable[[Sequence[Node]], Mapping[Node, str]],
    letter: str,
    sums: Sequence[Node] = (),
    rows: Mapping[str, Node] = {},
    apart: Mapping[str, Node] = {},
) -> tuple[list[str], list[str]]:
    """Return the lines of a recurrence, and sums over its steps; parts that these read have positions: S[t].

    Lines apart follow the sums.

    Args:
        node: the recurrence.
        names: the names of its carries.
        text: a function that returns a node as an expression, given names of further nodes.
        parts: a function that returns the parts of formulas that get names of their own, in order.
        letter: the name of the position.
        sums: what is summed over the steps, over names of values and rows.
        rows: further values that the steps compute and do not read, by their left sides, over the same names.
        apart: such values that have lines of their own.
    """
    places = step_places(node, names)
    found = [f"{names[k].name}[{size_text(at)}] = {text(node.args[k], {})}" for k, at in places.starts]
    step = formulas_with_parts(
        node, names, lambda x: text(x, {}), parts, letter, [*sums, *apart.values()], rows
    )
    known = step.parts
    lines = [
        f"{name} = {text(n, {m: k for m, k in known.items() if m is not n})}" for n, name in known.items()
    ]
    lines += [f"{place} = {text(r, known)}" for place, r in step.values.items() if known.get(r) != place]
    first, end = map(size_text, places.ends)
    span = f"for {letter} in {end}..{first}" if node.params[1] else f"for {letter} in {first}..{end}"
    if step.condition is not None:
        span = f"until {text(step.condition, {})}, at most {size_text(places.length)}"
    line = f"{'; '.join(lines)} {span}"
    found.append(line if len(lines) == 1 or len(line) <= _LINE else f"{_BREAK.join(lines)} {span}")
    outside = [text(f, known) for f in step.outside]
    totals = [f"sum({t}, {letter}={first}..{end})" for t in outside[: len(sums)]]
    lines_apart = zip(apart, outside[len(sums) :], strict=True)
    return found, [*totals, *(f"{left} = {t} {span}" for left, t in lines_apart)]


class StepFormulas(NamedTuple):
    """The formulas of a step.

    Args:
        parts: formulas that are parts of others, in order, each with its left side: S, or S[t].
        values: the formulas of the values that the step computes, by their left sides.
        condition: the condition with which all values stay; None without one.
        outside: what is summed over the steps, or computed in lines apart.
    """

    parts: dict[Node, str]
    values: dict[str, Node]
    condition: Node | None
    outside: list[Node]


def formulas_with_parts(
    node: Node,
    names: Sequence[CarryName],
    text: Callable[[Node], str],
    parts: Callable[[Sequence[Node]], Mapping[Node, str]],
    letter: str,
    sums: Sequence[Node] = (),
    rows: Mapping[str, Node] = {},
) -> StepFormulas:
    """Return the formulas of a step with names for parts, as `recurrence_lines` has them.

    Args:
        node: the recurrence.
        names: the names of its carries.
        text: a function that returns an array as text.
        parts: as for `recurrence_lines`, like the others.
        letter: the name of the position.
        sums: what is summed over the steps, or computed in lines apart.
        rows: as for `recurrence_lines`.
    """
    step, condition = step_formulas(node, names, text, letter)
    places = step_places(node, names).after
    values = {f"{names[k].name}[{position_text(letter, at)}]": step[k] for k, at in places.items()} | {**rows}
    signed = with_common_signs([*values.values(), *sums])
    values, sums = dict(zip(values, signed, strict=False)), signed[len(values) :]
    # A part that is the value of a carry is read under its name.
    called = {formula: place for place, formula in [*values.items()][::-1]}
    known = dict(parts([*values.values(), *sums]))
    outside = {*topological(sums, until=known)}
    if any(n.dtype == "bool" for n in outside & known.keys()):  # an array has no truth values
        known = {n: name for n, name in known.items() if n.dtype != "bool"}
        outside = {*topological(sums, until=known)}
    for n, name in known.items():
        known[n] = called.get(n) or (f"{name}[{letter}]" if n in outside else name)
    return StepFormulas(known, values, condition, sums)


_LINE = 100  # characters of a line with several definitions
_BREAK = "; \\\n    "


def joined_lines(lines: Iterable[str]) -> str:
    """Return the lines of a recurrence in one line."""
    return "; ".join(lines).replace(_BREAK, "; ")


class StepPlaces(NamedTuple):
    """The positions in the lines of a recurrence.

    Args:
        starts: the carries with the positions of their first values, in the order of their lines.
        after: for each carry with a line in the step, the position that a step computes, minus that of the step.
        ends: the positions of the first and the last step, the smaller one first.
        length: the number of steps.
    """

    starts: list[tuple[int, Size]]
    after: dict[int, int]
    ends: tuple[Size, Size]
    length: Size


def step_places(node: Node, names: Sequence[CarryName]) -> StepPlaces:
    """Return the positions in the lines of a recurrence."""
    length, reverse = node.params[0], node.params[1]
    length = bare_size(length)  # the reader takes the maximum with 0 again
    base = _first_step(node, names) - 1
    after = {k: -1 if reverse else n.first - base for k, n in enumerate(names) if not n.back}
    starts: list[tuple[int, Size]] = []
    for own in after:
        group = sorted((n.back, k) for k, n in enumerate(names) if n.name == names[own].name)
        starts += (
            [(k, size_sum([length, back])) for back, k in group]
            if reverse
            else [(k, names[k].first - back) for back, k in group[::-1]]
        )
    return StepPlaces(starts, after, (1 + base, size_sum([length, base])), length)


def _first_step(node: Node, names: Sequence[CarryName]) -> int:
    """Return the position of the first step: the first number, if the steps read their position."""
    _, reverse, body = node.params
    rows = node.args[len(body.carries) :][: len(body.rows)]
    counted = next((first for x in rows if (first := _first_count(x)) is not None), None)
    if reverse:
        return 1
    return 1 + min(name.first for name in names) if counted is None else counted


def step_formulas(
    node: Node, names: Sequence[CarryName], text: Callable[[Node], str], letter: str
) -> tuple[list[Node], Node | None]:
    """Return the formulas of a step over symbols that are named as programs write values and rows: h[t-1].

    The second result is the condition with which all values stay, on the values after the step; None without one.
    """
    body: Body = node.params[-1]
    found = None if node.params[1] else search_of(body)
    if found is None:
        return over_names(node, body.results, names, text, letter), None
    condition, results = found
    (after,) = over_names(node, [condition], names, text, letter, 1)
    return over_names(node, results, names, text, letter), after


def values_computed(
    node: Node, names: Sequence[CarryName], text: Callable[[Node], str], letter: str
) -> dict[Node, Node]:
    """Return the formulas of a step, each with the symbol that is named as its value is written: h[t]."""
    step, _ = step_formulas(node, names, text, letter)
    places = step_places(node, names).after
    return {
        step[k]: symbol(Declaration(f"{names[k].name}[{position_text(letter, at)}]", shape=step[k].shape))
        for k, at in places.items()
    }


def search_of(body: Body) -> tuple[Node, list[Node]] | None:
    """Return the condition with which all values of a step stay, and the formulas of the values otherwise."""
    conditions: set[Node] = set()
    found: list[Node] = []
    for carry, result in zip(body.carries, body.results, strict=True):
        if result.op.name != "where":
            return None
        condition, yes, no = result.args
        if yes is carry and condition.op.name != "not_":
            conditions.add(condition)
            found.append(no)
        elif no is carry:
            conditions.add(OPS["not_"](condition))
            found.append(yes)
        else:
            return None
    condition = conditions.pop()
    if conditions or condition.shape or set(body.carries).isdisjoint(topological([condition])):
        return None
    return condition, found


def over_names(
    node: Node,
    results: Sequence[Node],
    names: Sequence[CarryName],
    text: Callable[[Node], str],
    letter: str,
    ahead: int = 0,
) -> list[Node]:
    """Return formulas over the symbols of the body with names instead, as `step_formulas` has them."""
    named = names_in_step(node, names, text, letter, ahead)
    return [_without_division(r) for r in substitute(results, named)]


def names_in_step(
    node: Node, names: Sequence[CarryName], text: Callable[[Node], str], letter: str, ahead: int = 0
) -> dict[Node, Node]:
    """Return what a step has in place of the symbols of the body: symbols for values and rows, and operands.

    Args:
        node: the recurrence.
        names: the names of the carries.
        text: a function that returns an array as text.
        letter: the name of the position that the step computes.
        ahead: 1 for the step after it.
    """
    _, reverse, body = node.params
    carries, rows = len(body.carries), len(body.rows)
    given = node.args[carries:]
    t = symbol(Declaration(letter, INT))
    start = _first_step(node, names) - 1

    def marked(spelled: str, like: Node) -> Node:
        return symbol(Declaration(spelled, INT if like.dtype == "int" else REAL, like.shape))

    values: dict[Node, Node] = {}
    for name, carry in zip(names, body.carries, strict=True):
        before = name.back if reverse else name.first - start - name.back - 1 + ahead
        values[carry] = marked(f"{name.name}[{position_text(letter, before)}]", carry)
    for row, x in zip(body.rows, given[:rows], strict=True):
        counted = _first_count(x)
        if counted is not None:
            first = counted + ahead - start
            values[OPS["add"](row, as_node(1 - first))] = t
            values[row] = t if first == 1 else OPS["add"](t, number(first - 1))
        else:
            base, at = sliced_rows(x)
            array = text(base)
            array = array if array.isidentifier() else f"({array})"
            place = position_text(letter, size_sum([at, ahead - start - 1]))
            values[row] = marked(f"{array}[{place}]", row)
    return values | dict(zip(body.operands, given[rows:], strict=True))


def _without_division(x: Node) -> Node:
    """Return the whole number that a recurrence divides by 1, since its values are real."""
    whole = x.op.name == "div" and x.args[1].is_number(1) and x.args[0].dtype == "int"
    return x.args[0] if whole else x


def summed(node: Node) -> Node | None:
    """Return what each step of a recurrence adds to one sum, over the symbols of the body; None for other ones."""
    _, reverse, body = node.params
    (result, *others), start = body.results, node.args[0]
    while start.op.name == "broadcast_to":
        start = start.args[0]
    if others or reverse or result.op.name != "add" or not start.is_number(0):
        return None
    carry = body.carries[0]
    terms = [a for a in result.args if a is not carry]
    return terms[0] if len(terms) == 1 and carry not in topological(terms) else None


def separate_rows(node: Node) -> Node | None:
    """Return the value of each step of a recurrence whose steps read no values, over the symbols of the body.

    The result is None for other recurrences.
    """
    _, reverse, body = node.params
    result, *others = body.results
    return None if others or reverse or body.carries[0] in topological([result]) else result


def row_lines(
    rows: Mapping[str, Node],
    text: Callable[[Node], str],
    letter: str,
    over: tuple[Node, Sequence[CarryName]],
) -> dict[str, Node]:
    """Return the values of recurrences whose steps read no values as values of the steps of another one.

    Args:
        rows: these recurrences by the names of their values; the value of the first step has the position 0.
        text: a function that returns an array as text.
        letter: the name of the position.
        over: the other recurrence, and the names of its carries.
    """
    first = step_places(*over).ends[0]
    place = position_text(letter, size_product([-1, first]))
    return {f"{name}[{place}]": summed_terms(node, text, letter, over) for name, node in rows.items()}


def summed_terms(
    node: Node, text: Callable[[Node], str], letter: str, over: tuple[Node, Sequence[CarryName]] | None = None
) -> Node:
    """Return the terms of a recurrence that sums, or its values if its steps read none, over names of values and rows.

    Args:
        node: the recurrence.
        text: a function that returns an array as text.
        letter: the name of the position.
        over: another recurrence over whose steps it sums, and the names of its carries; by default over its own.
    """
    terms, own = summed(node) or separate_rows(node), [CarryName("")]
    assert terms is not None
    ahead = 0 if over is None else _first_step(node, own) - _first_step(*over)
    return over_names(node, [terms], own, text, letter, ahead)[0]


def position_text(letter: str, offset: Size) -> str:
    """Return a position some steps from that of the step: t-1."""
    if offset == 0:
        return letter
    text = size_text(offset)
    return f"{letter}{text}" if text.startswith("-") else f"{letter}+{text}"


def sliced_rows(x: Node) -> tuple[Node, Size]:
    """Return the array of which an array has consecutive rows, and the position of the first row; else itself and 0."""
    if x.op.name == "slice":
        first, *others = x.params[0]
        whole = (None, None, 1)
        begin = 0 if first[0] is None else first[0]
        if first[2] == 1 and all(o == whole for o in others) and not (isinstance(begin, int) and begin < 0):
            array, further = sliced_rows(x.args[0])
            return array, size_sum([begin, further])
    return x, 0


def _first_count(x: Node) -> int | None:
    """Return the first of rows that are consecutive whole numbers; None for other rows."""
    if x.op.name == "iota":
        return 0
    if x.op.name == "add" and any(a.op.name == "iota" for a in x.args):
        (first,) = (a for a in x.args if a.op.name != "iota") if x.args[0] is not x.args[1] else (x,)
        return int(first.value) if first.is_number() and first.dtype == "int" else None
    return None
