"""Choose the printed lines: inline definitions that are short or read once, and name long common subexpressions.

The results come first, then the lines that they need; each line is below those that read it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import count as count_from

from symgrad.ir.body import divide
from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.recurrences import is_recurrence, recurrence_of, rows_read
from symgrad.ir.traverse import substitute, symbols_of, topological, uses
from symgrad.ir.types import BOOL, INT, REAL, Declaration
from symgrad.ops.array.layout import slice_of
from symgrad.pretty.chain_rule import Lines
from symgrad.pretty.limits import LINE_CHARACTERS, SHARED_CHARACTERS
from symgrad.pretty.shortest import ShortestForms
from symgrad.support.traversal import postorder

_HOPELESS = 3 * LINE_CHARACTERS
"""A line with more characters gets no search for a shorter form."""


@dataclass(slots=True)
class FormulaLines:
    """Formulas for printing.

    Args:
        results: the formulas, over declared symbols and names.
        new: the lines that derivatives added, in evaluation order.
    """

    results: list[Node]
    new: dict[Node, Node]


def choose_bindings(lines: Lines, results: Sequence[Node]) -> FormulaLines:
    """Return results with the lines that they need."""
    forms = lines.forms
    bodies = dict(lines.bodies)
    tops: dict[Node, Node] = {
        symbol(Declaration(f"__result{k}", shape=r.shape)): r for k, r in enumerate(results)
    }
    bodies.update(tops)
    for top, result in tops.items():  # if a result is a line, it takes the body of this line
        if result in bodies:
            bodies[top] = bodies[result]
    _inline(bodies, tops, forms)
    needed = _needed(bodies, tops)
    # A result that other results read keeps its own line.
    bodies.update({top: result for top, result in tops.items() if result in needed})
    share(bodies, lambda: [*_needed(bodies, tops), *tops], lines)
    needed = _needed(bodies, tops)
    return FormulaLines([bodies[t] for t in tops], {n: bodies[n] for n in needed})


def _needed(bodies: dict[Node, Node], tops: Collection[Node]) -> list[Node]:
    """Return the lines that results read, in evaluation order."""
    order = postorder(tops, lambda name: [n for n in topological([bodies[name]]) if n in bodies])
    return [n for n in order if n not in tops]


def _inline(bodies: dict[Node, Node], tops: dict[Node, Node], forms: ShortestForms) -> None:
    """Inline lines as long as the text gets shorter, or a line that is read once fits into the line that reads it."""
    while True:
        needed = _needed(bodies, tops)
        readers: dict[Node, list[tuple[Node, int]]] = {}
        for name in (*needed, *tops):
            count = uses([bodies[name]])
            for n in topological([bodies[name]]):
                if n in bodies:
                    readers.setdefault(n, []).append((name, count[n]))
        loops = (n for n in topological([bodies[n] for n in (*needed, *tops)]) if is_recurrence(n))
        kept = {x for loop in loops for x in rows_read(loop)}  # steps read rows of names
        for name in needed:
            by = readers[name]
            if len(by) > 3 or name in kept:
                continue
            raw = {r: substitute([bodies[r]], {name: bodies[name]})[0] for r, _ in by}
            if max(map(forms.length, raw.values())) > _HOPELESS:
                continue
            left = len(name.name) + 3 + sum(forms.length(bodies[n]) for n in (name, *(r for r, _ in by)))
            once = len(by) == 1 and by[0][1] == 1
            most = forms.length(bodies[by[0][0]]) if once else 0  # a line that is already long may stay long
            put: dict[Node, Node] = {}
            for reader, line in raw.items():
                put[reader] = forms.best([line])
                left -= forms.length(put[reader])
                if left <= 0 or forms.length(put[reader]) > max(LINE_CHARACTERS, most):
                    break
            else:
                bodies.update(put)
                break
        else:
            return


def share(
    bodies: dict[Node, Node],
    shown: Callable[[], Sequence[Node]],
    lines: Lines,
    least: int = SHARED_CHARACTERS,
) -> None:
    """Name long common subexpressions.

    Args:
        bodies: the bodies of lines; new lines are added, and the others read them.
        shown: a function that returns the printed lines.
        lines: the program, and the length of a formula in it.
        least: the number of characters that a new name must save.
    """
    forms = lines.forms
    taken = (
        set(lines.words.names)
        | {n.name for n in bodies}
        | {n.name for n in symbols_of([*bodies.values(), *lines.words.bodies.values()])}
    )
    made: list[Node] = []
    while True:
        names = shown()
        count: dict[Node, int] = {}
        for name in names:
            for n, k in uses([bodies[name]]).items():
                count[n] = count.get(n, 0) + (k if n is not bodies[name] else 0)
        loops = [n for n in count if is_recurrence(n)]
        rows = {x for loop in loops for x in divide(loop)[1] if x.op is slice_of}  # written as x[t]
        best, saved = None, least
        for n, k in count.items():
            # Recurrences have names in any case: the lines below give them.
            if k == 1 or not n.args or n in bodies or n in rows:
                continue
            if not is_recurrence(n) and recurrence_of(n) is None:
                gain = (k - 1) * forms.length(n) - 2 * k - 6
                if forms.length(n) >= SHARED_CHARACTERS and gain > saved:
                    best, saved = n, gain
        if best is None:
            break
        made.append(_name_for(f"__shared{len(made)}", best))
        for name in names:
            bodies[name] = substitute([bodies[name]], {best: made[-1]})[0]
        bodies[made[-1]] = best
    table: dict[Node, Node] = {}
    free = (f"t{k}" for k in count_from(1) if f"t{k}" not in taken)
    for name in made:
        readers = {n: k for n in shown() if (k := uses([bodies[n]]).get(name, 0))}
        if sum(readers.values()) == 1:  # only a later common subexpression reads this one
            (reader,) = readers
            bodies[reader] = substitute([bodies[reader]], {name: bodies.pop(name)})[0]
        elif readers:
            table[name] = _name_for(next(free), name)
    lines_before = list(bodies.items())
    bodies.clear()
    bodies.update({table.get(n, n): substitute([body], table)[0] for n, body in lines_before})


def _name_for(name: str, value: Node) -> Node:
    """Return a symbol for a value: a number, a whole number or a condition."""
    return symbol(Declaration(name, {"bool": BOOL, "int": INT}.get(value.dtype, REAL), value.shape))
