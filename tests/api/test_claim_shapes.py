"""Claims about arrays whose lengths are written differently: decided if equal, else refuted in true words."""

from __future__ import annotations

import json

import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.errors import ShapeError

STEPS = "2*concatenate((zeros(1), x[1:] - x[:-1])) - 2*concatenate((x[1:] - x[:-1], zeros(1)))"
NEIGHBOURS = "concatenate((x[1:], zeros(1))) + concatenate((zeros(1), x[:-1]))"


@pytest.mark.parametrize(
    ("y", "claim"),
    [
        ("sum((x[1:] - x[:-1])**2)", STEPS),
        ("sum((x[1:] - x[:-1])**2)", f"0*x + {STEPS}"),  # no program by itself: n may be 0 there
        ("sum(x[1:]*x[:-1])", NEIGHBOURS),
    ],
)
def test_lengths_that_are_equal_from_one_on(y, claim):
    p = sg.parse(f"x : real[n]\ny = {y}")
    v = sg.verify(p["y"], "x", claim)
    assert v.status == "proved", str(v)
    assert "__" not in str(v) + v.proof.to_json()
    assert check(json.loads(v.proof.to_json())).status == "proved"
    v = sg.verify(p["y"], "x", f"3*({claim})")
    assert v.status == "refuted"
    assert v.witness is not None
    assert check(json.loads(v.proof.to_json())).status == "refuted"


def test_a_side_that_is_text_may_have_such_lengths_in_the_middle():
    p = sg.parse("x : real[n]\ny = 2*concatenate((zeros(1), x[1:]))")
    side = "concatenate((zeros(1), x[1:])) + concatenate((zeros(1), x[1:])) + 0*x"
    for v in (sg.equal(p["y"], side), sg.equal(side, p["y"])):
        assert v.status == "proved"
        assert check(json.loads(v.proof.to_json())).status == "proved"
    assert sg.equal(p["y"], f"x + {side}").status == "refuted"
    with pytest.raises(ShapeError, match="do not broadcast"):
        sg.equal(p["y"], "x + x[2:]")


def test_an_expression_is_a_claim_of_such_a_length_too():
    p = sg.parse(f"x : real[n]\ny = sum(x[1:]*x[:-1])\nclaim = {NEIGHBOURS}")
    assert sg.verify(p["y"], "x", p["claim"]).status == "proved"


def test_what_is_wrong_at_the_smallest_size_alone_is_not_proved():
    p = sg.parse("x : real[n]\ny = sum(x)")
    claim = "concatenate((zeros(1), 0*x[1:])) + sign(n - 1)"  # 0 where n is 1
    assert sg.verify(p["y"], "x", claim).status != "proved"


@pytest.mark.parametrize(
    "whole", ["x[1:], x[:1]", "x[2:], x[:2]", "x[-3:], x[:-3]", "x[:3], x[3:]", "x[:-1], x[-1:]"]
)
def test_the_parts_of_an_axis_are_together_as_long_as_it(whole):
    p = sg.parse(f"x : real[n]\ny = concatenate(({whole}))")
    assert p["y"].shape == p["x"].shape
    v = sg.equal(p["y"], "2*x")
    assert v.status == "refuted"
    assert check(json.loads(v.proof.to_json())).status == "refuted"


@pytest.mark.parametrize(
    "claim", ["1", "ones(n + 1)", "outer(x, x)", "ones(2*n + m)", "concatenate((x[1:], ones(2)))"]
)
def test_shapes_that_disagree_for_all_sizes(claim):
    p = sg.parse("x : real[n]\nz : real[m]\ny = sum(x) + sum(z)")
    v = sg.verify(p["y"], "x", claim)
    assert (v.status, v.witness) == ("refuted", None)
    assert v.why.startswith("the shapes disagree, at every point: ")


@pytest.mark.parametrize(
    ("claim", "where", "agree"),
    [
        ("ones(m)", "m = 2, n = 3", "m = 1, n = 1"),
        ("ones(1)", "n = 2", "n = 1"),
        ("ones(n*n)", "n = 2", "n = 1"),
        ("ones(3)", "n = 2", "n = 3"),
        ("concatenate((x[2:], ones(2)))", "n = 1", "n = 2"),
        ("x + z", "m = 2, n = 3", "m = 1, n = 1"),
        # n + 1 for every n, which is not seen:
        ("concatenate((x[::2], x[1::2], zeros(1)))", "n = 2", None),
    ],
)
def test_shapes_that_disagree_for_some_sizes(claim, where, agree):
    p = sg.parse("x : real[n]\nz : real[m]\ny = sum(x)")
    v = sg.verify(p["y"], "x", claim)
    assert (v.status, v.witness) == ("refuted", None)
    assert f"the shapes disagree where {where}" in v.why
    assert ("they agree where" in v.why) == (agree is not None)
    assert agree is None or f"they agree where {agree}, " in v.why


def test_lengths_that_are_equal_and_not_known_to_be():
    p = sg.parse("x : real[n]\ny = sum(x)\nhalves = concatenate((x[::2], x[1::2]))")
    for v in (sg.verify(p["y"], "x", p["halves"]), sg.equal(p["halves"], "x")):
        assert v.status == "undecided"
        assert "agree for all sizes that were tried" in v.why


def test_two_formulas_of_different_shapes_are_no_claim():
    with pytest.raises(ShapeError, match=r"shapes \(n,\) and \(m,\)"):
        sg.equal("x : real[n]\nx", "z : real[m]\nz")
