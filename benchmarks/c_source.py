"""Kernels as C source under `gcc -O3 -march=native`, beside the same kernels as machine code."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import symgrad as sg
from benchmarks.arrays import WORKLOADS, Workload, values
from benchmarks.measure import Options, Row, interleaved, per_point
from benchmarks.repetition import Program, no_repetition, pendulum
from benchmarks.scoreboard.pointwise import POINTWISE, Pointwise
from examples.pbe_correlation import CORRELATION, INPUTS

__all__ = ["run"]

OPTIONS = ("-std=c99", "-O3", "-march=native")
POINTS = 100_000


def workload(of: Pointwise) -> Program:
    """Return the inputs, and the value with its partials."""
    program = sg.parse(of.text)
    inputs = [program[name] for name in of.inputs]
    return inputs, [program.last, *sg.grad(program.last, [inputs[k] for k in of.wrt])]


def pbe() -> Program:
    program = sg.parse(CORRELATION)
    return list(program.inputs), [program["energy"], *sg.grad(program["energy"], list(INPUTS))]


PROGRAMS: Mapping[str, Callable[[], Program]] = {
    "W1, sqrt(x**2*u) and its partial": lambda: workload(POINTWISE["W1"]),
    "W2, four functions and both partials": lambda: workload(POINTWISE["W2"]),
    "PBE correlation energy and five partials": pbe,
}
LIMITS: Mapping[str, float] = {"W2, four functions and both partials": 1.3}
"""What C source may take, times the kernel."""

ARRAYS: Mapping[str, Workload] = {
    **WORKLOADS,
    "sum of x*sin(x), 1,000,000": replace(
        WORKLOADS["least squares, 10,000 x 100"],
        text="x : real[n]\nloss = sum(x*sin(x))",
        wrt=("x",),
        sizes={"n": 1_000_000},
    ),
}

LONG: Mapping[str, tuple[Callable[[int], Program], int, int]] = {
    "random graph of {} operations with gradient": (no_repetition, 3_000, 300),
    "pendulum, {} steps": (pendulum, 1_500, 150),
}


def built(kernel: sg.Kernel, folder: Path, *options: str) -> tuple[Any, float]:
    """Return the C functions of a kernel, and the seconds that its compiler took."""
    source, _ = kernel.save(folder / "k.c", name="k")
    library = folder / f"{len(list(folder.iterdir()))}.so"
    start = time.perf_counter()
    command = [str(shutil.which("gcc")), *options, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library)), time.perf_counter() - start


def of_arrays(name: str, workload: Workload, folder: Path, options: Options) -> Iterator[Row]:
    """Yield the rows of an array program, value and gradient."""
    program = sg.parse(workload.text)
    outputs = [program["loss"], *sg.grad(program["loss"], [program[n] for n in workload.wrt])]
    kernel: Any = sg.compile(outputs, program.inputs)
    functions, seconds = built(kernel, folder, *OPTIONS)
    arrays = values(workload, program)
    found = tuple(np.asarray(made) for made in kernel(*arrays))
    out = tuple(np.empty_like(made) for made in found)
    given, made = ([ctypes.c_void_p(a.ctypes.data) for a in some] for some in (arrays, out))
    sizes = [ctypes.c_int64(workload.sizes[size]) for size in kernel.sizes]
    works: dict[str, Callable[[], Any]] = {
        "C": partial(functions.k, *given, *sizes, *made),
        "kernel": partial(kernel, *arrays, out=found),
    }
    taken = interleaved(works, options.repeats(21), calls=options.repeats(5), warm=1)
    for a, b in zip(out, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    yield Row(name, taken["C"] * 1e6, "us", "kernel", taken["kernel"] * 1e6)
    yield Row(f"gcc -O3: {name}", seconds, "s")


def run(options: Options) -> Iterator[Row]:
    if shutil.which("gcc") is None:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        points = POINTS // 100 if options.quick else POINTS
        for what, build in PROGRAMS.items():
            options.step(what)
            inputs, outputs = build()
            kernel: Any = sg.compile(outputs, inputs, effort="high")
            functions, seconds = built(kernel, folder, *OPTIONS)
            # Both on the same arrays, which begin at different places of a page.
            count = len(inputs) + len(outputs)
            rows = np.random.default_rng(0).uniform(0.5, 1.5, (count, points + 24))[:, :points]
            given, out = list(rows[: len(inputs)]), tuple(rows[len(inputs) :])
            addresses = [ctypes.c_void_p(row.ctypes.data) for row in rows]
            length = ctypes.c_int64(points)
            arguments = [*addresses[: len(inputs)], length, *addresses[len(inputs) :]]
            works: dict[str, Callable[[], Any]] = {
                "C": partial(functions.k, *arguments),
                "kernel": partial(kernel, *given, out=out),
            }
            for work in works.values():
                work()
            found = per_point(works, points, options.repeats(21), 5)
            yield Row(what, found["C"], "ns/point", "kernel", found["kernel"], LIMITS.get(what))
            yield Row(f"gcc -O3: {what}", seconds, "s")
        for what, workload in ARRAYS.items():
            options.step(what)
            yield from of_arrays(what, workload, folder, options)
        for title, (build_long, size, quick) in LONG.items():
            what = title.format(f"{quick if options.quick else size:,}")
            options.step(what)
            inputs, outputs = build_long(quick if options.quick else size)
            kernel = sg.compile(outputs, inputs)
            writing = interleaved({"": lambda k=kernel: k.save(folder / "k.c")}, 1)[""]
            _, seconds = built(kernel, folder, "-std=c99", "-O1")
            lines = (folder / "k.c").read_text().count("\n")
            yield Row(f"gcc -O1: {what}", seconds, "s", note=f"{lines:,} lines, written in {writing:.1f} s")
