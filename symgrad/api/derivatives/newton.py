"""Newton's method for many small systems of equations at once; each system has one column of an array.

A search ends where Newton's next step is as small as rounding errors. This also happens where a function underflows,
near a pole, and at a vertical tangent. So the final point counts as a solution only if Newton's steps from both sides
lead to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from symgrad.api.limits import BISECTIONS, NEWTON_STEPS
from symgrad.support.progress import steps

Array: TypeAlias = "np.ndarray[Any, Any]"

Evaluate: TypeAlias = "Callable[[Array, Array], tuple[Array, Array]]"
"""A function of the unknowns (n, k) and their columns (k,) that returns the residuals and Newton's steps z - (next z),
both of shape (n, k)."""

_EPSILON = float(np.finfo(float).eps)
_NEAR = _EPSILON**0.5
"""A step below this relative length may be the last one, if rounding keeps the residual from shrinking."""

_BESIDE = (2.0**-26, 2.0**-36, 2.0**-46)
"""Distances, relative to a solution, of the neighbouring points that test it."""

_BESIDE_ZERO = (1e-8, 1e-100, 1e-290)
"""The absolute distances for a solution at 0."""


def newton(
    evaluate: Evaluate, start: Array, inside: Callable[[Array], Array], atol: float
) -> tuple[Array, Array, Array]:
    """Search from a start; halve each step until the residual becomes smaller.

    Args:
        evaluate: the equations.
        start: the unknowns, of shape (n, k).
        inside: a function that returns a mask of the columns of unknowns (n, k) that are in the domain.
        atol: a step shorter than this also ends the search; so does a step below two units in the last place.

    Returns:
        The unknowns, a mask of the columns that are solutions, and the residuals.
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
            trial_residual, trial_step = evaluate(trial, pending)
            size = _size(trial_residual)
            better = inside(trial) & (size < _size(residual[:, pending]))
            better &= np.isfinite(_size(trial_step)) | (size == 0)
            moved = pending[better]
            z[:, moved], residual[:, moved] = trial[:, better], trial_residual[:, better]
            step[:, moved] = trial_step[:, better]
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
    """Search one unknown between two points at which the function has different signs.

    Take Newton's step while it stays in the interval and halves in length; otherwise bisect the interval.

    Args:
        evaluate: the equation.
        start: the unknown, of shape (1, k), between low and high.
        low: the lower ends, (1, k).
        high: the upper ends.
        atol: as for `newton`.

    Returns:
        The same as for `newton`. Equal signs at both ends, a jump and a pole give no solution.
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
        moved: Array = z[here] - step[here]
        inner = (moved > a[here]) & (moved < b[here]) & (np.abs(step[here]) <= np.abs(before[here]) / 2)
        moved = np.where(inner, moved, a[here] / 2 + b[here] / 2)
        before[here] = moved - z[here]
        z[here] = moved
        residual[here], step[here] = evaluate(z[here], active)
        going[here] = np.abs(before[here]) > np.maximum(2 * _EPSILON * np.abs(moved), atol)
    short = np.abs(step) <= np.maximum(_NEAR * np.abs(z), atol)
    return z, _attracting(evaluate, z, (short & differ)[0], atol), residual


def _attracting(evaluate: Evaluate, z: Array, good: Array, atol: float) -> Array:
    """Return a mask of the final points that are solutions: Newton's steps from both sides lead to them.

    At a distance d from a simple zero, the step is d up to terms of second order and rounding; from a double zero it is
    d/2, and from a pole -d.
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
