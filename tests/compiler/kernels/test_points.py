"""A kernel at one point: as a function of CPython's and of C's, with the bits that it has for arrays."""

from __future__ import annotations

import ctypes
import gc
import inspect
import math
import struct
import sys
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import cubature, nquad, quad
from scipy.ndimage import generic_filter

import symgrad as sg
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.errors import (
    ArrayTypeError,
    ComplexInputError,
    DomainError,
    MissingInputError,
    NumberTooLargeError,
    UnsupportedError,
    UsageError,
)
from tests.compiler.kernels.ways import needs_fast_calls
from tests.graphs import inputs, random_graph
from tests.processes import printed

SPECIAL = [0.0, -0.0, 1.0, -1.5, 1e-300, 5e-324, 1e22, -1e300, math.inf, -math.inf, math.nan, 0.1, 710.0]
numbers = st.one_of(st.sampled_from(SPECIAL), st.floats())


def bits(values: Any) -> list[bytes]:
    """The bits of each, every NaN alike."""
    return [struct.pack("d", math.nan if math.isnan(v) else v) for v in values]


@pytest.fixture
def two() -> tuple[sg.Expr, sg.Expr]:
    x, y = sg.symbols("x y")
    return x, y


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=12))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_point_has_the_bits_of_the_kernel(dtype, seed, points):
    nodes = inputs(3)
    outputs = [random_graph(seed + k, nodes, 25) for k in range(2)]
    kernel = compile_nodes(outputs, nodes, dtype=dtype)
    with np.errstate(over="ignore"):
        columns = [np.array(column).astype(dtype) for column in zip(*points, strict=True)]
    expected = list(zip(*(map(float, out) for out in kernel(*columns)), strict=True))
    for point, wanted in zip(zip(*columns, strict=True), expected, strict=True):
        given_ = [float(x) for x in point]
        assert bits(kernel.scalar(*given_)) == bits(wanted)
        assert bits(kernel(*given_)) == bits(wanted)
        outs = [np.ctypeslib.as_ctypes_type(np.dtype(dtype))() for _ in wanted]
        kernel.as_ctypes()(*given_, *map(ctypes.byref, outs))
        assert bits([out.value for out in outs]) == bits(wanted)


@needs_fast_calls
def test_calls_with_numbers_give_the_same_before_and_after_they_have_code_of_their_own(two):
    x, y = two
    kernel: Any = sg.compile([sg.sin(x) * y, x / y], inputs=[x, y])
    first = kernel(0.3, 7)
    kernel(0.3, 7.0)
    around = kernel._numbers
    kernel._numbers_left = 2
    found = [kernel(0.3, np.float64(7)) for _ in range(4)]
    assert around is not None
    assert kernel._numbers not in (None, around)
    assert kernel._numbers_left == 0
    assert {*found, kernel(y=7, x=0.3), kernel(0.3, np.array(7.0))} == {first}
    assert {type(v) for result in (first, *found) for v in result} == {np.float64}
    # Arrays go as ever.
    assert np.array_equal(kernel(np.full(3, 0.3), 7.0), np.repeat(np.array([first]).T, 3, axis=1))
    out = np.empty(()), np.empty(())
    assert kernel(0.3, 7.0, out=out) == out == first


@needs_fast_calls
def test_an_input_that_is_missing_is_named_however_often_the_kernel_was_called(two):
    x, y = two
    kernel: Any = sg.compile([sg.sin(x) * y, x / y], inputs=[x, y])
    for left in (None, None, None, 1, None, None):
        for wrong in ((), (0.3,), (0.3, 7.0, 1.0)):
            with pytest.raises(MissingInputError):
                kernel(*wrong)
        kernel(0.3, 7.0)
        kernel._numbers_left = left or kernel._numbers_left
    assert kernel._numbers_left == 0


