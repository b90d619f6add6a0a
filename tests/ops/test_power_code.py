"""Powers with small rational exponents: as good as a power function, and as one behaves at the ends."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.compiler.llvm.engine.target import Target
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.lowering.elementwise.schedule import schedule
from symgrad.ir.graph import OPS, number
from symgrad.ops.numpy_builder import ARRAYS

X = sg.symbols("x")
WHOLE = [Fraction(n) for n in (-64, -7, -5, -4, -3, -2, 3, 4, 5, 6, 11, 31, 64)]
ROOTS = [Fraction(n, 2) for n in (-7, -3, -1, 3, 5, 13)]
ROOTS += [Fraction(n, 3) for n in (-17, -7, -5, -4, -2, -1, 1, 2, 4, 5, 7, 17)]


def ulps(found: float, base: float, exponent: Fraction, dtype: type) -> float:
    kind = np.finfo(dtype)
    with mpmath.workprec(250):
        exact = mpmath.mpf(float(base)) ** (mpmath.mpf(exponent.numerator) / exponent.denominator)
        if not float(kind.tiny) < abs(exact) < float(kind.max):
            return 0.0
        _, e = mpmath.frexp(exact)
        return float(abs(mpmath.mpf(float(found)) - exact) / mpmath.ldexp(1, int(e) - kind.nmant - 1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("exponent", [*WHOLE, *ROOTS], ids=str)
def test_errors_stay_within_one_ulp(exponent: Fraction, dtype: type) -> None:
    rng = np.random.default_rng(3)
    largest = float(np.log2(np.finfo(dtype).max))
    at = np.concatenate([rng.uniform(0.5, 8, 60), 2.0 ** rng.uniform(1 - largest, largest, 60)]).astype(dtype)
    found = sg.compile(X**exponent, [X], dtype=np.dtype(dtype).name)(at)
    assert max(ulps(f, a, exponent, dtype) for f, a in zip(found, at, strict=True)) <= 1
    if exponent.denominator == 1:
        sign = -1 if exponent.numerator % 2 else 1
        np.testing.assert_array_equal(
            sg.compile(X**exponent, [X], dtype=np.dtype(dtype).name)(-at), sign * found
        )


@pytest.mark.parametrize("exponent", [*WHOLE, *ROOTS], ids=str)
def test_ends_are_those_of_the_real_power(exponent: Fraction) -> None:
    at = np.array([0.0, -0.0, 1.0, np.inf, np.nan, 5e-324, np.finfo(float).max])
    found = sg.compile(X**exponent, [X])(at)
    with np.errstate(all="ignore"):
        expected = np.power(at, float(exponent))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(
        np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(expected)])
    )
    below = sg.compile(X**exponent, [X])(np.array([-2.0, -1e-300, -np.inf]))
    assert np.isnan(below).all() == (exponent.denominator > 1)


@pytest.mark.parametrize("exponent", [Fraction(-3), Fraction(4), Fraction(3, 2), Fraction(-5, 3)], ids=str)
def test_processors_without_a_fused_product_compute_it_too(exponent: Fraction) -> None:
    code = ElementwiseCode(
        schedule([(X**exponent).node], [X.node]), float_type("float64"), Target(16, fused=False)
    )
    assert "llvm.fma" not in code.module.ir


@pytest.mark.parametrize("exponent", [*WHOLE, *ROOTS, *map(Fraction, (-1, 0, 1)), Fraction(1, 2)], ids=str)
def test_values_without_a_fused_product(exponent: Fraction) -> None:
    at = np.concatenate([np.random.default_rng(5).uniform(0.5, 8, 60), [0.0, 1.0, np.inf]])
    node = OPS["pow"](X.node, number(exponent))
    with np.errstate(all="ignore"):
        found = node.op.lower(ARRAYS, node, at, np.float64(exponent))
        np.testing.assert_allclose(found, np.power(at, float(exponent)), rtol=1e-14)


def test_powers_of_one_base_share_their_root() -> None:
    kernel = sg.compile([X ** Fraction(k, 3) for k in (1, 2, 4, -1, -5)], [X])
    assert kernel.llvm_ir.count("@maths.cbrt.") == 2  # its definition and one call
