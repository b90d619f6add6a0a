"""`equal` and `verify`: statuses, witnesses, regions, bad input."""

from __future__ import annotations

import json
import math
from typing import Any, cast

import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.errors import (
    NotInProgramError,
    ShapeError,
    SymgradError,
    TruthValueError,
    UnknownNameError,
    UsageError,
)
from tests.verification.statements import DECLARED, DERIVATIVES, FALSE, TRUE, nodes


def verdict_of(a: str, b: str) -> sg.Verdict:
    left, right = nodes(a, b)
    return sg.equal(left, right)


@pytest.mark.parametrize(("a", "b"), TRUE)
def test_true_equalities_are_proved_and_their_proofs_hold(a, b):
    v = verdict_of(a, b)
    assert v.status == "proved", str(v)
    assert check(json.loads(v.proof.to_json())).status == "proved"


@pytest.mark.parametrize(("a", "b"), FALSE)
def test_false_equalities_are_refuted_by_a_witness_that_the_checker_accepts(a, b):
    v = verdict_of(a, b)
    assert v.status == "refuted", str(v)
    assert v.witness is not None
    assert check(json.loads(v.proof.to_json())).status == "refuted"


@pytest.mark.parametrize(("y", "wrt", "claim", "true"), DERIVATIVES)
def test_derivatives(y, wrt, claim, true):
    p = sg.parse(DECLARED + f"side = {y}")
    v = sg.verify(p["side"], wrt, claim)
    assert v.status == ("proved" if true else "refuted"), str(v)
    assert check(json.loads(v.proof.to_json())).status == v.status


def test_a_verdict_has_no_truth_value():
    with pytest.raises(TruthValueError, match="status"):
        bool(sg.equal("x", "x"))


def test_regions_tell_where_a_claim_holds():
    v = sg.verify(sg.parse("x : real\ny = sqrt(x**2)")["y"], "x", "1")
    assert v.status == "refuted"
    assert {(r.status, r.where) for r in v.regions} == {("proved", "x > 0"), ("refuted", "x < 0")}
    assert v.witness["x"] < 0


def test_regions_of_conditions():
    v = sg.equal("where(x > 1, x, 2*x)", "x")
    assert {r.status for r in v.regions} == {"proved", "refuted"}
    assert any("x > 1" in r.where for r in v.regions)


def test_domains_may_be_declared_for_a_comparison():
    assert sg.equal("sqrt(x**2)", "x").status == "refuted"
    assert sg.equal("sqrt(x**2)", "x", domain={"x": "positive"}).status == "proved"
    assert sg.equal("sqrt((1 - x)**2)", "1 - x", domain={"x": "real(0, 1)"}).status == "proved"


def test_nowhere_defined_together():
    v = sg.equal("sqrt(-1 - x**2)", "x")
    assert v.status == "undecided"
    assert v.proof is None


def test_division_by_zero_everywhere():
    v = sg.equal("1/(x - x)", "1")
    assert v.status == "undecided"
    assert v.why == "the two sides are nowhere defined together"


@pytest.mark.parametrize(
    ("a", "b", "where"),
    [
        ("9**9**9**9", "1", "not even at the only point"),
        ("floor(sqrt(2)**2)", "2", "not even at the only point"),
        ("exp(" * 9 + "x" + ")" * 9, "exp(" * 9 + "x" + ")" * 9 + " + 1", "points"),
    ],
)
def test_values_that_cannot_be_computed_are_not_said_to_be_undefined(a, b, where):
    domain = {"x": "real(10, 20)"} if "x" in b else None
    v = sg.equal(a, b, domain=domain)
    assert v.status == "undecided"
    assert where in v.why
    assert "could both sides be computed" in v.why


def test_regions_are_conditions_alone():
    v = sg.verify("maximum(x, a*x)", "x", "where(x > 0, 1, a)")
    assert v.status == "refuted"
    assert {r.status for r in v.regions} >= {"proved", "refuted"}
    assert all(r.where and not r.where.endswith((" ", "and")) for r in v.regions)


def test_a_program_of_a_hundred_thousand_steps_is_refuted():
    x = sg.symbols("x")
    value = x
    for _ in range(33_000):
        value = value*x + 1 - x/3  # fmt: skip
    v = sg.equal(value, value + x)
    assert v.status == "refuted"


def test_an_intermediate_value_may_be_what_one_differentiates_by():
    p = sg.parse("x : real\nh = sin(x)\ny = h**2 + x")
    assert sg.verify(p["y"], p["h"], "2*h").status == "proved"
    assert sg.verify(p["y"], "h", "2*h + 1/cos(x)").status == "refuted"


def test_claims_are_in_the_names_of_the_program():
    p = sg.parse("x : real\ns = exp(x)\ny = s**2")
    assert sg.verify(p["y"], "x", "2*s**2").status == "proved"
    with pytest.raises(UnknownNameError, match="'z'"):
        sg.verify(p["y"], "x", "2*z")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda p: sg.verify(p["y"], "q", "1"), NotInProgramError),
        (lambda p: sg.verify(p["y"], "x", "1 +"), SymgradError),
        (lambda p: sg.verify(p["y"], "x", cast("Any", 3j)), SymgradError),
        (lambda p: sg.verify(p["y"], "x", "x", time_limit=0), UsageError),
        (lambda p: sg.verify(p["y"], "x", "x", time_limit=math.inf), UsageError),
        (lambda p: sg.equal(p["y"], sg.tensor("v", (3,))), ShapeError),
        (lambda _: sg.equal("x", "x", domain={"y": "real"}), UsageError),
        (lambda _: sg.equal("x", "x", domain={"x": "positve"}), SymgradError),
    ],
)
def test_bad_input(call, error):
    p = sg.parse("x : real\ny = x**2")
    with pytest.raises(error):
        call(p)


@pytest.mark.parametrize("claim", ["2*(W + W.T)@X", "x", "W", "sum(x)"])
def test_a_claim_of_the_wrong_shape_is_refuted_and_says_which(claim):
    p = sg.parse("W : real[d, d]\nX : real[n, d]\nx : real[d]\nq : real[n]\ny = q@X@W@x")
    v = sg.verify(p["y"], "X", claim)
    assert v.status == "refuted"
    assert "shape" in v.why
    assert v.witness is None


def test_the_result_can_be_stored():
    v = sg.equal("sqrt(x**2)", "x")
    stored = json.loads(json.dumps(v.to_json()))
    assert stored["status"] == "refuted"
    assert stored["witness"]["x"].startswith("-")
