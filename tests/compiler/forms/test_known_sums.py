"""Derivatives regrouped by the sums of what was differentiated: the same values, never more work."""

from __future__ import annotations

import random

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.forms.known_sums import regrouped
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate

NAMES = "abcxyz"
SYMBOLS = list(sg.symbols(" ".join(NAMES)))


def program(seed: int) -> list[sg.Expr]:
    """Return products and sums of a few values, turned by angles now and then."""
    choose = random.Random(seed)
    values: list[sg.Expr] = list(SYMBOLS)
    for _ in range(choose.randint(3, 9)):
        a, b, c, d = (choose.choice(values[-8:]) for _ in range(4))
        kind = choose.randrange(5)
        if kind == 0:
            angle = choose.choice(SYMBOLS)
            cosine, sine = sg.cos(angle), sg.sin(angle)
            values += [a * cosine - b * sine, a * sine + b * cosine]
        elif kind == 1:
            values.append(a * b - c * d)
        elif kind == 2:
            values.append(a * b + choose.choice([2, -3, 0.5]) * c)
        elif kind == 3:
            values.append(a + b)
        else:
            values.append(a * b * choose.choice([-1, 0.25, 1]))
    return values[-3:]


def operations(nodes: list[Node]) -> int:
    return sum(bool(n.args) for n in topological(nodes))


def multiplications(nodes: list[Node]) -> int:
    return sum(n.op.name == "mul" for n in topological(nodes))


@pytest.mark.parametrize("seed", [*range(60), 918])
def test_values_of_random_programs(seed: int) -> None:
    outputs = program(seed)
    derivatives = [g.node for e in outputs for g in sg.grad(e, SYMBOLS)]
    primal = topological([e.node for e in outputs])
    found = regrouped(derivatives, primal)
    assert operations([*primal, *found]) <= operations([*primal, *derivatives])
    rng = np.random.default_rng(seed)
    values = {s.node: rng.uniform(-2, 2, 50) for s in SYMBOLS}
    for before, after in zip(evaluate(derivatives, values), evaluate(found, values), strict=True):
        scale = np.max(np.abs(before)) + 1
        np.testing.assert_allclose(before, after, rtol=1e-10, atol=1e-11 * scale)


def test_an_arm_has_the_jacobian_that_geometry_gives() -> None:
    joints = list(sg.symbols("q1 q2 q3 q4"))
    x, y, z = sg.symbols("x y z")
    for k, q in enumerate(joints):
        x, y = x * sg.cos(q) - y * sg.sin(q), x * sg.sin(q) + y * sg.cos(q)
        y, z = (-z, y) if k % 2 else (z, -y)
        x = x + 0.1
    outputs = [x, y, z]
    derivatives = [g.node for e in outputs for g in sg.grad(e, joints)]
    primal = topological([e.node for e in outputs])
    found = regrouped(derivatives, primal)
    before = multiplications([*primal, *derivatives]) - multiplications(primal)
    after = multiplications([*primal, *found]) - multiplications(primal)
    assert after <= 0.6 * before


def test_powers_of_one_factor_are_told_apart() -> None:
    a, b, x, y = sg.symbols("a b x y")
    known = x * x * a + y * b
    for e in (
        x * x * a * y + y * y * b,
        x * a * y + y * y * b,
        a * a * (x * x * a + y * b),
        x * x * x + x * x * a,
    ):
        (found,) = regrouped([e.node], topological([known.node]))
        values = {s.node: np.array([float(k + 2)]) for k, s in enumerate((a, b, x, y))}
        assert evaluate([found], values)[0] == evaluate([e.node], values)[0]
    (found,) = regrouped([(x * x * a * y + y * y * b).node], topological([known.node]))
    assert found is (y * known).node or found is (known * y).node


def test_without_sums_nothing_changes() -> None:
    x, y = sg.symbols("x y")
    e = (x * sg.sin(y) + y * x).node
    assert regrouped([e], topological([sg.sin(x * y).node])) == [e]
