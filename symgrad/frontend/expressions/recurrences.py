"""Recurrences in programs: h[0] = h0, and on a later line h[t] = tanh(W@h[t-1] + U@x[t-1]) for t in 1..T.

Positions count from 0, and both ends of a range are included. A line may have several definitions before its `for`,
separated by semicolons; each reads the values of the steps before, and those to its left also at this step. A
definition without a subscript is a name within the step.

A search ends with `until c, at most N` instead: it makes N steps, and all values stay once the condition holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from symgrad.frontend.expressions.functions import FunctionRules, SingleExpression
from symgrad.frontend.expressions.recurrence_steps import STEP, RecurrenceSteps, StepRange, position_offset
from symgrad.frontend.tokens.lalr import parse
from symgrad.frontend.tokens.terms import STEP_CLAUSES, Term, Token, span_of
from symgrad.ir.graph import Node, as_condition, symbol
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, Size, least_value, size_max, size_product, size_sum
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ops.numpy.lengths import as_size
from symgrad.support.errors import (
    DomainError,
    ProgramSyntaxError,
    RedefinitionError,
    SymgradError,
    UnknownNameError,
)

_NEWLINE = "_NEWLINE"
_SUBSCRIPT = re.compile(r"[ \t]*\[")


def _line(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return tokens as a line that the parser reads."""
    end = tokens[-1].end_pos
    return (*tokens, Token(_NEWLINE, "", end, end))


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
        step: the symbol of the position, another one in each recurrence inside of a step.
    """

    starts: dict[str, dict[Size, tuple[Token, Term]]]
    step: Node = symbol(Declaration(STEP, INT))

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

    def recurrence(
        self, lines: Sequence[StepDefinition], letter: Token | None, clause: Sequence[Token]
    ) -> None:
        """Read the definitions of one line with a `for` or `until`, and define the arrays of all values.

        Args:
            lines: the definitions.
            letter: the name of the position; None if a subscript has no name.
            clause: the tokens from this word on: for t in 1..T, until c, at most 50.
        """
        self._begin()
        word, *rest = clause
        other = next((t for t in rest if t.type in STEP_CLAUSES), None)
        if other is not None:
            self._refuse(
                other,
                "one line has both 'for' and 'until'",
                "for t in 1..T, or until a condition holds, at most 50",
                "leave one of them out",
            )
            return
        subscript = next((line.subscript for line in lines if line.subscript is not None), None)
        if letter is None or subscript is None:
            self._refuse(
                lines[-1].name,
                f"no value has a position that '{word}' can count",
                f"{lines[-1].name}[t] = ... on the left side",
                "write the position in brackets after the name",
            )
            return
        loop = self._loop(rest) if word.type == "FOR" else self._search(word, rest, letter, lines)
        if loop is not None and self.error is None:
            self.define_steps(lines, loop)

    def define_steps(self, lines: Sequence[StepDefinition], loop: StepRange) -> None:
        """Define the arrays of all values that steps compute."""
        computed = self.arrays_of_steps(lines, loop)
        if computed is None:
            return
        loop, found = computed
        for line in lines:
            if line.subscript is None or str(line.name) not in found:
                continue
            name, values = str(line.name), found[str(line.name)]
            given = self.starts.pop(name, None)
            if given is None:
                self._claim(line.name)
            self.assign(line.name, Term(values, *span_of(line.name)))
            first = size_sum([loop.last if loop.reverse else loop.first, self._offset(line, loop.name) or 0])
            if given is None and self.error is None and first != 0:
                shape = size_sum([first, loop.length]), *values.shape[1:]
                place = symbol(Declaration(f"{STEP} positions of {name}", REAL, shape))
                self.later[place] = self.defined[name], first
                self.defined[name] = place

    def arrays_of_steps(
        self, lines: Sequence[StepDefinition], loop: StepRange
    ) -> tuple[StepRange, dict[str, Node]] | None:
        """Return the arrays of all values that steps compute, and their range in the order of the steps."""
        shapes: dict[str, Shape] = {}
        for line in lines:
            if line.subscript is None:
                continue
            given = self.starts.get(str(line.name))
            if given is not None:
                shapes[str(line.name)] = broadcast_shapes([value.node.shape for _, value in given.values()])
            elif not self._is_part(line, lines, loop.name):
                self._no_start(line, loop)
                return None
        if loop.first == loop.last:  # a single step is no direction
            loop = self.in_direction(lines, loop)
        spans, derivatives = dict(self.spans), dict(self.derivatives)
        found: dict[str, Node] | None = {}
        # The shape of a value may be that of the formula: h[0] = 0 starts a vector with zeros.
        for _ in range(3):
            found = self._values(lines, loop, shapes)
            if found is None:
                return None
            grown = {name: broadcast_shapes([shapes[name], found[name].shape[1:]]) for name in shapes}
            if grown == shapes:
                break
            shapes, self.spans, self.derivatives = grown, dict(spans), dict(derivatives)
        return loop, found

    def _is_part(self, line: StepDefinition, lines: Sequence[StepDefinition], letter: Token) -> bool:
        """Tell whether a definition without a first value is read at the position of its step alone."""
        assert line.subscript is not None
        place = [str(t) for t in line.subscript[:-1]]
        for other in lines:
            for k, token in enumerate(other.formula):
                if token == line.name and [str(t) for t in other.formula[k + 1 : k + 3 + len(place)]] != [
                    "[",
                    *place,
                    "]",
                ]:
                    return False
        return place == [str(letter)] or len(place) > 1

    def _loop(self, clause: Sequence[Token]) -> StepRange | None:
        at = next((k for k, token in enumerate(clause) if token.type == "RANGE"), None)
        if at is None or len(clause) < 5 or clause[1].type != "IN":
            self._refuse(
                clause[0], "the range of a recurrence is not complete", "for t in 1..T", "write both ends"
            )
            return None
        return self.step_range(clause[0], [_line(p) if p else p for p in (clause[2:at], clause[at + 1 :])])

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
                place = term if part else Term(term.node, *span_of(name))
                self.no_size("the end of a range", place, "whole numbers and sizes: 1..T")
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

    def in_direction(self, lines: Sequence[StepDefinition], loop: StepRange) -> StepRange:
        """Return the range from the end at which the first values are given."""
        back = replace(loop, first=loop.last, last=loop.first, reverse=not loop.reverse)
        for way in (loop, back):
            if all(
                self.before_first(line, way) in self.starts.get(str(line.name), ())
                for line in lines
                if line.subscript is not None
            ):
                return way
        return loop

    def before_first(self, line: StepDefinition, loop: StepRange) -> Size | None:
        """Return the position before those that the steps compute of a definition; None for other left sides."""
        offset = self._offset(line, loop.name)
        return None if offset is None else size_sum([loop.first, offset, 1 if loop.reverse else -1])

    def _search(
        self, word: Token, clause: Sequence[Token], letter: Token, lines: Sequence[StepDefinition]
    ) -> StepRange | None:
        """Return the range of steps that end once a condition holds: until c, at most 50."""
        depths = accumulate((t in "([") - (t in ")]") for t in clause)
        commas = (
            k for k, (t, depth) in enumerate(zip(clause, depths, strict=True)) if t == "," and not depth
        )
        at = next(commas, len(clause))
        bound = clause[at + 3 :]
        if [*clause[at + 1 : at + 3]] != ["at", "most"] or not bound or not at:
            self._refuse(
                word,
                "nothing says how many steps a search makes at most",
                "until a condition holds, at most 50",
                "end the line with the condition, then: , at most 50",
            )
            return None
        return self.search_range(letter, lines, _line(clause[:at]), _line(bound))

    def search_range(
        self, letter: Token, lines: Sequence[StepDefinition], until: Any, bound: Any
    ) -> StepRange | None:
        """Return the range of steps that end once a condition holds, given their largest number."""
        term = self._formula(bound)
        length = None if self.error is not None else self.size_of(term.node)
        if length is None or (isinstance(length, int) and length < 0):
            self.no_size("the largest number of steps", term, "a whole number or a size: at most 50")
            return None
        line = next(line for line in lines if line.subscript is not None)
        given = self.starts.get(str(line.name), {0: None})
        # The steps go on from the last of the first values: all others stand one after the other before it.
        back = range(len(given))
        last = next((p for p in given if all(size_sum([p, -k]) in given for k in back)), next(iter(given)))
        offset = self._offset(line, letter)
        if offset is None:
            return None
        first = size_sum([last, 1, size_product([-1, offset])])
        end = size_sum([first, length, -1])
        return StepRange(letter, first, end, False, size_max(length, 0), until)

    def _offset(self, line: StepDefinition, letter: Token) -> Size | None:
        """Return the position that a definition computes, minus that of the step."""
        assert line.subscript is not None
        outer, step = self.local, self.step
        self.local = {**outer, str(letter): Term(step, *span_of(letter))}
        at = self._formula(line.subscript)
        self.local = outer
        offset = None if self.error is not None else position_offset(at.node, step)
        if offset is None:
            self._refuse(
                line.name,
                "the left side of a recurrence is one position in each step",
                f"{line.name}[{letter}] = ...",
                "write the position itself, or one a fixed number of steps away",
            )
        return offset

    def _values(
        self, lines: Sequence[StepDefinition], loop: StepRange, shapes: Mapping[str, Shape]
    ) -> dict[str, Node] | None:
        """Return the arrays of all values of each name, given the shapes of one value."""
        outer, step = self.local, self.step
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
                    reader.parts[str(line.name)] = value.node
                    continue
                offset = self._offset(line, loop.name)
                if offset is None:
                    return None
                if str(line.name) not in self.starts:
                    place = reader.define_part(str(line.name), offset, value.node)
                    self.local[str(line.name)] = Term(place, *span_of(line.name))
                    continue
                starts = {p: term.node for p, (_, term) in self.starts[str(line.name)].items()}
                reader.define(str(line.name), offset, value.node, shapes[str(line.name)], starts)
                self._number_positions(str(line.name), reader.lowest(str(line.name)))
            if loop.until is not None and not self._stop(reader, loop.until):
                return None
            found = reader.values()
            for body, notation in reader.notation().items():
                self.steps.setdefault(body, notation)
            return found
        except SymgradError as error:
            self.keep(error, lines[0].name.start_pos, self._formula_end(lines[-1]))
            return None
        finally:
            self.local = outer

    def _number_positions(self, name: str, lowest: Size) -> None:
        """Refuse values whose positions do not count from 0."""
        if lowest != 0:
            raise DomainError(
                f"the values of '{name}' begin at the position {lowest}",
                expected=f"values from {name}[0] on, since positions count from 0",
                cure="begin with the position 0, and read other arrays further on",
            )

    def _stop(self, reader: RecurrenceSteps, until: Any) -> bool:
        """Read the condition of a search; return whether it is one."""
        term = self._formula(until)
        condition = None if self.error is not None else as_condition(term.node)
        if self.error is None and (condition is None or condition.shape):
            self.wrong(
                DomainError,
                f"{self.quote(term)} is no condition"
                if condition is None
                else f"{self.quote(term)} is several conditions",
                term.start,
                term.end,
                expected="one condition: abs(z[k]) < 1e-12",
                cure="compare it with something"
                if condition is None
                else "compare one number, such as the largest of them",
            )
        if condition is None or self.error is not None:
            return False
        try:
            reader.stop(condition)
        except SymgradError as error:
            self.keep(error, term.start, term.end)
        return self.error is None

    def _formula(self, written: Any) -> Term:
        """Return the value of a part of a definition, here a sequence of tokens."""
        body = SingleExpression(self)
        parse(written, body)
        return body.value

    def _formula_end(self, line: StepDefinition) -> int:
        return line.formula[-1].end_pos

    def _refuse(self, token: Token, what: str, expected: str, cure: str) -> None:
        self.wrong_token(ProgramSyntaxError, what, token, expected=expected, cure=cure)

    def unknown(self, token: Token) -> Term:
        if str(token) not in self.starts:
            return super().unknown(token)
        return self.wrong_token(
            UnknownNameError,
            f"'{token}' has a first value and no later ones here",
            token,
            expected=f"a line above that computes {token}[t], or a part of this one",
            cure=f"write values that depend on each other in one line: a[t] = ...; {token}[t] = ... for t in 1..T",
        )

    def _no_start(self, line: StepDefinition, loop: StepRange) -> None:
        if str(line.name) in self.name_spans and self.defined[str(line.name)].shape:
            self._claim(line.name)
            return
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

    def check_position(self, token: Token, node: Node) -> None:
        """Record the error for an array without values at the first positions that is read without a position."""
        if node in self.later and not _SUBSCRIPT.match(self.source.text, token.end_pos):
            self.wrong_token(
                DomainError,
                f"'{token}' is read as a whole, and has no values before the position {self.later[node][1]}",
                token,
                expected=f"positions: sum({token}[t], t=1..T)",
                cure="read it at the positions that the steps compute",
            )
