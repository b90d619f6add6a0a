"""Primal values: NumPy evaluation and compiled kernels against mpmath at 50 digits."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from symgrad.ir.graph import OPS, as_node
from symgrad.ops.special.orders import number_of
from tests.ops.cases import (
    CASES,
    MP,
    Case,
    compiled,
    every_case,
    every_numeric_case,
    floating,
    grid,
    numeric,
    samples,
    spread,
)
from tests.ops.tolerances import EVALUATE, KERNEL, tolerance, units_off


def columns(points: Any, dtype: str = "float64") -> list[np.ndarray]:
    return [
        np.array(column, dtype=bool if isinstance(column[0], bool) else dtype)
        for column in zip(*points, strict=True)
    ]


def evaluated(case: Case, arrays: list[np.ndarray]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(case.op.evaluate(*case.params, *arrays))


def check(case: Case, arrays: list[np.ndarray], got: np.ndarray, table: Any) -> None:
    allowed = tolerance(case, table)
    checked = 0
    for i, point in enumerate(zip(*arrays, strict=True)):
        exact = case.reference(point)
        if isinstance(exact, (bool, np.bool_)):
            assert got[i] == exact, (case, point)
            checked += 1
        elif MP.isnan(exact):
            assert not np.isfinite(got[i]), f"{case}{point} is outside the domain, got {got[i]}"
        else:
            off = units_off(got[i], exact, allowed, str(got.dtype))
            assert off <= allowed.units, (
                f"{case}{point}: {got[i]} against {mpmath.nstr(exact, 20)}: {off} units"
            )
            checked += 1
    assert checked >= 2, "no point in the domain"


@every_case
def test_evaluate(case: Case) -> None:
    arrays = columns([*samples(case), *grid(case)])
    check(case, arrays, evaluated(case, arrays), EVALUATE)


@every_numeric_case
def test_evaluate_everywhere(case: Case) -> None:
    arrays = columns(spread(case))
    check(case, arrays, evaluated(case, arrays), EVALUATE)


@every_numeric_case
def test_reference_does_not_depend_on_precision(case: Case) -> None:
    # A reference that loses digits, or that takes another branch, would agree with itself only by chance.
    higher = mpmath.MPContext()
    higher.dps = 80
    for point in samples(case):
        low = case.reference(point)
        high = case.op.reference(higher, *case.params, *(higher.mpf(x) for x in point))
        assert abs(MP.mpf(high) - low) <= MP.mpf(10) ** -46 * abs(low)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@every_case
def test_kernel(case: Case, dtype: str) -> None:
    arrays = columns([*samples(case), *grid(case)], dtype)
    check(case, arrays, compiled(case, arrays, dtype), KERNEL)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@every_numeric_case
def test_kernel_everywhere(case: Case, dtype: str) -> None:
    points = spread(case)
    if dtype == "float32":
        points = [p for p in points if all(1e-36 < abs(x) < 1e36 for x in p)]
    arrays = columns(points, dtype)
    check(case, arrays, compiled(case, arrays, dtype), KERNEL)


def test_every_op_has_enough_samples_inside_its_domain() -> None:
    for case in CASES:
        points = samples(case)
        assert len(points) >= (5 if case in numeric and case.op.name not in FEW else len(set(points)))
        assert len(set(points)) == len(points)
        for point in points:
            assert case.inside(point), (case, point)
    assert len(CASES) > 60


FEW = {"add", "neg", "mul", "div", "stop_gradient"}  # one regime only


def test_samples_are_exact_numbers_or_decimal_text() -> None:
    for case in CASES:
        for sample in case.op.samples:
            for x in sample:
                assert isinstance(x, (bool, int, str)), (case, x)
                assert isinstance(x, bool) or np.isfinite(floating(x))


@pytest.mark.parametrize(
    "order", [2.0**k + d for k in (20, 30, 31, 32, 33, 40) for d in (-1, 0, 1)] + [3e9, 1e15]
)
def test_exponential_integrals_of_large_orders(order: float) -> None:
    case = next(c for c in CASES if c.op.name == "expint")
    points = np.array([0.25, 1.0, 3.0, 50.0])
    # The continued fraction of DLMF 8.19.17, of which few terms count.
    for x, got in zip(points, evaluated(case, [np.full(4, order), points]), strict=True):
        n, far = MP.mpf(order), MP.mpf(0)
        for k in range(20, 0, -1):
            far = k * (n + k - 1) / (x + n + 2 * k - far)
        assert got == pytest.approx(float(MP.exp(-x) / (x + n - far)), rel=1e-13)


def test_an_order_that_is_no_number_is_none() -> None:
    x = Case(CASES[0].op, ()).symbols[0]
    two = as_node(2)
    for node in (x, OPS["div"](x, two), OPS["div"](two, x), OPS["neg"](x), OPS["div"](two, as_node(0))):
        assert number_of(node) is None
    assert number_of(OPS["div"](OPS["neg"](two), as_node(4))) == -0.5
    assert number_of(OPS["div"](as_node(0), two)) == 0
