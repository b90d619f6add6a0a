"""Statements of recurrences: they are read together, and define arrays of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from symgrad.apps.review.decisions.step_verdict import StepVerdict
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.layout.recurrences import RecurrenceText, reads_values, recurrences_in
from symgrad.apps.review.layout.statements import ChainText
from symgrad.apps.review.rules.definitions import DefinitionRules
from symgrad.frontend.latex.document import parse_latex_program
from symgrad.frontend.text import parse_program
from symgrad.ir.body import divide
from symgrad.ir.graph import Node
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.traverse import symbols_of, topological
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import ProgramSyntaxError, RedefinitionError, SymgradError, placed_error
from symgrad.verification.verdict import Verdict


class RecurrenceStatements(DefinitionRules):
    """The rules of recurrences."""

    _chains: Sequence[ChainText] = ()
    _recurrences: Mapping[int, RecurrenceText] = {}
    _texts: dict[Node, RecurrenceText]

    def expect(self, statements: Iterable[ChainText], units: Mapping[int, str]) -> None:
        self._chains = list(statements)
        super().expect(self._chains, units)
        found = recurrences_in(self._chains)
        self._recurrences = {k: r for r in found for k in r.statements}
        self._texts = {}
        self._unread_recurrences = [r for r in found if not r.text]

    def _is_about_recurrence(self, number: int, statement: ChainText) -> bool:
        """Read a statement of a recurrence; one that reads values which are not known is not understood."""
        found = self._recurrences.get(number)
        if found is not None and found.text:
            if number == found.first:
                self._read_recurrence(found)
            self._last, self._previous = None, statement
            return True
        sides = (
            statement.sides[1:]
            if len(statement.sides) == 2 and self._is_entry(statement)
            else statement.sides
        )
        unknown = [r for r in self._unread_recurrences if number not in r.statements]
        if not any(reads_values(r, side.text) for r in unknown for side in sides):
            return False
        text = statement.sides[-1]
        self._unread(
            text.span, text.text, ProgramSyntaxError("it reads values of a recurrence that is not understood")
        )
        self._lose(statement)
        self._last, self._previous = None, statement
        return True

    def _reads_recurrence(self, text: str) -> bool:
        """Tell whether a text reads values of a recurrence of the document."""
        return any(reads_values(r, text) for r in set(self._recurrences.values()))

    def _is_entry(self, statement: ChainText) -> bool:
        """Tell whether the left side is a value of a recurrence, and no formula that reads one."""
        left = statement.sides[0].text.strip(" &\n")
        return any(left.startswith(base) for r in self._unread_recurrences for base in r.bases)

    def _read_recurrence(self, found: RecurrenceText) -> None:
        chains = [self._chains[k] for k in found.statements if len(self._chains[k].sides) == 2]
        line = self._line(chains[0].sides[0].span.start)
        self.names.line = line
        try:
            if chains[0].sides[0].notation == "latex":
                names = self.names
                read = parse_latex_program(
                    found.text,
                    self._options,
                    symbols=names.values,
                    strict=False,
                    firsts=names.first_positions,
                )
                listing = read.listing
                self.names.first_positions.update(read.firsts)
                for reading in read.readings:
                    self.names.assume(str(reading), line)
            else:
                listing = parse_program(found.text, symbols=self.names.known_in(found.text))
            again = next((n for n in listing.assignments if n in self.names), None)
            if again is not None:
                raise RedefinitionError(f"'{again}' has a meaning already", expected="a name of its own")
        except SymgradError as error:
            self._unread_recurrences.append(found)
            for chain in chains:
                self._unread(chain.sides[-1].span, chain.sides[-1].text, placed_error(error, None))
                self._lose(chain)
            return
        for name, node in listing.symbols.items():
            self.names.take_undeclared(name, node, line)
        for name, node in listing.assignments.items():
            self.names.define(name, node, [s.name for s in symbols_of([node])])
            self._reader.call(name)
            loop = loop_of(node)
            if loop is not None:
                self._texts[loop] = found
        for k in found.statements:
            if len(self._chains[k].sides) == 2 and k < max(found.statements) + 1:
                self._add("definition", self._chains[k].sides[-1], self._first(self._chains[k]))

    def _mark_wrong_steps(self, left: ReadSide, right: ReadSide, judged: StepVerdict, line: int) -> None:
        """Mark the lines of a recurrence as wrong with whose right steps a wrong claim about a derivative is right."""
        if all(d.kind != "wrong-steps" for d in judged.verdict.diagnosis):
            return
        wanted, claimed = (
            [n for n in topological([side.expr.node]) if is_recurrence(n)] for side in (left, right)
        )
        pairs = [
            (n, m)
            for n in claimed
            for m in wanted
            if n not in wanted and m not in claimed and n.shape == m.shape and n.params[:2] == m.params[:2]
        ]
        if len(pairs) != 1:
            return
        ((wrong, true),) = pairs
        found = self._texts.get(wrong)
        if found is None:
            return
        starts = canonical([*divide(wrong)[0], *divide(true)[0]]).nodes
        half = len(starts) // 2
        begins = starts[:half] != starts[half:]  # a first value differs
        at = found.statements.index(found.first)
        numbers = found.statements[:at] if begins else found.statements[at:]
        own = [
            c
            for c in map(self._chains.__getitem__, numbers)
            if len(c.sides) == 2 and c.sides[0].text.strip(" &\n") != found.letter
        ]
        if len(own) != 1:  # nothing tells which of them is wrong
            return
        why = f"with the {'first value' if begins else 'steps'} of the right derivative, line {line} is right"
        for k, step in enumerate(self.steps):
            if step.kind == "definition" and step.span == own[0].sides[-1].span:
                self.steps[k] = replace(step, verdict=Verdict("refuted", why))

    def _lose(self, statement: ChainText) -> None:
        """Remember that nothing is known of the name that a statement defines."""
        try:
            target = self._reader.target(statement.sides[0])
        except SymgradError:
            return
        if target is not None:
            if self.names.is_defined(target.name):
                self._reader.forget(target.name)  # what it meant above, it means no longer
            self.names.lost[target.name] = self._line(statement.sides[0].span.start)
