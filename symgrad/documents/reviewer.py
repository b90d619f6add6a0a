"""From statements to steps: what is a definition, what a claim, and what becomes of each claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from symgrad.documents.judging import Judge, Judged
from symgrad.documents.layout.prose import CONDITION_CUES, SELF_CUES
from symgrad.documents.layout.statements import ChainText, Relation, SideText
from symgrad.documents.meaning import DefinedTarget, ReadSide, SideReader
from symgrad.documents.names import DocumentNames, Implied
from symgrad.documents.papers import declared_names
from symgrad.documents.steps import ReviewStep, StepKind
from symgrad.errors import ProgramSyntaxError, ShapeError, SymgradError, UnknownNameError
from symgrad.ir.traverse import topological
from symgrad.source import Source, Span

__all__ = ["Reviewer"]

_NAME = re.compile(r"[^\W\d_]+")
_OPENING = re.compile(r"\s*(?:(?:```|~~~)\w*|`|\$\$?|\\[\[(]|\\begin\{[^}]*\})?\s*$")
_PROSE = 200  # characters before an equation that may say what it is


# What is laid out in columns of its own, as an array is, and has equations in it.
_HIDDEN = re.compile(r"\\begin\{(\w+)\*?\}[^=]*=")


_SIGNS: dict[str, str] = {
    ">": "positive",
    ">=": "nonnegative",
    "≥": "nonnegative",
    r"\ge": "nonnegative",
    r"\geq": "nonnegative",
    r"\geqslant": "nonnegative",
}


class _Equation(NamedTuple):
    """Two sides as they are written."""

    left: SideText
    relation: Relation
    right: SideText


class Reviewer:
    """Reads the statements of one document, one after the other.

    Args:
        source: the document.
        seconds: how long one step may take.
        options: how LaTeX is read where it is ambiguous.

    Attributes:
        names: what the names of the document mean so far.
        steps: those that were read.
    """

    def __init__(self, source: Source, seconds: float, options: Mapping[str, Any]) -> None:
        self.names = DocumentNames()
        self.steps: list[ReviewStep] = []
        self._source = source
        self._reader = SideReader(source, self.names, options)
        self._judge = Judge(self.names, seconds)
        self._later: list[ChainText] = []
        self._last: ReadSide | SideText | None = None
        self._right: ReadSide | None = None  # the last side of a chain before one that is wrong

    def expect(self, statements: Iterable[ChainText]) -> None:
        """Note what will be read, so that a declaration may read names that are declared below it."""
        self._later = [s for s in statements if s.relations and s.relations[0].kind == "declare"]

    def read(self, statement: ChainText) -> None:
        """Read a statement and judge its steps."""
        relations, sides = statement.relations, list(statement.sides)
        if any(r.kind == "declare" for r in relations):
            self._declare(statement)
            return
        if self._says_sign(statement):
            return
        hidden = None if relations else _HIDDEN.search(sides[0].text)
        if hidden is not None:
            error = ProgramSyntaxError(
                f"equations in '{hidden[1]}' are not read", expected="lines of aligned, split or gathered"
            )
            self._unread(sides[0].span, sides[0].text, error)
        left = self._last
        if not statement.continues:
            left, self._right = sides.pop(0), None
            if relations and relations[0].kind in ("equal", "define") and sides[0].text.strip():
                taken, value = self._taken(_Equation(left, relations[0], sides[0]))
                if taken:
                    left, sides, relations = value, sides[1:], relations[1:]
        for relation, text in zip(relations, sides, strict=True):
            left = self._step(left, relation, text)
        self._last = left

    # -- what is no claim ----------------------------------------------------------------------------------------

    def _declare(self, statement: ChainText) -> None:
        spans = [*(side.span for side in statement.sides), *(r.span for r in statement.relations)]
        start, end = min(s.start for s in spans), max(s.end for s in spans)
        text = self._source.text[start:end]
        # As it is read: what stands between several names may be a word.
        declared = _declaration(statement)
        if statement.passage.notation == "latex":
            names, domain = declared_names(statement.sides[0].text), self._reader.domain(statement.sides[-1])
            if names is None or domain is None:
                message = "this declares nothing that is known here"
                self._add("relation", statement.sides[-1], self._first(statement), message=message)
                return
            declared = f"{', '.join(names)} : {domain}"
        try:
            self.names.declare(declared, self._line(start))
        except UnknownNameError as error:
            later = self._declaring(error)
            if later is None:
                self._unread(Span(start, end), text, _anywhere(error))
            else:
                self._declare(later)
                self._declare(statement)
        except SymgradError as error:
            self._unread(Span(start, end), text, _anywhere(error))

    def _declared_below(self, text: SideText) -> bool:
        """Take in the next declaration below of a name in a text; tell whether there is one."""
        written = {*_NAME.findall(text.text), *text.text.split()}
        for k, statement in enumerate(self._later):
            if written & set(declared_names(statement.sides[0].text) or ()):
                self._declare(self._later.pop(k))
                return True
        return False

    def _declaring(self, error: UnknownNameError) -> ChainText | None:
        """Return the declaration further below of a name that one reads, to be taken in before it."""
        at = error.at
        name = None if at is None else at.source.text[at.span.start : at.span.end]
        for k, statement in enumerate(self._later):
            if name in [n.strip() for n in statement.sides[0].text.split(",")]:
                return self._later.pop(k)
        return None

    def _says_sign(self, statement: ChainText) -> bool:
        r"""Take in ``\sigma > 0`` of a name that is new, a declaration; of one that was read it may be a case."""
        domains = [_SIGNS.get(r.text.strip()) for r in statement.relations]
        if len(domains) != 1 or domains[0] is None or statement.sides[-1].text.strip() != "0":
            return False
        (left, _), latex = statement.sides, statement.passage.notation == "latex"
        names = declared_names(left.text) if latex else [left.text.strip()]
        if not names or any(not n.isidentifier() or n in self.names.values for n in names):
            return False
        try:
            self.names.declare(f"{', '.join(names)} : {domains[0]}", self._line(left.span.start))
        except SymgradError:
            return False
        return True

    def _first(self, statement: ChainText) -> _Equation:
        return _Equation(statement.sides[0], statement.relations[0], statement.sides[-1])

    def _taken(self, equation: _Equation) -> tuple[bool, ReadSide | None]:
        """Take in an equation that defines a name, or that gives an input a value.

        Returns:
            Whether it is one, and no claim; its value, None if that cannot be read.
        """
        target = self._reader.target(equation.left)
        if target is None:
            return False, None
        is_input = self.names.is_input(target.name)
        if target.name not in self.names or (equation.relation.kind == "define" and not is_input):
            return True, self._defined(target, equation)
        return self._value(target.name, equation) if is_input else (False, None)

    def _defined(self, target: DefinedTarget, equation: _Equation) -> ReadSide | None:
        name, is_new = target.name, target.name not in self.names
        try:
            if target.parameters is None and target.alone:
                side = self._reader.side(equation.right)
            else:
                name, side = self._reader.defined(target, equation.left, equation.right)
        except SymgradError as error:
            if self._declared_below(equation.right):
                return self._defined(target, equation)
            if is_new:
                self.names.lose(name, self._line(equation.left.span.start))
            self._unread(equation.right.span, equation.right.text, error)
            return None
        if is_new and name in self.names:  # reading it took it for an input
            return self._implied(name, side, equation)
        self.names.define(name, side.expr.node, side.names)
        self._add("definition", equation.right, equation)
        return side

    def _value(self, name: str, equation: _Equation) -> tuple[bool, ReadSide | None]:
        """Take in what gives an input a value, or defines it by an equation that it stands in itself."""
        symbol = self.names.values[name]
        side = self._read(equation.right)
        if side is None:
            return True, None
        if symbol in set(topological([side.expr.node])):
            if SELF_CUES.search(self._prose(equation.left.span.start)) is None:
                return False, None
            return True, self._implied(name, side, equation)
        if side.expr.shape not in ((), symbol.shape):
            return False, None
        self.names.fixed[symbol] = side.expr.node
        self.names.assume(
            f"{name} = {_said(equation.right)} from here on", self._line(equation.left.span.start)
        )
        self._add("condition", equation.right, equation, message=f"{name} has this value from here on")
        return True, side

    def _implied(self, name: str, side: ReadSide, equation: _Equation) -> ReadSide:
        symbol = self.names.values[name]
        self.names.implied[symbol] = Implied(symbol, side.expr.node)
        self.names.assume(
            f"{name} solves {name} = {_said(equation.right)}", self._line(equation.left.span.start)
        )
        message = f"{name} is what solves this equation; d{name} follows it, ∂ holds {name} fixed"
        self._add("condition", equation.right, equation, message=message)
        return side

    # -- claims --------------------------------------------------------------------------------------------------

    def _step(
        self, left: ReadSide | SideText | None, relation: Relation, text: SideText
    ) -> ReadSide | SideText | None:
        """Judge a step; return the side that the next one goes on with."""
        said = isinstance(left, ReadSide)
        if isinstance(left, SideText):
            left = self._read(left)
            said = left is None
        equation = _Equation(SideText(0, "") if left is None else left.text, relation, text)
        if not text.text.strip():
            self._unread(relation.span, relation.text, ProgramSyntaxError("nothing stands behind it"))
            return left
        if relation.kind == "other":
            self._add("relation", text, equation, message=f"'{relation.text}' is no equality, and not judged")
            return text
        try:
            right = self._reader.side(text)
        except ShapeError as error:
            if left is None:
                self._unread(text.span, text.text, error)
            else:
                self._add_judged(text, equation, self._judge.misfit(left, error))
            return left
        except SymgradError as error:
            self._unread(text.span, text.text, error)
            return left
        if left is None:
            if not said:  # what is wrong with that side stands right above
                self._add("not understood", text, equation, message="what stands before it could not be read")
            return right
        if relation.kind == "require" or self._is_condition(left):
            self._add("condition", text, equation, message="read as a condition, which is not judged")
            return right
        right = replace(right, values=right.values or left.values, claimed=left.slope or left.claimed)
        judged = self._judge.judged(left, right)
        if judged.verdict.status == "refuted":
            if self._right is None:
                self._right = left
            elif (again := self._judge.judged(self._right, right)).verdict.status == "proved":
                # Who goes on from the right formula has made one mistake, and not two.
                message = (
                    f"this is '{_said(self._right.text)}' again, and does not follow from the wrong line"
                )
                judged, self._right = replace(again, message=message), None
        self._add_judged(text, equation, judged)
        return right

    def _is_condition(self, left: ReadSide) -> bool:
        return CONDITION_CUES.search(self._prose(left.text.span.start)) is not None

    def _prose(self, before: int) -> str:
        """Return the words before a place, of its paragraph."""
        text = _OPENING.sub("", self._source.text[max(0, before - _PROSE) : before])
        return re.split(r"\n[ \t]*\n", text)[-1]

    # -- steps ---------------------------------------------------------------------------------------------------

    def _read(self, text: SideText) -> ReadSide | None:
        try:
            return self._reader.side(text)
        except SymgradError as error:
            self._unread(text.span, text.text, error)
            return None

    def _unread(self, span: Span, text: str, error: SymgradError) -> None:
        told = SymgradError(
            error.what, expected=error.expected, cure=error.cure
        )  # the place is that of the step
        span = span if error.at is None else error.at.span
        line, column = self._source.line_column(span.start)
        said = " ".join(text.split())
        step = ReviewStep("not understood", line, column, span, said, message=str(told))
        if step not in self.steps[-2:]:
            self.steps.append(step)

    def _add(
        self, kind: StepKind, text: SideText, equation: _Equation, *, message: str | None = None
    ) -> None:
        self.steps.append(replace(self._made(kind, text, equation), message=message))

    def _add_judged(self, text: SideText, equation: _Equation, judged: Judged) -> None:
        step = self._made(judged.kind, text, equation)
        self.steps.append(
            replace(step, verdict=judged.verdict, message=judged.message, corrected=judged.corrected)
        )

    def _made(self, kind: StepKind, text: SideText, equation: _Equation) -> ReviewStep:
        line, column = self._source.line_column(text.span.start)
        return ReviewStep(
            kind, line, column, text.span, _said(text), _said(equation.left), equation.relation.text
        )

    def _line(self, offset: int) -> int:
        return self._source.line_column(offset)[0]


def _said(side: SideText) -> str:
    """Return a side on one line."""
    return " ".join(side.text.split())


def _declaration(statement: ChainText) -> str:
    """Return a declaration as it is read: what stands between several names in the document may be a word."""
    sides = [" ".join(side.text.split()).replace(" ,", ",") for side in statement.sides]
    rest = (f" {r.text} {side}" for r, side in zip(statement.relations, sides[1:], strict=True))
    return sides[0] + "".join(rest)


def _anywhere(error: SymgradError) -> SymgradError:
    """Return an error without its place, which is one in another text."""
    return type(error)(error.what, expected=error.expected, cure=error.cure)
