"""Mistakes in steps that differentiate: in the steps of a document, and with the mistakes of its equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from symgrad.api.claims.verify import verify
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.decisions.curve_branches import QUICK
from symgrad.apps.review.decisions.implicit import implicit_mistakes
from symgrad.apps.review.formulas.calculus import derivative, implicit_derivative
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.checker.clock import now
from symgrad.ir.graph import Node
from symgrad.support.errors import SymgradError
from symgrad.verification.diagnosis import Diagnoses
from symgrad.verification.mistakes.candidate import agree_at_points
from symgrad.verification.mistakes.kinds import OF_ALGEBRA
from symgrad.verification.verdict import Verdict


class StepDiagnosis:
    """Finds which mistake a wrong step makes.

    Args:
        names: what the names of a document mean.
        given: puts into sides what the document's equations say of their inputs; None for nothing.

    Attributes:
        written: of a derivative the last form in which the document has it.
    """

    def __init__(
        self,
        names: DocumentNames,
        given: Callable[[Sequence[Node]], tuple[list[Node] | None, str | None]],
    ) -> None:
        self._names, self._given = names, given
        self.written: dict[Node, Expr] = {}

    def with_mistake(self, left: ReadSide, right: ReadSide, verdict: Verdict) -> Verdict:
        """Return a verdict on a wrong step that knows the mistake, where the engine alone does not see it."""
        if left.slope is None:
            verdict = self._as_derivative(left, right, verdict)
        return self._as_higher(left, right, self._as_implicit(left, right, verdict))

    def _as_derivative(self, left: ReadSide, right: ReadSide, verdict: Verdict) -> Verdict:
        """Return a verdict on a wrong rewriting that knows the mistake, where what is rewritten is a derivative."""
        slope = left.claimed
        if slope is None or not slope.plain or len(slope.by) != 1:
            return verdict
        try:
            of_left = verify(slope.of, slope.by[0], left.expr, time_limit=QUICK)
            of_right = verify(slope.of, slope.by[0], right.expr, time_limit=QUICK)
        except SymgradError:
            return verdict
        if of_left.status == "refuted" or of_right.status != "refuted":
            return verdict
        known = verdict.diagnosis
        if known and known[0].kind in OF_ALGEBRA:
            return verdict  # who rewrote wrongly there made no mistake in differentiating
        return replace(verdict, diagnoses=of_right.diagnoses.with_more(lambda: known))

    def _as_implicit(self, left: ReadSide, right: ReadSide, verdict: Verdict) -> Verdict:
        """Return a verdict on a wrong derivative through an equation that knows the mistake."""
        written = left.slope or left.claimed
        if written is None or written.plain:
            return verdict
        if left.slope is not None:  # nobody wrote the formula that an algebraic mistake would be in
            known = [d for d in verdict.diagnosis if d.kind not in OF_ALGEBRA]
            verdict = replace(verdict, diagnoses=Diagnoses(known))
        if len(written.by) != 1:
            return verdict
        try:
            slope = implicit_derivative(written.of, written.by[0], tuple(self._names.implied.values()))
        except SymgradError:
            return verdict
        found = [] if slope is None else implicit_mistakes(slope, right.expr, self._agree)
        return replace(verdict, diagnoses=Diagnoses(found)) if found else verdict

    def _as_higher(self, left: ReadSide, right: ReadSide, verdict: Verdict) -> Verdict:
        """Return a verdict on a wrong derivative of second order that knows the mistake, if it is one of the last step.

        That differentiates the first derivative as the document has it, where that is right.
        """
        slope = left.slope
        if slope is None or not slope.plain or not slope.by:
            return verdict
        *before, last = slope.by
        try:
            first = derivative(slope.of, tuple(before)) if before else slope.of
            written = self.written.get(first.node)
            if not before and written is None:
                return verdict  # it is none of second order
            step = verify(first if written is None else written, last, right.expr, time_limit=QUICK)
        except SymgradError:
            return verdict
        if step.status == "refuted":
            return replace(verdict, diagnoses=step.diagnoses)
        if not before:
            return verdict
        return replace(verdict, diagnoses=Diagnoses())  # no formula of the document has an algebraic mistake

    def _agree(self, one: Expr, other: Expr) -> bool:
        """Tell whether two formulas are equal where the document's equations hold, at exact points."""
        nodes, _ = self._given([one.node, other.node])
        first, second = [one.node, other.node] if nodes is None else nodes
        try:
            return agree_at_points(first, second, now() + QUICK / 4) is True
        except SymgradError:
            return False
