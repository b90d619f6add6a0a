"""Kinks: the listed value at the listed place, exactly; and the page that documents them."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from symgrad.autodiff.jvp import all_partials
from symgrad.ir.graph import NUMBER, OPS, Node, as_node, symbol
from symgrad.ir.op import Kink
from symgrad.ir.types import POSITIVE, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.kinks_page import kinks_page
from tests.conftest import compare_golden
from tests.docs.markdown import ROOT
from tests.ops.cases import (
    BY_LIMIT,
    CASES,
    MP,
    Case,
    compiled,
    every_smooth_case,
    exact,
    floating,
    grid,
    removable,
    value,
)

listed = [(case, kink) for case in CASES for kink in case.op.kinks]
every_kink = pytest.mark.parametrize(("case", "kink"), listed, ids=[f"{c}: {k.where}" for c, k in listed])


def same(got: Any, wanted: float | None) -> bool:
    return not np.isfinite(float(got)) if wanted is None else bool(got == wanted)


@every_kink
def test_value_taken(case: Case, kink: Kink) -> None:
    assert len(kink.partials) == case.op.arity
    point = tuple(floating(x) for x in kink.point)
    for i in case.differentiable:
        node, wanted = case.partial(i), kink.partials[i]
        in_numpy = evaluate([node], dict(zip(case.symbols, map(np.float64, point), strict=True)))[0]
        assert same(in_numpy, wanted), (i, in_numpy)
        native = compiled(case, [np.array([x]) for x in point], i=i)[0]
        assert same(native, wanted), (i, native)
        if (case.op.name, kink.point) not in BY_LIMIT:
            assert same(value(node, case.symbols, kink.point), wanted), i


@every_kink
def test_is_a_kink(case: Case, kink: Kink) -> None:
    """The function is not smooth there along some argument: a corner, a jump, a pole, or an end of the domain."""
    steps = [MP.mpf(10) ** -k for k in (20, 24)]
    rough = False
    assert kink.smooth == removable(case, kink.point)
    if kink.smooth:
        last = case.partial(case.op.arity - 1)
        assert not MP.isfinite(value(last, case.symbols, kink.point))
        return
    for i in range(case.op.arity):

        def f(offset: Any, i: int = i) -> Any:
            moved = [exact(x) for x in kink.point]
            moved[i] += offset
            return case.reference(tuple(moved))

        for h in steps:
            left, right = (f(0) - f(-h)) / h, (f(h) - f(0)) / h
            if MP.isnan(left) or MP.isnan(right) or abs(left - right) > 1e-3 or abs(left) > 1e9:
                rough = True
    assert rough, f"{mpmath.nstr(kink.point)} looks smooth"


@every_smooth_case
def test_all_infinite_partials_are_listed(case: Case) -> None:
    undefined = {i for kink in case.op.kinks for i, v in enumerate(kink.partials) if v is None}
    for i in case.differentiable:
        found = [
            p
            for p in grid(case)
            if case.inside(p) and not MP.isfinite(value(case.partial(i), case.symbols, p))
        ]
        if found:
            assert i in undefined, f"{case}: partial {i} is not finite at {found[0]}, and no kink says so"


def test_choices_have_a_strong_zero() -> None:
    """A partial that chooses has a structural zero in its outer choice: linearisation reads it as a guard."""
    found = 0
    for case in CASES:
        for i in case.differentiable:
            node = case.partial(i)
            if node.op is OPS["where"]:
                assert any(branch.is_number(0) for branch in node.args[1:]), (case, i)
                found += 1
            elif node.op is not NUMBER:
                assert OPS["where"] not in {a.op for a in node.args}, (case, i)
    assert found >= 10


x = symbol(Declaration("x"))
y = symbol(Declaration("y"))


def derivative(node: Node, **at: float) -> float:
    [d] = [v for k, v in all_partials(node, [x], 1).items() if k]
    return float(evaluate([d], {s: np.float64(at.get(s.name, 0.0)) for s in (x, y)})[0])


@pytest.mark.parametrize(
    ("node", "point"),
    [
        (OPS["sqrt"](OPS["relu"](x)), -1.0),
        (OPS["log"](OPS["maximum"](x, as_node(0))), -2.0),
        (OPS["sqrt"](OPS["clip"](x, as_node(0), as_node(1))), -3.0),
        (OPS["sqrt"](OPS["minimum"](OPS["abs"](x), as_node(0))), 5.0),
    ],
    ids=str,
)
def test_an_infinite_slope_behind_a_choice_not_taken(node: Node, point: float) -> None:
    assert derivative(node, x=point) == 0


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_ties_share_the_derivative(name: str) -> None:
    assert derivative(OPS[name](x, x), x=3.0) == 1
    assert derivative(OPS[name](x, OPS["neg"](x)), x=0.0) == 0  # the middle of the slopes of |x| or -|x|


def test_clip_partials_sum_to_one_everywhere() -> None:
    case = next(c for c in CASES if c.op.name == "clip")
    for point in grid(case):
        assert sum(value(case.partial(i), case.symbols, point) for i in range(3)) == 1, point


def test_clip_with_bounds_that_are_numbers_has_two_conditions() -> None:
    [d] = [v for k, v in all_partials(OPS["clip"](x, as_node(-1), as_node(1)), [x], 1).items() if k]
    assert d is OPS["where"](
        OPS["and_"](OPS["ge"](x, as_node(-1)), OPS["le"](x, as_node(1))), as_node(1), as_node(0)
    )


def test_clip_between_equal_bounds_is_constant() -> None:
    for point in (0.0, 1.0, 2.0):
        assert derivative(OPS["clip"](x, y, y), x=point, y=1.0) == 0
        for low, high in ((1, 1), (2, 1)):
            assert derivative(OPS["clip"](x, as_node(low), as_node(high)), x=point) == 0


def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update-golden"))
    compare_golden(ROOT / "docs" / "kinks.md", kinks_page(), update=update)


def test_powers_of_what_is_positive_need_no_choice() -> None:
    a = symbol(Declaration("a", POSITIVE))
    choices = []
    for base in (a, as_node(2), x):
        node = OPS["pow"](base, y)
        choices.append([rule(node, base, y).op is OPS["where"] for rule in OPS["pow"].partials if rule])
    assert choices == [[False, False], [False, False], [True, True]]
