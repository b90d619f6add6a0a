"""A recurrence inside of a step: h[t] = (inner[0] = h[t-1]; inner[k] = sin(inner[k-1]) for k in 1..3)[3] for t in 1..9.

The lines stand in parentheses, and their value is the array of all values of the name that they define.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from symgrad.frontend.expressions.recurrences import RecurrenceRules, StepDefinition
from symgrad.frontend.tokens.terms import Term, Token
from symgrad.ir.graph import number, symbol
from symgrad.ir.types import INT, Declaration
from symgrad.ops.numpy.lengths import as_size


@dataclass(slots=True)
class InnerLines:
    """The lines of a recurrence in parentheses.

    Attributes:
        start, end: the place of the parentheses.
        sizes: the names of sizes of the program.
        starts: the first values.
        lines: the definitions of a step.
        letter: the name of the position; None if a subscript has no name.
        clause: the tokens from `for` or `until` on.
        others: whether there are statements that are not part of a recurrence.
    """

    start: int
    end: int
    sizes: set[str]
    starts: list[StepDefinition] = field(default_factory=list[StepDefinition])
    lines: Sequence[StepDefinition] = ()
    letter: Token | None = None
    clause: Sequence[Token] = ()
    others: bool = False

    def start_value(self, line: StepDefinition) -> None:
        """Take a first value."""
        self.starts.append(line)

    def recurrence(
        self, lines: Sequence[StepDefinition], letter: Token | None, clause: Sequence[Token]
    ) -> None:
        """Take the definitions of a step."""
        self.others = self.others or bool(self.lines)
        self.lines, self.letter, self.clause = lines, letter, clause


class InnerRecurrenceRules(RecurrenceRules):
    """The rules for recurrences inside of steps, whose lines were read before under a name of their own.

    Attributes:
        inner: the lines by this name.
    """

    inner: dict[str, InnerLines]

    def unknown(self, token: Token) -> Term:
        found = self.inner.get(str(token))
        return super().unknown(token) if found is None else self._values_inside(found, token)

    def _values_inside(self, found: InnerLines, token: Token) -> Term:
        names = {str(line.name): line for line in found.lines if line.subscript is not None}
        if found.others or len(names) != 1 or found.letter is None:
            self._refuse(
                token,
                "these parentheses contain no recurrence with one name",
                "(h[0] = 1; h[k] = h[k-1]/2 for k in 1..3)[3]",
                "give one name its first value and its step",
            )
            return Term(number(1), found.start, found.end)
        starts, step = self.starts, self.step
        self.starts, self.step = {}, symbol(Declaration(f"{step.name}_", INT))
        try:
            for line in found.starts:
                position = as_size(self._formula(line.subscript).node)
                value = self._formula(line.formula)
                if position is not None:
                    self.starts.setdefault(str(line.name), {})[position] = line.name, value
            word, *rest = found.clause
            loop = (
                self._loop(rest)
                if word.type == "FOR"
                else self._search(word, rest, found.letter, found.lines)
            )
            computed = (
                None if loop is None or self.error is not None else self.arrays_of_steps(found.lines, loop)
            )
        finally:
            self.starts, self.step = starts, step
        if computed is None:
            return Term(number(1), found.start, found.end)
        (values,) = computed[1].values()
        return Term(values, found.start, found.end)
