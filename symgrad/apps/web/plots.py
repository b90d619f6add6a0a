"""Plot a value and its gradient along one input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

import symgrad
from symgrad.apps.gradcheck.samples import sample_points
from symgrad.apps.web.blocks import Block, text
from symgrad.apps.web.limits import PLOT_POINTS
from symgrad.apps.web.question import PageQuestion
from symgrad.ir.graph import SYMBOL
from symgrad.ir.traverse import is_elementwise
from symgrad.support.errors import EvaluationError, OutOfMemoryError, UsageError

_WIDTH = 6.0
"""The default width of the axis."""

_FARTHEST = 1e15
"""The largest end of an axis: beyond, neighbours on it are equal floats."""

_FAR = 0.05
"""The distance of neighbours on a curve, relative to the range of values, that suggests a jump."""
_JUMPS, _HALVINGS = 20, 30
"""The largest number of tested places, and of bisections at each."""


def plot(question: PageQuestion) -> list[Block]:
    """Return the values of the formula and of its derivative along the first variable of differentiation.

    The first entry of an array varies. All other inputs are fixed at the requested values, else at a point of their
    domains.
    """
    y, w = question.y, question.wrt[0]
    if w.name is None or w.node.op is not SYMBOL:
        raise UsageError("there is no axis for a value between", cure="differentiate by an input")
    if y.shape:
        raise UsageError("an array has no curve", cure="say of which number: of")
    inputs = {str(i.name): i for i in y.inputs}
    base = next(iter(sample_points(y.node, inputs, {}, [w.name], np.dtype(np.float64))), None)
    if base is None:
        raise UsageError("no point of the declared domains was found", cure="declare larger domains")
    base = {**base, **_fixed_values(question, inputs)}
    grid = _grid(question.said("range"), w)
    derivative = question.gradients[0]
    entry = (0,) * len(w.shape)
    derivative = derivative[entry] if entry else derivative
    along = w.name + ("[" + ", ".join("0" for _ in entry) + "]" if entry else "")
    name = question.name
    values, slopes = (_CurveOf(e, base, w.name, entry) for e in (y, derivative))
    curves = [
        {"label": label, "values": (found := path.over(grid)), "breaks": path.breaks(grid, found)}
        for label, path in ((name, values), (f"d{name}/d{along}", slopes))
    ]
    if all(v is None for v in curves[0]["values"]):
        raise EvaluationError("the formula has no value there", cure="choose another range")
    fields = {n: float(v) for n, v in base.items() if n != w.name and not inputs[n].shape}
    others = [f"{n} = {_short(v)}" for n, v in base.items() if n != w.name and n not in fields]
    points = [round(float(x), 12) for x in grid]
    block = {"kind": "plot", "along": along, "x": points, "curves": curves, "others": fields}
    return [block, *([text("with " + ", ".join(others))] if others else [])]


def _fixed_values(question: PageQuestion, inputs: Mapping[str, symgrad.Expr]) -> dict[str, float]:
    """Return the requested values of inputs that are numbers: a = 2, b = 1/2."""
    found: dict[str, float] = {}
    for part in filter(str.strip, question.said("values").split(",")):
        name, _, number = (p.strip() for p in part.partition("="))
        if name not in inputs or inputs[name].shape:
            continue  # it was an input of the program that stood there before
        try:
            value = float(number)
        except ValueError:
            raise UsageError(
                f"'{number[:40]}' is no value of {name}", expected="a number, such as 2"
            ) from None
        low, high = (None if end is None else float(end) for end in inputs[name].node.declaration.values.span)
        if not (abs(value) < _FARTHEST and (low is None or value >= low) and (high is None or value <= high)):
            declared = inputs[name].node.declaration.values
            raise UsageError(
                f"{name} = {number[:40]} lies outside the declared domain", expected=str(declared)
            )
        found[name] = value
    return found


def _grid(said: str, w: symgrad.Expr) -> Any:
    """Return the grid of the plot: the requested range, else the declared domain, without its ends."""
    declared = w.node.declaration.values
    low, high = (None if end is None else float(end) for end in declared.span)
    if said:
        first, last = _read_range(said)
    elif low is None and high is None:
        first, last = -_WIDTH / 2, _WIDTH / 2
    else:  # from the end that there is
        first = low if low is not None else float(high or 0) - _WIDTH
        last = high if high is not None else first + _WIDTH
    first, last = max(first, -math.inf if low is None else low), min(last, math.inf if high is None else high)
    if not first < last:
        raise UsageError(f"'{said[:40]}' lies outside the declared domain", expected=f"a part of {declared}")
    grid = np.linspace(first, last, PLOT_POINTS)
    return grid[(grid > (-math.inf if low is None else low)) & (grid < (math.inf if high is None else high))]


def _read_range(said: str) -> tuple[float, float]:
    parts = said.split(",")
    try:
        first, last = (float(p) for p in parts)
    except ValueError:
        raise UsageError(f"'{said[:40]}' is no range", expected="two numbers, such as -2, 2") from None
    if not (abs(first) < _FARTHEST and abs(last) < _FARTHEST and first < last):
        raise UsageError(f"'{said[:40]}' is no range", expected="two numbers, the smaller one first")
    return first, last


def _moved(base: Any, entry: tuple[int, ...], x: float) -> Any:
    if not entry:
        return float(x)
    moved = np.array(base, dtype=float)
    moved[entry] = x
    return moved


class _CurveOf:
    """A formula along one of its inputs.

    Args:
        e: the formula.
        base: values of all inputs.
        name: the name of the varied input.
        entry: the index of the varied entry, if it is an array.
    """

    def __init__(self, e: symgrad.Expr, base: Mapping[str, Any], name: str, entry: tuple[int, ...]) -> None:
        needed = {str(i.name) for i in e.inputs}
        self._values = {n: v for n, v in base.items() if n in needed}
        self._e, self._base, self._entry = e, base[name], entry
        self._name = name if name in needed else None
        self._together = not entry and is_elementwise([e.node])

    def over(self, grid: Any) -> list[float | None]:
        """Return the values over a grid, in one call if the formula is elementwise; None for an undefined value."""
        if self._together:
            with suppress(EvaluationError):  # some points may still have a value
                moved = {self._name: grid} if self._name else {}
                return [_finite(v) for v in np.broadcast_to(self._e(**{**self._values, **moved}), grid.shape)]
        if self._name is None:
            return [_at(self._e, self._values)] * len(grid)
        return [_at(self._e, {**self._values, self._name: _moved(self._base, self._entry, x)}) for x in grid]

    def breaks(self, grid: Any, found: list[float | None]) -> list[int]:
        """Return the positions of a grid after which the curve jumps, where the line must be interrupted.

        Bisect steep intervals, each time towards the larger difference: at a jump the difference does not shrink.
        """
        values: Any = np.array([math.nan if v is None else v for v in found])
        if np.isnan(values).all() or not self._together:
            return []
        far = _FAR * (np.nanquantile(values, 0.95) - np.nanquantile(values, 0.05))
        steep = np.flatnonzero(np.abs(np.diff(values)) > far)[:_JUMPS]
        return [int(k) for k in steep if self._jumps(grid[k], values[k], grid[k + 1], values[k + 1])]

    def _jumps(self, low: float, at_low: float, high: float, at_high: float) -> bool:
        apart = abs(at_high - at_low)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            (value,) = self.over(np.array([middle]))
            if value is None or not low < middle < high:
                return True
            if abs(value - at_low) > abs(at_high - value):
                high, at_high = middle, value
            else:
                low, at_low = middle, value
        return abs(at_high - at_low) > apart / 2


def _at(e: symgrad.Expr, values: Mapping[str, Any]) -> float | None:
    try:
        return _finite(e(**values))
    except OutOfMemoryError:  # every other point would need the memory, too
        raise
    except EvaluationError:
        return None


def _finite(value: Any) -> float | None:
    """Return a value, None for NaN and infinities, which JSON does not have."""
    return float(value) if math.isfinite(value) else None


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=4, threshold=6, separator=", ").replace("\n", "")
