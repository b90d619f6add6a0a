"""Compute the slope of a black-box function by differences, with an error bound.

A difference is evidence only if the step changes the input, and changes the values by more than their rounding errors:

- Steps are many spacings of the floats at the point, and are divided by the exact distance of the two floats.
- Differences are extrapolated in exact fractions: equal values cancel to zero, on every machine.
- A slope counts if steps of several sizes agree, and if the value in the middle fits its neighbours, which it does not
  at a kink or over rapid oscillations. No step is a multiple of another step, since otherwise all steps could be
  multiples of a period.
- The digits of the values show how they were rounded (`Rounding`), and this error is part of the error bound.

Source: Richardson's extrapolation of central differences, with Neville's scheme (Press et al., Numerical Recipes, 5.7).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

_FIRST = 0.07  # the largest step, relative to the size of the input
_SHRINK = math.exp(-0.75)  # the ratio of a step to the one before
_LEAST = 1e-3  # the size that smaller inputs count as, at first
_LEVELS = 12  # the number of steps at which the function has values on both sides
_STEPS = 24  # the number of all steps
_SPACINGS = 16.0  # the smallest step in spacings of floats
_COLUMNS = 5  # the columns of the extrapolation, which is of order ten
_FLAT = 4  # so many steps without a change show that a function is constant
_SETTLED = 1e-7  # the largest relative change of a slope at the last step
_SETTLES = 1e-3  # the same at the step before the last
_CLOSE = 1e-8  # the relative error of a slope that needs no second scale of steps
_SHRUNK = 0.75  # the largest ratio of bends at successive steps; for a smooth function the ratio is _SHRINK
_ROUNDINGS = 4  # the largest difference of extrapolated differences, in rounding errors
_SMALLEST = float(np.finfo(np.float64).tiny)
_BITS = 53


class Rounding:
    """The rounding errors of a function's values, estimated from their digits.

    Values in single precision have 24 binary digits in any type, and values of `round(x, 1)` or of `(1e16 + x) - 1e16`
    have no digits beyond a certain place.
    """

    def __init__(self) -> None:
        self._bits = 0
        self._place = math.inf

    def see(self, value: float) -> None:
        """Observe a value."""
        if value and math.isfinite(value):
            above, below = abs(value).as_integer_ratio()
            zeros = (above & -above).bit_length() - 1
            self._bits = max(self._bits, above.bit_length() - zeros)
            self._place = min(self._place, math.ldexp(1.0, zeros) / below if zeros else 1 / below)

    def of(self, largest: float) -> float:
        """Return the rounding error of values up to a size; infinity if no nonzero value has been observed.

        Example:
            >>> seen = Rounding()
            >>> seen.see(1 / 3)
            >>> seen.of(1.0) == 2.0**-53
            True
            >>> seen = Rounding()
            >>> seen.see(6.0)
            >>> seen.of(6.0)
            2.0
        """
        return max(math.ldexp(largest, -self._bits), self._place, _SMALLEST)


@dataclass(frozen=True, slots=True)
class Slope:
    """A slope by differences.

    Args:
        value: the slope.
        change: the change of the slope at the last steps.
        amplified: the error of the slope per error of the values.
        largest: the largest absolute value.
        moves: whether the values differ.
    """

    value: float
    change: float
    amplified: float
    largest: float
    moves: bool = True

    def error(self, rounding: Rounding) -> float:
        """Return the error bound of the slope for given rounding errors of the values."""
        return self.change + self.amplified * rounding.of(self.largest)


def slope_of(
    f: Callable[[float], float], x: float, rounding: Rounding, dtype: Any = np.float64
) -> Slope | None:
    """Return the slope of a function at a point; None if differences do not converge.

    Args:
        f: a function of a float; it has no value where it raises an error or does not return a finite number.
        x: the point.
        rounding: the rounding errors of the values so far; it also observes the values computed here.
        dtype: the type of the points, to which a function may round its input.

    Example:
        >>> import math
        >>> seen = Rounding()
        >>> slope = slope_of(math.sin, 1.0, seen)
        >>> abs(slope.value - math.cos(1.0)) < slope.error(seen) < 1e-12
        True
        >>> slope_of(math.sin, 5e18, seen) is None  # the next float is 1024 further
        True
        >>> slope_of(abs, 0.0, seen) is None
        True
    """
    values = _Values(f, rounding)
    here = values.at(x)
    if here is None:
        return None
    size = abs(x)
    # Functions change over distances of about one, or in proportion to their input, which may be tiny in SI units.
    scales = [min(max(size, _LEAST), 1.0), *([size] if size > 1 or 0 < size < _LEAST else [])]
    least = _SPACINGS * float(np.spacing(np.abs(dtype(x))))
    found: list[Slope | None] = []
    for scale in scales:
        if _FIRST * scale < least:
            continue
        try:
            slope = _settled(values, x, here, (_FIRST * scale, least), dtype)
        except OverflowError:  # an exact fraction is beyond the largest float
            slope = None
        found.append(slope)
        if slope is not None and slope.moves and slope.error(rounding) <= _CLOSE * abs(slope.value):
            return slope
    moving = [s for s in found if s is not None and s.moves]
    if moving:
        return min(moving, key=lambda s: s.error(rounding) / (abs(s.value) or 1.0))
    # A function that is constant over some steps and changes over others may have rounded its input.
    return None if None in found or not found else found[0]


class _Values:
    """A function whose values are finite numbers or None."""

    def __init__(self, f: Callable[[float], float], rounding: Rounding) -> None:
        self._f = f
        self.rounding = rounding

    def at(self, x: float) -> float | None:
        if not math.isfinite(x):
            return None
        try:
            value = float(self._f(x))
        except Exception:  # noqa: BLE001  a function of the user may raise anything
            return None
        self.rounding.see(value)
        return value if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class _DifferencePair:
    """A central difference, computed exactly from the values of the function."""

    step: Fraction
    slope: Fraction
    bend: Fraction
    """Half the difference of the slopes on both sides."""


_Row: TypeAlias = list[tuple[Fraction, float]]
"""A row of Neville's scheme: extrapolated differences, each with its amplification of errors of values."""


