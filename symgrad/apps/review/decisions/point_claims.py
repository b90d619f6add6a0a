"""Values of inputs for which alone something is claimed: dy/dx = 6 at x = 3."""

from __future__ import annotations

import re
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

    def judged(self, left: ReadSide, right: ReadSide) -> tuple[Verdict, str | None, str | None] | None:
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
        if verdict.status == "proved":
            return verdict, None, None
        if verdict.status != "refuted" or self.here.isdisjoint(values):
            return None
        value = a.canonical()
        text = value.latex() if left.text.notation == "latex" else str(value)
        return verdict, f"where {self._said(values)}", f"{left.text.text.strip()} = {text}"

    def forget_above(self) -> None:
        """Forget the values that were not said behind the claim that is judged."""
        self.at = {s: v for s, v in self.at.items() if s in self.here}

    def of(self, right: ReadSide) -> dict[Node, Node]:
        """Return the values that a step may be meant for.

        What its right side reads is meant for all values, unless one was said behind it.
        """
        read = set(symbols_of([right.expr.node]))
        is_value = read.isdisjoint(self.at)
        return {s: v for s, v in self.at.items() if s in self.here or is_value}

    def values_in(self, right: ReadSide) -> dict[Node, Node]:
        """Return the values of inputs in a step: those of lines above, and those that it may be meant for."""
        return {**self._names.fixed, **self.of(right)}

    def at_points(
        self, left: ReadSide, right: ReadSide, verdict: Verdict, in_case: Callable[[Expr, Expr], Expr]
    ) -> tuple[Verdict, str | None]:
        """Return the verdict on a step that holds, and where it holds if that is only at values of inputs.

        It is undecided if it reads as a step for all values, and no words of its own line give them. Where x = 2 the
        slope is 12, and f'(x) = 6*x is 12 there: a formula in x on both sides is no claim about 2.
        """
        names = self._names
        sides = [left.expr.node, right.expr.node]
        one, other = (set(symbols_of([side])) for side in sides)
        by = {x.node for s in (left.slope, left.claimed, right.slope) if s is not None for x in s.by}
        parameters = names.parameters
        general = {s for s in names.fixed if s in other and (s in by or s.name in parameters)}
        points = (one | other) & (names.points.keys() | self.at.keys())
        above = {s for s in points if not self._is_here(s)}
        numbers = {s for s in above if names.fixed.get(s, s).is_number()}
        general |= numbers if numbers & other else {s for s in above if _is_called(left, s)}
        values = {s: v for s, v in self.values_in(right).items() if s in general | points}
        if not values:
            return verdict, None
        a, b = self._put_in(sides, {s: v for s, v in names.fixed.items() if s not in values})
        try:
            everywhere = equal(in_case(a, b), b, time_limit=self._seconds, values_only=True)
        except SymgradError:
            return verdict, None
        if everywhere.status != "refuted":
            return verdict, None
        said = self._said(values)
        if general.isdisjoint(values):
            return verdict, f"where {said}"
        every = ", ".join(s.name for s in values if s in general)
        return Verdict("undecided", f"the sides are equal where {said}, and not for all {every}"), None

    def _is_here(self, symbol: Node) -> bool:
        """Tell whether words beside a claim give an input its value."""
        return symbol in self.here or self._names.points.get(symbol, 0) >= self._names.line

    def _put_in(self, sides: list[Node], values: dict[Node, Node]) -> tuple[Expr, Expr]:
        a, b = (self._names.expr(n) for n in substitute(sides, values))
        return match_shapes(a, b)

    def _said(self, values: dict[Node, Node]) -> str:
        return " and ".join(f"{s.name} = {self._names.expr(v)}" for s, v in values.items())


def _is_called(side: ReadSide, symbol: Node) -> bool:
    """Tell whether an input is an argument in a side, as in f'(x): then the side is meant for all of its values."""
    return re.search(rf"\(\s*\\?{re.escape(symbol.name)}\s*[,)]", side.text.text) is not None
