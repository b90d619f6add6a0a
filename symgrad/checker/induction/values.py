"""The values of recurrences as variables: at one step, whose number is any, and at given positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from symgrad.checker.induction.rows import RowBuilder, take_all
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.program.builder import Shape
from symgrad.checker.program.length_polynomials import (
    ONE,
    ZERO,
    Size,
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
    """

    at: int
    length: int | str
    reverse: bool
    body: StepBody
    starts: tuple[int, ...]
    rows: tuple[int, ...]
    operands: tuple[int, ...]
    values: tuple[int, ...]

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

    def read(self, step: ProofStep) -> int | None:
        """Return the entry of values of a recurrence that a step is; None for other steps."""
        found = self._place(step)
        if found is None or not self._has_values(found[0]) or not self._is_inside(*found):
            return None
        return self.at(*found)

    def _place(self, step: ProofStep) -> tuple[int, Size] | None:
        """Return the array of which a step reads one row, at a position that does not vary, and the position."""
        if step.op == "gather" and step.params == ((0,),) and not self._into.shape(step.args[1]):
            index, number = self._into.steps[step.args[1]], self._into.value(step.args[1])
            if number is not None and number.denominator == 1:
                return step.args[0], length_polynomial(int(number))
            return (step.args[0], length_polynomial(index.params[0])) if index.op == "size" else None
        source = self._into.steps[step.args[0]] if step.op == "reshape" else step
        if source.op != "slice" or source.shape[:1] != (1,) or step.shape != source.shape[1:]:
            return None
        (first, _, stride), *others = source.params[0]
        return (source.args[0], length_polynomial(first or 0)) if stride == 1 and take_all(others) else None

    def _is_inside(self, array: int, position: Size) -> bool:
        last = subtract(length_polynomial(self._into.shape(array)[0]), ONE)
        return is_nonnegative(position) and is_nonnegative(subtract(last, position))

    def _has_values(self, array: int) -> bool:
        """Tell whether an array has values of recurrences, perhaps joined to others."""
        step = self._into.steps[array]
        if step.op in ("concatenate", "slice"):
            return any(map(self._has_values, step.args))
        return any(array in r.values for r in self._known.values())

    def _value(self, at: int, position: Size) -> int | None:
        """Return the first value, if values of a recurrence are read there."""
        for recurrence in self._known.values():
            first = recurrence.steps if recurrence.reverse else ZERO
            if at in recurrence.values and position == first and self._into.steps[at].op == "symbol":
                number = recurrence.values.index(at)
                return self._into.full(recurrence.starts[number], recurrence.shapes[number])
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
                self._into.variable("before", shape)
                if self._into.steps[v].op == "symbol"
                else self.rows.row(v, 0, recurrence.ends[0])
                for v, shape in zip(recurrence.values, recurrence.shapes, strict=True)
            ]
        return self._before[recurrence.at]

    def after(self, recurrence: StepRecurrence) -> list[int]:
        """Return the new values, as formulas of those of the step before."""
        if recurrence.at not in self._after:
            self._after[recurrence.at] = self.results(recurrence, self.before(recurrence))
        return self._after[recurrence.at]

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
        at: list[int] = []
        for step in body.program.steps:
            args = tuple(at[a] for a in step.args)
            at.append(
                inputs[step.params[0]] if step.op == "symbol" else self._into.step(replace(step, args=args))
            )
        return [at[i] for i in body.results]
