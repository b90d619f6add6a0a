"""Results that go past the caches: large ones of kernels that compute little. The values are those of small calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.llvm.elementwise.loop import _STREAMED

X, U = sg.symbols("x u")
COUNT = _STREAMED // 16 + 12_345
OUTPUTS = [X * U + 1, X - U]


def expected(x: Any, u: Any) -> list[Any]:
    return [x * u + 1, x - u]


def shifted(count: int, by: int) -> Any:
    """Return an array that begins so many bytes behind a cache line."""
    memory = np.empty(8 * count + 128, np.uint8)
    start = -memory.ctypes.data % 64 + by
    return memory[start : start + 8 * count].view(np.float64)


@pytest.mark.parametrize("count", [COUNT, COUNT + 1, _STREAMED // 16 + 16])
@pytest.mark.parametrize("by", [0, 8, 40, 3])
def test_values_whatever_the_alignment(count: int, by: int) -> None:
    kernel = sg.compile(OUTPUTS, [X, U])
    x, u = np.random.default_rng(1).normal(size=(2, count))
    outs = shifted(count, by), shifted(count, 16)
    guard = np.full(count + 20, 7.0)
    for kernel_outs in (outs, (guard[10:-10], outs[1])):
        kernel(x, u, out=kernel_outs)
        for found, value in zip(kernel_outs, expected(x, u), strict=True):
            np.testing.assert_array_equal(found, value)
    assert (guard[:10] == 7).all()
    assert (guard[-10:] == 7).all()


def test_numbers_and_outputs_that_are_inputs() -> None:
    kernel = sg.compile(OUTPUTS, [X, U])
    x = np.random.default_rng(2).normal(size=COUNT)
    for found, value in zip(kernel(x, 3.0), expected(x, 3.0), strict=True):
        np.testing.assert_array_equal(found, value)
    y, z = x.copy(), np.empty(COUNT)
    kernel(y, 3.0, out=(y, z))
    np.testing.assert_array_equal(y, x * 3 + 1)
    np.testing.assert_array_equal(z, x - 3)


def test_truth_values_and_single_precision() -> None:
    count = _STREAMED // 9 + 77
    kernel = sg.compile([X < U, X * U, X + U], [X, U], dtype="float32")
    x, u = np.random.default_rng(3).normal(size=(2, count)).astype(np.float32)
    for found, value in zip(kernel(x, u), [x < u, x * u, x + u], strict=True):
        np.testing.assert_array_equal(found, value, strict=True)


def test_which_kernels_stream() -> None:
    assert "define internal void @ufunc.stream" in sg.compile(OUTPUTS, [X, U]).llvm_ir
    assert "@ufunc.stream" not in sg.compile([sg.tanh(sg.sin(X) * sg.exp(U))], [X, U]).llvm_ir
