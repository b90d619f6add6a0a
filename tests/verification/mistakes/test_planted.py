"""Mistakes planted into random programs are named, or one that gives the same formula; right derivatives get none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ir.graph import Node
from symgrad.ir.size_substitution import resized
from symgrad.verification.mistakes.candidate import Mistake
from symgrad.verification.mistakes.catalogue import ROWS
from symgrad.verification.mistakes.derivation import RightDerivation
from symgrad.verification.mistakes.numbers import Array, TrialPoint, sampled_arrays, sampled_lanes
from symgrad.verification.mistakes.rule import MalRule, Site, Wrong
from tests.verification.mistakes.cases import recognise

_LEAVES = ("x", "a", "b", "3", "x", "u")
_ONE = (
    "sin({})",
    "exp({})",
    "cos({})",
    "tanh({})",
    "({})**2",
    "sqrt(1 + ({})**2)",
    "-({})",
    "({})**3",
    "abs({})",
)
_TWO = ("({} + {})", "({})*({})", "({})/(2 + ({})**2)", "({} - {})")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program of some lines, each of which reads what is above it."""
    known = list(_LEAVES)
    lines = ["x, a, b : real", "u ~ Uniform(0.5, 1.5)"]
    for k in range(draw(st.integers(2, 5))):
        one, two = draw(st.sampled_from(_ONE)), draw(st.sampled_from(_TWO))
        first, second = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        lines.append(f"t{k} = {two.format(one.format(first), second)}")
        known = [f"t{k}", *known]
    lines.append("y = " + " + ".join(known[:3]))
    return "\n".join(lines)


def planted(y: Node, x: Node, choice: int) -> tuple[MalRule[Site, Wrong], Node] | None:
    """Return one of the mistakes that can be made in the derivation of y, and the formula that it gives."""
    derivation = RightDerivation(y, x, {})
    made: list[tuple[MalRule[Site, Wrong], Wrong]] = []
    for site in derivation.sites():
        for row in ROWS:
            if not row.ops or site.node.op.name in row.ops:
                made += [(row, wrong) for wrong in row.distort(site)]
    if not made:
        return None
    row, wrong = made[choice % len(made)]
    return row, derivation.formula(wrong)


def differ(a: Node, b: Node) -> bool:
    """Tell whether two formulas differ clearly at most points."""
    points = sampled_lanes([a, b]).points
    if not points:
        return False
    one, other = (np.broadcast_to(points[0](n), points[0](a + b).shape) for n in (a, b))
    return bool(np.mean(np.abs(one - other) > 1e-4 * (np.abs(one) + np.abs(other))) > 0.6)


def named(found: Sequence[Mistake]) -> set[str]:
    return {f.kind for f in found} | {f.second.kind for f in found if f.second is not None}


@settings(max_examples=60)
@given(programs(), st.integers(0, 10_000))
def test_a_planted_mistake_is_named(text: str, choice: int) -> None:
    program = sg.parse(text)
    y, x = program["y"].node, program["x"].node
    made = planted(y, x, choice)
    if made is None:
        return
    row, claim = made
    right = RightDerivation(y, x, {}).right
    if not differ(right, claim):
        return
    found = recognise(y, x, claim)
    assert found, row.kind
    # What is named first gives the formula, whichever mistake was made.
    values = sampled_lanes([right, claim])
    assert _gives(found[0], claim, values.points[0])


def _gives(found: Mistake, claim: Node, point: TrialPoint) -> bool:
    if found.sides is None:
        return True
    one, other = found.sides()
    a, b = point(one), point(other)
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9 * float(np.max(np.abs(point(claim))))))


@settings(max_examples=30)
@given(programs())
def test_a_right_derivative_is_told_nothing(text: str) -> None:
    program = sg.parse(text)
    y, x = program["y"], program["x"]
    right = sg.grad(y, x)
    assert recognise(y.node, x.node, right.node) == []
    verdict = sg.verify(y, x, right, time_limit=2)
    assert verdict.status != "refuted"
    assert verdict.diagnosis == []


_ARRAYS = (
    "A : real[n, m]; x : real[m]; c : real[n]; y = sum(c*tanh(A@x))",
    "A : real[n, n]; x : real[n]; y = x@inv(A + 3*eye(n))@x + sum(x)",
)


@pytest.mark.parametrize("text", _ARRAYS)
def test_each_mistake_in_a_derivation_of_arrays_is_named(text: str) -> None:
    program = sg.parse(text)
    y, x = resized([program["y"].node, program["x"].node], {"n": 4, "m": 3, "k": 3})
    derivation = RightDerivation(y, x, {"n": 4})
    derivation.sample(sampled_arrays([y, derivation.right]))
    tried = 0
    for site in [*derivation.sites()][:3]:
        for row in ROWS:
            if row.ops and site.node.op.name not in row.ops:
                continue
            for wrong in [*row.distort(site)][:1]:
                claim = derivation.formula(wrong)
                values, right = derivation.rows(claim), derivation.right_values
                if claim.shape != x.shape or not _apart(values, right):
                    continue
                tried += 1
                kinds = named(recognise(y, x, claim, sizes={"n": 4}))
                assert kinds, (row.kind, row.says)
    assert tried > 4


def _apart(one: Array, other: Array) -> bool:
    scale = float(np.max(np.abs(one), initial=0) + np.max(np.abs(other), initial=0))
    return math.isfinite(scale) and bool(np.max(np.abs(one - other), initial=0) > 1e-3 * scale)
