"""Draw means with their standard deviations as SVG, one in each row, next to the true value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.printing.pictures.plot import axis_line, axis_text, round_numbers, svg_head

_INK, _TRUTH = "#1b1f24", "#d55e00"
_DOT = "#0072b2"
_WIDTH, _RIGHT, _TOP, _ROW, _FOOT = 640.0, 24.0, 34.0, 34.0, 40.0
_LETTER = 6.6  # width of a letter of a label
_WIDEST = 220.0
_MARGIN = 0.06  # free space beyond the outermost ends, as a fraction of the width


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean with its standard deviation.

    Args:
        label: the name of the quantity.
        mean: the mean.
        deviation: the standard deviation.
    """

    label: str
    mean: float
    deviation: float


def spreads_svg(rows: Sequence[Spread], truth: float, title: str, truth_label: str) -> str:
    """Return a standalone SVG document with means as dots, and bars of one standard deviation to both sides.

    Args:
        rows: the means, from top to bottom.
        truth: the true value, which is drawn as a dashed line.
        title: the accessible title.
        truth_label: the name of the true value.

    Example:
        >>> svg = spreads_svg([Spread("score", 2.0, 4.0), Spread("moved", 2.0, 1.5)], 2.0, "Two", "dE[f]/dmu")
        >>> svg.startswith("<svg "), svg.count("<circle "), "score: mean 2, standard deviation 4" in svg
        (True, 2, True)
    """
    left = min(_WIDEST, 24 + _LETTER * max(len(r.label) for r in rows))
    height = _TOP + _ROW * len(rows) + _FOOT
    ends = [truth, *(r.mean - r.deviation for r in rows), *(r.mean + r.deviation for r in rows)]
    margin = (max(ends) - min(ends)) * _MARGIN or abs(truth) * 0.1 or 1.0
    low, high = min(ends) - margin, max(ends) + margin

    def across(x: float) -> float:
        return left + (x - low) / (high - low) * (_WIDTH - left - _RIGHT)

    bottom = _TOP + _ROW * len(rows)
    texts = [f"{r.label}: mean {r.mean:.4g}, standard deviation {r.deviation:.4g}" for r in rows]
    parts = svg_head(_WIDTH, height, title, "; ".join([f"{truth_label} is {truth:.4g}", *texts]))
    for x in round_numbers(low, high):
        parts.append(axis_line(across(x), _TOP - 6, across(x), bottom))
        parts.append(axis_text(f"{x:g}", across(x), bottom + 16, "middle"))
    parts.append(
        f'<path d="M{across(truth):.1f} {_TOP - 8:.1f} V{bottom:.1f}" stroke="{_TRUTH}" stroke-width="2" '
        'stroke-dasharray="6 4" fill="none"/>'
    )
    parts.append(axis_text(truth_label, across(truth), _TOP - 14, _anchor(across(truth)), _INK))
    for k, row in enumerate(rows):
        y = _TOP + _ROW * (k + 0.5)
        first, last = across(row.mean - row.deviation), across(row.mean + row.deviation)
        parts.append(axis_text(_shortened(row.label), left - 12, y + 4, "end", _INK))
        parts.append(
            f'<path d="M{first:.1f} {y:.1f} H{last:.1f} M{first:.1f} {y - 5:.1f} v10 M{last:.1f} {y - 5:.1f} v10" '
            f'stroke="{_DOT}" stroke-width="2" fill="none"/>'
        )
        parts.append(f'<circle cx="{across(row.mean):.1f}" cy="{y:.1f}" r="4.5" fill="{_DOT}"/>')
    parts.append(
        axis_text("mean, and one standard deviation to both sides", _WIDTH - _RIGHT, height - 8, "end")
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _anchor(x: float) -> str:
    return "start" if x < _WIDTH * 0.3 else "end" if x > _WIDTH * 0.8 else "middle"


def _shortened(label: str) -> str:
    most = int((_WIDEST - 24) / _LETTER)
    return label if len(label) <= most else f"{label[: most - 1]}…"
