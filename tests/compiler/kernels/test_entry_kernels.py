"""Kernels of small arrays, which compute entries as scalars: layouts, batches, files, and singular matrices."""

from __future__ import annotations

import ctypes
import pickle
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.forms.output import Arrangement
from symgrad.compiler.kernels.array_kernel import ArrayKernel
from symgrad.compiler.kernels.compile import compile_nodes, kept_kernel, save_native
from symgrad.compiler.llvm.entries.entry_code import EntryCode
from tests.compiler.kernels.c_libraries import library
from tests.compiler.kernels.formulas import same_bits
from tests.compiler.kernels.test_artefact import needs_cc

PROGRAM = sg.parse(
    """F : real[3, 3]; v : real[5]; m : bool[2]; c : real
    w = log(det(F.T@F) + c**2) + exp(sum(v[:3]*(F@v[1:4])))*sqrt(c**2 + 1)
    z = where(m[0], F, F.T)
    s = cumsum(v) + max(v)
    b = v > c"""
)


def outputs() -> list[sg.Expr]:
    w = PROGRAM["w"]
    return [w, sg.grad(w, "F"), sg.grad(w, "v"), sg.grad(w, "c"), PROGRAM["z"], PROGRAM["s"], PROGRAM["b"]]


def draw(kernel: sg.Kernel, batch: tuple[int, ...], seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for node, kind in zip(kernel.symbols, kernel.kinds, strict=False):
        shape: Any = batch + node.shape
        values = rng.normal(size=shape)
        found.append(values > 0 if node.dtype == "bool" else values.astype(kind))
    return found


@pytest.fixture(scope="module", params=["float64", "float32"])
def kernel(request: pytest.FixtureRequest) -> ArrayKernel:
    found = sg.compile(outputs(), name="program", dtype=request.param)
    assert isinstance(found, ArrayKernel)
    assert isinstance(found.code, EntryCode)
    return found


def agree(found: Any, expected: Any) -> bool:
    return all(same_bits(np.asarray(a), np.asarray(b)) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 31, 200])
def test_a_point_has_the_same_bits_in_every_batch(kernel, n):
    values = draw(kernel, (n,))
    together = kernel(*values)
    for i in {0, n // 2, n - 1}:
        assert agree(kernel(*(v[i] for v in values)), [y[i] for y in together])


def test_layouts(kernel):
    values = draw(kernel, (6, 20))
    expected = kernel(*values)
    reordered = [
        [np.asfortranarray(v) for v in values],
        [v[::-1, ::-1].copy()[::-1, ::-1] for v in values],
        [
            np.repeat(np.repeat(v, 2, axis=1), 2, axis=-1)[:, ::2, ..., ::2] if v.ndim > 2 else v
            for v in values
        ],
    ]
    for others in reordered:
        assert agree(kernel(*others), expected)
        outs = tuple(np.zeros(y.shape[::-1], y.dtype).T for y in expected)
        kernel(*others, out=outs)
        assert agree(outs, expected)


def test_inputs_broadcast(kernel):
    values = draw(kernel, (30,))
    fixed = [v[3] if k % 2 else v for k, v in enumerate(values)]
    shapes: list[Any] = [(30, *s.shape) for s in kernel.symbols]
    whole = [np.broadcast_to(v, shape).copy() for v, shape in zip(fixed, shapes, strict=True)]
    assert agree(kernel(*fixed), kernel(*whole))
    assert agree(kernel(*(v[:0] for v in values)), [y[:0] for y in kernel(*values)])


def test_threads_and_the_bare_ufunc_give_the_same_bits(kernel):
    values = draw(kernel, (3000,))
    expected = kernel(*values)
    assert agree(kernel.ufunc(*values), expected)
    with_threads = sg.compile(outputs(), dtype=str(kernel.dtype), threads=2)
    assert agree(with_threads(*values), expected)


def test_an_output_may_be_an_input():
    F = sg.tensor("F", (3, 3))
    k = sg.compile([F @ F + F.T, sg.sum(F)])
    values = np.random.default_rng(0).normal(size=(40, 3, 3))
    expected = k(values)
    for call in (k, k.ufunc):
        data = values.copy()
        found = call(data, out=(data, None))
        assert agree(found, expected)
        row = np.zeros(40 + 9 * 40)
        inside = row[: 9 * 40].reshape(40, 3, 3)
        inside[...] = values
        found = call(inside, out=(np.empty((40, 3, 3)), row[:40]))
        assert agree(found, expected)


def test_pickles_caches_and_objects_have_the_same_bits(kernel, tmp_path):
    values = draw(kernel, (33,))
    expected = kernel(*values)
    again = pickle.loads(pickle.dumps(kernel))
    assert isinstance(again.code, EntryCode)
    assert agree(again(*values), expected)
    kept: list[bytes] = []
    compile_nodes(
        kernel.outputs, kernel.symbols, dtype=str(kernel.dtype), fusable=kernel.fusable, keep=kept.append
    )
    loaded = kept_kernel(
        kept[0],
        lambda: Arrangement(kernel.outputs, kernel.fusable),
        kernel.symbols,
        dtype=str(kernel.dtype),
        name="program",
        threads=1,
        fast=False,
        effort="auto",
        save=save_native,
    )
    assert agree(loaded(*values), expected)
    assert loaded.llvm_ir == kernel.llvm_ir
    object_file = sg.load(kernel.save(tmp_path / "program.o")[0])
    assert agree(object_file(*values), expected)


@needs_cc
def test_c_has_the_same_bits(kernel, tmp_path: Path):
    function = library(kernel, tmp_path).k
    values = draw(kernel, (12,))
    expected = kernel(*values)
    for i in range(12):
        arrays = [np.ascontiguousarray(v[i]) for v in values]
        outs = [np.zeros_like(y[i]) if y.ndim > 1 else np.zeros((), y.dtype) for y in expected]
        assert function(*(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *outs))) == 0
        assert agree(outs, [y[i] for y in expected])


