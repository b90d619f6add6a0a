"""Search for a point at which two values certainly differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from symgrad.checker.balls.programs import context
from symgrad.checker.balls.scalar_ops import Value, ball
from symgrad.checker.clock import STEP, is_late, tick, until
from symgrad.checker.numbers import flint
from symgrad.checker.program.equality import Equality
from symgrad.checker.witness import Witness, certain_entries, disjoint, distinct_texts
from symgrad.support.progress import reports_progress
from symgrad.verification.agreement import TOO_FEW, agreement, shrinks
from symgrad.verification.limits import (
    CERTAIN_DIGITS,
    COMMON_POINTS,
    ENTRIES,
    POINTS,
    POINTS_ENOUGH,
    WITNESS_STEPS,
)
from symgrad.verification.points.sampler import SamplePoint, plain_points, points_of
from symgrad.verification.points.values import negatives, shorter, simple_points

fmpq: Any = flint.fmpq
arb: Any = flint.arb

_DECADES = 6  # how many decades of values count as moderate
_MODERATE = (0, 0)
_FINER = (12, 8, 4, 3, 2)  # how many points are evaluated again at each doubling of the precision


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a search.

    Args:
        witness: a point where the two values differ, or None.
        points: exact points at which both values are certain, and agree within the precision of the evaluation.
        digits: the decimal digits of agreement at the worst point whose values are known precisely enough; None without
            points.
        precise: the number of points at which the values are known precisely enough.
        tried: the number of points that were tried.
        exact: whether both values are equal rational numbers at all points.
        out_of_time: whether the search ended at the deadline.
    """

    witness: Witness | None
    points: tuple[SamplePoint, ...]
    digits: int | None
    precise: int
    tried: int
    exact: bool
    out_of_time: bool


