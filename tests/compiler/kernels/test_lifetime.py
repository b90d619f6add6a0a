"""Machine code lives exactly as long as someone can call it."""

from __future__ import annotations

import ctypes
import gc
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.ir.graph import number
from tests.compiler.kernels.engines import live_engines
from tests.compiler.kernels.formulas import op, u, x
from tests.compiler.kernels.programs import PROGRAMS, mean, op_with, y


@pytest.fixture(scope="module", autouse=True)
def shared() -> None:
    """What kernels share (the loop, the sine) is compiled with the first one, and with its second call, and stays."""
    kernel = compile_nodes([op("sin", x)])
    for _ in range(2):
        kernel(np.ones(2))
    compile_nodes([mean(y)])([1.0])


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
    assert live_engines() == before + 2  # better code, and the quick code, in which a thread may be
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


def test_an_array_kernel_frees_its_code():
    gc.collect()
    before = live_engines()
    joined = next(p for p in PROGRAMS if p.name == "joined")
    kernel = compile_nodes(joined.outputs, joined.inputs)
    ufunc = kernel.ufunc
    del kernel
    gc.collect()
    assert live_engines() > before
    assert ufunc(np.arange(3.0), np.arange(2.0))[0].tolist() == [0, 1, 2, 0, 1]
    del ufunc
    gc.collect()
    assert live_engines() == before


@pytest.mark.parametrize("calls", range(4))
@pytest.mark.parametrize(
    "outputs",
    [
        [op("mul", x, u)],
        [op("add", x, number(k)) for k in range(80)],
        [mean(y)],
        [mean(op("add", y, number(k))) for k in range(80)],
    ],
    ids=["ufunc", "no ufunc", "arrays", "arrays without a ufunc"],
)
def test_code_goes_with_the_last_reference(outputs, calls):
    """The collector of cycles, which comes when it likes, has nothing to do: a loop of kernels has one at a time."""

    def called() -> Any:
        kernel = compile_nodes(outputs)
        for _ in range(calls):
            kernel(*[np.ones(5)] * len(kernel.inputs))
        return kernel

    called()  # and what it shares with others stays
    gc.collect()
    gc.disable()
    try:
        before = live_engines()
        kernel = called()
        assert live_engines() > before
        del kernel
        assert live_engines() == before
    finally:
        gc.enable()


def resident() -> int:
    """Return how many bytes of the process are in memory, what was freed and kept by the C library for others aside."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc: a freed block may lie between others
    if trim is not None:
        trim(ctypes.c_size_t(0))
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _check_memory_of_an_array_kernel() -> None:
    kernel = compile_nodes([mean(y), op_with("max", ((0,),), y)], [y])
    wide = np.ones((4 << 20, 2))  # a column is copied: 32 MiB
    assert kernel(wide[:, 0])[0] == 1
    gc.collect()
    kept = resident()
    with ThreadPoolExecutor(4) as pool:
        assert all(found[0] == 1 for found in pool.map(kernel, [wide[:, k % 2] for k in range(20)]))
    assert abs(resident() - kept) < 8 << 20, "one block is kept, whatever threads found it taken"
    del kernel
    gc.collect()
    assert resident() < kept - (24 << 20)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the resident size from /proc")
def test_an_array_kernel_keeps_its_memory_and_frees_it():
    # In a process of its own: this one may have a gigabyte of other tests, in which the system takes pages back, too.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        fresh.submit(_check_memory_of_an_array_kernel).result(timeout=120)


def test_kernels_in_cycles_free_their_code():
    class Owner:
        pass

    gc.collect()
    before = live_engines()
    for k in range(3):
        owner: Any = Owner()
        owner.kernel = compile_nodes([op("add", op("mul", x, u), number(k))], [x, u])
        owner.results = [owner.kernel(np.ones(3), np.ones(3)) for _ in range(2)]
        owner.itself = owner
    del owner
    gc.collect()
    assert live_engines() == before


def test_results_and_ufuncs_outlive_their_kernel():
    gc.collect()
    before = live_engines()
    kernel = compile_nodes([op("add", op("mul", x, u), number(7))], [x, u])
    ones = np.ones(30_000)  # so large that the memory of results is used again
    for _ in range(4):
        result = kernel(ones, ones)
    part, ufunc = result[10:20], kernel.ufunc
    del kernel, result
    gc.collect()
    assert part.tolist() == [8.0] * 10
    assert ufunc(ones, 2 * ones)[0] == 9
    assert part.tolist() == [8.0] * 10
    del ufunc
    gc.collect()
    assert live_engines() == before


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the resident size from /proc")
def test_two_hundred_kernels_leave_nothing():
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
