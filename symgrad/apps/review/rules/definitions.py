"""Equations that define names, that give inputs values, and that solve others: what is no claim of its own."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from symgrad.apps.review.assumptions import Assumption, Condition, ImplicitEquation
from symgrad.apps.review.decisions.step_verdict import StepVerdict
from symgrad.apps.review.formulas.letter_products import CALLED
from symgrad.apps.review.formulas.side_reader import DefinedTarget, ReadSide
from symgrad.apps.review.formulas.typed_tokens import program_name
from symgrad.apps.review.integrals.expansion import without_remainder
from symgrad.apps.review.layout.prose import (
    ALTERNATIVE_CUES,
    ANEW_CUES,
    EXPANSION_CUES,
    EXPLAINED_CUES,
    FOLLOWS_CUES,
    GOES_ON,
    LISTED_CUES,
    SELF_CUES,
    VALUE_CUES,
    VALUES_CUES,
)
from symgrad.apps.review.layout.quantities import NUMBER, UNIT_BEHIND, is_unit
from symgrad.apps.review.rules.declarations import DocumentDeclarations
from symgrad.apps.review.rules.state import WrittenEquation, one_line
from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.latex.syntax.vocabulary import GREEK
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.support.errors import ProgramSyntaxError, ShapeError, SymgradError
from symgrad.verification.verdict import Verdict

_NAME = re.compile(r"[^\W\d_]+")
_CALL = re.compile(r"[\s&$]*(?P<name>[^\W\d]\w*)\(\s*(?P<argument>[^\W\d]\w*)\s*\)[\s&$]*")
_DIGIT = re.compile(r"\d|π|pi")
_CONSTANTS = frozenset({"pi", "π", "e", "sqrt", "frac"})
_HEADING = re.compile(r"[ \t$]*:[ \t$]*\n")


class DefinitionRules(DocumentDeclarations):
    """The rules of equations that are no claims."""

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
        if any(
            taken(equation)
            for taken in (
                self._is_initial_value,
                self._is_one_value,
                self._is_description,
                self._is_expansion_point,
            )
        ):
            return True, None
        if without_remainder(equation.right) is not None and self._reader.head(equation.left) is None:
            return False, None
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
        if self._is_point(target, equation):
            self.names.undeclared(target.name, self._line(equation.left.span.start))
        is_input = self.names.is_input(target.name)
        anew = equation.relation.kind == "define" or ANEW_CUES.search(self._before) is not None
        literal = target.name in self.names and self.names.values[target.name].is_number()
        if literal and NUMBER.fullmatch(equation.right.text) is not None:
            other = self._read(equation.right)
            anew = (
                other is not None and other.expr.node is not self.names.values[target.name]
            )  # n = 3, then n = 4
        if target.name not in self.names or (anew and not is_input):
            return True, self._defined(target, equation)
        return self._value(target.name, equation) if is_input else (False, None)

    def _is_point(self, target: DefinedTarget, equation: WrittenEquation) -> bool:
        """Tell whether words give a new name a number, as in "at x = 0": lines below may be meant for all numbers."""
        is_new = target.name not in self.names and target.parameters is None and target.alone
        if not (is_new and self._says_value() and _DIGIT.search(equation.right.text)):
            return False
        return not {*_NAME.findall(equation.right.text)} - _CONSTANTS

    def _is_expansion_point(self, equation: WrittenEquation) -> bool:
        """Take in a point near which an expansion is: about x = 0. The name has no value there."""
        target = self._reader.target(equation.left)
        if (
            target is None
            or EXPANSION_CUES.search(self._before) is None
            or NUMBER.fullmatch(equation.right.text) is None
        ):
            return False
        if target.name not in self.names:
            self.names.undeclared(target.name, self._line(equation.left.span.start))
        self._add("condition", equation.right, equation, message="the point that an expansion is about")
        return True

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

    def _is_one_value(self, equation: WrittenEquation) -> bool:
        """Take in N(d1) = 0.43 of a name that has other arguments, too: its value is not the same for all of them."""
        call = _CALL.fullmatch(equation.left.text)
        if call is None or NUMBER.fullmatch(equation.right.text) is None or call["name"] in self.names:
            return False
        others = re.findall(rf"(?<!\w){re.escape(call['name'])}\(\s*([^\W\d]\w*)\s*\)", self._source.text)
        if set(others) <= {call["argument"]}:
            return False
        self._add("condition", equation.right, equation, message="a value of a function, which is not judged")
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
                written = self._reader.side(equation.right)
                side = written if target.power == 1 else self._rooted(target, written, equation)
            else:
                name, side = self._reader.defined(target, equation.left, equation.right)
                written, is_new = side, name not in self.names
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
        self._note_units(equation)
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
        return written

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
        asked, unused = self._equations_to_solve(symbol, equation), self._is_unused(name)
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
        if asked and not (self._is_open(symbol, side) and FOLLOWS_CUES.search(self._before) is None):
            return self._solution(symbol, side, equation, asked)
        if self._has_another_number(symbol, side):
            self._fix(symbol, side, equation)
            self._add("condition", equation.right, equation, message=f"{name} has this value from here on")
            return True, side
        if self._is_related(symbol, side) and self._derived_value(symbol, side, equation):
            return True, side
        if unused and side.expr.shape == symbol.shape and side.varies:  # declared, and now defined
            self.names.define(name, side.expr.node, side.names)
            self._add("definition", equation.right, equation)
            return True, side
        self._fix(symbol, side, equation)
        self._add("condition", equation.right, equation, message=f"{name} has this value from here on")
        return True, side

    def _is_open(self, symbol: Node, side: ReadSide) -> bool:
        """Tell whether a number is one of many that an input may have by the only equation that holds: x + y = 9."""
        known = [c.where({**self.names.fixed, symbol: side.expr.node}) for c in self.names.conditions]
        return len(known) == 1 and not side.varies and not known[0].unknowns and len(known[0].reads) > 0

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
        if not side.varies or self._is_related(self.names.values[name], side):
            return False
        if EXPLAINED_CUES.search(self._before) is not None:
            return True
        read = (self.names.first_read.get(s.name, self._number) for s in symbols_of([side.expr.node]))
        if self.names.values[name] in self._slopes and all(number < self._number for number in read):
            return False
        return not self.names.is_declared(name) and VALUE_CUES.search(self._before) is None

    def _has_another_number(self, symbol: Node, side: ReadSide) -> bool:
        """Tell whether a number takes the place of another one that was chosen for an input: n = 3, and then n = 4."""
        before = self.names.fixed.get(symbol)
        if (
            before is None
            or symbol in self.names.solved
            or not side.expr.node.is_number()
            or not before.is_number()
        ):
            return False
        return not before.is_number(side.expr.node.value)

    def _is_related(self, symbol: Node, side: ReadSide) -> bool:
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
        self._note_units(equation)
        self.names.fix(symbol, side.expr.node, Assumption(said, self._line(equation.left.span.start)))
        if self._says_value():
            self.names.points[symbol] = self._line(self._point_end(equation.right.span.end))
        else:
            self.names.moving.add(symbol)

    def _note_units(self, equation: WrittenEquation) -> None:
        """Note the inputs that may be units behind a number: m of r = 0.5 m, where m is a mass."""
        unit = UNIT_BEHIND.fullmatch(equation.right.text)
        if unit is not None and is_unit(unit["unit"]):
            names = [n for n in _NAME.findall(unit["unit"]) if self.names.is_input(n)]
            self.names.units.update(self.names.values[n] for n in names)

    def _says_value(self) -> bool:
        """Tell whether words right before an equation say that it gives an input a value."""
        return any(cues.search(self._before) is not None for cues in (VALUE_CUES, VALUES_CUES))

    def _point_end(self, behind: int) -> int:
        """Return where the words end that give a value: with their line, behind a colon with the paragraph."""
        rest = self._source.text[behind:]
        return behind if _HEADING.match(rest) is None else behind + len(rest.partition("\n\n")[0])

    def _equations_to_solve(self, symbol: Node, equation: WrittenEquation) -> list[Condition]:
        """Return the equations that a value of an input is to solve; none where it is given in passing."""
        asked = self.names.asked_of(symbol)
        given = VALUE_CUES.search(self._before) is not None or (
            LISTED_CUES.search(self._before) is not None
            and GOES_ON.match(self._source.text[equation.right.span.end :]) is not None
        )
        if given and (symbol in self.names.fixed or not any(symbol in c.unknowns for c in asked)):
            return []
        return asked

    def _solution(
        self, symbol: Node, side: ReadSide, equation: WrittenEquation, asked: list[Condition]
    ) -> tuple[bool, ReadSide | None]:
        judged = self._judge.solution(symbol, side, asked)
        if judged.verdict.status == "refuted" and self._carried is not None:
            with self._judge.in_another_case(self._carried):
                there = self._judge.solution(symbol, side, asked)
            judged = (
                replace(there, message="in the case above") if there.verdict.status == "proved" else judged
            )
        if judged.verdict.status == "refuted":
            named = replace(side, text=equation.left, expr=self.names.expr(symbol), slope=None, values=False)
            if self._is_another_equation(named, side):
                self._hold(named, side, equation, asked=True)
                return True, side
            if symbol in self._open and side.varies:
                why = "an equation above, which is undecided, has this input, too"
                judged = StepVerdict("solution", Verdict("undecided", why))
        if symbol in self.names.fixed and judged.verdict.status != "proved":
            return False, None  # it has a value already, and this is a claim about that
        self._add_solution(equation, judged)
        if not self._is_alternative(symbol):
            self._fix(symbol, side, equation)
        self._answer(symbol, asked)
        return True, side

    def _is_alternative(self, symbol: Node) -> bool:
        """Tell whether words join a value of an input to one that solved the same equations."""
        other = self._lower_sign or ALTERNATIVE_CUES.search(self._before) is not None
        return symbol in self.names.solved and other

    def _answer(self, symbol: Node, asked: list[Condition]) -> None:
        answered = [c for c in asked if symbol in c.unknowns] or asked[:1]
        if (
            len(self.names.conditions) > 1
        ):  # x + y = 9 is not answered by x = 2*y, which another equation gives
            answered = [c for c in answered if c.unknowns or c.where(self.names.fixed).is_identity]
        self.names.settle(symbol, answered)

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
