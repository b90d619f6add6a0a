"""Steps of recurrences in the names that a program gives their values and parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symgrad.autodiff.recurrences import StepArrays
from symgrad.autodiff.rows import row_symbol
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.notation.recurrence_names import RecurrenceNames
from symgrad.ir.notation.recurrences import CarryName, names_in_step
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import neg
from symgrad.ops.scalar.elementary import sigmoid
from symgrad.ops.scalar.hyperbolic import sech, tanh
from symgrad.pretty.named_program import NamedProgram

_LETTER = "t"


class StepForms:
    """Finds short forms of steps, given the names of a program.

    Where S = sigmoid(u) is such a part, sigmoid(-u) is 1 - S, and where h[t] = tanh(u), sech(u)**2 is 1 - h[t]**2.

    Args:
        words: the program.
        best: a function that returns the shortest form of a formula.
        length: a function that returns the number of characters of a formula.
    """

    def __init__(
        self, words: NamedProgram, best: Callable[[Node], Node], length: Callable[[Node], int]
    ) -> None:
        bodies = [(name.name, body) for name, body in words.bodies.items()]
        names = RecurrenceNames({*words.names}, bodies, words.steps)
        self._best, self._length = best, length
        self._parts = names.formulas(expression_text, _LETTER)
        self._values = names.values(expression_text, _LETTER)
        self._arrays = words.names

    def shortest(
        self, steps: StepArrays, results: Sequence[Node], rows: dict[Node, Node]
    ) -> tuple[Sequence[Node], dict[Node, Node]]:
        """Return short forms of the formulas of a step, and the arrays of the rows that they read."""
        own = [CarryName(f"__carry{k}") for k in range(len(results))]
        names = names_in_step(steps.node, own, expression_text, _LETTER)
        names = {s: x for s, x in names.items() if s not in steps.constants()}
        named = substitute(results, names)
        meant = {x: s for s, x in names.items() if x.op is SYMBOL}
        rows = dict(rows)
        known: dict[Node, Node] = {}
        read = {*topological(named)}
        for formula, value in self._values.items():
            array = self._rows_of(value.loop, value.name, steps)
            if array is not None and not read.isdisjoint([formula, *_told_by(formula, value.place)]):
                known[formula] = value.place
                if value.place not in meant:
                    meant[value.place] = row_symbol(array, rows, steps.body.height)
        parts: dict[Node, Node] = {}
        for formula, name in self._parts.items():
            part = symbol(Declaration(name, shape=formula.shape))
            if formula in read and part not in parts:
                parts[part] = formula
                known[formula] = part
        found = [self._best(r) for r in named]
        if known:
            told = {x: f for formula, s in known.items() for x, f in _told_by(formula, s).items()}
            short = [self._best(r) for r in substitute(named, {**told, **known})]
            if sum(map(self._length, short)) <= sum(map(self._length, found)):
                found = substitute(short, parts)
        return substitute(found, meant), rows

    def _rows_of(self, loop: Node, name: str, steps: StepArrays) -> Node | None:
        """Return the values that the steps of a recurrence of the program compute, if it has as many steps."""
        values = self._arrays.get(name)
        other = StepArrays(loop)
        if values is None or other.length != steps.length or values.shape[0] != loop.shape[0]:
            return None
        return other.after(values)


def _told_by(formula: Node, name: Node) -> Mapping[Node, Node]:
    """Return formulas that the value of a formula determines, in terms of a name for it."""
    if formula.op is tanh:
        return {sech(formula.args[0]) ** 2: 1 - name**2}
    return {sigmoid(neg(formula.args[0])): 1 - name} if formula.op is sigmoid else {}
