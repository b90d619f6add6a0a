"""How many digits forms of a formula lose at points: floats against extended precision, or against certain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice.certain_values import Ball, CertainValues, as_floats, distance, may_be_equal
from symgrad.rewrite.choice.float_faults import FINE, ROUNDINGS
from symgrad.rewrite.choice.float_values import COMPUTED, float_of, wide_of
from symgrad.rewrite.choice.samples import has_extended
from symgrad.rewrite.facts.intervals import Facts
from symgrad.support.errors import UnsupportedError

Columns: TypeAlias = "Mapping[Node, Any]"
"""Points: an array of numbers for every variable."""

LOSS_BOUND = 30.0
"""The lost bits from which on a value is as useless as no value."""

_MOVED = 1 + Fraction(1, 2**30)
"""A change of variables that shows how much their rounding changes a value."""

_FEW = 3.0
"""Wrong bits that do not justify another form: which form has fewer is chance."""

_ORDINARY = 1e-280
"""Beyond this and its reciprocal a value is about to leave the range of floats, and parts of any form may have left."""

_SMALLEST = 1e-300
"""Errors below the rounding of this are none: floats lose digits below 2.2e-308."""

_DOUBTFUL, _COMPARED = 6, 40
"""The most points without a value in floats, or without one in extended precision, that are looked at for certain."""

_AGREEING = 44
"""The bits to which forms agree if one is an approximation."""


def evaluated(nodes: Sequence[Node], columns: Columns) -> list[Any]:
    """Return the values of nodes at points in float64."""
    return [np.asarray(v, np.float64) for v in _evaluated(nodes, columns, _float_of)]


def _float_of(n: Node, args: list[Any]) -> Any:
    """Return the values of an operation in float64, of functions without extended precision as well."""
    if not n.args:
        return float_of(n, args)
    try:
        return n.op.evaluate(*n.params, *args)
    except UnsupportedError:  # a derivative of gamma of an order beyond all code
        return np.float64(math.nan)


def _evaluated(nodes: Sequence[Node], columns: Columns, value: Callable[[Node, list[Any]], Any]) -> list[Any]:
    values: dict[Node, Any] = dict(columns)
    shape = next(iter(columns.values())).shape
    with np.errstate(all="ignore"):
        for n in topological(nodes, until=columns):
            if n not in values:
                values[n] = value(n, [values[a] for a in n.args])
    return [np.broadcast_to(values[n], shape) for n in nodes]


def loss_points(form: Node, columns: Columns) -> Any:
    """Return a mask of the points at which a form may lose digits: its floats differ from extended precision.

    Without extended precision, of the machine or of a function, certain values decide at some of the points.
    """
    order = topological([form], until=columns)
    if not has_extended() or any(n.args and n.op.name not in COMPUTED for n in order):
        return _certain_loss_points(form, columns)
    (found,) = evaluated([form], columns)
    wide = {x: column.astype(np.longdouble) for x, column in columns.items()}
    moved = {x: column * (1 + np.longdouble(2) ** -53) for x, column in wide.items()}
    exact, near = (_evaluated([form], at, wide_of)[0] for at in (wide, moved))
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float64)
        same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
        unit = np.maximum(np.spacing(np.abs(nearest)), np.spacing(_SMALLEST))
        off, allowed = np.abs(found - exact) / unit, np.abs(near - exact) / unit
        losing = ~same & ~(off <= 2.0 ** (FINE + _FEW) + ROUNDINGS * allowed)
    losing &= _is_in_range(exact) | np.isnan(found)
    # What is NaN in both may be undefined, or infinity times zero.
    both = np.flatnonzero(np.isnan(found) & np.isnan(nearest))
    values = CertainValues([form])
    for i in both[:: 1 + len(both) // _DOUBTFUL].tolist():
        losing[i] = values.at(point_of(columns, i)) != [None]
    return losing


def _certain_loss_points(form: Node, columns: Columns) -> Any:
    count = len(next(iter(columns.values())))
    exact = CertainValues([form])
    found = {
        i: value_and_change(exact, point_of(columns, i)) for i in range(0, count, 1 + count // _COMPARED)
    }
    known = {i: pair for i, pair in found.items() if pair is not None}
    samples, at = CertainSamples(list(known.values())), list(known)
    losing = np.zeros(count, np.bool_)
    losing[at] = samples.loses_digits(evaluated([form], {x: column[at] for x, column in columns.items()}))[0]
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


def _is_in_range(values: Any) -> Any:
    sizes = np.abs(values)
    return ~((sizes > 0) & (sizes < _ORDINARY) | (sizes > 1 / _ORDINARY))


class CertainSamples:
    """Certain values at points: as floats, what floats lack, and the ulps by which rounding the inputs changes them.

    Args:
        pairs: for each point the results of `value_and_change`.
    """

    def __init__(self, pairs: Sequence[tuple[Ball, Ball]]) -> None:
        rows = [_row(value, moved) for value, moved in pairs]
        self._high, self._low, self._allowed = np.array(rows).reshape(-1, 3).T

    def loses_digits(self, rows: Sequence[Any]) -> Any:
        """Return masks of the points at which values lose digits, a row for each form.

        Where the certain value is about to leave the range of floats, digits may be lost, but there is a value.
        """
        return (self.losses(rows) > 0) & (_is_in_range(self._high) | np.isnan(rows))

    def losses(self, rows: Sequence[Any]) -> Any:
        """Return the bits that values in float64 lose, a row for each form; at most `LOSS_BOUND`."""
        with np.errstate(all="ignore"):
            unit = np.maximum(np.spacing(np.abs(self._high)), np.spacing(_SMALLEST))
            inherent = np.log2(1 + ROUNDINGS * self._allowed) + FINE + _FEW
            found: list[Any] = []
            for row in rows:
                bits = np.log2(1 + np.abs((row - self._high) - self._low) / unit) - inherent
                bits = np.where(np.isfinite(bits), np.clip(bits, 0.0, LOSS_BOUND), LOSS_BOUND)
                found.append(np.where(row == self._high, 0.0, bits))
        return np.array(found).reshape(len(rows), len(self._high))


def _row(value: Ball, moved: Ball) -> tuple[float, float, float]:
    high, low = as_floats(value)
    if moved is None or not math.isfinite(high):
        return high, low, 0.0
    unit = max(math.ulp(high), math.ulp(_SMALLEST))
    change = distance(moved, value) / 2**23 / unit
    return high, low, change if math.isfinite(change) else math.inf


def are_equal(target: Node, form: Node, points: Sequence[Mapping[Node, float]]) -> bool:
    """Tell whether two formulas have the same certain values at points, to the last bits of floats."""
    values = CertainValues([target, form])
    met = False
    for point in points:
        a, b = values.at(point)
        if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
            continue
        # A Taylor polynomial agrees to the last bits of floats.
        if not may_be_equal(a, b) and not distance(a, b) < 2.0**-_AGREEING * abs(as_floats(a)[0]):
            return False
        met = True
    return met


def within(facts: Facts, places: Any) -> Any:
    """Return the finite numbers of an interval, sorted, each once."""
    low, high = float(facts.low), float(facts.high)
    places = np.sort(places)  # `np.unique` takes milliseconds to import a part of NumPy
    places = places[np.diff(places, prepend=-np.inf) > 0]
    above = places > low if facts.low_open or math.isinf(low) else places >= low
    below = places < high if facts.high_open or math.isinf(high) else places <= high
    return places[above & below & np.isfinite(places)]
