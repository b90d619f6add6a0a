"""Tangents and normals of curves and surfaces at a point, and where two curves intersect."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.decisions.conditions import Sides, is_multiple, solution
from symgrad.apps.review.decisions.step_verdict import StepVerdict
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.layout.prose import FOLLOWS_CUES
from symgrad.apps.review.layout.statements import ChainText
from symgrad.apps.review.rules.hypotheses import HypothesisRules
from symgrad.apps.review.rules.state import WrittenEquation
from symgrad.ir.graph import SYMBOL, Node, number, symbol
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Declaration
from symgrad.support.errors import SymgradError
from symgrad.verification.verdict import Verdict

_LINE = re.compile(
    r"\b(?:(?P<normal>normal)|tangent|linear\s+approximation|lineari[sz]ation)\b"
    r"(?!\s+(?:of|vector|component|equation|force))",
    re.IGNORECASE,
)
# Another line, beside the tangent; or a point of the tangent that is none of the curve.
_ELSEWHERE = re.compile(
    r"\b(?:parallel|perpendicular|through|from|meets?|cross\w*|intersect\w*)\b[^.\n]*$", re.IGNORECASE
)
_POINT = re.compile(r"\b(?:where|when|point|with|if)\b[^.\n]*$", re.IGNORECASE)
_AGAIN = re.compile(
    r"[\s.,;:$&]*(?:i\.e\.|so|or|that is|thus|hence|which gives|giving)?[\s,:$&]*", re.IGNORECASE
)
_MEET = re.compile(r"\b(?:intersect\w*|meets?|cross(?:es)?|line|curve|parabola|circle)\b", re.IGNORECASE)
_MULTIPLIER = re.compile(r"(?:λ|lam(?:bda)?_?)[₀-₉\d]*")
_AHEAD = 3  # statements that may say where two curves intersect
_COORDINATES = ("x", "y", "z")


class _Curve(NamedTuple):
    """A curve or a surface, F = c: its coordinates, and F; of the graph of a function also that."""

    coordinates: tuple[Node, ...]
    level: Node
    height: Node | None = None


class TangentRules(HypothesisRules):
    """The rules of lines and planes beside curves and surfaces."""

    def _says_tangent(self, statement: ChainText) -> bool:
        """Judge an equation that words call a tangent, or a normal, of what stands above; tell whether it is one."""
        kind = self._kind_of_line(statement)
        curve = None if kind is None else self._curve(statement)
        if kind is None or curve is None:
            return False
        found = self._free_sides(statement, curve)
        before = self._prose(statement.sides[0].span.start)
        if not found or not all(_is_line(sides, curve, before) for sides in found):
            return False
        point = None if _ELSEWHERE.search(before) else self._point_of(curve)
        for k, sides in enumerate(found):
            judged = StepVerdict(
                "rewriting", Verdict("undecided", f"no line says at which point the {kind} is")
            )
            right = statement.sides[k + 1]
            if point is not None:
                judged = self._compared(kind, curve, point, sides, right.text)
            self._add_judged(
                right, WrittenEquation(statement.sides[k], statement.relations[k], right), judged
            )
        self._last, self._previous, self._line_kind = None, statement, kind
        self._end = statement.sides[-1].span.end
        return True

    def _kind_of_line(self, statement: ChainText) -> str | None:
        """Return ``tangent`` or ``normal`` for an equation that words before it call so, or that goes on with one."""
        before, self._line_kind = self._line_kind, None
        if statement.continues or any(r.kind != "equal" for r in statement.relations):
            return None
        start = statement.sides[0].span.start
        cues = list(_LINE.finditer(self._prose(start).rpartition("\n")[2]))
        kind = before if _AGAIN.fullmatch(self._source.text[self._end : start]) else None
        if cues:
            kind = "normal" if cues[-1]["normal"] else "tangent"
        return kind if len(statement.sides) == 2 or (kind == "normal" and len(statement.sides) > 2) else None

    def _curve(self, statement: ChainText) -> _Curve | None:
        """Return the last curve or surface of the document: F(x, y) = c, y = f(x), z = f(x, y), or that of f(x)."""
        names = self.names
        text = "".join(side.text for side in statement.sides)
        count = 3 if re.search(r"(?<![^\W\d_])z(?![^\W\d_])", text) else 2
        letters = _COORDINATES[:count]
        known = {n: names.values[n] for n in letters if n in names.values and not names.values[n].shape}
        base = tuple(known[n] for n in letters[:-1] if n in known and known[n].op is SYMBOL)
        last = known.get(letters[-1])
        if len(base) < count - 1:
            return None
        free = symbol(Declaration(letters[-1])) if last is None or last.op is not SYMBOL else last
        coordinates = (*base, free)
        if last is not None and last.op is not SYMBOL:
            return _Curve(coordinates, (Expr(free) - Expr(last)).node, last)
        for left, right in self._equations():
            read = set(symbols_of([left, right]))
            level = Expr(left) - Expr(right)
            if read.issuperset(coordinates) and solution((left, right), free) is None:
                return _Curve(coordinates, level.node)
        for needed in (set(coordinates), set(base)):
            value = self._function_of(needed)
            if value is not None and len(needed) == count:
                return _Curve(coordinates, value)
            if value is not None:
                return _Curve(coordinates, (Expr(free) - Expr(value)).node, value)
        return None

    def _function_of(self, coordinates: set[Node]) -> Node | None:
        """Return the last function of some coordinates, else the only formula of them; None for several formulas."""
        found = {
            name: value
            for name, value in self.names.values.items()
            if value.args and not value.shape and value.dtype == "real"
            if {s for s in symbols_of([value]) if s.name in _COORDINATES} == coordinates
        }
        called = [value for name, value in found.items() if name in self._reader.letters.arguments]
        return called[-1] if called else next(iter(found.values())) if len(found) == 1 else None

    def _equations(self) -> list[Sides]:
        """Return the equations of inputs that hold, the last one first."""
        curves = [e.curve for e in self.names.implied.values() if e.curve is not None]
        known = [*(c for solved in self.names.solved.values() for c in solved), *self.names.conditions]
        found = [(c.left, c.right) for c in known if not c.unknowns]
        return [*((c.left, c.right) for c in reversed(curves)), *reversed(found)]

    def _free_sides(self, statement: ChainText, curve: _Curve) -> list[Sides]:
        """Return the two sides of each link of a chain, where the last coordinate is free; none if they do not fit."""
        free, sides = curve.coordinates[-1], statement.sides
        target = self._reader.target(sides[0])
        named = target is not None and target.name not in self.names and curve.height is not None
        with self._free(free):
            try:
                read = [self._reader.side(side) for side in (sides[1:] if named else sides)]
            except SymgradError:
                return []
        if any(side.values or side.expr.shape for side in read):
            return []
        nodes = [
            *([free] if named else []),
            *(side.expr.node for side in read),
        ]  # L(x) = 1 + 2*x is a line, too
        return list(pairwise(nodes))

    @contextmanager
    def _free(self, coordinate: Node) -> Generator[None]:
        """Read the name of a coordinate as a number that is free, within a with statement."""
        values, name = self.names.values, coordinate.name
        before = values.get(name)
        values[name] = coordinate
        try:
            yield
        finally:
            values.pop(name) if before is None else values.update({name: before})

    def _point_of(self, curve: _Curve) -> Mapping[Node, Node] | None:
        """Return the point that words give; of a graph without its height."""
        needed = curve.coordinates[: -1 if curve.height is not None else None]
        places, names = self._judge.places, self.names
        here = {s: v for s, v in places.at.items() if s in places.here}
        chosen = {s: v for s, v in names.fixed.items() if s not in names.solved}
        return next((at for at in (here, places.at, chosen) if all(s in at for s in needed)), None)

    def _compared(
        self, kind: str, curve: _Curve, point: Mapping[Node, Node], sides: Sides, text: str
    ) -> StepVerdict:
        """Compare an equation with that of the tangent at a point, or of the normal."""
        at = {s: point[s] for s in curve.coordinates if s in point}
        said = " and ".join(f"{s.name} = {Expr(v)}" for s, v in at.items())
        if curve.height is not None:
            at[curve.coordinates[-1]] = substitute([curve.height], at)[0]
        slopes = {s: self._slope_at(curve.level, s, at) for s in curve.coordinates}
        steps = {s: Expr(s) - Expr(at[s]) for s in curve.coordinates}
        read = [s for s in curve.coordinates if s in symbols_of(sides)]
        pair = curve.coordinates if len(at) == 2 else read
        if kind == "tangent":
            line = sum((slopes[s] * steps[s] for s in curve.coordinates), Expr(number(0)))
        elif len(pair) == 2:
            line = slopes[pair[1]] * steps[pair[0]] - slopes[pair[0]] * steps[pair[1]]
        else:
            line = Expr(number(0))
        both = [(x, *(solution(s, x) for s in ((line.node, number(0)), sides))) for x in pair[::-1] or at]
        lines = [f"{x.name} = {Expr(there)}" for x, there, _ in both if there is not None]
        if not lines:
            return StepVerdict("rewriting", Verdict("undecided", f"the {kind} has no equation there"))
        solved = next(((t, h) for _, t, h in both if t is not None and h is not None), None)
        if solved is None:
            verdict = Verdict("refuted", f"it is solved for another coordinate than the {kind}")
        else:
            verdict = self._judge.equal_formulas(*solved, text)
        return StepVerdict("rewriting", verdict, f"the {kind} at {said} is {lines[0]}")

    def _slope_at(self, level: Node, x: Node, point: Mapping[Node, Node]) -> Expr:
        """Return a derivative at a point: the number 0 where it is proved to be that."""
        slope = substitute([derivative(Expr(level), (Expr(x),)).node], point)[0]
        is_zero = self._judge.equal_formulas(slope, number(0), "").status == "proved"
        return Expr(number(0)) if is_zero else Expr(slope).canonical()

    def _has_common_points(self, left: ReadSide, right: ReadSide, equation: WrittenEquation) -> bool:
        """Tell whether a second formula for a name is that of another curve, which intersects the first one.

        Words say so, or one of the next statements equates the two: y = x**2, y = 2*x + 3, x**2 = 2*x + 3.
        """
        nodes = (left.expr.node, right.expr.node)
        if not self.names.is_defined(equation.left.text.strip(" &$")) or any(n.shape for n in nodes):
            return False
        return _MEET.search(self._sentence()) is not None or self._is_used_next(nodes)

    def _is_another_equation(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation of inputs holds beside others that it does not follow from.

        It is another curve, where words say so or one of the next statements has this equation put into another one; or
        a derivative that is set to zero, of a formula with a multiplier: 2*x = λ.
        """
        sides = (left.expr.node, right.expr.node)
        plain = left.slope is None and not left.values and not right.values
        if not plain or any(s.shape for s in sides) or FOLLOWS_CUES.search(self._before) is not None:
            return False
        read, holding = set(symbols_of(sides)), self.names.conditions
        known = symbols_of([v for v in self.names.values.values() if v.args])
        if not read <= {s for c in holding for s in c.reads}.union(known):
            return False
        multipliers = [s for s in read if _MULTIPLIER.fullmatch(s.name)]
        if multipliers:
            return self._is_first_order(sides, multipliers[0])
        if sides[0].op is not SYMBOL or sides[0] in symbols_of([sides[1]]) or not symbols_of([sides[1]]):
            return False
        others = [c.where({sides[0]: sides[1]}) for c in holding if sides[0] in c.reads]
        return _MEET.search(self._sentence()) is not None or any(
            self._is_used_next((c.left, c.right)) for c in others
        )

    def _is_first_order(self, sides: Sides, multiplier: Node) -> bool:
        """Tell whether an equation sets a derivative to zero: of L = f + λ*g, or of f where g = c holds.

        Where no formula for f or L stands above, nothing tells otherwise.
        """
        values = [v for v in self.names.values.values() if v.args and not v.shape and v.dtype == "real"]
        levels = [v for v in values if multiplier in symbols_of([v])]
        constraints = [
            Expr(c.left) - Expr(c.right) for c in self.names.conditions if multiplier not in c.reads
        ]
        if not levels:
            both = [Expr(multiplier) * g for g in constraints]
            levels = [(Expr(f) + term).node for f in values for g in both for term in (g, -g)]
        try:
            slopes = [derivative(Expr(v), (Expr(s),)).node for v in levels for s in symbols_of([v])]
        except SymgradError:
            return False
        return not levels or any(is_multiple(sides, (slope, number(0))) for slope in slopes)

    def _is_used_next(self, sides: Sides) -> bool:
        """Tell whether one of the next statements is an equation of inputs, up to a factor."""
        for following in self._behind_it[:_AHEAD]:
            if following.continues or len(following.sides) != 2 or following.relations[0].kind != "equal":
                continue
            try:
                a, b = (self._reader.side(side).expr for side in following.sides)
            except SymgradError:
                continue
            if is_multiple((a.node, b.node), sides):
                return True
        return False


def _is_line(sides: Sides, curve: _Curve, before: str) -> bool:
    """Tell whether an equation is that of a line or a plane, and does not say where a point of it is."""
    coordinates = curve.coordinates
    read = set(symbols_of(sides)) & set(coordinates)
    if len(read) == 1 and (_POINT.search(before) or (curve.height is not None and coordinates[0] in read)):
        return False
    return any(solution(sides, x) is not None for x in read)
