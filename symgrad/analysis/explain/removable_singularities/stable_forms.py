"""Search for forms that are accurate at and near a point where a formula is 0/0: stable forms, and power series."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

from symgrad.analysis.explain.limits import TERMS_BEYOND
from symgrad.analysis.explain.noise.sample_points import domain_of
from symgrad.analysis.explain.removable_singularities.near_point import ULP, PointNeighbourhood
from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import is_late
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.values.evaluate import evaluate_mp
from symgrad.pretty.forms.factor_out import without_sign
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.rewrite.rational.read import PLAIN, rational_of

CLOSE = 1e-6  # distance from the point at which forms without a radius are compared

_FORM = 1e-13  # bound on the relative error of a form
_GOOD = 5e-14  # a form whose error, with its derivatives, is below this ends the search
_ORDERS = 2  # number of derivatives that must be accurate
_SMALL = Fraction("1.1e-16")  # half an ulp of 1
_ROOM = Fraction("1e-4")  # margin for derivatives, in which high terms have larger coefficients
_NOTHING = 1e-25  # relative size of a derivative that counts as 0


@dataclass(slots=True)
class FormSearch:
    """The search for a form of a formula.

    Args:
        whole: the formula.
        beside: the neighbourhood of the point.
        end: the deadline, on the clock of `symgrad.checker.clock`.
        reason: after a search that found no form, the reason.
        error: after a search that found a form, the largest error of the form and of its derivatives.
    """

    whole: Node
    beside: PointNeighbourhood
    end: float
    reason: str = field(default="", init=False)
    error: float = field(default=math.inf, init=False)
    _slopes: dict[Node, list[Node]] = field(default_factory=dict[Node, list[Node]], init=False)
    _least: list[Any] = field(default_factory=list[Any], init=False)

    def form(self, e: Node, part: Node, w: Node, start: Node, c: Sequence[Node]) -> Node | None:
        """Return an accurate form of a part, whose derivatives are accurate, too; None if none is found.

        Args:
            e: the formula over the part.
            part: the part that is 0/0.
            w: the variable of its power series.
            start: the value of w at the point.
            c: the coefficients of the series.
        """
        (t,) = canonical([w - start]).nodes if not start.is_number(0) else (w,)
        best: tuple[float, Node | None] = _FORM, None
        lowest = math.inf

        def error_of(own: Node, radii: Sequence[float]) -> float:
            nonlocal best, lowest
            (form,) = substitute([e], {part: own})
            error = self.beside.worst(self.whole, form, w, radii)
            lowest = min(lowest, error)
            if error > _FORM:
                return math.inf
            slopes = max(self._of_slopes(form, k, w, radii) for k in range(1, _ORDERS + 1))
            if best[1] is None or slopes < max(best[0], _GOOD):
                best = slopes, own
            return slopes

        close = [CLOSE] * len(self.beside.points)
        (direct,) = stable([part]).nodes
        if any(error_of(own, close) < _GOOD for own in self._plain(part, direct, t, c)):
            self.error = best[0]
            return best[1]
        # Bisect for the shortest accurate series: a longer series reaches further, to where the direct form loses fewer
        # digits.
        ends = [k for k in range(2, len(c)) if not c[k].is_number(0)]
        low, high = 0, len(ends)
        while low < high and not is_late(self.end):
            middle = (low + high) // 2
            radii = self._radii(c, ends[middle])
            error = math.inf
            if radii is not None:
                near, radii = self._near(c, ends[middle], t, radii)
                error = error_of(OPS["where"](near, _polynomial(c[: ends[middle]], t), direct), radii)
            if error < _GOOD:
                high = middle
            else:
                low = middle + 1
        if best[1] is None:
            self.reason = (
                "no stable form was found, and too few terms of its power series are known"
                if lowest == math.inf
                else f"the best that was found, a power series near the point, is off by {lowest:.0e} where it ends"
            )
        self.error = best[0]
        return best[1]

    def _plain(self, part: Node, direct: Node, t: Node, c: Sequence[Node]) -> Iterator[Node]:
        """Yield forms of a part without a choice; simple forms come first."""
        ended = next((k for k in range(1, len(c) - 3) if all(x.is_number(0) for x in c[k:])), None)
        polynomial = [] if ended is None else [_polynomial(c[:ended], t)]
        (short,) = canonical([part]).nodes
        first, second = (q.factored() if (q := rational_of(n, reading=PLAIN)) else n for n in (part, direct))
        yield from dict.fromkeys([first, short, direct, second, *polynomial])

    def _of_slopes(self, form: Node, order: int, w: Node, radii: Sequence[float]) -> float:
        """Return the error of a derivative of a form."""
        if not self._least:
            sizes = (self.beside.value(self.whole, *p, 1) for p in self.beside.points)
            self._least = [_NOTHING * abs(x or 0) for x in sizes]
        true, own = (self._slope(x, order) for x in (self.whole, form))
        return self.beside.worst(true, own, w, radii, self._least)

    def _slope(self, e: Node, order: int) -> Node:
        known = self._slopes.setdefault(e, [e])
        while len(known) <= order:
            known += pull_back([known[-1]], [as_node(1)], [self.beside.v]).gradients
        return known[order]

    def _radii(self, c: Sequence[Node], terms: int) -> list[float] | None:
        """Return how far a truncated series and its derivatives are accurate to all digits, for each of the points."""
        mp = self.beside.mp
        found: list[float] = []
        for point, _ in self.beside.points:
            values = [abs(x) for x in evaluate_mp(mp, list(c[: terms + 1]), point)]
            radii: list[Any] = []
            for order in range(_ORDERS + 1):
                slope = [x * math.perm(k, order) for k, x in enumerate(values)]
                first = next((k for k, x in enumerate(slope) if x), None)
                if first is not None and first < terms:
                    radii.append((slope[first] * ULP / slope[terms]) ** (mp.mpf(1) / (terms - first)))
            if not radii or not values[terms] or next(k for k, x in enumerate(values) if x) == terms:
                return None
            found.append(float(min(radii)))
        return found

    def _near(
        self, c: Sequence[Node], terms: int, t: Node, radii: Sequence[float]
    ) -> tuple[Node, Sequence[float]]:
        """Return the condition under which the series is used, and how far it reaches for each of the points.

        If inputs are bounded, the coefficients have about the same magnitude, and so there is one radius. Otherwise the
        condition bounds the first omitted terms relative to the leading term.
        """
        symbols = symbols_of(list(c))
        if all(domain_of(s).low is not None and domain_of(s).high is not None for s in symbols):
            radius = _rounded(min(radii))
            return OPS["lt"](OPS["abs"](t), as_node(radius)), [float(radius)] * len(radii)
        known = Conditions()
        first = next(k for k, x in enumerate(c) if not x.is_number(0))
        sizes = [without_sign(x) or x for x in c]
        size = as_node(_SMALL * _ROOM) * OPS["abs"](sizes[first])
        omitted = [k for k in range(terms, len(c)) if not c[k].is_number(0)][:TERMS_BEYOND]
        small = [OPS["le"](OPS["abs"](_times(sizes[k], t ** (k - first), known)), size) for k in omitted]
        return reduce(OPS["and_"], small), radii


def _rounded(radius: float) -> Fraction:
    """Round down to one digit."""
    power = math.floor(math.log10(radius))
    digit = max(1, min(9, math.floor(radius * 1.0001 / 10.0**power)))
    return digit * Fraction(10) ** power


def _polynomial(c: Sequence[Node], t: Node) -> Node:
    """Return a polynomial in the usual notation: 1 - t**2/6."""
    known = Conditions()
    total: Node | None = None
    for k, x in enumerate(c):
        if x.is_number(0):
            continue
        power = None if k == 0 else t if k == 1 else t**k
        number = known.point(x)
        less = number is not None and number < 0 and total is not None
        size = abs(Fraction(number)) if number is not None and less else x
        term = _times(size if isinstance(size, Node) else as_node(size), power, known)
        positive = without_sign(term)
        if less or (positive is not None and total is not None):
            term = OPS["neg"](term if positive is None else positive)
        total = term if total is None else OPS["add"](total, term)
    return as_node(0) if total is None else total


def _times(c: Node, power: Node | None, known: Conditions) -> Node:
    number = known.point(c)
    if power is None or number is None:
        return c if power is None else OPS["mul"](c, power)
    value = Fraction(number)
    if value < 0 and value.numerator == -1:
        return OPS["neg"](_times(as_node(-value), power, known))
    top = power if value.numerator == 1 else OPS["mul"](as_node(value.numerator), power)
    return top if value.denominator == 1 else OPS["div"](top, as_node(value.denominator))
