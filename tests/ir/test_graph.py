"""Interning, walking, pickling, digests: what everything else takes for granted."""

from __future__ import annotations

import contextlib
import copy
import gc
import importlib.util
import os
import pickle
import threading
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.errors import DomainError, RedefinitionError, ShapeError, UsageError
from symgrad.ir import garbage_collection as collector
from symgrad.ir import graph
from symgrad.ir.graph import OPS, as_node, constant, number, symbol, truth
from symgrad.ir.traverse import digest, flatten, fold, rebuild, substitute, symbols_of, topological, uses
from symgrad.ir.types import INT, POSITIVE, Declaration
from tests.graphs import inputs, random_graph
from tests.processes import printed

ADD, MUL, NEG, SIN = OPS["add"], OPS["mul"], OPS["neg"], OPS["sin"]


def chain(length: int):
    (x,) = inputs(1)
    y = x
    for _ in range(length):
        y = ADD(SIN(y), x)
    return x, y


def test_equal_structure_is_one_object():
    x, y, _ = inputs()
    assert ADD(x, y) is ADD(x, y)
    assert ADD(x, y) is not ADD(y, x)
    assert number(2) is number(Fraction(4, 2))
    assert number(1) is not truth(True)
    assert symbol(Declaration("x0")) is x
    assert symbol(Declaration("x0", POSITIVE)) is not x


def test_a_float_is_the_decimal_it_prints_as():
    assert number(0.9).value == Fraction(9, 10)
    assert number(1e-3).value == Fraction(1, 1000)
    assert number(5e-324).value == Fraction("5e-324")
    assert number(-0.0) is NEG(number(0))
    for bad in (float("inf"), float("nan")):
        with pytest.raises(UsageError, match="is not a number"):
            number(bad)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_rounds_back_to_itself(value):
    node = number(value)
    if value:
        assert float(node.value) == value


def test_dead_graphs_go_away():
    gc.collect()
    before = len(graph._table)
    _, y = chain(20_000)
    assert len(graph._table) >= before + 40_000
    del y
    gc.collect()
    assert len(graph._table) <= before + 2


def test_a_deep_graph_walks_pickles_and_copies():
    x, y = chain(100_000)
    assert len(topological([y])) == 200_001
    assert fold([y], lambda node, below: 1 + max(below, default=0))[y] == 200_001
    assert pickle.loads(pickle.dumps(y)) is y
    assert copy.deepcopy(y) is y
    assert digest(y) != digest(ADD(y, x))
    assert symbols_of([y]) == [x]


def test_a_digest_builds_on_those_below():
    _, y = chain(20_000)
    for node in topological([y]):
        assert len(digest(node)) == 16  # walking all of it for each node would take minutes
    assert digest(number(10**3999)) != digest(number(10**3999 + 1))


def test_topological_order_puts_arguments_first_and_each_node_once():
    for seed in range(50):
        y = random_graph(seed, inputs())
        order = topological([y])
        position = {n: i for i, n in enumerate(order)}
        assert len(position) == len(order)
        assert all(position[a] < position[n] for n in order for a in n.args)


def test_topological_stops_at_leaves_asked_for():
    x, y, _ = inputs()
    h = SIN(x)
    assert topological([ADD(h, y)], until=[h]) == [h, y, ADD(h, y)]


def test_substitute_replaces_intermediates_and_all_at_once():
    x, y, _ = inputs()
    h = SIN(x)
    assert substitute([ADD(h, x)], {h: y, x: number(3)}) == [ADD(y, number(3))]
    assert substitute([ADD(x, y)], {x: y, y: x}) == [ADD(y, x)]


def test_uses_counts_arguments_and_outputs():
    x, _, _ = inputs()
    h = SIN(x)
    count = uses([MUL(h, h), h])
    assert count[h] == 3
    assert count[x] == 1


def test_flatten_and_rebuild_several_outputs():
    x, y, _ = inputs()
    nodes = [ADD(x, y), constant("pi"), truth(False), number(Fraction(1, 3)), ADD(x, y)]
    assert rebuild(flatten(nodes)) == nodes
    assert rebuild(flatten([])) == []


def test_one_name_for_two_symbols_is_an_error():
    with pytest.raises(RedefinitionError, match="two different symbols"):
        symbols_of([ADD(symbol(Declaration("x")), symbol(Declaration("x", POSITIVE)))])


