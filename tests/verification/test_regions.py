"""Regions of verdicts: inhabited, refuted where the witness is, proved only where nothing differs."""

from __future__ import annotations

from itertools import islice

import pytest

import symgrad as sg
from symgrad.checker.balls.programs import context
from symgrad.checker.witness import certain_entries, disjoint
from symgrad.ir.traverse import symbols_of
from symgrad.verification.decide import Claim, decide
from symgrad.verification.points.sampler import points_of
from symgrad.verification.verdict import Region, Verdict
from tests.verification.regions import Conditions, half_truth, half_truths

BITS = 256


def broken(s: Claim, verdict: Verdict) -> list[str]:
    """What is not as it should be of the regions of a verdict."""
    conditions = Conditions(symbols_of(s.nodes))
    inhabited: set[Region] = set()
    found: list[str] = []
    if verdict.witness is not None:
        at = dict(verdict.witness)
        inhabited |= {r for r in verdict.regions if conditions.hold(r.where, at)}
        if not any(r.status == "refuted" and conditions.hold(r.where, at) for r in verdict.regions):
            found.append("no refuted region has the witness")
        found += [
            f"{r} has the witness"
            for r in verdict.regions
            if r.status != "refuted" and conditions.inside(r, at)
        ]
    for point in islice(points_of(s.equality.program), 300):
        both = certain_entries(s.equality, point.values, {}, precision=BITS)
        if not both:
            continue
        with context.workprec(BITS):
            differs = any(disjoint(x, y) for _, x, y in both)
        for r in verdict.regions:
            if conditions.hold(r.where, point.values):
                inhabited.add(r)
            if differs and r.status != "refuted" and conditions.inside(r, point.values):
                found.append(f"at {point.values} in {r} the sides differ")
    return found + [f"no point in {r}" for r in verdict.regions if r not in inhabited]


@pytest.mark.parametrize("block", range(6))
def test_regions_of_claims_that_hold_in_parts(block: int) -> None:
    told = 0
    for seed in range(12 * block, 12 * (block + 1)):
        for s in half_truths(seed):
            verdict = decide(s, 10)
            told += bool(verdict.regions)
            assert not verdict.regions or not broken(s, verdict), (half_truth(seed), str(verdict))
    assert told > 3


def regions(verdict: Verdict) -> set[str]:
    return set(map(str, verdict.regions))


@pytest.mark.parametrize(
    ("y", "claim", "expected"),
    [
        (
            "asin(sin(x))",
            "1",
            {
                "proved where cos(x) > 0 (not claimed where cos(x/2) = 0)",
                "refuted where cos(x) < 0",
            },
        ),
        (
            "acos(cos(x))",
            "1",
            {
                "proved where sin(x) > 0 (not claimed where cos(x/2) = 0)",
                "refuted where sin(x) < 0",
            },
        ),
        (
            "asin(2*x/(1 + x**2))",
            "2/(1 + x**2)",
            {"proved where (x - 1)*(x + 1) < 0", "refuted where (x - 1)*(x + 1) > 0"},
        ),
        ("abs(log(x))", "1/x", {"proved where log(x) > 0", "refuted where log(x) < 0"}),
        (
            "acos(1 - 2*x**2)",
            "2/sqrt(1 - x**2)",
            {"proved where x > 0 (not claimed where x - 1 = 0)", "refuted where x < 0"},
        ),
    ],
)
def test_signs_of_one_quantity_tell_where_a_derivative_is_right(
    y: str, claim: str, expected: set[str]
) -> None:
    verdict = sg.verify(y, "x", claim)
    assert verdict.status == "refuted"
    assert regions(verdict) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("abs(x*y)", "x*y", {"proved where x*y > 0", "refuted where x*y < 0"}),
        (
            "abs(x) + abs(y)",
            "x + y",
            {
                "proved where x > 0 and y > 0",
                "refuted where x > 0 and y < 0",
                "refuted where x < 0 and y > 0",
                "refuted where x < 0 and y < 0",
            },
        ),
        (
            "where(x > 1, x, abs(x))",
            "x",
            {
                "proved where x > 1",
                "proved where x <= 1 and x > 0 (not claimed where x - 1 = 0)",
                "refuted where x <= 1 and x < 0",
            },
        ),
        ("where(x*x == y, 1, x)", "x", {"proved where x*x != y", "refuted where x*x == y"}),
        (
            "sign(x)",
            "where(x >= 0, 1, -1)",
            {"proved where x < 0", "proved where x >= 0 (not claimed where x = 0)", "refuted where x = 0"},
        ),
    ],
)
def test_regions_of_equations(a: str, b: str, expected: set[str]) -> None:
    verdict = sg.equal(a, b)
    assert verdict.status == "refuted"
    assert regions(verdict) == expected


def test_signs_of_which_no_point_is_found_are_no_region() -> None:
    """Of four ways in which the signs of x - 1 and x + 1 may come out, one has no point."""
    verdict = sg.verify("abs(x - 1) + 3*abs(x + 1)", "x", "4")
    assert regions(verdict) == {"proved where x - 1 > 0", "refuted where x - 1 < 0"}


def test_what_a_region_leaves_out_is_data_too() -> None:
    data = sg.equal("sign(x)", "where(x >= 0, 1, -1)").to_json()
    assert {"status": "proved", "where": "x >= 0", "excluded": ["x = 0"]} in data["regions"]


def test_regions_are_of_the_declared_domain() -> None:
    verdict = sg.equal("where(x > 1, x, sqrt(x**2)*y)", "x", domain={"x": "nonnegative"})
    assert regions(verdict) == {"proved where x > 1", "refuted where x <= 1"}
    assert verdict.witness["x"] > 0
