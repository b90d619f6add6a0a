"""From statements to steps: what is a definition, what a claim, and what becomes of each claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from symgrad.apps.review.assumptions import Assumption, Condition, ImplicitEquation
from symgrad.apps.review.decisions.declarations import DocumentDeclarations
from symgrad.apps.review.decisions.judge import StepVerdict
from symgrad.apps.review.decisions.state import WrittenEquation, one_line
from symgrad.apps.review.formulas.latex_declarations import varied_in
from symgrad.apps.review.formulas.letter_products import CALLED
from symgrad.apps.review.formulas.side_reader import DefinedTarget, ReadSide
from symgrad.apps.review.formulas.typed_tokens import program_name
from symgrad.apps.review.layout.prose import (
    ALTERNATIVE_CUES,
    ANEW_CUES,
    ASKED_CUES,
    CONDITION_CUES,
    EXPLAINED_CUES,
    FOLLOWS_CUES,
    SELF_CUES,
    VALUE_CUES,
)
from symgrad.apps.review.layout.statements import ChainText, Relation, SideText
from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.latex.syntax.vocabulary import GREEK
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.support.errors import ProgramSyntaxError, ShapeError, SymgradError

__all__ = ["Reviewer"]

_NAME = re.compile(r"[^\W\d_]+")


# What is laid out in columns of its own, as an array is, and has equations in it.
_HIDDEN = re.compile(r"\\begin\{(\w+)\*?\}[^=]*=")


_CASE = re.compile(r"\b(?:case|region|branch|regime)\b[^.\n]*$", re.IGNORECASE)
_ABOUT = ("≈", "≃", "≅", "~=", "\\approx", "\\simeq", "\\cong")
_NUMBER = re.compile(
    r"\s*[-+−]?\s*\d+(?:\.\d*)?(?:e[-+]?\d+)?"
    r"(?:\s*(?:\\times|\\cdot|[*×·])\s*10\s*(?:\^|\*\*)\s*[{(]?\s*[-−]?\d+\s*[)}]?)?\s*",
    re.IGNORECASE,
)


class Reviewer(DocumentDeclarations):
    """Reads the statements of one document, one after the other."""

    def read(self, number: int, statement: ChainText, following: Sequence[ChainText] = ()) -> None:
        """Read a statement and judge its steps.

        Args:
            number: its place among all statements of the document.
            statement: it.
            following: some behind it, which may say what it is for.
        """
        self._behind_it, self._before = following, ""
        self._number = self.names.reading = number
        self.names.line = self._line(statement.sides[0].span.start)
        if not statement.continues:
            self.names.varied = varied_in([side.text for side in statement.sides])
            self.names.ever_varied |= self.names.varied
        relations, sides = statement.relations, list(statement.sides)
        behind = sides[len(sides) - len(relations) :]
        relations = tuple(
            replace(r, kind="equal") if r.text in _ABOUT and _NUMBER.fullmatch(side.text) else r
            for r, side in zip(relations, behind, strict=True)
        )  # x ≈ 5.48 says of decimals what x = 5.48 says
        if any(r.kind == "declare" for r in relations):
            self._declare(statement)
            return
        if self._says_sign(statement) or self._says_case(statement) or self._is_value_behind(statement):
            return
        self._take_values(statement)
        hidden = None if relations else _HIDDEN.search(sides[0].text)
        if hidden is not None:
            error = ProgramSyntaxError(
                f"equations in '{hidden[1]}' are not read", expected="lines of aligned, split or gathered"
            )
            self._unread(sides[0].span, sides[0].text, error)
        left, self._first_side = self._last, sides[0]
        if self._case is not None and self._case[1] is not None:
            self._carried = self._case[1]
            self._in_a_case = _CASE.search(self._source.text[: self._case[0].span.start][-40:]) is not None
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

    # -- what is no claim ----------------------------------------------------------------------------------------

    def _taken(self, equation: WrittenEquation) -> tuple[bool, ReadSide | None]:
        """Take in an equation that defines a name, or that gives an input a value.

        Returns:
            Whether it is one, and no claim; its value, None if that cannot be read.
        """
        inner = self._reader.without_logarithm(equation.left, equation.right)
        if inner is not None:
            target = self._reader.target(inner[0])
            if target is None or target.name in self.names:
                return False, None
            found = self._defined(target, equation._replace(left=inner[0], right=inner[1]))
            return True, None if found is None else self._read(equation.right)
        if self._reader.is_unknown_moment(equation.left):
            error = ProgramSyntaxError(
                "this is a moment, and nothing says how its variable is distributed",
                expected="X ~ N(mu, sigma^2) above",
            )
            self._unread(equation.left.span, equation.left.text, error)
            return True, self._read(equation.right)
        if self._is_initial_value(equation) or self._is_description(equation):
            return True, None
        target = self._reader.target(equation.left)
        if target is None:
            array = self._reader.entries_of(equation.left)
            if array is not None and self.names.is_input(array) and array not in self.names.first_read:
                self.names.forget(array)  # declared, and now defined by its entries
                target = self._reader.target(equation.left)
        if target is None:
            target = self._reader.power_target(equation.left)
            if target is None or _NAME.search(equation.right.text) is None:  # x**2 = 4 has two solutions
                return False, None
            return True, self._defined(target, equation)
        is_input = self.names.is_input(target.name)
        anew = equation.relation.kind == "define" or ANEW_CUES.search(self._before) is not None
        if target.name not in self.names or (anew and not is_input):
            return True, self._defined(target, equation)
        return self._value(target.name, equation) if is_input else (False, None)

    def _is_initial_value(self, equation: WrittenEquation) -> bool:
        """Take in C(0) = 20 of a name that the document differentiates, and does not define as a function."""
        match = CALLED.fullmatch(equation.left.text.strip(" &$"))
        name = None if match is None else program_name(match["name"])
        if (
            match is None
            or name is None
            or match["argument"].isalpha()
            or name not in self._reader.letters.differentiated
        ):
            return False
        if name in self.names and not self.names.is_unknown(name):
            return False
        self._add("condition", equation.right, equation, message="an initial value, which is not judged")
        return True

    def _is_description(self, equation: WrittenEquation) -> bool:
        """Take in what an English word says of a name, as in x = depth, where that word is no name elsewhere."""
        word = equation.right.text.strip()
        is_word = equation.right.notation == "symgrad" and len(word) > 3 and word.isalpha() and word.islower()
        is_word = is_word and word not in GREEK and not is_function(word)
        target = self._reader.target(equation.left) if is_word and word not in self.names else None
        if target is None or target.parameters is not None:
            return False
        if len(re.findall(rf"(?<!\w){re.escape(word)}\s*(?:=|\*|/|\+|\^|\()", self._source.text)) > 0:
            return False
        self._described.add(target.name)
        self._add("condition", equation.right, equation, message=f"{target.name} is described in words")
        return True

    def _defined(self, target: DefinedTarget, equation: WrittenEquation) -> ReadSide | None:
        name, is_new = target.name, target.name not in self.names
        try:
            if target.parameters is None and target.alone:
                side = self._reader.side(equation.right)
                if target.power != 1:
                    side = self._rooted(target, side, equation)
            else:
                name, side = self._reader.defined(target, equation.left, equation.right)
                is_new = name not in self.names
        except SymgradError as error:
            if self._declared_below(equation.right):
                return self._defined(target, equation)
            self._unread(equation.right.span, equation.right.text, error)
            self.names.lost[name] = self._line(equation.left.span.start)
            return None
        if is_new and name in self.names:  # reading it took it for an input
            return self._implied(name, side, equation)
        if is_new and self.names.was_missed(name):
            self.late.append((self.names.first_read[name], self._number))
            self._judge.idle = True
        plain = self.names.plain_name(name) if is_new else None
        self.names.define(name, side.expr.node, side.names)
        if is_new:
            self._reader.call(name)
            self._defined_at[name] = (self._number, equation)
        symbol = None if plain is None else self.names.values[plain]
        asked = [] if symbol is None else self.names.asked_of(symbol)
        if symbol is None or not asked or side.expr.shape not in ((), symbol.shape):
            self._add("definition", equation.right, equation)
        else:  # K_star = ... behind an equation that asks for K
            self._add_solution(equation, self._judge.solution(symbol, side, asked))
            self.names.marked[symbol] = side.expr.node
            self._answer(symbol, asked)
        return side

    def _rooted(self, target: DefinedTarget, side: ReadSide, equation: WrittenEquation) -> ReadSide:
        """Return what a name is whose power an equation gives: the root that is not negative."""
        line = self._line(equation.left.span.start)
        if not target.power % 2:
            self.names.assume(f"{target.name} is the root that is not negative", line)
        root = side.expr ** (1 / Fraction(target.power))
        return replace(side, expr=self.names.expr(root.node, side.names))

    def _value(self, name: str, equation: WrittenEquation) -> tuple[bool, ReadSide | None]:
        """Take in what gives an input a value, or defines it by an equation that it stands in itself."""
        symbol = self.names.values[name]
        self._ask_for_extremum(symbol)
        if self._is_alternative(symbol):  # x = 2 or x = -2
            self.names.release(symbol)
        asked, unused = self._asked_of(symbol), self._is_unused(name)
        asked = [c for c in asked if not self._has_rates(name, c)]
        try:
            side = self._reader.side(equation.right)
        except SymgradError as error:
            if asked and isinstance(error, ShapeError):
                self._add_judged(equation.right, equation, self._judge.misfit(None, error))
            else:
                self._unread(equation.right.span, equation.right.text, error)
            return True, None
        reads = set(topological([side.expr.node]))
        if symbol not in reads and not asked and self._is_late(name, side):
            self.late.append((self.names.first_read[name], self._number))
            self._judge.idle = True
        if symbol in reads:
            if SELF_CUES.search(self._before) is None:
                self._exchange(symbol, side, equation)
                return False, None
            return True, self._implied(name, side, equation)
        if side.expr.shape not in ((), symbol.shape):
            return False, None
        if asked:
            return self._solution(symbol, side, equation, asked)
        if self._follows(symbol, side) and self._derived_value(symbol, side, equation):
            return True, side
        if unused and side.expr.shape == symbol.shape and _varies(side):  # declared, and now defined
            self.names.define(name, side.expr.node, side.names)
            self._add("definition", equation.right, equation)
            return True, side
        self._fix(symbol, side, equation)
        self._add("condition", equation.right, equation, message=f"{name} has this value from here on")
        return True, side

    def _is_unused(self, name: str) -> bool:
        """Tell whether no formula has read a name: then it was declared alone, and an equation can define it."""
        return name not in self.names.first_read and VALUE_CUES.search(self._before) is None

    def _is_late(self, name: str, side: ReadSide) -> bool:
        """Tell whether an equation explains a name that lines above read, and is no value that it takes.

        That is so of a formula of other inputs, for a name that nothing declares, or behind *where* and its like. What
        lines above differentiate by is explained by a formula with something new in it alone: x = a behind the
        derivative of x**2 - 2*a*x by x is where that is zero.
        """
        if self.names.first_read.get(name, self._number) >= self._number:
            return False
        if self._is_solved_for_time(name, side):
            return True
        if not _varies(side) or self._follows(self.names.values[name], side):
            return False
        if EXPLAINED_CUES.search(self._before) is not None:
            return True
        read = (self.names.first_read.get(s.name, self._number) for s in symbols_of([side.expr.node]))
        if self.names.values[name] in self._slopes and all(number < self._number for number in read):
            return False
        return not self.names.is_declared(name) and VALUE_CUES.search(self._before) is None

    def _follows(self, symbol: Node, side: ReadSide) -> bool:
        """Tell whether equations above relate an input to all that a formula for it reads: then it follows."""
        known = {s for c in self.names.conditions if symbol in c.reads for s in c.reads}
        reads = set(symbols_of([side.expr.node]))
        return bool(reads) and reads <= known and EXPLAINED_CUES.search(self._before) is None

    def _derived_value(self, symbol: Node, side: ReadSide, equation: WrittenEquation) -> bool:
        """Judge a formula for an input by equations that hold; tell whether it was: else it is one more equation."""
        known = [c for c in reversed(self.names.conditions) if symbol in c.reads]
        judged = self._judge.solution(symbol, side, known)
        if judged.verdict.status == "refuted" and FOLLOWS_CUES.search(self._before) is None:
            return False
        self._add_solution(equation, judged)
        self._fix(symbol, side, equation)
        return True

    def _fix(self, symbol: Node, side: ReadSide, equation: WrittenEquation) -> None:
        said = f"{symbol.name} = {one_line(equation.right)} from here on"
        self.names.fix(symbol, side.expr.node, Assumption(said, self._line(equation.left.span.start)))
        if VALUE_CUES.search(self._before) is None:
            self.names.moving.add(symbol)

    def _asked_of(self, symbol: Node) -> list[Condition]:
        """Return the equations that a value of an input is to solve; none where it is given in passing."""
        asked = self.names.asked_of(symbol)
        given = VALUE_CUES.search(self._before) is not None
        if given and (symbol in self.names.fixed or not any(symbol in c.unknowns for c in asked)):
            return []
        return asked

    def _solution(
        self, symbol: Node, side: ReadSide, equation: WrittenEquation, asked: list[Condition]
    ) -> tuple[bool, ReadSide | None]:
        judged = self._judge.solution(symbol, side, asked)
        if judged.verdict.status == "refuted" and self._carried is not None:
            before, self._judge.case = self._judge.case, self._carried
            there = self._judge.solution(symbol, side, asked)
            self._judge.case = before
            judged = (
                replace(there, message="in the case above") if there.verdict.status == "proved" else judged
            )
        if symbol in self.names.fixed and judged.verdict.status != "proved":
            return False, None  # it has a value already, and this is a claim about that
        self._add_solution(equation, judged)
        if not self._is_alternative(symbol):
            self._fix(symbol, side, equation)
        self._answer(symbol, asked)
        return True, side

    def _is_alternative(self, symbol: Node) -> bool:
        """Tell whether words join a value of an input to one that solved the same equations."""
        return symbol in self.names.solved and ALTERNATIVE_CUES.search(self._before) is not None

    def _answer(self, symbol: Node, asked: list[Condition]) -> None:
        self.names.settle(symbol, [c for c in asked if symbol in c.unknowns] or asked[:1])

    def _add_solution(self, equation: WrittenEquation, judged: StepVerdict) -> None:
        corrected = None if judged.corrected is None else f"{one_line(equation.left)} = {judged.corrected}"
        self._add_judged(equation.right, equation, replace(judged, corrected=corrected))

    def _implied(self, name: str, side: ReadSide, equation: WrittenEquation) -> ReadSide:
        symbol = self.names.values[name]
        self.names.implied[symbol] = ImplicitEquation(symbol, side.expr.node)
        self.names.assume(
            f"{name} solves {name} = {one_line(equation.right)}", self._line(equation.left.span.start)
        )
        message = f"{name} is what solves this equation; d{name} follows it, ∂ holds {name} fixed"
        self._add("condition", equation.right, equation, message=message)
        return side

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
            right = self._reader.side(text, () if left is None else left.expr.shape)
        except ShapeError as error:
            if left is None:
                self._unread(text.span, text.text, error)
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
        if left is None:
            if not unread:  # what is wrong with that side stands right above
                self._add("not understood", text, equation, message="what stands before it could not be read")
            return right
        stated = ends and CONDITION_CUES.search(self._before) is not None
        if stated and self._says_curve(left, right, equation):
            return right
        if relation.kind == "require" or (ends and CONDITION_CUES.search(self._before)):
            asked = relation.kind == "require" or ASKED_CUES.search(self._before) is not None
            self._hold(left, right, equation, asked=asked)
            return right
        if self._says_symmetric(left, right, equation):
            return right
        right = replace(right, values=right.values or left.values, claimed=left.slope or left.claimed)
        judged = self._judge.judged(left, right, about=relation.text in _ABOUT)
        if judged.verdict.status == "refuted" and ends and self._says_curve(left, right, equation):
            return right
        if judged.verdict.status == "refuted":
            name = self._reader.head(equation.left) if is_first else None
            if name is not None and self._begins_anew(equation):
                self._forget_values()
                self._reader.forget(name)
                target = self._reader.target(equation.left)
                return right if target is None else self._defined(target, equation) or right
            judged = self._judged_otherwise(left, right, judged) or judged
        doubtful = judged.verdict.status != "proved" and ends
        if doubtful and (self._is_known_rate(left, right) or self._moves(left, right)):
            self._hold(left, right, equation, asked=False)
            return right
        at_a_value = bool(self._judge.places.here)
        sought = (
            ends and not at_a_value and (self._is_sought(left, right) or self._is_equilibrium(left, right))
        )
        if judged.verdict.status == "refuted" and sought:
            self._hold(left, right, equation, asked=True)
            return right
        if judged.verdict.status == "refuted" and self._is_about_a_later_name(left, right):
            self._hold(left, right, equation, asked=False)
            return right
        if judged.verdict.status == "refuted" and ends and self._names_a_rate(left, right):
            self._hold(left, right, equation, asked=False)  # m*dv/dt = m*a, of an a that nothing above reads
            return right
        is_new = is_first and judged.verdict.status == "refuted" and self._is_new_on_left(left, right)
        if is_new and self._is_law(left, right):
            self._hold(left, right, equation, asked=False)
            return right
        if judged.verdict.status == "refuted" and self._is_stated(left, right):
            self._hold(left, right, equation, asked=False)
            return right
        if (
            judged.verdict.status == "refuted"
            and ends
            and (self._is_fact(left, right) or self._is_motion(left, right) or self._is_law(left, right))
        ):
            self._hold(left, right, equation, asked=False)
            return right
        if judged.verdict.status == "refuted":
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
                self._doubtful.append(right.expr)
        self._add_judged(text, equation, judged)
        return right

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


def _varies(side: ReadSide) -> bool:
    """Tell whether a side reads real inputs, and so is more than a number."""
    return any(s.dtype == "real" for s in symbols_of([side.expr.node]))
