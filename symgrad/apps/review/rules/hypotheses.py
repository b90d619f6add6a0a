"""What a document takes to hold: cases, equations that are asked for or known, facts."""

from __future__ import annotations

import re
from functools import reduce

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import Condition, ImplicitCurve, ImplicitEquation
from symgrad.apps.review.decisions.conditions import eliminate
from symgrad.apps.review.decisions.implicit_curves import dependence
from symgrad.apps.review.decisions.shapes import match_shapes
from symgrad.apps.review.formulas.latex_declarations import declared_names
from symgrad.apps.review.formulas.matrix_facts import StatedFact
from symgrad.apps.review.formulas.notation import WrittenDerivative
from symgrad.apps.review.formulas.related_rates import rate, rate_variables
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.layout.points import point_near, time_near
from symgrad.apps.review.layout.prose import (
    EXTREMUM_CUES,
    HELD_CUES,
    SOUGHT_CUES,
    WITH_CUES,
    ZERO_CUES,
)
from symgrad.apps.review.layout.statements import ChainText, SideText
from symgrad.apps.review.rules.cases import (
    DocumentCase,
    case_text,
    is_behind,
    is_joined,
    is_value_behind,
    reaches,
    scope_of,
)
from symgrad.apps.review.rules.laws import LawRules
from symgrad.apps.review.rules.state import WrittenEquation, one_line
from symgrad.ir.graph import OPS, SYMBOL, Node, number
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.contraction import transpose
from symgrad.support.errors import SymgradError
from symgrad.support.traversal import walk

_LINES = 3  # up to an equation, in which words ask for it
_NEAR = 120  # characters before a definition that may say that a name is fixed


