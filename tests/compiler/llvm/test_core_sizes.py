"""Computed sizes: the native function against `evaluate_size`."""

from __future__ import annotations

import ctypes
from itertools import product

import pytest

from symgrad.compiler.llvm.arrays.core_sizes import core_sizes_module
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.ir.shapes import slice_length
from symgrad.ir.sizes import Size, evaluate_size, size_max, size_min, size_product, size_sum

N, M = "n", "m"
COMPUTED: list[Size] = [
    size_sum([N, M]),
    size_sum([size_product([N, M]), size_product([2, N]), 7]),
    size_max(N, M),
    size_min(size_sum([N, 1]), M),
    slice_length(N, (1, None, 1)),
    slice_length(N, (None, None, 3)),
    slice_length(N, (None, None, -2)),
    slice_length(M, (-5, -1, 2)),
    slice_length(size_sum([N, M]), (2, None, 4)),
    0,
]


def settle(engine: Engine, sizes: list[int]) -> list[int]:
    core = (ctypes.c_int64 * len(sizes))(*sizes)
    # PYFUNCTYPE raises what the function set as Python's error.
    ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(engine.address("array.process"))(
        None, core
    )
    return list(core)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(core_sizes_module([N, 5, M, *COMPUTED], {0, 1, 2}))


def test_filled_in(engine):
    for n, m in product((0, 1, 2, 3, 4, 5, 6, 7, 30), repeat=2):
        expected = [n, 5, m, *(evaluate_size(size, {"n": n, "m": m}) for size in COMPUTED)]
        assert settle(engine, [n, 5, m, *[-1] * len(COMPUTED)]) == expected
        assert settle(engine, expected) == expected  # what is given is checked


def test_checked(engine):
    right = [4, 5, 3, *(evaluate_size(size, {"n": 4, "m": 3}) for size in COMPUTED)]
    for k in range(3, len(right)):
        for wrong in (right[k] + 1, 10**15):
            with pytest.raises(ValueError, match=r"the size that the other arrays imply: m \+ n, "):
                settle(engine, [*right[:k], wrong, *right[k + 1 :]])


def test_overflow_is_refused(engine):
    for n, m in ((2**62, 2**62), (2**40, 2**40), (2**63 - 1, 1)):
        with pytest.raises(ValueError, match="other arrays imply"):
            settle(engine, [n, 5, m, *[-1] * len(COMPUTED)])


def test_negative_is_refused():
    engine = Engine(core_sizes_module([N, size_sum([N, -2])], {0}))
    assert settle(engine, [3, -1]) == [3, 1]
    for n in (0, 1):  # -1 would mean that NumPy should choose
        with pytest.raises(ValueError, match="n - 2"):
            settle(engine, [n, -1])


def test_nothing_to_do():
    assert core_sizes_module([N, 5, M], {0, 2}) == ""


def test_a_size_of_results_alone():
    engine = Engine(core_sizes_module([size_product([2, N]), N], {0}))
    assert settle(engine, [6, -1]) == [6, 3]
    with pytest.raises(ValueError, match=r"2\*n, n"):
        settle(engine, [7, -1])
