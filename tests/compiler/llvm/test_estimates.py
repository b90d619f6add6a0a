"""Roots of derivatives by products: as good as the instruction for roots, and as it behaves at the ends."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.engine.target import host
from tests.compiler.kernels.formulas import op, x

needs_estimates = pytest.mark.skipif(not host().target.estimates, reason="this processor has no AVX-512")
ROOT = op("sqrt", x)
LONG = op("sqrt", op("add", op("tanh", op("sin", op("sin", op("sin", op("sin", op("sin", x)))))), x))


@needs_estimates
def test_values() -> None:
    kernel = compile_nodes([ROOT], [x], fusable=[ROOT])
    assert "rsqrt14" in kernel.llvm_ir
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 0x7FF0_0000_0000_0000, 200_000, dtype=np.int64).view(np.float64)
    squares = rng.integers(1, 2**26, 50_000).astype(float) ** 2
    at = np.concatenate(
        [bits, squares, np.nextafter(squares, 0), rng.integers(1, 2**52, 1000).view(np.float64)]
    )
    expected = np.sqrt(at)
    found = kernel(at)
    np.testing.assert_array_max_ulp(found, expected, 1)
    assert (found == expected).mean() > 0.999
    np.testing.assert_array_equal(kernel(squares), np.sqrt(squares))


@needs_estimates
def test_ends() -> None:
    kernel = compile_nodes([ROOT], [x], fusable=[ROOT])
    at = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -5e-324, 5e-324, np.finfo(float).max])
    with np.errstate(all="ignore"):
        expected = np.sqrt(at)
    np.testing.assert_array_equal(kernel(at), expected)
    np.testing.assert_array_equal(np.signbit(kernel(at)[:2]), [False, True])


@needs_estimates
def test_two_vectors_side_by_side_give_the_same_bits() -> None:
    from symgrad.ir.traverse import topological

    kernel = compile_nodes([LONG], [x], fusable=topological([LONG]))
    assert "<16 x double>" in kernel.llvm_ir
    assert "rsqrt14" in kernel.llvm_ir
    at = np.random.default_rng(2).uniform(1, 9, 1000)
    np.testing.assert_array_max_ulp(kernel(at), compile_nodes([LONG], [x])(at), 2)


def test_what_the_user_wrote_takes_the_instruction() -> None:
    assert "rsqrt14" not in compile_nodes([ROOT], [x]).llvm_ir
    assert "rsqrt14" not in compile_nodes([ROOT], [x], dtype="float32", fusable=[ROOT]).llvm_ir
