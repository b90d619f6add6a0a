"""Other readings of a step that is wrong in the first one: numbers put in, a case above, names that are constant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import Condition
from symgrad.apps.review.decisions.conditions import solution
from symgrad.apps.review.decisions.rounding import agree_in_floats, number_text, numbers_in
from symgrad.apps.review.decisions.step_verdict import StepVerdict
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.formulas.related_rates import total_derivative
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.layout.quantities import UNIT_BEHIND, is_unit
from symgrad.apps.review.rules.state import one_line
from symgrad.apps.review.rules.tangents import TangentRules
from symgrad.frontend.latex.meaning.inputs import input_of
from symgrad.ir.graph import OPS, Node, number, symbol
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.support.errors import SymgradError
from symgrad.verification.verdict import Verdict

_CERTAIN = ("proved", "supported")
_CONSTANT = re.compile(
    r"\b(?:treated?|taken|held|kept|regarded|considered|viewed)\s+(?:as\s+)?(?:a\s+|an\s+)?(?:constant|fixed)"
    r"|\bno gradient|\bstop.?gradient|\bdetached\b|\bdoes not depend on",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[\s,.$()]*\b(?:since|because|as|using|by|where|with|for|note that|recall)\b(?:\s+that)?[\s$(]*",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:doubl|tripl|halv|quadrupl|increas|decreas|rais|reduc|chang)\w*|\b(?:twice|instead)\b",
    re.IGNORECASE,
)
_CALLED_AT = re.compile(r"\s*(?P<name>[^\W\d]\w*)\((?P<argument>[^()]*)\)\s*")
_NEAR = 160  # characters around a definition
_MOST_INPUTS = 3  # inputs that numbers are put in for
_MOST_ASSIGNMENTS = 200  # of numbers to inputs
_EQUATION = re.compile(r"(?<![<>!])==|(?<![<>!=])= ")
_WHEN = re.compile(r"\b(?:when|while|whenever|once|provided|inactive|active)\b", re.IGNORECASE)
_HEADING = re.compile(r"\b(?:with|for|if|when|at|case)\b[^\n]*=[^\n]*:[ \t$*]*\n[^\n]*\Z", re.IGNORECASE)
_IF = re.compile(r"(?:\A|[.;!?]\s|\n)\s*if\b[^=<>.;\n]*,\s*\Z", re.IGNORECASE)
_VERBS = "simplif|expand|cancel|factor|collect|substitut|combin|rearrang|differentiat|integrat|evaluat"
_JOINTS = (
    "which|so|hence|thus|therefore|then|this|that|it|we|by|using|since|because|now|here|with|from|after|again"
)
_NOUN = re.compile(
    rf"(?:[.;:!?,]\s|\n)\s*(?:(?:and|the|a|an|its)\s+)*(?!(?:{_JOINTS})\b|(?:{_VERBS}))[a-z]{{3,}}[a-z -]*[\s$=]*\Z",
    re.IGNORECASE,
)
_SLOPE_NAME = re.compile(r"d\w+_d\w+")
_KINKS = ("maximum", "minimum", "abs", "sign", "where", "heaviside", "relu", "clip")
_PARTIAL_DOMAIN = ("sqrt", "log", "cbrt")


class SecondReadings(TangentRules):
    """What a wrong step may mean beside what it says."""

    def _judged_otherwise(self, left: ReadSide, right: ReadSide, wrong: StepVerdict) -> StepVerdict | None:
        """Return the verdict on a step in another reading; None if it is wrong in all of them."""
        for found in self._other_verdicts(left, right, wrong):
            if found is not None:
                return found
        return None

    def _other_verdicts(
        self, left: ReadSide, right: ReadSide, wrong: StepVerdict
    ) -> Iterator[StepVerdict | None]:
        yield _almost_everywhere(wrong)
        yield self._for_all_values(left, right)
        yield self._along_others(left, right)
        yield self._as_restated(left, right)
        yield self._without_unit(left, right)
        yield self._with_restated(left, right)
        yield self._as_call(left, right)
        yield self._with_constants(left, right)
        yield self._with_reason(left, right)
        yield self._in_the_case_above(left, right)
        yield self._with_numbers(left, right, wrong)
        yield self._at_a_rate(left, right, wrong)
        yield self._in_a_stated_case(left, wrong)
        yield self._below_heading(left, wrong)
        yield self._behind_label(left, wrong)
        yield self._for_positive(left, right, wrong)

    def _for_all_values(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Judge a step without the values that inputs have by the lines above: what holds for all of them is right."""
        if not self.names.fixed or not (left.slope is not None or left.values):
            return None
        try:
            with self.names.for_all_values():
                found = self._judge.judged(self._reader.side(left.text), right)
        except SymgradError:
            return None
        if found.verdict.status != "proved":
            return None
        return replace(found, message="for all values of the inputs")

    def _along_others(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Judge a derivative where other inputs follow, along equations above or by differentials."""
        slope = left.slope
        if slope is not None and len(slope.by) == 1 and slope.plain:
            total = total_derivative(self.names, slope.of.node, slope.by[0].node)
            if total is None:
                return None
            found = self._judge.judged(replace(left, expr=self.names.expr(total), slope=None), right)
            note = f"where other inputs follow {slope.by[0]}, as the equations above say"
        elif slope is None and self.names.varied and self.names.ever_varied - self.names.varied:
            self.names.varied = self.names.ever_varied
            try:
                left, right = self._reader.side(left.text), self._reader.side(right.text)
            except SymgradError:
                return None
            found, note = self._judge.judged(left, right), "with all differentials above"
        else:
            return None
        return replace(found, message=note) if found.verdict.status == "proved" else None

    def _as_restated(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Judge a derivative as one of another formula that the document has for the same name, by equations above."""
        slope = left.slope
        if slope is None or not slope.by:
            return None
        for form in self._restated.get(slope.of.node, ()):
            inputs, by = symbols_of([form.node]), slope.by
            if len(inputs) == 1 and "'" in left.text.text:  # f' of f = 5*y**2 - 20*y + 25
                by = (self.names.expr(inputs[0]),) * len(by)
            if not {x.node for x in by} <= set(inputs):
                continue
            try:
                value = derivative(form, by)
            except SymgradError:
                continue
            found = self._judge.judged(replace(left, expr=value, slope=None), right)
            if found.verdict.status in _CERTAIN:
                if form.node in self._doubtful:
                    found = replace(
                        found, verdict=Verdict("undecided", f"it is that of {form}, which is undecided")
                    )
                return replace(found, kind="derivative", message=f"of {form}, as it is written above")
        return None

    def _without_unit(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Return that a step is undecided which holds if letters behind its number are a unit: 1 + 2 = 3 m, m = 2."""
        match = UNIT_BEHIND.fullmatch(right.text.text)
        if match is None or not is_unit(match["unit"]):
            return None
        try:
            other = self._reader.side(replace(right.text, text=match["number"]))
        except SymgradError:
            return None
        found = self._judge.judged(left, other)
        if found.verdict.status not in _CERTAIN:
            return None
        why = f"it holds if {match['unit']} is a unit, and {match['unit']} is a name here"
        return replace(found, verdict=Verdict("undecided", why))

    def _with_restated(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Judge a step with another formula that the document has for a value in it, by equations above."""
        reached = set(topological([left.expr.node, right.expr.node]))
        for value, forms in self._restated.items():
            if value not in reached or left.slope is not None:
                continue
            put = substitute([left.expr.node, right.expr.node], {value: forms[0].node})
            sides = (replace(s, expr=self.names.expr(n)) for s, n in zip((left, right), put, strict=True))
            found = self._judge.judged(*sides)
            if found.verdict.status in _CERTAIN:
                if forms[0].node in self._doubtful:
                    why = f"it follows from {forms[0]} above, which is undecided"
                    found = replace(found, verdict=Verdict("undecided", why))
                return replace(found, message=f"with {forms[0]}, as it is written above")
        return None

    def _as_call(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Judge a value at an argument that is a formula: A(r/2), of an A = 2*x*(r - x)."""
        match = _CALLED_AT.fullmatch(left.text.text)
        value = None if match is None else self.names.values.get(match["name"])
        x = None if value is None or value.shape or not value.args else input_of(value)
        if match is None or value is None or x is None or match["name"] in self.names.functions:
            return None
        try:
            argument = self._reader.side(replace(left.text, text=match["argument"])).expr.node
        except SymgradError:
            return None
        at = self.names.expr(substitute([value], {x: argument})[0])
        found = self._judge.judged(replace(left, expr=at), right)
        if found.verdict.status not in _CERTAIN:
            return None
        return replace(found, message=f"{match['name']} is a function of {x.name} here")

    def _with_constants(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Judge a derivative where words say of a name that it is constant: a target without a gradient."""
        slope = left.slope
        if slope is None or len(slope.by) != 1:
            return None
        held: dict[Node, Node] = {}
        reached = set(topological([slope.of.node]))
        for name, (_, equation) in self._defined_at.items():
            start, end = equation.left.span.start, equation.right.span.end
            near = self._source.text[max(0, start - _NEAR // 2) : end + _NEAR]
            value = self.names.values[name]
            if value in reached and value is not slope.of.node and _CONSTANT.search(near) is not None:
                held[value] = symbol(Declaration(f"{name}_held", shape=value.shape))
        if not held:
            return None
        (fixed,) = substitute([slope.of.node], held)
        value = derivative(self.names.expr(fixed), slope.by)
        (node,) = substitute([value.node], {s: v for v, s in held.items()})
        found = self._judge.judged(replace(left, expr=self.names.expr(node), slope=None), right)
        if found.verdict.status not in _CERTAIN:
            return None
        said = ", ".join(s.name.removesuffix("_held") for s in held.values())
        return replace(found, kind="derivative", message=f"where {said} is held constant, as the text says")

    def _with_reason(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Judge a step with the equation right behind it, which words say to be the reason: since sum(y) = 1."""
        following = next(iter(self._behind_it), None)
        if following is None or len(following.sides) != 2 or following.relations[0].kind != "equal":
            return None
        between = self._source.text[right.text.span.end : following.sides[0].span.start]
        if "\n\n" in between or _REASON.fullmatch(between) is None:
            return None
        try:
            a, b = (self._reader.side(side) for side in following.sides)
        except SymgradError:
            return None
        said = " = ".join(one_line(side) for side in following.sides)
        self.names.hold(Condition(a.expr.node, b.expr.node, said, asked=False))
        found = self._judge.judged(left, right)
        if found.verdict.status not in _CERTAIN:
            self.names.conditions.pop()
            return None
        return found

    def _in_the_case_above(self, left: ReadSide, right: ReadSide) -> StepVerdict | None:
        """Judge a step in the case that a line above is about."""
        if self._carried is None or self._judge.case is not None:
            return None
        with self._judge.in_another_case(self._carried):
            found = self._judge.judged(left, right)
        if found.verdict.status not in _CERTAIN:
            return None
        if self._in_a_case:
            return replace(found, message="in the case above")
        why = "it holds in the case of the line above, and not everywhere"
        return replace(found, verdict=Verdict("undecided", why))

    def _with_numbers(self, left: ReadSide, right: ReadSide, wrong: StepVerdict) -> StepVerdict | None:
        """Judge a step whose right side has numbers in the place of inputs: pi*0.02**2/4 for pi*d**2/4."""
        changes = _CHANGE.search(self._sentence()) is not None
        if (
            changes
            and self.names.is_defined(left.text.text.strip(" &$"))
            and not symbols_of([right.expr.node])
        ):
            why = "words say that something changes, which its formula may read"
            return _undecided(wrong, why)
        fixed = self._judge.places.values_in(right)
        node, other = substitute([left.expr.node, right.expr.node], fixed)
        free = [s for s in symbols_of([node]) if s not in symbols_of([other])]
        written = list(dict.fromkeys(numbers_in(right.text.text)))
        if (
            not free
            or any(s.shape or not self.names.is_input(s.name) for s in free)
            or node.shape
            or other.shape
        ):
            return None
        known = set(numbers_in(left.text.text))
        lone = len(written) < 2 and all(v.denominator == 1 for v in written)
        if lone or known.issuperset(written):
            return None
        if len(written) > 1 and len(free) <= _MOST_INPUTS and len(written) ** len(free) <= _MOST_ASSIGNMENTS:
            for values in product(written, repeat=len(free)):
                found = self._at_numbers(left, right, dict(zip(free, values, strict=True)))
                if found is not None and any(v not in known for v in values):
                    return found
        if symbols_of([other]):
            return None
        said = ", ".join(s.name for s in free)
        why = f"numbers stand in the place of {said}, and no line says which values these have"
        return _undecided(wrong, why)

    def _at_numbers(
        self, left: ReadSide, right: ReadSide, values: dict[Node, Fraction]
    ) -> StepVerdict | None:
        put = {**self._judge.places.values_in(right), **{s: number(v) for s, v in values.items()}}
        sides = substitute([left.expr.node, right.expr.node], put)
        if not agree_in_floats(sides, right.text.text):
            return None
        places, before = self._judge.places, (dict(self._judge.places.at), self._judge.places.here)
        places.at.update({s: number(v) for s, v in values.items()})
        places.here |= set(values)
        found = self._judge.judged(left, right)
        if found.verdict.status not in _CERTAIN:
            places.at, places.here = before
            return None
        places.here = before[1]
        said = ", ".join(f"{s.name} = {number_text(v)}" for s, v in values.items())
        return replace(found, message=f"with {said} put in", corrected=None)

    def _at_a_rate(self, left: ReadSide, right: ReadSide, wrong: StepVerdict) -> StepVerdict | None:
        """Take in how fast something moves that words alone may say: dx/dt is 0.2 where 3*x**2*dx/dt is 3*x**2*0.2."""
        sides = (left.expr.node, right.expr.node)
        new = [s for s in symbols_of([sides[0]]) if s not in symbols_of([sides[1]])]
        rates = [s for s in new if _SLOPE_NAME.fullmatch(s.name) and s.name not in self.names]
        value = solution(sides, rates[0]) if len(rates) == 1 and left.slope is None else None
        if value is None or not value.is_number() or Fraction(value.value) not in numbers_in(right.text.text):
            return None
        (rate,) = rates
        said = f"{rate.name.replace('_d', '/d')} = {Expr(value)}"
        self.names.hold(Condition(rate, value, said, asked=False))
        why = f"it holds where {said}, which no formula says"
        return _undecided(wrong, why)

    def _in_a_stated_case(self, left: ReadSide, wrong: StepVerdict) -> StepVerdict | None:
        """Return that a step is undecided that words put into a case, where its left side has several: when active."""
        start = left.text.span.start
        sentence = re.split(r"[.!?](?:\s|$)|\n\s*\n", self._source.text[max(0, start - _NEAR) : start])[-1]
        if _WHEN.search(sentence) is None or not any(
            n.op.name in _KINKS for n in topological([left.expr.node])
        ):
            return None
        why = "the left side has several cases, and words before it may say which is meant"
        return _undecided(wrong, why)

    def _below_heading(self, left: ReadSide, wrong: StepVerdict) -> StepVerdict | None:
        """Return that a step is undecided that gives a name another value in a case: if it is closed, S = 2*x**2.

        A number may get another one below a heading with values of its own.
        """
        before = self._source.text[: left.text.span.start]
        heading = not symbols_of([left.expr.node]) and _HEADING.search(before) is not None
        is_name = left.text is self._first_side and self._reader.head(left.text) is not None
        if not is_name or left.slope is not None or not (heading or _IF.search(before) is not None):
            return None
        why = "the words before it give another case, of which this may be said"
        return _undecided(wrong, why)

    def _behind_label(self, left: ReadSide, wrong: StepVerdict) -> StepVerdict | None:
        """Return that a step is undecided that goes on with a formula, where words may name what it is of."""
        here = self._statement
        goes_on = here is not None and here.continues and any(s is self._last for s in (left, left.text))
        if here is None or not goes_on or here.passage.kind != "inline":
            return None
        if _NOUN.search(self._source.text[self._end : here.sides[0].span.start]) is None:
            return None
        why = "the words before it may name something else than the formula above"
        return _undecided(wrong, why)

    def _for_positive(self, left: ReadSide, right: ReadSide, wrong: StepVerdict) -> StepVerdict | None:
        """Return that a step with roots or logarithms on its right is undecided that holds for positive inputs."""
        nodes = [left.expr.node, right.expr.node]
        inputs = [s for s in symbols_of(nodes) if self.names.is_unknown(s.name)]
        variables = self.names.parameters | self.names.variables
        if not _has_partial_domain(nodes[1]):
            inputs = [s for s in inputs if s.name not in variables] if _has_partial_domain(nodes[0]) else []
        declared = self._carried is not None or self.names.declares_signs()
        if not inputs or declared or self._judge.case is not None:
            return None
        with self._judge.in_another_case(reduce(OPS["and_"], (OPS["lt"](number(0), s) for s in inputs))):
            found = self._judge.judged(left, right)
        if found.verdict.status not in _CERTAIN:
            return None
        said = ", ".join(s.name for s in inputs)
        why = f"it holds for positive {said}, which nothing declares"
        return _undecided(wrong, why)


def _almost_everywhere(wrong: StepVerdict) -> StepVerdict | None:
    """Return that a step holds which is wrong at isolated values alone, as of a number that some form divides by."""
    regions = wrong.verdict.regions
    refuted = [r for r in regions if r.status == "refuted"]
    if not refuted or not any(r.status == "proved" for r in regions):
        return None
    if not all(_EQUATION.search(r.where) for r in refuted):
        return None
    where = "; ".join(dict.fromkeys(r.where for r in refuted))
    verdict = Verdict("proved", f"but where {where}", regions=regions)
    return StepVerdict(wrong.kind, verdict, f"not claimed where {where}")


def _has_partial_domain(node: Node) -> bool:
    """Tell whether a formula has roots, logarithms or powers that negative numbers do not have."""
    return any(
        n.op.name in _PARTIAL_DOMAIN
        or (
            n.op.name == "pow"
            and not (n.args[1].is_number() and Fraction(str(n.args[1].value)).denominator == 1)
        )
        for n in topological([node])
    )


def _undecided(wrong: StepVerdict, why: str) -> StepVerdict:
    """Return a step that is wrong in one reading as undecided, without what was said of its mistake."""
    return replace(wrong, verdict=Verdict("undecided", why), message=None, corrected=None)
