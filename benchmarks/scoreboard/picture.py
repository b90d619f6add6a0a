"""A board as a picture: workloads down, peers across, symgrad's time divided by the peer's in each cell."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.scoreboard.board import Board, ratios
from benchmarks.scoreboard.peers import OURS, PEERS, SYMGRAD
from benchmarks.scoreboard.programs import Program
from benchmarks.scoreboard.workloads import WORKLOADS

__all__ = ["draw"]

# Ratios beyond these have the strongest colour.
FARTHEST = 30.0


def draw(board: Board, path: Path) -> None:
    """Write the picture as SVG. It needs Matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "symgrad"  # the same board gives the same file
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    results = [r for r in board.of(1).results if SYMGRAD in r.fresh]
    peers = [p for p in PEERS if p not in (*OURS, "copy") and any(p in r.fresh for r in results)]
    figure, axes = plt.subplots(figsize=(2.6 + 0.72 * len(peers), 1.7 + 0.36 * len(results)))
    colours: Any = plt.get_cmap("RdBu_r")
    for row, result in enumerate(results):
        for column, peer in enumerate(peers):
            if peer not in result.fresh:
                axes.text(column, row, "–", ha="center", va="center", color="0.7")
                continue
            ratio = ratios(result.fresh, peer)[1]
            place = 0.5 + 0.5 * max(-1.0, min(1.0, math.log(ratio) / math.log(FARTHEST)))
            axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, color=colours(place), lw=0))
            strong = abs(place - 0.5) > 0.25
            axes.text(
                column,
                row,
                _short(ratio),
                ha="center",
                va="center",
                fontsize=9,
                color="white" if strong else "0.1",
            )
    axes.set_xlim(-0.5, len(peers) - 0.5)
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.set_xticks(
        range(len(peers)), [PEERS[p].title for p in peers], rotation=40, ha="left", rotation_mode="anchor"
    )
    axes.set_yticks(range(len(results)), [_label(r.workload, r.points) for r in results])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xlabel(
        "symgrad's time divided by the peer's, results in new arrays: blue, below 1, symgrad is faster; "
        "– no figure, see the tables"
    )
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _label(workload: str, points: int) -> str:
    if isinstance(WORKLOADS[workload], Program):
        return workload
    exponent = round(math.log10(points))
    return f"{workload}, $10^{{{exponent}}}$ points"


def _short(ratio: float) -> str:
    """Two digits, and no more than fit a cell."""
    if ratio >= 9.95:
        return f"{ratio:.0f}"
    if ratio >= 0.995:
        return f"{ratio:.1f}"
    text = f"{ratio:.2f}" if ratio >= 0.0095 else f"{ratio:.3f}" if ratio >= 0.00095 else f"{ratio:.0e}"
    return text.lstrip("0") if text.startswith("0.") else text.replace("e-0", "e-")