class _PointSearch:
    def __init__(self, claim: Equality, deadline: float | None) -> None:
        self.claim = claim
        self.program = claim.program
        self.deadline = deadline
        self.direction = claim.direction
        self.witness: Witness | None = None
        self.agreeing: dict[int, SamplePoint] = {}
        self.digits: dict[int, int | None] = {}  # None means exactly equal
        self.gaps: dict[int, Any] = {}  # largest distances of values that are tiny or zero
        self.unknown: dict[int, SamplePoint] = {}
        self.tried = 0
        self.settled = False  # whether only optional points are left

    def both(self, point: SamplePoint, precision: int) -> list[tuple[tuple[int, ...], Value, Value]]:
        """Return the entries of both values at a point that are certain."""
        return certain_entries(
            self.claim, point.values, point.sizes, precision=precision, deadline=self.deadline
        )

    def refutes(
        self, point: SamplePoint, precision: int, values: list[tuple[tuple[int, ...], Value, Value]]
    ) -> float:
        """Store a point as the witness if its values differ there; return their distance, 0 if they may be equal."""
        different = [(i, x, y) for i, x, y in values if disjoint(x, y)]
        if not different:
            return 0
        index, x, y = max(different, key=lambda d: _distance(d[1], d[2]))
        self.witness = Witness(point.values, point.sizes, precision, index, *distinct_texts(x, y))
        return max(_distance(x, y), 1e-300)

    def point_out(self, point: SamplePoint, precision: int) -> None:
        """Replace the direction of a witness by the first unit direction in which the values differ most."""
        if self.direction is None:
            return
        best, found = 0.0, self.witness
        for unit in _units(np.shape(np.array(point.values[self.direction], dtype=object))):
            there = SamplePoint({**point.values, self.direction: unit}, point.sizes)
            size = self.refutes(there, precision, self.both(there, precision))
            if size > best:
                best, found = size, self.witness
        self.witness = found

    def is_witness(self, number: int, point: SamplePoint, precision: int) -> bool:
        """Evaluate the values at a point; tell whether it is a witness."""
        both = self.both(point, precision)
        with context.workprec(precision):
            if self.refutes(point, precision, both):
                self.point_out(point, precision)
                return True
            if both:
                self.agreeing[number] = point
                self.unknown.pop(number, None)
                self.digits[number] = self.agree(number, precision, both)
            elif number not in self.agreeing:
                self.unknown[number] = point
        return False

    def agree(
        self, number: int, precision: int, values: list[tuple[tuple[int, ...], Value, Value]]
    ) -> int | None:
        """Return the number of decimal digits to which all entries agree; None if they are exact and so equal."""
        found: list[int] = []
        vague = arb(0)
        for _, x, y in values:
            tick(2 * STEP)
            if type(x) is fmpq and type(y) is fmpq:
                continue
            x, y = ball(x), ball(y)
            gap, size = (x - y).abs_upper(), x.abs_lower()
            if gap > 0:
                found.append(digits := agreement(gap, size, precision))
                vague = gap if not digits and gap > vague else vague
        before = self.gaps.pop(number, None)
        if vague > 0:
            self.gaps[number] = vague
            if before is not None and shrinks(before, vague, precision):
                found = [d or TOO_FEW for d in found]
        return min(found, default=None)

    @reports_progress("verdicts", "trying points")
    def run(self, start: int, enough: int, most: int, *, finer: bool, simple: bool) -> None:
        """Try points at the first precision, then some of them at higher precisions, and then further points."""
        points = enumerate(points_of(self.program))
        if not self.several(points, start, enough) and not (finer and self.finer(start)):
            self.settled = most > enough
            self.several(points, start, most)
        if simple:
            self.simplify()
        self.moderate()
        self.shorten()

    def moderate(self) -> None:
        """Replace a witness that has negative inputs or values of extreme size by a nearby one that has not.

        `exp(a*F/(R*T))` with a large constant F takes values of 1e2000 at the first points.
        """
        first = self.witness
        if first is None or len(self.program.steps) > WITNESS_STEPS:
            return
        best = self.oddity(first)
        if best <= _MODERATE:
            return
        for values in simple_points(self.program, first.point, self.direction):
            point = SamplePoint(values, first.sizes)
            both = self.both(point, first.precision)
            with context.workprec(first.precision):
                found = self.witness
                if not self.refutes(point, first.precision, both):
                    continue
                oddity = self.oddity(self.witness)
                if oddity < best:
                    best = oddity
                else:
                    self.witness = found

    def oddity(self, witness: Witness | None) -> tuple[int, int]:
        """Measure how unusual a witness is: the decades of its values beyond moderate ones, and its negative inputs."""
        if witness is None:
            return _MODERATE
        both = self.both(SamplePoint(witness.point, witness.sizes), witness.precision)
        sizes = [_decades(v) for i, x, y in both if i == witness.index and disjoint(x, y) for v in (x, y)]
        return max(0, max(sizes, default=0) - _DECADES), negatives(
            self.program, witness.point, self.direction
        )

    def simplify(self) -> None:
        """Replace a witness with arrays by a witness with few entries and small numbers, if there is one."""
        first = self.witness
        if first is None or not any(s.shape for s in self.program.symbols):
            return
        self.witness = None
        for point in plain_points(self.program):
            if _entries(point.values) < _entries(first.point) and self.is_witness(0, point, first.precision):
                return
        self.witness = first

    def shorten(self) -> None:
        """Replace a witness by one near it that has shorter numbers, if there is one."""
        first = self.witness
        if first is None:
            return
        for values in shorter(self.program, first.point, self.direction):
            point = SamplePoint(values, first.sizes)
            both = self.both(point, first.precision)
            with context.workprec(first.precision):
                if self.refutes(point, first.precision, both):
                    return

    def several(self, points: Iterator[tuple[int, SamplePoint]], precision: int, enough: int) -> bool:
        """Evaluate the values at points until ``enough`` points agree; tell whether one is a witness."""
        while self.tried < POINTS and len(self.agreeing) < enough:
            number, point = next(points, (0, None))
            if point is None:
                return False
            if self.is_witness(number, point, precision):
                return True
            # Values of extreme size leave few digits.
            loose = self.digits.get(number)
            if loose is not None and loose < CERTAIN_DIGITS and self.is_witness(number, point, 4 * precision):
                return True
            self.tried += 1
        return False

    def finer(self, precision: int) -> bool:
        """Evaluate the values at some points again with higher precisions; tell whether one is a witness."""
        for several in _FINER:
            precision *= 2
            loose = [k for k, d in self.digits.items() if d is not None]
            loose.sort(key=lambda k: self.digits[k] or 0)
            close = [(k, self.agreeing[k]) for k in loose[:several]]
            for number, point in [*close, *list(self.unknown.items())[:several]]:
                if self.is_witness(number, point, precision):
                    return True
        return False