def test_a_program_of_numbers_with_arrays_inside_is_elementwise():
    p = sg.parse(
        """x : real; y : real
        r = stack([stack([cos(x), -sin(x)]), stack([sin(x), cos(x)])]); f = sum((r@stack([y, 1]))**2)"""
    )
    k = sg.compile([p["f"], sg.grad(p["f"], "y")])
    assert not isinstance(k, ArrayKernel)
    values = np.random.default_rng(0).normal(size=(2, 50))
    np.testing.assert_allclose(k(*values), [values[1] ** 2 + 1, 2 * values[1]], rtol=1e-12)


def test_elimination_keeps_the_digits_of_lapack():
    rng = np.random.default_rng(0)
    for n in range(1, 7):
        a, b = sg.tensor("A", (n, n)), sg.tensor("b", (n,))
        k = sg.compile([sg.linalg.solve(a, b), sg.linalg.inv(a), sg.linalg.det(a), sg.linalg.logdet(a)])
        assert isinstance(k, ArrayKernel)
        assert isinstance(k.code, EntryCode)
        u, _ = np.linalg.qr(rng.normal(size=(200, n, n)))
        v, _ = np.linalg.qr(rng.normal(size=(200, n, n)))
        spread = 10.0 ** -rng.uniform(0, 8, size=(200, 1, n))
        matrices, sides = u * spread @ v, rng.normal(size=(200, n))
        solution, inverse, determinant, log_size = k(matrices, sides)
        scale = np.linalg.norm(matrices, axis=(1, 2)) * np.linalg.norm(solution, axis=1)
        error = np.linalg.norm((matrices @ solution[..., None])[..., 0] - sides, axis=1)
        assert np.all(error < 4e-15 * n * scale)
        exact = np.linalg.inv(matrices)
        condition = np.linalg.cond(matrices)[:, None, None]
        size = np.abs(exact).max(axis=(1, 2), keepdims=True)
        assert np.all(np.abs(inverse - exact) < 4e-15 * n * condition * size)
        sign, expected = np.linalg.slogdet(matrices)
        assert np.array_equal(np.sign(determinant), sign)
        np.testing.assert_allclose(log_size, expected, rtol=0, atol=1e-14 * n * condition.max())


def test_singular_matrices():
    a = sg.tensor("A", (3, 3))
    k = sg.compile([sg.linalg.det(a), sg.linalg.logdet(a), sg.linalg.inv(a)])
    zero_pivots = np.array([np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0, 2]), np.diag([1, 2, np.nan])])
    determinant, log_size, inverse = k(zero_pivots)
    assert list(determinant[:3]) == [0, 0, 0]
    assert list(log_size[:3]) == [-np.inf] * 3
    assert np.isnan(determinant[3])
    assert np.all(np.isnan(inverse))


@pytest.mark.parametrize(
    "factors",
    [
        (1e200, 1e200, 1e-200),
        (-1e-200, 1e-200, 1e200),
        (1e200, -1e-200, 1e200),
        (0, 1e300, 1e300),
        (5e-324, 1e300, 3),
        (1e-310, 1.0000001, 2.0**60),
        (1e155, 1e155, 1e-3),
    ],
)
def test_three_pivots_are_multiplied_in_an_order_that_keeps_their_digits(factors):
    a = sg.tensor("A", (3, 3))
    k = sg.compile(sg.linalg.det(a))
    exact = float(np.prod(np.array(factors, dtype=np.longdouble)))
    for order in permutations(factors):
        assert k(np.diag(order)) == pytest.approx(exact, rel=1e-15)


def test_a_determinant_beyond_the_range_of_partial_products():
    a = sg.tensor("A", (4, 4))
    k = sg.compile(sg.linalg.det(a))
    assert k(np.diag([1e200, 1e200, 1e-200, 1e-200])) == pytest.approx(1)
    assert k(np.diag([1e-200, 1e-200, 1e200, -1e200])) == pytest.approx(-1)
