"""How many digits floats of a form lose at points: against extended precision, or against certain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice.certain_values import Ball, CertainValues, as_floats, distance, may_be_equal
from symgrad.rewrite.choice.float_faults import FINE, ROUNDINGS
from symgrad.rewrite.choice.float_values import COMPUTED, FLOAT64, Floats, float_of, wide_of
from symgrad.rewrite.choice.samples import has_extended
from symgrad.rewrite.facts.intervals import Facts
from symgrad.support.errors import UnsupportedError

Columns: TypeAlias = "Mapping[Node, Any]"
"""Points: an array of numbers for every variable."""

LOSS_BOUND = 30.0
"""The lost bits from which on a value is as useless as no value."""

_MOVE = 30
_MOVED = 1 + Fraction(1, 2**_MOVE)
"""A change of variables that shows how much their rounding changes a value."""

_FEW = 3.0
"""Wrong bits that do not justify another form: which form has fewer is chance."""

_DOUBTFUL, _COMPARED = 6, 40
"""The most points without a value in floats, or without one in extended precision, that are looked at for certain."""

_APART = 9
"""The last bits of floats in which forms may differ if one is an approximation."""


def evaluated(nodes: Sequence[Node], columns: Columns, floats: Floats = FLOAT64) -> list[Any]:
    """Return the values of nodes at points in floats of a type, as float64."""
    typed = {x: column.astype(floats.dtype) for x, column in columns.items()}
    return [floats.rounded(v) for v in _evaluated(nodes, typed, partial(_float_of, floats))]


def _float_of(floats: Floats, n: Node, args: list[Any]) -> Any:
    """Return the values of an operation in floats, of functions without extended precision as well."""
    if not n.args:
        return float_of(n, args, floats)
    try:
        return n.op.evaluate(*n.params, *args)
    except UnsupportedError:  # a derivative of gamma of an order beyond all code
        return floats.dtype(math.nan)


def _evaluated(nodes: Sequence[Node], columns: Columns, value: Callable[[Node, list[Any]], Any]) -> list[Any]:
    values: dict[Node, Any] = dict(columns)
    shape = next(iter(columns.values())).shape
    with np.errstate(all="ignore"):
        for n in topological(nodes, until=columns):
            if n not in values:
                values[n] = value(n, [values[a] for a in n.args])
    return [np.broadcast_to(values[n], shape) for n in nodes]


def loss_points(form: Node, columns: Columns, floats: Floats = FLOAT64) -> Any:
    """Return a mask of the points at which a form may lose digits: its floats differ from extended precision.

    Without extended precision, of the machine or of a function, certain values decide at some of the points.
    """
    order = topological([form], until=columns)
    if not has_extended() or any(n.args and n.op.name not in COMPUTED for n in order):
        return _certain_loss_points(form, columns, floats)
    (found,) = evaluated([form], columns, floats)
    wide = {x: column.astype(np.longdouble) for x, column in columns.items()}
    moved = {x: column * (1 + np.longdouble(2) ** -floats.bits) for x, column in wide.items()}
    exact, near = (_evaluated([form], at, wide_of)[0] for at in (wide, moved))
    with np.errstate(all="ignore"):
        nearest = floats.rounded(exact)
        same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
        unit = floats.step_at(nearest)
        off, allowed = np.abs(found - exact) / unit, np.abs(near - exact) / unit
        losing = ~same & ~(off <= 2.0 ** (FINE + _FEW) + ROUNDINGS * allowed)
    losing &= _is_in_range(exact, floats) | np.isnan(found)
    # What is NaN in both may be undefined, or infinity times zero.
    both = np.flatnonzero(np.isnan(found) & np.isnan(nearest))
    values = CertainValues([form])
    for i in both[:: 1 + len(both) // _DOUBTFUL].tolist():
        losing[i] = values.at(point_of(columns, i)) != [None]
    return losing


def _certain_loss_points(form: Node, columns: Columns, floats: Floats) -> Any:
    count = len(next(iter(columns.values())))
    exact = CertainValues([form])
    found = {
        i: value_and_change(exact, point_of(columns, i)) for i in range(0, count, 1 + count // _COMPARED)
    }
    known = {i: pair for i, pair in found.items() if pair is not None}
    samples, at = CertainSamples(list(known.values()), floats), list(known)
    losing = np.zeros(count, np.bool_)
    losing[at] = samples.loses_digits(
        evaluated([form], {x: column[at] for x, column in columns.items()}, floats)
    )[0]
    return losing


def point_of(columns: Columns, i: int) -> dict[Node, float]:
    """Return one of the points."""
    return {x: float(column[i]) for x, column in columns.items()}


def value_and_change(values: CertainValues, point: Mapping[Node, float]) -> tuple[Ball, Ball] | None:
    """Return the certain value of a formula at a point, and its value where all inputs change a little.

    Args:
        values: of one formula.
        point: a number for every variable.

    Returns:
        None if the value is unknown or a truth value; the second value may be None.
    """
    (value,) = values.at(point)
    if value is None or isinstance(value, bool):
        return None
    return value, *values.at({x: Fraction(v) * _MOVED for x, v in point.items()})


def _is_in_range(values: Any, floats: Floats) -> Any:
    sizes = np.abs(values)
    return ~((sizes > 0) & (sizes < floats.ordinary) | (sizes > 1 / floats.ordinary))


class CertainSamples:
    """Certain values at points: as floats, what floats lack, and the ulps by which rounding the inputs changes them.

    Args:
        pairs: for each point the results of `value_and_change`.
        floats: the type of floats.
    """

    def __init__(self, pairs: Sequence[tuple[Ball, Ball]], floats: Floats = FLOAT64) -> None:
        self._floats = floats
        high, low, change = np.array([_row(value, moved) for value, moved in pairs]).reshape(-1, 3).T
        with np.errstate(all="ignore"):
            self._high = floats.rounded(high)
            self._low = np.where(np.isfinite(self._high), (high - self._high) + low, 0.0)
            self._unit = floats.step_at(self._high)
            allowed = change * 2.0 ** (_MOVE - floats.bits) / self._unit
        self._allowed = np.where(np.isnan(allowed), np.inf, allowed)

    def loses_digits(self, rows: Sequence[Any]) -> Any:
        """Return masks of the points at which values lose digits, a row for each form.

        Where the certain value is about to leave the range of floats, digits may be lost, but there is a value.
        """
        return (self.losses(rows) > 0) & (_is_in_range(self._high, self._floats) | np.isnan(rows))

    def losses(self, rows: Sequence[Any]) -> Any:
        """Return the bits that values in floats lose, a row for each form; at most `LOSS_BOUND`."""
        with np.errstate(all="ignore"):
            inherent = np.log2(1 + ROUNDINGS * self._allowed) + FINE + _FEW
            found: list[Any] = []
            for row in rows:
                bits = np.log2(1 + np.abs((row - self._high) - self._low) / self._unit) - inherent
                bits = np.where(np.isfinite(bits), np.clip(bits, 0.0, LOSS_BOUND), LOSS_BOUND)
                found.append(np.where(row == self._high, 0.0, bits))
        return np.array(found).reshape(len(rows), len(self._high))


def _row(value: Ball, moved: Ball) -> tuple[float, float, float]:
    high, low = as_floats(value)
    return high, low, 0.0 if moved is None or not math.isfinite(high) else distance(moved, value)


def are_equal(
    target: Node, form: Node, points: Sequence[Mapping[Node, float]], floats: Floats = FLOAT64
) -> bool:
    """Tell whether two formulas have the same certain values at points, to the last bits of floats."""
    values = CertainValues([target, form])
    met = False
    for point in points:
        a, b = values.at(point)
        if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
            continue
        # A Taylor polynomial agrees to the last bits of floats.
        if not may_be_equal(a, b) and not distance(a, b) < 2.0 ** (_APART - floats.bits) * abs(
            as_floats(a)[0]
        ):
            return False
        met = True
    return met


def within(facts: Facts, places: Any, floats: Floats = FLOAT64) -> Any:
    """Return the finite floats of an interval, sorted, each once."""
    low, high = float(facts.low), float(facts.high)
    rounded = floats.rounded(places)
    places = np.sort(rounded[np.isfinite(rounded)])
    places = places[np.diff(places, prepend=-np.inf) > 0]  # `np.unique` imports a part of NumPy
    above = places > low if facts.low_open or math.isinf(low) else places >= low
    below = places < high if facts.high_open or math.isinf(high) else places <= high
    return places[above & below]
