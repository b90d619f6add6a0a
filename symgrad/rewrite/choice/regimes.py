"""Compute a formula of one variable by several forms, each in the regime where it keeps its digits.

No closed form of log(1 - exp(-x)) or of the derivative of sin(x)/x is good everywhere. Samples of the variable, at
which certain values are known, show where each form is good; the cheapest sequence of forms along the sorted samples
is found by dynamic programming (as in P. Panchekha and others, Automatically improving accuracy for floating point
expressions, PLDI 2015). Beside a removable singularity a Taylor polynomial is one of the forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from symgrad.checker.numbers import arb
from symgrad.ir.graph import NUMBER, Node, number
from symgrad.ir.traverse import is_entrywise_in, topological
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.logic import and_, lt, ne, where
from symgrad.ops.scalar.rounding import abs as absolute
from symgrad.rewrite.choice.certain_values import Ball, CertainValues
from symgrad.rewrite.choice.digit_losses import (
    CertainSamples,
    are_equal,
    evaluated,
    loss_points,
    value_and_change,
    within,
)
from symgrad.rewrite.choice.float_values import FLOAT64, Floats
from symgrad.rewrite.facts.intervals import Facts

_SWITCH = 8.0
"""The wrong bits, summed over samples, that another regime must save."""

_OPERATION = 0.02
"""The wrong bits that an operation of another regime must save."""

_REGIMES = 4
"""The most regimes."""

_PLACES = 6
"""The most points near which a formula is sampled and expanded."""

_TERMS = (6, 12, 20)
"""The numbers of terms of the Taylor polynomials that are compared."""

_ROUNDS, _CLOSE = 5, 4
"""How often samples are added where forms change, if both are good at so few samples."""

_BISECTIONS = 12

_NEXT = 2.0**-10
"""The relative distance of places that are next to each other."""

_MEETINGS = 20
"""The samples at which forms are seen to be equal."""

_HALVINGS, _BITS = 50, 192
"""The halvings of an interval with a root, and the bits that show whether a short number is one."""

_ORDINARY = 2.0 ** np.arange(-40, 21, 1.0)
_MAGNITUDES = np.concatenate([10.0 ** np.arange(-300, 301, 30), _ORDINARY])
_OFFSETS = 10.0 ** np.arange(-17, 3, 0.5)


class Regime(NamedTuple):
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
        target: the formula, in the form that stays if it loses no digits.
        variable: a symbol, or the node that the formula reads all symbols through.
        facts: the interval of the variable.
        floats: the type of floats in which forms are computed.
    """

    def __init__(self, target: Node, variable: Node, facts: Facts, floats: Floats = FLOAT64) -> None:
        self._target, self.variable, self._facts, self._type = target, variable, facts, floats
        self.singular = list(dict.fromkeys(self._singular_points()))
        beside = [float(p) + s * _OFFSETS for p in {*self.singular, 1} for s in (1, -1)]
        self.places = within(facts, np.concatenate([_MAGNITUDES, -_MAGNITUDES, *beside]), floats)
        self._values = CertainValues([target])
        self._known: dict[float, tuple[Ball, Ball] | None] = {}
        self._bounded: set[Node] = set()
        self._equal = {target: True}
        self._compared: tuple[Any, CertainSamples] = None, CertainSamples([], floats)

    @cached_property
    def _samples(self) -> Any:
        """The places at which certain values are known."""
        return self._with_values(self.places)

    def may_lose_digits(self) -> bool:
        """Tell whether the formula may lose digits; this takes few certain values."""
        places = {self.variable: self.places}
        return bool(len(self.places)) and bool(loss_points(self._target, places, self._type).any())

    def has_value(self, formula: Node, place: Fraction) -> bool:
        """Tell whether a formula of the variable certainly has a value at a place of the domain."""
        return len(within(self._facts, [float(place)])) > 0 and CertainValues([formula]).at(
            {self.variable: place}
        ) != [None]

    def choose(self, stages: Iterable[Sequence[Node]]) -> Node:
        """Return the formula, another form, or a choice between several at thresholds, whichever keeps the digits.

        Args:
            stages: equal forms; those of a stage are made if those before lose digits somewhere. A form of the first
                that loses none is taken as it is.
        """
        forms = [self._target]
        if not len(self._samples) or not self._losses(forms).any():
            return self._target
        found: tuple[Any, Sequence[Regime]] | None = None
        for stage in stages:
            forms = list(dict.fromkeys([*forms, *filter(self._is_elementwise, stage)]))
            if found is None:
                kept = [f for f, row in zip(forms, self._losses(forms), strict=True) if not row.any()]
                good = next(filter(self.is_equal, kept), None)
                if good is not None:
                    return good
                forms += self._polynomials()
            found = self._compare(forms)
            if self._keeps_digits(forms, found[1]):
                break
        return self._target if found is None else self._joined(forms, *found)

    def _is_elementwise(self, form: Node) -> bool:
        """Tell whether a form computes each entry from the same entry of the variable; not so outer products."""
        return is_entrywise_in(form, self.variable) and form.shape == self._target.shape

    def _keeps_digits(self, forms: Sequence[Node], regimes: Sequence[Regime]) -> bool:
        losing = self._reference.loses_digits(self._floats(forms, self._samples))
        return not any(losing[r.form, r.start : end].any() for r, end in self._ends(regimes))

    def _compare(self, forms: Sequence[Node]) -> tuple[Any, Sequence[Regime]]:
        """Return what forms lose at the samples, and the cheapest sequence of those that are equal to the formula."""
        costs = [len(topological([f], until=[self.variable])) for f in forms]
        rounds = 0
        while True:
            losses = self._losses(forms)
            losses[[k for k, f in enumerate(forms) if self._equal.get(f) is False]] = math.inf
            regimes = least_loss_regimes(losses, costs)
            used = [forms[r.form] for r in regimes]
            unequal = [f for f in used if not self.is_equal(f)]
            if not unequal:
                rounds += 1
                if rounds > _ROUNDS or not self._refine(losses, regimes, used):
                    return losses, regimes

    @property
    def _reference(self) -> CertainSamples:
        """The certain values at the samples."""
        samples, reference = self._compared
        if samples is not self._samples:
            reference = CertainSamples(
                [v for x in self._samples.tolist() if (v := self._known[x]) is not None], self._type
            )
            self._compared = self._samples, reference
        return reference

    def _losses(self, forms: Sequence[Node]) -> Any:
        return self._reference.losses(self._floats(forms, self._samples))

    def is_equal(self, form: Node) -> bool:
        """Tell whether a form has the same values as the formula at samples, to the last bits of floats."""
        if form not in self._equal:
            samples = self._samples[:: max(1, len(self._samples) // _MEETINGS)]
            points = [{self.variable: x} for x in samples.tolist()]
            self._equal[form] = are_equal(self._target, form, points, self._type)
        return self._equal[form]

    def _ends(self, regimes: Sequence[Regime]) -> Iterator[tuple[Regime, int]]:
        """Yield regimes, each with the position behind its last sample."""
        return zip(regimes, [*(r.start for r in regimes[1:]), len(self._samples)], strict=True)

    # ------------------------------------------------------------------------------------------------------- samples

    def _with_values(self, places: Any) -> Any:
        """Return the places, sorted, at which the formula has a certain value; compute these values."""
        inside = within(self._facts, places, self._type).tolist()
        for x in inside:
            if x not in self._known:
                self._known[x] = value_and_change(self._values, {self.variable: x})
        return np.array([x for x in inside if self._known[x] is not None])

    def _refine(self, losses: Any, regimes: Sequence[Regime], forms: Sequence[Node]) -> bool:
        """Add samples where a form leaves the range of floats, and where forms change; return whether there are any."""
        before = len(self._samples)
        new = [f for f in dict.fromkeys(forms) if f not in self._bounded]
        self._bounded.update(new)
        added: list[float] = self._edges(new, self._samples).tolist() if new else []
        for (first, _), (second, end) in pairwise(self._ends(regimes)):
            low, high = self._change(losses, first, second, end)
            if high - low <= _CLOSE:
                added += _between(self._samples[low:high], self._samples[low + 1 : high + 1]).tolist()
        self._samples = self._with_values(np.union1d(self._samples, added))
        return len(self._samples) > before

    def _change(self, losses: Any, before: Regime, after: Regime, end: int) -> tuple[int, int]:
        """Return the samples between which a form may give way to another: each is as good there."""
        gain = losses[before.form] - losses[after.form]
        worse = np.flatnonzero(gain[before.start : after.start] < 0)
        better = np.flatnonzero(gain[after.start : end] > 0)
        low = before.start + int(worse[-1]) if len(worse) else before.start
        high = after.start + int(better[0]) if len(better) else end - 1
        return low, high

    def _edges(self, forms: Sequence[Node], places: Any) -> Any:
        """Return places between others at which a part of a form leaves the range of floats, or enters it."""
        nodes = [n for n in topological(forms, until=[self.variable]) if n.args and n.dtype == "real"]
        if not nodes or not len(places):
            return places
        _, low, high = self._bisect(nodes, places, self._in_range, np.not_equal, _BISECTIONS)
        low, which = np.unique(low, return_index=True)
        return np.concatenate([low[_spaced(low)], high[which][_spaced(low)]])

    def _bisect(
        self,
        nodes: Sequence[Node],
        places: Any,
        state: Callable[[Any], Any],
        change: Callable[[Any, Any], Any],
        rounds: int,
    ) -> tuple[Any, Any, Any]:
        """Return where states of nodes change between sorted places: positions of nodes, and places on either side.

        Args:
            nodes: the nodes, at least one.
            places: places of the variable.
            state: returns the states of values.
            change: tells of states at neighbouring places whether they differ.
            rounds: how often the intervals are halved, all together.
        """
        states = np.array([state(row) for row in self._floats(nodes, places)]).reshape(len(nodes), -1)
        of, at = np.nonzero(change(states[:, :-1], states[:, 1:]))
        low: Any = places[at]
        high: Any = places[at + 1]
        start = states[of, at]
        for _ in range(rounds if len(of) else 0):
            middle = _between(low, high)
            rows = np.array([state(row) for row in self._floats(nodes, middle)])
            same = rows[of, np.arange(len(of))] == start
            low, high = _either(same, middle, low), _either(same, high, middle)
        return of, low, high

    def _in_range(self, row: Any) -> Any:
        return np.isfinite(row) & (np.abs(row) > self._type.normal)

    def _floats(self, nodes: Sequence[Node], places: Any) -> list[Any]:
        return evaluated(nodes, {self.variable: places}, self._type)

    def _singular_points(self) -> Iterator[Fraction]:
        """Yield the points at which a divisor, a sum, or the argument of a logarithm or power vanishes."""
        yield from (Fraction(v) for v in (self._facts.low, self._facts.high) if math.isfinite(v))
        order = topological([self._target], until=[self.variable])
        sums, others = _divisors_and_sums(n for n in order if n is not self.variable)
        nodes = list(dict.fromkeys([*others, *sums]))
        if not nodes:
            return
        grid = within(self._facts, np.concatenate([_ORDINARY, -_ORDINARY, [0.0]]))
        rows = self._floats(nodes, grid)
        found: dict[tuple[int, Fraction], None] = {}
        for k, row in enumerate(rows):
            found |= {(k, Fraction(x)): None for x in grid[row == 0].tolist() if x in (-1, 0, 1)}
        if others:
            of, roots, _ = self._bisect(others, grid, np.sign, _sign_change, _HALVINGS)
            for k, root in zip(of.tolist(), roots.tolist(), strict=True):
                found |= {(k, Fraction(root).limit_denominator(n)): None for n in (1, 1000, 10**6)}
        values = CertainValues(nodes)
        seen: set[Fraction] = set()
        for k, zero in found:
            if zero in seen or len(seen) == _PLACES:
                continue
            value = values.balls({self.variable: zero}, _BITS)[k]
            if value is not None and not isinstance(value, bool) and 0 in arb(value):
                seen.add(zero)
                yield zero

    # ----------------------------------------------------------------------------------------------------------- forms

    def _polynomials(self) -> Iterator[Node]:
        from symgrad.rewrite.choice.taylor import taylor_coefficients, taylor_polynomial  # for start-up time

        for place in self.singular:
            coefficients = taylor_coefficients(self._target, self.variable, place, _TERMS[-1])
            if coefficients is None:
                continue
            t = self._distance(place)
            for terms in _TERMS:
                form = taylor_polynomial(coefficients[:terms], t)
                self._equal[form] = True  # where it is used
                yield form

    def _distance(self, place: Fraction) -> Node:
        return add(self.variable, number(-place)) if place else self.variable

    def _joined(self, forms: Sequence[Node], losses: Any, regimes: Sequence[Regime]) -> Node:
        """Return the choice between regimes at thresholds; it has a value at no point where the formula has none."""
        changes = [
            tuple(Fraction(float(self._samples[i])) for i in self._change(losses, a, b, end))
            for (a, _), (b, end) in pairwise(self._ends(regimes))
        ]
        closed = forms[0]
        found = self._keep_domain(forms[regimes[-1].form], closed)
        if len(regimes) == 3 and regimes[0].form == regimes[2].form:
            # The same form on both sides of a point is written once.
            around = self._around(forms[regimes[1].form], found, *changes)
            if around is not None:
                return around
        for regime, (low, high) in zip(reversed(regimes[:-1]), reversed(changes), strict=True):
            inside = self._keep_domain(forms[regime.form], closed)
            found = where(lt(self.variable, number(_shortest(low, high))), inside, found)
        return found

    def _around(
        self, inside: Node, outside: Node, left: tuple[Fraction, ...], right: tuple[Fraction, ...]
    ) -> Node | None:
        """Return the choice between a form around a singular point and a form elsewhere, which change in intervals."""
        for place in self.singular:
            low = max(place - left[1], right[0] - place, Fraction(0))
            high = min(place - left[0], right[1] - place)
            if not left[0] < place < right[1] or not low < high:
                continue
            condition = lt(absolute(self._distance(place)), number(_shortest(low, high)))
            added = self._added_points(inside)
            if place in added:
                condition = and_(condition, ne(self.variable, number(place)))
            return where(
                condition, self._keep_domain(inside, outside, [h for h in added if h != place]), outside
            )
        return None

    def _keep_domain(self, form: Node, closed: Node, added: Sequence[Fraction] | None = None) -> Node:
        for place in self._added_points(form) if added is None else added:
            form = where(ne(self.variable, number(place)), form, closed)
        return form

    def _added_points(self, form: Node) -> list[Fraction]:
        """Return the points of the domain at which a form has a value, and the formula has none."""
        return [p for p in self.singular if self.has_value(form, p) and not self.has_value(self._target, p)]


def least_loss_regimes(losses: Any, costs: Sequence[int]) -> list[Regime]:
    """Return the sequence of at most `_REGIMES` forms along the samples with the least lost bits and changes."""
    changes = np.flatnonzero((losses[:, 1:] != losses[:, :-1]).any(axis=0)) + 1
    starts = np.concatenate(
        [[0], changes]
    )  # of samples at which no loss changes; a form begins at one of these
    losses = losses[:, starts] * np.diff(starts, append=losses.shape[1])
    forms, runs = losses.shape
    entry: Any = np.array([_OPERATION * c + 1e-6 * k for k, c in enumerate(costs)])
    total = np.full((_REGIMES, forms), np.inf)
    total[0] = losses[:, 0] + entry
    origins = np.full((runs, _REGIMES, forms), -1, np.int16)
    for i in range(1, runs):
        best = total[:-1].argmin(axis=1)
        changed: Any = total[:-1].min(axis=1)[:, None] + entry + _SWITCH
        better: Any = changed < total[1:]
        total[1:] = _either(better, changed, total[1:])
        origins[i, 1:] = _either(better, best[:, None], -1)
        total += losses[:, i]
    count, form = np.unravel_index(int(total.argmin()), total.shape)
    found: list[Regime] = []
    for i in range(runs - 1, 0, -1):
        origin = int(origins[i, count, form])
        if origin >= 0:
            found.append(Regime(int(form), int(starts[i])))
            count, form = count - 1, origin
    return [Regime(int(form), 0), *found[::-1]]


def _divisors_and_sums(order: Iterable[Node]) -> tuple[list[Node], list[Node]]:
    """Return sums, and nodes at whose zeros a quotient, logarithm or power has a singularity."""
    sums: dict[Node, None] = {}
    others: dict[Node, None] = {}
    for n in order:
        if n.op is add:
            sums[n] = None
        elif n.op.name == "div":
            others[n.args[1]] = None
        elif n.op.name in ("log", "gamma", "lgamma", "digamma", "polygamma") or (
            n.op.name == "pow" and not (n.args[1].is_number() and n.args[1].value > 0)
        ):
            others[n.args[0]] = None
    return list(sums), [n for n in others if n.op is not NUMBER]


def _sign_change(before: Any, after: Any) -> Any:
    changed = before * after < 0
    return changed & (changed.sum(axis=1, keepdims=True) <= _PLACES)  # a sine has too many


def _either(mask: Any, yes: Any, no: Any) -> Any:
    return cast("Any", np.where(mask, yes, no))


def _between(low: Any, high: Any) -> Any:
    """Return numbers between others: the geometric mean if they are far apart, otherwise the mean."""
    with np.errstate(all="ignore"):
        small, large = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
        far = (low * high > 0) & (large > 4 * small)
        return _either(far, np.sign(low) * np.sqrt(small) * np.sqrt(large), low / 2 + high / 2)


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


def _spaced(places: Any) -> Any:
    """Return a mask of sorted places of which none is next to another, as far as samples need."""
    with np.errstate(all="ignore"):
        return np.diff(places, prepend=-np.inf) > _NEXT * np.abs(places)
