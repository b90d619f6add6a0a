"""The values of recurrences as variables: at one step, whose number is any, and at given positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.checker.induction.closed_forms import ClosedForm
from symgrad.checker.induction.rows import RowBuilder, take_all
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.program.builder import Shape
from symgrad.checker.program.length_polynomials import (
    ONE,
    ZERO,
    Size,
    add,
    is_nonnegative,
    length_polynomial,
    subtract,
)
from symgrad.checker.program.steps import ProofStep, StepBody


@dataclass(frozen=True, slots=True)
class StepRecurrence:
    """A recurrence, with the positions of what it reads.

    Args:
        at: its position in the program.
        length: the number of steps.
        reverse: whether the steps run back.
        body: the formulas of a step.
        starts: the first values.
        rows: the arrays of which a step reads a row.
        operands: what is the same in all steps.
        values: the variables for all values of each carry.
        closed: the closed forms of carries, by their number.
    """

    at: int
    length: int | str
    reverse: bool
    body: StepBody
    starts: tuple[int, ...]
    rows: tuple[int, ...]
    operands: tuple[int, ...]
    values: tuple[int, ...]
    closed: Mapping[int, ClosedForm] = field(default_factory=dict[int, ClosedForm])

    @property
    def steps(self) -> Size:
        """The number of steps, in normal form."""
        return length_polynomial(self.length)

    @property
    def shapes(self) -> list[Shape]:
        """The shapes of the values of a step."""
        return [s.shape for s in self.body.program.symbols[: self.body.carries]]

    @property
    def ends(self) -> tuple[Size, Size]:
        """The rows of its values from which on those before a step are, and those after it."""
        return (ONE, ZERO) if self.reverse else (ZERO, ONE)


class ValuesAt:
    """Values of recurrences at given positions: first values, and variables for others.

    Args:
        into: the steps to which those of the formulas are appended.
        known: the recurrences that have variables for their values.
    """

    def __init__(self, into: ProgramBuilder, known: Mapping[int, StepRecurrence]) -> None:
        self._into, self._known = into, known
        self.rows = RowBuilder(into, 1, self._value)

    def at(self, values: int, position: Size) -> int:
        """Return an entry of all values of a carry."""
        return self.rows.row(values, 0, position)

    def entries(self, values: int) -> dict[int, Size]:
        """Return the variables for entries of all values of a carry that were read, each with its position."""
        return {row: start for (at, axis, start), row in self.rows.built_rows() if at == values and not axis}

    def read(self, step: ProofStep) -> int | None:
        """Return the entry of an array that a step is; None for other steps."""
        found = self._place(step)
        return self.at(*found) if found is not None and self._is_inside(*found) else None

    def _place(self, step: ProofStep) -> tuple[int, Size] | None:
        """Return the array of which a step reads one row, at a position that does not vary, and the position."""
        if step.op == "gather" and step.params == ((0,),) and not self._into.shape(step.args[1]):
            place = self._into.as_length(step.args[1])
            if place is None:
                return None
            value = self._into.value(step.args[1])
            rows = length_polynomial(self._into.shape(step.args[0])[0])
            return step.args[0], add([rows, place]) if value is not None and value < 0 else place
        source = self._into.steps[step.args[0]] if step.op == "reshape" else step
        if source.op != "slice" or source.shape[:1] != (1,) or step.shape != source.shape[1:]:
            return None
        (first, _, stride), *others = source.params[0]
        return (source.args[0], length_polynomial(first or 0)) if stride == 1 and take_all(others) else None

    def _is_inside(self, array: int, position: Size) -> bool:
        last = subtract(length_polynomial(self._into.shape(array)[0]), ONE)
        return is_nonnegative(position) and is_nonnegative(subtract(last, position))

    def _value(self, at: int, position: Size) -> int | None:
        """Return the first value, or that of a closed form, if values of a recurrence are read there."""
        for recurrence in self._known.values():
            if at in recurrence.values and self._into.steps[at].op == "symbol":
                number = recurrence.values.index(at)
                if position == (recurrence.steps if recurrence.reverse else ZERO):
                    return self._into.full(recurrence.starts[number], recurrence.shapes[number])
                if number in recurrence.closed:
                    return recurrence.closed[number].at(self._into, self._into.length(position))
        return None


class StepValues:
    """One step of all known recurrences with the same number of steps.

    Args:
        into: the steps to which those of the formulas are appended.
        length: the number of steps.
        known: the recurrences that have variables for their values.
    """

    def __init__(self, into: ProgramBuilder, length: int | str, known: Iterable[StepRecurrence]) -> None:
        self._into = into
        self.rows = RowBuilder(into, length, self._row)
        self._values = {
            (v, end): (r, k, end == r.ends[1])
            for r in known
            if r.steps == length_polynomial(length)
            for k, v in enumerate(r.values)
            if into.steps[v].op == "symbol"
            for end in r.ends
        }
        self._before: dict[int, list[int]] = {}
        self._after: dict[int, list[int]] = {}

    def before(self, recurrence: StepRecurrence) -> list[int]:
        """Return the values of the step before: variables."""
        if recurrence.at not in self._before:
            self._before[recurrence.at] = [
                self._closed(recurrence, k, recurrence.ends[0])
                if k in recurrence.closed
                else self._into.variable("before", shape)
                if self._into.steps[v].op == "symbol"
                else self.rows.row(v, 0, recurrence.ends[0])
                for k, (v, shape) in enumerate(zip(recurrence.values, recurrence.shapes, strict=True))
            ]
        return self._before[recurrence.at]

    def after(self, recurrence: StepRecurrence) -> list[int]:
        """Return the new values, as formulas of those of the step before."""
        if recurrence.at not in self._after:
            self._after[recurrence.at] = self.results(recurrence, self.before(recurrence))
            for k in recurrence.closed:
                self._after[recurrence.at][k] = self._closed(recurrence, k, recurrence.ends[1])
        return self._after[recurrence.at]

    def _closed(self, recurrence: StepRecurrence, number: int, end: Size) -> int:
        return recurrence.closed[number].at(self._into, self.rows.position(end))

    def _row(self, at: int, start: Size) -> int | None:
        found = self._values.get((at, start))
        if found is None:
            return None
        recurrence, number, new = found
        return (self.after if new else self.before)(recurrence)[number]

    def results(self, recurrence: StepRecurrence, before: Sequence[int]) -> list[int]:
        """Append the formulas of a step; return the positions of the new values."""
        body = recurrence.body
        read = [self.rows.row(x) for x in recurrence.rows]
        values = [*before, *read, *recurrence.operands]
        inputs = {s.name: v for s, v in zip(body.program.symbols, values, strict=True)}
        return self._into.inlined(body.program, inputs, body.results)
