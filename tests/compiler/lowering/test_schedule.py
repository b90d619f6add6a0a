"""A schedule computes everything once, in order, and never hands a spill slot on too early."""

from __future__ import annotations

import random

import pytest

import symgrad.ops  # noqa: F401
from symgrad.compiler.lowering.elementwise.schedule import CHUNK, WHOLE, Schedule, schedule
from symgrad.ir.graph import OPS, SYMBOL, Node, number, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration

SYMBOLS = [symbol(Declaration(name)) for name in "abcd"]


def random_outputs(seed: int, size: int = 60) -> list[Node]:
    rng = random.Random(seed)
    pool = [*SYMBOLS[:3], number(2)]
    for _ in range(size):
        a, b = rng.choice(pool), rng.choice(pool)
        pool.append(OPS[rng.choice(["add", "mul", "div"])](a, b))
    return [rng.choice(pool) for _ in range(5)] + [pool[-1], SYMBOLS[0], number(3)]


def simulate(plan: Schedule) -> set[Node]:
    """Run the schedule with nodes for values: a wrong slot shows as a wrong node."""
    constants: set[Node] = set()
    for node in plan.constants:
        assert constants.issuperset(node.args)
        constants.add(node)
    done = set(constants)
    spill: dict[int, Node] = {}
    for index, chunk in enumerate(plan.chunks):
        here: set[Node] = set()
        for node, slot in chunk.reads.items():
            assert spill[slot] is node
        for node in chunk.nodes:
            assert node not in done
            for arg in node.args:
                assert arg in constants or arg in here or spill[chunk.reads[arg]] is arg
            here.add(node)
            done.add(node)
            if node in chunk.writes:
                assert chunk.writes[node] not in chunk.reads.values()
                assert chunk.writes[node] < plan.slots
                spill[chunk.writes[node]] = node
        if index == len(plan.chunks) - 1:
            for node in plan.outputs:
                if node.op is SYMBOL:
                    assert node in here or spill[chunk.reads[node]] is node
    return done


@pytest.mark.parametrize("size", [1, 2, 5, 17, None])
@pytest.mark.parametrize("seed", range(8))
def test_every_value_is_there_when_it_is_read(seed, size):
    outputs = random_outputs(seed)
    plan = schedule(outputs, SYMBOLS, chunk=size)
    assert simulate(plan) == set(topological(outputs))
    assert plan.inputs == tuple(SYMBOLS)
    assert size is None or all(len(chunk.nodes) <= size for chunk in plan.chunks)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_inputs_come_before_equations(size):
    plan = schedule(random_outputs(1), SYMBOLS, chunk=size)
    order = [node.op is SYMBOL for chunk in plan.chunks for node in chunk.nodes]
    assert order == sorted(order, reverse=True)
    assert any(order)


def test_small_graphs_are_whole_and_slots_are_used_again():
    node = SYMBOLS[0]
    for i in range(WHOLE + 50):
        node = OPS["add"](node, SYMBOLS[1 + i % 2])
    plan = schedule([node], SYMBOLS, rolled=False)
    assert len(plan.chunks) == -(-(WHOLE + 53) // CHUNK)
    assert plan.slots <= 5
    assert len(schedule([node.args[0].args[0]], SYMBOLS, rolled=False).chunks) > 1
    assert len(schedule(random_outputs(2), SYMBOLS).chunks) == 1


def test_nothing_to_compute():
    assert schedule([number(1)], []).chunks == ()
    assert schedule([SYMBOLS[0]], SYMBOLS).chunks[0].nodes == (SYMBOLS[0],)
