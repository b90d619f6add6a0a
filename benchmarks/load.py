"""Kernels that were saved, loaded by a process that has nothing of the formulas."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import symgrad as sg
from benchmarks.measure import Options, Row, python
from examples.pbe_correlation import CORRELATION, INPUTS

__all__ = ["run"]

LIMIT_IMPORT = 1.3
LIMIT_LOAD_MS = 5.0

# Each process times its own peer: what two processes take for the same differs by more than what is measured.
_IMPORT = """
import time
t = [time.perf_counter()]
import numpy, llvmlite.binding; t.append(time.perf_counter())
import symgrad.runtime; t.append(time.perf_counter())
print(t[1] - t[0], t[2] - t[0])
"""
_LOAD = """
import time
import symgrad.runtime
start = time.thread_time()
kernel = symgrad.runtime.load({path!r})
loaded = time.thread_time()
kernel(0.3, 0.1, 0.2, 0.05, 0.1)
print(loaded - start, time.thread_time() - loaded)
"""


def timed(code: str, repeats: int) -> list[list[float]]:
    """Return what several processes print, by columns; the first, which fills the disk's cache, is not counted."""
    found = [[float(x) for x in python(["-c", code]).stdout.split()] for _ in range(repeats + 1)]
    return [list(column) for column in zip(*found[1:], strict=True)]


def run(options: Options) -> Iterator[Row]:
    repeats = options.repeats(21)
    options.step("importing")
    peer, whole = timed(_IMPORT, repeats)
    yield Row(
        "import numpy, llvmlite.binding and symgrad.runtime",
        statistics.median(whole) * 1e3,
        "ms",
        "import numpy, llvmlite.binding",
        statistics.median(peer) * 1e3,
        LIMIT_IMPORT,
    )
    options.step("loading")
    p = sg.parse(CORRELATION)
    energy = p["energy"]
    kernel = sg.compile([energy, *sg.grad(energy, list(INPUTS))], inputs=list(INPUTS), name="pbe")
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".o", ".so"):
            path = kernel.save(Path(folder) / f"pbe{suffix}")[0]
            load, call = timed(_LOAD.format(path=str(path)), repeats)
            yield Row(
                f"load pbe{suffix}, the first of a process",
                statistics.median(load) * 1e3,
                "ms",
                limit=LIMIT_LOAD_MS if suffix == ".o" else None,
                note=f"its first call {statistics.median(call) * 1e6:.0f} us",
            )
