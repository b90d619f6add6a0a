"""Kernels of any number of outputs: the same bits as ufuncs, which have at most 64 arguments."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.calls.threads import cores
from symgrad.errors import ArrayTypeError, KernelError, ShapeError
from tests.compiler.kernels.c_libraries import library, on_arrays
from tests.compiler.kernels.test_artefact import needs_cc
from tests.compiler.kernels.ways import needs_fast_calls

BOOL = np.dtype(bool)
COUNTS = [1, 31, 32, 33, 254, 255, 256, 1000]
X, U = sg.symbols("x u")
FORMULAS = [X, X * U, X < U, *(sg.sin(X * (k + 1)) + U / (k + 1) for k in range(27)), 7, U]
"""Few enough for a ufunc; the kernels of the tests have them again and again."""


def compiled(count: int, **options: Any) -> Any:
    kernel = sg.compile([FORMULAS[k % 32] for k in range(count)], inputs=[X, U], **options)
    kernel(*np.ones((2, 3), kernel.dtype))  # direct calls begin with the second call
    return kernel


def expected(count: int, x: Any, u: Any, dtype: str = "float64") -> list[Any]:
    found = sg.compile(FORMULAS, inputs=[X, U], dtype=dtype).ufunc(x, u)
    return [found[k % 32] for k in range(count)]


def same(found: Any, wanted: Sequence[Any]) -> None:
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert type(a) is type(b)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b, strict=True)


def draw(shape: Any, dtype: str = "float64") -> Any:
    return np.asarray(np.random.default_rng(0).uniform(0.5, 2, shape), dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("count", COUNTS)
def test_any_number_of_outputs_has_the_bits_of_ufuncs(count: int, dtype: str) -> None:
    kernel = compiled(count, dtype=dtype)
    x, u = draw((2, 37), dtype)
    scalar = np.dtype(dtype).type
    for given in [
        (x, u),
        (x[::2], u[::2]),
        (x[::-1], u),
        (x[:30].reshape(5, 6).T, u[:30].reshape(6, 5)),
        (x[:5, None], u[:7]),
        (x[:1], u[:6]),
        (x[:0], u[:0]),
        (x, scalar(1.25)),
        (scalar(1.25), scalar(0.5)),
        (np.array(1.25, dtype), u[:1, None]),
        (np.array(1.25, dtype), scalar(0.5)),
    ]:
        for _ in range(2):
            same(kernel(*given), expected(count, given[0], given[1], dtype))
    same(kernel(0.5, 1.25), expected(count, scalar(0.5), scalar(1.25), dtype))
    if dtype == "float64":
        same(kernel([1.0, 2.0], u=3), expected(count, np.array([1, 2], dtype), scalar(3), dtype))


@pytest.mark.parametrize("count", COUNTS)
def test_outputs_may_be_given_in_any_place(count: int) -> None:
    kernel = compiled(count)
    x, u = draw((2, 19))
    wanted = expected(count, x, u)
    kinds = kernel.kinds[2:]
    rng = np.random.default_rng(1)

    def call(x: Any, u: Any, outs: tuple[Any, ...], **more: Any) -> None:
        found = kernel(x, u, out=outs, **more)
        assert all(a is b for a, b in zip(found if count > 1 else (found,), outs, strict=True))

    order = rng.permutation(count)
    blocks = np.empty((count, 19)), np.empty((count, 19), bool)
    outs = tuple(blocks[int(kind == BOOL)][order[k]] for k, kind in enumerate(kinds))
    call(x, u, outs)
    same(outs, wanted)
    wide = np.zeros((19, count))  # columns
    outs = tuple(np.empty(19, bool) if kind == BOOL else wide[:, k] for k, kind in enumerate(kinds))
    call(x, u, outs)
    same(outs, wanted)
    place = int(order[0])
    if kinds[place] != BOOL:
        # In the place of an input, and beside it by one element.
        for shift in (0, 1):
            memory = np.concatenate([x, [0.0]])
            shared = (*outs[:place], memory[shift : 19 + shift], *outs[place + 1 :])
            call(memory[:19], u, shared)
            same(shared, wanted)
    mask = rng.uniform(size=19) < 0.5
    before = [np.ones(19, kind) for kind in kinds]
    outs = tuple(a.copy() for a in before)
    call(x, u, outs, where=mask)
    same(outs, [np.where(mask, a, b) for a, b in zip(wanted, before, strict=True)])
    found = kernel(x, u, where=mask)
    fill = [np.where(mask, a, a.dtype.type(np.nan if a.dtype != BOOL else False)) for a in wanted]
    same(found, fill)
    if count > 1:
        found = kernel(x, u, out=(None,) * (count - 1) + (np.empty(19, kinds[-1]),))
        same(found, wanted)


@needs_fast_calls
@pytest.mark.parametrize("count", [33, 255, 1000])
def test_outputs_that_overlap_are_not_computed_directly(count: int) -> None:
    kernel = compiled(count)
    call = kernel._direct_function()
    x, u = draw((2, 9))
    places = [k for k, kind in enumerate(kernel.kinds[2:]) if kind != BOOL]
    rng = np.random.default_rng(count)
    for _ in range(30):
        first, second = rng.choice(places, 2, replace=False)
        memory = rng.permutation(count)
        block, flags = np.zeros((count + 1, 9)), np.zeros((count, 9), bool)
        outs = [block[memory[k]] if k in places else flags[k] for k in range(count)]
        assert call((x, u), tuple(outs)) is not None
        start = 9 * int(memory[second]) + int(rng.integers(0, 9))
        outs[first] = block.ravel()[start : start + 9]
        assert call((x, u), tuple(outs)) is None
        outs[first] = x
        assert call((x, u), tuple(outs)) is not None
        x, u = draw((2, 9))
        both = np.concatenate([x, x])
        outs[first] = both[4:13]
        assert call((both[:9], u), tuple(outs)) is None


@needs_fast_calls
def test_two_threads_and_many_outputs() -> None:
    if cores() < 2:
        pytest.skip("there is one processor")
    kernel = compiled(300, threads=2)
    x, u = draw((2, 5001))
    wanted = expected(300, x, u)
    for _ in range(3):
        same(kernel(x, u), wanted)
        outs = tuple(np.empty(5001, kind) for kind in kernel.kinds[2:])
        same(kernel(x, u, out=outs), wanted)
    same(kernel(x[:, None], u[:3]), expected(300, x[:, None], u[:3]))


def test_the_loop_by_ctypes_has_the_same_bits() -> None:
    kernel = compiled(300)
    x, u = draw((2, 11))
    for given in [(x, u), (x[:5, None], u), (1.25, u), (1.25, 0.5)]:
        same(kernel._call_plainly(*given), expected(300, *given))


def test_numbers_keep_their_types_before_and_after_there_is_code_for_one_point() -> None:
    kernel = compiled(300)
    wanted = expected(300, 0.5, 1.25)
    kernel(0.5, 1.25)
    kernel._numbers_left = 2 if kernel._numbers_left else 0
    for _ in range(4):
        same(kernel(0.5, 1.25), wanted)
    assert kernel._numbers_left == 0
    found = kernel.scalar(0.5, 1.25)
    assert found == tuple(wanted)
    assert {type(v) for v in found} == {float, bool}


def test_values_that_wait_are_on_the_heap_if_there_are_many() -> None:
    """A thread has a small stack."""
    xs = sg.symbols(" ".join(f"x{k}" for k in range(4000)))
    total = sum(sg.sin(x) for x in xs)
    kernel: Any = sg.compile([sg.cos(x) * total for x in xs], inputs=xs)
    given = draw(4000).tolist()
    wanted = kernel(*given)
    found: list[Any] = []
    before = threading.stack_size(2**18)
    try:
        thread = threading.Thread(target=lambda: found.extend([kernel(*given), kernel.scalar(*given)]))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [wanted, wanted]


@pytest.mark.parametrize("suffix", [".o", pytest.param(".so", marks=needs_cc)])
def test_files_of_many_outputs(tmp_path: Path, suffix: str) -> None:
    kernel = compiled(300)
    kernel.save(tmp_path / f"k{suffix}")
    loaded: Any = sg.load(tmp_path / f"k{suffix}")
    x, u = draw((2, 21))
    for given in [(x, u), (x[::2], u[::2]), (x[:5, None], u), (0.5, 1.25)]:
        for _ in range(2):
            same(loaded(*given), expected(300, *given))
    outs = tuple(np.empty(21, kind) for kind in kernel.kinds[2:])
    assert loaded(x, u, out=outs)[-1] is outs[-1]
    same(outs, expected(300, x, u))
    assert loaded.scalar(0.5, 1.25) == tuple(expected(300, 0.5, 1.25))


@needs_cc
def test_c_source_of_many_outputs(tmp_path: Path) -> None:
    kernel = compiled(300)
    x, u = draw((2, 21))
    found = on_arrays(library(kernel, tmp_path, "-O0").k, kernel, [x, u])
    for a, b in zip(found, expected(300, x, u), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_pickles_of_many_outputs() -> None:
    kernel = compiled(300)
    x, u = draw((2, 5))
    same(pickle.loads(pickle.dumps(kernel))(x, u), expected(300, x, u))


def test_only_the_ufunc_has_a_limit_and_errors_are_those_of_ufuncs() -> None:
    kernel = compiled(300)
    assert sg.compile(FORMULAS[:2] * 31, inputs=[X, U]).ufunc.nargs == 64
    with pytest.raises(KernelError, match=r"300 outputs(.|\n)*64 arguments together \(NumPy's limit\)"):
        _ = kernel.ufunc
    with pytest.raises(ShapeError, match="do not broadcast"):
        kernel(draw(3), draw(4))
    with pytest.raises(ArrayTypeError, match="cannot be called"):
        kernel(draw(3), draw(3), out=(np.empty(3),))
    with pytest.raises(ArrayTypeError, match="cannot be called"):
        kernel(draw(3), draw(3), out=(np.empty(3, int),) * 300)


@pytest.mark.parametrize("outputs", [[X + U] * 40_000, [X, U, 3] * 5_000 + [X * k for k in range(6_500)]])
def test_a_thread_with_a_small_stack_computes_tens_of_thousands_of_outputs(outputs: list[Any]) -> None:
    kernel: Any = sg.compile(outputs, inputs=[X, U])
    ones = np.ones(3)
    wanted, found = (kernel(0.5, 1.25), kernel(ones, ones)), list[Any]()
    before = threading.stack_size(2**17)
    try:
        thread = threading.Thread(target=lambda: found.extend([kernel(0.5, 1.25), kernel(ones, ones)]))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found[0] == wanted[0]
    same(found[1], wanted[1])
