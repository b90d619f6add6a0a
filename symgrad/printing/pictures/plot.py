"""Draw curves and points over one axis as SVG, in the colours of the other pictures, without any library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

_SANS = "'DejaVu Sans', 'Segoe UI', Helvetica, Arial, sans-serif"
_INK, _SOFT, _RULE, _PAPER = "#1b1f24", "#5b6470", "#c9ced6", "#ffffff"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#5b6470")
_DASHES = ("", "7 4", "2 3", "9 3 2 3")
_WIDTH, _HEIGHT = 640.0, 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 16.0, 20.0, 64.0
_TICKS = 5
_ADVANCE = 7.0  # the width of a digit in labels
_STEEP = 40.0  # largest drawn value, relative to most other values


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve, or points.

    Args:
        label: its text in the legend.
        x: abscissas.
        y: the values at these abscissas; values that are not finite leave gaps.
        points: whether to draw points instead of a line.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    points: bool = False


def plot_svg(
    curves: Sequence[Curve],
    title: str,
    x_label: str,
    y_label: str,
    ticks: Sequence[tuple[float, str]] | None = None,
) -> str:
    """Return curves as a standalone SVG document.

    Args:
        curves: at most four curves.
        title: the accessible title.
        x_label: the label of the horizontal axis.
        y_label: the label of the vertical axis.
        ticks: places on the horizontal axis with their labels; by default round numbers.

    Example:
        >>> svg = plot_svg([Curve("square", [0.0, 1.0, 2.0], [0.0, 1.0, 4.0])], "A curve", "x", "y")
        >>> svg.startswith("<svg "), "A curve" in svg
        (True, True)
    """
    xs = [x for c in curves for x in c.x]
    low, high = (min(xs), max(xs)) if xs else (0.0, 1.0)
    bottom, top = _range([y for c in curves for y in c.y])

    def across(x: float) -> float:
        return _LEFT + (x - low) / ((high - low) or 1.0) * (_WIDTH - _LEFT - _RIGHT)

    def up(y: float) -> float:
        return _HEIGHT - _BOTTOM - (y - bottom) / (top - bottom) * (_HEIGHT - _TOP - _BOTTOM)

    parts = svg_head(_WIDTH, _HEIGHT, title, ", ".join(c.label for c in curves))
    for y in round_numbers(bottom, top):
        parts.append(axis_line(_LEFT, up(y), _WIDTH - _RIGHT, up(y)))
        parts.append(axis_text(f"{y:g}", _LEFT - 8, up(y) + 4, "end"))
    marks = [(x, f"{x:g}") for x in round_numbers(low, high)] if ticks is None else sorted(ticks)
    for (x, label), anchor in zip(marks, _anchors([(across(x), label) for x, label in marks]), strict=True):
        parts.append(axis_line(across(x), _HEIGHT - _BOTTOM, across(x), _HEIGHT - _BOTTOM + 5))
        parts.append(axis_text(label, across(x), _HEIGHT - _BOTTOM + 18, anchor))
    parts.append(axis_text(x_label, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM + 33, "end"))
    parts.append(axis_text(y_label, 8, 14, "start"))
    for k, curve in enumerate(curves):
        around, colour = len(curves) - 1 - k, _COLOURS[k % len(_COLOURS)]
        dashes = f' stroke-dasharray="{_DASHES[k % len(_DASHES)]}"' if k else ""
        line = f'fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'
        x, y = _LEFT + k * (_WIDTH - _LEFT - _RIGHT) / max(len(curves), 2), _HEIGHT - 14
        shown = [
            (across(a), up(b)) if math.isfinite(b) and bottom <= b <= top else None
            for a, b in zip(curve.x, curve.y, strict=True)
        ]
        if curve.points:
            parts += [_dot(*p, colour, around) for p in shown if p is not None]
            parts.append(_dot(x + 12, y - 4, colour, around))
        else:
            steps = _steps(shown)
            parts += [f'<path d="{steps}" {line}'] if steps else []
            parts.append(f'<path d="M{x:.1f} {y - 4:.1f} h24" {line}')
        parts.append(axis_text(curve.label, x + 30, y, "start", _INK))
    return "\n".join([*parts, "</svg>"]) + "\n"


def svg_head(width: float, height: float, title: str, description: str) -> list[str]:
    """Return the first lines of an SVG document, with its background."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f'<rect width="100%" height="100%" rx="10" fill="{_PAPER}"/>',
    ]


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the range to draw; values far beyond most others, such as those near a pole, are left out."""
    finite = np.array([v for v in values if math.isfinite(v)] or [0.0])
    spread = np.quantile(np.abs(finite), 0.8) * _STEEP or 1.0
    ordinary = finite[np.abs(finite) <= spread]
    low, high = float(ordinary.min()), float(ordinary.max())
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


def _anchors(marks: Sequence[tuple[float, str]]) -> list[str]:
    """Return the anchor of each label of an axis; two labels that would overlap are moved apart."""
    halves = [len(label) * _ADVANCE / 2 for _, label in marks]
    found = ["end" if x + half > _WIDTH else "middle" for (x, _), half in zip(marks, halves, strict=True)]
    for k in range(len(marks) - 1):
        if marks[k + 1][0] - marks[k][0] < halves[k] + halves[k + 1] + _ADVANCE:
            found[k : k + 2] = ["end", "start" if found[k + 1] == "middle" else found[k + 1]]
    return found


def round_numbers(low: float, high: float) -> list[float]:
    """Return a few round numbers between two numbers."""
    step = 10.0 ** math.floor(math.log10((high - low) / _TICKS)) if high > low else 1.0
    step *= next((m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= _TICKS), 10)
    return [round(k * step, 12) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def axis_line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a thin line."""
    return f'<path d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}" stroke="{_RULE}" fill="none"/>'


def axis_text(text: str, x: float, y: float, anchor: str, fill: str = _SOFT) -> str:
    """Return a text whose start, middle or end is at a place."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-family="{_SANS}" font-size="11" fill="{fill}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _dot(x: float, y: float, colour: str, around: int) -> str:
    """Return a dot; or a ring, if it may cover the dots of later curves, of which there are ``around``."""
    how = f'fill="none" stroke="{colour}" stroke-width="1.3"' if around else f'fill="{colour}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2.1 + 1.7 * around:.1f}" {how}/>'


def _steps(points: Sequence[tuple[float, float] | None]) -> str:
    """Return the path of a line through points; None in place of a point makes a gap."""
    return " ".join(
        f"{'M' if before is None else 'L'}{at[0]:.1f} {at[1]:.1f}"
        for before, at in zip([None, *points], points, strict=False)
        if at is not None
    )
