"""Points at which forms are compared: values that the inputs may take, of all magnitudes, the same in every run."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ir.graph import Node, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import BOOL, INT, Declaration
from symgrad.rewrite.choice.sample_points import points_of, points_of_arguments
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.intervals import Facts

X, N, C = symbol(Declaration("x")), symbol(Declaration("n", INT)), symbol(Declaration("c", BOOL))
_ENDS = st.one_of(
    st.integers(-5, 5),
    st.fractions(-3, 3, max_denominator=7),
    st.sampled_from([Fraction(1, 10**6), 1000, 10**9, -(10**9), Fraction(10) ** 40, Fraction(10) ** -40]),
)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[Node, Facts]:
    """An input with its interval: any ends, or none; of whole numbers too."""
    leaf = draw(st.sampled_from([X, X, N]))
    ends = st.integers(-5, 5) if leaf is N else _ENDS
    low, high = sorted(draw(st.tuples(ends, ends)))
    least = 3 if leaf is N else abs(low) / 1000
    open_low, open_high = (draw(st.booleans()) and high - low > least for _ in range(2))
    if draw(st.integers(0, 3)) == 0:
        return leaf, Facts(low, math.inf, open_low, False, integer=leaf is N)
    if draw(st.integers(0, 3)) == 0:
        return leaf, Facts(-math.inf, high, False, open_high, integer=leaf is N)
    return leaf, Facts(low, high, open_low, open_high, integer=leaf is N)


def inside(value: float, leaf: Node, f: Facts) -> bool:
    low, high = float(f.low), float(f.high)
    if leaf is C:
        return value in (0.0, 1.0)
    if leaf is N and not value.is_integer():
        return False
    return (low < value or (low == value and not f.low_open)) and (
        value < high or (value == high and not f.high_open)
    )


@given(
    st.lists(
        st.one_of(intervals(), st.sampled_from([(X, Facts()), (N, Facts()), (C, Facts(0, 1))])),
        min_size=1,
        max_size=4,
    )
)
def test_inputs_take_values_that_they_may_have(inputs: list[tuple[Node, Facts]]) -> None:
    leaves, facts = [leaf for leaf, _ in inputs], [f for _, f in inputs]
    points = points_of(leaves, facts, [1.0, 2.5, 1e6])
    assert len(points) > 60
    for point in points:
        assert len(point) == len(inputs)
        for value, (leaf, f) in zip(point, inputs, strict=True):
            assert math.isfinite(value)
            assert inside(value, leaf, f), (value, leaf, f)
    assert points == points_of(leaves, facts, [1.0, 2.5, 1e6])


def test_a_real_input_takes_every_magnitude_of_both_signs() -> None:
    points = points_of([X, X], [Facts(), Facts()], [7.0])
    for k in range(2):
        column = [p[k] for p in points]
        assert {0.0, 1.0} <= set(column)
        for sign in (1, -1):
            sizes = [math.log2(v * sign) for v in column if v * sign > 0]
            assert all(any(abs(size - e) < 8 for size in sizes) for e in range(-24, 25, 8))
        assert max(map(abs, column)) > 2.0**900
        assert min(abs(v) for v in column if v) < 2.0**-900
    assert any(0 < abs(abs(p[k]) - 7) < 1e-6 for p in points for k in range(2))
    assert any(0 < abs(p[0] - p[1]) < 1e-6 * abs(p[0]) for p in points)


@pytest.mark.parametrize(
    "f", [Facts(0, 1, True, True), Facts(-2, 3), Facts(5, math.inf), Facts(-math.inf, -5)]
)
def test_points_come_near_the_ends_of_an_interval(f: Facts) -> None:
    points = points_of([X], [f], [1.0])
    for end in (f.low, f.high):
        if not math.isinf(end):
            assert min(abs(p[0] - float(end)) for p in points if p[0] != end) < 1e-6


def test_a_random_choice_is_sampled_where_it_is() -> None:
    """Between 0 and 1 the parts would not agree; a Bernoulli input is never there."""
    b = sg.parse("b ~ Bernoulli(1/2)\nb").last
    points = points_of([b.node], [Facts(0, 1, integer=True)], [2.5])
    assert {p[0] for p in points} == {0.0, 1.0}


def test_arguments_of_exponentials_are_large_where_inputs_are_not() -> None:
    p = sg.parse("a, b : real\nc : real(0, 1)\ny = exp(-a*b + 3)/c + tanh(a*b) + log(a*c)")
    order = topological([p["y"].node])
    leaves = [n for n in order if n.op.name == "symbol"]
    facts = [Conditions().facts(n) for n in leaves]
    (start, *_) = points_of(leaves, facts, [1.0])
    found = points_of_arguments(order, leaves, facts, start)
    a, b, c = ([row[[n.name for n in leaves].index(name)] for row in found] for name in "abc")
    arguments = 3 - np.array(a) * np.array(b)
    assert sorted(np.round(arguments)) == sorted(
        s * x for x in (20, 40, 200, 380, 500, 800, 2000) for s in (1, -1)
    )
    assert np.abs([a, b, c]).max() < 2**20
    assert all(0 < x < 1 for x in c)
