"""Of what is proved it is said where one side alone has a value: truly, at every point, and with one to show it."""

from __future__ import annotations

from itertools import islice

import pytest

import symgrad as sg
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.witness import all_certain
from symgrad.frontend.text import parse_expression
from symgrad.ir.traverse import symbols_of
from symgrad.verification.decide import Claim, decide
from symgrad.verification.points.sampler import points_of
from symgrad.verification.statement import program_of
from tests.verification.regions import half_truths
from tests.verification.statements import TRUE, equality


@pytest.mark.parametrize(
    ("y", "claim", "expected"),
    [
        (
            "cbrt(x)",
            "x**(-2/3)/3",
            ["the claim has no value where x <= 0; the derivative has one at x = -1/4"],
        ),
        ("cbrt(x)", "1/(3*cbrt(x)**2)", []),
        ("log(x)", "1/x", ["the derivative has no value where x <= 0; the claim has one at x = -1"]),
        ("log(abs(x))", "1/x", []),
        (
            "acoth(x)",
            "1/(1 - x**2)",
            ["the derivative has no value where x >= -1 and x <= 1; the claim has one at x = 0"],
        ),
        (
            "atanh(x)",
            "1/(1 - x**2)",
            [
                "the derivative has no value where x >= 1; the claim has one at x = 2",
                "the derivative has no value where x <= -1; the claim has one at x = -2",
            ],
        ),
        ("asin(x)", "1/sqrt(1 - x**2)", []),
        ("where(x > 0, sqrt(x), 0)**2", "where(x > 0, 1, 0)", []),
        ("tan(x)", "1/cos(x)**2", []),
        (
            "x**3/3",
            "exp(2*log(x))",
            ["the claim has no value where x <= 0; the derivative has one at x = -1"],
        ),
    ],
)
def test_of_derivatives(y: str, claim: str, expected: list[str]) -> None:
    verdict = sg.verify(y, "x", claim)
    assert verdict.status == "proved"
    heads = [line.partition(" at ")[0] for line in map(str, verdict.undefined)]
    assert heads == [line.partition(" at ")[0] for line in expected]
    assert all(f"  {line}" in str(verdict).splitlines() for line in map(str, verdict.undefined))
    assert [d["where"] for d in verdict.to_json()["undefined"]] == [u.where for u in verdict.undefined]


def test_of_equations() -> None:
    (gap,) = sg.equal("exp(log(x))", "x").undefined
    assert (gap.side, gap.where, gap.other) == ("the first side", "x <= 0", "the second side")
    assert gap.point["x"] <= 0
    assert not sg.equal("exp(log(x))", "x", domain="positive").undefined
    (gap,) = sg.equal("2*log(abs(x))", "2*log(x) + 0*y").undefined
    assert (gap.side, gap.where) == ("the second side", "x <= 0")


def test_of_arrays() -> None:
    f = sg.parse("x : real[n]; f = sum(x**2)/2")["f"]
    (gap,) = sg.verify(f, "x", "sqrt(x)**2").undefined
    assert (gap.side, gap.where) == ("the claim", "x < 0 for some entry")
    assert min(gap.point["x"]) < 0
    assert list(gap.point) == ["x"]


def test_points_are_of_the_declared_domain() -> None:
    verdict = sg.equal("exp(log(x - 1))", "x - 1", domain={"x": "nonnegative"})
    (gap,) = verdict.undefined
    assert 0 <= gap.point["x"] <= 1


def wrong(s: Claim) -> list[str]:
    """What is said of a proved statement, and is not so at some point."""
    verdict = decide(s, 10)
    found: list[str] = []
    for gap in verdict.undefined:
        first = gap.side in ("the first side", "the derivative")
        own = s.equality
        mine, others = ((own.a, *own.defined), (own.b,)) if first else ((own.b,), (own.a, *own.defined))
        at = dict(gap.point)
        texts = [
            parse_expression(t, {i.name: i for i in symbols_of(s.nodes)}) for t in gap.where.split(" and ")
        ]
        program, wanted = program_of(texts)
        if not all(evaluate(program, at, precision=128, wanted=wanted)):
            found.append(f"{gap}: not so at its point")
        if not all_certain(
            evaluate(own.program, at, precision=128, strict=own.strict, plain=own.plain, wanted=others)
        ):
            found.append(f"{gap}: the other has no value there")
        for point in islice(points_of(own.program), 100):
            holds = all(evaluate(program, point.values, precision=128, wanted=wanted))
            if holds and all_certain(evaluate(own.program, point.values, precision=128, wanted=mine)):
                found.append(f"{gap}: it has one at {point.values}")
    return found


@pytest.mark.parametrize("block", range(4))
def test_what_is_said_is_so_at_every_point(block: int) -> None:
    several = [s for seed in range(10 * block, 10 * (block + 1)) for s in half_truths(seed, x="positive")]
    several += [equality(a, b) for a, b in TRUE[block::4]]
    assert not [w for s in several for w in wrong(s)]
