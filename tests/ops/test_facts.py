"""Algebraic facts, each checked at every sample, on the grid and at random points; and the checks themselves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, get_args

import pytest

from symgrad.ir.graph import OPS
from symgrad.ir.op import Fact
from tests.ops.cases import CASES, MP, Case, exact, grid, samples, spread

CLOSE = MP.mpf(10) ** -40


def near(a: Any, b: Any) -> bool:
    return a == b or abs(a - b) <= CLOSE * max(abs(a), abs(b))


def points(case: Case) -> list[tuple[Any, ...]]:
    every = [*samples(case), *grid(case)]
    if "bool" not in case.op.takes:
        every += [p for p in spread(case)[:100] if max(map(abs, p)) < 1e100]
    return [tuple(map(exact, p)) for p in every if case.inside(p)]


def with_values(case: Case) -> list[tuple[Any, Any]]:
    """(x, f(x)) of an op of one argument, x ascending."""
    return [(x, case.reference((x,))) for x in sorted({p[0] for p in points(case)})]


def odd(case: Case, sign: int = -1) -> bool:
    pairs = with_values(case)
    return all(case.inside((-x,)) and near(case.reference((-x,)), sign * y) for x, y in pairs)


def increasing(case: Case, sign: int = 1) -> bool:
    pairs = with_values(case)
    steps = [(a[1], b[1]) for a, b in pairwise(pairs) if b[0] - a[0] > CLOSE * abs(a[0])]
    # Saturated to 50 digits (tanh at 1e5) is not decreasing either; strictness shows between moderate points.
    moderate = [y for x, y in pairs if 1e-6 < abs(x) < 10]
    strict = all(sign * (b - a) > 0 for a, b in pairwise(moderate))
    return strict and all(sign * (b - a) >= 0 for a, b in steps)


def all_values(case: Case, holds: Callable[[Any], bool]) -> bool:
    return all(holds(case.reference(p)) for p in points(case))


def commutative(case: Case) -> bool:
    return all(case.reference(p) == case.reference(p[::-1]) for p in points(case))


def associative(case: Case) -> bool:
    f = case.reference
    some = points(case)[::11] if "bool" not in case.op.takes else points(case)
    values = list(dict.fromkeys(x for p in some for x in p))[:8]
    return all(near(f((f((a, b)), c)), f((a, f((b, c))))) for a in values for b in values for c in values)


def linear(case: Case) -> bool:
    f = case.reference
    some = points(case)[:12]
    return all(
        near(f(tuple(2 * a - 3 * b for a, b in zip(p, q, strict=True))), 2 * f(p) - 3 * f(q))
        for p in some
        for q in some
    )


def zero_partials(case: Case) -> bool:
    return all(case.partial(i).is_number(0) for i in case.differentiable)


def beside(case: Case, point: tuple[Any, ...], size: Any) -> list[tuple[Any, Any, Any]]:
    """A step of each argument, and the points before and after it where both are in the domain."""
    found: list[tuple[Any, Any, Any]] = []
    for i, x in enumerate(point):
        if not isinstance(x, bool):
            step = size * min(abs(x) or 1, 1)
            down, up = ((*point[:i], x + away, *point[i + 1 :]) for away in (-step, step))
            found += [(step, down, up)] if case.inside(down) and case.inside(up) else []
    return found


def kinks(case: Case) -> list[tuple[Any, ...]]:
    return [tuple(map(exact, k.point)) for k in case.op.kinks]


def moderate(case: Case) -> list[tuple[Any, ...]]:
    every = [*points(case), *kinks(case)]
    return [p for p in every if max(map(abs, p)) < 1e6 and case.inside(p)]


def continuous(case: Case) -> bool:
    """With a far smaller step the value changes far less, at kinks as elsewhere."""
    f = case.reference
    for p in moderate(case):
        for coarse, fine in zip(*(beside(case, p, MP.mpf(10) ** k) for k in (-6, -30)), strict=False):
            change, finer = (max(abs(f(q) - f(p)) for q in pair[1:]) for pair in (coarse, fine))
            if finer > change / 1000 + CLOSE * (1 + abs(f(p))):
                return False
    return True


def unbounded(case: Case) -> bool:
    """Towards some point the function goes on growing."""
    ends = [*kinks(case), *([(MP.pi / 2,)] if len(case.op.takes) == 1 else [])]
    for end in ends:
        for sign in (1, -1):
            way = [tuple(x + sign * MP.mpf(10) ** -k for x in end) for k in (10, 20, 40)]
            if all(map(case.inside, way)):
                a, b, c = (abs(case.reference(p)) for p in way)
                if c - b > (b - a) / 2 > 0.1:
                    return True
    return False


def overflows(case: Case) -> bool:
    return max(abs(case.reference((MP.mpf(x),))) for x in (1100, -1100)) > MP.mpf(2) ** 1024


def piecewise_linear(case: Case) -> bool:
    """The second difference is 0, or, across a kink, as large as the step."""
    f = case.reference
    straight = 0
    for p in moderate(case):
        for step, down, up in beside(case, p, MP.mpf(10) ** -9):
            bent = abs(f(up) - 2 * f(p) + f(down))
            if CLOSE * (1 + abs(f(p))) < bent < step / 10**6:
                return False
            straight += bent < step / 1000
    return straight > 0


CHECKS: dict[str, Callable[[Case], bool]] = {
    "commutative": commutative,
    "associative": associative,
    "linear": linear,
    "odd": odd,
    "even": lambda case: odd(case, sign=1),
    "increasing": increasing,
    "decreasing": lambda case: increasing(case, sign=-1),
    "nonnegative": lambda case: all_values(case, lambda y: y >= 0),
    "positive": lambda case: all_values(case, lambda y: y > 0),
    "integral": lambda case: all_values(case, MP.isint),
    "piecewise-constant": zero_partials,
    "piecewise-linear": piecewise_linear,
    "continuous": continuous,
    "poles": unbounded,
    "exponential": overflows,
    "bounded-by-one": lambda case: all_values(case, lambda y: abs(y) <= 1),
    "chooses": lambda case: all(case.reference(p) in (*p, 0) for p in moderate(case)),
    "stops": zero_partials,
    "given-slope": lambda case: any(case.partial(i) in case.symbols for i in case.differentiable),
    "idempotent": lambda case: all_values(case, lambda y: case.reference((y,)) == y),
}

claims = [(case, fact) for case in CASES for fact in sorted(case.op.facts)]


@pytest.mark.parametrize(("case", "fact"), claims, ids=[f"{c}: {f}" for c, f in claims])
def test_fact(case: Case, fact: str) -> None:
    assert CHECKS[fact](case)


def test_every_fact_is_checked_and_claimed() -> None:
    assert set(CHECKS) == set(get_args(Fact))
    assert {fact for _, fact in claims} == set(CHECKS)


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        ("commutative", "atan2"),
        ("associative", "div"),
        ("linear", "mul"),
        ("odd", "acot"),  # but for the point 0 it would be
        ("odd", "log"),
        ("even", "sin"),
        ("increasing", "abs"),
        ("increasing", "tan"),
        ("decreasing", "acsch"),
        ("nonnegative", "sin"),
        ("positive", "sqrt"),
        ("integral", "abs"),
        ("piecewise-constant", "abs"),
        ("piecewise-linear", "hypot"),
        ("continuous", "sign"),
        ("continuous", "floor"),
        ("continuous", "atan2"),
        ("continuous", "acot"),
        ("poles", "sqrt"),
        ("poles", "acos"),
        ("exponential", "softplus"),
        ("exponential", "tanh"),
        ("bounded-by-one", "sec"),
        ("chooses", "abs"),
        ("chooses", "hypot"),
        ("stops", "neg"),
        ("idempotent", "neg"),
        ("given-slope", "where"),
    ],
)
def test_checks_refuse_what_is_false(fact: str, name: str) -> None:
    """Near misses: a check that accepts these would accept anything."""
    assert not CHECKS[fact](next(c for c in CASES if c.op is OPS[name]))


def test_no_plain_fact_is_missing() -> None:
    """Rules read facts: what holds at all points and is not claimed was forgotten."""
    unary = [
        c for c in CASES if c.op.takes == ("number",) and not c.op.parameters and "stops" not in c.op.facts
    ]
    for case in unary:
        for fact in ("odd", "even", "increasing", "decreasing", "nonnegative", "bounded-by-one", "integral"):
            implied = fact == "nonnegative" and "positive" in case.op.facts
            if fact not in case.op.facts and not implied:
                assert not CHECKS[fact](case), f"{case} is {fact}: say so in its record"
    for case in CASES:
        if case.op.arity == 2 and len(set(case.op.takes)) == 1 and "commutative" not in case.op.facts:
            assert not CHECKS["commutative"](case), f"{case} is commutative: say so in its record"
