"""Signed zeros, infinities and NaN: NumPy evaluation and kernels against each other and against NumPy and C."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.ops.cases import CASES, Case, compiled, every_numeric_case

INF, NAN = math.inf, math.nan
SPECIAL = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]


def run(case: Case, *args: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what NumPy evaluation and a kernel give."""
    with np.errstate(all="ignore"):
        evaluated = np.asarray(case.op.evaluate(*case.params, *args))
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    arrays = [np.broadcast_to(a, shape or (1,)) for a in args]
    return evaluated, compiled(case, arrays).reshape(shape)


# SciPy's log|gamma(-inf)| is -inf, C's is inf; NumPy's sinc is not quite 0 at whole numbers.
APART = {("lgamma", (-INF,)), ("sinc", (1.0,)), ("sinc", (-1.0,))}


@every_numeric_case
def test_evaluation_and_kernel_agree(case: Case) -> None:
    points = list(product(SPECIAL, repeat=case.op.arity))
    evaluated, compiled = run(case, *(np.array(column) for column in zip(*points, strict=True)))
    for point, a, b in zip(points, evaluated, compiled, strict=True):
        if (case.op.name, point) not in APART:
            same = (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-14)
            assert same, f"{case}{point}: NumPy {a}, kernel {b}"
            if a == 0 and case.op.name not in {
                "minimum",
                "maximum",
                "clip",
                "relu",
            }:  # either zero, as in IEEE 754
                assert math.copysign(1, a) == math.copysign(1, b), f"{case}{point}: NumPy {a}, kernel {b}"


NUMPY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atan2": np.arctan2, "atanh": np.arctanh, "pow": np.power, "add": np.add, "mul": np.multiply, "div": np.divide,
    "neg": np.negative, "abs": np.abs, "round": np.round,
}  # fmt: skip
for plain in (
    *("sqrt", "cbrt", "hypot", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan"),
    *("sinh", "cosh", "tanh", "sign", "floor", "ceil", "minimum", "maximum", "clip"),
):
    NUMPY[plain] = getattr(np, plain)


@pytest.mark.parametrize("name", NUMPY)
def test_kernel_is_as_numpy(name: str) -> None:
    case = next(c for c in CASES if c.op.name == name)
    points = list(product([*SPECIAL, 5e-324, -5e-324, 1.8e308 / 2], repeat=case.op.arity))
    arrays = [np.array(column) for column in zip(*points, strict=True)]
    _, compiled = run(case, *arrays)
    with np.errstate(all="ignore"):
        expected = NUMPY[name](*arrays)
    for point, got, wanted in zip(points, compiled, expected, strict=True):
        assert (math.isnan(got) and math.isnan(wanted)) or math.isclose(got, wanted, rel_tol=1e-14), (
            point,
            got,
            wanted,
        )


@pytest.mark.parametrize(
    ("name", "x", "wanted"),
    [
        ("sigmoid", INF, 1.0), ("sigmoid", -INF, 0.0), ("sigmoid", -745.0, 5e-324), ("sigmoid", NAN, NAN),
        ("softplus", INF, INF), ("softplus", -INF, 0.0), ("softplus", 1e300, 1e300), ("softplus", NAN, NAN),
        ("relu", -0.0, 0.0), ("relu", INF, INF), ("relu", -INF, 0.0), ("relu", NAN, NAN),
        ("round", 2.5, 2.0), ("round", 3.5, 4.0), ("round", -0.5, -0.0),
        ("sec", INF, NAN), ("csc", 0.0, INF), ("csc", -0.0, -INF), ("cot", -0.0, -INF),
        ("asec", INF, math.pi / 2), ("asec", -INF, math.pi / 2), ("asec", -1.0, math.pi), ("asec", 0.0, NAN),
        ("acsc", INF, 0.0), ("acsc", -INF, -0.0), ("acsc", -1.0, -math.pi / 2), ("acsc", 0.5, NAN),
        ("acot", 0.0, math.pi / 2), ("acot", -0.0, -math.pi / 2), ("acot", INF, 0.0), ("acot", -INF, -0.0),
        ("sech", INF, 0.0), ("sech", -INF, 0.0), ("sech", 745.0, 1e-323), ("sech", 1e308, 0.0), ("sech", NAN, NAN),
        ("csch", INF, 0.0), ("csch", -INF, -0.0), ("csch", 0.0, INF), ("csch", -0.0, -INF), ("csch", 745.0, 1e-323),
        ("coth", INF, 1.0), ("coth", -INF, -1.0), ("coth", 0.0, INF),
        ("asech", 1.0, 0.0), ("asech", 0.0, INF), ("asech", 5e-324, 745.1332191019412), ("asech", -0.5, NAN),
        ("asech", 1.5, NAN), ("acsch", 5e-324, 745.1332191019412), ("acsch", -INF, -0.0), ("acsch", 0.0, INF),
        ("acoth", INF, 0.0), ("acoth", -INF, -0.0), ("acoth", 1.0, INF), ("acoth", 0.5, NAN), ("acoth", -0.0, NAN),
        ("erf", INF, 1.0), ("erf", -INF, -1.0), ("erfc", INF, 0.0), ("erfc", -INF, 2.0), ("erfc", 1e300, 0.0),
        ("gamma", INF, INF), ("gamma", -1.0, NAN), ("gamma", 0.0, INF), ("gamma", -0.0, -INF), ("gamma", 200.0, INF),
        ("lgamma", INF, INF), ("lgamma", 0.0, INF), ("lgamma", 1.0, 0.0), ("lgamma", -3.0, INF),
        ("digamma", INF, INF), ("digamma", -INF, NAN), ("digamma", 0.0, NAN), ("digamma", -4.0, NAN),
        ("digamma", 1e-300, -1e300), ("digamma", 1e300, 690.7755278982137), ("digamma", -1e16, NAN),
        ("polygamma-1", INF, 0.0), ("polygamma-1", 0.0, NAN), ("polygamma-1", 1e300, 1e-300),
        ("polygamma-2", 1e-200, -INF), ("polygamma-2", -1e-200, INF), ("polygamma-5", 1e100, 0.0),
    ],
)  # fmt: skip
def test_limits(name: str, x: float, wanted: float) -> None:
    case = next(c for c in CASES if str(c) == name)
    for got in map(float, run(case, np.float64(x))):
        if math.isnan(wanted):
            assert math.isnan(got)
        else:
            assert math.isclose(got, wanted, rel_tol=1e-15), got
            assert math.copysign(1, got) == math.copysign(1, wanted), got


@every_numeric_case
def test_nan_in_nan_out(case: Case) -> None:
    ones = (1.0,) * case.op.arity
    for i in range(case.op.arity):
        for got in run(case, *map(np.float64, (*ones[:i], NAN, *ones[i + 1 :]))):
            unread = "given-slope" in case.op.facts and i > 0
            if unread or (case.op.name == "pow" and i == 1):  # 1**NaN is 1, as in C
                assert got == 1
            else:
                assert np.isnan(got), (case, i, got)


@every_numeric_case
def test_float32_stays_float32(case: Case) -> None:
    arrays = [np.array([0.5, 1.5], np.float32) for _ in range(case.op.arity)]
    with np.errstate(all="ignore"):
        assert np.asarray(case.op.evaluate(*case.params, *arrays)).dtype == np.float32