def test_what_is_no_plain_number_is_checked_as_ever(two):
    x, y = two
    f = sg.compile([x + y, x < y], inputs=[x, y]).scalar
    assert f(1.0, 2.0) == (3.0, True)
    assert f(1, y=2) == f(y=2.0, x=1.0) == f(np.float32(1), np.array(2.0)) == f(True, 2) == (3.0, True)
    assert [type(v) for v in f(1, 2)] == [float, bool]
    for bad, error in (
        ((1.0,), MissingInputError),
        ((1.0, 2.0, 3.0), MissingInputError),
        (("1", 2.0), ArrayTypeError),
        ((None, 2.0), ArrayTypeError),
        ((1j, 2.0), ComplexInputError),
        ((10**400, 2.0), NumberTooLargeError),
        (([1.0, 2.0], 2.0), ArrayTypeError),
    ):
        with pytest.raises(error):
            f(*bad)
    with pytest.raises(MissingInputError):
        f(1.0, z=2.0)


def test_whole_numbers_and_truth_values():
    p = sg.parse("n : int(0, 5); b : bool; x : real; f = where(b, x**n, -x)")
    f = sg.compile(p["f"], inputs=["x", "n", "b"]).scalar
    assert (f(2.0, 3, True), f(2.0, 3, False)) == (8.0, -2.0)
    with pytest.raises(ArrayTypeError):
        f(2.0, 2.5, True)
    with pytest.raises(DomainError):
        f(2.0, 7, True)
    b, x = sg.parse("b : bool; x : real; f = where(b, x, -x)"), 1.5
    g = sg.compile(b["f"], inputs=["b", "x"]).scalar
    assert (g(True, x), g(False, x), g(np.True_, x)) == (1.5, -1.5, 1.5)
    with pytest.raises(ArrayTypeError):
        g(1.0, x)


def test_the_function_says_what_it_is(two):
    x, y = two
    f = sg.compile(x * y, inputs=[x, y], name="area").scalar
    n = sg.symbols("n", "int")
    for found, said in ((f, "(x, y)"), (sg.compile(x * n, inputs=[x, n], name="area").scalar, "(x, n)")):
        assert found.__name__ == "area"
        assert str(inspect.signature(found)) == said
        assert "one point" in (found.__doc__ or "")


def test_arrays_have_no_function_of_numbers():
    p = sg.parse("X : real[n, 3]; w : real[3]; f = sum(X@w)")
    kernel = sg.compile(p["f"])
    for ask in (lambda: kernel.scalar, kernel.as_ctypes, kernel.as_lowlevel, lambda: kernel.address):
        with pytest.raises(UnsupportedError):
            ask()
    elementwise = sg.compile(sg.parse("v : real[3]; f = v**2")["f"])
    with pytest.raises(UnsupportedError, match="input 'v'"):
        _ = elementwise.scalar


def test_many_values_that_wait_are_computed_by_the_loop(two):
    x, y = two
    terms = [sg.sin(x + k) * y for k in range(300)]
    kernel = sg.compile(terms, inputs=[x, y])  # more outputs than a native call takes
    assert kernel.scalar(0.5, 2.0) == tuple(v.item() for v in kernel(0.5, 2.0))


def test_the_code_lives_as_long_as_any_of_its_functions(two):
    x, y = two
    kernel = sg.compile(sg.exp(x) * y, inputs=[x, y])
    gone = weakref.ref(kernel)
    scalar, pointer, low = kernel.scalar, kernel.as_ctypes(), kernel.as_lowlevel()
    del kernel
    gc.collect()
    out = ctypes.c_double()
    pointer(1.0, 2.0, ctypes.byref(out))
    assert scalar(1.0, 2.0) == out.value == pytest.approx(2 * math.e)
    assert quad(low, 0, 1, args=(2.0,))[0] == pytest.approx(2 * (math.e - 1))
    del scalar, low
    gc.collect()
    assert gone() is None
    pointer(0.0, 3.0, ctypes.byref(out))
    assert out.value == 3.0


@needs_fast_calls
def test_calls_neither_lose_nor_keep_references(two):
    x, y = two
    kernel = sg.compile([x + y, x * y, x < y], inputs=[x, y])
    f, a, b = kernel.scalar, 1.25, 2.5
    f(a, b)
    watched = (a, b, True, False, None, kernel)
    before = [sys.getrefcount(value) for value in watched]
    blocks = sys.getallocatedblocks()
    for _ in range(20_000):
        f(a, b)
        kernel(a, b)
    assert sys.getallocatedblocks() - blocks < 1_000
    after = [sys.getrefcount(value) for value in watched]
    assert all(abs(n - m) < 50 for n, m in zip(before, after, strict=True))


