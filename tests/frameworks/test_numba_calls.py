"""Kernels called by loops that Numba compiles: with the bits that they have in Python."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg

numba: Any = import_module("numba")

ROOT = Path(__file__).parents[2]


def test_the_example(tmp_path: Path) -> None:
    path = ROOT / "examples" / "orbit_in_numba.py"
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "after a million steps" in done.stdout


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_loop_has_the_bits_of_the_kernel(dtype: str) -> None:
    x, y = sg.symbols("x y")
    f = sg.exp(-(x**2)) * sg.sin(3 * y)
    kernel = sg.compile([f, *sg.grad(f, [x, y])], inputs=[x, y], dtype=dtype)
    point = kernel.as_ctypes()

    @numba.njit
    def loop(xs: Any, ys: Any, out: Any) -> None:
        for k in range(len(xs)):
            point(xs[k], ys[k], out[k, 0:1].ctypes, out[k, 1:2].ctypes, out[k, 2:3].ctypes)

    xs, ys = np.random.default_rng(0).normal(size=(2, 101)).astype(dtype)
    out = np.empty((101, 3), dtype)
    loop(xs, ys, out)
    np.testing.assert_array_equal(out.T, kernel(xs, ys))


def test_an_integrand_of_numba_is_compiled_beside_kernels() -> None:
    """Both have LLVM of one llvmlite, in one process."""
    x = sg.symbols("x")
    kernel = sg.compile(sg.sin(x), inputs=[x], effort="high")

    @numba.cfunc("float64(float64)")
    def double(v: float) -> float:
        return 2 * v

    again = sg.compile(sg.cos(x), inputs=[x], effort="high")
    assert (double.ctypes(1.5), float(kernel(0.0)), float(again(0.0))) == (3.0, 0.0, 1.0)