def test_arguments_are_checked():
    x, _, _ = inputs()
    with pytest.raises(UsageError, match="add takes 2 arguments, got 1"):
        ADD(x)
    with pytest.raises(DomainError, match="argument 1 of where is a number"):
        OPS["where"](x, x, x)
    row, column = symbol(Declaration("r", shape=(3,))), symbol(Declaration("c", shape=(4, 1)))
    assert ADD(row, column).shape == (4, 3)
    with pytest.raises(ShapeError, match="sizes 3 and 4"):
        ADD(row, symbol(Declaration("q", shape=(4,))))


def test_a_truth_value_counts_as_one_or_zero():
    x, _, _ = inputs()
    condition = OPS["gt"](x, as_node(0))
    assert MUL(condition, x) is MUL(OPS["where"](condition, number(1), number(0)), x)


def test_kinds_of_results():
    n = symbol(Declaration("n", INT))
    x, _, _ = inputs()
    assert ADD(n, number(1)).dtype == "int"
    assert ADD(n, x).dtype == "real"
    assert OPS["div"](n, number(2)).dtype == "real"
    assert OPS["lt"](n, x).dtype == "bool"


def test_threads_agree_on_one_node():
    x, y, _ = inputs()
    made: list[list[object]] = []
    barrier = threading.Barrier(8)

    def build() -> None:
        barrier.wait()
        made.append([ADD(MUL(x, number(k)), y) for k in range(2000)])

    threads = [threading.Thread(target=build) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(nodes[k] is made[0][k] for nodes in made for k in range(2000))


def test_digests_and_orders_do_not_depend_on_the_hash_seed():
    program = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.graphs import inputs, random_graph\n"
        "from symgrad.ir.traverse import digest, topological\n"
        "y = random_graph(5, inputs(), size=40)\n"
        "print(digest(y).hex(), [n.op.name for n in topological([y])])\n"
    )
    seeds = ("0", "1", "12345")
    assert len({printed(program, env={"PYTHONHASHSEED": seed, "PATH": ""}) for seed in seeds}) == 1


def test_folding_operators_drop_structural_zeros_and_ones():
    x, y, _ = inputs()
    assert (0 / x).is_number(0)
    assert x + 0 is x
    assert (x * 0).value == 0
    assert x * 1 is x
    assert 2 * (3 * x) is 6 * x
    negative = -x
    assert -negative is x
    assert x**1 is x
    assert (x**0).value == 1
    assert x / 1 is x
    assert (-x) * y is -(x * y)
    assert (number(2) ** 10).value == 1024
    assert (number(9) ** (number(9) ** 9)).op is OPS["pow"]  # too large to write out, so it stays


class Switch:
    """A collector that can be switched, as `gc` is, and that is only this test's.

    The process's own is every thread's: better code that another test asked for may be compiled now, and pauses it too.
    """

    def __init__(self, *, on: bool) -> None:
        self.on = on

    def isenabled(self) -> bool:
        return self.on

    def enable(self) -> None:
        self.on = True

    def disable(self) -> None:
        self.on = False


@pytest.fixture
def pauses(monkeypatch):
    """The module that pauses the collector, loaded once more: no pass of another thread is counted in it."""
    monkeypatch.setattr(os, "register_at_fork", lambda **hooks: None, raising=False)
    assert collector.__spec__ is not None
    mine = importlib.util.module_from_spec(collector.__spec__)
    assert collector.__spec__.loader is not None
    collector.__spec__.loader.exec_module(mine)
    return mine


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("step", ["isenabled", "disable", "enable"])
def test_an_interrupted_pass_leaves_the_collector_as_it_was(pauses, step, enabled):
    """Ctrl-C arrives as a call returns, having done its work."""
    switch = pauses.gc = Switch(on=enabled)
    does = getattr(switch, step)

    def interrupted():
        does()
        raise KeyboardInterrupt

    setattr(switch, step, interrupted)
    with contextlib.suppress(KeyboardInterrupt), pauses.gc_paused():
        assert not switch.on
    assert switch.on == enabled
    setattr(switch, step, does)
    with pauses.gc_paused():
        assert not switch.on
    assert switch.on == enabled


def test_the_collector_runs_again_after_the_last_of_several_passes(pauses):
    switch = pauses.gc = Switch(on=True)
    first, inner, other = pauses.gc_paused(), pauses.gc_paused(), pauses.gc_paused()
    first.__enter__()
    with inner:
        pass
    assert not switch.on
    elsewhere = threading.Thread(target=other.__enter__)
    elsewhere.start()
    elsewhere.join()
    first.__exit__(None, None, None)
    assert not switch.on
    other.__exit__(None, None, None)
    assert switch.on
