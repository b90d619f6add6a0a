"""Newton's method for many small systems of equations at once: one column of an array for each.

A function that has to be zero is seen through `Evaluate` alone, which also divides by its derivative. A search ends
where Newton's next step is as small as rounding. That it is so also where a function underflows, beside a pole, and
where the tangent is vertical; a solution is only what Newton's steps from both sides lead to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from symgrad.api.limits import BISECTIONS, NEWTON_STEPS
from symgrad.support.progress import steps

__all__ = ["Array", "Evaluate", "search_bracket", "newton"]

Array: TypeAlias = "np.ndarray[Any, Any]"

Evaluate: TypeAlias = "Callable[[Array, Array], tuple[Array, Array]]"
"""From the unknowns (n, k) at the columns (k,): what is to be zero, and Newton's step z - (next z), both (n, k)."""

_EPSILON = float(np.finfo(float).eps)
_NEAR = (
    _EPSILON**0.5
)  # a step so short is the last one that rounding lets be, if what is to be zero does not shrink
_BESIDE = (2.0**-26, 2.0**-36, 2.0**-46)  # how far beside a solution, relative to it, its neighbours are
_BESIDE_ZERO = (1e-8, 1e-100, 1e-290)  # the same beside 0


def newton(
    evaluate: Evaluate, start: Array, inside: Callable[[Array], Array], atol: float
) -> tuple[Array, Array, Array]:
    """Search from a start, with steps that are halved until what is to be zero becomes smaller.

    Args:
        evaluate: the equations.
        start: (n, k).
        inside: tells of unknowns (n, k) which columns may be tried.
        atol: how short a step is short enough, beside one of two units in the last place.

    Returns:
        The unknowns, which columns are solutions, and what was to be zero there.
    """
    z, count = start.copy(), start.shape[1]
    residual, step = evaluate(z, _columns(z))
    good, going = np.zeros(count, bool), inside(z)
    for _ in steps("kernel", "solving by Newton", range(NEWTON_STEPS)):
        length, scale = _size(step), _size(z)
        good |= going & (length <= np.maximum(2 * _EPSILON * scale, atol))
        going &= np.isfinite(length) & ~good
        near = length <= _NEAR * scale
        pending, factor = np.flatnonzero(going), 1.0
        if not len(pending):
            break
        while len(pending):
            trial: Array = z[:, pending] - factor * step[:, pending]
            found, then = evaluate(trial, pending)
            size = _size(found)
            better = inside(trial) & (size < _size(residual[:, pending]))
            better &= np.isfinite(_size(then)) | (size == 0)
            moved = pending[better]
            z[:, moved], residual[:, moved], step[:, moved] = (
                trial[:, better],
                found[:, better],
                then[:, better],
            )
            pending = pending[~better]
            if factor == 1.0:
                good[pending[near[pending]]] = True
                pending = pending[~near[pending]]
            factor /= 2
            stuck: Array = np.all(z[:, pending] - factor * step[:, pending] == z[:, pending], axis=0)
            going[pending[stuck]] = False
            pending = pending[~stuck]
    return z, _attracting(evaluate, z, good, atol), residual


def search_bracket(
    evaluate: Evaluate, start: Array, low: Array, high: Array, atol: float
) -> tuple[Array, Array, Array]:
    """Search one unknown between two places at which the function has different signs.

    Newton's steps are taken while they stay between these and become shorter by half; otherwise the interval is halved.

    Args:
        evaluate: the equation.
        start: (1, k), between low and high.
        low: the lower ends, (1, k).
        high: the upper ends.
        atol: as for `newton`.

    Returns:
        As `newton`. No solution is where the signs do not differ, where the function jumps, and at a pole.
    """
    everything = _columns(start)
    a, b = low.copy(), high.copy()
    (at_a, _), (at_b, _) = evaluate(a, everything), evaluate(b, everything)
    differ = np.sign(at_a) * np.sign(at_b) <= 0
    z: Array = np.where(at_a == 0, a, np.where(at_b == 0, b, start))
    residual, step = evaluate(z, everything)
    before, going = b - a, differ
    for _ in range(BISECTIONS):
        going = going & (np.abs(residual) > 0)
        active = np.flatnonzero(going[0])
        if not len(active):
            break
        here = (slice(None), active)
        left = np.sign(residual[here]) == np.sign(at_a[here])
        a[here], b[here] = np.where(left, z[here], a[here]), np.where(left, b[here], z[here])
        then: Array = z[here] - step[here]
        inner = (then > a[here]) & (then < b[here]) & (np.abs(step[here]) <= np.abs(before[here]) / 2)
        then = np.where(inner, then, a[here] / 2 + b[here] / 2)
        before[here] = then - z[here]
        z[here] = then
        residual[here], step[here] = evaluate(z[here], active)
        going[here] = np.abs(before[here]) > np.maximum(2 * _EPSILON * np.abs(then), atol)
    short = np.abs(step) <= np.maximum(_NEAR * np.abs(z), atol)
    return z, _attracting(evaluate, z, (short & differ)[0], atol), residual


def _attracting(evaluate: Evaluate, z: Array, good: Array, atol: float) -> Array:
    """Tell which ends of a search are solutions: Newton's steps from both sides of these lead to them.

    From beside a simple zero, at a distance d, the step is d but for terms of second order and rounding. It is d/2
    beside a double zero, -d beside a pole, and something else where there is no zero.
    """
    found = np.zeros(len(good), bool)
    for beside, beside_zero in zip(_BESIDE, _BESIDE_ZERO, strict=True):
        columns = np.flatnonzero(good & ~found)
        if not len(columns):
            break
        scale = _size(z[:, columns])
        distance = np.maximum(np.where(scale == 0, beside_zero, beside * scale), 4 * atol)
        leads = np.ones(len(columns), bool)
        for side in (distance, -distance):
            _, step = evaluate(z[:, columns] + side, columns)
            leads &= _size(step - side) < np.abs(side) / 4
        found[columns[leads]] = True
    return found


def _columns(values: Array) -> Array:
    return np.arange(values.shape[1], dtype=np.int64)


def _size(values: Array) -> Array:
    """Return the largest entry of each column."""
    return np.max(np.abs(values), axis=0)
