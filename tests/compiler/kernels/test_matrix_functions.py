"""Functions of matrices in kernels: against SciPy, in both formats, at sizes, magnitudes and values at the edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import symgrad as sg

PROGRAM = sg.parse("""
X, E : real[n, n]
a = expm(X)
b = sinm(X)
c = cosm(X)
d = expm_frechet(X, E)
e = sinm_frechet(X, E)
f = cosm_frechet(X, E)
""")
NAMES = "abcdef"


def expected(x: Any, e: Any) -> list[Any]:
    frechet: Any = scipy.linalg.expm_frechet
    along = frechet(1j * x, 1j * e, compute_expm=False)
    return [
        *(scipy.linalg.expm(x), scipy.linalg.sinm(x), scipy.linalg.cosm(x)),
        *(frechet(x, e, compute_expm=False), along.imag, along.real),
    ]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-4)])
def test_values(dtype: str, tolerance: float) -> None:
    kernel = sg.compile([PROGRAM[name] for name in NAMES], dtype=dtype)
    rng = np.random.default_rng(7)
    for n, size, direction in ((1, 1, 1), (2, 0, 1), (3, 1e-3, 1e4), (5, 3, 1e-5), (6, 20, 1), (40, 2, 1e3)):
        x = (rng.normal(size=(n, n)) * size / np.sqrt(n)).astype(dtype)
        e = (rng.normal(size=(n, n)) * direction).astype(dtype)
        wanted = expected(x.astype(float), e.astype(float))
        for found, right in zip(kernel(x, e), wanted, strict=True):
            assert found.dtype == dtype
            np.testing.assert_allclose(found, right, rtol=0, atol=tolerance * np.max(np.abs(right)))


@pytest.mark.parametrize("n", [0, 1, 2, "n"])
def test_derivatives_are_linear_in_the_direction_whatever_its_size(n: int | str) -> None:
    """A large direction would cost the exponential digits, and a small one is lost beside one."""
    p = sg.parse(
        "X, E : real[n, n]\nd = expm_frechet(X, E)\ne = sinm_frechet(X, E)".replace("n, n", f"{n}, {n}")
    )
    kernel = sg.compile([p["d"], p["e"]])
    rng = np.random.default_rng(10)
    for size in (1, 4) if isinstance(n, str) else (n,):
        x, e = rng.normal(size=(2, size, size))
        wanted = kernel(x, e)
        for k in (-900, -300, -60, 60, 300, 900):
            for found, right in zip(kernel(x, np.ldexp(e, k)), wanted, strict=True):
                assert found.shape == (size, size)
                np.testing.assert_allclose(np.ldexp(found, -k), right, rtol=1e-13, atol=1e-13)


def test_stacks_and_edges() -> None:
    kernel = sg.compile(PROGRAM["a"])
    rng = np.random.default_rng(8)
    stack = rng.normal(size=(2, 3, 4, 4))
    np.testing.assert_allclose(kernel(stack), scipy.linalg.expm(stack), rtol=1e-12)
    assert kernel(np.zeros((0, 0))).shape == (0, 0)
    np.testing.assert_array_equal(kernel(np.zeros((3, 3))), np.eye(3))
    for bad in (np.nan, np.inf, -np.inf):
        x = np.eye(3)
        x[0, 2] = bad
        both = np.stack([x, np.zeros((3, 3))])
        assert np.isnan(kernel(both)[0]).all()
        np.testing.assert_array_equal(kernel(both)[1], np.eye(3))
        assert np.isnan(PROGRAM["a"](X=x)).all()
    np.testing.assert_array_equal(kernel(np.diag([-1e5, 0.0])), np.diag([0.0, 1.0]))
    zero = sg.compile(PROGRAM["d"])(x := rng.normal(size=(3, 3)), np.zeros((3, 3)))
    np.testing.assert_array_equal(zero, np.zeros((3, 3)))
    assert np.isnan(sg.compile(PROGRAM["d"])(x, np.full((3, 3), np.nan))).all()
    whole = sg.parse("K : int[n, n]\ny = expm(K)")["y"]
    np.testing.assert_allclose(sg.compile(whole)(np.eye(2, dtype=int)), np.e * np.eye(2), rtol=1e-15)


def test_gradients() -> None:
    p = sg.parse("X : real[n, n]\nb : real[n]\ny = b@expm(X)@b + trace(sinm(X)@cosm(X))")
    gradient = sg.grad(p["y"], p["X"])
    rng = np.random.default_rng(9)
    x, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    found, step = sg.compile(gradient)(X=x, b=b), 1e-6
    np.testing.assert_allclose(found, gradient(X=x, b=b), rtol=1e-12, atol=1e-12)
    for i, j in np.ndindex(4, 4):
        moved = np.zeros((4, 4))
        moved[i, j] = step
        slope = (p["y"](X=x + moved, b=b) - p["y"](X=x - moved, b=b)) / (2 * step)
        assert abs(slope - found[i, j]) < 1e-7 * (1 + abs(slope))
