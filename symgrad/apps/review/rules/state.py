"""What is kept of the steps of a document, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.decisions.implicit_curves import dependent_names, variables_in
from symgrad.apps.review.decisions.integral_steps import IntegralJudge
from symgrad.apps.review.decisions.step_verdict import StepVerdict
from symgrad.apps.review.formulas.letter_products import DocumentLetters
from symgrad.apps.review.formulas.matrix_facts import DocumentFacts
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.notation import WrittenDerivative
from symgrad.apps.review.formulas.side_reader import ReadSide, SideReader
from symgrad.apps.review.layout.statements import ChainText, Relation, SideText
from symgrad.apps.review.rules.cases import CaseScope, DocumentCase
from symgrad.apps.review.steps import ReviewStep, StepKind
from symgrad.ir.graph import Node
from symgrad.support.errors import SymgradError, placed_error
from symgrad.support.source import Source, Span

_OPENING = re.compile(r"\s*(?:(?:```|~~~)\w*|`|\$\$?|\\[\[(]|\\begin\{[^}]*\})?\s*$")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[^}]*\}")
_SENTENCE_END = re.compile(r"[.!?;](?:\s|$)")
_PROSE = 200  # characters before an equation that may say what it is


class WrittenEquation(NamedTuple):
    """Two sides as they are written."""

    left: SideText
    relation: Relation
    right: SideText


class ReviewState:
    """The state of one reading of a document: its names, its steps, what was read last.

    Args:
        source: the document.
        facts: what its words say of names; what equations say is added.
        seconds: how long one step may take.
        options: how LaTeX is read where it is ambiguous.

    Attributes:
        names: what the names of the document mean so far.
        steps: those that were read.
        late: definitions that stand behind the use of their names: the statement that first reads it, and that which
            defines it. The document is to be read again with these before those, and nothing more is judged.
        again: whether it is to be read again since an equation said a fact.
    """

    def __init__(
        self, source: Source, facts: DocumentFacts, seconds: float, options: Mapping[str, Any]
    ) -> None:
        self.names = DocumentNames(facts)
        self.steps: list[ReviewStep] = []
        self.late: list[tuple[int, int]] = []
        self._source = source
        self._options = options
        self._reader = SideReader(source, self.names, options)
        self._judge = IntegralJudge(self.names, seconds)
        self._last: ReadSide | SideText | None = None
        self._right: ReadSide | None = None  # the last side of a chain before one that is wrong
        self._slopes: dict[Node, WrittenDerivative] = {}  # by each name the last derivative of a number
        self._before = ""  # the words before the statement that is read
        self._behind_it: Sequence[ChainText] = ()
        self._number = 0
        self.again = False
        self._case: tuple[DocumentCase, Node | None] | None = None
        self._case_used = False
        self._end = 0  # of the statement before
        self._previous: ChainText | None = None  # the last statement that was no case
        self._behind: list[ChainText] = []  # cases that were taken in with what stands before them
        self._beside: tuple[ChainText, CaseScope] | None = None  # the last case, and what it was said of
        self._general: list[Node] = []
        self._values_behind: list[ChainText] = []  # equations that say where the statement before them holds
        self._defined_at: dict[str, tuple[int, WrittenEquation]] = {}
        self._later: list[ChainText] = []
        self._first_side: SideText | None = None  # of the statement that is read
        self._carried: Node | None = None  # the last case
        self._described: set[str] = set()  # names that words describe
        self._doubtful: set[Node] = set()  # those of them that are undecided
        self._open: set[Node] = set()  # inputs of equations that are undecided
        self._lower_sign = False  # whether the lower one of two signs is read, ±
        self._held = -1  # the last statement that is taken to hold
        self._statement: ChainText | None = None  # the one that is read
        self._point: Sequence[
            str
        ] = ()  # the coordinates of one that words give, before what they are of is read
        self._line_kind: str | None = (
            None  # tangent or normal, where the statement before was the equation of one
        )
        self._in_a_case = False  # whether words say that it is one
        self._restated: dict[Node, list[Expr]] = {}  # other formulas of values, by equations above
        self._followed: dict[str, str | None] = {}  # what is differentiated and not defined, with what by

    def expect(self, statements: Iterable[ChainText], units: Mapping[int, str]) -> None:
        """Note what will be read: a declaration may read names that are declared below it, xy may be x*y.

        Args:
            statements: all of the document.
            units: what stood behind numbers and is not read, by the offsets at which these end.
        """
        self._judge.units = units
        expected = list(statements)
        self._reader.letters = DocumentLetters(expected)
        for name, line in self.names.facts.held.items():
            self.names.assume(f"{name} is held fixed", line)
        self._followed = dependent_names(expected)
        self.names.followed = self._followed
        self.names.variables = variables_in(expected)
        self.names.primed = frozenset(name for name, by in self._followed.items() if by is None)
        self._reader.letters.release(self._followed)
        self._later = [s for s in expected if s.relations and s.relations[0].kind == "declare"]

    def _prose(self, before: int) -> str:
        """Return the words before a place, of its paragraph."""
        text = _OPENING.sub("", self._source.text[max(0, before - _PROSE) : before])
        return re.split(r"\n[ \t]*\n", _ENVIRONMENT.sub(" ", text))[-1]

    def _sentence(self) -> str:
        """Return the words before the statement that is read, of its sentence."""
        return _SENTENCE_END.split(self._before)[-1]

    def _read(self, text: SideText) -> ReadSide | None:
        try:
            return self._reader.expanded(text)
        except SymgradError as error:
            self._unread(text.span, text.text, error)
            return None

    def _unread(self, span: Span, text: str, error: SymgradError) -> None:
        self.names.missed(text)
        told = placed_error(error, None)  # the place is that of the step
        span = span if error.at is None else error.at.span
        line, column = self._source.line_column(span.start)
        written = " ".join(text.split())
        step = ReviewStep("not understood", line, column, span, written, message=str(told))
        if step not in self.steps[-2:]:
            self.steps.append(step)

    def _add(
        self, kind: StepKind, text: SideText, equation: WrittenEquation, *, message: str | None = None
    ) -> None:
        self.steps.append(replace(self._made(kind, text, equation), message=message))

    def _add_judged(self, text: SideText, equation: WrittenEquation, judged: StepVerdict) -> None:
        step = self._made(judged.kind, text, equation)
        self.steps.append(
            replace(step, verdict=judged.verdict, message=judged.message, corrected=judged.corrected)
        )

    def _made(self, kind: StepKind, text: SideText, equation: WrittenEquation) -> ReviewStep:
        line, column = self._source.line_column(text.span.start)
        return ReviewStep(
            kind, line, column, text.span, one_line(text), one_line(equation.left), equation.relation.text
        )

    def _line(self, offset: int) -> int:
        return self._source.line_column(offset)[0]

    def _first(self, statement: ChainText) -> WrittenEquation:
        return WrittenEquation(statement.sides[0], statement.relations[0], statement.sides[-1])


def one_line(side: SideText) -> str:
    """Return a side on one line."""
    return " ".join(side.text.split())
