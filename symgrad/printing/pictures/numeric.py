"""Draw a formula of one variable: its value and slope, and the number of wrong bits of its value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.checker.balls.scalar_ops import ball
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.printing.pictures.plot import Curve, plot_svg
from symgrad.report.blocks import Figure
from symgrad.rewrite.choice.certain_values import CertainValues
from symgrad.support.errors import SymgradError

_EQUATIONS = 300  # number of equations of the largest formula that is drawn: errors are computed in 60 digits
_POINTS, _DOTS, _TRIED = 201, 25, 121
_SPAN = 3.0
_SPACINGS = 16  # least distance of the two points of a difference, in spacings of floats
_DECADES = 12  # powers of ten on each side of 1 at which errors are computed


def sole_variable(nodes: Sequence[Node]) -> Node | None:
    """Return the single real input of formulas; None if there are other inputs, arrays, or too many equations."""
    symbols = symbols_of(nodes)
    if len(symbols) != 1 or len(topological(nodes)) > _EQUATIONS or any(n.shape for n in topological(nodes)):
        return None
    (x,) = symbols
    return x if x.dtype == "real" and x.declaration.distribution is None else None


def sample_values(nodes: Sequence[Node]) -> dict[str, float] | None:
    """Return a number for each deterministic input, within its domain; None if some input has no real number."""
    inputs = [s for s in symbols_of(nodes) if s.declaration.distribution is None]
    if any(s.shape or s.dtype != "real" for s in inputs):
        return None
    found: dict[str, float] = {}
    for k, s in enumerate(inputs):
        low, high = s.declaration.values.span
        inner = 1 / (k + 2)  # distinct values, so that nothing cancels by chance
        if low is not None and high is not None:
            found[s.name] = round(float(low) + (float(high) - float(low)) * inner, 4)
        elif low is not None or high is not None:
            found[s.name] = float(low) + 1 + k / 4 if low is not None else float(high or 0) - 1 - k / 4
        else:
            found[s.name] = round(0.7 + 0.6 * k, 4)
    return found


def slope_figure(y: Node, slope: Node, names: tuple[str, str]) -> Figure | None:
    """Draw a value and its derivative, with central differences for comparison; None if this is not possible.

    Args:
        y: a formula of one variable.
        slope: the derivative of the formula.
        names: the names of both.
    """
    x = sole_variable([y, slope])
    if x is None or x not in symbols_of([y]):
        return None
    low, high = _between(x)
    grid, dots = np.linspace(low, high, _POINTS), np.linspace(low, high, _DOTS + 2)[1:-1]
    h = 1e-5 * (high - low)
    right, left = dots + h, dots - h
    if np.any(right - left < _SPACINGS * np.spacing(np.abs(dots))):
        return None
    try:
        with np.errstate(all="ignore"):
            value, exact = (_values(n, x, grid) for n in (y, slope))
            difference = (_values(y, x, right) - _values(y, x, left)) / (right - left)
    except SymgradError:
        return None
    if not np.isfinite(exact).any():
        return None
    title = f"{names[0]} and {names[1]}"
    curves = [
        Curve(names[0], grid.tolist(), value.tolist()),
        Curve(names[1], grid.tolist(), exact.tolist()),
        Curve("central difference", dots.tolist(), difference.tolist(), points=True),
    ]
    errors = np.abs(difference - _values(slope, x, dots)) / (1 + np.abs(difference))
    off = float(np.max(errors, where=np.isfinite(errors), initial=0.0))
    caption = (
        f"{names[1]} beside central differences of {names[0]}; the largest relative difference is {off:.1g}."
    )
    return Figure(plot_svg(curves, title, x.name, "value"), f"{title} over {x.name}", caption)


def _values(node: Node, x: Node, at: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(evaluate([node], {x: at})[0], dtype=float), at.shape)


def _between(x: Node) -> tuple[float, float]:
    """Return the interval to draw: the domain, as far as it is bounded, without its ends."""
    low, high = x.declaration.values.span
    first = float(low) if low is not None else (float(high) - 2 * _SPAN if high is not None else -_SPAN)
    last = float(high) if high is not None else (first + 2 * _SPAN if low is not None else _SPAN)
    margin = (last - first) * 1e-3
    return first + margin, last - margin


def accuracy_figure(
    exact: Node, computed: Mapping[str, Callable[[Any], Any]], dtype: Any = np.float64
) -> Figure | None:
    """Draw the number of wrong bits of a value for all sizes of its input; None if this is not possible.

    Args:
        exact: a formula of one variable, which is evaluated to many digits.
        computed: functions of arrays that compute the formula in floats, by name.
        dtype: the dtype of these floats.
    """
    x = sole_variable([exact])
    if x is None:
        return None
    sizes = np.logspace(-_DECADES, _DECADES, _TRIED)
    points = np.concatenate([-sizes[::-1], sizes]).astype(dtype)
    points = points[np.broadcast_to(x.declaration.values.admits(points), points.shape)]
    values = CertainValues([exact])
    truth = [ball(values.at({x: float(p)})[0]) for p in points]
    if not any(t is not None for t in truth):
        return None
    places = [_place(float(p)) for p in points]
    curves: list[Curve] = []
    worst: list[str] = []
    for label, function in computed.items():
        with np.errstate(all="ignore"):
            found = np.broadcast_to(np.asarray(function(points)), points.shape)
        wrong = [_bits(float(v), t, dtype) for v, t in zip(found, truth, strict=True)]
        curves.append(Curve(label, places, wrong, points=True))
        worst.append(f"{label}: at most {max((w for w in wrong if math.isfinite(w)), default=0):.1f} bits")
    labels = [(sign, e) for sign in (-1, 1) for e in (-_DECADES, -6, 0, 6, _DECADES)]
    ticks = [(_place(s * 10.0**e), f"{s * 10.0**e:g}") for s, e in labels]
    shown = [(t, label) for t, label in ticks if places and min(places) <= t <= max(places)]
    title = f"Bits that are wrong, by the size of {x.name}"
    description = f"{title}. {'; '.join(worst)}."
    caption = "What is wrong is log2 of 1 + the error in units in the last place."
    return Figure(plot_svg(curves, title, x.name, "bits wrong", shown), description, caption)


def _place(x: float) -> float:
    """Return the abscissa of a number on a symmetric logarithmic axis; negative numbers are on the left."""
    if x == 0:
        return 0.0
    return math.copysign(0.1 + (math.log10(abs(x)) + _DECADES) / _DECADES, x)


def _bits(value: float, truth: Any, dtype: Any) -> float:
    """Return log2(1 + error in units in the last place); NaN if no float is near the truth."""
    least, most = float(np.finfo(dtype).tiny), float(np.finfo(dtype).max)
    if truth is None or not least <= abs(truth) <= most:
        return math.nan
    if not math.isfinite(value):
        return float(np.finfo(dtype).nmant + 1)
    unit = float(np.spacing(dtype(abs(float(truth)))))
    return min(math.log2(1 + abs(float(value - truth)) / unit), float(np.finfo(dtype).nmant + 1))
