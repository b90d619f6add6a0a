r"""Recurrences in LaTeX: h_0 = 0, and h_t = \tanh(W h_{t-1} + U x_t), \quad t = 1, \dots, T.

The lines of one step stand before their range, or before the condition that ends a search, in any order. A name of
these lines that is read at its own position only is computed in each step, and needs no first value unless a condition
may end the steps. Positions of the values that a recurrence computes are the numbers in the text. Rows of other arrays
are counted from 0 or from 1, as their lengths require.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symgrad.frontend.expressions.recurrence_steps import STEP, RecurrenceSteps, StepRange, position_offset
from symgrad.frontend.expressions.recurrences import StepDefinition
from symgrad.frontend.indices import array_over_range
from symgrad.frontend.latex.meaning.names import entry_name, spelled_name, without_power
from symgrad.frontend.latex.meaning.recurrence_shapes import RecurrenceShapes
from symgrad.frontend.latex.meaning.step_lines import (
    StepLines,
    array_at,
    array_name,
    reads_letter,
    scripted_in,
    step_order,
)
from symgrad.frontend.latex.syntax.tree import LatexLine, Scripted, Tree, Word
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.frontend.tokens.terms import Term, Token
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.notation.recurrences import recurrence_of
from symgrad.ir.sizes import Size, nonnegative, size_product, size_sum
from symgrad.ir.types import INT, Declaration
from symgrad.ops.numpy.lengths import as_size
from symgrad.support.errors import RedefinitionError


class LatexRecurrenceRules(RecurrenceShapes):
    """The rules for recurrences."""

    _loop_here: StepRange | None = None

    def _begin(self) -> None:
        self._only_last()  # names without a declaration are numbers, as in other lines

    def _reads_bound(self, tree: Tree) -> bool:
        loop = self._loop_here
        return super()._reads_bound(tree) or (
            loop is not None and any(isinstance(t, Word) and t.text == loop.name for t in trees_in([tree]))
        )

    def _formula(self, written: Tree) -> Term:
        return self.read(written)

    def _is_part(self, line: StepDefinition, lines: Sequence[StepDefinition], letter: Token) -> bool:  # noqa: ARG002
        """Return False: values without a first value are defined before the steps."""
        return False

    def _number_positions(self, name: str, lowest: Size) -> None:
        self.lowest[name] = lowest

    def _formula_end(self, line: StepDefinition) -> int:
        return line.formula.end

    def _stop(self, reader: RecurrenceSteps, until: Tree) -> bool:
        loop = self._loop_here
        assert loop is not None
        # The values before a step decide whether it is made.
        first, last = (size_sum([end, -1]) for end in (loop.first, loop.last))
        self._loop_here = replace(loop, first=first, last=last)
        try:
            return super()._stop(reader, until)
        finally:
            self._loop_here = loop

    def recurrence_lines(self, line: StepLines) -> None:
        """Read the lines of a recurrence."""
        for start in line.starts:
            self.start_value(_definition(start, entry=True))
            self._raise_error()
        for name, given in self.starts.items():
            for position, (token, value) in given.items():
                self._refuse_two_values(name, position, token, value)
        arrays = {k: name for k, s in enumerate(line.steps) if (name := array_at(s.sides[0], line.letter))}
        own = {spelled_name(s.sides[0]) for s in line.steps}
        past = {
            array_name(t)
            for t in scripted_in([side for s in line.steps for side in s.sides[1:]])
            if spelled_name(without_power(t)) not in own and reads_letter(t.below or (), line.letter)
        }
        kept = {
            k: _definition(line.steps[k], entry=True)
            for k, name in arrays.items()
            if name in past or name in self.starts or line.until is not None
        }
        loop = self._range(line, [*kept.values()])
        for step in kept.values():
            if str(step.name) not in self.starts:
                self._use_declared_start(step, loop)
        loop = self.in_direction([*kept.values()], loop)
        self._raise_error()
        order = step_order(line.steps)
        self._loop_here = loop
        if kept:
            steps = [kept.get(k) or _definition(line.steps[k], entry=False) for k in order]
            self.give_shapes(steps, loop)
            self.define_steps(steps, loop)
            self._raise_error()
        for step in kept.values():
            self._number_array(step, self.lowest[str(step.name)])
        for k in order:
            if k in arrays and k not in kept:
                self._define_rows(_definition(line.steps[k], entry=True), loop)
        self._loop_here = None

    def _range(self, line: StepLines, steps: Sequence[StepDefinition]) -> StepRange:
        letter = Token("NAME", line.letter.text, line.letter.start, line.letter.end)
        first, *others = line.ends
        if line.until is not None:
            loop = self.search_range(letter, steps, line.until, first)
        else:
            *others, last = others
            loop = self.step_range(letter, (first, last))
        self._raise_error()
        assert loop is not None
        for second in others:
            if as_size(self.read(second).node) != size_sum([loop.first, -1 if loop.reverse else 1]):
                raise self.refuse(
                    "the second position is not next to the first one",
                    second,
                    expected=r"all positions of a range: t = 1, 2, \dots, T",
                    cure="number the steps one by one",
                )
        return loop

    def _define_rows(self, line: StepDefinition, loop: StepRange) -> None:
        """Define the array of values that a line computes at each position from values that are known."""
        offset = self._offset(line, loop.name)
        self._raise_error()
        assert offset is not None
        step = symbol(Declaration(STEP, INT))
        outer = self.local
        self.local = {**outer, str(loop.name): Term(step, 0, 0)}
        value = self._formula(line.formula)
        self.local = outer
        self._claim(line.name)
        rows = self.build(array_over_range, [value], value.start, value.end, step, loop.values)
        self.assign(line.name, rows)
        self._raise_error()
        self._number_array(line, size_sum([loop.values.first, offset]))

    def _number_array(self, line: StepDefinition, first: Size) -> None:
        """Remember the number of the first position of an array that a line defines."""
        name = str(line.name)
        place = Tree(line.name.start_pos, line.name.end_pos)
        if not isinstance(first, int):
            raise self.refuse(
                "the number of the first position is no whole number",
                place,
                expected=r"t = 1, \dots, T",
                cure="begin the range with a whole number",
            )
        self.known.add(name)
        if self.firsts.setdefault(self.defined[name], first) != first:
            raise self.refuse(
                f"'{name}' has the values of another array, whose positions have other numbers",
                place,
                expected="the same numbers for the same values",
                cure="number the positions of both from 0",
            )

    def _raise_error(self) -> None:
        if self.error is not None:
            raise self.error

    def _named_position(self, name: str, position: Size) -> str | None:
        """Return the known name that looks like an array with a position below it: h0 for h_0."""
        found = self.known.find(f"{name}_{position}")
        return found if found in self.defined else None

    def _refuse_two_values(self, name: str, position: Size, token: Token, value: Term) -> None:
        other = self._named_position(name, position)
        if other is not None and self.defined[other] is not value.node:
            raise self.refuse(
                f"{name}_{position} is the name '{other}', and here a value of the recurrence '{name}'",
                Tree(token.start_pos, token.end_pos),
                expected="one meaning for one name",
                cure="choose another name for the declared one",
                cls=RedefinitionError,
            )

    def _use_declared_start(self, line: StepDefinition, loop: StepRange) -> None:
        """Take a declared name as the first value: h0 for a recurrence of h without a line h_0 = ..."""
        position = self.before_first(line, loop)
        known = None if position is None else self._named_position(str(line.name), position)
        if position is not None and known is not None:
            value = self.named(known, Tree(line.name.start_pos, line.name.end_pos))
            self.starts[str(line.name)] = {position: (line.name, value)}

    def _refuse_ambiguity(self, tree: Scripted, name: str) -> None:
        array = self.defined.get(array_name(tree) or "")
        found = entry_name(tree)
        if name in self.local or array is None or array not in self.firsts or found is None:
            return
        if not all(self.is_known(t) for t in trees_in(found[1:]) if isinstance(t, Word)):
            return
        known = recurrence_of(array)
        starts = () if known is None else (known[0].args[known[1]],)
        if self.defined.get(name) in starts and as_size(self.read(found[1]).node) in (0, array.shape[0]):
            return
        raise self.refuse(
            f"{self.text_of(tree)} is the name '{name}', and also a value of the array '{array_name(tree)}'",
            tree,
            expected="one meaning for one name",
            cure="choose another name for the declared one",
            cls=RedefinitionError,
        )

    def first_entry(self, array: Node, axis: int, place: Node, tree: Tree) -> int:
        loop = self._loop_here
        if array.op is SYMBOL and array.name.startswith(STEP) and axis == 0:
            return 0  # positions of values of the recurrence itself
        if (axis == 0 and array in self.firsts) or not (loop or self.firsts):
            return super().first_entry(array, axis, place, tree)
        fixed = as_size(place)
        offset = None if loop is None else position_offset(place, symbol(Declaration(STEP, INT)))
        if loop is not None and offset is not None:
            low, high = (size_sum([end, offset]) for end in (loop.values.first, loop.values.last))
        elif fixed is not None and axis == 0 and fixed == array.shape[0]:
            low = high = fixed  # the position T of T rows
        else:
            return super().first_entry(array, axis, place, tree)
        fits = [
            first
            for first in (0, 1)
            if nonnegative(size_sum([low, -first]))
            and nonnegative(size_sum([array.shape[axis], first - 1, size_product([-1, high])]))
        ]
        first = self.options["first"]
        if fits == [1] and first == 0:
            first = 1
            self.read_as(tree, "a position counted from 1", "a declaration with more rows")
        elif len(fits) == 2 and 1 in (f for n, f in self.firsts.items() if n.op is SYMBOL):
            first = 1  # as those of other arrays
            self.read_as(tree, "a position counted from 1", "other rows of the other arrays")
        elif len(fits) == 2:
            self.read_as(tree, f"a position counted from {first}", f"first={1 - first}")
        if axis == 0:
            self.firsts[array] = first
        return first


def _definition(line: LatexLine, *, entry: bool) -> StepDefinition:
    """Return a line as a definition: of a value at a position, or of a name that is used in one step."""
    left, right = line.sides
    parts = entry_name(left) if entry else None
    name = spelled_name(left if parts is None else parts[0]) or ""
    return StepDefinition(
        Token("NAME", name, left.start, left.end), None if parts is None else parts[1], right
    )
