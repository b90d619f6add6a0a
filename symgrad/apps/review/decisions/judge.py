"""Verdicts on steps: by the engine that decides claims, in the names of the document."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce

from symgrad.api.claims.verify import equal, verify
from symgrad.api.functions.elementary import where
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import Condition
from symgrad.apps.review.decisions.conditions import (
    check_solution,
    deduce,
    is_empty_case,
    is_open,
    is_open_case,
    solution,
    undetermined,
)
from symgrad.apps.review.decisions.curve_branches import QUICK, CurveBranches
from symgrad.apps.review.decisions.doubts import (
    doubt_about,
    is_product_of_differentials,
    read_as_number,
    recurrence_in,
    symmetric_cases,
    unread_about,
    unread_name,
    without_evidence,
)
from symgrad.apps.review.decisions.point_claims import PointClaims
from symgrad.apps.review.decisions.rounding import DecimalReadings, unit_factor
from symgrad.apps.review.decisions.shapes import match_shapes
from symgrad.apps.review.decisions.step_diagnosis import StepDiagnosis
from symgrad.apps.review.decisions.step_verdict import IDLE, StepVerdict
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.steps import StepKind
from symgrad.ir.graph import OPS, SYMBOL, Node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.support.errors import ShapeError, SymgradError
from symgrad.verification.verdict import Verdict

_CALL = re.compile(r"[\s&$]*\\?[^\W\d]\w*(?:_\{\w+\})?\s*\(\s*\\?[^\W\d]\w*\s*\)[\s&$]*")
_INFERRED_SIZE = re.compile(r"\bn_[a-z]\b")
_CERTAIN = ("proved", "refuted")


class Judge(CurveBranches):
    """Decides steps in the names of a document.

    Args:
        names: what they mean.
        seconds: how long one step may take.

    Attributes:
        idle: whether nothing is decided, since the document is to be read again.
        unread_before: whether a side before, in the same chain, was not understood.
        units: what stood behind numbers and is not read, by the offsets at which these end.
        unclear: a case that was not understood; None for none.
        case: where the steps are said to hold: a truth value; None for everywhere.
        places: the values of inputs for which alone claims are meant.
    """

    def __init__(self, names: DocumentNames, seconds: float) -> None:
        super().__init__(names)
        self._seconds = seconds
        self.idle = False
        self.unread_before = False
        self.case: Node | None = None
        self.units: Mapping[int, str] = {}
        self.unclear: str | None = None
        self.places = PointClaims(names, seconds)
        self._differentiated: set[Node] = set()  # by what the document differentiates
        self._empty: dict[Node, bool] = {}  # of cases
        self._diagnosis = StepDiagnosis(names, self._given)
        self._rounding = DecimalReadings()

    @contextmanager
    def in_another_case(self, case: Node | None) -> Generator[None]:
        """Decide what is said of a case, within a with statement."""
        before, self.case = self.case, case
        try:
            yield
        finally:
            self.case = before

    def judged(self, left: ReadSide, right: ReadSide, *, about: bool = False) -> StepVerdict:
        """Decide whether a side is equal to the one before; ``about`` as much, where that is written."""
        kind = _kind(left, right)
        if self.idle:
            return StepVerdict(kind, IDLE)
        valid = [side.valid for side in (left, right) if side.valid is not None]
        if valid:
            case = reduce(OPS["and_"], valid if self.case is None else [self.case, *valid])
            with self.in_another_case(case):
                return self.judged(replace(left, valid=None), replace(right, valid=None), about=about)
        self._differentiated.update(x.node for s in (left.slope, right.slope) if s is not None for x in s.by)
        if self.case is not None and self._is_empty(self.case):
            return StepVerdict(
                kind,
                Verdict("undecided", "the case that it is said of has no values, or isolated ones at most"),
            )
        try:
            verdict = self._verdict(left, right)
        except ShapeError as error:
            verdict = Verdict("refuted", error.what)
        except SymgradError as error:
            verdict = Verdict("undecided", error.what)
        message = None
        differentiated = [s.of.node for s in (left.slope, right.slope) if s is not None]
        arrays = read_as_number(self._names, [left.expr.node, right.expr.node, *differentiated])
        if arrays is not None and verdict.status in _CERTAIN:
            return StepVerdict(kind, Verdict("undecided", arrays))
        units = [unit for side in (left, right) if (unit := self.units.get(side.text.span.end)) is not None]
        if len(units) == 2 and units[0] != units[1]:
            return StepVerdict(
                kind, Verdict("undecided", f"units are not read, and {' and '.join(units)} differ")
            )
        at_a_point = verdict.status == "undecided" and self.places.here
        if verdict.status == "refuted" or at_a_point:
            rounded = None if at_a_point else self._rounded(left, right, about)
            there = self.places.judged(left, right) if rounded is None else (*rounded, None)
            if there is not None:
                return self._at_points(left, right, StepVerdict(kind, *there))
        if verdict.status == "proved":
            found = self._at_points(left, right, StepVerdict(kind, verdict))
            verdict, message = found.verdict, found.message
        if verdict.status == "refuted":
            verdict, message = self._where_others_hold(left, right, verdict)
        if verdict.status == "refuted" and (verdict.witness is not None or self.unread_before):
            verdict = self._unless_in_doubt(left, right, verdict)
        if verdict.status == "refuted":
            verdict = self._diagnosis.with_mistake(left, right, verdict)
        evidence = dict.fromkeys((*left.evidence, *right.evidence))
        if verdict.status == "proved" and evidence:
            verdict = Verdict("supported", "; ".join(evidence))
        written = left.slope or left.claimed
        if verdict.status == "proved" and written is not None:
            self._diagnosis.written[written.value.node] = right.expr
        return StepVerdict(kind, verdict, message, self._corrected(left, verdict))

    def _at_points(self, left: ReadSide, right: ReadSide, found: StepVerdict) -> StepVerdict:
        """Return what becomes of a step that may hold only at values of inputs that words give."""
        if found.verdict.status not in ("proved", "supported"):
            return found
        verdict, said = self.places.at_points(left, right, found.verdict, self._in_case)
        messages = [m for m in (found.message, said) if m is not None]
        return replace(found, verdict=verdict, message="; ".join(messages) or None)

    def _rounded(self, left: ReadSide, right: ReadSide, about: bool) -> tuple[Verdict, str | None] | None:
        """Return the verdict on a step whose decimals are read as rounded; None where that explains nothing."""
        nodes = substitute([left.expr.node, right.expr.node], self.places.values_in(right))
        nodes = self._given(nodes)[0] or nodes
        found = self._rounding.judged(nodes[0], nodes[1], right.text.text, about=about)
        has_units = self.units or "%" in right.text.text
        factor = unit_factor(*nodes) if found is None and has_units else None
        if factor is not None:
            why = f"the sides differ by a factor of {factor}, perhaps since their units differ, which are not read"
            return Verdict("undecided", why), None
        return found

    def solution(self, unknown: Node, value: ReadSide, conditions: Sequence[Condition]) -> StepVerdict:
        """Decide whether a value solves equations that are asked for.

        Args:
            unknown: an input that they read.
            value: what the document says that it is.
            conditions: they, the last one first.
        """
        if self.idle:
            return StepVerdict("solution", IDLE)
        names = self._names
        others = {s: v for s, v in {**names.marked, **names.fixed}.items() if s is not unknown}
        (node,) = substitute([value.expr.node], others)
        case = None if self.case is None else substitute([self.case], {unknown: node})[0]
        outside = case is not None and self._is_empty(case)
        with self.in_another_case(None if outside else case):
            found = self._solved_by(unknown, node, value, conditions, others)
        if outside and found.verdict.status in ("proved", "supported"):
            why = f"{unknown.name} does not have this value in the case that it is said of"
            return StepVerdict("solution", Verdict("undecided", why))
        return found

    def _solved_by(
        self,
        unknown: Node,
        node: Node,
        value: ReadSide,
        conditions: Sequence[Condition],
        others: Mapping[Node, Node],
    ) -> StepVerdict:
        """Decide whether a value, with what is known of others put in, solves equations in a case."""
        names, at = self._names, [c.where(others) for c in conditions]
        try:
            condition, verdict = check_solution(at, unknown, node, self._equation)
        except ShapeError as error:
            return StepVerdict("solution", Verdict("refuted", f"its shapes disagree: {error.what}"))
        every = [c.where(others) for c in reversed(names.conditions)]
        if verdict.status == "refuted":
            rounded = self._rounding.solution(at, unknown, node, value.text.text)
            if rounded is not None:
                return StepVerdict("solution", *rounded)
        if verdict.status != "proved" and len(every) > 1:
            verdict = self._of_several(every, unknown, node, verdict)
        if verdict.status == "proved":
            single = solution(condition.at({}), unknown) is not None
            return StepVerdict("solution", verdict, None if single else f"a solution of {condition.said}")
        missing = None
        if verdict.status == "refuted":
            missing = self._missing(unknown, node, condition, every) or self._undetermined(verdict)
        if missing is not None:
            return StepVerdict("solution", without_evidence(verdict, missing))
        right = solution(condition.at({}), unknown) if len(conditions) == 1 else None
        said = None if right is None else Expr(right)
        corrected = None if said is None else said.latex() if value.text.notation == "latex" else str(said)
        return StepVerdict("solution", verdict, f"the equation is {condition.said}", corrected)

    def _of_several(
        self, conditions: Sequence[Condition], unknown: Node, value: Node, verdict: Verdict
    ) -> Verdict:
        """Return the verdict on x = y, where several equations are asked for and y is an unknown of them, too."""
        others = {u for c in conditions if unknown in c.reads for u in c.reads if u is not unknown}
        shared = {u for c in conditions if unknown not in c.reads for u in c.reads}
        if others.isdisjoint(symbols_of([value])) and others.isdisjoint(shared):
            return verdict
        found = deduce(conditions, (unknown, value), self._equation)
        return verdict if found is None else found[1]

    def _missing(
        self, side: Node, other: Node, condition: Condition, every: Sequence[Condition]
    ) -> str | None:
        """Return why an equation may hold that does not follow from a condition; None if it cannot.

        Args:
            side: of the equation; where it is an input, a value for that is claimed.
            other: the other side.
            condition: the condition.
            every: all conditions.
        """
        unread = unread_about(self._names, [side, other, condition.left, condition.right])
        unread = unread or recurrence_in([condition.left, condition.right])
        if unread is None and side.op is SYMBOL and is_open(every, side, other, self._differentiated):
            return f"the equations that were read do not settle {side.name}"
        return unread

    def equal_formulas(self, left: Node, right: Node, text: str) -> Verdict:
        """Decide whether two formulas are equal for all values of their inputs, whatever the document says of these.

        Args:
            left: a formula.
            right: the one that is claimed.
            text: as it is written, for numbers that are rounded.
        """
        if self.idle:
            return IDLE
        verdict = equal(Expr(left), Expr(right), time_limit=self._seconds, values_only=True)
        rounded = self._rounding.judged(left, right, text) if verdict.status == "refuted" else None
        return verdict if rounded is None else rounded[0]

    def _equation(self, left: Node, right: Node) -> Verdict:
        """Decide an equation between values, where what else the document says holds."""
        return self._on_branches([left, right], lambda branch: self._equation_on(left, right, branch))

    def _equation_on(self, left: Node, right: Node, branch: int) -> Verdict:
        nodes, message = self._given([left, right], branch)
        a, b = match_shapes(*(self._names.expr(n) for n in nodes or (left, right)))
        verdict = equal(self._in_case(a, b), b, time_limit=self._seconds, values_only=True)
        if verdict.status == "refuted" and message is not None:
            return without_evidence(verdict, message)
        return self._on_the_curve(verdict, a, b, branch)

    def _unless_in_doubt(self, left: ReadSide, right: ReadSide, verdict: Verdict) -> Verdict:
        """Return that a step is undecided where the document says more of its names than is used."""
        slopes = [s for s in (left.slope, right.slope) if s is not None]
        nodes = [left.expr.node, right.expr.node, *(s.of.node for s in slopes)]
        doubt = doubt_about(self._names, nodes)
        if doubt is None and (line := unread_name(self._names, left.text.text)) is not None:
            doubt = f"the sides differ, but line {line}, which has that name, is not understood"
        if doubt is None and not slopes and not left.values:
            doubt = unread_about(self._names, nodes) or self._undetermined(verdict)
        doubt = doubt or recurrence_in(nodes[:1])
        if doubt is None and any(is_product_of_differentials(self._names, n) for n in nodes[:2]):
            doubt = "products of differentials are areas, which are not read"
        if doubt is None and self.unread_before:
            doubt = "the sides differ, but what stands before them in the chain is not understood"
        if doubt is None and self.unclear is not None:
            doubt = f"the sides differ, but perhaps not in the case '{self.unclear}', which is not understood"
        symmetric = {} if doubt is not None else symmetric_cases(self._names, nodes)
        if symmetric:
            (a, b) = match_shapes(*map(Expr, substitute(nodes[:2], symmetric)))
            if equal(a, b, time_limit=QUICK, values_only=True).status == "proved":
                said = ", ".join(s.name for s in symmetric)
                doubt = f"the sides are equal for symmetric {said} alone, which the document says of a case"
        return verdict if doubt is None else Verdict("undecided", doubt)

    def _undetermined(self, verdict: Verdict) -> str | None:
        free = undetermined(verdict.witness or (), self._names.sought(), self._names.fixed)
        return None if free is None else f"the sides differ, but the equations above determine {free}"

    def _is_empty(self, case: Node) -> bool:
        """Tell whether a case holds for no values: x > 0 from the definition on, and x < 0 in its sentence."""
        if case not in self._empty:
            self._empty[case] = not is_open_case(case) and is_empty_case(case)
        return self._empty[case]

    def _in_case(self, a: Expr, b: Expr) -> Expr:
        """Return the first side where the case holds, the other one elsewhere: equal if they are so in that case."""
        return a if self.case is None else where(Expr(self.case), a, b)

    def _where_others_hold(
        self, left: ReadSide, right: ReadSide, verdict: Verdict
    ) -> tuple[Verdict, str | None]:
        """Return the verdict on a step that does not hold everywhere, by the equations that are taken to hold.

        What is asked for is no part of a derivative: that is taken before.
        """
        slopes = left.slope is not None or right.slope is not None or left.values
        conditions = [c for c in reversed(self._names.conditions) if not (c.asked and slopes)]
        if not conditions:
            return verdict, None
        fixed = self.places.values_in(right)
        conditions = [c for c in (c.where(fixed) for c in conditions) if c.reads]
        marked = self._names.unmarked(substitute([left.expr.node, right.expr.node], fixed))
        a, b = match_shapes(*map(Expr, marked))
        try:
            found = deduce(conditions, (a.node, b.node), self._equation)
        except SymgradError:
            found = None
        if found is None:
            return verdict, None
        condition, other = found
        if other.status == "refuted":
            missing = self._missing(a.node, b.node, condition, conditions)
            return (
                (other, f"where {condition.said}")
                if missing is None
                else (without_evidence(other, missing), None)
            )
        if other.status == "proved" and condition.asked and _CALL.fullmatch(left.text.text) is not None:
            parameters = self._names.parameters
            asked = {s for s in condition.reads if s.name in parameters}
            if not asked.isdisjoint(symbols_of([right.expr.node])):
                why = f"it holds where {condition.said}, and reads as a claim for all values"
                return without_evidence(other, why), None
        return other, f"it follows from {condition.said}" if other.status == "proved" else None

    def misfit(self, left: ReadSide | None, error: ShapeError, typed: str | None = None) -> StepVerdict:
        """Return what becomes of a step whose side cannot be, since its shapes disagree; of a solution without one.

        Args:
            left: the side before.
            error: how they disagree.
            typed: the side in the notation of programs, where it can be read so: of sizes that are all alike it is
                compared with the right derivative.
        """
        verdict = Verdict("refuted", f"its shapes disagree: {error.what}")
        if "subscripts for an array of shape ()" in error.what:  # a list beside a number is no subscript
            return StepVerdict("rewriting" if left is None else _kind(left), Verdict("undecided", error.what))
        if _INFERRED_SIZE.search(error.what) is not None:
            why = f"lengths that nothing states may be equal: {error.what}"
            return StepVerdict("rewriting" if left is None else _kind(left), Verdict("undecided", why))
        slope = None if left is None else left.slope
        if slope is not None and slope.plain and len(slope.by) == 1 and typed is not None and not self.idle:
            try:
                known = verify(slope.of, slope.by[0], typed, time_limit=QUICK)
            except SymgradError:
                known = verdict
            if known.status == "refuted" and known.witness is None:
                verdict = replace(verdict, diagnoses=known.diagnoses)
        if left is None:
            return StepVerdict("solution", verdict)
        return StepVerdict(_kind(left), verdict, corrected=self._corrected(left, verdict))

    def _corrected(self, left: ReadSide, verdict: Verdict) -> str | None:
        """Return the right line where a derivative is wrong: that derivative."""
        if verdict.status != "refuted" or left.slope is None:
            return None
        slope = left.slope
        curve = any(i.curve is not None for i in self._names.implied.values())
        given = [slope.value.node] if curve and not slope.plain else self._given([slope.value.node])[0]
        if given is not None:
            value = self._names.expr(given[0]).canonical()
        else:  # made anew, since what a derivation made is printed in names
            value = derivative(slope.of, slope.by) if slope.plain else slope.value
        value = value if symbols_of([value.node]) else value.canonical()
        if value.node.op is SYMBOL and value.node is slope.value.node and not slope.plain:
            return None  # dr/dt is what it is
        said = value.latex() if left.text.notation == "latex" else str(value)
        return f"{left.text.text.strip()} = {said}"

    def _verdict(self, left: ReadSide, right: ReadSide) -> Verdict:
        nodes = [left.expr.node, right.expr.node]
        return self._on_branches(nodes, lambda branch: self._verdict_on(left, right, branch))

    def _verdict_on(self, left: ReadSide, right: ReadSide, branch: int) -> Verdict:
        a, b = match_shapes(left.expr, right.expr)
        nodes, message = self._given([a.node, b.node], branch)
        # A derivative is a value: what it was made of with stop_gradient is not asked for its own derivative.
        values_only = left.values or right.values or nodes is not None or self.case is not None
        if nodes is not None:
            a, b = (self._names.expr(node, (*left.names, *right.names)) for node in nodes)

        def decided(seconds: float) -> Verdict:
            for slope, claim in ((left.slope, b), (right.slope, a)):
                if (
                    nodes is None
                    and self.case is None
                    and slope is not None
                    and slope.plain
                    and len(slope.by) == 1
                ):
                    verdict = verify(slope.of, slope.by[0], claim, time_limit=seconds)
                    if verdict.status == "refuted" and slope.by[0].node.args:  # a claim in what L is made of
                        other = equal(slope.value, claim, time_limit=seconds, values_only=True)
                        return other if other.status == "proved" else verdict
                    return verdict
            return equal(self._in_case(a, b), b, time_limit=seconds, values_only=values_only)

        verdict = decided(min(QUICK, self._seconds))
        if verdict.status not in _CERTAIN and values_only:
            verdict = self._in_names(a, b, verdict)
        if verdict.status not in _CERTAIN and self._seconds > QUICK:
            verdict = decided(self._seconds)
        if verdict.status == "refuted" and message is not None:
            return without_evidence(verdict, message)
        return self._on_the_curve(verdict, a, b, branch)

    def _in_names(self, a: Expr, b: Expr, verdict: Verdict) -> Verdict:
        """Return a proof that takes names of the document for variables, else the verdict that there is.

        What holds for all values of a variable holds for those that a name has, and is found sooner.
        """
        if self.case is not None:
            return verdict
        named = self._names.innermost(topological([a.node, b.node]))
        if not named:
            return verdict
        first, second = (Expr(n) for n in substitute([a.node, b.node], named))
        general = equal(first, second, time_limit=self._seconds, values_only=True)
        return general if general.status == "proved" else verdict


def _kind(*sides: ReadSide) -> StepKind:
    return "rewriting" if all(side.slope is None for side in sides) else "derivative"
