"""Classify the end of a search by exact derivatives: a minimum, a saddle point, or a direction of descent.

All tests are relative: they compare changes of the loss, and lengths of steps, with the whole search and with rounding
errors. So the tests do not depend on the units of the loss and the variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from symgrad.api.limits import CURVED_VARIABLES, FLAT_DIRECTIONS, MINIMUM_STEPS
from symgrad.api.training.curvature import Curvature, curvature_at

Vector: TypeAlias = "np.ndarray[Any, Any]"

Established: TypeAlias = Literal["minimum", "no lower value", "stationary", "saddle", "maximum", "nothing"]

_EPSILON = float(np.finfo(float).eps)
_GAIN = 1e-12
"""The largest gain of a further step at a minimum, relative to the decrease of the loss, so that variables have six
correct digits."""
_OF_THE_WAY = 1e-3
"""The largest further step at a minimum, relative to the distance from the start; on an unbounded descent steps are
larger."""
_NEAR = 1e-5
"""Instead of the limit above, the largest further step relative to the variables."""
_OCTAVES = range(-120, 121, 2)
"""The exponents of the steps at which values near an end are compared; they cover any unit of the variables."""


@dataclass(frozen=True, slots=True)
class Landscape:
    """A loss of one vector, with its exact derivatives.

    Args:
        both: a function that returns the value and the gradient at a point.
        product: a function that returns the Hessian at a point times a vector; None if the loss has no Hessian.
        low: the lower bound of every variable.
        high: the upper bound of every variable.
        start: the point where the search began.
        begun: the loss at the start.
    """

    both: Callable[[Vector], tuple[float, Vector]]
    product: Callable[[Vector, Vector], Vector] | None
    low: Vector
    high: Vector
    start: Vector
    begun: float

    def value(self, x: Vector) -> float:
        """Return the loss."""
        return self.both(x)[0]

    def noise(self, x: Vector, value: float, slope: Vector) -> float:
        """Return the rounding error of a change of the loss.

        It is the rounding error of the last digit, plus the deviation from the linear model at neighbouring floats.
        """
        found = 0.0
        for pattern in (1, 2, 3, 5):
            signs = np.where(np.arange(len(x)) % (pattern + 1) % 2 == 0, 1.0, -1.0)
            beside = np.clip(x + signs * 2 * _EPSILON * np.abs(x), self.low, self.high)
            change = self.value(beside) - value - float(slope @ (beside - x))
            if np.isfinite(change):
                found = max(found, abs(change))
        return 2 * found + 4 * _EPSILON * abs(value)

    def fallen(self, value: float) -> float:
        """Return the decrease of the loss since the start."""
        decrease = self.begun - value
        return max(0.0, decrease) if np.isfinite(decrease) else 0.0


@dataclass(frozen=True, slots=True)
class EndPoint:
    """A point of a search.

    Args:
        x: the variables.
        value: the loss.
        slope: its gradient.
        established: the classification of the point.
        lower: whether the search must continue from this point, because Newton's steps were not enough, or because it
            lies below a saddle point or a maximum.
    """

    x: Vector
    value: float
    slope: Vector
    established: Established
    lower: bool = False


def classify_end(landscape: Landscape, x: Vector, *, go_on: bool, trusted: bool) -> EndPoint:
    """Classify the end of a search, after Newton's steps to a point with a gradient that is zero up to rounding.

    Args:
        landscape: the loss.
        x: the point where the search ended.
        go_on: whether the end may be another point.
        trusted: whether the end counts as stationary without a test, because the user set a tolerance.

    Returns:
        The end with its classification; or, with ``lower``, a point below a saddle point or a maximum.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # for a loss without a lower limit
        return _classify_end(landscape, x, go_on=go_on, trusted=trusted)


