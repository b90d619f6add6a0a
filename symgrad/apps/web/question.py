"""A question with the values that several parts of its answer share, computed once.

A claim is a typed derivative: in program notation or LaTeX, alone or after ``dy/dx =``.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import symgrad
from symgrad.api.derivatives.entries import target_named
from symgrad.api.explaining.explain import Derivation
from symgrad.apps.review.layout.passages import FORMS, DocumentForm
from symgrad.apps.web.box import BoxText, read_box
from symgrad.apps.web.limits import STEP_SECONDS, TARGETS
from symgrad.support.errors import ProgramSyntaxError, SymgradError, UsageError, placed_error
from symgrad.support.source import Location, Source, Span
from symgrad.verification.verdict import Verdict

_CLAIM = "the claim"
_EQUALS = re.compile(r"(?<![=<>!:])=(?!=)")
_LETTER = r"(?:\\partial(?![A-Za-z])|\\mathrm\{d\}|\\mathrm d|\\dd(?![A-Za-z])|∂|d)\s*"
_OVER = (
    re.compile(rf"\\[dt]?frac\{{{_LETTER}(?P<of>.*?)\}}\{{{_LETTER}(?P<by>.*?)\}}(?P<after>.*)", re.DOTALL),
    re.compile(rf"{_LETTER}(?P<of>[^/]*?)\s*/\s*{_LETTER}(?P<by>[^()]*?)(?P<after>)", re.DOTALL),
    re.compile(r"\\nabla_\{?(?P<by>[^{}]*?)\}?(?:\s+(?P<of>[^{}]*))?(?P<after>)", re.DOTALL),
)
_PRIME = re.compile(r"(?P<of>[^'()^]+?)(?:'|\^\{?\\prime\}?)(?:\((?P<by>[^()]*)\))?")
_LATEX = re.compile(r"\\[A-Za-z]|\$|[\^_]\{")


class PageQuestion:
    """A program with a question about it.

    Args:
        data: as `symgrad.apps.web.answers.validate_question` returns it.
    """

    NAME = "program"
    """The name of the text in messages."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.at_fault: str | None = None
        """The field with a name that the program does not have."""

    @contextmanager
    def _reading(self, field: str) -> Generator[None]:
        try:
            yield
        except SymgradError:
            self.at_fault = field
            raise

    def said(self, field: str) -> str:
        """Return a field without surrounding spaces; empty if it is missing."""
        return str(self._data.get(field, "")).strip()

    @cached_property
    def box(self) -> BoxText:
        """The text, read as a program, a formula or a derivation."""
        form: DocumentForm | None = next((known for known in FORMS if known == self.said("form")), None)
        return read_box(str(self._data["program"]), self.NAME, form, STEP_SECONDS)

    @property
    def program(self) -> symgrad.Program:
        """The program, or what a document declares and defines."""
        return self.box.program

    @cached_property
    def y(self) -> symgrad.Expr:
        """The differentiated value."""
        name = self.said("of")
        if not name:
            return self.program.last
        program = self.program
        with self._reading("of"):
            return program[name]

    @cached_property
    def wrt(self) -> list[symgrad.Expr]:
        """The variables of differentiation: the typed names, else every real input that is not random."""
        names = [n.strip() for n in self.said("wrt").split(",") if n.strip()]
        if names:
            y = self.y
            with self._reading("wrt"):
                found = [target_named(y, name) for name in names]
        else:
            found = [
                i for i in self.y.inputs if i.dtype == "real" and i.node.declaration.distribution is None
            ]
        if not found:
            raise UsageError(
                "the program has no real input to differentiate by",
                cure="declare one, x : real, or say by what",
            )
        if len(found) > TARGETS:
            raise UsageError(
                f"{len(found)} inputs are too many to show", cure="say by which, at most " + str(TARGETS)
            )
        return found

    @cached_property
    def gradients(self) -> list[symgrad.Expr]:
        """The gradients of a number, or the Jacobians of an array."""
        if self.y.shape:
            return [symgrad.jacobian(self.y, w) for w in self.wrt]
        return list(symgrad.grad(self.y, list(self.wrt)))

    @cached_property
    def derivation(self) -> Derivation:
        """The derivation of the gradients."""
        return symgrad.explain(self.y, list(self.wrt))

    @property
    def name(self) -> str:
        """The name of the formula in source code."""
        name = self.y.name or "f"
        return name if name.isidentifier() else "f"


