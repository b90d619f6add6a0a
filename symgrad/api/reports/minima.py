"""Results of minimisation and training as reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.ir.notation.short_value import short_value
from symgrad.printing.pictures.plot import Curve, plot_svg
from symgrad.report.blocks import Banner, Block, Column, Figure, Literal, Prose, Table, prose
from symgrad.report.report import Report

if TYPE_CHECKING:
    from symgrad.api.training.minimize import Minimum
    from symgrad.api.training.stationary_points import Established
    from symgrad.api.training.train import Training

_HEADS: Mapping[Established, str] = {
    "minimum": "found",
    "no lower value": "perhaps found",
    "stationary": "perhaps found",
    "saddle": "a saddle point",
    "maximum": "a maximum",
    "nothing": "not found",
}

_POINTS = 400
"""The most points in the curve of a training."""


def minimum_report(found: Minimum) -> Report:
    """Return the end of a search for a minimum as a report."""
    known = found.established == "minimum"
    blocks: tuple[Block, ...] = (
        Banner(_HEADS[found.established], "good" if known else "warn", prose(found.message)),
        _values(found.solution, "The loss there", found.value, ()),
    )
    return Report("A minimum" if known else "The end of a search for a minimum", blocks)


def training_report(done: Training) -> Report:
    """Return the end of training as a report, with the loss over the steps."""
    first, last = float(done.history[0]), done.value
    losses = f"{done.message}; loss {first:.6g} at first, {last:.6g} at last"
    blocks: list[Block] = [
        Banner(f"{done.method}, {done.steps:,} steps", "plain", prose(losses)),
        _values(done.solution, "The loss of the last step", last, done.frozen),
    ]
    if np.isfinite(done.history).any() and done.steps > 1:
        # Each point is the mean of several steps, because losses of minibatches scatter.
        parts = np.array_split(done.history, min(done.steps, _POINTS))
        ends = np.cumsum([len(p) for p in parts])
        curve = Curve("loss", [float(e) for e in ends], [float(np.mean(p)) for p in parts])
        title = "Loss over the steps"
        blocks.append(Figure(plot_svg([curve], title, "step", "loss"), title, losses))
    return Report("Training", tuple(blocks))


def _values(solution: Mapping[str, Any], last: str, value: float, frozen: Sequence[str]) -> Table:
    rows: list[tuple[Prose, ...]] = [
        (prose(Literal(name)), prose(short_value(v), " (frozen)" if name in frozen else ""))
        for name, v in solution.items()
    ]
    rows.append((prose(last), prose(f"{value:.6g}")))
    return Table("Where it ended", (Column("name"), Column("value")), tuple(rows))
