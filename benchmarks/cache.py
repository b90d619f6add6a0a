"""Kernels kept on disk: compiling in a process what other processes compiled before."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator
from unittest.mock import patch

from benchmarks.measure import Options, Row, python

__all__ = ["run"]

LIMIT_WARM_MS = 2.0

# All that is imported to read and differentiate is imported before, and what compiling alone needs.
_BUILT = """
import time
import symgrad as sg
import symgrad.api.kernels.compile
p = sg.parse("x : real\\ny : real\\nf = exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)")
outputs = [p["f"], *sg.grad(p["f"], ["x", "y"])]
"""
_COMPILE = """
start = time.perf_counter()
kernel = sg.compile(outputs)
done = time.perf_counter()
kernel(0.5, 0.25)
print(done - start, time.perf_counter() - done, int(kernel.quick))
"""
_PARTS = """
from symgrad.api.kernels import kept
from symgrad.llvm.engine.target import host
start = time.perf_counter()
kept._versions()
read = time.perf_counter()
host()
print(read - start, time.perf_counter() - read)
"""


def measured(code: str) -> list[float]:
    return [float(x) for x in python(["-c", code]).stdout.split()]


def run(options: Options) -> Iterator[Row]:
    repeats = options.repeats(21)
    cold: list[float] = []
    with patch.dict(os.environ, {"SYMGRAD_CACHE_KERNELS": "1"}):
        for k in range(options.repeats(5)):
            options.step(f"W2 in a process that finds nothing, {k + 1}")
            with tempfile.TemporaryDirectory() as folder:
                os.environ["SYMGRAD_CACHE"] = folder
                cold.append(measured(_BUILT + _COMPILE)[0])
        with tempfile.TemporaryDirectory() as folder:
            os.environ["SYMGRAD_CACHE"] = folder
            first, second = (measured(_BUILT + _COMPILE) for _ in range(2))
            assert first[2] == 1, "the first compiles quick code"
            assert second[2] == 0, "the second better code"
            options.step("W2 from disk")
            warm = [measured(_BUILT + _COMPILE) for _ in range(repeats)]
            parts = [measured(_BUILT + _PARTS) for _ in range(repeats)]
    yield Row("W2, from formulas to a kernel: nothing is on disk", statistics.median(cold) * 1e3, "ms")
    yield Row("W2, the second process, which compiles better code and keeps it", second[0] * 1e3, "ms")
    yield Row(
        "W2, from disk",
        statistics.median(w[0] for w in warm) * 1e3,
        "ms",
        limit=LIMIT_WARM_MS,
        note=f"its first call {statistics.median(w[1] for w in warm) * 1e3:.2g} ms",
    )
    states, target = (statistics.median(p[k] for p in parts) * 1e3 for k in (0, 1))
    yield Row("of that: what symgrad is, of a checkout the times of its files", states, "ms")
    yield Row("of that: setting LLVM up", target, "ms")