def decide_claim(question: PageQuestion, text: str, seconds: float) -> tuple[Verdict, tuple[str, ...]]:
    r"""Read a claim about a program, and decide it.

    Args:
        question: the question with the program.
        text: the claim.
        seconds: the time limit.

    Returns:
        The verdict, and the reading of each ambiguous notation in the claim.

    Raises:
        SymgradError: if the claim cannot be read, with its place; or if the variable of differentiation is ambiguous.

    Example:
        >>> q = PageQuestion({"program": "x, t : real\ny = sin(x**2)*t"})
        >>> decide_claim(q, r"\frac{\partial y}{\partial x} = 2 x t \cos (x^2)", 5)[0].status
        'proved'
        >>> decide_claim(q, "dy/dt = sin(x**2)", 5)[0].status
        'proved'
        >>> decide_claim(q, "dy/dx = 2*x*t*cos(x**2", 5)
        Traceback (most recent call last):
        ...
        symgrad.errors.ProgramSyntaxError: this '(' is never closed
        the claim, line 1, column 18
            dy/dx = 2*x*t*cos(x**2
                             ^
          try: add the missing ')'
    """
    source = Source(text, _CLAIM)
    equals = _outside(text)
    if equals is None:
        start, of, by = 0, question.y, _only(question)
    else:
        start, (of, by) = equals.end(), _about(question, source, equals.start())
    start += len(text[start:]) - len(text[start:].lstrip())
    right = text[start:].rstrip()
    if not right:
        raise ProgramSyntaxError(
            "there is no right side",
            at=Location(source, Span(len(text), len(text))),
            expected="a formula",
            cure="type the derivative behind the '='",
        )
    claim: symgrad.Expr | str = right
    readings: tuple[str, ...] = ()
    try:
        if _LATEX.search(text) is not None:
            # The dollars may enclose both sides of the equation.
            read = symgrad.read_latex(right.strip("$"), question.program, name=_CLAIM)
            claim, readings = read.expr, tuple(str(r) for r in read.readings)
        return symgrad.verify(of, by, claim, time_limit=seconds), readings
    except SymgradError as error:
        if error.at is None or error.at.source.text not in (right, right.strip("$")):
            raise
        moved = start + right.index(error.at.source.text)
        span = Span(error.at.span.start + moved, error.at.span.end + moved)
        raise placed_error(error, Location(source, span)) from None


def _outside(text: str) -> re.Match[str] | None:
    """Return the first sign of equality outside brackets: inside them it names an argument."""
    for found in _EQUALS.finditer(text):
        before = text[: found.start()]
        if all(before.count(a) == before.count(b) for a, b in ("()", "[]", "{}")):
            return found
    return None


def _only(question: PageQuestion) -> symgrad.Expr:
    """Return the only variable of differentiation of the question."""
    if len(question.wrt) != 1:
        names = ", ".join(str(w) for w in question.wrt)
        first = f"d{question.y.name or ''}/d{question.wrt[0]}"
        raise UsageError(
            f"a claim is about one derivative, not those by {names}",
            cure=f"say which one: {first} = ..., or fill in by what",
        )
    return question.wrt[0]


def _about(question: PageQuestion, source: Source, end: int) -> tuple[symgrad.Expr, symgrad.Expr]:
    """Return the value and the variable of the derivative on the left side of a claim."""
    left = source.text[:end].strip().strip("$").strip()
    start = source.text.index(left)
    found = next((m for p in (*_OVER, _PRIME) if (m := p.fullmatch(left)) is not None), None)
    of, by = ("", "") if found is None else (_plain(found.group("of")), _plain(found.group("by")))
    of = of or _plain(found.groupdict().get("after") or "") if found is not None else of
    here = Location(source, Span(start, start + len(left)))
    known = f"d{question.y.name or ''}/d{question.wrt[0]}"
    # Drop a list of arguments after the name.
    of = of.partition("(")[0]
    if found is None or (of and of not in question.program):
        raise ProgramSyntaxError(
            "this is no derivative of a value of the program"
            if found is None
            else f"the program has no '{of}'",
            at=here,
            expected=f"{known} = ..., or the derivative alone",
            cure=f"write {known}",
        )
    value = question.program[of] if of else question.y
    if not by:
        return value, _only(question)
    try:
        return value, target_named(value, by)
    except SymgradError as error:
        raise placed_error(error, here) from None


def _plain(name: str | None) -> str:
    r"""Convert a name of LaTeX to program notation: ``k_{B}`` to ``k_B``, ``\sigma`` to ``sigma``."""
    return re.sub(r"[\\{}$\s]", "", name or "")
