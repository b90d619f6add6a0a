"""A kernel is a NumPy ufunc: dtype, layout, length, out=, where= against NumPy itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.kernels.kernel import Kernel
from tests.compiler.kernels.formulas import EXACT, as_tuple, flag, op, same_bits, sub, u, v, x

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -2e-308, 1e-45, 1e308, 3e38, -2.5, 0.1]


@pytest.fixture(scope="module", params=["float64", "float32"])
def dtype(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module", params=EXACT, ids=[case[0] for case in EXACT])
def case(request: pytest.FixtureRequest, dtype: str):
    name, nodes, reference = request.param
    return compile_nodes(nodes, [x, u], dtype=dtype, name=name.replace(" ", "_")), reference


def values(n: int, dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        pool = np.concatenate([SPECIAL, rng.normal(size=40), np.exp(rng.normal(size=20) * 30)]).astype(dtype)
    return rng.choice(pool, size=n)


def agree(kernel: Kernel, reference, a: np.ndarray, b: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        expected = as_tuple(reference(a, b))
    found = as_tuple(kernel(a, b))
    assert len(found) == len(expected)
    for f, e in zip(found, expected, strict=True):
        assert same_bits(f, e), (f, e)


def width(dtype: str) -> int:
    from symgrad.compiler.llvm.engine.target import host

    return host().target.vector_bytes // np.dtype(dtype).itemsize


def test_every_length(case, dtype):
    kernel, reference = case
    for n in [*range(3 * width(dtype) + 2), 1000]:
        agree(kernel, reference, values(n, dtype, 1), values(n, dtype, 2))


def test_every_stride(case, dtype):
    kernel, reference = case
    a, b = values(700, dtype, 3), values(700, dtype, 4)
    for step in (-1, 2, -3, 7):
        agree(kernel, reference, a[::step], b[::step])
        agree(kernel, reference, a[::step], b[: len(a[::step])])
        agree(kernel, reference, a[: len(b[::step])], b[::step])
    grid = values(24 * 30, dtype, 5).reshape(24, 30)
    agree(kernel, reference, grid.T, np.asfortranarray(grid.T))
    agree(kernel, reference, grid[:, 3], grid[:, 4])


def test_broadcasting(case, dtype):
    kernel, reference = case
    a, b = values(50, dtype, 6), values(20, dtype, 7)
    agree(kernel, reference, a[:, None], b)
    agree(kernel, reference, a, b[:1])
    agree(kernel, reference, a[:1], b)
    agree(kernel, reference, np.broadcast_to(a[:1], (40,)), b[:1])
    agree(kernel, reference, a[:0], b[:1])
    agree(kernel, reference, a[:0].reshape(0, 1), b[None, :])


def test_unaligned_and_swapped_bytes(case, dtype):
    kernel, reference = case
    raw = np.zeros(50 * np.dtype(dtype).itemsize + 1, np.uint8)
    unaligned = raw[1:].view(dtype)
    unaligned[:] = values(50, dtype, 8)
    assert not unaligned.flags.aligned
    b = values(50, dtype, 9)
    agree(kernel, reference, unaligned, b)
    swapped = b.astype(np.dtype(dtype).newbyteorder())
    for f, e in zip(as_tuple(kernel(b, swapped)), as_tuple(kernel(b, b)), strict=True):
        assert same_bits(f, e)


def test_out_may_be_an_input(case, dtype):
    kernel, reference = case
    for n in (1, 7, 100):
        for step in (1, 2, -1):
            a, b = values(2 * n, dtype, 10)[::step], values(2 * n, dtype, 11)[::step]
            with np.errstate(all="ignore"):
                expected = as_tuple(reference(a.copy(), b.copy()))
            if len(expected) == 1 and expected[0].dtype == a.dtype:
                assert kernel(a, b, out=b) is b
                assert same_bits(b, expected[0])
            elif len(expected) == 3:
                third = np.empty_like(a)
                kernel(a, b, out=(b, a, third))
                for found, e in zip((b, a, third), expected, strict=True):
                    assert same_bits(found, e)


def test_outputs_that_are_inputs_are_stored_last():
    swap = compile_nodes([x, u], [u, x])
    a, b = np.arange(100.0), -np.arange(100.0)
    a0, b0 = a.copy(), b.copy()
    swap(a, b, out=(a, b))  # a gets x, which is b
    assert same_bits(a, b0)
    assert same_bits(b, a0)


def test_where(dtype):
    kernel = compile_nodes([op("mul", x, u), op("lt", x, u)], [x, u], dtype=dtype)
    a, b = values(37, dtype, 12), values(37, dtype, 13)
    mask = np.arange(37) % 3 == 0
    full, less = kernel(a, b)
    out = (np.full(37, 7, dtype), np.ones(37, bool))
    kernel(a, b, out=out, where=mask)
    assert same_bits(out[0], np.where(mask, full, np.asarray(7, dtype)))
    assert same_bits(out[1], np.where(mask, less, True))
    fresh, fresh_less = kernel(a, b, where=mask)
    assert same_bits(fresh, np.where(mask, full, np.asarray(np.nan, dtype)))
    assert same_bits(fresh_less, np.where(mask, less, False))


def test_bool_inputs_and_scalars(dtype):
    kernel = compile_nodes([op("where", flag, x, u), op("logical_not", flag)], [flag, x, u], dtype=dtype)
    flags = np.arange(41) % 2 == 0
    a, b = values(41, dtype, 14), values(41, dtype, 15)
    chosen, inverted = kernel(flags, a, b)
    assert same_bits(chosen, np.where(flags, a, b))
    assert same_bits(inverted, ~flags)
    assert same_bits(kernel(flags[::-2], a[::-2], b[:1])[0], np.where(flags[::-2], a[::-2], b[:1]))
    one, no = kernel(True, 2.0, 3.0)
    assert (one, no) == (2.0, False)
    assert one.dtype == dtype


def test_reduce_and_accumulate_run_in_order():
    kernel = compile_nodes([op("add", op("mul", x, u), x)], [x, u])
    a = np.random.default_rng(0).normal(size=300)
    total, steps = a[0], [a[0]]
    for item in a[1:]:
        total = total * item + total
        steps.append(total)
    assert same_bits(kernel.ufunc.accumulate(a), np.array(steps))
    assert kernel.ufunc.reduce(a) == total
    assert same_bits(kernel.ufunc.outer(a[:3], a[:5]), kernel(a[:3, None], a[:5]))


def test_no_fused_multiply_add():
    """a*b + c with a product whose rounding shows: fused, the difference would not be zero."""
    kernel = compile_nodes([sub(op("mul", x, u), v)], [x, u, v])
    a = np.full(9, 1 + 2.0**-30)
    assert same_bits(kernel(a, a, a * a), np.zeros(9))
    assert "fmadd" not in kernel.asm
    assert "fmla" not in kernel.asm
    assert "fast" not in kernel.llvm_ir
    assert "@llvm.fma" not in kernel.llvm_ir


_LIBM = compile_nodes(
    [op("exp", op("sin", x)), op("div", op("log", u), op("tanh", x)), op("pow", op("abs", x), u)], [x, u]
)


@given(
    st.lists(st.tuples(st.floats(width=64), st.floats(width=64)), min_size=1, max_size=40),
    st.integers(0, 40),
    st.sampled_from([1, 2, -1, 3]),
)
def test_same_bits_at_every_length_position_and_stride(points, shift, step):
    """Functions of libm too: where a point stands must not show in its value."""
    a = np.array([p[0] for p in points])
    b = np.array([p[1] for p in points])
    together = _LIBM(a, b)
    big_a, big_b = np.ones((shift + len(a)) * abs(step)), np.ones((shift + len(a)) * abs(step))
    view_a, view_b = big_a[::step][shift:], big_b[::step][shift:]
    view_a[:], view_b[:] = a, b
    moved = _LIBM(view_a, view_b)
    for t, m in zip(together, moved, strict=True):
        assert same_bits(t, m)
    for i, (p, q) in enumerate(points):
        for t, alone in zip(together, _LIBM(p, q), strict=True):
            assert same_bits(t[i], alone)
