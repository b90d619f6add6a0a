"""Values that searches share are those that would be computed anew, whatever changed between two points."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.analysis.stop_gradient.placement import PlacementOutcome
from symgrad.analysis.stop_gradient.placements import value_cache as computed
from symgrad.analysis.stop_gradient.placements.value_cache import PointValues, frozen_point
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from tests.analysis.stop_gradient.test_placement import noisy_lines, placed

HELD = "x : real\nu ~ Normal(0, 1)\nh = x*u\ng = sin(h)\ny = g + h*x + cos(u)"


def texts(row: dict[Node, Any], order: list[Node]) -> list[str]:
    return [str(row[n]) for n in order]


@given(noisy_lines(), st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=5))
def test_values_are_those_of_a_fresh_point(text: str, points: list[tuple[int, int]]) -> None:
    y = parse_program(text)["y"]
    order = topological([y])
    shared = PointValues(100)
    for point in points:
        at = {s: Fraction(k, 7) for s, k in zip(symbols_of([y]), point, strict=False)}
        anew = PointValues(100).row(order, at, {}, 0)
        assert texts(shared.row(order, at, {}, 0), order) == texts(anew, order)


def test_a_value_that_counts_as_an_input_at_one_point_alone() -> None:
    listing = parse_program(HELD)
    y, x, u, h = (listing[name] for name in "yxuh")
    shared = PointValues(100)
    given_: list[dict[Node, Any]] = [
        {x: Fraction(1, 2), u: Fraction(1, 3)},
        {x: Fraction(1, 2), u: Fraction(1, 3), h: Fraction(5)},
        {x: Fraction(1, 2), u: Fraction(1, 3)},
    ]
    for at in given_:
        order = topological([y], until=at)
        anew = PointValues(100).row(order, at, {}, 0)
        assert texts(shared.row(order, at, {}, 0), order) == texts(anew, order)


def test_other_sizes_share_nothing() -> None:
    listing = parse_program("x : real[n]\ns : real\ny = sum(x*s) + n")
    y, x, s = (listing[name] for name in "yxs")
    order = topological([y])
    shared = PointValues(100)
    found: list[float] = []
    for n in (2, 3):
        at = {x: np.array([Fraction(1)] * n, dtype=object), s: Fraction(2)}
        found.append(float(shared.row(order, at, {"n": n}, 0)[y]))
    assert found == [6, 9]


def test_points_are_told_apart_by_entries_and_shapes() -> None:
    listing = parse_program("x : real[n]\nz : real\ny = sum(x)*z")
    x, z = listing["x"], listing["z"]
    ones, twos = (np.array([[Fraction(k)] * 2], dtype=object) for k in (1, 2))
    assert frozen_point([z, x], {x: ones, z: 1}, {"n": 2}) == frozen_point(
        [z, x], {x: ones.copy(), z: 1}, {"n": 2}
    )
    assert frozen_point([x], {x: ones}, {}) != frozen_point([x], {x: twos}, {})
    assert frozen_point([x], {x: ones}, {}) != frozen_point([x], {x: ones.ravel()}, {})


CHAIN = [f"a{k} = sin(a{k - 1}) + cos(a{max(0, k - 3)})" for k in range(1, 30)]


def test_what_reads_no_noise_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither another draw, nor the search with a stop_gradient taken out, computes the chain again."""
    anew: list[int] = []
    whole = computed.ball_values

    def counted(outputs: list[Node], values: dict[Node, Any], bits: int) -> dict[Node, Any]:
        anew.append(sum(n not in values for n in topological(outputs, until=values)))
        return whole(outputs, values, bits)

    monkeypatch.setattr(computed, "ball_values", counted)
    text = "\n".join(
        ["x : real(0, 1)", "u ~ Uniform(0.9, 1.1)", "a0 = x", *CHAIN, "y = a29*u + stop_gradient(a29)"]
    )
    found: PlacementOutcome = placed(text)
    assert found.removed
    assert len(anew) >= 9  # two searches, three inputs, two draws for some
    assert sum(n > 20 for n in anew) == 3  # each of three inputs once