class HypothesisRules(LawRules):
    """The rules of what is taken to hold."""

    def _says_case(self, statement: ChainText) -> bool:
        """Take in ``x > 0`` of names that were read, where it says for which values the sentence holds."""
        text = case_text(statement, self._source)
        if text is None:
            return False
        before = self._prose(statement.sides[0].span.start)
        scope = scope_of(before, statement, self._source)
        was_used = any(s is statement for s in self._behind)
        beside = None if was_used else self._beside
        if beside is not None and not is_joined(beside[0], statement, self._source):
            beside = None
        if scope is None and beside is not None:
            scope = beside[1]
        defines = bool(self.steps) and self.steps[-1].kind == "definition"
        behind = self._previous is not None and is_behind(self._previous, statement, self._source)
        if scope is None and not was_used and not (defines and behind):
            return False
        between = self._source.text[self._end : statement.sides[0].span.start]
        if defines and (behind or WITH_CUES.fullmatch(between)):
            scope = "general"  # f = sqrt(c**2)*x with c > 0; f(x) = sqrt(x**2), x > 0
        node = self._truth(statement, text)
        written = " ".join(text.text.split())
        case = DocumentCase(text.span, written, scope or "sentence")
        if node is None:
            self._case, self._case_used = (case, None), False
            return False
        self._beside = statement, case.scope
        message = "what this sentence says is judged there"
        if case.scope == "general":
            self._general.append(node)
            self.names.assume(f"{written} from here on", self._line(text.span.start))
            message = "taken to hold from here on"
        elif not was_used:
            before_it = None if beside is None or self._case is None else self._case[1]
            whole = node if before_it is None else OPS["and_"](before_it, node)
            self._case, self._case_used = (case, whole), False
        if case.scope == "sentence":
            self.names.assume(f"{written} in what that sentence says", self._line(text.span.start))
        self._add("condition", text, self._first(statement), message=message)
        return True

    def _truth(self, statement: ChainText, text: SideText) -> Node | None:
        """Return a case as a truth value; None where it reads a name that is new, or is none of numbers."""
        for side in statement.sides:
            latex = side.notation == "latex"
            names = declared_names(side.text) if latex else re.findall(r"[^\W\d]\w*", side.text)
            if any(n not in self.names and n not in ("abs", "pi", "oo") for n in names or ()):
                return None
        try:
            parts = [self._reader.truth(part) for part in _one_by_one(statement, text)]
        except SymgradError:
            return None
        found = [part for part in parts if part is not None]
        return reduce(OPS["and_"], found) if len(found) == len(parts) else None

    def _general_case(self, case: Node | None) -> Node | None:
        """Return a case where what was taken to hold since it was read holds as well."""
        known = [] if case is None else [case]
        parts = set(walk(known, lambda n: n.args if n.op.name == "and_" else ()))
        found = [*known, *(n for n in self._general if n not in parts)]
        return reduce(OPS["and_"], found) if found else None

    def _case_of(self, statement: ChainText) -> Node | None:
        """Return where a statement is said to hold, as a truth value; None for everywhere."""
        found, start = list(self._general), statement.sides[0].span.start
        self._judge.unclear = None
        if self._case is not None and self._case[0].span.end <= start:
            case, node = self._case
            if reaches(case.span, start, self._source, used=self._case_used):
                if node is None:
                    self._judge.unclear = case.said
                else:
                    found.append(node)
                self._case_used = self._line(start) == self._line(case.span.start)
            else:
                self._case = None
        self._behind, last = [], statement
        for following in self._behind_it:
            text = case_text(following, self._source)
            is_next = is_behind if last is statement else is_joined
            if text is None or not is_next(last, following, self._source):
                break
            node = self._truth(following, text)
            if node is None:
                self._judge.unclear = " ".join(text.text.split())
            else:
                found.append(node)
                self._behind.append(following)
            last = following
        return reduce(OPS["and_"], found) if found else None

    def _take_values(self, statement: ChainText) -> None:
        """Take in the equations behind a statement that say at which values it holds: dy/dx = 6 at x = 3.

        What is zero somewhere is an equation for that, which its solution follows.
        """
        self._judge.places.here = frozenset()
        self._take_point(statement)
        last = statement
        if not statement.relations or statement.sides[-1].text.strip(" .,$&\\") == "0":
            return
        for following in self._behind_it:
            first = last is statement
            behind = is_value_behind(last, following, self._source, first=first)
            symbol = self._gives(following) if behind else None
            if symbol is None or symbol.op is not SYMBOL or self.names.asked_of(symbol):
                return
            try:
                value = self._reader.side(following.sides[1]).expr.node
            except SymgradError:
                return
            if value.shape != symbol.shape or symbol in symbols_of([value]):
                return
            self._judge.places.at[symbol] = value
            self._judge.places.here |= {symbol}
            self._values_behind.append(following)
            last = following

    def _take_point(self, statement: ChainText) -> None:
        """Take in the point or the time that words beside a statement give: at (3, 4), after 2 seconds."""
        start, end = statement.sides[0].span.start, statement.sides[-1].span.end
        text = self._source.text
        before = self._prose(start)
        line_end = text.find("\n", end)
        said = point_near(before, text[end : line_end if line_end >= 0 else None])
        values = said or self._point  # that of the line above, whose curve was not read there
        pair = self._coordinates(len(values)) if values else []
        self._point = () if pair else values
        time = time_near(before)
        if time is not None and not values:
            said = values = [time]
            pair = [s for s in self.names.values.values() if s.op is SYMBOL and s.name == "t"]
        if len(values) != len(pair):
            return
        at: dict[Node, Node] = {}
        for coordinate, value in zip(pair, values, strict=True):
            try:
                at[coordinate] = self._reader.side(SideText(start, value)).expr.node
            except SymgradError:
                return
        inputs = {s: value for s, value in at.items() if s.op is SYMBOL}
        for y in at.keys() - inputs.keys():  # the point is on the curve y = f(x)
            if not (Expr(substitute([y], inputs)[0]) - Expr(at[y])).canonical().node.is_number(0):
                return
        self._judge.places.at.update(inputs)
        if said:
            self._judge.places.here |= inputs.keys()

    def _coordinates(self, count: int) -> list[Node]:
        """Return what points of the document are of: of its curve, of its function of several numbers; none for none.

        Args:
            count: how many coordinates a point has.
        """
        names = self.names
        for equation in reversed(names.implied.values()):
            if equation.curve is not None:
                return [equation.curve.x, equation.curve.y]
        several = [p for p in names.functions.values() if len(p) > 1]
        letters = [n for n in ("x", "y", "z") if n in names.values and not names.values[n].shape]
        inputs = [n for n in letters if names.is_input(n)]
        found = several[-1] if several else letters if len(inputs) < count else inputs
        return [names.values[p] for p in found if p in names.values]

    def _is_value_behind(self, statement: ChainText) -> bool:
        """Tell whether an equation was taken in with the statement before it, as a value for that."""
        if not any(s is statement for s in self._values_behind):
            return False
        text = statement.sides[-1]
        self._add("condition", text, self._first(statement), message="what stands before it is judged there")
        self._end = text.span.end
        return True

    def _hold(self, left: ReadSide, right: ReadSide, equation: WrittenEquation, *, asked: bool) -> None:
        """Take an equation to hold."""
        a, b = match_shapes(left.expr, right.expr)
        slope = left.slope or left.claimed or right.slope
        unknowns = () if slope is None else tuple(x.node for x in slope.by)
        if a.shape == b.shape:
            written = f"{one_line(equation.left)} = {one_line(equation.right)}"
            self.names.hold(Condition(a.node, b.node, written, unknowns, asked))
            self._held = self._number
            timeless = not asked and slope is None and not (left.values or right.values)
            for x in rate_variables(self.names, [a.node, b.node]) if timeless else ():
                here, there = (rate(self.names, side, x) for side in (a.node, b.node))
                self.names.hold(
                    Condition(here, there, f"{written}, differentiated by {x.name}", (), asked=False)
                )
        self._add("condition", equation.right, equation, message="read as a condition, which is not judged")

    def _says_curve(
        self, left: ReadSide, right: ReadSide, equation: WrittenEquation, *, stated: bool = False
    ) -> bool:
        """Take in F(x, y) = c, which does not hold everywhere, where the document has dy/dx and does not define y."""
        found = dependence(left.expr.node, right.expr.node, self._followed) if self._followed else None
        if found is None or left.values or right.values or left.slope is not None:
            return False
        (y, x), a, b = found, left.expr, right.expr
        if y in self.names.implied or y in self.names.fixed or a.shape or b.shape:
            return False
        read = symbols_of([a.node, b.node])
        named = not stated and self.names.innermost(topological([a.node, b.node]))
        if named or any(s.name.endswith("_prime") for s in read):
            return False
        value = Expr(y) - (a - b)
        self.names.implied[y] = ImplicitEquation(y, value.node, ImplicitCurve(a.node, b.node, y, x))
        message = f"read as what {y.name} follows {x.name} by; d{y.name}/d{x.name} follows it, ∂ holds {y.name} fixed"
        line = self._line(equation.left.span.start)
        self.names.assume(
            f"{y.name} follows {x.name} by {one_line(equation.left)} = {one_line(equation.right)}", line
        )
        self._add("condition", equation.right, equation, message=message)
        return True

    def _exchange(self, symbol: Node, side: ReadSide, equation: WrittenEquation) -> None:
        """Take in h = V/(pi*r**2) behind V = pi*r**2*h: h follows V where words hold V fixed, which else is noted."""
        if symbol.name in self.names.facts.held:
            return
        read = set(topological([side.expr.node]))
        for name, (number_of, before) in self._defined_at.items():
            value = self.names.values[name]
            if value not in read or symbol not in symbols_of([value]):
                continue
            line = self._line(before.left.span.start)
            start, end = before.left.span.start, equation.right.span.end
            near = re.split(r"\n[ \t]*\n", self._source.text[max(0, start - _NEAR) : start])[-1]
            if HELD_CUES.search(near + self._source.text[start : end + _NEAR // 4]) is not None:
                self.late.append((number_of, self._number))
                self._judge.idle = True
                self.names.facts.held[name] = line
            else:
                self.names.assume(
                    f"{name} moves with what {one_line(before.right)} reads, {symbol.name} held fixed; "
                    f"otherwise: say that {name} is fixed",
                    line,
                    stated=False,
                )
            return

    def _ask_for_zero(self, start: int) -> None:
        """Take in that words between the last formula and a place set the derivative to zero that it is about."""
        last = self._last
        between = self._source.text[self._end : start] if self._end < start else ""
        if not isinstance(last, ReadSide) or not last.values or ZERO_CUES.search(between) is None:
            return
        slope = last.slope or last.claimed
        if slope is None:
            return
        if _is_second(slope):  # what is set to zero is the first one
            slope = self._slopes.get(slope.by[0].node, slope)
        self._hold_zero(slope)

    def _ask_for_extremum(self, symbol: Node) -> None:
        """Take in that words put an input where its last derivative is zero: at the minimum x = a."""
        slope = self._slopes.get(symbol)
        if slope is not None and EXTREMUM_CUES.search(self._before) and not self.names.asked_of(symbol):
            self._hold_zero(slope)

    def _hold_zero(self, slope: WrittenDerivative) -> None:
        value, nothing = match_shapes(slope.value, Expr(number(0)))
        unknowns = tuple(x.node for x in slope.by)
        self.names.hold(Condition(value.node, nothing.node, "the derivative is zero", unknowns))

    def _saw_slope(self, side: ReadSide) -> None:
        """Remember a first derivative of a number."""
        slope = side.slope
        if slope is not None and not _is_second(slope):
            self._slopes[slope.by[0].node] = slope

    def _is_sought(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation with a number on its right, which does not hold everywhere, asks for a value.

        That is where words in its sentence say so, or where one of the next statements gives the value.
        """
        if left.expr.node.op is SYMBOL:
            return False
        if not right.expr.node.is_number():
            return self._is_equation(left, right)
        if right.expr.node.is_number(0) and left.slope is None and left.claimed is not None:
            return True  # a derivative written out, and set to zero
        reads = set(symbols_of([left.expr.node]))
        plain = left.slope is None and not left.values
        if plain and any(c.asked and c.unknowns and reads <= c.reads for c in self.names.conditions):
            return False  # the derivative that is set to zero, written out: a claim
        is_first = left.text is self._first_side
        if right.expr.node.is_number(0) and plain and is_first and not self._has_one_solution(reads):
            return True  # y = 0, or x**2 - 2*x - 3 = 0
        if self._has_one_solution(reads):
            return False  # it follows from equations above, or is a mistake
        if reads and SOUGHT_CUES.search("\n".join(self._sentence().split("\n")[-_LINES:])) is not None:
            return True
        by = {x.node for x in left.slope.by} if left.slope is not None else set[Node]()
        if any(self._gives(statement) in by for statement in self._behind_it[:1]):
            return True  # dy/dx = 0, so x = 2, on a curve whose parameter both follow
        return any(self._gives(statement) in reads for statement in self._behind_it)

    def _is_equation(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether two formulas of one input are an equation for it: one of the next statements has its value."""
        nodes = [left.expr.node, right.expr.node]
        unknowns = {n for n in topological(nodes) if n.op is SYMBOL}
        plain = left.slope is None and not left.values and right.slope is None
        if not plain or len(unknowns) != 1 or self._has_one_solution(unknowns):
            return False
        return any(self._gives(statement) in unknowns for statement in self._behind_it)

    def _has_one_solution(self, symbols: set[Node]) -> bool:
        """Tell whether equations above leave one value for each of some inputs."""
        conditions = [c.where(self.names.fixed) for c in self.names.conditions]
        unknowns = sorted({s for c in conditions for s in c.reads}, key=lambda s: s.name)
        found = eliminate(conditions, unknowns, {}) if conditions else None
        return found is not None and all(s in found and not symbols_of([found[s]]) for s in symbols)

    def _gives(self, statement: ChainText) -> Node | None:
        """Return the input, or the value, that an equation is for, also where that is said of a name with a mark."""
        if (
            statement.continues
            or not statement.relations
            or statement.relations[0].kind not in ("equal", "define")
        ):
            return None
        target = self._reader.target(statement.sides[0])
        if target is None:
            return None
        name = target.name if target.name in self.names else self.names.plain_name(target.name)
        return None if name is None else self.names.values.get(name)

    def _says_symmetric(self, left: ReadSide, right: ReadSide, equation: WrittenEquation) -> bool:
        """Take in that an input is its own transpose: a fact, since it cannot follow."""
        for a, b in ((left.expr.node, right.expr.node), (right.expr.node, left.expr.node)):
            if a.op is not SYMBOL or len(a.shape) != 2 or b is not transpose(a, (1, 0)):
                continue
            if not a.declaration.symmetric:  # all of the document is meant
                self.names.facts.add(a.name, StatedFact("symmetric", self._line(equation.left.span.start)))
                self.again = self._judge.idle = True
            self._add("condition", equation.right, equation, message=f"{a.name} is symmetric")
            return True
        return False


def _one_by_one(statement: ChainText, text: SideText) -> list[SideText]:
    """Return a case of several names, x, y > 0, as one case for each."""
    first = statement.sides[0]
    names = first.text.split(",")
    if len(names) == 1:
        return [text]
    rest = text.text[len(first.text.strip()) :]
    return [SideText(text.start, f"{name.strip()}{rest}", text.notation) for name in names]


def _is_second(slope: WrittenDerivative) -> bool:
    """Tell whether a derivative is one of second order, or one of an array: a Hessian is that of a gradient."""
    return len(slope.by) != 1 or slope.of.shape != ()
