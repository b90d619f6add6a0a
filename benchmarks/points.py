"""Calls with numbers: what a solver or an optimiser pays for one point, beside peers and a function of `math`."""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import quad

import symgrad as sg
from benchmarks.measure import Options, Row, interleaved

__all__ = ["run"]

_FORMULA = "x : real; y : real\nf = exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)"
_CALLS = 20_000
_LIMITS = {"scalar": 0.6, "call": 1.6}
"""What calls may take, times one of CasADi's generated C."""


def run(options: Options) -> Iterator[Row]:
    calls = _CALLS // 100 if options.quick else _CALLS
    program = sg.parse(_FORMULA)
    outputs = [program["f"], *sg.grad(program["f"], ["x", "y"])]
    options.step("compile for one point")
    start = time.perf_counter()
    kernel: Any = sg.compile(outputs, inputs=["x", "y"])
    kernel.scalar(1.0, 2.0)
    yield Row(
        "two floats to three: a new kernel and its function of numbers", time.perf_counter() - start, "s"
    )
    kernel(1.0, 2.0)
    kernel(1.0, 2.0)
    while not options.quick and kernel._numbers_left:
        kernel(1.0, 2.0)  # until it has code for one point
    works: dict[str, Callable[[], object]] = {
        "math.hypot": partial(math.hypot, 1.0, 2.0),
        "scalar": partial(kernel.scalar, 1.0, 2.0),
        "call": partial(kernel, 1.0, 2.0),
    }
    with tempfile.TemporaryDirectory() as folder:
        if find_spec("numba"):
            works["Numba"] = partial(_numba(), 1.0, 2.0)
        if find_spec("casadi") and shutil.which("gcc"):
            works["CasADi, generated C"] = _casadi(Path(folder))
        options.step("calls with numbers")
        for work in works.values():
            work()
        found = interleaved(works, options.repeats(41), calls=calls, warm=1)
    for name in ("scalar", "call"):
        what = f"two floats to three, {'k.scalar(x, y)' if name == 'scalar' else 'k(x, y)'}"
        yield Row(what, found[name] * 1e6, "µs", "math.hypot(x, y)", found["math.hypot"] * 1e6)
        for peer in list(works)[3:]:
            limit = _LIMITS[name] if peer.startswith("CasADi") else None
            yield Row(what, found[name] * 1e6, "µs", peer, found[peer] * 1e6, limit)
    yield from _integrals(options)


def _integrals(options: Options) -> Iterator[Row]:
    """`quad` over a formula, with a callable of SciPy's own kind and with a function of Python's."""
    options.step("integrals")
    x, a = sg.symbols("x a")
    f = sg.compile(sg.exp(-a * x**2) * sg.cos(3 * x), inputs=[x, a])
    low, scalar = f.as_lowlevel(), f.scalar

    def by_hand(x: float, a: float) -> float:
        return math.exp(-a * x**2) * math.cos(3 * x)

    works: dict[str, Callable[[], object]] = {
        name: partial(quad, function, 0, 5, args=(0.7,))
        for name, function in (("low", low), ("scalar", scalar), ("hand", by_hand))
    }
    found = interleaved(works, options.repeats(21), calls=2 if options.quick else 100, warm=1)
    for name, what in (("low", "k.as_lowlevel()"), ("scalar", "k.scalar")):
        yield Row(
            f"quad of {what}", found[name] * 1e6, "µs", "a Python function of math", found["hand"] * 1e6
        )


def _numba() -> Callable[..., Any]:
    from numba import njit  # pyright: ignore[reportMissingImports]  (a peer that may be missing)

    def by_hand(x: float, y: float) -> tuple[float, float, float]:
        e, s, c = math.exp(-x * x / 2), math.sin(3 * y), math.cos(3 * y)
        q, t = x * x + y * y, math.tanh(x * y)
        m = math.log1p(q)
        return (
            e * s + m * t,
            -x * e * s + 2 * x / (1 + q) * t + m * (1 - t * t) * y,
            3 * e * c + 2 * y / (1 + q) * t + m * (1 - t * t) * x,
        )

    return njit(by_hand)


def _casadi(folder: Path) -> Callable[[], object]:
    """CasADi's own derivatives as C, called by its buffers, which is the quickest of its ways."""
    import casadi as ca  # pyright: ignore[reportMissingImports]  (a peer that may be missing)

    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.exp(-(x**2) / 2) * ca.sin(3 * y) + ca.log1p(x**2 + y**2) * ca.tanh(x * y)
    written = ca.Function("f", [x, y], [f, ca.gradient(f, x), ca.gradient(f, y)])
    # It writes to the folder that it runs in.
    source, library = folder / "f.c", folder / "f.so"
    generator = ca.CodeGenerator("f.c")
    generator.add(written)
    source.write_text(generator.dump())
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    numbers: list[Any] = [np.array(v) for v in (1.0, 2.0, 0.0, 0.0, 0.0)]
    function = ca.external("f", str(library))  # the buffers do not keep it
    buffer, evaluate = function.buffer()
    for k in range(2):
        buffer.set_arg(k, memoryview(numbers[k]))
    for k in range(3):
        buffer.set_res(k, memoryview(numbers[2 + k]))

    def call(*_: object) -> tuple[float, ...]:
        numbers[0][()], numbers[1][()] = 1.0, 2.0
        evaluate()
        return numbers[2].item(), numbers[3].item(), numbers[4].item()

    return partial(call, function, buffer)