def test_scipy_integrates_and_filters_without_python(two):
    x, y = two
    f = sg.compile(x**2 * y + sg.sin(x), inputs=[x, y])
    assert quad(f.as_lowlevel(), 0, 2, args=(3.0,))[0] == pytest.approx(8 + 1 - math.cos(2))
    assert nquad(f.as_lowlevel(), [(0, 1), (0, 1)])[0] == pytest.approx(1 / 6 + 1 - math.cos(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(quad(f.as_lowlevel(), 0, 2)[0])  # too few arguments are not read beyond their end
    a, b, c = sg.symbols("a b c")
    bent = sg.compile(a - 2 * b + c, inputs=[a, b, c]).as_lowlevel("filter")
    assert generic_filter(np.arange(5.0) ** 2, bent, size=3)[1:-1].tolist() == [2.0] * 3
    with pytest.raises(RuntimeError):
        generic_filter(np.arange(5.0), bent, size=2)
    with pytest.raises(UsageError):
        f.as_lowlevel("root")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnsupportedError):
        sg.compile(x < y).as_lowlevel()


def test_the_declaration_in_c():
    x, y = sg.symbols("int double")
    kernel = sg.compile([x + y, x < y], inputs=[x, y], name="sqrt", dtype="float32")
    assert (
        kernel.c_signature == "void sqrt__point(float int_, float double_, float *out0, unsigned char *out1)"
    )
    outs = ctypes.c_float(), ctypes.c_ubyte()
    call = ctypes.CFUNCTYPE(None, ctypes.c_float, ctypes.c_float, *[ctypes.c_void_p] * 2)(kernel.address)
    call(1.5, 2.0, *map(ctypes.addressof, outs))
    assert [out.value for out in outs] == [3.5, 1]


def test_where_calls_are_safe_the_values_are_the_same():
    program = (
        "import symgrad as sg\nx, y = sg.symbols('x y')\n"
        "k = sg.compile([sg.exp(x)*y, x < y], inputs=[x, y])\n"
        "print(k.scalar(0.3, 2), k.scalar(0.3, y=2.0), k(0.3, 2.0), k(0.3, 2.0), k(0.3, 2.0))"
    )
    ways = [printed(program, env={"SYMGRAD_SAFE_CALLS": safe}) for safe in ("", "1")]
    assert ways[0] == ways[1]


def test_cubature_takes_kernels_of_vectors():
    """Of a gradient the integral is that of each entry; the ends may be infinite."""
    p = sg.parse("x : real[2]; w : real[2]; f = exp(-w@x)")
    w = np.array([1.0, 2.0])
    value, by_w = (sg.compile(e, [p["x"], p["w"]]) for e in (p["f"], sg.grad(p["f"], "w")))
    over = [(1 - math.exp(-a)) / a for a in w]
    slopes = [math.exp(-a) / a - (1 - math.exp(-a)) / a**2 for a in w]
    found = cubature(by_w, [0, 0], [1, 1], args=(w,))
    assert found.status == "converged"
    np.testing.assert_allclose(found.estimate, [slopes[0] * over[1], slopes[1] * over[0]], rtol=1e-12)
    np.testing.assert_allclose(cubature(value, [0, 0], [np.inf, np.inf], args=(w,)).estimate, 0.5, rtol=1e-8)


def test_outputs_are_called_as_in_the_program() -> None:
    p = sg.parse("x, y : real\nf = x**2*sin(y)")
    f, x = p["f"], p["x"]
    k = sg.compile([f, sg.grad(f, x), sg.grad(sg.grad(f, x), "y"), f + 1, sg.grad(f + 1, x)])
    assert k.output_names == ("f", "df_dx", "d2f_dx_dy", "out3", "out4")
    assert k.c_signature.endswith("double *f, double *df_dx, double *d2f_dx_dy, double *out3, double *out4)")
    assert sg.compile(x * 2).output_names == ("out",)
