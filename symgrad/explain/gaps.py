"""Points of the domain at which a formula is 0/0 although it has a limit there: removable singularities.

Candidates are where a denominator vanishes, as far as that can be solved. At each the formula is evaluated beside the
point with many digits; where both sides agree it has a limit, whose formula comes from its power series.
"""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from symgrad.backward.vjp import pull_back
from symgrad.errors import SymgradError
from symgrad.explain.draws import as_floats, domain_of, inside, value_at
from symgrad.explain.naming import Naming
from symgrad.explain.places import DIGITS, POINTS, Point, exact, is_real, places, precise, samples
from symgrad.explain.rational import in_lowest_terms
from symgrad.explain.series import NoSeries, series_of
from symgrad.ir.evaluate import evaluate, evaluate_mp
from symgrad.ir.graph import Node, as_node
from symgrad.ir.op import OPS
from symgrad.ir.printer import str_text
from symgrad.ir.traverse import substitute, symbols_of, topological, uses
from symgrad.ops.arith import pow
from symgrad.rewrite.condition import Conditions
from symgrad.rules.pipeline import canonical, stable
from symgrad.words.common import factors_of, without_sign

__all__ = ["Gap", "gaps_of", "looked_at", "mended", "slope_of_form"]

_MOST = 400  # equations of a formula that is looked at
_NEAR = 20  # powers of ten by which both sides of a limit are off
_TERMS = 11  # of a series
_FEW = (1, 4, _TERMS)  # for a limit
_ULP = 2.0**-53
_DISTANCES = (1e-3, 1e-6, 1e-9)
_FACTORS = (0, 0.01, 0.3, 0.99, 1.01, 1.5, 4, 30)  # of a radius, at which forms are compared
_AT_ZERO = {
    **dict.fromkeys(
        ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "expm1", "log1p"), 0
    ),
    **dict.fromkeys(("cos", "cosh", "exp", "sec", "sech", "erfc"), 1),
}
_CLOSE = Fraction(1, 10**6)
_TINY = 1e-300
_FORM = 1e-13  # the largest relative error of a form
_SLOPE = 1e-11  # one of its derivative that is small enough
_DERIVED = 1e-10  # that of a derivative of a form


@dataclass(frozen=True, slots=True)
class Gap:
    """A point at which a formula is 0/0 and has a limit.

    Attributes:
        variable: the input that makes it so.
        at: its value there, a formula of the other inputs.
        part: the quotient that is 0/0, or the whole.
        limit: the limit of the whole; None where no formula is found.
        form: a form of the part that computes it there and beside it; None where none is found.
        lost: how many decimal digits the formula as written loses at some distances from the point.
    """

    variable: str
    at: Any
    part: Any = field(repr=False)
    limit: Any
    form: Any = field(repr=False)
    lost: Mapping[float, int]

    @property
    def where(self) -> str:
        """The point, such as ``V = -40``."""
        return f"{self.variable} = {_text(self.at)}"

    def rows(self, naming: Naming) -> list[tuple[str, str]]:
        """What is known, each with a label, in names of the program."""

        def text(e: Any, long: str) -> str:
            return naming.whole(getattr(e, "node", e), 400) or long

        found = (
            [] if self.limit is None else [("limit", text(self.limit, "long: the attribute limit has it"))]
        )
        if self.digits:
            found.append(("digits", f"lost near it: {self.digits}"))
        if self.form is not None:
            node = getattr(self.part, "node", self.part)
            part = naming.names.get(node) or naming.whole(node, 60)
            long = "its power series near the point (long: the attribute form has it)"
            found.append(("write", f"for {part or 'it'}: {text(self.form, long)}"))
        return found

    @property
    def digits(self) -> str:
        """How many digits are lost near the point, in a sentence; empty if none are."""
        told = [f"{n if n < 16 else 'all'} at a distance of {h:g}" for h, n in self.lost.items() if n]
        return ", ".join(told)


def mended(e: Node, gaps: Sequence[Gap]) -> Node | None:
    """Return a formula in which every part that is 0/0 somewhere is in a form that is not; None if one has none."""
    if not gaps or any(g.form is None for g in gaps):
        return None
    whole = next((g for g in gaps if g.part is e), None)
    if whole is not None:
        return whole.form if len(gaps) == 1 else None
    return substitute([e], {g.part: g.form for g in gaps})[0]


def looked_at(e: Node) -> bool:
    """Whether a formula is one of numbers, and short enough to be looked at."""
    order = topological([e])
    return (
        len(order) <= _MOST
        and e.dtype == "real"
        and not any(n.shape or not n.op.pointwise for n in order if n.args)
    )


