"""Kernels kept on disk: compiling in a process what other processes compiled before."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from benchmarks.measure import ROOT, Options, Row, python

__all__ = ["run"]

LIMIT_WARM_MS = 2.0

# All that is imported to read and differentiate is imported before, and what compiling alone needs. Processor time: a
# process that waits for its turn says nothing of what is kept.
_W2 = "x : real; y : real\nf = exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)"
_NETWORK = (
    "X : real[b, 100]; A : real[100, 64]; B : real[64, 10]; y : real[b, 10]\nf = mean((tanh(X@A)@B - y)**2)"
)
_BUILT = """
import sys, time
sys.path[:0] = {path!r}
import symgrad as sg
import symgrad.api.kernels.compile
p = sg.parse({text!r})
outputs = [p["f"], *sg.grad(p["f"], {wrt!r})]
"""
_COMPILE = """
start = time.thread_time()
kernel = sg.compile(outputs)
done = time.thread_time()
if {call}:
    kernel(0.5, 0.25)
print(done - start, time.thread_time() - done, int(kernel.quick))
"""
_PARTS = """
from symgrad.api.kernels import disk_cache
start = time.thread_time()
disk_cache._versions()
print(time.thread_time() - start)
"""
_LLVM = """
import sys, time
sys.path[:0] = {path!r}
import symgrad.compiler.llvm.engine.binding
start = time.thread_time()
import symgrad.compiler.llvm.engine.target
print(time.thread_time() - start)
"""


def measured(text: str, wrt: str, code: str = _COMPILE, *, path: Sequence[str] = ()) -> list[float]:
    built = _BUILT.format(path=[*path], text=text, wrt=wrt.split(","))
    return [float(x) for x in python(["-c", built + code.format(call=text == _W2)]).stdout.split()]


def run(options: Options) -> Iterator[Row]:
    repeats = options.repeats(21)
    with (
        patch.dict(os.environ, {"SYMGRAD_CACHE_KERNELS": "1"}),
        tempfile.TemporaryDirectory() as site,
    ):
        # As it is installed: of a checkout the times of all files are looked at.
        shutil.copytree(
            ROOT / "symgrad", Path(site) / "symgrad", ignore=shutil.ignore_patterns("__pycache__")
        )
        python(["-m", "compileall", "-q", site])
        cold: list[float] = []
        for k in range(options.repeats(5)):
            options.step(f"W2 in a process that finds nothing, {k + 1}")
            with tempfile.TemporaryDirectory() as folder:
                os.environ["SYMGRAD_CACHE"] = folder
                cold.append(measured(_W2, "x,y", path=[site])[0])
        with tempfile.TemporaryDirectory() as folder:
            os.environ["SYMGRAD_CACHE"] = folder
            first, second = (measured(_W2, "x,y", path=[site]) for _ in range(2))
            assert first[2] == 1, "the first compiles quick code"
            assert second[2] == 0, "the second better code"
            options.step("W2 from disk")
            warm = [measured(_W2, "x,y", path=[site]) for _ in range(repeats)]
            parts = [measured(_W2, "x,y", _PARTS, path=[site]) for _ in range(repeats)]
            target = [float(python(["-c", _LLVM.format(path=[site])]).stdout) for _ in range(repeats)]
            options.step("a network from disk")
            network = [measured(_NETWORK, "A,B", path=[site])[0] for _ in range(1 + repeats)]
            for _ in range(2):
                measured(_W2, "x,y")
            checkout = [measured(_W2, "x,y")[0] for _ in range(repeats)]
    yield Row("W2, from formulas to a kernel: nothing is on disk", statistics.median(cold) * 1e3, "ms")
    yield Row("W2, the second process, which compiles better code and keeps it", second[0] * 1e3, "ms")
    yield Row(
        "W2, from disk",
        statistics.median(w[0] for w in warm) * 1e3,
        "ms",
        limit=LIMIT_WARM_MS,
        note=f"its first call {statistics.median(w[1] for w in warm) * 1e3:.2g} ms",
    )
    yield Row("of that: which versions there are", statistics.median(p[0] for p in parts) * 1e3, "ms")
    yield Row("not in that: setting LLVM up, once with the import", statistics.median(target) * 1e3, "ms")
    yield Row("W2, from disk, where symgrad is a checkout", statistics.median(checkout) * 1e3, "ms")
    yield Row("a 2-layer network with gradients: nothing is on disk", network[0] * 1e3, "ms")
    yield Row("a 2-layer network with gradients, from disk", statistics.median(network[1:]) * 1e3, "ms")
