"""Values of inputs for which alone something is claimed: dy/dx = 6 at x = 3."""

from __future__ import annotations

from collections.abc import Callable

from symgrad.api.claims.verify import equal
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.decisions.shapes import match_shapes
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.ir.graph import Node
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.support.errors import SymgradError
from symgrad.verification.verdict import Verdict

__all__ = ["PointClaims"]


class PointClaims:
    """Decides steps at values of inputs.

    Args:
        names: what the names of a document mean.
        seconds: how long one step may take.

    Attributes:
        at: values that were said behind a claim, for which that and claims after it may be meant.
        here: those of them that were said behind the claim that is judged.
    """

    def __init__(self, names: DocumentNames, seconds: float) -> None:
        self._names, self._seconds = names, seconds
        self.at: dict[Node, Node] = {}
        self.here: frozenset[Node] = frozenset()

    def judged(self, left: ReadSide, right: ReadSide) -> tuple[Verdict, str, str | None] | None:
        """Return what becomes of a step that does not hold everywhere at values that were said; None for the same.

        That is the verdict there, where that is, and the right line where it is wrong. Of inputs that both sides read
        no value is put in: ``dy/dx = 3*x - 3`` is no claim about one point.
        """
        sides = [left.expr.node, right.expr.node]
        one, other = (set(symbols_of([side])) for side in sides)
        values = {s: v for s, v in self.of(right).items() if s in one ^ other}
        if not values:
            return None
        # Both are values: a derivative was taken before.
        a, b = self._put_in(sides, {**self._names.fixed, **values})
        try:
            verdict = equal(a, b, time_limit=self._seconds, values_only=True)
        except SymgradError:
            return None
        said = self._said(values)
        if verdict.status == "proved":
            return verdict, f"where {said}", None
        if verdict.status != "refuted" or self.here.isdisjoint(values):
            return None
        value = a.canonical()
        text = value.latex() if left.text.notation == "latex" else str(value)
        return verdict, f"where {said}", f"{left.text.text.strip()} = {text}"

    def of(self, right: ReadSide) -> dict[Node, Node]:
        """Return the values that a step may be meant for.

        What its right side reads is meant for all values, unless one was said behind it.
        """
        read = set(symbols_of([right.expr.node]))
        return {s: v for s, v in self.at.items() if s in self.here or s not in read}

    def values_in(self, right: ReadSide) -> dict[Node, Node]:
        """Return the values of inputs in a step: those of lines above, and those that it may be meant for."""
        return {**self._names.fixed, **self.of(right)}

    def unless_there_alone(
        self, left: ReadSide, right: ReadSide, verdict: Verdict, in_case: Callable[[Expr, Expr], Expr]
    ) -> Verdict:
        """Return that a step is undecided that holds where a variable has its value, and reads as one for all of them.

        Where x = 2 the slope is 12, and f'(x) = 6*x is 12 there: a formula in x on both sides is no claim about 2.
        """
        names = self._names
        sides = [left.expr.node, right.expr.node]
        one, other = (set(symbols_of([side])) for side in sides)
        parameters = names.parameters
        by = {x.node for s in (left.slope, left.claimed, right.slope) if s is not None for x in s.by}
        values = {
            s: v
            for s, v in names.fixed.items()
            if s in other and (s in by or s.name in parameters or (s in one and self._is_substituted(s, v)))
        }
        if not values:
            return verdict
        a, b = self._put_in(sides, {s: v for s, v in names.fixed.items() if s not in values})
        try:
            general = equal(in_case(a, b), b, time_limit=self._seconds, values_only=True)
        except SymgradError:
            return verdict
        if general.status != "refuted":
            return verdict
        every = ", ".join(s.name for s in values)
        return Verdict(
            "undecided", f"the sides are equal where {self._said(values)}, and not for all {every}"
        )

    def _is_substituted(self, symbol: Node, value: Node) -> bool:
        """Tell whether a number was put in for an input on a line above, where that was no solution."""
        names = self._names
        return value.is_number() and symbol not in names.moving and names.line_of_value(symbol) < names.line

    def _put_in(self, sides: list[Node], values: dict[Node, Node]) -> tuple[Expr, Expr]:
        a, b = (self._names.expr(n) for n in substitute(sides, values))
        return match_shapes(a, b)

    def _said(self, values: dict[Node, Node]) -> str:
        return " and ".join(f"{s.name} = {self._names.expr(v)}" for s, v in values.items())
