"""Compute a formula of one variable by several forms, each in the regime where it keeps its digits.

No closed form of log(1 - exp(-x)) or of the derivative of sin(x)/x is good everywhere. Samples of the variable, at
which certain values are known, show where each form is good; the cheapest sequence of forms along the sorted samples
is found by dynamic programming (as in P. Panchekha and others, Automatically improving accuracy for floating point
expressions, PLDI 2015). Beside a removable singularity a Taylor polynomial is one of the forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from symgrad.checker.numbers import arb
from symgrad.ir.graph import NUMBER, Node, number
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add, mul
from symgrad.ops.scalar.logic import lt, ne, where
from symgrad.ops.scalar.rounding import abs as absolute
from symgrad.rewrite.choice.certain_values import CertainValues
from symgrad.rewrite.choice.exact_values import COMPUTED, float_of, wide_of
from symgrad.rewrite.choice.float_faults import FINE, ROUNDINGS
from symgrad.rewrite.choice.samples import has_extended
from symgrad.rewrite.choice.taylor import taylor_coefficients
from symgrad.rewrite.facts.intervals import Facts

_WORST = 64.0
"""The wrong bits of a value that is NaN or infinite."""

_SWITCH = 8.0
"""The wrong bits, summed over samples, that another regime must save."""

_OPERATION = 0.02
"""The wrong bits that an operation of another regime must save."""

_USELESS = 30.0
"""The lost bits from which on a value is as useless as no value."""

_AGREEING = 44
"""The bits to which forms agree if one is an approximation."""

_REGIMES = 4
"""The most regimes."""

_FEW = 3.0
"""Wrong bits that do not justify another form: which form has fewer is chance."""

_PLACES = 6
"""The most points near which a formula is sampled and expanded."""

_TERMS = (6, 12, 20)
"""The numbers of terms of the Taylor polynomials that are compared."""

_ROUNDS, _CLOSE = 5, 4
"""How often samples are added where forms change, if both are good at so few samples."""

_BISECTIONS = 12
_NORMAL = 2.3e-308
"""The smallest float with all its digits."""

_NEXT = 2.0**-10
"""The relative distance of places that are next to each other."""

_MEETINGS = 40
"""The samples at which forms are seen to be equal."""

_NUDGE = Fraction(1, 2**30)
"""A relative change of the variable that shows how much its rounding changes the value."""

_ORDINARY = 1e-280
"""Values above this and below its reciprocal are worth a second stage of forms."""

_SMALLEST = 1e-300
"""Errors below the rounding of this are none: floats lose digits below 2.2e-308."""

_MAGNITUDES = np.unique(np.concatenate([10.0 ** np.arange(-300, 301, 30), 2.0 ** np.arange(-40, 21, 1.0)]))
_OFFSETS = 10.0 ** np.arange(-17, 3, 0.5)


@dataclass(frozen=True, slots=True)
class Regime:
    """A form, and the samples at which it is used.

    Attributes:
        form: its position among the forms.
        start: the position of the first sample.
    """

    form: int
    start: int


class OneVariable:
    """The forms of a formula of one variable, compared at samples of the variable.

    Args:
        target: the formula.
        variable: a symbol, or the node that the formula reads all symbols through.
        facts: the interval of the variable.
        near: further points near which the variable is sampled.
    """

    def __init__(self, target: Node, variable: Node, facts: Facts, near: Sequence[Fraction] = ()) -> None:
        self._target, self._variable = target, variable
        self._low, self._high = float(facts.low), float(facts.high)
        self._low_open, self._high_open = facts.low_open, facts.high_open
        self._values = CertainValues([target])
        self._singular = list(dict.fromkeys(self._singular_points()))
        self._exact: dict[float, tuple[float, float, float] | None] = {}
        self._bounded: set[Node] = set()
        around = {*map(float, self._singular), *map(float, near), 1.0}
        beside = [p + s * _OFFSETS for p in around for s in (1, -1)]
        places = self._inside(np.concatenate([_MAGNITUDES, -_MAGNITUDES, *beside]))
        self._places = np.union1d(places, self._edges([target], places))

    @cached_property
    def _samples(self) -> Any:
        """The places at which certain values are known."""
        return self._known(self._places)

    def is_suspect(self, form: Node) -> bool:
        """Tell whether a form may lose digits: its floats differ from its values in extended precision.

        This takes no certain values. Without extended precision every form is suspect.
        """
        order = topological([form], until=[self._variable])
        if not has_extended() or any(n.args and n.op.name not in COMPUTED for n in order):
            return True
        places = self._places
        wide = places.astype(np.longdouble)
        moved = wide * (1 + np.longdouble(2) ** -53)
        (found,) = self._floats([form], places)
        exact, near = (self._evaluate([form], at, wide_of)[0] for at in (wide, moved))
        with np.errstate(all="ignore"):
            nearest = exact.astype(np.float64)
            unit = np.maximum(np.spacing(np.abs(nearest)), np.spacing(_SMALLEST))
            off, allowed = np.abs(found - exact) / unit, np.abs(near - exact) / unit
            right = (found == nearest) | (off <= 2.0**FINE + ROUNDINGS * allowed)
            sizes = np.abs(exact)
            # Just before the value leaves the range of floats, a part of any form may leave it.
            right |= (sizes < _ORDINARY) & (sizes > 0) | (sizes > 1 / _ORDINARY)
        return not right.all()

    def wrong_bits(self, forms: Sequence[Node]) -> Any:
        """Return the wrong bits of forms at the samples, beyond those that rounding the variable makes wrong.

        An array with a row for each form.
        """
        exact = [self._exact[x] for x in self._samples.tolist()]
        high, low, allowed = np.array([e for e in exact if e is not None]).reshape(-1, 3).T
        rows = self._floats(forms, self._samples)
        with np.errstate(all="ignore"):
            unit = np.maximum(np.spacing(np.abs(high)), np.spacing(_SMALLEST))
            found: list[Any] = []
            for row in rows:
                off = np.abs((row - high) - low) / unit
                off = np.where(row == high, 0.0, off)
                bits = np.log2(1 + off) - np.log2(1 + ROUNDINGS * allowed)
                bits = np.where(np.isfinite(bits), np.maximum(bits - FINE, 0.0), _WORST)
                found.append(np.where(row == high, 0.0, np.minimum(bits, _WORST)))
        return np.array(found)

    def _is_equal(self, form: Node) -> bool:
        """Tell whether balls of a form and of the formula meet at all samples that are tried."""
        values = CertainValues([self._target, form])
        met = 0
        for x in self._samples[:: max(1, len(self._samples) // _MEETINGS)].tolist():
            a, b = values.at({self._variable: x})
            if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
                continue
            # A Taylor polynomial agrees to the last bits of floats.
            if not arb(a).overlaps(arb(b)) and not abs(arb(a) - arb(b)) * 2**_AGREEING < abs(arb(a)):
                return False
            met += 1
        return met > 0

    def choose(self, stages: Iterable[Sequence[Node]]) -> Node:
        """Return the formula as one of its forms, or as a choice between several at thresholds.

        Args:
            stages: equal forms; those of a later stage are made if those before lose digits somewhere.
        """
        forms: list[Node] = []
        chosen: Sequence[Regime] = [Regime(0, 0)]
        lost = np.zeros((0, len(self._samples)))
        for stage in stages:
            new = [f for f in dict.fromkeys(stage) if f not in forms]
            forms += [f for k, f in enumerate(new) if (not k and not forms) or self._is_equal(f)]
            if not len(self._samples):
                return forms[0]
            if not len(lost):
                if not self._lost(forms[:1]).any():
                    return forms[0]
                forms[1:1] = self._polynomials()
            costs = [len(topological([f], until=[self._variable])) for f in forms]
            lost = self._lost(forms)
            chosen = _cheapest_sequence(lost, costs)
            for _ in range(_ROUNDS):
                if not self._refine(lost, chosen, [forms[r.form] for r in chosen]):
                    break
                lost = self._lost(forms)
                chosen = _cheapest_sequence(lost, costs)
            ordinary = self._ordinary
            if not any(
                (lost[r.form, r.start : end] * ordinary[r.start : end]).any() for r, end in self._ends(chosen)
            ):
                break
        return self._joined(forms, lost, chosen)

    @property
    def _ordinary(self) -> Any:
        """A mask of the samples at which the value is not about to leave the range of floats."""
        sizes = np.array([abs(e[0]) if (e := self._exact[x]) else 0.0 for x in self._samples.tolist()])
        return (sizes > _ORDINARY) & (sizes < 1 / _ORDINARY)

    def total_lost(self, forms: Sequence[Node]) -> Any:
        """Return the bits that each form loses, summed over the samples; infinite for a form that is not equal."""
        if not len(self._samples):
            return np.zeros(len(forms))
        equal = np.array([f is self._target or self._is_equal(f) for f in forms])
        return np.where(equal, self._lost(forms).sum(axis=1), np.inf)

    @property
    def singular(self) -> Sequence[Fraction]:
        """The points at which a divisor, a sum, or the argument of a logarithm or power vanishes."""
        return self._singular

    def _lost(self, forms: Sequence[Node]) -> Any:
        """Return the wrong bits of forms at the samples that justify another form, a row for each form."""
        return np.clip(self.wrong_bits(forms) - _FEW, 0.0, _USELESS)

    def _ends(self, regimes: Sequence[Regime]) -> Iterator[tuple[Regime, int]]:
        """Yield regimes, each with the position behind its last sample."""
        return zip(regimes, [*(r.start for r in regimes[1:]), len(self._samples)], strict=True)

    # ------------------------------------------------------------------------------------------------------- samples

    def _inside(self, places: Any) -> Any:
        places = np.unique(places)
        low = places > self._low if self._low_open or math.isinf(self._low) else places >= self._low
        high = places < self._high if self._high_open or math.isinf(self._high) else places <= self._high
        return places[low & high & np.isfinite(places)]

    def _known(self, places: Any) -> Any:
        """Return the places, sorted, at which the formula has a certain value; compute these values."""
        found: list[float] = []
        for x in self._inside(places).tolist():
            if x not in self._exact:
                self._exact[x] = self._certain(x)
            if self._exact[x] is not None:
                found.append(x)
        return np.array(found)

    def _certain(self, x: float) -> tuple[float, float, float] | None:
        """Return the value as a float, what the float lacks, and the ulps by which rounding the variable changes it."""
        (value,) = self._values.at({self._variable: x})
        if value is None or isinstance(value, bool):
            return None
        value = arb(value).mid()
        high = float(value)
        if not math.isfinite(high):
            return high, 0.0, 0.0
        low = float(value - arb(high))
        near = Fraction(x) * (1 + _NUDGE)
        (moved,) = self._values.at({self._variable: near})
        unit = max(math.ulp(high), math.ulp(_SMALLEST))
        if moved is None:
            return high, low, 0.0
        change = float(abs(arb(moved).mid() - value) * arb(2) ** -23 / arb(unit))
        return high, low, change if math.isfinite(change) else math.inf

    def _refine(self, lost: Any, regimes: Sequence[Regime], forms: Sequence[Node]) -> bool:
        """Add samples where a form leaves the range of floats, and where forms change; return whether there are any."""
        before = len(self._samples)
        new = [f for f in dict.fromkeys(forms) if f not in self._bounded]
        self._bounded.update(new)
        added = self._edges(new, self._samples).tolist() if new else []
        for (first, _), (second, end) in pairwise(self._ends(regimes)):
            low, high = self._change(lost, first, second, end)
            if high - low <= _CLOSE:
                added += _between(self._samples[low:high], self._samples[low + 1 : high + 1]).tolist()
        self._samples = self._known(np.union1d(self._samples, added))
        return len(self._samples) > before

    def _change(self, lost: Any, before: Regime, after: Regime, end: int) -> tuple[int, int]:
        """Return the samples between which a form may give way to another: each is as good there."""
        gain = lost[before.form] - lost[after.form]
        worse = np.flatnonzero(gain[before.start : after.start] < 0)
        better = np.flatnonzero(gain[after.start : end] > 0)
        low = before.start + int(worse[-1]) if len(worse) else before.start
        high = after.start + int(better[0]) if len(better) else end - 1
        return low, high

    def _edges(self, forms: Sequence[Node], places: Any) -> Any:
        """Return places between others at which a part of a form leaves the range of floats, or enters it."""
        nodes = [n for n in topological(forms, until=[self._variable]) if n.args and n.dtype == "real"]
        if not nodes or not len(places):
            return places
        rows = np.array([_in_range(row) for row in self._floats(nodes, places)]).reshape(len(nodes), -1)
        of, at = np.nonzero(rows[:, 1:] != rows[:, :-1])
        low, high = places[at], places[at + 1]
        start = rows[of, at]
        for _ in range(_BISECTIONS if len(of) else 0):
            middle = _between(low, high)
            same = (
                np.array([_in_range(row) for row in self._floats(nodes, middle)])[of, np.arange(len(of))]
                == start
            )
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        low, which = np.unique(low, return_index=True)
        return np.concatenate([low[_apart(low)], high[which][_apart(low)]])

    def _floats(self, nodes: Sequence[Node], places: Any) -> list[Any]:
        return [np.asarray(v, np.float64) for v in self._evaluate(nodes, places, _float_of)]

    def _evaluate(
        self, nodes: Sequence[Node], places: Any, value: Callable[[Node, list[Any]], Any]
    ) -> list[Any]:
        values: dict[Node, Any] = {self._variable: places}
        with np.errstate(all="ignore"):
            for n in topological(nodes, until=values):
                if n not in values:
                    values[n] = value(n, [values[a] for a in n.args])
        return [np.broadcast_to(values[n], places.shape) for n in nodes]

    def _singular_points(self) -> Iterator[Fraction]:
        """Yield the points at which a divisor, a sum, or the argument of a logarithm or power vanishes."""
        yield from (Fraction(v) for v in (self._low, self._high) if math.isfinite(v))
        found: set[Fraction] = set()
        grid = self._inside(np.concatenate([_MAGNITUDES, -_MAGNITUDES, [0.0]]))
        nodes = list(_may_vanish(topological([self._target], until=[self._variable])))
        rows = self._floats(nodes, grid)
        values = CertainValues(nodes)
        for k, row in enumerate(rows):
            zeros = [Fraction(x) for x in grid[row == 0].tolist() if x == 0]
            signs = np.sign(row)
            known = np.isfinite(row[1:]) & np.isfinite(row[:-1])
            for i in np.flatnonzero(known & (signs[1:] * signs[:-1] < 0)).tolist():
                zeros += self._root(nodes[k], float(grid[i]), float(grid[i + 1]), float(signs[i]))
            for zero in zeros:
                value = values.balls({self._variable: zero}, 192)[k]
                there = value is not None and not isinstance(value, bool) and 0 in arb(value)
                if there and zero not in found and len(found) < _PLACES:
                    found.add(zero)
                    yield zero

    def _root(self, node: Node, low: float, high: float, sign: float) -> list[Fraction]:
        """Return the short number between two floats at which a node may vanish, if there is one."""
        for _ in range(80):
            middle = float(_between(np.array([low]), np.array([high]))[0])
            if middle in (low, high):
                break
            value = float(np.sign(self._floats([node], np.array([middle]))[0][0]))
            low, high = (middle, high) if value == sign else (low, middle)
        near = Fraction(low) if low else Fraction(high)
        return list(dict.fromkeys(near.limit_denominator(n) for n in (1, 1000, 10**6)))

    # ----------------------------------------------------------------------------------------------------------- forms

    def _polynomials(self) -> Iterator[Node]:
        for place in self._singular:
            coefficients = taylor_coefficients(self._target, self._variable, place, _TERMS[-1])
            if coefficients is None:
                continue
            t = add(self._variable, number(-place)) if place else self._variable
            for terms in _TERMS:
                yield _polynomial(coefficients[:terms], t)

    def _joined(self, forms: Sequence[Node], lost: Any, regimes: Sequence[Regime]) -> Node:
        """Return the choice between regimes at thresholds."""
        changes = [self._change(lost, a, b, end) for (a, _), (b, end) in pairwise(self._ends(regimes))]
        bounds = [_shortest(*(Fraction(float(self._samples[i])) for i in change)) for change in changes]
        pieces = [self._keeping_hole(forms[r.form], forms[0]) for r in regimes]
        found = pieces[-1]
        k = len(pieces) - 2
        while k >= 0:
            # The same form on both sides of a point is written once.
            if k and regimes[k - 1].form == regimes[k + 1].form and k + 2 == len(pieces):
                place = self._middle(bounds[k - 1], bounds[k])
                if place is not None:
                    radius = min(place - bounds[k - 1], bounds[k] - place)
                    t = add(self._variable, number(-place)) if place else self._variable
                    found = where(
                        lt(absolute(t), number(_shortest(radius * Fraction(1, 2), radius))), pieces[k], found
                    )
                    k -= 2
                    continue
            found = where(lt(self._variable, number(bounds[k])), pieces[k], found)
            k -= 1
        return found

    def _middle(self, low: Fraction, high: Fraction) -> Fraction | None:
        """Return the singular point between two thresholds, if there is one."""
        return next((p for p in self._singular if low < p < high), None)

    def _keeping_hole(self, form: Node, closed: Node) -> Node:
        """Return a form with a value at no point where the formula has none."""
        for place in self._singular:
            at = {self._variable: place}
            if self._values.at(at) == [None] and CertainValues([form]).at(at) != [None]:
                form = where(ne(self._variable, number(place)), form, closed)
        return form


def _cheapest_sequence(lost: Any, costs: Sequence[int]) -> list[Regime]:
    """Return the sequence of at most `_REGIMES` forms along the samples with the least lost bits and changes."""
    forms, samples = lost.shape
    entry = _OPERATION * np.array(costs) + 1e-6 * np.arange(forms)
    total = np.full((_REGIMES, forms), np.inf)
    total[0] = lost[:, 0] + entry
    origins = np.full((samples, _REGIMES, forms), -1, np.int16)
    for i in range(1, samples):
        best = total[:-1].argmin(axis=1)
        changed = total[:-1].min(axis=1)[:, None] + entry + _SWITCH
        better = changed < total[1:]
        total[1:] = np.where(better, changed, total[1:])
        origins[i, 1:] = np.where(better, best[:, None], -1)
        total += lost[:, i]
    count, form = np.unravel_index(int(total.argmin()), total.shape)
    found: list[Regime] = []
    for i in range(samples - 1, 0, -1):
        origin = int(origins[i, count, form])
        if origin >= 0:
            found.append(Regime(int(form), i))
            count, form = count - 1, origin
    return [Regime(int(form), 0), *found[::-1]]


def _polynomial(coefficients: Sequence[Fraction], t: Node) -> Node:
    """Return a polynomial in Horner's form; in t**2 if it is even or odd."""
    if not any(coefficients[1::2]):
        return _horner(coefficients[::2], mul(t, t))
    if not any(coefficients[::2]):
        return mul(t, _horner(coefficients[1::2], mul(t, t)))
    return _horner(coefficients, t)


