"""Reference values with forty digits, and how far a peer is from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program
from benchmarks.scoreboard.workloads import inputs_of

__all__ = ["ULP", "Errors", "checked", "errors", "reference"]

ULP = 2.0**-52
# The published form of the PBE energy loses up to half of these, where its gradients are large.
DIGITS = 90
_EFFORT, _FEWEST = 1_000_000, 25
"""Operations at all points together, about, and points where that would be fewer: the worst of two says nothing."""


def checked(workload: Pointwise | Program, points: int) -> int:
    """Return at how many points the values are compared."""
    if isinstance(workload, Program):
        return 1
    return min(200, points, max(_FEWEST, _EFFORT // workload.operations))


def reference(workload: Pointwise | Program, points: int) -> list[Any]:
    """Return each output as an array of numbers with at least forty digits.

    Formulas are evaluated in mpmath, their derivatives by reverse accumulation (`tape.py`); of array programs the
    NumPy function runs on balls of python-flint.
    """
    if isinstance(workload, Program):
        return _balls(workload)
    mp = mpmath.MPContext()
    mp.dps = DIGITS
    inputs = inputs_of(workload, points)[:, : checked(workload, points)]
    tape, outputs = workload.taped()
    columns = [tape.evaluate(outputs, x, mp) for x in inputs.T]
    return [np.array(row, dtype=object) for row in zip(*columns, strict=True)]


def _balls(workload: Program) -> list[Any]:
    import flint

    with flint.ctx.workprec(200):
        lift = np.frompyfunc(lambda x: flint.arb(float(x)), 1, 1)
        arrays = {n: a if a.dtype.kind == "i" else lift(a) for n, a in workload.arrays().items()}
        found = [np.asarray(v, dtype=object) for v in workload.by_hand(*arrays.values())]
        for value in (v for array in found for v in array.flat):
            if isinstance(value, flint.arb) and value.rel_accuracy_bits() < 133 and not value.contains(0):
                raise ArithmeticError(f"{workload.what}: the reference has less than forty digits")
        return [np.vectorize(_exactly, otypes=[object])(array) for array in found]


def _exactly(ball: Any) -> Any:
    mantissa, exponent = ball.mid().man_exp()
    return mpmath.mpf(int(mantissa)) * mpmath.mpf(2) ** int(exponent)


@dataclass(frozen=True, slots=True)
class Errors:
    """How far results are from the reference, as multiples of 2**-52 of what they are relative to.

    Attributes:
        worst: the largest, where there is a number.
        median: over the points, or entries, of the largest at each.
        missing: the share of points, or entries, where a result is no number.
    """

    worst: float
    median: float
    missing: float


def errors(workload: Pointwise | Program, values: Sequence[Any], exact: Sequence[Any]) -> Errors:
    """Return the errors of results.

    An error is relative to the value itself; to the largest of all results at the same point, where the workload
    says so; to the largest entry of an array.
    """
    exact = [np.atleast_1d(np.asarray(e, dtype=object)) for e in exact]
    apart = [_apart(v, e) for v, e in zip(values, exact, strict=True)]
    size = [np.abs(e).astype(float) for e in exact]
    if isinstance(workload, Program):
        found = np.concatenate([(a / np.max(s)).ravel() for a, s in zip(apart, size, strict=True)])
    else:
        scale = np.max(size, axis=0) if workload.relative_to == "largest" else np.array(size)
        found = np.max(np.array(apart) / scale, axis=0)
    there = found[np.isfinite(found)] / ULP
    if not there.size:
        return Errors(math.inf, math.inf, 1.0)
    return Errors(float(there.max()), float(np.median(there)), 1 - there.size / found.size)


def _apart(values: Any, exact: Any) -> Any:
    """Return the absolute differences, taken exactly and rounded once."""
    given = np.asarray(values, dtype=float).reshape(exact.shape)
    finite = np.isfinite(given)
    with mpmath.workdps(DIGITS):
        lift = np.frompyfunc(mpmath.mpf, 1, 1)
        found = np.abs(lift(np.where(finite, given, 0.0)) - exact).astype(float)
    return np.where(finite, found, np.nan)