def gaps_of(
    e: Node, *, mended_slope: Callable[[], Node | None] = lambda: None, seconds: float = 20
) -> list[Gap]:
    """Return the points at which a formula is 0/0 and has a limit.

    Args:
        e: a formula of numbers.
        mended_slope: of a derivative, that of a form of its primal without gaps, if there is one.
        seconds: after which no further limit or form is looked for.
    """
    if not looked_at(e):
        return []
    end = time.monotonic() + seconds
    found = (_Place(e, *place, end, mended_slope) for place in places(e))
    return [g for place in found if (g := place.gap()) is not None]


def slope_of_form(y: Node, gaps: Sequence[Gap], by: Sequence[Node]) -> Node | None:
    """Return the derivative of a form of a formula without the gaps that it has; None where there is none."""
    form = mended(y, gaps)
    for v in by:
        if form is not None:
            (form,) = pull_back([form], [as_node(1)], [v]).gradients
    return form


# -------------------------------------------------------------------------------------------------------------- what


@dataclass(slots=True)
class _Place:
    e: Node
    quotient: Node
    v: Node
    at: Node
    end: float
    mended_slope: Callable[[], Node | None]
    mp: Any = field(init=False)
    points: list[tuple[Point, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.mp = precise()
        self.points = [p for p in samples(self.e, self.v, self.at) if self._is_gap(*p)]

    def gap(self) -> Gap | None:
        if not self.points:
            return None
        lost = self._lost(self.e)
        found = self._by_primal()
        for e, part, rest in self._parts() if found is None else ():
            try:
                w, start, c = self._series(part)
                limit = self._limit(substitute([e], {part: c[0]})[0])
            except (NoSeries, SymgradError, ArithmeticError):
                continue
            if limit is None:
                continue
            form = self._form(e, part, w, start, self._longer(part, w, start, c))
            whole = self.quotient if rest is not None else part
            found = whole, limit, form if form is None or rest is None else rest * form
            break
        return Gap(self.v.name, self.at, *(found or (self.quotient, None, None)), lost)

    def _by_primal(self) -> tuple[Node, Node, Node] | None:
        """Of a derivative that of a form of the primal, with its limit."""
        form = self.mended_slope()
        try:
            limit = None if form is None else self._limit(form)
        except (NoSeries, SymgradError, ArithmeticError):
            return None
        if form is None or limit is None or self._worst(self.e, form, self.v, _CLOSE) > _DERIVED:
            return None
        return self.e, limit, form

    def _limit(self, near: Node) -> Node | None:
        """Return the value of a formula at the point if it is the limit."""
        limit = self._shortest(_opened(self._shortest(substitute([near], {self.v: self.at})[0])))
        return limit if self._agrees(limit) else None

    def _parts(self) -> Iterator[tuple[Node, Node, Node | None]]:
        """Yield what may have a series: the formula with this part in it, the part, and its other factors if it is one.

        What vanishes is often a function of one intermediate value, what stands beside it of others.
        """
        core = self._core()
        if core is not None:
            part, rest = core
            yield substitute([self.e], {self.quotient: rest * part})[0], part, rest
        yield self.e, self.quotient, None
        if self.e is not self.quotient:
            yield self.e, self.e, None

    def _core(self) -> tuple[Node, Node] | None:
        """Return the quotient of the factors that vanish, and that of the others; None without others."""
        count = uses([self.e])
        shared = {n for n in topological([self.quotient]) if count[n] > 1 and n is not self.quotient}
        sign, above, below = factors_of(self.quotient, shared)
        beside = [[f for f in part if not f.is_number() and not self._vanishes(f)] for part in (above, below)]
        within = [
            [f for f in part if f not in others] for part, others in zip((above, below), beside, strict=True)
        ]
        if not all(within) or not any(beside):
            return None
        part, rest = (_product(a) / _product(b) for a, b in (within, beside))
        return part, rest if sign > 0 else -rest

    def _vanishes(self, factor: Node) -> bool:
        small = self.mp.mpf(10) ** (-DIGITS // 2)
        for point, value in self.points:
            (found,) = evaluate_mp(self.mp, [factor], {**point, self.v: value})
            if not is_real(self.mp, found) or abs(found) > small:
                return False
        return True

    def _is_gap(self, point: Point, value: Any) -> bool:
        """Whether the formula has no value there, and the same limit from both sides."""
        floats = {s: as_floats(s, _fraction(x)) for s, x in point.items()}
        (plain,) = evaluate([self.e], {**floats, self.v: np.float64(float(value))})
        left, *others = (self._beside(self.e, point, value, x) for x in (1, -1, 1e-5))
        if left is None or any(x is None for x in others):
            return False
        size = max(*map(abs, (left, *others)), self.mp.mpf(10) ** -12)
        if any(abs(left - x) > 1e-8 * size for x in others):
            return False
        exact = self.mp.mpf(float(value)) == value
        return not np.isfinite(plain) or (not exact and abs(plain - left) > 1e-6 * abs(left))

    def _beside(self, e: Node, point: Point, value: Any, sign: float) -> Any:
        moved = value + sign * self.mp.mpf(10) ** -_NEAR * max(1, abs(value))
        (found,) = evaluate_mp(self.mp, [e], {**point, self.v: moved})
        return found if is_real(self.mp, found) else None

    def _agrees(self, limit: Node) -> bool:
        for point, value in self.points:
            (found,) = evaluate_mp(self.mp, [limit], point)
            beside = self._beside(self.e, point, value, 1)
            if not is_real(self.mp, found) or abs(found - beside) > 1e-8 * max(
                abs(beside), self.mp.mpf(10) ** -8
            ):
                return False
        return True

    # ----------------------------------------------------------------------------------------------------- the series

    def _series(self, part: Node) -> tuple[Node, Node, list[Node]]:
        """By what a part is expanded, where, and the coefficients."""
        order = topological([part])
        moving = {self.v}
        for n in order:
            if any(a in moving for a in n.args):
                moving.add(n)
        parts = [n for n in order if n in moving and n is not part]
        whole = [w for w in reversed(parts) if w is self.v or self.v not in topological([part], until=[w])]
        failed: Exception = NoSeries("no series")
        for terms in _FEW:  # what is long takes long: what cancels in the first ones asks for more
            for w in whole:
                try:
                    start = self._shortest(substitute([w], {self.v: self.at})[0])
                    return w, start, series_of(part, w, start, terms, self._short)
                except NoSeries as error:
                    failed = error
        raise failed

    def _longer(self, part: Node, w: Node, start: Node, c: list[Node]) -> list[Node]:
        """More coefficients of a series, as many as there is time for."""
        try:
            return series_of(part, w, start, _TERMS, self._short) or c
        except (NoSeries, SymgradError, ArithmeticError):
            return c

    def _is_zero(self, n: Node) -> bool:
        for k in range(POINTS):
            point = {s: exact(self.mp, value_at(s, k)) for s in symbols_of([n])}
            (found,) = evaluate_mp(self.mp, [n], point)
            if not is_real(self.mp, found):
                continue
            if abs(found) > self.mp.mpf(10) ** (-DIGITS // 2):
                return False
        return True

    def _short(self, n: Node) -> Node:
        short = self._shortest(n)
        return as_node(0) if not short.is_number() and self._is_zero(short) else short

    def _shortest(self, n: Node) -> Node:
        if time.monotonic() > self.end:
            raise NoSeries("the time limit")
        known = Conditions()
        values = {
            x: _AT_ZERO.get(x.op.name) if x.args[0].is_number(0) else known.point(x)
            for x in topological([n])
            if x.args and x.dtype == "real"
        }
        n = substitute([n], {x: as_node(v) for x, v in values.items() if v is not None})[0]
        (short,) = canonical([n]).nodes
        (other,) = canonical([in_lowest_terms(short)]).nodes
        return min(short, other, key=lambda x: len(topological([x])))

    # ------------------------------------------------------------------------------------------------------- the form

    def _form(self, e: Node, part: Node, w: Node, start: Node, c: Sequence[Node]) -> Node | None:
        """The part by its series beside the point; of derivatives digits are to be kept, too."""
        (t,) = canonical([w - start]).nodes if not start.is_number(0) else (w,)
        (direct,) = stable([part]).nodes
        ended = next((k for k in range(1, len(c) - 3) if all(x.is_number(0) for x in c[k:])), None)
        polynomial = [] if ended is None else [_polynomial(c[:ended], t)]
        for plain in dict.fromkeys([*polynomial, *canonical([part]).nodes, direct]):
            (whole,) = substitute([e], {part: plain})
            if self._worst(self.e, whole, w, _CLOSE) <= _FORM:
                return plain
        best: tuple[float, Node] | None = None
        for terms in range(2, len(c)):
            radius = None if c[terms].is_number(0) else self._radius(c, terms)
            if radius is None:
                continue
            if time.monotonic() > self.end:
                break
            near = OPS["lt"](OPS["abs"](t), as_node(radius))
            own = OPS["where"](near, _polynomial(c[:terms], t), direct)
            (form,) = substitute([e], {part: own})
            error = self._worst(self.e, form, w, radius)
            if error > _FORM:
                continue
            slopes = [pull_back([x], [as_node(1)], [self.v]).gradients[0] for x in (self.e, form)]
            error = self._worst(slopes[0], slopes[1], w, radius)
            if best is None or error < best[0]:
                best = error, own
            if error < _SLOPE:
                break
        return None if best is None else best[1]

    def _radius(self, c: Sequence[Node], terms: int) -> Fraction | None:
        """How far a series of so many terms is right to all digits, at all sample points."""
        found: list[float] = []
        for point, _value in self.points:
            values = [abs(x) for x in evaluate_mp(self.mp, list(c[: terms + 1]), point)]
            first = next((k for k, x in enumerate(values) if x), None)
            if first is None or first >= terms:
                return None
            if values[terms]:
                found.append(
                    float((values[first] * _ULP / values[terms]) ** (self.mp.mpf(1) / (terms - first)))
                )
        if not found:
            return None
        small = min(found)
        power = math.floor(math.log10(small))
        digit = max(d for d in (1, 2, 5) if d * 10.0**power <= small * 1.0001 or d == 1)
        return digit * Fraction(10) ** power

    def _worst(self, e: Node, form: Node, w: Node, radius: Fraction) -> float:
        """The largest error of a form at the point, within the radius and beside it, by the size of values there."""
        worst = 0.0
        for point, value in self.points:
            slope = self._slope(w, point, value)
            if not slope or not math.isfinite(slope):
                return math.inf
            ways = [sign * k * float(radius) / slope for k in _FACTORS for sign in (1, -1)]
            both = [x for h in ways if (x := self._values(form, point, value, h, e)) is not None]
            size = max((abs(truth) for _, truth in both), default=0)
            if not both or not size:
                return math.inf
            worst = max(worst, *(_distance(found, truth, size) for found, truth in both))
        return worst

    def _slope(self, w: Node, point: Point, value: Any) -> float:
        h = self.mp.mpf(10) ** -30
        here, there = (evaluate_mp(self.mp, [w], {**point, self.v: value + x})[0] for x in (0, h))
        return float(abs(there - here) / h)

    def _values(self, form: Node, point: Point, value: Any, h: float, e: Node) -> tuple[float, Any] | None:
        """A form in floats at a distance from the point, and the truth; None outside of the domains."""
        at = float(value) + h
        if not math.isfinite(at) or not inside(domain_of(self.v), Fraction(at)):
            return None
        floats = {s: as_floats(s, _fraction(x)) for s, x in point.items()}
        # What is computed in floats is compared at the same floats.
        others = {s: x if isinstance(x, bool) else self.mp.mpf(float(x)) for s, x in floats.items()}
        (there,) = evaluate_mp(self.mp, [self.at], others)
        if abs(there - at) < self.mp.mpf(10) ** -40:
            truth = self._beside(e, others, there, 1)
        else:
            (truth,) = evaluate_mp(self.mp, [e], {**others, self.v: self.mp.mpf(at)})
        if truth is None or not is_real(self.mp, truth):
            return None
        (found,) = evaluate([form], {**floats, self.v: np.float64(at)})
        return float(found), truth

    def _lost(self, e: Node) -> dict[float, int]:
        """How many digits a formula loses at some distances from the point, at the worst of some points."""
        found: dict[float, int] = {}
        for h in _DISTANCES:
            worst = 0.0
            for point, value in self.points:
                scale = max(1.0, abs(float(value)))
                for factor in (1.0, -0.7, 0.4):
                    both = self._values(e, point, value, factor * h * scale, e)
                    if both is not None:
                        worst = max(worst, _distance(*both, max(abs(both[1]), _TINY)))
            found[h] = 16 if worst >= 1 else max(0, round(math.log10(max(worst, _ULP) / _ULP) - 0.5))
        return found


def _fraction(value: Any) -> Any:
    return value if isinstance(value, bool) else Fraction(float(value))


def _text(e: Any) -> str:
    return str_text(e) if isinstance(e, Node) else str(e)


def _distance(found: float, truth: Any, size: Any) -> float:
    return float(abs(truth - found) / size) if math.isfinite(found) else math.inf


def _opened(n: Node) -> Node:
    """(a**m)**p is a**(m*p) for a positive a: where two inputs meet there are powers of powers."""
    known = Conditions()
    table = {
        x: pow(x.args[0].args[0], x.args[0].args[1] * x.args[1])
        for x in topological([n])
        if x.op is pow and x.args[0].op is pow and known.positive(x.args[0].args[0]) == "yes"
    }
    return substitute([n], table)[0]


def _product(factors: Sequence[Node]) -> Node:
    return reduce(operator.mul, factors) if factors else as_node(1)


def _polynomial(c: Sequence[Node], t: Node) -> Node:
    """A polynomial as people write it: 1 - t**2/6."""
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
    top = power if value.numerator == 1 else OPS["mul"](as_node(value.numerator), power)
    return top if value.denominator == 1 else OPS["div"](top, as_node(value.denominator))
