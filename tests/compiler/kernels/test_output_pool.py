"""Results that were dropped are written to again, and no others."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.compiler.kernels.calls.output_pool import OutputPool
from symgrad.errors import SymgradError
from tests.compiler.kernels.test_direct import compiled, draw, same
from tests.compiler.kernels.ways import needs_fast_calls


@given(
    st.lists(
        st.sampled_from(
            ["drop", "keep", "view", "views", "memoryview", "one", "strided", "reshape", "freeze"]
        ),
        max_size=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_a_result_that_someone_holds_is_never_written_to(actions: list[str]) -> None:
    kernel = compiled()
    held: list[tuple[Any, Any]] = []
    size = 20_000
    for k, action in enumerate(actions):
        x = np.full(size, float(k + 1))
        results = kernel(x, x)
        assert all(type(r) is np.ndarray and r.flags.carray and r.shape == (size,) for r in results)
        same(results, kernel.ufunc(x, x))
        keep: Any = None
        if action == "keep":
            keep = results
        elif action == "view":
            keep = [results[1][3:50:7]]
        elif action == "views":
            keep = [results[0].reshape(200, -1).T[5:, ::3].view(np.int64), results[2].view(np.recarray)]
        elif action == "strided":
            keep = [np.lib.stride_tricks.as_strided(results[0][9:], (5, 7), (8, 16))]
        elif action == "memoryview":
            keep = [memoryview(results[0])]
        elif action == "one":
            keep = [results[2]]
        elif action == "reshape":
            with warnings.catch_warnings():  # NumPy 2.5 would rather have a view
                warnings.simplefilter("ignore", DeprecationWarning)
                results[0].shape = (100, size // 100)
        elif action == "freeze":
            results[1].flags.writeable = False
        if keep is not None:
            held.append((keep, [np.array(r) for r in keep]))
        del results, keep
        for kept, copies in held:
            same([np.asarray(r) for r in kept], copies)


@needs_fast_calls
def test_memory_of_dropped_results_is_used_again_and_goes_with_the_kernel() -> None:
    kernel = compiled()
    x = draw(30_000)
    places, others = set[tuple[int, ...]](), list[np.ndarray]()
    for _ in range(10):
        places.add(tuple(r.ctypes.data for r in kernel(x, x)))
        others += [np.empty_like(x) for _ in range(3)]  # which the allocator would give what was released
    assert len(places) <= 2
    last = kernel(x, x)
    copies = [np.array(r) for r in last]
    del kernel
    gc.collect()
    same(last, copies)


@needs_fast_calls
def test_where_an_input_is_not_plain_no_results_are_made_in_vain() -> None:
    kernel = compiled()
    x, strided = draw((300, 100)), draw((300, 200))[:, ::2]
    for _ in range(3):
        same(kernel(strided, x), kernel.ufunc(strided, x))
    assert kernel._spares._rounds == []
    same(kernel(x, x), kernel.ufunc(x, x))
    assert len(kernel._spares._rounds) == 1


@needs_fast_calls
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_where_an_input_is_of_another_dtype_no_results_are_made_in_vain(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = sg.parse("x : real; u : real; z = x*u + sin(x)")
    kernel: Any = sg.compile([p["z"], *sg.grad(p["z"], [p["x"], p["u"]])], inputs=["x", "u"], dtype=dtype)
    x = draw(30_000).astype(dtype)
    others = [x.astype(">f8" if dtype == "float64" else ">f4"), x.astype("i2")]
    others += [x.astype("f4")] if dtype == "float64" else [0.5]
    for _ in range(3):
        kernel(others[0], x)
    kernel(x, x)
    (before,) = kernel._spares._rounds

    def vainly(*_: Any) -> Any:
        raise AssertionError("results are made")

    with monkeypatch.context() as patch:
        patch.setattr(OutputPool, "alike", vainly)
        for other in others:
            same(kernel(x, other), kernel.ufunc(x, np.asarray(other, dtype)))
    assert kernel._spares._rounds[0] is before


@needs_fast_calls
def test_little_and_much_is_not_kept() -> None:
    spares = OutputPool([np.dtype("float64")])
    for size in (100, 2**24):
        (array,) = spares.alike((size,), size)
        assert array.shape == (size,)
        released = weakref.ref(array)
        del array
        assert released() is None
    (array,) = spares.alike((2**20,), 2**20)
    released = weakref.ref(array)
    del array
    assert released() is not None


def test_threads_do_not_share_results() -> None:
    kernel = compiled()
    failures: list[int] = []

    def work(seed: int) -> None:
        for k in range(60):
            x = np.full(20_000, 1.0 + seed + 10 * k)
            first = kernel(x, x)
            second = kernel(x + 1, x)
            if first[0][0] == second[0][0] or not (first[0] == first[0][0]).all():
                failures.append(k)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


@needs_fast_calls
def test_array_kernels_use_dropped_results_again() -> None:
    p = sg.parse("X : real[n, 30]; w : real[30]; loss = sum((X@w)**2)")
    kernel = sg.compile([p["loss"], *sg.grad(p["loss"], [p["X"], p["w"]])], inputs=["X", "w"])
    X, w = draw((1000, 30)), draw(30)
    expected = kernel.ufunc(X, w)
    places, others = set[int](), list[np.ndarray]()
    for _ in range(6):
        loss, by_X, by_w = kernel(X, w)
        assert type(loss) is np.float64
        same([loss, by_X, by_w], expected)
        places.add(by_X.ctypes.data)
        del by_X
        others += [np.empty_like(X) for _ in range(3)]  # which the allocator would give what was released
    assert len(places) <= 2
    kept = kernel(X, w)[1]
    copy = kept.copy()
    for k in range(4):
        kernel(X + k, w)
    same([kept], [copy])
    with pytest.raises(SymgradError):
        kernel(X, draw(31))


@pytest.mark.parametrize("dtype", ["i8", ">f8", "f4"])
def test_array_kernels_return_their_own_dtype_whatever_became_of_a_dropped_result(dtype: str) -> None:
    p = sg.parse("A : real[n, n]; z = A@A; s = sin(A)")
    kernel = sg.compile([p["z"], p["s"]], inputs=["A"])
    A = draw((200, 200))
    expected = [np.array(r) for r in kernel(A)]
    for k in range(6):
        results = kernel(A)
        same(results, expected)
        assert {r.dtype for r in results} == {np.dtype("float64")}
        with warnings.catch_warnings():  # later NumPys would rather have a view
            warnings.simplefilter("ignore", DeprecationWarning)
            results[k % 2].dtype = dtype
        del results


def test_a_result_that_only_a_weak_reference_finds_is_not_written_to() -> None:
    kernel = compiled()
    x = draw(30_000)
    cache: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()
    for k in range(6):
        cache[k] = kernel(x + k, x)[1]
    for k, found in cache.items():
        same([found], [kernel.ufunc(x + k, x)[1]])


@needs_fast_calls
def test_the_memory_that_a_result_lies_in_is_not_written_to_while_someone_has_it() -> None:
    kernel = compiled()
    x = draw(30_000)
    held: list[tuple[np.ndarray, np.ndarray]] = []
    for k in range(6):
        memory = kernel(x + k, x)[1].base
        if memory is not None:  # the first call is NumPy's
            held.append((memory, memory.copy()))
    assert len(held) >= 4
    for memory, copy in held:
        same([memory], [copy])
