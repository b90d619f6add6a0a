"""Points of the domain at which a formula is 0/0 although it has a limit there: removable singularities.

Candidates are where a denominator vanishes, as far as that can be solved. At each the formula is evaluated beside the
point with many digits; where both sides agree it has a limit, whose formula comes from its power series.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from symgrad.backward.vjp import pull_back
from symgrad.errors import SymgradError
from symgrad.explain.beside import Beside, as_fraction
from symgrad.explain.draws import as_floats, value_at
from symgrad.explain.gap_forms import CLOSE, FormSearch
from symgrad.explain.naming import Naming
from symgrad.explain.places import DIGITS, POINTS, Point, exact, is_real, places, precise, samples
from symgrad.explain.rational import in_lowest_terms
from symgrad.explain.series import NoSeries, series_of
from symgrad.ir.evaluate import evaluate, evaluate_mp
from symgrad.ir.graph import Node, as_node
from symgrad.ir.printer import str_text
from symgrad.ir.traverse import substitute, symbols_of, topological, uses
from symgrad.ops.arith import pow
from symgrad.rewrite.condition import Conditions
from symgrad.rules.pipeline import canonical
from symgrad.words.common import factors_of

__all__ = ["Gap", "gaps_of", "looked_at", "mended", "slope_of_form"]

_MOST = 400  # equations of a formula that is looked at
_TERMS = 11  # of a series
_FEW = (1, 4, _TERMS)  # for a limit
_AT_ZERO = {
    **dict.fromkeys(
        ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "expm1", "log1p"), 0
    ),
    **dict.fromkeys(("cos", "cosh", "exp", "sec", "sech", "erfc"), 1),
}
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
    beside: Beside = field(init=False)

    def __post_init__(self) -> None:
        self.mp = precise()
        self.beside = Beside(self.mp, self.v, self.at, ())
        self.points = [p for p in samples(self.e, self.v, self.at) if self._is_gap(*p)]
        self.beside = Beside(self.mp, self.v, self.at, self.points)

    def gap(self) -> Gap | None:
        if not self.points:
            return None
        lost = self.beside.lost(self.e)
        found = self._by_primal()
        search = FormSearch(self.e, self.beside, self.end)
        for e, part, rest in self._parts() if found is None else ():
            try:
                w, start, c = self._series(part)
                limit = self._limit(substitute([e], {part: c[0]})[0])
            except (NoSeries, SymgradError, ArithmeticError):
                continue
            if limit is None:
                continue
            form = search.form(e, part, w, start, self._longer(part, w, start, c))
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
        close = [CLOSE] * len(self.points)
        if form is None or limit is None or self.beside.worst(self.e, form, self.v, close) > _DERIVED:
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
        floats = {s: as_floats(s, as_fraction(x)) for s, x in point.items()}
        (plain,) = evaluate([self.e], {**floats, self.v: np.float64(float(value))})
        left, *others = (self.beside.value(self.e, point, value, x) for x in (1, -1, 1e-5))
        if left is None or any(x is None for x in others):
            return False
        size = max(*map(abs, (left, *others)), self.mp.mpf(10) ** -12)
        if any(abs(left - x) > 1e-8 * size for x in others):
            return False
        exact = self.mp.mpf(float(value)) == value
        return not np.isfinite(plain) or (not exact and abs(plain - left) > 1e-6 * abs(left))

    def _agrees(self, limit: Node) -> bool:
        for point, value in self.points:
            (found,) = evaluate_mp(self.mp, [limit], point)
            beside = self.beside.value(self.e, point, value, 1)
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


def _text(e: Any) -> str:
    return str_text(e) if isinstance(e, Node) else str(e)


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
