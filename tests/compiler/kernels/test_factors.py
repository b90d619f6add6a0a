"""Kernels of linear algebra: every size, stacks, singular matrices, NaN, numbers at the ends of the range."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.lowering.arrays.normal_form import to_normal_form
from symgrad.ir.graph import OPS, Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import INT
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array import linalg
from symgrad.ops.array.factors import FACTORS
from tests.compiler.kernels.programs import array

A, T, b, B = array("A", "n", "n"), array("T", "k", "n", "n"), array("b", "n"), array("B", "n", "m")
OUTPUTS = [
    linalg.inv(A),
    linalg.det(A),
    linalg.logdet(A),
    linalg.solve(A, b),
    linalg.solve(A, B),
    linalg.solve(linalg.adjoint(A), b),
    linalg.inv(T),
    linalg.det(T),
    linalg.logdet(T),
    linalg.solve(T, B),
]
INPUTS = [A, T, b, B]


def values(n: int, m: int, k: int, dtype: str = "float64", seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    shapes = [(n, n), (k, n, n), (n,), (n, m)]
    scale = 1 / np.sqrt(max(n, 1))  # far from singular, at every size
    return [
        (rng.normal(size=s) * scale + (3 * np.eye(n) if s[-2:] == (n, n) else 0)).astype(dtype)
        for s in shapes
    ]


@pytest.fixture(scope="module", params=["float64", "float32"])
def kernel(request: pytest.FixtureRequest) -> Any:
    return compile_nodes(OUTPUTS, INPUTS, dtype=request.param)


@pytest.mark.parametrize(
    "sizes", [(0, 2, 3), (1, 1, 1), (2, 0, 2), (3, 4, 0), (5, 3, 2), (33, 2, 2), (120, 130, 1)], ids=str
)
def test_what_numpy_computes(kernel: Any, sizes: tuple[int, int, int]) -> None:
    dtype = str(kernel.dtype)
    given = values(*sizes, dtype=dtype)
    wanted = evaluate(OUTPUTS, dict(zip(INPUTS, (g.astype(float) for g in given), strict=True)))
    tolerance = 1e-9 if dtype == "float64" else 2e-3
    for found, expected in zip(as_tuple(kernel(*given)), wanted, strict=True):
        found, expected = np.asarray(found, dtype=float), np.asarray(expected)
        assert found.shape == expected.shape
        if dtype == "float32" and np.any(np.abs(expected) > 1e37):
            continue  # determinants beyond the format
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def one(node: Node, dtype: str, *given: Any) -> Any:
    return compile_nodes([node], symbols_of([node]), dtype=dtype)(*given)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
class TestSingular:
    def test_one_matrix(self, dtype: str) -> None:
        ones = np.ones((3, 3), dtype)
        assert np.all(np.isnan(one(linalg.inv(A), dtype, ones)))
        assert np.all(np.isnan(one(linalg.solve(A, b), dtype, ones, ones[0])))
        assert one(linalg.det(A), dtype, ones) == 0
        assert one(linalg.logdet(A), dtype, ones) == -np.inf

    def test_in_a_stack_only_that_one(self, dtype: str) -> None:
        stack = np.stack([np.ones((2, 2)), 2 * np.eye(2)]).astype(dtype)
        for node, given in ((linalg.inv(T), stack), (linalg.inv(A), stack)):
            found = one(node, dtype, given)
            assert np.all(np.isnan(found[0]))
            assert np.array_equal(found[1], np.eye(2) / 2)
        assert list(one(linalg.det(T), dtype, stack)) == [0, 4]

    def test_nan(self, dtype: str) -> None:
        for place in ((0, 0), (1, 2), (2, 0)):
            matrix = np.eye(3, dtype=dtype)
            matrix[place] = np.nan
            for node in (linalg.inv(A), linalg.det(A), linalg.logdet(A)):
                assert np.any(np.isnan(one(node, dtype, matrix)))


def test_a_determinant_in_range_whose_partial_products_are_not() -> None:
    for diagonal in ([1e200, 1e200, 1e-200, 1e-200], [1e-200, 1e-200, 1e200, 1e200]):
        assert one(linalg.det(A), "float64", np.diag(diagonal)) == pytest.approx(1, rel=1e-12)
    assert one(linalg.det(A), "float64", np.diag([1e200, -1e200, 1e200])) == -np.inf
    assert one(linalg.logdet(A), "float64", 1e-300 * np.eye(5)) == pytest.approx(5 * np.log(1e-300))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_determinants_whatever_the_sizes_of_the_pivots(dtype: str) -> None:
    """Products overflow and vanish on the way, in every order; in the end they do only where they must."""
    limits = np.finfo(dtype)
    determinants = compile_nodes([linalg.det(A), linalg.det(T)], [A, T], dtype=dtype)
    seen: set[str] = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        sizes = rng.uniform(-0.9, 0.9, n) * limits.maxexp
        if seed % 3:
            sizes -= sizes.mean()
        pivots = (np.exp2(np.clip(sizes, limits.minexp, limits.maxexp - 1)) * rng.choice([-1, 1], n)).astype(
            dtype
        )
        order = rng.permutation(n)
        matrix = np.diag(pivots)[order]
        exact = math.prod(map(Fraction, pivots.tolist())) * round(np.linalg.det(np.eye(n)[order]))
        found, stack = as_tuple(determinants(matrix, np.stack([np.eye(n, dtype=dtype), matrix])))
        assert stack[0] == 1
        for value in (float(found), float(stack[1])):
            assert (value < 0) == (exact < 0) or value == 0
            if abs(exact) > Fraction(float(limits.max)):
                assert math.isinf(value)
                seen.add("infinite")
            elif abs(exact) < Fraction(float(limits.smallest_subnormal)) / 2:
                assert value == 0
                seen.add("zero")
            elif abs(exact) > Fraction(float(limits.tiny)):
                assert abs(Fraction(value) / exact - 1) < n * limits.eps
                with np.errstate(over="ignore", under="ignore"):
                    seen.add("direct" if np.prod(pivots) == value else "other")
    assert seen == {"infinite", "zero", "direct", "other"}


def test_whole_numbers() -> None:
    whole = array("W", "n", "n", domain=INT)
    given = np.array([[1, 2], [3, 4]])
    assert one(linalg.det(whole), "float64", given) == pytest.approx(-2)
    assert np.allclose(one(linalg.inv(whole), "float64", given), [[-2, 1], [1.5, -0.5]])
    assert np.allclose(one(linalg.solve(whole, OPS["iota"](params=("n",))), "float64", given), [1, -0.5])


def test_whatever_is_asked_of_a_matrix_it_is_eliminated_once() -> None:
    loss = OPS["add"](linalg.logdet(A), OPS["einsum"](b, linalg.solve(A, b), params=(((0,), (0,)), ())))
    X, y = sg.tensor("A", ("n", "n")), sg.tensor("b", ("n",))
    gradients = sg.gradients(sg.linalg.logdet(X) + y @ sg.linalg.solve(X, y), [X, y])
    order = topological(to_normal_form([loss, *(g.node for g in gradients)]))
    assert [n.op.name for n in order].count("lu") == 1


def test_ops_of_kernels_are_none_of_formulas() -> None:
    assert not FACTORS & set(OPS)


def test_a_kernel_that_stands_alone_names_its_routines(tmp_path: Any) -> None:
    write_artefacts(compile_nodes([linalg.inv(A)], [A], name="inverse"), tmp_path / "inverse", cpu="baseline")
    assert "-llapack -lblas" in (tmp_path / "inverse.h").read_text()
