"""What symgrad aims at on the scoreboard, and whether a board reaches it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from benchmarks.scoreboard.board import Board, Result, ratios
from benchmarks.scoreboard.first import BASELINE
from benchmarks.scoreboard.peers import OURS, PEERS, QUICK, SYMGRAD

__all__ = ["COMPARED", "Finding", "findings"]

Figure: TypeAlias = "Callable[[Board], tuple[float, str] | None]"


@dataclass(frozen=True, slots=True)
class Finding:
    """An aim and what was found.

    Attributes:
        aim: in words.
        limit: the largest figure that reaches it.
        figure: what was measured.
        against: the peer it is a ratio to, or the unit.
    """

    aim: str
    limit: float
    figure: float
    against: str

    @property
    def holds(self) -> bool:
        return self.figure <= self.limit


def _result(board: Board, workload: str, points: int) -> Result | None:
    return next((r for r in board.results if (r.workload, r.points) == (workload, points)), None)


def ratio(workload: str, points: int, peers: Sequence[str], board: Board) -> tuple[float, str] | None:
    """Return symgrad / peer, the largest: of some peers or of all, with results in new arrays or in given ones."""
    result = _result(board, workload, points)
    if result is None or SYMGRAD not in result.fresh:
        return None
    among = [p for p in peers or PEERS if p in result.fresh and p not in OURS and (peers or p != "copy")]
    if not among:
        return None
    largest, peer = max((result.largest_ratio(p), p) for p in among)
    return largest, PEERS[peer].title


def compiling(workload: str, board: Board, parts: Sequence[str]) -> tuple[float, str] | None:
    """Return the median seconds that parts of compiling quick code take."""
    found = board.phases.get(workload, {}).get(QUICK, {})
    if not all(found.get(p) for p in parts):
        return None
    return sum(statistics.median(found[p]) for p in parts), "s"


def first_result(board: Board) -> tuple[float, str] | None:
    """Return the processor time until the first result of a fresh process, by that of the imports it needs."""
    if not {SYMGRAD, BASELINE} <= set(board.first.processor):
        return None
    return ratios(board.first.processor, BASELINE)[1], BASELINE


def point(workload: str, points: int, board: Board) -> tuple[float, str] | None:
    """Return microseconds a point, with new arrays or given ones: the slower."""
    result = _result(board, workload, points)
    if result is None or SYMGRAD not in result.fresh:
        return None
    return result.slowest(SYMGRAD) / points * 1e6, "us/point"


def inaccuracy(board: Board) -> tuple[float, str] | None:
    """Return the largest ratio of a worst error to that of the most accurate peer; below half an ulp all are one."""
    found: list[tuple[float, str]] = []
    for r in board.results:
        peers = [e.worst for p, e in r.errors.items() if p not in OURS and not e.missing]
        if SYMGRAD in r.errors and peers:
            best = max(min(peers), 0.5)
            found.append((max(r.errors[SYMGRAD].worst, 0.5) / best, f"{r.workload}, {r.points:,} points"))
    return max(found) if found else None


COMPILE, DERIVE_AND_COMPILE = ("compile",), ("derive", "compile")
AIMS: Sequence[tuple[str, float, Figure]] = (
    ("W1 at 100,000 points: no slower than any peer", 1.0, partial(ratio, "W1", 100_000, ())),
    (
        "W1 at 10,000,000 points: at most 1/0.9 of the time of copying",
        1 / 0.9,
        partial(ratio, "W1", 10_000_000, ("copy",)),
    ),
    ("W2 at 100,000 points", 0.35, partial(ratio, "W2", 100_000, ("numba-svml",))),
    ("W5 at 1,000 points", 0.5, partial(ratio, "W5", 1_000, ("heyoka-fast",))),
    ("W5 at 100,000 points", 0.5, partial(ratio, "W5", 100_000, ("heyoka-fast",))),
    ("W4 at 1,000 points", 0.6, partial(ratio, "W4", 1_000, ("heyoka-fast",))),
    ("PBE to order 3 at 1,000 points", 0.07, partial(ratio, "PBE-3", 1_000, ("libxc",))),
    ("PBE to order 3 at 100,000 points", 0.15, partial(ratio, "PBE-3", 100_000, ("libxc",))),
    ("GMM", 1 / 3, partial(ratio, "GMM", 1, ("jax",))),
    (
        "MLP: no slower than NumPy, jax and PyTorch",
        1.0,
        partial(ratio, "MLP", 1, ("numpy", "jax", "torch", "torch-compile")),
    ),
    ("the first result of a fresh process (W2)", 2.5, first_result),
    ("worst error: at most twice that of the most accurate peer", 2.0, inaccuracy),
    ("W2: quick code compiled", 0.015, partial(compiling, "W2", parts=COMPILE)),
    ("W5: quick code compiled", 0.040, partial(compiling, "W5", parts=COMPILE)),
    ("W4: derived, quick code compiled", 0.4, partial(compiling, "W4", parts=DERIVE_AND_COMPILE)),
    (
        "PBE to order 3: derived, quick code compiled",
        1.0,
        partial(compiling, "PBE-3", parts=DERIVE_AND_COMPILE),
    ),
    (
        "PBE to order 4: derived, quick code compiled",
        4.0,
        partial(compiling, "PBE-4", parts=DERIVE_AND_COMPILE),
    ),
    (
        "graph of 10,000: derived, quick code compiled",
        3.0,
        partial(compiling, "W4-10k", parts=DERIVE_AND_COMPILE),
    ),
    ("graph of 10,000: a point", 28.0, partial(point, "W4-10k", 1_000)),
    (
        "graph of 100,000: derived, quick code compiled",
        40.0,
        partial(compiling, "W4-100k", parts=DERIVE_AND_COMPILE),
    ),
)
# The workloads on which symgrad is compared with peers.
COMPARED = frozenset(f.args[0] for _, _, f in AIMS if isinstance(f, partial) and f.func is ratio)


def findings(board: Board) -> Iterator[Finding]:
    """Yield the aims that a board of one number of threads has figures for."""
    for words, limit, figure in AIMS:
        found = figure(board)
        if found is not None:
            yield Finding(words, limit, *found)
