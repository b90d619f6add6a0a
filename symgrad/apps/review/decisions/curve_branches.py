"""Verdicts on the branches of implicit curves: the two values for which an equation is solved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from symgrad.api.claims.verify import equal
from symgrad.api.functions.elementary import where
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import ImplicitCurve
from symgrad.apps.review.decisions.implicit_curves import Branch, branches
from symgrad.apps.review.decisions.solving import known_values, solve_for
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.ir.graph import Node
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.verification.verdict import Verdict

_WORSE = ("proved", "supported", "undecided", "refuted")
QUICK = 2.0
"""Seconds for a question beside the verdict on a step."""


class CurveBranches:
    """Decides on each branch of the curves of a document.

    Args:
        names: what the names of the document mean.
    """

    def __init__(self, names: DocumentNames) -> None:
        self._names = names
        self._branches_of: dict[ImplicitCurve, Sequence[Branch]] = {}

    def _on_branches(self, nodes: Sequence[Node], decided: Callable[[int], Verdict]) -> Verdict:
        """Return the verdict on all values that a curve has: the worst of those on each."""
        found = decided(0)
        both = self._branches(nodes)
        if len(both) < 2:
            return found
        other = decided(1)
        if other.status == found.status == "proved":
            return replace(found, why=f"{found.why}, on both branches", proof=None)
        if {found.status, other.status} == {"proved", "refuted"}:
            right, wrong = both if found.status == "proved" else reversed(both)
            return Verdict("undecided", f"it holds where {right}, and not where {wrong}")
        return max(found, other, key=lambda v: _WORSE.index(v.status))

    def _given(self, nodes: Sequence[Node], branch: int = 0) -> tuple[list[Node] | None, str | None]:
        """Return the sides where the document's equations hold, None where it has none about them.

        Args:
            nodes: the sides.
            branch: which of two values an input has for which a curve is solved.

        Returns:
            The sides, and why a difference of the two proves nothing, where it does not.
        """
        names = self._names
        read = set(symbols_of(nodes))
        if not (read & names.fixed.keys() or read & names.implied.keys()):
            return None, None
        found = substitute(nodes, names.fixed)
        for equation in names.implied.values():
            if equation.curve is not None:
                known = self._solved(equation.curve)
                if not known:
                    name = equation.unknown.name
                    return found, f"the sides differ, but perhaps not where {name} solves its equation"
                chosen = known[min(branch, len(known) - 1)]
                found = substitute(found, {chosen.unknown: chosen.value})
                continue
            if equation.unknown not in set(symbols_of(found)):
                continue
            found = substitute(found, known_values(equation.unknown, equation.value))
            solution = solve_for(equation.unknown, equation.value)
            if solution is None:
                name = equation.unknown.name
                return found, f"the sides differ, but perhaps not where {name} solves its equation"
            found = substitute(found, dict([solution]))
        return found, None

    def _on_the_curve(self, verdict: Verdict, a: Expr, b: Expr, branch: int) -> Verdict:
        """Return a verdict on sides in which a curve is solved, whose difference is one where it has points."""
        for here in [found[branch].inside for found in self._curves() if len(found) > branch]:
            if here is not None and verdict.status == "refuted":
                there = equal(where(Expr(here), a, b), b, time_limit=QUICK, values_only=True)
                if there.status == "refuted":
                    there = replace(there, why=verdict.why, regions=(), diagnoses=verdict.diagnoses)
                verdict = there
        return verdict

    def _branches(self, nodes: Sequence[Node]) -> Sequence[Branch]:
        """Return the values of the input for which the document's curve is solved, where formulas read it."""
        read = set(symbols_of(nodes))
        return next((b for b in self._curves() if len(b) > 1 and b[0].unknown in read), ())

    def _curves(self) -> list[Sequence[Branch]]:
        """Return for each curve of the document the values of the input that it is solved for."""
        return [self._solved(i.curve) for i in self._names.implied.values() if i.curve is not None]

    def _solved(self, curve: ImplicitCurve) -> Sequence[Branch]:
        if curve not in self._branches_of:
            self._branches_of[curve] = branches(curve)
        return self._branches_of[curve]
