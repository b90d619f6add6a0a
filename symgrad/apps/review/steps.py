"""The steps of a derivation, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from symgrad.apps.review.assumptions import Assumption
from symgrad.apps.review.layout.passages import DocumentForm
from symgrad.ir.listing import Listing
from symgrad.support.source import Source, Span
from symgrad.verification.verdict import Status, Verdict

StepKind: TypeAlias = Literal[
    "definition", "derivative", "rewriting", "solution", "condition", "relation", "not understood"
]


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """One step of a derivation, from a side to the next.

    Args:
        kind: ``definition`` of a name; ``derivative``, a claim that something is one; ``rewriting`` of the side before;
            ``solution``, a value that is said to solve an equation that was asked for;
            ``condition``, an equation that is asked for or that gives a value, which is taken to hold;
            ``relation``, a step that is no equality; ``not understood``.
        line: of the document, from 1; where the side begins that is judged.
        column: likewise, from 1.
        span: the characters of that side.
        text: that side as it is written.
        before: the side before, as it is written; empty where there is none.
        relation: what stands between the two.
        verdict: whether the step is right; None where nothing is judged.
        message: why nothing is judged, or what else there is to say.
        corrected: what the side would have to be, where that is known.
    """

    kind: StepKind
    line: int
    column: int
    span: Span
    text: str
    before: str = ""
    relation: str = "="
    verdict: Verdict | None = None
    message: str | None = None
    corrected: str | None = None

    @property
    def status(self) -> Status | None:
        """What is known of it; None where nothing is judged."""
        return None if self.verdict is None else self.verdict.status

    def __str__(self) -> str:
        known = self.status or self.kind
        return f"line {self.line}: {known}: {self.before} {self.relation} {self.text}".replace(":  ", ": ")


_WORST: tuple[Status, ...] = ("refuted", "undecided", "supported", "proved")


@dataclass(frozen=True)
class ReviewRecord:
    """What became of the steps of a document.

    Args:
        source: the document.
        form: ``markdown``, ``latex`` or ``text``.
        steps: all steps, in the order of the document.
        assumptions: what the verdicts rest on: what the document declares, and what it leaves open.
        defined: the inputs and definitions of the document, as of a program.
    """

    source: Source
    form: DocumentForm
    steps: tuple[ReviewStep, ...]
    assumptions: tuple[Assumption, ...]
    defined: Listing

    @property
    def first_wrong(self) -> ReviewStep | None:
        """The first step that is refuted; None if none is."""
        return next((step for step in self.steps if step.status == "refuted"), None)

    @property
    def not_understood(self) -> tuple[ReviewStep, ...]:
        """What could not be read."""
        return tuple(step for step in self.steps if step.kind == "not understood")

    @property
    def status(self) -> Status:
        """The worst status of a step: ``refuted``, then ``undecided``, ``supported``, ``proved``.

        What is not understood is undecided; so is a document that claims nothing.
        """
        found = {s.status for s in self.steps if s.status is not None}
        if self.not_understood or not found:
            found.add("undecided")
        return next(status for status in _WORST if status in found)