def _entries(values: Mapping[str, Any]) -> int:
    return sum(np.size(np.array(v, dtype=object)) for v in values.values())


def _units(shape: tuple[int, ...]) -> Iterator[Any]:
    """Yield the unit arrays as nested lists; for a large array only the first few."""
    for index in islice(np.ndindex(*shape), ENTRIES):
        unit = np.full(shape, Fraction(0), dtype=object)
        unit[index] = Fraction(1)
        yield unit.tolist()


def _decades(x: Value) -> int:
    """Return the absolute value of log10(abs(x)), rounded; 0 if x may be 0."""
    low = ball(x).abs_lower()
    return abs(round(float(low.log() / arb(10).log()))) if low > 0 else 0


def _distance(x: Value, y: Value) -> float:
    """Return the distance of two numbers relative to their size, roughly."""
    x, y = ball(x), ball(y)
    scale = x.abs_upper() + y.abs_upper()
    return float(((x - y) / scale).abs_lower())


def refute(
    claim: Equality,
    *,
    deadline: float | None = None,
    start: int = 64,
    enough: int = POINTS_ENOUGH,
    most: int | None = None,
    finer: bool = True,
    simple: bool = False,
) -> Outcome:
    """Search for a point inside the declared domains at which two values certainly differ.

    Args:
        claim: the claim that they are equal; if it has a direction, a witness has a unit direction.
        deadline: the time of the end, on the clock of `symgrad.checker.clock`.
        start: the first precision, in bits; it is doubled a few times.
        enough: how many points of the common domain are tried first.
        most: after how many points of the common domain the search stops; by default more than ``enough`` if ``finer``.
        finer: whether agreeing points are evaluated again with more bits.
        simple: whether to search for a witness with small arrays, instead of taking the first witness.

    Returns:
        The first witness, or the points at which the values agree.

    Example:
        >>> from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
        >>> roots = (ProofStep("mul", (0, 0)), ProofStep("sqrt", (1,)), ProofStep("abs", (0,)))
        >>> steps = (ProofStep("symbol", (), ("x",)), *roots)
        >>> program = ProofProgram(steps, (Symbol("x", "real", None, None),))
        >>> refute(Equality(program, 0, 2)).witness.point["x"] < 0
        True
        >>> refute(Equality(program, 2, 3)).witness is None
        True
    """
    search = _PointSearch(claim, deadline)
    out_of_time = False
    try:
        with until(deadline):
            search.run(
                start, enough, most or (COMMON_POINTS if finer else enough), finer=finer, simple=simple
            )
    except TimeoutError:
        out_of_time = not search.settled
    inexact = [d for d in search.digits.values() if d is not None]
    exact = bool(search.digits) and not inexact
    found = [d for d in inexact if d >= TOO_FEW]
    # If the values are equal at only a few points, and unknown at others, they do not count as equal: 0*u is 0.
    precise = len(search.digits) - len(inexact) + len(found) if found or exact else 0
    return Outcome(
        witness=search.witness,
        points=tuple(search.agreeing.values()),
        digits=min(found or (inexact if not precise else []), default=int(start * 0.30103))
        if search.digits
        else None,
        precise=precise,
        tried=search.tried,
        exact=exact,
        out_of_time=out_of_time or (not search.settled and deadline is not None and is_late(deadline)),
    )
