"""Evaluation near a point: in floats and with many digits, and the difference between both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.analysis.explain.noise.sample_points import as_floats, domain_of
from symgrad.analysis.explain.removable_singularities.points import Point, is_real, precise
from symgrad.ir.graph import Node
from symgrad.ir.traverse import is_elementwise
from symgrad.ir.values.evaluate import evaluate, evaluate_mp

ULP = 2.0**-53

_NEAR = 20  # decimal exponent of the distance from the point at which both sides of a limit are evaluated
_DISTANCES = (1e-3, 1e-6, 1e-9)
_FACTORS = (0, 0.01, 0.3, 0.99, 1.01, 1.5, 4, 30)  # multiples of a radius at which forms are compared
_ENDS = (1.04, 1.1, 1.2)  # further multiples, used if a series with a large radius may end there
_AWAY = 100  # number of digits away from the point
_INNER = 0.3  # up to this multiple, values have the same magnitude
_STEP = -30  # decimal exponent of the step for a slope
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class PointNeighbourhood:
    """The neighbourhood of the point v = at.

    Args:
        mp: an mpmath context with many digits.
        v: an input.
        at: the value of v at the point, a formula of the other inputs.
        points: values of the other inputs, each with the value of v.
    """

    mp: Any
    v: Node
    at: Node
    points: Sequence[tuple[Point, Any]]
    # Many forms of the same formula are compared at the same places, so its values are cached.
    _truths: dict[tuple[Node, int, float], Any] = field(
        default_factory=dict[tuple[Node, int, float], Any], init=False, repr=False, compare=False
    )
    _moved: dict[tuple[Node, int], tuple[int, float]] = field(
        default_factory=dict[tuple[Node, int], tuple[int, float]], init=False, repr=False, compare=False
    )
    _floats: dict[int, Mapping[Node, Any]] = field(
        default_factory=dict[int, Mapping[Node, Any]], init=False, repr=False, compare=False
    )

    def value(self, e: Node, point: Point, value: Any, sign: float) -> Any:
        """Return the value of a formula so close to the point that it counts as the limit; None if it is undefined."""
        (found,) = evaluate_mp(self.mp, [e], {**point, self.v: self.moved(value, sign)})
        return found if is_real(self.mp, found) else None

    def moved(self, value: Any, sign: float) -> Any:
        """Return a value of v next to the point."""
        return value + sign * self.mp.mpf(10) ** -_NEAR * max(1, abs(value))

    def worst(
        self, e: Node, form: Node, w: Node, radii: Sequence[float], least: Sequence[Any] | None = None
    ) -> float:
        """Return the largest error of a form at the points, relative to the magnitude of the values there.

        Args:
            e: the formula.
            form: another form of the formula, which is computed in floats.
            w: an intermediate value; its distances from the point are multiples of the radii.
            radii: one for each point.
            least: for each point, a magnitude below which values count as 0.
        """
        worst = 0.0
        sizes = least or [0] * len(radii)
        factors = (*_FACTORS, *(_ENDS if max(radii) > _DISTANCES[0] else ()))
        for n, (radius, smallest) in enumerate(zip(radii, sizes, strict=True)):
            order, rate = self._moves(w, n)
            if not rate or not math.isfinite(rate):
                return math.inf
            steps = [(k * radius / rate) ** (1 / order) for k in factors]
            there = self._values(form, n, [h for step in steps for h in (step, -step)], e)
            found_at = zip([k for k in factors for _ in range(2)], there, strict=True)
            both = [(k, values) for k, values in found_at if values is not None]
            if not both:
                return math.inf
            for k, (found, truth) in both:
                # Values far from the point, perhaps near a pole, must not set the magnitude near the point.
                size = max(smallest, *(abs(x) for f, (_, x) in both if f <= max(k, _INNER)))
                worst = max(worst, _distance(found, truth, size) if size else math.inf)
        return worst

    def digit_loss(self, e: Node) -> dict[float, int]:
        """Return how many digits a formula loses at some distances from the point, for the worst of the points."""
        found: dict[float, int] = {}
        for h in _DISTANCES:
            worst = 0.0
            for n, (_, value) in enumerate(self.points):
                scale = max(1.0, abs(float(value)))
                for both in self._values(e, n, [factor * h * scale for factor in (1.0, -0.7, 0.4)], e):
                    if both is not None:
                        worst = max(worst, _distance(*both, max(abs(both[1]), _TINY)))
            found[h] = 16 if worst >= 1 else max(0, round(math.log10(max(worst, ULP) / ULP) - 0.5))
        return found

    def _moves(self, w: Node, n: int) -> tuple[int, float]:
        """Return m and c for a value that changes by c*h**m, where m is the order of the first nonzero derivative."""
        known = self._moved.get((w, n))
        if known is not None:
            return known
        point, value = self.points[n]
        h = self.mp.mpf(10) ** _STEP
        here, there = (evaluate_mp(self.mp, [w], {**point, self.v: value + x})[0] for x in (0, h))
        moved = abs(there - here) if is_real(self.mp, there) and is_real(self.mp, here) else self.mp.mpf(0)
        found = 1, 0.0
        if moved:
            order = max(1, round(float(self.mp.log10(moved)) / _STEP))
            found = order, float(moved / h**order)
        self._moved[w, n] = found
        return found

    def _values(self, form: Node, n: int, steps: Sequence[float], e: Node) -> list[tuple[float, Any] | None]:
        """Return a form in floats at distances from a point, each with the true value; None outside the domains."""
        truths = [self._truth(e, n, h) for h in steps]
        there = [
            float(self.points[n][1]) + h for h, truth in zip(steps, truths, strict=True) if truth is not None
        ]
        computed = iter(self._computed(form, n, there) if there else ())
        return [None if truth is None else (next(computed), truth) for truth in truths]

    def _computed(self, form: Node, n: int, there: Sequence[float]) -> list[float]:
        """Return a form in floats at values of the input; for scalars all values are computed in one evaluation."""
        floats = self._floats_of(n)
        if not is_elementwise([form]):
            return [float(evaluate([form], {**floats, self.v: np.float64(at)})[0]) for at in there]
        (found,) = evaluate([form], {**floats, self.v: np.array(there)})
        return [float(x) for x in np.broadcast_to(found, len(there))]

    def _floats_of(self, n: int) -> Mapping[Node, Any]:
        """Return the values of the other inputs at a point as floats."""
        if n not in self._floats:
            self._floats[n] = {s: as_floats(s, as_fraction(x)) for s, x in self.points[n][0].items()}
        return self._floats[n]

    def _truth(self, e: Node, n: int, h: float) -> Any:
        """Return the true value of a formula at a distance from a point; None outside the domains."""
        key = (e, n, h)
        if key not in self._truths:
            self._truths[key] = self._new_truth(e, n, h)
        return self._truths[key]

    def _new_truth(self, e: Node, n: int, h: float) -> Any:
        at = float(self.points[n][1]) + h
        if not math.isfinite(at) or not domain_of(self.v).admits(Fraction(at)):
            return None
        # The inputs are the floats for which the form was computed. Further from the point, less cancels.
        mp = precise(_AWAY) if abs(h) > _DISTANCES[-1] else self.mp
        others = {s: x if isinstance(x, bool) else mp.mpf(float(x)) for s, x in self._floats_of(n).items()}
        (there,) = evaluate_mp(mp, [self.at], others)
        if mp is self.mp and abs(there - at) < mp.mpf(10) ** -40:
            truth = self.value(e, others, there, 1)
        else:
            (truth,) = evaluate_mp(mp, [e], {**others, self.v: mp.mpf(at)})
        return truth if truth is not None and is_real(mp, truth) else None


def as_fraction(value: Any) -> Any:
    """Return the float nearest to a number as a fraction; a bool stays a bool."""
    return value if isinstance(value, bool) else Fraction(float(value))


def _distance(found: float, truth: Any, size: Any) -> float:
    return float(abs(truth - found) / size) if math.isfinite(found) else math.inf
