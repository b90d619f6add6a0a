"""Verdicts on steps with integrals without bounds, and on expansions with a remainder."""

from __future__ import annotations

from dataclasses import replace

from symgrad.apps.review.decisions.antiderivative import differentiated, integrals_in, variable_of
from symgrad.apps.review.decisions.judge import Judge
from symgrad.apps.review.decisions.step_verdict import IDLE, StepVerdict
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.integrals.expansion import decide_expansion
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import SymgradError
from symgrad.verification.verdict import Verdict


class IntegralJudge(Judge):
    """Decides steps that hold up to constants, or up to a remainder, and all others."""

    def integrated(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Decide a step whose sides have integrals, or are equal to ones; None for another step."""
        known, sides = self._names.integrals, (left.expr.node, right.expr.node)
        bounded, free = ([s for n in sides for s in integrals_in(n, known, bounded=b)] for b in (True, False))
        x = self.variable(left, right)
        if not (bounded or free or x):
            return None
        with self._names.for_all_values(everywhere=True):
            found = self.judged(left, right)
            if self.idle or found.verdict.status == "proved":
                return found
            why = "it has integrals over two variables" if x is None or any(s.shape for s in sides) else None
            if bounded:
                why = "the value of an integral was not found"
            elif any(x not in symbols_of([n]) and not integrals_in(n, known, bounded=False) for n in sides):
                why = "an integral without bounds is a number here, and its bounds are not read"
            if why is not None or x is None:
                return StepVerdict("rewriting", Verdict("undecided", why or ""))
            try:
                slopes = [self._names.expr(differentiated(n, x, known)) for n in sides]
            except SymgradError as error:
                return StepVerdict("rewriting", Verdict("undecided", error.what))
            a, b = (
                replace(side, expr=slope, slope=None, claimed=None, values=True)
                for side, slope in zip((left, right), slopes, strict=True)
            )
            judged = self.judged(a, b)
        return replace(judged, kind="rewriting", message=f"both sides are differentiated by {x.name}")

    def expansion(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Decide a step with a remainder; None for another step."""
        remainders = [side.remainder for side in (left, right) if side.remainder is not None]
        if not remainders:
            return None
        if self.idle:
            return StepVerdict("rewriting", IDLE)
        sides = left.expr.node, right.expr.node
        inputs = [s for s in inputs_of(left.expr.node) if s.dtype == "real"]
        names = {r.by.lstrip("\\") for r in remainders if r.by is not None}
        found = [s for s in symbols_of(sides) if s.name in names] if names else inputs
        orders = [r.order for r in remainders if r.order is not None]
        no_series = (left.remainder is not None and left.remainder.order is None) or any(
            s.shape for s in sides
        )
        if len(found) != 1 or len(names) > 1 or no_series:
            return StepVerdict("rewriting", Verdict("undecided", "it is not clear what the expansion is by"))
        verdict = decide_expansion(*sides, found[0], min(orders, default=None), self._seconds)
        if verdict.status == "refuted":
            verdict = self._unless_in_doubt(left, right, verdict)
        return StepVerdict("rewriting", verdict)

    def variable(self, left: ReadSide, right: ReadSide) -> Node | None:
        """Return the input over which the integrals of two sides are."""
        known = self._names.integrals
        free = [s for side in (left, right) for s in integrals_in(side.expr.node, known, bounded=False)]
        return left.over or variable_of(free, known)
