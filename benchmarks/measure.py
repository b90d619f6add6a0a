"""How figures are taken: medians, peers interleaved in the same run, one row each."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ROOT", "Options", "Row", "per_point", "interleaved", "once", "python", "write_part"]

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"


def write_part(name: str, text: str, page: Path = PAGE) -> None:
    """Write a part of docs/benchmarks.md, between the lines that name it.

    Args:
        name: ``benchmarks`` or ``scoreboard``.
        text: the part.
        page: the file.
    """
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}{text.rstrip()}\n{end}{after}", encoding="utf-8", newline="\n")


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for.

    Attributes:
        quick: small sizes and few repeats, to see that everything runs.
        full: the slow peers too.
        step: called with a few words before each piece of work.
    """

    quick: bool = False
    full: bool = False
    step: Callable[[str], None] = field(default=lambda _: None)

    def repeats(self, usual: int) -> int:
        return 2 if self.quick else usual


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes:
        what: what was measured.
        value: the figure, in `unit`.
        unit: of the figure and of the peer.
        peer: what it is compared with, measured in the same run.
        peer_value: the peer's figure; the ratio is value / peer_value.
        limit: the largest ratio if there is a peer, else the largest value, that is within the aim.
        note: anything to know.
    """

    what: str
    value: float
    unit: str
    peer: str = ""
    peer_value: float | None = None
    limit: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The figure against its peer, or against its limit if there is no peer."""
        against = self.limit if self.peer_value is None else self.peer_value
        return self.value / against if against else None

    @property
    def holds(self) -> bool | None:
        """Whether the figure is within its limit; None without one."""
        if self.limit is None:
            return None
        return (self.value if self.peer_value is None else self.value / self.peer_value) <= self.limit


def once(work: Callable[[], object]) -> float:
    """Return the seconds of processor time one call takes; what it returns is let go of outside the clock.

    All that is measured in this process runs in one thread and waits for nothing, so on an idle machine this
    is the time on the clock; on a busy one it is closer to that than the clock.
    """
    gc.collect()
    return _seconds(work, 1, time.process_time)


def _seconds(work: Callable[[], object], calls: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(calls - 1):
        work()
    result = work()
    seconds = clock() - start
    del result
    return seconds / calls


def interleaved(
    works: Mapping[str, Callable[[], object]],
    repeats: int,
    *,
    calls: int = 1,
    warm: int = 0,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Return the median seconds of a call of each, taken in turns so that a busy machine slows all alike.

    Args:
        works: what is compared.
        repeats: how many samples are taken of each.
        calls: a sample is the mean of so many.
        warm: rounds before that do not count.
        clock: of the process, or of the wall where work is done in other threads.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    for k in range(-warm, repeats):
        gc.collect()
        for name, work in works.items():
            seconds = _seconds(work, calls, clock)
            if k >= 0:
                taken[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def per_point(
    works: Mapping[str, Callable[[], object]], points: int, repeats: int, calls: int
) -> dict[str, float]:
    """Return the median nanoseconds a point of each; every sample is the mean of several calls."""
    seconds = interleaved(works, repeats, calls=calls, warm=1)
    return {name: s / points * 1e9 for name, s in seconds.items()}


def python(arguments: Sequence[str], timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run a fresh Python from the root of the tree, which keeps compiled modules as a user's does."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.setdefault("SYMGRAD_CACHE_KERNELS", "0")  # what is measured is compiled, and not found
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
        env=environment,
    )
