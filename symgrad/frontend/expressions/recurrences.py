"""Recurrences in programs: h[0] = h0, and on a later line h[t] = tanh(W@h[t-1] + U@x[t-1]) for t in 1..T.

Positions count from 0, and both ends of a range are included. A line may have several definitions before its `for`,
separated by semicolons; each reads the values of the steps before, and those to its left also at this step. A
definition without a subscript is a name within the step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.frontend.expressions.functions import FunctionRules, SingleExpression
from symgrad.frontend.expressions.recurrence_steps import STEP, RecurrenceSteps, StepRange
from symgrad.frontend.tokens.lalr import parse
from symgrad.frontend.tokens.terms import Term, Token, span_of
from symgrad.ir.graph import Node, symbol
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, Size, least_value, size_max, size_product, size_sum
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ops.numpy.lengths import as_size
from symgrad.support.errors import ProgramSyntaxError, RedefinitionError, SymgradError, UnknownNameError

_NEWLINE = "_NEWLINE"


@dataclass(frozen=True, slots=True)
class StepDefinition:
    """One definition: the name, its subscript (None without one), and its formula, as the reader takes them in."""

    name: Token
    subscript: Any
    formula: Any

    def reads(self, name: str) -> bool:
        return name in (self.subscript or ()) or name in self.formula


class RecurrenceRules(FunctionRules):
    """The rules for recurrences.

    Attributes:
        starts: the values h[0] = ... that no recurrence has used yet, by name and position.
    """

    starts: dict[str, dict[Size, tuple[Token, Term]]]

    def start_value(self, line: StepDefinition) -> None:
        """Read the value at a given position, which a later recurrence uses."""
        self._begin()
        assert line.subscript is not None
        at = self._formula(line.subscript)
        value = self._formula(line.formula)
        position = as_size(at.node)
        if self.error is not None:
            return
        if position is None:
            self._refuse(
                line.name,
                "the position of a first value is no whole number or size",
                f"{line.name}[0] = ...",
                "write a whole number between the brackets",
            )
            return
        if str(line.name) not in self.starts:
            self._claim(line.name)
        elif position in self.starts[str(line.name)]:
            before, _ = self.starts[str(line.name)][position]
            row, column = self.source.line_column(before.start_pos)
            self.wrong_token(
                RedefinitionError,
                f"'{line.name}[{position}]' is already given in line {row}, column {column}",
                line.name,
                expected="each first value once",
                cure="leave one of them out",
            )
            return
        self.starts.setdefault(str(line.name), {})[position] = line.name, value

    def recurrence(self, lines: Sequence[StepDefinition], clause: Sequence[Token]) -> None:
        """Read the definitions of one line with a `for`, and define the arrays of all values.

        Args:
            lines: the definitions.
            clause: the tokens after `for`: t in 1..T.
        """
        self._begin()
        loop = self._loop(clause)
        if loop is not None and self.error is None:
            self.define_steps(lines, loop)

    def define_steps(self, lines: Sequence[StepDefinition], loop: StepRange) -> None:
        """Define the arrays of all values that steps compute."""
        shapes: dict[str, Shape] = {}
        for line in lines:
            if line.subscript is None:
                continue
            given = self.starts.get(str(line.name))
            if given is None:
                self._no_start(line, loop)
                return
            shapes[str(line.name)] = broadcast_shapes([value.node.shape for _, value in given.values()])
        spans, derivatives = dict(self.spans), dict(self.derivatives)
        found: dict[str, Node] | None = {}
        for _ in range(
            3
        ):  # the shape of a value may be that of the formula: h[0] = 0 starts a vector with zeros
            found = self._values(lines, loop, shapes)
            if found is None:
                return
            grown = {name: broadcast_shapes([shapes[name], node.shape[1:]]) for name, node in found.items()}
            if grown == shapes:
                break
            shapes, self.spans, self.derivatives = grown, dict(spans), dict(derivatives)
        for line in lines:
            if line.subscript is not None and str(line.name) in found:
                del self.starts[str(line.name)]
                self.assign(line.name, Term(found[str(line.name)], *span_of(line.name)))

    def _loop(self, clause: Sequence[Token]) -> StepRange | None:
        at = next((k for k, token in enumerate(clause) if token.type == "RANGE"), None)
        if at is None or len(clause) < 5 or clause[1].type != "IN":
            self._refuse(
                clause[0], "the range of a recurrence is not complete", "for t in 1..T", "write both ends"
            )
            return None
        parts = clause[2:at], clause[at + 1 :]
        return self.step_range(
            clause[0],
            [[*p, Token(_NEWLINE, "", p[-1].end_pos, p[-1].end_pos)] if p else p for p in parts],
        )

    def step_range(self, name: Token, parts: Sequence[Any]) -> StepRange | None:
        """Return the range of a position.

        Args:
            name: the letter of the position.
            parts: the first position and the last one.
        """
        ends: list[Size] = []
        for part in parts:
            term = self._formula(part)
            size = None if self.error is not None else self.size_of(term.node)
            if size is None:
                self.wrong(
                    ProgramSyntaxError,
                    "the end of a range is no size",
                    *((term.start, term.end) if part else span_of(name)),
                    expected="whole numbers and sizes: 1..T",
                    cure="write a whole number, or the name of a size",
                )
                return None
            ends.append(size)
        first, last = ends
        steps = size_sum([last, size_product([-1, first]), 1])
        back = size_sum([first, size_product([-1, last]), 1])
        least = least_value(size_sum([last, size_product([-1, first])]))
        reverse = isinstance(last, int) and not isinstance(first, int)
        if isinstance(first, int) and isinstance(last, int):
            reverse = first > last and (first, last) != (1, 0)  # 1..0 has no step
        elif least is None and not reverse and not isinstance(first, int):
            self._refuse(
                name,
                "nothing says in which order these steps run",
                "a whole number at one end: 1..T, T..1",
                "begin or end the range with a whole number",
            )
            return None
        return StepRange(name, first, last, reverse, size_max(back if reverse else steps, 0))

    def _values(
        self, lines: Sequence[StepDefinition], loop: StepRange, shapes: Mapping[str, Shape]
    ) -> dict[str, Node] | None:
        """Return the arrays of all values of each name, given the shapes of one value."""
        step = symbol(Declaration(STEP, INT))
        outer = self.local
        whole = {
            name: symbol(Declaration(f"{STEP} values of {name}", REAL, (1, *shape)))
            for name, shape in shapes.items()
        }
        self.local = {**outer, str(loop.name): Term(step, *span_of(loop.name))}
        self.local |= {name: Term(node, 0, 0) for name, node in whole.items()}
        reader = RecurrenceSteps(loop, step, {node: name for name, node in whole.items()}, list(self.starts))
        try:
            for line in lines:
                value = self._formula(line.formula)
                if self.error is not None:
                    return None
                if line.subscript is None:
                    self.local[str(line.name)] = Term(value.node, *span_of(line.name))
                    continue
                at = self._formula(line.subscript)
                offset = None if self.error is not None else reader.offset(at.node)
                if offset is None:
                    self._refuse(
                        line.name,
                        "the left side of a recurrence is one position in each step",
                        f"{line.name}[{loop.name}] = ... for {loop.name} in ...",
                        "write the position itself, or one a fixed number of steps away",
                    )
                    return None
                starts = {p: term.node for p, (_, term) in self.starts[str(line.name)].items()}
                reader.define(str(line.name), offset, value.node, shapes[str(line.name)], starts)
                self._number_positions(line, reader.lowest(str(line.name)))
            return reader.values()
        except SymgradError as error:
            self.keep(error, lines[0].name.start_pos, self._formula_end(lines[-1]))
            return None
        finally:
            self.local = outer

    def _number_positions(self, line: StepDefinition, lowest: Size) -> None:
        """Refuse values whose positions do not count from 0."""
        if lowest != 0:
            self._refuse(
                line.name,
                f"the positions of '{line.name}' begin with {lowest}, and arrays count from 0",
                f"{line.name}[0] as the lowest position",
                f"write the positions {lowest} less: {line.name}[0] = ..., or back to {line.name}[0]",
            )

    def _formula(self, written: Any) -> Term:
        """Return the value of a part of a definition, here a sequence of tokens."""
        body = SingleExpression(self)
        parse(written, body)
        return body.value

    def _formula_end(self, line: StepDefinition) -> int:
        return line.formula[-1].end_pos

    def _refuse(self, token: Token, what: str, expected: str, cure: str) -> None:
        self.wrong_token(ProgramSyntaxError, what, token, expected=expected, cure=cure)

    def _no_start(self, line: StepDefinition, loop: StepRange) -> None:
        before = loop.first if loop.reverse else "0"
        self.wrong_token(
            UnknownNameError,
            f"'{line.name}' has no first value",
            line.name,
            expected="its first value on a line above",
            cure=f"write {line.name}[{before}] = ... above",
        )

    def check_starts(self) -> None:
        """Record the error for first values without a recurrence."""
        for name, given in self.starts.items():
            token, _ = next(iter(given.values()))
            self.wrong_token(
                UnknownNameError,
                f"'{name}' has a first value and no recurrence",
                token,
                expected=f"a line below: {name}[t] = ... for t in 1..T",
                cure=f"write the recurrence, or {name} = ... for a single value",
            )
