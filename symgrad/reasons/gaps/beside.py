"""Formulas beside a point: their values there with many digits, those in floats, and how far apart these are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.graph import Node
from symgrad.ir.values.evaluate import evaluate, evaluate_mp
from symgrad.reasons.gaps.points import Point, is_real, precise
from symgrad.reasons.noise.draws import as_floats, domain_of, inside

__all__ = ["ULP", "Beside", "as_fraction"]

ULP = 2.0**-53

_NEAR = 20  # powers of ten by which both sides of a limit are off
_DISTANCES = (1e-3, 1e-6, 1e-9)
_FACTORS = (0, 0.01, 0.3, 0.99, 1.01, 1.5, 4, 30)  # of a radius, at which forms are compared
_ENDS = (1.04, 1.1, 1.2)  # at which they are, too, where that is large enough for a series to end there
_AWAY = 100  # digits of values that are not next to the point
_INNER = 0.3  # that one within which values have one size
_STEP = -30  # power of ten of the step that shows how a value moves
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Beside:
    """What is beside v = at.

    Args:
        mp: a context of many digits.
        v: an input.
        at: its value at the point, a formula of the other inputs.
        points: values of these, and that of v.
    """

    mp: Any
    v: Node
    at: Node
    points: Sequence[tuple[Point, Any]]

    def value(self, e: Node, point: Point, value: Any, sign: float) -> Any:
        """Return the value of a formula so near that it stands for the limit; None where there is none."""
        (found,) = evaluate_mp(self.mp, [e], {**point, self.v: self.moved(value, sign)})
        return found if is_real(self.mp, found) else None

    def moved(self, value: Any, sign: float) -> Any:
        """Return a value of v beside the point."""
        return value + sign * self.mp.mpf(10) ** -_NEAR * max(1, abs(value))

    def worst(
        self, e: Node, form: Node, w: Node, radii: Sequence[float], least: Sequence[Any] | None = None
    ) -> float:
        """Return the largest error of a form at the points, by the size of values there.

        Args:
            e: what it is a form of.
            form: computed in floats.
            w: a value between, whose distances from that at the point are multiples of the radii.
            radii: one for each point.
            least: sizes, one for each point, below which values count as 0.
        """
        worst = 0.0
        sizes = least or [0] * len(radii)
        for (point, value), radius, smallest in zip(self.points, radii, sizes, strict=True):
            order, rate = self._moves(w, point, value)
            if not rate or not math.isfinite(rate):
                return math.inf
            both: list[tuple[float, tuple[float, Any]]] = []
            for k in (*_FACTORS, *(_ENDS if max(radii) > _DISTANCES[0] else ())):
                for h in ((k * radius / rate) ** (1 / order), -((k * radius / rate) ** (1 / order))):
                    there = self._values(form, point, value, h, e)
                    if there is not None:
                        both.append((k, there))
            if not both:
                return math.inf
            for k, (found, truth) in both:
                # Values near the point have a size that those far away, perhaps near a pole, must not set.
                size = max(smallest, *(abs(x) for f, (_, x) in both if f <= max(k, _INNER)))
                worst = max(worst, _distance(found, truth, size) if size else math.inf)
        return worst

    def lost(self, e: Node) -> dict[float, int]:
        """Return how many digits a formula loses at some distances from the point, at the worst of the points."""
        found: dict[float, int] = {}
        for h in _DISTANCES:
            worst = 0.0
            for point, value in self.points:
                scale = max(1.0, abs(float(value)))
                for factor in (1.0, -0.7, 0.4):
                    both = self._values(e, point, value, factor * h * scale, e)
                    if both is not None:
                        worst = max(worst, _distance(*both, max(abs(both[1]), _TINY)))
            found[h] = 16 if worst >= 1 else max(0, round(math.log10(max(worst, ULP) / ULP) - 0.5))
        return found

    def _moves(self, w: Node, point: Point, value: Any) -> tuple[int, float]:
        """Return m and c of a value that moves by c*h**m: its slope, or what follows where that is 0."""
        h = self.mp.mpf(10) ** _STEP
        here, there = (evaluate_mp(self.mp, [w], {**point, self.v: value + x})[0] for x in (0, h))
        moved = abs(there - here) if is_real(self.mp, there) and is_real(self.mp, here) else self.mp.mpf(0)
        if not moved:
            return 1, 0.0
        order = max(1, round(float(self.mp.log10(moved)) / _STEP))
        return order, float(moved / h**order)

    def _values(self, form: Node, point: Point, value: Any, h: float, e: Node) -> tuple[float, Any] | None:
        """A form in floats at a distance from the point, and the truth; None outside of the domains."""
        at = float(value) + h
        if not math.isfinite(at) or not inside(domain_of(self.v), Fraction(at)):
            return None
        floats = {s: as_floats(s, as_fraction(x)) for s, x in point.items()}
        # What is computed in floats is compared at the same floats; less cancels away from the point.
        mp = precise(_AWAY) if abs(h) > _DISTANCES[-1] else self.mp
        others = {s: x if isinstance(x, bool) else mp.mpf(float(x)) for s, x in floats.items()}
        (there,) = evaluate_mp(mp, [self.at], others)
        if mp is self.mp and abs(there - at) < mp.mpf(10) ** -40:
            truth = self.value(e, others, there, 1)
        else:
            (truth,) = evaluate_mp(mp, [e], {**others, self.v: mp.mpf(at)})
        if truth is None or not is_real(mp, truth):
            return None
        (found,) = evaluate([form], {**floats, self.v: np.float64(at)})
        return float(found), truth


def as_fraction(value: Any) -> Any:
    """Return the float next to a number as a fraction; a bool stays one."""
    return value if isinstance(value, bool) else Fraction(float(value))


def _distance(found: float, truth: Any, size: Any) -> float:
    return float(abs(truth - found) / size) if math.isfinite(found) else math.inf
