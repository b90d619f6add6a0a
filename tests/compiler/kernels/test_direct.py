"""Calls around NumPy's machinery: the same values, and the same errors."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.calls.direct import direct_call
from symgrad.errors import ArrayTypeError, SymgradError
from tests.compiler.kernels.ways import needs_fast_calls

X, U = sg.symbols("x u")
Z = sg.sqrt(X**2 * U) + sg.sin(U)


def compiled(**options: Any) -> Any:
    kernel = sg.compile([Z, *sg.grad(Z, [X, U])], inputs=[X, U], **options)
    kernel(*np.ones((2, 3), kernel.dtype))  # direct calls begin with the second call
    return kernel


def direct(kernel: Any) -> Any:
    """The direct call."""
    return kernel._direct_function()


def same(found: Any, expected: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b, strict=True)


def draw(shape: Any, dtype: str = "float64") -> Any:
    return np.asarray(np.random.default_rng(0).uniform(0.5, 2, shape), dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [1, 3, 8, 1000, (3, 5), (2, 3, 4), (1, 1)])
def test_it_computes_what_the_ufunc_computes(dtype: str, shape: Any) -> None:
    kernel = compiled(dtype=dtype)
    x, u = draw(shape, dtype), draw(shape, dtype) + 1
    same(kernel(x, u), kernel.ufunc(x, u))
    outs = tuple(np.empty_like(x) for _ in range(3))
    assert all(a is b for a, b in zip(kernel(x, u, out=outs), outs, strict=True))
    same(outs, kernel.ufunc(x, u))


@needs_fast_calls
def test_plain_arguments_take_the_direct_way_and_others_are_declined() -> None:
    kernel = compiled()
    x, u, outs = draw(6), draw(6), tuple(np.empty(6) for _ in range(3))
    kernel(x, u)
    call, memory = direct(kernel), draw(12)
    for arguments in [
        (x, u),
        (x, 2.0),
        (np.float64(2), u),
        (1.0, 2.0),
        (x[::-1], u),
        (draw(18)[::3], u),
        (np.array(1.5), u),
    ]:
        assert call(arguments, outs) is outs
        same(outs, kernel.ufunc(*arguments, out=tuple(np.empty(6) for _ in range(3))))
    declined = [
        (x, u, *outs[:2]),
        (x, u, *outs, outs[0]),
        (x[:5], u, *outs),
        (draw((2, 6))[:, ::2], *(a.reshape(2, 3) for a in (u, *outs))),
        (np.frombuffer(bytes(49), np.uint8)[1:].view(np.float64), u, *outs),
        (outs[0][::-1], u, *outs),
        (memory[::2], u, memory[1::2], *outs[1:]),
        (memory[:6], u, memory[::2], *outs[1:]),
        (memory[5:11], u, memory[6:0:-1], *outs[1:]),
        (x, u, np.lib.stride_tricks.as_strided(memory, (6,), (4,)), *outs[1:]),
        (x, u, np.lib.stride_tricks.as_strided(memory, (6,), (0,)), *outs[1:]),
        (x.astype(np.float32), u, *outs),
        (x.astype(">f8"), u, *outs),
        (x.reshape(2, 3), u.reshape(3, 2), *(o.reshape(2, 3) for o in outs)),
        (np.asfortranarray(x.reshape(2, 3)), *(a.reshape(2, 3) for a in (u, *outs))),
        (x, 2, *outs),
        (x, True, *outs),
        (x, None, *outs),
        (x, [1.0] * 6, *outs),
        (x, np.float32(2), *outs),
        (np.ma.masked_array(x), u, *outs),
        (x, u, outs[0], outs[1], outs[1]),
        (x, u, outs[0], outs[1], 1.0),
    ]
    for arguments in declined:
        before = [np.array(o) for o in (*outs, memory)]
        assert call(arguments[:2], arguments[2:]) is None
        same((*outs, memory), before)


@needs_fast_calls
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [0, 1, 2, 9, 70])
def test_arrays_of_one_axis_may_have_any_stride(dtype: str, size: int) -> None:
    kernel = compiled(dtype=dtype)
    many, wide = draw(3 * size, dtype), draw((size, 4), dtype)
    still = np.broadcast_to(many[:1], (size,)) if size else many
    kernel(many, many)
    for x in (many[::3], many[::-3], wide[:, 1], still, np.flip(wide, 0)[:, 2]):
        u = draw(2 * size, dtype)[::2] + 1
        expected = kernel.ufunc(x, u)
        backwards, spread = np.zeros(size, dtype), np.zeros((size, 3), dtype)
        outs = (backwards[::-1], spread[:, 1], np.zeros(size, dtype))
        assert direct(kernel)((x, u), outs) is outs
        same(outs, expected)
        assert not spread[:, ::2].any()
        same(kernel(x, u), expected)
    x, u = many[::-3].copy()[::-1], draw(size, dtype)
    expected = kernel.ufunc(x, u)
    outs = (x, np.zeros(size, dtype), np.zeros(size, dtype))
    assert direct(kernel)((x, u), outs) is outs
    same(outs, expected)


@needs_fast_calls
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_elements_after_the_last_whole_vector(dtype: str) -> None:
    kernel: Any = sg.compile([Z, X > U, sg.grad(Z, X)], inputs=[X, U], dtype=dtype)
    kernel(*np.ones((2, 3), dtype))
    sizes = [*range(15, 36), 63, 65, 127, 1000, 1001]
    for size in sizes:
        x, u = draw(2 * size, dtype)[1::2].copy(), draw((2, size), dtype)[1] + 1
        number = 1.25 if dtype == "float64" else u
        still = np.broadcast_to(u[:1], (size,))
        for second in (u, number, still):
            expected = kernel.ufunc(x, second)
            memory = np.zeros((3, size + 2), dtype)
            flags = np.zeros(size + 2, bool)
            # In one place with an input; and nothing is written beside.
            memory[0, 1:-1] = x
            outs = (memory[0, 1:-1], flags[1:-1], memory[1, 1:-1])
            assert direct(kernel)((memory[0, 1:-1], second), outs) is outs
            same(outs, expected)
            outs = (memory[1, 1:-1], flags[1:-1], memory[2, 1:-1])
            assert kernel(x, second, out=outs) is outs
            same(outs, expected)
            assert not memory[:, [0, -1]].any()
            assert not flags[[0, -1]].any()
    for size in sizes[::5]:  # what is not contiguous is left to the loop
        x, u, wide = draw(size, dtype), draw((size, 3), dtype)[:, 1], np.zeros((3, size, 2), dtype)
        outs = (wide[0, :, 0], np.zeros(size, bool), wide[2, :, 1])
        assert direct(kernel)((x, u), outs) is outs
        same(outs, kernel.ufunc(x, u))


@needs_fast_calls
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_direct_call_stays_when_better_code_comes(dtype: str) -> None:
    kernel: Any = sg.compile([X * U + 1, X > U, X / U], inputs=[X, U], dtype=dtype)
    kernel(*np.ones((2, 3), dtype))
    kernel(*np.ones((2, 3), dtype))
    assert kernel.quick
    call = direct(kernel)

    def computed() -> list[Any]:
        found = []
        for size in (1, 2, 7, 15, 16, 17, 33, 100, 1001):
            x, u = draw((size, 2), dtype), draw(size, dtype)[::-1] + 1
            for first in (x[:, 1], x[:, 1].copy(), np.broadcast_to(x[:1, 0], (size,))):
                wide = np.zeros((2, size, 3), dtype)
                outs = (wide[0, :, 1], np.zeros(size, bool), wide[1, ::-1, 2])
                assert call((first, u), outs) is outs
                found += [wide, outs[1]]
        return found

    quick = computed()
    assert kernel.ufunc is not None
    assert not kernel.quick
    assert direct(kernel) is call
    same(computed(), quick)


@needs_fast_calls
def test_many_inputs_and_outputs_in_any_order_and_place() -> None:
    xs = sg.symbols(" ".join(f"x{k}" for k in range(9)))
    kernel: Any = sg.compile([x * xs[0] for x in xs] * 2 + [sum(xs)], inputs=xs)
    rng, size = np.random.default_rng(5), 37
    for _ in range(60):
        memory = rng.uniform(1, 2, (28, size))
        kernel(*memory[:9])
        place = rng.permutation(28)
        given, outs = tuple(memory[place[:9]]), tuple(memory[k] for k in place[9:])
        expected = kernel.ufunc(*given)
        assert direct(kernel)(given, outs) is outs
        same(outs, expected)
        flat = memory.ravel()
        first, second = rng.choice(19, 2, replace=False)
        doubled = [*outs]
        doubled[first] = outs[second]
        assert direct(kernel)(given, tuple(doubled)) is None
        start = size * int(place[9 + second]) + int(rng.choice([-1, 1]))
        shifted = [*outs]
        shifted[first] = flat[max(start, 1) : max(start, 1) + size]
        if shifted[first].size == size:
            before = memory.copy()
            assert direct(kernel)(given, tuple(shifted)) is None
            np.testing.assert_array_equal(memory, before)
        in_place = tuple(given[3] if k == first else out for k, out in enumerate(outs))
        expected = kernel.ufunc(*given)
        assert direct(kernel)(given, in_place) is in_place
        same(in_place, expected)


@needs_fast_calls
def test_a_call_holds_its_outputs_while_others_run() -> None:
    """Else another thread might resize one, of which only the tuple knows, and its memory would be gone."""
    kernel = compiled()
    counts: list[list[int]] = []
    lengths: list[int] = []

    def loop(_args: int, dimensions: int, _steps: int, _cell: int) -> None:
        counts.append([sys.getrefcount(outs[k]) for k in range(3)])
        lengths.append(ctypes.c_int64.from_address(dimensions).value)

    native = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(loop)
    address = ctypes.cast(native, ctypes.c_void_p).value
    assert address is not None
    call = direct_call(address, kernel._code.cell, kernel.kinds, 2)
    assert call is not None
    x, outs = draw(1001), tuple(np.zeros(1001) for _ in range(3))
    alone = [sys.getrefcount(outs[k]) for k in range(3)]
    assert call((x, x), outs) is outs
    assert lengths == [1001]
    assert counts == [[n + 1 for n in alone]]
    assert [sys.getrefcount(outs[k]) for k in range(3)] == alone


@needs_fast_calls
def test_one_output_is_returned_as_the_array_that_was_given() -> None:
    kernel: Any = sg.compile(X * U, inputs=[X, U])
    x, out = draw(4), np.empty(4)
    kernel(x, x)
    for _ in range(2):
        assert kernel(x, x, out=(out,)) is out
        assert kernel(x, x, out=out) is out
    assert direct(kernel)((x, x), out) is direct(kernel)((x, x), (out,)) is out


def test_an_output_that_numpy_warns_of_is_left_to_numpy() -> None:
    kernel = sg.compile(X * U, inputs=[X, U])
    x = draw((1, 3))
    kernel(x, x)
    for call in (kernel, kernel.ufunc):
        views = np.broadcast_arrays(np.ones(3), x)
        with pytest.warns(DeprecationWarning, match="np.broadcast_arrays"):
            call(x, x, out=views[0])


@pytest.mark.parametrize("out", [[np.empty(3), np.empty(2)], [np.empty(3)], "text", 5, object()])
def test_what_cannot_be_an_output_is_an_error_of_ours(out: Any) -> None:
    p = sg.parse("X : real[n]; r = X/sum(X)")
    for kernel in (compiled(), sg.compile(X * U, inputs=[X, U])):
        with pytest.raises(ArrayTypeError, match="cannot be called with these arguments"):
            kernel(draw(3), draw(3), out=out)
    with pytest.raises(ArrayTypeError, match="cannot be called with these arguments"):
        sg.compile(p["r"])(draw(3), out=out)


def test_a_frozen_output_is_refused_as_ever() -> None:
    kernel = compiled()
    outs = tuple(np.zeros(4) for _ in range(3))
    outs[1].flags.writeable = False
    with pytest.raises(ArrayTypeError, match="may only be read"):
        kernel(draw(4), draw(4), out=outs)
    assert not outs[1].any()


def test_a_single_output_is_returned_as_the_ufunc_returns_it() -> None:
    kernel, out = sg.compile(Z, inputs=[X, U]), np.empty(5)
    for _ in range(3):
        assert kernel(draw(5), draw(5), out=(out,)) is out
        assert kernel(draw(5), draw(5), out=out) is out


def test_an_output_may_be_an_input_and_may_overlap_it() -> None:
    kernel = compiled()
    memory = draw(40)
    for start in (0, 1, 7, 8, 9, 20):
        x, u = memory[:20].copy(), draw(20)
        expected = kernel.ufunc(x, u)
        shared = memory.copy()
        outs = (shared[start : start + 20], np.empty(20), np.empty(20))
        kernel(shared[:20], u, out=outs)
        same(outs, expected)


def test_empty_arrays_and_missing_arguments_behave_as_ever() -> None:
    kernel = compiled()
    assert [a.shape for a in kernel(np.empty(0), np.empty(0))] == [(0,)] * 3
    with pytest.raises(SymgradError):
        kernel(draw(3))
    with pytest.raises(SymgradError):
        kernel(draw(3), draw(4))
    with pytest.raises(SymgradError):
        kernel(draw(3), draw(3), out=(np.empty(3),))
    assert [a.shape for a in kernel(u=draw(3), x=draw(3))] == [(3,)] * 3


def test_floating_point_flags_of_a_kernel_do_not_reach_numpy() -> None:
    kernel = compiled()
    big = np.array([0.0, np.inf, -np.inf, 1e300, np.nan])
    with np.errstate(all="raise"):
        for _ in range(3):
            kernel(big, big)
            np.add(1.0, 2.0)
            np.sum(np.arange(5.0))
            np.asarray(np.arange(3.0), np.float32)
            np.dot(np.arange(3.0), np.arange(3.0))


@needs_fast_calls
def test_the_shared_objects_keep_their_reference_counts() -> None:
    kernel = compiled()
    x, u, outs = draw(5), draw(5), tuple(np.empty(5) for _ in range(3))
    kernel(x, u, out=outs)
    before = [sys.getrefcount(o) for o in (x, u, *outs)]
    for _ in range(100):
        kernel(x, u, out=outs)
        assert direct(kernel)((x, u), outs[:2]) is None
        assert direct(kernel)((x, u), outs) is outs
    assert [sys.getrefcount(o) for o in (x, u, *outs)] == before


def test_functions_of_dropped_kernels_do_not_dangle() -> None:
    for _ in range(20):
        kernel = compiled()
        same(kernel(draw(9), draw(9)), kernel.ufunc(draw(9), draw(9)))
        del kernel
        gc.collect()


@needs_fast_calls
def test_calls_of_kernels_of_several_threads_are_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("calls.threads", "kernel"):
        monkeypatch.setattr(f"symgrad.compiler.kernels.{module}.cores", lambda: 2)
    kernel, alone = compiled(threads=2), compiled()
    call = direct(kernel)
    for size in (10, 30_000, 300_000):
        x, u = draw(size), draw(size) + 1
        same(kernel(x, u), alone(x, u))
        outs = tuple(np.empty(size) for _ in range(3))
        assert call((x, u), outs) is outs
        same(outs, alone(x, u))
        assert direct(kernel) is call
        same(kernel(x[::2], u[::2]), alone(x[::2], u[::2]))
        same(kernel(x, 1.5), alone(x, 1.5))
