"""Code for GPUs: what each thread computes, by running the same code on this machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedError
from tests.compiler.kernels.c_libraries import as_c_has_it
from tests.compiler.kernels.formulas import same_bits
from tests.compiler.kernels.grids import Emulated

RNG = np.random.default_rng(7)

FUNCTIONS = """exp exp2 expm1 log log2 log10 log1p sigmoid softplus sinh cosh tanh asinh acosh atanh sin cos tan asin
acos atan erf erfc cbrt sqrt digamma abs floor ceil round"""


def wave(dtype: str = "float64", accuracy: str = "high") -> Any:
    p = sg.parse(
        "x : real\nb : bool\nu : real\nz = where(b, exp(-x**2)*sin(u), x/u) + atan2(x, u)*hypot(x, u)**1.5"
    )
    outputs = [p["z"], *sg.grad(p["z"], ["x", "u"]), p["b"]]
    return sg.compile(outputs, ["x", "b", "u"], dtype=dtype, accuracy=accuracy)


def given(n: int) -> tuple[np.ndarray, ...]:
    x = RNG.normal(size=n)
    return x, x > 0.3, RNG.uniform(0.5, 1.5, n)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_a_grid_computes_the_bits_of_the_cpu(dtype: str, accuracy: str) -> None:
    """Every grid, of one thread to more than there are points, and every length; where the CPU has no AVX-512."""
    kernel = wave(dtype, accuracy)
    lanes = 16 // kernel.dtype.itemsize
    emulated = Emulated(kernel, neighbours=lanes)
    for n in (1, 2, 5, 8, 61):
        arrays = given(n)
        wanted = as_c_has_it(kernel, fused=True, arrays=arrays)
        for blocks, threads in ((1, 1), (2, 1), (1, 3), (5, 1), (2, 3), (7, 2), (9, 8)):
            for name in ("k", "k_aligned"):
                for a, b in zip(emulated.whole(arrays, blocks, threads, name), wanted, strict=True):
                    assert same_bits(a, b)
    assert all(len(a) == 0 for a in emulated.whole(given(0), 3, 2))


def test_many_equations_are_in_pieces() -> None:
    """Values that wait between pieces are each thread's own."""
    kernel = wave()
    arrays = given(37)
    wanted = as_c_has_it(kernel, fused=True, arrays=arrays)
    for chunk in (1, 2, 7):
        emulated = Emulated(kernel, neighbours=2, chunk=chunk)
        for name in ("k", "k_aligned"):
            for a, b in zip(emulated.whole(arrays, 2, 3, name), wanted, strict=True):
                assert same_bits(a, b)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_strides_rows_and_numbers(dtype: str) -> None:
    kernel = wave(dtype)
    emulated = Emulated(kernel)
    x, b, u = (a.reshape(5, 13) for a in given(65))
    x = x.astype(dtype)
    u = u.astype(dtype)
    cases: list[list[Any]] = [
        [x, b, u],
        [x.T.copy().T, b, u[:, ::-1]],
        [x[:1] + np.zeros_like(x), b, 0.75],
        [np.broadcast_to(x[:, :1], x.shape), np.broadcast_to(b[:1], x.shape), u],
        [-0.5, True, u],
        [0.25, b, 1.5],
    ]
    for inputs in cases:
        flat = [np.broadcast_to(np.asarray(a), x.shape).ravel() for a in inputs]
        wanted = as_c_has_it(kernel, fused=True, arrays=flat)
        for blocks, threads in (((1, 1), 1), ((2, 3), 4), ((1, 7), 16)):
            tables = [np.zeros((5, 26), kind)[:, ::2] for kind in kernel.kinds[3:]]
            emulated.strided(inputs, tables, blocks, threads)
            for a, w in zip(tables, wanted, strict=True):
                assert same_bits(np.ascontiguousarray(a).ravel(), w)
                assert not a.base[:, 1::2].any()


def test_an_output_may_be_an_input() -> None:
    p = sg.parse("x : real\ny : real\nz = x*exp(y)\nw = x - y")
    kernel = sg.compile([p["z"], p["w"]], ["x", "y"])
    x, _, y = given(40)
    wanted = as_c_has_it(kernel, fused=True, arrays=(x, y))
    emulated = Emulated(kernel)
    both = [x.reshape(1, 40).copy(), y.reshape(1, 40).copy()]
    emulated.strided(both, both[::-1], (3, 1), 4)
    for a, w in zip(both[::-1], wanted, strict=True):
        assert same_bits(a.ravel(), w)


@pytest.mark.parametrize("name", FUNCTIONS.split())
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_have_the_bits_of_the_cpu(name: str, dtype: str) -> None:
    """Up to the arguments at which the CPU calls C, which a GPU has not."""
    kernel = sg.compile(_parsed(name), dtype=dtype)
    x = np.concatenate(
        [
            RNG.normal(size=200),
            RNG.uniform(-30, 30, 200),
            [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-300, 5e-324, 745.2, -745.2, 1e5],
        ]
    ).astype(dtype)
    wanted = as_c_has_it(kernel, fused=True, arrays=(x,))
    (found,) = Emulated(kernel).whole((x,), 2, 3)
    assert same_bits(found, wanted[0])


def _parsed(name: str) -> Any:
    return sg.parse(f"x : real\ny = {name}(x)")["y"]


def test_what_needs_a_library_is_refused() -> None:
    for name, called in (("gamma", "tgamma"), ("erfinv", "erfinv")):
        with pytest.raises(UnsupportedError, match=f"the code of {called} is in a library"):
            Emulated(sg.compile(_parsed(name)))
