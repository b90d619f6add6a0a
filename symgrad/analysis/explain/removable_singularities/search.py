"""Search for removable singularities: points of the domain at which a formula is undefined but has a limit.

Candidates are zeros of denominators. The formula is evaluated with many digits on both sides of each candidate. If both
sides agree, the formula has a limit there, and a formula for the limit follows from the power series.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from symgrad.analysis.explain.limits import GAP_EQUATIONS, SERIES_TERMS_TOLD
from symgrad.analysis.explain.naming import Naming
from symgrad.analysis.explain.noise.sample_points import as_floats
from symgrad.analysis.explain.removable_singularities.near_point import PointNeighbourhood, as_fraction
from symgrad.analysis.explain.removable_singularities.points import (
    DIGITS,
    Point,
    is_real,
    places,
    precise,
    samples,
)
from symgrad.analysis.explain.removable_singularities.series import NoSeries, PowerSeries
from symgrad.analysis.explain.removable_singularities.short_coefficients import Shortener, opened
from symgrad.analysis.explain.removable_singularities.stable_forms import CLOSE, FormSearch
from symgrad.analysis.explain.removable_singularities.undefined import (
    SIDES,
    UNDEFINED,
    Why,
    limit_of,
    why_undefined,
)
from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import now
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.notation.printer import str_text
from symgrad.ir.traverse import readers, substitute, symbols_of, topological, uses
from symgrad.ir.values.evaluate import evaluate, evaluate_mp
from symgrad.pretty.forms.factor_out import factors_of, terms_of
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError

_TERMS, _NUMBERS = 11, 61  # number of terms of a series; more if its coefficients are numbers
_DERIVED = 1e-12  # error bound for derivatives of a form
_ROUGH = 1e-6  # error of derivatives above which a better form is searched for
_SHOWN = 15  # number of digits of a limit for which there is no formula


@dataclass(frozen=True, slots=True)
class Gap:
    """A point at which a formula is undefined but has a limit.

    Attributes:
        variable: the input that has a critical value.
        at: the critical value, a formula of the other inputs.
        kind: the undefined form: ``"0/0"``, ``"oo - oo"``, ``"0*oo"``, ``"oo/oo"``, ``"1**oo"``; ``"undefined"`` if a
            part has no limit, so that there is no power series and the limit is not known to exist.
        part: the undefined quotient, or the whole formula.
        limit: the limit of the whole formula; None if no expression for it is found.
        form: a form of the part that is right at the point and near it; None if none is found.
        lost: the number of decimal digits that the formula loses at some distances from the point.
        reason: why there is no limit, or no form, as a clause; None if there are both.
    """

    variable: str
    at: Any
    kind: str
    part: Any = field(repr=False)
    limit: Any
    form: Any = field(repr=False)
    lost: Mapping[float, int]
    reason: str | None = None

    @property
    def where(self) -> str:
        """The point, such as ``V = -40``."""
        return f"{self.variable} = {_text(self.at)}"

    @property
    def what(self) -> str:
        """The fault at the point: ``is 0/0``, ``has no value``."""
        return "has no value" if self.kind == UNDEFINED else f"is {self.kind}"

    def rows(self, naming: Naming) -> list[tuple[str, str]]:
        """Return the facts about the gap with their labels, in the names of the program."""

        def text(e: Any, long: str) -> str:
            return naming.whole(getattr(e, "node", e), 400) or long

        found: list[tuple[str, str]] = []
        if self.limit is not None:
            found.append(("limit", text(self.limit, "long: the attribute limit has it")))
        if self.digits:
            found.append(("digits", f"lost near it: {self.digits}"))
        if self.form is not None:
            node = getattr(self.part, "node", self.part)
            part = naming.names.get(node) or naming.whole(node, 60)
            form = getattr(self.form, "node", self.form)
            found.append(("write", f"for {part or 'it'}: {text(form, _abridged(form, naming))}"))
        elif self.reason is not None:
            found.append(("reason", self.reason))
        lines = naming.lines([getattr(self.part, "node", self.part)])
        return [*found, *(("line", place.told) for place in lines)]

    @property
    def digits(self) -> str:
        """A phrase about the digits lost near the point; empty if none are lost."""
        return ", ".join(
            f"{n if n < 16 else 'all'} at a distance of {h:g}" for h, n in self.lost.items() if n
        )


def _abridged(form: Node, naming: Naming) -> str:
    """Return the beginning of a long form."""
    series = form.args[1] if form.op is OPS["where"] else form
    terms = terms_of(series)
    near = naming.whole(form.args[0], 60) if form.op is OPS["where"] else None
    few = terms[:SERIES_TERMS_TOLD]
    first = None if len(few) == len(terms) else naming.whole(reduce(operator.add, few), 200)
    if near is None or first is None:
        return "its power series near the point (long: the attribute form has it)"
    return f"where {near}, {first} + ... ({len(terms)} terms: the attribute form has them), else as it is"


def mended(e: Node, gaps: Sequence[Gap]) -> Node | None:
    """Replace every part that has a gap by its form; return None if a part has no form."""
    if not gaps or any(g.form is None for g in gaps):
        return None
    by_part: dict[Node, list[Gap]] = {}
    for g in gaps:
        by_part.setdefault(g.part, []).append(g)
    inputs = {s.name: s for s in symbols_of([e])}
    table: dict[Node, Node] = {}
    for part in topological([e]):  # parts of other parts come first
        if part in by_part:
            table[part] = substitute([_joined(inputs, by_part[part])], table)[0]
    whole = substitute([e], table)[0]
    return whole if len(gaps) == 1 or all(_holds(e, whole, g) for g in gaps) else None


def _joined(v: Mapping[str, Node], gaps: Sequence[Gap]) -> Node:
    """Join the forms of a part for several points: each is wrong at the other points, so the nearest point decides."""
    first, *others = gaps
    form = first.form
    for g in others:
        if g.form is form:
            continue
        halves = [(g.at - o.at) / 2 for o in gaps if o is not g and o.variable == g.variable]
        distance = OPS["abs"](v[g.variable] - g.at)
        nearest = [OPS["lt"](distance, OPS["abs"](canonical([half]).nodes[0])) for half in halves]
        form = OPS["where"](reduce(OPS["and_"], nearest), g.form, form) if nearest else form
    return form


def _holds(e: Node, form: Node, gap: Gap) -> bool:
    v = next(s for s in symbols_of([e]) if s.name == gap.variable)
    points = samples(e, v, gap.at)
    return (
        PointNeighbourhood(precise(), v, gap.at, points).worst(e, form, v, [CLOSE] * len(points)) <= _DERIVED
    )


def looked_at(e: Node) -> bool:
    """Tell whether a formula has only scalars, and is short enough for the search."""
    order = topological([e])
    return (
        len(order) <= GAP_EQUATIONS
        and e.dtype == "real"
        and not any(n.shape or not n.op.pointwise for n in order if n.args)
    )


def gaps_of(
    e: Node, *, mended_slope: Callable[[], Node | None] = lambda: None, seconds: float = 20
) -> list[Gap]:
    """Return the points at which a formula is undefined but has a limit.

    Args:
        e: a formula of scalars.
        mended_slope: for a derivative: the derivative of a form of its primal that has no gaps, if there is one.
        seconds: the time for limits and forms.
    """
    if not looked_at(e):
        return []
    end = now() + seconds
    found = (_Place(e, *place, end, mended_slope) for place in places(e, end))
    return [g for place in found if (g := place.gap()) is not None]


def slope_of_form(form: Node | None, by: Sequence[Node]) -> Node | None:
    """Differentiate a form without gaps; for None return None."""
    for v in by:
        if form is not None:
            (form,) = pull_back([form], [as_node(1)], [v]).gradients
    return form


# --------------------------------------------------------------------------------------------------------- one place


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
    beside: PointNeighbourhood = field(init=False)
    shortest: Shortener = field(init=False)

    def __post_init__(self) -> None:
        self.mp = precise()
        self.shortest = Shortener(self.end)
        self.beside = PointNeighbourhood(self.mp, self.v, self.at, ())
        self.points = [p for p in samples(self.e, self.v, self.at) if self._is_gap(*p)]
        self.beside = PointNeighbourhood(self.mp, self.v, self.at, self.points)

    def gap(self) -> Gap | None:
        if not self.points:
            return None
        if symbols_of([self.e]) == [self.v]:
            own = self._by_series()
            return own if own.form is not None else self._by_primal() or own
        # Series in several inputs are long, but the form of the primal is short.
        return self._by_primal() or self._by_series()

    def _by_series(self) -> Gap:
        why, lost = self._why(), self.beside.digit_loss(self.e)
        search = FormSearch(self.e, self.beside, self.end)
        rough: Gap | None = None  # a result whose form has inaccurate derivatives, or no form
        reason = self._no_limit(why) if why.kind == UNDEFINED else None
        for e, part, rest in () if reason else self._parts():
            try:
                w, start, series = self._series(part)
                limit = self._limit(substitute([e], {part: series.first(1)[0]})[0])
            except (NoSeries, SymgradError, ArithmeticError) as error:
                reason = f"no power series was found near it: {error}"
                continue
            if limit is None:
                continue
            form = search.form(e, part, w, start, self._coefficients(series))
            whole = self.quotient if rest is not None else part
            form = form if form is None or rest is None else rest * form
            reason = search.reason if form is None else None
            gap = Gap(self.v.name, self.at, why.kind, whole, limit, form, lost, reason)
            if form is not None and search.error < _ROUGH:
                return gap
            rough = gap if rough is None or rough.form is None else rough
        if rough is not None:
            return rough
        reason = reason or "no formula of the limit was found"
        return Gap(self.v.name, self.at, why.kind, self.quotient, None, None, lost, reason)

    def _no_limit(self, why: Why) -> str:
        """Return the part that has no limit, and the values near the point, as text."""
        seen = [[self.beside.value(self.e, *p, side) for side in SIDES] for p in self.points]
        tiny = all(limit_of(self.mp, values) == "0" for values in seen)
        near = "0" if tiny else self.mp.nstr(seen[0][0], _SHOWN) if len(seen) == 1 else "one number"
        part = why.part if why.part is not None else self.e
        text = "a part" if len(topological([part])) > 20 else str_text(part)
        trouble = "is infinite" if why.infinite else "has no limit"
        return f"{text} {trouble} there, so there is no power series; values on both sides of the point tend to {near}"

    def _why(self) -> Why:
        return why_undefined(self.e, self.beside, *self.points[0])

    def _by_primal(self) -> Gap | None:
        """Return the gap of a derivative; its form is the derivative of a form of the primal."""
        form = self.mended_slope()
        try:
            limit = None if form is None else self._limit(form)
        except (NoSeries, SymgradError, ArithmeticError):
            return None
        close = [CLOSE] * len(self.points)
        if form is None or limit is None or self.beside.worst(self.e, form, self.v, close) > _DERIVED:
            return None
        lost = self.beside.digit_loss(self.e)
        return Gap(self.v.name, self.at, self._why().kind, self.e, limit, form, lost)

    def _limit(self, near: Node) -> Node | None:
        """Return the value of a formula at the point, if this is the limit."""
        plainly = self.shortest.plainly
        limit = plainly(opened(plainly(substitute([near], {self.v: self.at})[0])))
        return limit if self._agrees(limit) else None

    def _parts(self) -> Iterator[tuple[Node, Node, Node | None]]:
        """Yield parts that may have a series: the formula over the part, the part, and its cofactor if there is one.

        The vanishing factors often depend on one intermediate value, while the other factors depend on more values.
        """
        core = self._core()
        if core is not None:
            part, rest = core
            yield substitute([self.e], {self.quotient: rest * part})[0], part, rest
        yield self.e, self.quotient, None
        if self.e is not self.quotient:
            yield self.e, self.e, None

    def _core(self) -> tuple[Node, Node] | None:
        """Return the quotient of the vanishing factors and the quotient of the others; None if there are no others."""
        count = uses([self.e])
        shared = {n for n in topological([self.quotient]) if count[n] > 1 and n is not self.quotient}
        sign, above, below = factors_of(self.quotient, shared.__contains__)
        beside = [[f for f in part if not f.is_number() and not self._vanishes(f)] for part in (above, below)]
        pairs = zip((above, below), beside, strict=True)
        within = [[f for f in part if f not in others] for part, others in pairs]
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
        """Tell whether the formula is undefined there, and has the same limit from both sides."""
        sides = [self.beside.value(self.e, point, value, x) for x in SIDES]
        limit = limit_of(self.mp, sides)
        if limit not in ("0", "some"):
            return False
        floats = {s: as_floats(s, as_fraction(x)) for s, x in point.items()}
        order = topological([self.e])
        values = evaluate(order, {**floats, self.v: np.float64(float(value))})
        plain = values[-1]
        if not np.isfinite(plain):
            return True
        # If the value is wrong, this comes from rounding or from 1**oo, unless the program chooses the value.
        exact = self.mp.mpf(float(value)) == value
        if exact and (any(n.op.name == "where" for n in order) or np.isfinite(values).all()):
            return False
        there = self.mp.mpf(0) if limit == "0" else sides[0]
        if not exact:
            (there,) = evaluate_mp(self.mp, [self.e], {**point, self.v: self.mp.mpf(float(value))})
        return bool(abs(plain - there) > 1e-6 * abs(there))

    def _agrees(self, limit: Node) -> bool:
        for point, value in self.points:
            (found,) = evaluate_mp(self.mp, [limit], point)
            beside = self.beside.value(self.e, point, value, 1)
            size = max(abs(beside), self.mp.mpf(10) ** -8)
            if not is_real(self.mp, found) or abs(found - beside) > 1e-8 * size:
                return False
        return True

    # ----------------------------------------------------------------------------------------------------- the series

    def _series(self, part: Node) -> tuple[Node, Node, PowerSeries]:
        """Return the variable of the series of a part, its value at the point, and the series."""
        order = topological([part])
        moving = readers(order, [self.v])
        parts = [n for n in order if n in moving and n is not part]
        failed: Exception = NoSeries("it does not move")
        for w in reversed(parts):
            if w is self.v or self.v not in topological([part], until=[w]):
                try:
                    start = self.shortest.plainly(substitute([w], {self.v: self.at})[0])
                    series = PowerSeries(part, w, start, self.shortest)
                    series.first(1)
                    return w, start, series
                except NoSeries as error:
                    failed = error
        raise failed

    def _coefficients(self, series: PowerSeries) -> list[Node]:
        """Return as many coefficients of a series as the time allows."""
        try:
            few = series.first(_TERMS)
            return few if symbols_of(few) else series.first(_NUMBERS)
        except (NoSeries, SymgradError, ArithmeticError):
            return series.first(1)


def _text(e: Any) -> str:
    return str_text(e) if isinstance(e, Node) else str(e)


def _product(factors: Sequence[Node]) -> Node:
    return reduce(operator.mul, factors) if factors else as_node(1)
