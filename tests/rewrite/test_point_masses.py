"""Which values random expressions take with a probability above 0."""

from __future__ import annotations

import pytest

from symgrad.frontend.text import parse_program
from symgrad.ir.traverse import symbols_of
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.point_masses import PointMasses, may_be_zero, tied

_HEAD = (
    "t, x : real; s : positive; u ~ Normal(0, 1); v ~ Exponential(2); k ~ Poisson(1); b ~ Bernoulli(1/5)"
    "; c ~ Categorical([1/4, 3/4]); y = "
)


def _masses(text: str, *, generic: bool = False) -> tuple[bool, bool]:
    y = parse_program(_HEAD + text)["y"]
    sources = [s for s in symbols_of([y]) if s.declaration.distribution is not None]
    masses = PointMasses(sources, Conditions(), generic=generic)
    return masses.spread(y), masses.nonzero(y)


@pytest.mark.parametrize(
    "text",
    [
        "u",
        "u + k",
        "s*u + t",
        "exp(u)",
        "abs(u - t)",
        "u*v",
        "u*(k + 1)",
        "maximum(u, v)",
        "u**2",
        "sin(u)/v",
    ],
)
def test_no_value_has_a_probability(text: str) -> None:
    assert _masses(text) == (True, True)


@pytest.mark.parametrize("text", ["k + 1", "exp(k)", "sign(u)", "maximum(v, 1)", "floor(v) + 1", "2*b - 1"])
def test_zero_alone_has_none(text: str) -> None:
    assert _masses(text) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "k",
        "b",
        "c",
        "k*u",
        "relu(u)",
        "clip(u, 0, 1)",
        "floor(v)",
        "where(u > 0, u, 0)",
        "sign(k)",
        "u - relu(u)",
        "x*u",
    ],
)
def test_zero_may_have_one(text: str) -> None:
    assert not _masses(text)[1]


def test_parameters_at_which_a_formula_degenerates_are_left_out_where_that_is_meant() -> None:
    assert _masses("x*u", generic=True) == (True, True)
    assert _masses("u + sin(u)", generic=True) == (True, True)
    assert not _masses("x*relu(u)", generic=True)[1]
    assert may_be_zero(parse_program(_HEAD + "x*k")["y"])


def test_equations_that_hold_with_probability_0_or_1() -> None:
    listing = parse_program(_HEAD + "where(u == t, 1, 0) + where(k == 1, 2, 0) + where(u*v != relu(x), 1, 0)")
    found = tied([listing["y"]], [listing[name] for name in "uvk"])
    assert [truth.value for truth in found.values()] == [False, True]
