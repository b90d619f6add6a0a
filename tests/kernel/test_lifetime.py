"""Machine code lives exactly as long as someone can call it."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from symgrad.ir.graph import number
from symgrad.kernel.compile import compile_nodes
from symgrad.llvm.jit import live_engines
from tests.kernel.formulas import op, u, x


def test_the_ufunc_alone_keeps_the_code():
    gc.collect()
    before = live_engines()
    kernel = compile_nodes([op("add", op("sin", x), number(12345))], [x], name="kept")
    assert live_engines() == before + 1
    gone = weakref.ref(kernel)
    ufunc = kernel.ufunc
    del kernel
    gc.collect()
    assert gone() is None
    assert live_engines() == before + 1
    # Names and types too are still there.
    junk = [bytes(64) for _ in range(1000)]
    assert ufunc(np.zeros(100)).tolist() == [12345.0] * 100
    assert (ufunc.__name__, ufunc.types, len(junk)) == ("kept", ["d->d"], 1000)
    del ufunc
    gc.collect()
    assert live_engines() == before


def test_a_plain_kernel_frees_its_code():
    gc.collect()
    before = live_engines()
    kernel = compile_nodes([number(3)])
    assert live_engines() == before + 1
    del kernel
    gc.collect()
    assert live_engines() == before


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the resident size from /proc")
def test_two_hundred_kernels_leave_nothing():
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def compile_some(count: int, start: int) -> None:
        for i in range(start, start + count):
            kernel = compile_nodes([op("add", op("mul", x, u), number(i))], [x, u])
            assert kernel(2.0, 3.0) == 6 + i

    compile_some(50, 0)
    gc.collect()
    engines, size = live_engines(), resident()
    compile_some(200, 1000)
    gc.collect()
    assert live_engines() == engines
    assert resident() - size < 8 << 20, "a kernel's code is about 40 KiB"
