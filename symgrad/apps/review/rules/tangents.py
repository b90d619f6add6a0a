"""Tangents and normals of curves at a point, y - 4 = 3*(x - 3), and where two curves intersect."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.decisions.conditions import solution
from symgrad.apps.review.decisions.judge import StepVerdict
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.layout.statements import ChainText
from symgrad.apps.review.rules.hypotheses import HypothesisRules
from symgrad.apps.review.rules.state import WrittenEquation
from symgrad.frontend.latex.meaning.inputs import input_of
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Declaration
from symgrad.support.errors import SymgradError
from symgrad.verification.verdict import Verdict

__all__ = ["TangentRules"]

_LINE = re.compile(r"\b(tangent|normal)\b(?!\s+(?:of|vector|component|equation|force))", re.IGNORECASE)
# Another line, beside the tangent; or a point of the tangent that is none of the curve.
_ELSEWHERE = re.compile(
    r"\b(?:parallel|perpendicular|through|from|meets?|cross\w*|intersect\w*)\b[^.\n]*$", re.IGNORECASE
)
_AGAIN = re.compile(
    r"[\s.,;:$&]*(?:i\.e\.|so|or|that is|thus|hence|which gives|giving)?[\s,:$&]*", re.IGNORECASE
)
_MEET = re.compile(r"\b(?:intersect\w*|meets?|cross(?:es)?)\b", re.IGNORECASE)
_AHEAD = 3  # statements that may say where two curves intersect


class _Curve(NamedTuple):
    """A curve: its y, what that follows, what y and its slope are, of x or of both."""

    y: str
    x: Node
    height: Node
    slope: Node


class TangentRules(HypothesisRules):
    """The rules of straight lines beside curves."""

    def _says_tangent(self, statement: ChainText) -> bool:
        """Judge an equation that words call the tangent, or the normal, of the curve above; tell whether it is one."""
        kind = self._kind_of_line(statement)
        equation = None if kind is None else self._first(statement)
        curve = self._curve() if equation is not None else None
        if kind is None or equation is None or curve is None:
            return False
        with self._free(curve.y):
            y = self.names.values[curve.y]
            try:
                left, right = (self._reader.side(side) for side in statement.sides)
            except SymgradError:
                return False
        read = set(symbols_of([left.expr.node, right.expr.node]))
        if not {curve.x, y} <= read or left.values or right.values:
            return False
        claimed = solution((left.expr.node, right.expr.node), y)
        at = {s: v for s, v in {**self.names.fixed, **self._judge.places.at}.items() if s in (curve.x, y)}
        height, steep = substitute([curve.height, curve.slope], at)
        elsewhere = _ELSEWHERE.search(self._prose(statement.sides[0].span.start)) is not None
        if claimed is None or elsewhere or not {curve.x, y}.isdisjoint(symbols_of([height, steep])):
            why = f"no line says at which point this is the {kind}"
            self._take_line(statement, equation, kind, Verdict("undecided", why))
            return True
        slope = Expr(steep) if kind == "tangent" else -1 / Expr(steep)
        line = (Expr(height) + slope * (Expr(curve.x) - Expr(at[curve.x]))).canonical()
        judged = self._judge.equal_formulas(line.node, claimed, equation.right.text)
        message = f"the {kind} at {curve.x.name} = {Expr(at[curve.x])} is {curve.y} = {line}"
        self._take_line(statement, equation, kind, judged, message)
        return True

    def _take_line(
        self,
        statement: ChainText,
        equation: WrittenEquation,
        kind: str,
        verdict: Verdict,
        message: str | None = None,
    ) -> None:
        """Add the verdict on the equation of a line."""
        self._add_judged(equation.right, equation, StepVerdict("rewriting", verdict, message))
        self._last, self._previous, self._line_kind = None, statement, kind
        self._end = statement.sides[-1].span.end

    def _kind_of_line(self, statement: ChainText) -> str | None:
        """Return ``tangent`` or ``normal`` for an equation that words before it call so, or that goes on with one."""
        before, self._line_kind = self._line_kind, None
        if statement.continues or len(statement.sides) != 2 or statement.relations[0].kind != "equal":
            return None
        start = statement.sides[0].span.start
        cues = _LINE.findall(self._prose(start).rpartition("\n")[2])
        goes_on = before is not None and _AGAIN.fullmatch(self._source.text[self._end : start]) is not None
        return cues[-1].lower() if cues else before if goes_on else None

    def _curve(self) -> _Curve | None:
        """Return the last curve of the document: F(x, y) = c, y = f(x), or that of a function f(x)."""
        names = self.names
        for equation in reversed(names.implied.values()):
            if equation.curve is not None:
                y, x = equation.curve.y, equation.curve.x
                return _Curve(y.name, x, y, derivative(Expr(y), (Expr(x),), (equation,)).node)
        functions = [n for n, parameters in names.functions.items() if len(parameters) == 1]
        name = "y" if "y" in names.values else functions[-1] if functions else None
        height = None if name is None else names.values[name]
        x = None if height is None or height.shape or not height.args else input_of(height)
        if height is None or x is None:
            return None
        return _Curve("y", x, height, derivative(Expr(height), (Expr(x),)).node)

    @contextmanager
    def _free(self, name: str) -> Generator[None]:
        """Read a name as a number that is free, within a with statement."""
        values = self.names.values
        before = values.get(name)
        values[name] = before if before is not None and before.op is SYMBOL else symbol(Declaration(name))
        try:
            yield
        finally:
            values.pop(name) if before is None else values.update({name: before})

    def _has_common_points(self, left: ReadSide, right: ReadSide, equation: WrittenEquation) -> bool:
        """Tell whether a second formula for a name is that of another curve, which intersects the first one.

        Words say so, or one of the next statements equates the two: y = x**2, y = 2*x + 3, x**2 = 2*x + 3.
        """
        nodes = [left.expr.node, right.expr.node]
        if not self.names.is_defined(equation.left.text.strip(" &$")) or any(n.shape for n in nodes):
            return False
        if _MEET.search(self._sentence()) is not None:
            return True
        difference = Expr(nodes[0]) - Expr(nodes[1])
        for following in self._behind_it[:_AHEAD]:
            if following.continues or len(following.sides) != 2 or following.relations[0].kind != "equal":
                continue
            try:
                a, b = (self._reader.side(side).expr for side in following.sides)
            except SymgradError:
                continue
            if a.shape == b.shape == () and any(
                (difference + sign * (a - b)).canonical().node.is_number(0) for sign in (1, -1)
            ):
                return a.node is not nodes[0] or b.node is not nodes[0]
        return False