def _settled(values: _Values, x: float, here: float, steps: tuple[float, float], dtype: Any) -> Slope | None:
    """Return the best of the slopes to which shrinking steps converge; None if there is none."""
    first, last = steps
    pairs: list[_DifferencePair] = []
    row: _Row = []
    settled: list[Slope] = []  # the best of each row
    largest, moves = abs(here), False
    for k in range(_STEPS):
        step = first * _SHRINK**k
        if step < last or len(pairs) == _LEVELS:
            break
        with np.errstate(over="ignore"):
            right, left = float(dtype(x + step)), float(dtype(x - step))
        above, below = values.at(right), values.at(left)
        if above is None or below is None:
            continue
        largest = max(largest, abs(above), abs(below))
        still = above == here == below
        if still and moves:  # the values change in steps as large as their rounding errors
            break
        moves = not still
        pairs.append(_pair(Fraction(right) - Fraction(left), above, here, below))
        if not moves and len(pairs) >= _FLAT:
            return Slope(0.0, 0.0, float(1 / pairs[0].step), largest, moves=False)
        before, row = row, _extrapolated(pairs, row)
        if len(pairs) < 3 or not moves:
            continue
        rounded = values.rounding.of(largest)
        if not _is_smooth(pairs[-2], pairs[-1], float(rounded)):
            continue
        best = _best(row, before, largest, rounded)
        if best is not None:
            settled.append(best)
            if best.change <= best.amplified * math.ldexp(largest, -_BITS):
                return best
    if len(settled) < 2:
        return None
    k = min(range(len(settled)), key=lambda i: settled[i].error(values.rounding))
    # The least of many changes may be small by chance, so the changes next to it count.
    neighbours = (*settled[max(k - 1, 0) : k], *settled[k + 1 : k + 2])
    changes = [abs(settled[k].value - s.value) for s in neighbours]
    return replace(settled[k], change=max(settled[k].change, *changes))


def _best(row: _Row, before: _Row, largest: float, rounded: float) -> Slope | None:
    """Return the converged slope of a row with the least change and rounding error; None if there is none."""
    found: list[Slope] = []
    for j in range(2, len(row)):
        slope, amplified = row[j]
        change = float(max(abs(slope - row[j - 1][0]), abs(slope - before[j - 1][0])))
        earlier, size = float(abs(before[j - 1][0] - before[j - 2][0])), float(abs(slope))
        noise = _ROUNDINGS * amplified * rounded
        if change <= max(_SETTLED * size, noise) and earlier <= max(_SETTLES * size, noise):
            found.append(Slope(float(slope), change, amplified, largest))
    return min(found, key=lambda s: s.change + s.amplified * rounded, default=None)


def _pair(width: Fraction, above: float, here: float, below: float) -> _DifferencePair:
    up, middle, down = Fraction(above), Fraction(here), Fraction(below)
    return _DifferencePair(width / 2, (up - down) / width, (up + down - 2 * middle) / width)


def _extrapolated(pairs: list[_DifferencePair], before: _Row) -> _Row:
    """Return the next row of Neville's scheme: the difference, and polynomials in the squared step, evaluated at 0."""
    last = pairs[-1].step
    row: _Row = [(pairs[-1].slope, float(1 / last))]
    for j in range(1, min(len(pairs) - 1, _COLUMNS) + 1):
        ratio = (pairs[-1 - j].step / last) ** 2
        (slope, amplified), (other, also) = row[-1], before[j - 1]
        more = float(ratio)
        row.append(((ratio * slope - other) / (ratio - 1), (more * amplified + also) / (more - 1)))
    return row


def _is_smooth(wide: _DifferencePair, narrow: _DifferencePair, rounded: float) -> bool:
    """Tell whether the slopes on both sides converge as steps shrink, up to rounding errors of the values."""
    bend = abs(narrow.bend)
    return (
        bend <= Fraction(_SHRUNK) * abs(wide.bend)
        or bend <= Fraction(_SETTLED) * abs(narrow.slope)
        or (math.isinf(rounded) or bend <= 2 * _ROUNDINGS * Fraction(rounded) / narrow.step)
    )