def _classify_end(landscape: Landscape, x: Vector, *, go_on: bool, trusted: bool) -> EndPoint:
    value, slope = landscape.both(x)
    many = len(x) > CURVED_VARIABLES
    steps = (MINIMUM_STEPS // 6 if many else MINIMUM_STEPS) if go_on and not trusted else 1
    for _ in range(steps):
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return EndPoint(x, value, slope, "nothing")
        noise = landscape.noise(x, value, slope)
        threshold = max(_GAIN * landscape.fallen(value), noise)
        free = ~_active_bounds(landscape, x, slope, threshold)
        shape = curvature_at(landscape.product, x, slope, free)
        step = np.zeros_like(x)
        step[free] = shape.step
        if trusted or _is_stationary(landscape, x, value, step, shape, noise):
            return _classify_point(
                landscape, EndPoint(x, value, slope, "nothing"), shape, free, threshold, go_on=go_on
            )
        if not go_on:
            return EndPoint(x, value, slope, "nothing")
        found = _newton_descent(landscape, x, value, step, shape, free, noise)
        if found is None and shape.gain <= noise:
            return _classify_point(
                landscape, EndPoint(x, value, slope, "nothing"), shape, free, threshold, go_on=True
            )
        if found is None:
            # No Newton step decreases the loss: there is a kink, or no second derivative.
            found = _first_change(landscape, x, value, -slope * free, threshold)
        if found is None:
            end = EndPoint(x, value, slope, "nothing")
            return _classify_near_kink(landscape, end, free, threshold)
        x = found
        value, slope = landscape.both(x)
    return EndPoint(x, value, slope, "nothing", lower=go_on)


def _active_bounds(landscape: Landscape, x: Vector, slope: Vector, threshold: float) -> Any:
    """Return a mask of the active bounds, for variables that would gain nothing from the distance to their bound."""
    share = threshold / max(1, len(x))
    with np.errstate(invalid="ignore"):  # 0 times infinity, if there is neither a slope nor an end
        down = (slope > 0) & (slope * (x - landscape.low) <= share)
        up = (slope < 0) & (slope * (x - landscape.high) <= share)
    return down | up


def _is_stationary(
    landscape: Landscape, x: Vector, value: float, step: Vector, shape: Curvature, noise: float
) -> bool:
    if bool(np.all(np.abs(step) <= 8 * _EPSILON * np.abs(x))):  # without a gradient there is no step
        return True
    length, way, size = (float(np.linalg.norm(v / shape.unit)) for v in (step, x - landscape.start, x))
    return shape.gain <= max(_GAIN * landscape.fallen(value), noise) and length <= max(
        _OF_THE_WAY * way, _NEAR * size
    )


def _newton_descent(
    landscape: Landscape, x: Vector, value: float, step: Vector, shape: Curvature, free: Any, noise: float
) -> Vector | None:
    """Return a lower point along Newton's step; None if there is no such point."""
    if not np.isfinite(step).all():
        return None
    for halvings in range(40):
        trial = np.clip(x + step * 0.5**halvings, landscape.low, landscape.high)
        if np.array_equal(trial, x):
            return None
        then, slope = landscape.both(trial)
        if then < value - noise:
            return trial
        # If rounding hides the change of the loss, compare gradients, which have more correct digits.
        if then <= value + noise and shape.gain_of(slope[free]) < shape.gain / 2:
            return trial
    return None


def _classify_point(
    landscape: Landscape, at: EndPoint, shape: Curvature, free: Any, threshold: float, *, go_on: bool
) -> EndPoint:
    """Classify a stationary point, or return a lower point."""
    for direction in _directions(shape, free):
        found = _first_change(landscape, at.x, at.value, direction, threshold) if go_on else None
        if found is not None:
            return EndPoint(found, *landscape.both(found), "nothing", lower=True)
    if shape.falling:
        return EndPoint(at.x, at.value, at.slope, "maximum" if shape.all_fall and free.all() else "saddle")
    return EndPoint(at.x, at.value, at.slope, "minimum" if shape.all_rise else "no lower value")


def _classify_near_kink(landscape: Landscape, at: EndPoint, free: Any, threshold: float) -> EndPoint:
    """Classify a point with a nonzero gradient from which no step decreases the loss, or return a lower point."""
    for k in np.flatnonzero(free)[:FLAT_DIRECTIONS]:
        axis = np.zeros_like(at.x)
        axis[k] = 1.0
        for direction in (axis, -axis):
            found = _first_change(landscape, at.x, at.value, direction, threshold)
            if found is not None:
                return EndPoint(found, *landscape.both(found), "nothing", lower=True)
    return EndPoint(at.x, at.value, at.slope, "no lower value")


def _directions(shape: Curvature, free: Any) -> Iterator[Vector]:
    """Yield both directions of negative curvature, then directions of zero curvature."""
    for part in (*shape.falling, *shape.flat[:FLAT_DIRECTIONS]):
        whole = np.zeros(len(free))
        whole[free] = part
        yield from (whole, -whole)


def _first_change(
    landscape: Landscape, x: Vector, value: float, direction: Vector, threshold: float
) -> Vector | None:
    """Follow a direction to the first change of the loss; return a lower point there, or None if the loss rises.

    Lower values beyond a hill do not count. From a lower point, the search continues while the loss decreases
    quadratically.
    """
    size = float(np.max(np.abs(direction), initial=0.0))
    if not size:
        return None
    unit = max(1.0, float(np.max(np.abs(x), initial=0.0))) / size
    found, below = None, 0.0
    for octave in _OCTAVES:
        trial = np.clip(x + np.ldexp(unit, octave) * direction, landscape.low, landscape.high)
        if np.array_equal(trial, x):
            continue
        change = landscape.value(trial) - value
        if not np.isfinite(change):
            return found
        if found is None:
            if change > threshold:
                return None
            if change < -threshold:
                found, below = trial, change
            continue
        if change > 8 * below or octave > 0:
            return found
        found, below = trial, change
    return found
