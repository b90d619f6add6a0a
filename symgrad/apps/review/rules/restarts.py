"""Where a document begins anew: the next exercise, another example, a name that is given another meaning."""

from __future__ import annotations

import re

from symgrad.apps.review.assumptions import Condition
from symgrad.apps.review.formulas.letter_products import differentiated_names
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.layout.prose import VALUES_CUES
from symgrad.apps.review.rules.second_readings import SecondReadings
from symgrad.apps.review.rules.state import WrittenEquation
from symgrad.ir.traverse import symbols_of

_TASK = re.compile(
    r"\b(?:exercise|example|problem|question|task|part|case|aufgabe|ex|q)\.?\s*\w{0,4}[.:)]?[^=\n]*$",
    re.IGNORECASE,
)
_ANEW = re.compile(
    r"\b(?:let|now|consider|take|define|suppose|instead|alternatively|another|similarly|second|chooses?)\b[^.=\n]{0,40}$"
    r"|\b(?:in|at|for)\s+(?:the\s+)?(?:(?:deep|shallow|small|large|low|high|weak|strong|thin|thick|slow|fast)\s+\w+"
    r"|\w+\s+(?:limit|regime|approximation))\W*$",  # in deep water
    re.IGNORECASE,
)
# At the begin of a line: a bullet, a number or letter of a part, a label; or words that name what is meant.
_MARK = re.compile(
    r"(?:^|\n)\s*(?:>\s*)?(?:[-*•–|]\s|\#+\s|\#?\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)\]:]|\\item\b|\*\*"
    r"|[^\W\d][\w -]{2,30}:)[^=\n]*$"
)
_FOR = re.compile(r"\b(?:for|given|if|with|find|differentiate|function|link)\b[^.=\n]{0,60}$", re.IGNORECASE)
_STATED = re.compile(
    r"\b(?:symmetr\w+|equilibri\w+|steady.state|indifferen\w+|clears?|balances?|requires?|boundary|initial(?:ly)?)\b"
    r"|\b(?:for|when|if)\s*[$(]*$",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"\bboth (?:vanish|hold|are|equations|conditions)\b|\bsystem of\b|\bsimultaneous", re.IGNORECASE
)
_OPTIMUM = re.compile(
    r"\bF\.?O\.?C\.?s?\b|\bfirst.order conditions?\b|\bKKT\b|\b(?:golden|optimality) (?:rule|conditions?)\b",
    re.IGNORECASE,
)
_REQUIRED_BEHIND = re.compile(
    r"[\s$)\]`]*(?:(?:must|has to|have to|should|needs? to)\b[^.;\n]*\b(?:hold|be satisfied|be true)"
    r"|requires?|demands)\b"
)
_RATE = re.compile(r"d\w+_d\w+|\w+_d*dot")
_AHEAD = 3  # statements
_NEAR_WORDS = 80  # characters behind a statement


class RestartRules(SecondReadings):
    """The rules of names that are given another meaning."""

    def _begins_anew(self, equation: WrittenEquation) -> bool:
        """Tell whether an equation that does not hold gives its name another meaning.

        That is so behind the name of an exercise and behind words such as let; behind a bullet, a number or a label
        it is where the name is differentiated next.
        """
        start = equation.left.span.start
        before = self._source.text[max(0, start - 120) : start]
        here = re.split(r"\n\s*\n", before)[-1]
        heading = before[: len(before) - len(here)].rstrip().rpartition("\n")[2]
        sentence = re.split(r"(?<=[.;!?])\s", here)[-1]
        if (
            _TASK.search(here.rpartition("\n")[2])
            or _ANEW.search(sentence)
            or (here != before and _TASK.search(heading))
        ):
            return True
        if not (_MARK.search(here) or _FOR.search(sentence)):
            return False
        name = re.escape(re.sub(r"[\s$&\\]|\(.*", "", equation.left.text))
        slope = re.compile(
            rf"(?<!\w)\\?{name}(?:'|′|_[a-z])|[d∂]\s*\\?{name}\s*/|\\(?:partial|d|mathrm\{{d\}})?\s*\{{?\s*(?:d|\\partial)?\s*\\?{name}"
            rf"\s*\}}\s*\{{|\\d?dot\s*\{{?{name}|∇"
        )
        return any(slope.search(s.sides[0].text) for s in self._behind_it[:_AHEAD] if s.relations)

    def _is_stated(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether words say that an equation holds: by symmetry, in equilibrium; or of what its inputs are."""
        has_inputs = bool(symbols_of([left.expr.node, right.expr.node]))
        if has_inputs and _STATED.search(self._sentence().rpartition("\n")[2]) is not None:
            return True
        plain = left.slope is None and not left.values and not right.values
        if (
            has_inputs
            and plain
            and right.expr.node.is_number()
            and VALUES_CUES.search(self._before) is not None
        ):
            return True  # for k = 0.2 and tau = 15, where tau = V/F
        if not has_inputs:
            return False  # 2 + 2 = 5 is a claim
        if plain and (
            _SYSTEM.search(self._before) or _OPTIMUM.search(self._sentence()) or self._is_in_a_system()
        ):
            return True
        inputs = symbols_of([left.expr.node, right.expr.node])
        described = {s for s in inputs if s.name in self._described}
        return plain and bool(described) and not any(described & c.reads for c in self.names.conditions)

    def _is_required(self) -> bool:
        """Tell whether words behind the statement say that it must hold."""
        here = self._statement
        end = 0 if here is None else here.sides[-1].span.end
        return _REQUIRED_BEHIND.match(self._source.text[end : end + _NEAR_WORDS]) is not None

    def _is_in_a_system(self) -> bool:
        """Tell whether an equation stands right below one that holds, in the same display."""
        here, before = self._statement, self._previous
        if here is None or before is None or here.passage is not before.passage or here.continues:
            return False
        return here.passage.kind == "block" and self._held == self._number - 1

    def _has_rates(self, name: str, condition: Condition) -> bool:
        """Tell whether an equation has a derivative of an input in it, as a symbol: a differential equation."""
        mark = re.compile(rf"{re.escape(name)}_d*dot|d{re.escape(name)}_d\w+|{re.escape(name)}(?:_prime)+")
        return any(mark.fullmatch(s.name) for s in condition.reads)

    def _is_solved_for_time(self, name: str, side: ReadSide) -> bool:
        """Tell whether a formula is a solution of a differential equation above, which is judged with it."""
        return side.varies and any(self._has_rates(name, c) for c in self.names.conditions)

    def _stands_above_definition(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation with a derivative stands above the formula of a name in it: it is given, then."""
        if not (left.values or right.values or left.slope or right.slope):
            return False
        named = differentiated_names(f"{left.text.text} = {right.text.text}")
        return any(self._defined_at[name][0] > self._number for name in named if name in self._defined_at)

    def _names_a_rate(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether a step gives a name to how fast something moves: m*dv/dt = m*a, of an a that is new."""
        one, other = (set(symbols_of([side.expr.node])) for side in (left, right))
        rates = [s for s in one - other if s.name not in self.names and _RATE.fullmatch(s.name)]
        return bool(rates) and any(map(self.names.is_new, other - one))

    def _forget_values(self) -> None:
        """Let the inputs be free again that had values above."""
        names = self.names
        for symbol in list(names.fixed):
            names.release(symbol)
        names.moving.clear()
        names.conditions.clear()
        names.implied.clear()
        self._judge.places.at.clear()
        self._carried = None