def _horner(coefficients: Sequence[Fraction], t: Node) -> Node:
    rest = [*coefficients]
    while len(rest) > 1 and not rest[-1]:
        rest.pop()
    found: Node = number(rest[-1])
    for c in rest[-2::-1]:
        found = t if found.is_number(1) else mul(t, found)
        if c:
            found = add(found, number(c))
    return found


def _may_vanish(order: Iterable[Node]) -> Iterator[Node]:
    """Yield sums, and nodes at whose zeros a quotient, logarithm or power has a singularity."""
    found: dict[Node, None] = {}
    for n in order:
        if n.dtype == "bool":
            continue
        if n.op is add:
            found[n] = None
        elif n.op.name == "div":
            found[n.args[1]] = None
        elif n.op.name in ("log", "gamma", "lgamma", "digamma", "polygamma") or (
            n.op.name == "pow" and not (n.args[1].is_number() and n.args[1].value > 0)
        ):
            found[n.args[0]] = None
    return iter(n for n in found if n.args or n.op is not NUMBER)


def _between(low: Any, high: Any) -> Any:
    """Return numbers between others: the geometric mean if they are far apart, otherwise the mean."""
    with np.errstate(all="ignore"):
        small, large = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
        far = (low * high > 0) & (large > 4 * small)
        return np.where(far, np.sign(low) * np.sqrt(small) * np.sqrt(large), low / 2 + high / 2)


def _shortest(low: Fraction, high: Fraction) -> Fraction:
    """Return a number with few digits above low, and at most high."""
    if low < 0 < high:
        return Fraction(0)
    middle = float(_between(np.array([float(low)]), np.array([float(high)]))[0])
    for digits in range(1, 18):
        found = Fraction(f"{middle:.{digits - 1}e}")
        if low < found <= high:
            return found
    return high


def _apart(places: Any) -> Any:
    """Return a mask of sorted places of which none is next to another, as far as samples need."""
    with np.errstate(all="ignore"):
        gaps = np.diff(places, prepend=-np.inf) > _NEXT * np.abs(places)
    return gaps


def _in_range(row: Any) -> Any:
    return np.isfinite(row) & (np.abs(row) > _NORMAL)


def _float_of(n: Node, args: list[Any]) -> Any:
    """Return the values of an operation in float64, of functions without extended precision as well."""
    return n.op.evaluate(*n.params, *args) if n.args else float_of(n, args)
