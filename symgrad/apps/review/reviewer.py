"""From statements to steps: what is a definition, what a claim, and what becomes of each claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from symgrad.apps.review.decisions.step_verdict import StepVerdict
from symgrad.apps.review.formulas.latex_declarations import varied_in
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.integrals.syntax import last_operator
from symgrad.apps.review.layout.prose import (
    ASKED_CUES,
    CONDITION_CUES,
)
from symgrad.apps.review.layout.quantities import NUMBER
from symgrad.apps.review.layout.statements import ChainText, Relation, SideText
from symgrad.apps.review.rules.recurrence_statements import RecurrenceStatements
from symgrad.apps.review.rules.state import WrittenEquation, one_line
from symgrad.apps.review.rules.two_signs import has_two_signs, merged, with_sign
from symgrad.apps.review.steps import ReviewStep
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import ProgramSyntaxError, ShapeError, SymgradError, UnsupportedError
from symgrad.verification.verdict import Verdict

_NAME = re.compile(r"[^\W\d_]+")


# What is laid out in columns of its own, as an array is, and has equations in it.
_HIDDEN = re.compile(r"\\begin\{(\w+)\*?\}[^=]*=")


_CASE = re.compile(r"\b(?:case|region|branch|regime)\b[^.\n]*$", re.IGNORECASE)
_GENERAL = re.compile(
    r"\b(?:in general|for (?:general|all|any|every|arbitrary)|generally|arbitrary)\b", re.IGNORECASE
)
_CALLED_WRONG = re.compile(r"[\s$)\"'.,`]*(?:which )?(?:is|was)\s+a\s+(?:misprint|typo)\b", re.IGNORECASE)
_ABOUT = ("≈", "≃", "≅", "~=", "\\approx", "\\simeq", "\\cong")


class Reviewer(RecurrenceStatements):
    """Reads the statements of one document, one after the other."""

    def read(self, number: int, statement: ChainText, following: Sequence[ChainText] = ()) -> None:
        """Read a statement and judge its steps.

        Args:
            number: its place among all statements of the document.
            statement: it.
            following: some behind it, which may say what it is for.
        """
        if self._is_about_recurrence(number, statement):
            return
        if not has_two_signs(statement):
            self._read_statement(number, statement, following)
            return
        begin, known, fixed = len(self.steps), set(self.names.values), set(self.names.fixed)
        late, idle = len(self.late), self._judge.idle
        found: list[list[ReviewStep]] = []
        for upper in (True, False):
            self._lower_sign = not upper
            self._read_statement(number, with_sign(statement, upper=upper), following)
            found.append(self.steps[begin:])
            del self.steps[begin:], self.late[late:]
            self._judge.idle = idle
            defined = [
                name for name in self.names.values if name not in known and self.names.is_defined(name)
            ]
            if defined:  # a name that has two values
                self._reader.forget(defined[0])
                side, error = statement.sides[-1], UnsupportedError("two signs at once are two values")
                self._unread(side.span, side.text, error)
                return
        for symbol in set(self.names.fixed) - fixed:
            self.names.release(symbol)
        self._lower_sign, self._last = False, None
        self.steps += merged(found[0], found[1], statement)

    def _read_statement(self, number: int, statement: ChainText, following: Sequence[ChainText]) -> None:
        self._behind_it, self._before, self._statement = following, "", statement
        self._number = self.names.reading = number
        self.names.line = self._line(statement.sides[0].span.start)
        if not statement.continues:
            self.names.varied = varied_in([side.text for side in statement.sides])
            self.names.ever_varied |= self.names.varied
        relations, sides = statement.relations, list(statement.sides)
        behind = sides[len(sides) - len(relations) :]
        relations = tuple(
            replace(r, kind="equal") if r.text in _ABOUT and NUMBER.fullmatch(side.text) else r
            for r, side in zip(relations, behind, strict=True)
        )  # x ≈ 5.48 says of decimals what x = 5.48 says
        if any(r.kind == "declare" for r in relations):
            self._declare(statement)
            return
        if self._says_sign(statement) or self._says_case(statement) or self._is_value_behind(statement):
            return
        self._take_values(statement)
        if self._says_tangent(statement):
            return
        hidden = None if relations else _HIDDEN.search(sides[0].text)
        if hidden is not None:
            error = ProgramSyntaxError(
                f"equations in '{hidden[1]}' are not read", expected="lines of aligned, split or gathered"
            )
            self._unread(sides[0].span, sides[0].text, error)
        left, self._first_side = self._last, sides[0]
        if self._case is not None and self._case[1] is not None:
            self._carried = self._case[1]
            start = self._case[0].span.start
            self._in_a_case = _CASE.search(self._source.text[max(0, start - 40) : start]) is not None
        self._judge.unread_before = statement.continues and self._judge.unread_before
        if statement.continues:
            self._judge.case = self._general_case(self._judge.case)
        else:
            left, self._right = sides.pop(0), None
            self._before = self._prose(left.span.start)
            self._judge.case = self._case_of(statement)
            self._carried = self._judge.case or self._carried
            for symbol in symbols_of([] if self._judge.case is None else [self._judge.case]):
                if symbol in self.names.moving:
                    self.names.release(symbol)  # it was found in another case
            self._ask_for_zero(left.span.start)
            if relations and relations[0].kind in ("equal", "define") and sides[0].text.strip():
                taken, value = self._taken(WrittenEquation(left, relations[0], sides[0]))
                if taken:
                    left, sides, relations = value, sides[1:], relations[1:]
        for k, (relation, text) in enumerate(zip(relations, sides, strict=True), 1):
            left = self._step(left, relation, text, ends=k == len(sides))
        self._last, self._previous = left, statement
        self._end = statement.sides[-1].span.end

    # -- claims --------------------------------------------------------------------------------------------------

    def _step(
        self, left: ReadSide | SideText | None, relation: Relation, text: SideText, *, ends: bool
    ) -> ReadSide | SideText | None:
        """Judge a step, perhaps that at the end of its chain; return the side that the next one goes on with."""
        if not text.text.strip():
            self._unread(relation.span, relation.text, ProgramSyntaxError("nothing stands behind it"))
            return left
        is_first = left is self._first_side
        if relation.kind == "other":  # and nothing needs the side before
            before = left.text if isinstance(left, ReadSide) else left or SideText(0, "")
            equation = WrittenEquation(before, relation, text)
            self._add("relation", text, equation, message=f"'{relation.text}' is no equality, and not judged")
            return text
        unread = False
        if isinstance(left, SideText):
            left = self._read(left)
            unread = left is None
            self._judge.unread_before |= unread
        if left is not None:
            self._saw_slope(left)
        equation = WrittenEquation(SideText(0, "") if left is None else left.text, relation, text)
        try:
            right = self._reader.expanded(text, () if left is None else left.expr.shape)
        except ShapeError as error:
            if left is None or self._reads_recurrence(text.text):  # T and max(T - 1, 0) + 1 rows may fit
                self._unread(text.span, text.text, error)
                self._judge.unread_before = True
            else:
                typed = None if text.notation == "latex" else self._reader.typed(text).text
                self.names.missed(text.text)  # a name in it may be an array that is explained below
                self.names.saw(n for n in _NAME.findall(text.text) if n in self.names)
                self._add_judged(text, equation, self._judge.misfit(left, error, typed))
            return left
        except SymgradError as error:
            self._unread(text.span, text.text, error)
            self._judge.unread_before = True
            return left
        if left is not None and left.expr.shape != right.expr.shape:
            left = self._as_shaped(left, right)
        if not (is_first or unread):
            left = self._integral_above(left, relation, right)
        if left is None:
            if not unread:  # what is wrong with that side stands right above
                self._add("not understood", text, equation, message="what stands before it could not be read")
            return right
        integrated = self._judge.integrated(left, right)
        if integrated is not None:
            self._add_judged(text, equation, self._unless_called_wrong(integrated, text))
            if integrated.verdict.status == "proved" and self._judge.variable(right, right) is None:
                for name in [n for n, v in self.names.values.items() if v is left.expr.node]:
                    self.names.define(name, right.expr.node, right.names)  # I = ∫ ... = F
            return replace(right, over=self._judge.variable(left, right))
        expansion = self._judge.expansion(left, right)
        if expansion is not None:
            self._add_judged(text, equation, expansion)
            return right
        stated = ends and CONDITION_CUES.search(self._before) is not None
        if stated and self._says_curve(left, right, equation, stated=True):
            return right
        if relation.kind == "require" or stated:
            asked = relation.kind == "require" or ASKED_CUES.search(self._before) is not None
            self._hold(left, right, equation, asked=asked)
            return right
        if self._says_symmetric(left, right, equation):
            return right
        right = replace(right, values=right.values or left.values, claimed=left.slope or left.claimed)
        general = _GENERAL.search(self._sentence()) is not None  # whatever some lines above were about
        if general:
            self._judge.places.forget_above()
        with self.names.for_all_values(everywhere=True) if general else nullcontext():
            judged = self._judge.judged(left, right, about=relation.text in _ABOUT)
        judged = self._unless_called_wrong(judged, text)
        if judged.verdict.status == "refuted" and ends and self._says_curve(left, right, equation):
            return right
        if judged.verdict.status == "refuted":
            name = self._reader.head(equation.left) if is_first else None
            sets_up = right.evidence and is_first  # V = ∫ ... of another body
            if name is not None and (sets_up or self._begins_anew(equation)):
                self._forget_values()
                self._reader.forget(name)
                target = self._reader.target(equation.left)
                return right if target is None else self._defined(target, equation) or right
            judged = self._judged_otherwise(left, right, judged) or judged
        doubtful = judged.verdict.status != "proved" and ends
        if doubtful and (self._is_known_rate(left, right) or self._moves(left, right)):
            self._hold(left, right, equation, asked=False)
            return right
        if judged.verdict.status == "refuted":
            has_value = ends or (is_first and not right.varies)  # tan(2*x) = 2*a/b = 5/12
            asked = (has_value and self._is_question(left, right)) or (
                ends and (self._is_required() or self._has_common_points(left, right, equation))
            )
            if asked or self._is_hypothesis(left, right, ends=ends, is_first=is_first):
                self._hold(left, right, equation, asked=asked)
                return right
            if self._right is None:
                self._right = left
            elif (again := self._judge.judged(self._right, right)).verdict.status == "proved":
                # Who goes on from the right formula has made one mistake, and not two.
                message = (
                    f"this is '{one_line(self._right.text)}' again, and does not follow from the wrong line"
                )
                judged, self._right = replace(again, message=message), None
        if judged.verdict.status != "refuted" and left.slope is None:
            self._restate(left, right)
            if judged.verdict.status == "undecided":
                self._doubtful.add(right.expr.node)
                self._open.update(symbols_of([left.expr.node, right.expr.node]))
        self._mark_wrong_steps(left, right, judged, self._line(text.span.start))
        self._add_judged(text, equation, judged)
        return right

    def _integral_above(self, left: ReadSide | None, relation: Relation, right: ReadSide) -> ReadSide | None:
        """Return the side with which a row goes on that begins with =: an integral in the words before it.

        Where there is none right before it, a row with an integral goes on with the last one above.
        """
        source, at, over = self._source.text, relation.span.start, self._judge.variable
        if source[source.rfind("\n", 0, at) + 1 : at].strip(" \t&$"):
            return left
        begin, end = (0, 0) if left is None else (left.text.span.start, left.text.span.end)
        between = SideText(end, source[end:at], right.text.notation)
        above = SideText(0, source[:begin], right.text.notation)
        goes_on = left is not None and over(left, left) is None and over(right, right) is not None
        for text in (between, above) if goes_on else (between,):
            try:
                written = last_operator(text)
                if written is None:
                    continue
                inside = text.text[written.start : written.end]
                found = self._reader.side(replace(text, start=text.start + written.start, text=inside))
            except SymgradError:
                continue
            x = over(found, found)
            known = over(right, right) or (None if left is None else over(left, left))
            if x is not None and known in (x, None):
                return found
        return left

    def _unless_called_wrong(self, judged: StepVerdict, text: SideText) -> StepVerdict:
        """Return that a wrong step is undecided which the words behind it call wrong."""
        behind = self._source.text[text.span.end :]
        if judged.verdict.status != "refuted" or _CALLED_WRONG.match(behind) is None:
            return judged
        return StepVerdict(judged.kind, Verdict("undecided", "the words behind it say that it is wrong"))

    def _is_question(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation that does not hold everywhere asks where it does."""
        if self._judge.places.here:
            return False
        return self._is_sought(left, right) or self._is_equilibrium(left, right)

    def _is_scaled(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an integral with parameters is set to a number: that chooses one of them."""
        return bool(left.evidence) and left.varies and not right.varies

    def _is_hypothesis(self, left: ReadSide, right: ReadSide, *, ends: bool, is_first: bool) -> bool:
        """Tell whether an equation that does not follow from what stands above is one that the document starts from."""
        if self._stands_above_definition(left, right) or self._is_scaled(left, right):
            return True
        if ends and self._names_a_rate(left, right):  # m*dv/dt = m*a, of an a that nothing above reads
            return True
        if is_first and self._has_new_name(left, right) and self._is_law(left, right):
            return True
        if self._is_stated(left, right):
            return True
        return ends and (
            self._is_fact(left, right)
            or self._is_motion(left, right)
            or self._is_law(left, right)
            or self._is_level(left, right)
            or self._is_another_equation(left, right)
        )

    def _restate(self, left: ReadSide, right: ReadSide) -> None:
        """Remember another formula of a name, by equations above: its derivative may be meant of that."""
        node = left.expr.node
        if node.args and set(symbols_of([node])) != set(symbols_of([right.expr.node])):
            self._restated.setdefault(node, []).insert(0, right.expr)

    def _as_shaped(self, left: ReadSide, right: ReadSide) -> ReadSide:
        r"""Read a side again beside one of another shape: \nabla^2 f is a Laplacian, or a Hessian beside a matrix."""
        try:
            again = self._reader.side(left.text, right.expr.shape)
        except SymgradError:
            return left
        return again if again.expr.shape == right.expr.shape else left
