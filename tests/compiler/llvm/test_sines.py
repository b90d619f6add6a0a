"""Sine and cosine, which are computed in two ways: both are good, and each has the same bits in all code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp

from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.llvm.maths import coefficients as c
from symgrad.compiler.llvm.maths import write_function
from symgrad.compiler.llvm.maths.vectors.lanes import FunctionOptions
from symgrad.compiler.llvm.text.types import float_type
from tests.compiler.kernels.formulas import as_tuple, op, same_bits, x
from tests.compiler.llvm.maths_cases import CASES, exact, kernel, sample, ulps

HERE = host().target
needs_tables = pytest.mark.skipif(not HERE.estimates, reason="this processor has no AVX-512")
needs_fused = pytest.mark.skipif(not HERE.fused, reason="this processor has no fused multiply-add")
NAMES = ["sin", "cos"]
LARGEST = 2.0**22 * math.pi / 8
ENDS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, -1e-200, 1e-120, 1e300, -1e300])


def test_directions() -> None:
    with mp.workprec(200):
        for k, (sine, cosine) in enumerate(zip(c.SINES, c.COSINES, strict=True)):
            there = mp.mpf(cosine) * mp.sinpi(mp.mpf(k) / 8) - mp.mpf(sine) * mp.cospi(mp.mpf(k) / 8)
            assert abs(there) < 2.0**-64
            lack = 1 / mp.hypot(sine, cosine) - 1
            assert abs(lack - c.LACKS[k % 8]) < 2.0**-100
            assert abs(lack) < 2.0**-50.9


@needs_fused
@pytest.mark.parametrize(("dtype", "fast"), [("float64", False), ("float64", True), ("float32", False)])
@pytest.mark.parametrize("name", NAMES)
def test_the_way_without_tables(name: str, dtype: str, fast: bool) -> None:
    columns = sample(CASES[name], 5_000, 3, dtype)
    found = kernel(name, dtype, HERE._replace(estimates=False), fast=fast)(*columns)
    errors = ulps(found, *exact(name, columns))
    assert errors.max() <= (4 if fast else 1), columns[0][errors.argmax()].hex()


@needs_tables
@pytest.mark.parametrize("k", range(17))
def test_accuracy_around_each_direction(k: int) -> None:
    """The last of these turns is as near to the largest that has a direction as it can be."""
    rng = np.random.default_rng(k)
    for turn in (0, 1, -1, 1000, -54_321, 262_142):
        at = (16 * turn + k) * (math.pi / 8) + rng.uniform(-math.pi / 16, math.pi / 16, 150)
        at = np.append(at, (16 * turn + k) * (math.pi / 8))
        for name in NAMES:
            errors = ulps(kernel(name)(at), *exact(name, (at,)))
            assert errors.max() < 0.9, (name, at[errors.argmax()].hex())


@pytest.mark.parametrize(("dtype", "fast"), [("float64", False), ("float64", True), ("float32", False)])
@pytest.mark.parametrize("name", NAMES)
def test_every_width_has_the_same_bits(name: str, dtype: str, fast: bool) -> None:
    with np.errstate(all="ignore"):
        at = np.concatenate([sample(CASES[name], 2_000, 4, dtype)[0], ENDS.astype(dtype)])
    expected = kernel(name, dtype, fast=fast)(at)
    itemsize = np.dtype(dtype).itemsize
    for width in (1, 2, 4, 8, 16, 32):
        narrow = HERE._replace(vector_bytes=width * itemsize)
        assert same_bits(kernel(name, dtype, narrow, fast=fast)(at), expected)


def test_quick_and_better_code_and_both_at_once_have_the_same_bits() -> None:
    at = np.concatenate([sample(CASES["sin"], 2_000, 5, "float64")[0], ENDS])
    outputs = [op("sin", x), op("cos", x)]
    quick, better = (compile_nodes(outputs, [x], effort=effort) for effort in ("auto", "high"))
    for name, a, b in zip(NAMES, as_tuple(quick(at)), as_tuple(better(at)), strict=True):
        assert same_bits(a, b)
        assert same_bits(a, kernel(name)(at))


def test_what_looks_numbers_up_has_a_name_of_its_own() -> None:
    """By their names functions are shared between kernels."""
    real = float_type("float64")
    for name, differs in (("sin", True), ("exp", False)):
        made = [
            write_function(name, real, 8, FunctionOptions(fused=True, tables=tables))
            for tables in (False, True)
        ]
        names, bodies = [m.function.name for m in made], [m.function.body for m in made]
        assert (names[0] != names[1]) == differs == (bodies[0] != bodies[1])


@pytest.mark.parametrize("name", NAMES)
def test_the_c_library_computes_what_is_beyond(name: str) -> None:
    """Also where the number that finds the direction is nearly zero, or half as large, or without last places."""
    rng = np.random.default_rng(11)
    steps = np.array([2.0**51, 2.0**50, 2.0**52, 2.0**49, 2.0**53, 2.0**61]) * (math.pi / 8)
    around = np.concatenate([steps, steps + 1e6, steps - 1e6, steps * (1 + 2.0**-30), np.nextafter(steps, 0)])
    far = rng.uniform(LARGEST * 1.001, 1e9, 300), np.exp2(rng.uniform(21, 1023, 2_000)), around
    at = np.concatenate([s * f for f in far for s in (1.0, -1.0)])
    expected = [getattr(math, name)(v) for v in at]
    assert same_bits(kernel(name)(at), np.array(expected))
