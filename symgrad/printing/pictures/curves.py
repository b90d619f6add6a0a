"""Draw curves of several estimators in one figure with matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from symgrad.support.errors import UsageError

_STYLES = ("-", "--", "-.", ":")
_ZERO = 1e-12  # a smaller bias is drawn as zero


def estimators_svg(
    along: str, grid: Any, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]
) -> str:
    """Return the bias and the standard deviation of estimators along an input, as SVG.

    Args:
        along: the name of the input.
        grid: the values of this input.
        curves: for each estimator the size of its bias and its standard deviation at these values.

    Raises:
        UsageError: if matplotlib is not installed.
    """
    try:
        import_module("matplotlib.figure")
        library: Any = import_module("matplotlib")
    except ImportError:
        raise UsageError(
            "pictures of curves are drawn by matplotlib, which is not installed",
            cure="install symgrad[plot]; print(comparison) needs nothing",
        ) from None
    text = io.StringIO()
    # The bytes are deterministic, and text stays text.
    with library.rc_context({"svg.hashsalt": "symgrad", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = library.figure.Figure(figsize=(8, 3.4), layout="constrained")
        axes = figure.subplots(1, 2, sharex=True)
        for k, (name, (bias, spread)) in enumerate(curves.items()):
            for axis, values in zip(axes, (spread, bias), strict=True):
                axis.plot(grid, values, _STYLES[k % len(_STYLES)], label=name, linewidth=1.8)
        for axis, title in zip(axes, ("standard deviation", "size of the bias"), strict=True):
            axis.set_xlabel(along)
            axis.set_title(title, fontsize=10)
            axis.grid(alpha=0.25)
            axis.set_ylim(bottom=0, top=None if axis.dataLim.y1 > _ZERO else 1)
        figure.legend(
            *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
        )
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
