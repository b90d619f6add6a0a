"""Repetition is found in general, groups are copies of one piece, and an order to compute them in exists."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import symgrad as sg
from benchmarks.repetition import Program, lennard_jones, long_sum, no_repetition, pendulum, rosenbrock, total
from symgrad.api.handles.output import arrange_nodes
from symgrad.compiler.lowering.elementwise.isomorphic_nodes import NUMBERS
from symgrad.compiler.lowering.elementwise.rolling import Copies, repetitions
from symgrad.compiler.lowering.elementwise.schedule import Schedule, schedule
from symgrad.compiler.lowering.elementwise.segments import segments
from symgrad.ir.graph import NUMBER, SYMBOL, Node
from symgrad.ir.traverse import topological
from tests.compiler.lowering.test_schedule import simulate


def nodes_of(program: Program) -> tuple[list[Node], list[Node], frozenset[Node]]:
    inputs, outputs = program
    found = arrange_nodes(outputs)
    nodes, fusable = found.nodes, found.fusable
    return [x.node for x in inputs], list(nodes), fusable


def equations(outputs: Sequence[Node]) -> list[Node]:
    varying: set[Node] = set()
    for n in topological(outputs):
        if n.op is SYMBOL or not varying.isdisjoint(n.args):
            varying.add(n)
    return [n for n in topological(outputs) if n in varying]


def scheduled(program: Program, *, rolled: bool = True) -> Schedule:
    inputs, outputs, fusable = nodes_of(program)
    return schedule(outputs, inputs, fusable=fusable, rolled=rolled)


def check_copies(copies: Copies, outputs: Sequence[Node], fusable: frozenset[Node]) -> None:
    """Every row has the same op, and the same rows for operands; what differs is outside, or a number."""
    wiring: list[object] = []
    for copy in copies:
        row = {node: t for t, node in enumerate(copy)}
        wiring.append(
            [
                (
                    n.op.name,
                    n.op is not SYMBOL and n.params,
                    n in fusable,
                    list(outputs).count(n),
                    [
                        row.get(a, a if a.op is NUMBER and n.op.name not in NUMBERS else a.op is NUMBER)
                        for a in n.args
                    ],
                )
                for n in copy
            ]
        )
    assert all(w == wiring[0] for w in wiring)


EXAMPLES: dict[str, tuple[Callable[[], Program], float]] = {
    "Rosenbrock": (lambda: rosenbrock(170), 0.9),
    "Lennard-Jones": (lambda: lennard_jones(12), 0.7),
    "pendulum": (lambda: pendulum(300), 0.9),
    "long sum": (lambda: long_sum(180), 0.8),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_repetition_is_found(name: str) -> None:
    program, most = EXAMPLES[name]
    plan = scheduled(program())
    groups = {chunk.group for chunk in plan.chunks if chunk.group is not None}
    within = sum(len(chunk.nodes) for chunk in plan.chunks if chunk.group is not None)
    assert 1 <= len(groups) <= 4
    assert within >= most * sum(len(chunk.nodes) for chunk in plan.chunks)
    for group in groups:
        copies = [chunk.nodes for chunk in plan.chunks if chunk.group == group]
        check_copies(copies, plan.outputs, plan.fusable)
    assert simulate(plan) == set(topological(plan.outputs))


def test_a_pair_is_one_copy_with_its_forces() -> None:
    """Energy and gradient are different outputs, far apart in a walk from them."""
    _, outputs, fusable = nodes_of(lennard_jones(14))
    pairs = 14 * 13 // 2
    (copies,) = repetitions(equations(outputs), outputs, fusable)
    assert pairs - 4 <= len(copies) <= pairs
    assert len(copies[0]) >= 20
    assert sum(node.op.name == "div" for node in copies[0]) >= 1


def test_what_repeats_nothing_is_left_alone() -> None:
    program = no_repetition(3000)
    assert scheduled(program) == scheduled(program, rolled=False)
    assert all(chunk.group is None for chunk in scheduled(program).chunks)


def test_small_graphs_are_left_alone() -> None:
    program = rosenbrock(100)
    assert scheduled(program) == scheduled(program, rolled=False)


def test_half_a_repetition_is_cut_where_another_order_is_asked_for() -> None:
    """Copies whose values are read too early by others are no copies that can be computed one after the other."""
    x = sg.symbols(" ".join(f"x{k}" for k in range(450)))
    forwards = [sg.sin(v) * v + 1 for v in x]
    value = total(forwards)
    for a in reversed(forwards):
        value = sg.tanh(value * a)  # reads the first last
    plan = scheduled((list(x), [value]))
    assert simulate(plan) == set(topological([value.node]))
    assert sum(len(c.nodes) for c in plan.chunks if c.group is not None) > 1000


def test_copies_that_wait_for_others_again_and_again_are_no_loop() -> None:
    """Each copy feeds equations that are all different, and they the next copy."""
    x, y = sg.symbols("x y")
    different = [sg.sin, sg.cos, sg.tanh, sg.exp, sg.sqrt, sg.arctan]
    value = x
    copies: list[tuple[Node, ...]] = []
    for k in range(40):
        a = value * y
        b = a + 1
        copies.append((a.node, b.node))
        value = b
        for j in range(6):
            if (k >> j) & 1:
                value = different[j](value)
    order = [n for n in topological([value.node]) if n.args]
    runs = segments(order, [copies])
    assert all(group is None for _, group in runs)
    assert [n for nodes, _ in runs for n in nodes] == order


def test_everything_is_computed_once_and_groups_do_not_overlap() -> None:
    _, outputs, fusable = nodes_of(long_sum(180))
    groups = repetitions(equations(outputs), outputs, fusable)
    everything = [n for copies in groups for copy in copies for n in copy]
    assert len(everything) == len(set(everything))
    varying = {n for n in equations(outputs) if n.args}
    runs = segments([n for n in equations(outputs) if n.args], groups)
    done: set[Node] = set()
    for nodes, _ in runs:
        for node in nodes:
            assert done.issuperset(a for a in node.args if a in varying)
            done.add(node)
    # What stands between two copies is one run.
    assert all(runs[k][1] is not None or runs[k + 1][1] is not None for k in range(len(runs) - 1))


def test_inputs_that_are_asked_for_are_stored_after_the_last_copy() -> None:
    """The last copy is code that all share: it can store nothing else."""
    x = sg.symbols(" ".join(f"x{k}" for k in range(408)))
    outputs = [sg.sin(v) * v + v / 3 for v in x]
    plan = scheduled((list(x), [*outputs, x[7], x[0]]))
    assert plan.chunks[-2].group is not None
    assert plan.chunks[-1].group is None
    assert not plan.chunks[-1].nodes
    assert plan.chunks[-1].reads.keys() == {x[0].node, x[7].node}
    at = np.linspace(-2, 2, 408)
    found = np.array(sg.compile([*outputs, x[7], x[0]], inputs=x)(*at))
    np.testing.assert_allclose(found[:408], np.sin(at) * at + at / 3, rtol=1e-13)
    assert list(found[408:]) == [at[7], at[0]]


def test_functions_with_other_orders_are_other_functions() -> None:
    """What looks alike but for the order of a polygamma is in no two copies of one group."""
    x = sg.symbols(" ".join(f"x{k}" for k in range(420)))
    orders = np.random.default_rng(4).integers(1, 3, 420)
    outputs = [sg.special.polygamma(int(n), v) * v + v / 3 for n, v in zip(orders, x, strict=True)]
    _, nodes, fusable = nodes_of((list(x), outputs))
    groups = repetitions(equations(nodes), nodes, fusable)
    assert groups
    for copies in groups:
        check_copies(copies, nodes, fusable)
