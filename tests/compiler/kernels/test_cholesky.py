"""Cholesky factors and triangular systems in kernels, in C and by calls: every size, bad matrices, unread entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import symgrad as sg
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.lowering.arrays.normal_form import to_normal_form
from symgrad.ir.traverse import topological
from symgrad.support.errors import ShapeError

N = "n"
A, b, B = sg.tensor("A", (N, N)), sg.tensor("b", (N,)), sg.tensor("B", (N, "m"))
T = sg.tensor("T", ("k", N, N))
SIZES = (0, 1, 2, 3, 6, 7, 40, 150)


def definite(n: int, seed: int = 0, *lead: int) -> Any:
    x = np.random.default_rng(seed).normal(size=(*lead, n, n))
    return x @ np.swapaxes(x, -1, -2) + (1 + n / 4) * np.eye(n)


def read_only(a: Any, *, lower: bool = True) -> Any:
    """Return a matrix with NaN in the triangle that must not be read."""
    n = a.shape[-1]
    rows, columns = np.indices((n, n))
    return np.where(rows >= columns if lower else rows <= columns, a, np.nan)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_factors_at_every_size(dtype: str) -> None:
    found = sg.compile([sg.linalg.cholesky(A), sg.linalg.cholesky(T)], [A, T], dtype=dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-4
    for n in SIZES:
        given = read_only(definite(n)).astype(dtype), read_only(definite(n, 1, 3)).astype(dtype)
        for factor, value in zip(found(*given), given, strict=True):
            assert np.array_equal(factor, np.tril(factor))
            np.testing.assert_allclose(factor, np.linalg.cholesky(value), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [2, 5, 7])
@pytest.mark.parametrize("where", ["kernel", "call", "small kernel"])
def test_no_factor_of_a_matrix_that_is_not_definite(n: int, where: str) -> None:
    X = sg.tensor("X", (n, n))
    factor = sg.linalg.cholesky(X if where == "small kernel" else A)
    f: Any = (lambda x: factor(A=x)) if where == "call" else sg.compile(factor)
    lacking = definite(n)
    lacking[n - 1, 0] = np.nan
    vectors = np.random.default_rng(n).normal(size=(n, n - 1))
    indefinite = definite(n)
    indefinite[1, 1] = -1
    zero = np.diag([*np.ones(n - 1), 0.0])
    for bad in (indefinite, -np.eye(n), zero, lacking, np.full((n, n), np.nan), -vectors @ vectors.T):
        assert np.isnan(f(bad)).all()
    assert np.array_equal(f(read_only(np.eye(n))), np.eye(n))


def test_in_a_stack_only_the_bad_matrix_is_nan() -> None:
    given = np.stack([np.eye(3), -np.eye(3), 4 * np.eye(3)])
    factor = sg.linalg.cholesky(T)
    for found in (factor(T=given), sg.compile(factor)(given)):
        assert np.isnan(found[1]).all()
        assert np.array_equal(found[::2], np.stack([np.eye(3), 2 * np.eye(3)]))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_triangular_systems(dtype: str, lower: bool) -> None:
    """One triangle is read, by forward or back substitution, for vectors, matrices, stacks and transposes."""
    outputs = [
        sg.linalg.solve_triangular(A, b, lower=lower),
        sg.linalg.solve_triangular(A, B, lower=lower),
        sg.linalg.solve_triangular(A.T, b, lower=not lower),
        sg.linalg.solve_triangular(T, B, lower=lower),
    ]
    names = {n.op.name for n in topological(to_normal_form([o.node for o in outputs]))}
    assert "triangular_solve" in names
    assert "lu" not in names
    solve = sg.compile(outputs, [A, b, B, T], dtype=dtype)
    tolerance = 1e-10 if dtype == "float64" else 1e-3
    for n in SIZES:
        rng = np.random.default_rng(n)
        a, stack = definite(n), definite(n, 1, 2)
        a, stack = (read_only(x, lower=lower) for x in (a, stack))
        side, sides = rng.normal(size=n), rng.normal(size=(n, 3))
        given = [x.astype(dtype) for x in (a, side, sides, stack)]
        if n == 0:
            assert [f.shape for f in solve(*given)] == [(0,), (0, 3), (0,), (2, 0, 3)]
            continue

        def solved(matrix: Any, right: Any, trans: Any = 0) -> Any:
            return scipy.linalg.solve_triangular(np.nan_to_num(matrix), right, trans=trans, lower=lower)

        wanted = [
            solved(a, side),
            solved(a, sides),
            solved(a, side, 1),
            np.stack([solved(x, sides) for x in stack]),
        ]
        for found, expected in zip(solve(*given), wanted, strict=True):
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [3, 9])
def test_a_triangle_with_a_zero_on_its_diagonal_is_singular(n: int) -> None:
    X, x = sg.tensor("X", (n, n)), sg.tensor("x", (n,))
    found = sg.compile(sg.linalg.solve_triangular(X, x, lower=True))
    values = np.tril(np.ones((n, n)))
    assert np.isfinite(found(values, np.ones(n))).all()
    values[1, 1] = 0
    assert np.isnan(found(values, np.ones(n))).all()


def test_a_matrix_is_factored_once_for_the_density_and_its_gradient() -> None:
    L = sg.linalg.cholesky(A)
    z = sg.linalg.solve_triangular(L, b, lower=True)
    density = -z @ z / 2 - sg.sum(sg.log(sg.arrays.diag(L)))
    gradients = sg.gradients(density, [A, b])
    order = [n.op.name for n in topological(to_normal_form([density.node, *(g.node for g in gradients)]))]
    assert order.count("cholesky_factor") == 1
    assert "lu" not in order
    kernel = sg.compile([density, *gradients], [A, b])
    for n in SIZES:
        a, x = definite(n), np.random.default_rng(n).normal(size=n)
        w = np.linalg.solve(a, x)
        slope = np.outer(w, w) - np.linalg.inv(a)
        found = kernel(read_only(a), x)
        np.testing.assert_allclose(found[0], -x @ w / 2 - np.linalg.slogdet(a)[1] / 2, atol=1e-10)
        np.testing.assert_allclose(found[1], np.tril(slope) - np.diag(np.diag(slope)) / 2, atol=1e-10)
        np.testing.assert_allclose(found[2], -w, atol=1e-10)


def test_the_small_matrices_of_a_kernel_are_written_out() -> None:
    X, x = sg.tensor("X", (4, 4)), sg.tensor("x", (4,))
    L = sg.linalg.cholesky(X)
    outputs = [L, sg.linalg.solve_triangular(L, x, lower=True), sg.linalg.solve(L.T, x)]
    kernel = compile_nodes([o.node for o in outputs], [X.node, x.node])
    a, right = definite(4), np.arange(4.0)
    factor = np.linalg.cholesky(a)
    for found, wanted in zip(
        kernel(read_only(a), right),
        [factor, np.linalg.solve(factor, right), np.linalg.solve(factor.T, right)],
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_the_upper_factor_is_the_transpose_for_the_upper_triangle() -> None:
    a = definite(4)
    found: Any = np.linalg.cholesky(A, upper=True)
    value = found(A=read_only(a, lower=False))
    np.testing.assert_allclose(value, scipy.linalg.cholesky(a), rtol=1e-12)


def test_matrices_that_are_not_square() -> None:
    for function in (sg.linalg.cholesky, lambda x: sg.linalg.solve_triangular(x, b)):
        with pytest.raises(ShapeError, match="square"):
            function(B)
