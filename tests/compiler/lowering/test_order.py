"""The order of equations: one in which they can be computed, the same every time, with the long chains first."""

from __future__ import annotations

import random

import pytest

import symgrad as sg
from symgrad.compiler.lowering.cost import cycles
from symgrad.compiler.lowering.elementwise.order import by_urgency
from symgrad.compiler.lowering.elementwise.schedule import WHOLE, schedule
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological

X, Y = sg.symbols("x y")


def equations(outputs: list[sg.Expr]) -> list[Node]:
    return [n for n in topological([e.node for e in outputs]) if n.args]


def random_outputs(seed: int) -> list[sg.Expr]:
    choose = random.Random(seed)
    values = [X, Y]
    for _ in range(choose.randint(1, 60)):
        a, b = choose.choice(values), choose.choice(values[-6:])
        values.append(choose.choice([a + b, a * b, sg.sin(a), a / (b * b + 1), -b]))
    return [*values[-3:], choose.choice(values)]


@pytest.mark.parametrize("seed", range(40))
def test_everything_comes_once_and_after_what_it_reads(seed: int) -> None:
    outputs = random_outputs(seed)
    given = equations(outputs)
    order = by_urgency(given, {e.node for e in outputs}, cycles)
    assert set(order) == set(given)
    assert len(order) == len(given)
    seen: set[Node] = set()
    for node in order:
        assert all(a in seen or not a.args for a in node.args)
        seen.add(node)
    assert by_urgency(given, {e.node for e in outputs}, cycles) == order


def test_the_longest_chain_begins_first() -> None:
    chain = X
    for _ in range(5):
        chain = sg.sin(chain)
    short = [X * k for k in range(2, 8)]
    total = sum(short, chain)
    order = by_urgency(equations([total]), {total.node}, cycles)
    assert order[0].op.name == "sin"


def test_what_frees_registers_comes_before_what_takes_more() -> None:
    """Sums of products: no more than a few products wait at a time."""
    total = X
    for k in range(2, 40):
        total = total + (X * k) * (Y + k)
    order = by_urgency(equations([total]), {total.node}, cycles)
    last = {a: i for i, n in enumerate(order) for a in n.args}
    alive = max(sum(last.get(n, -1) > i for n in order[: i + 1]) for i in range(len(order)))
    assert alive <= 6


def test_large_graphs_keep_their_order() -> None:
    value = X
    for _ in range(WHOLE):
        value = sg.sin(value) + Y
    plan = schedule([value.node], [X.node, Y.node])
    nodes = [n for chunk in plan.chunks for n in chunk.nodes if n.args]
    assert nodes == [n for n in topological([value.node]) if n.args]
