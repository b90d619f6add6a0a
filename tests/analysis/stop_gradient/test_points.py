"""The points at which lint evaluates programs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import symgrad as sg
from symgrad.analysis.stop_gradient.checks.points import Batch, Points
from symgrad.checker.clock import now


def batches_of(text: str) -> list[Batch]:
    return Points(sg.parse(text).last.node, now() + 10).batches


def test_any_two_numbers_take_all_pairs_of_extremes() -> None:
    (batch,) = batches_of("a, b, c, d, e, f, g, h : real\ny = a*b*c*d*e*f*g*h")
    extremes = {
        (float(s), float(t)) for s in (0, 1, -1, 1000, -1000, 50, -50) for t in (0, 1, -1, 1000, -1000)
    }
    assert len(batch) == 8
    for one, other in combinations(batch, 2):
        assert extremes <= set(zip(batch[one].tolist(), batch[other].tolist(), strict=True))


def test_any_two_arrays_take_all_pairs_of_extremes() -> None:
    found = batches_of("a, b : real[n]; c : real\ny = sum(a*b)*c")
    for one, other in combinations(found[0], 2):
        filled = [(np.unique(at[one]), np.unique(at[other])) for at in found]
        pairs = {(float(s[0]), float(t[0])) for s, t in filled if s.size == t.size == 1}
        assert {(s, t) for s in (0, 1, -1, 1000, -1000) for t in (0, 1, -1, 1000, -1000)} <= pairs


@pytest.mark.parametrize(
    ("domain", "low", "high", "ends"),
    [
        ("real(0, 1)", 0, 1, {0.001, 0.999}),
        ("real(-5, 5)", -5, 5, {-4.99, 4.99, 0, 1}),
        ("positive", 0, np.inf, {1, 1000}),
        ("int(0, 1)", -1, 2, {0, 1}),
    ],
)
def test_extremes_are_moved_into_the_domain(domain: str, low: float, high: float, ends: set[float]) -> None:
    (batch,) = batches_of(f"x : {domain}; z : real\ny = x*z")
    values = next(v for s, v in batch.items() if s.name == "x")
    assert np.all((values > low) & (values < high))
    assert ends <= set(np.round(values, 6).tolist())
