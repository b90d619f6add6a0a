"""What was found out about a graph is remembered with it: nothing is done twice, and nothing is kept."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch
from weakref import ref

import pytest

import symgrad as sg
from symgrad.autodiff import vjp
from symgrad.autodiff.vjp import pull_back
from symgrad.ir import graph
from symgrad.ir.graph import as_node, symbol
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.rewrite import pipeline
from symgrad.rewrite.memo import Answers, keeping, remembered
from symgrad.rewrite.pipeline import canonical

# Names that no other test has: what it holds, in the same process, would be taken for what is held here.
PROGRAMS = {
    "scalar": ("slope_q, pitch : real\ny = exp(slope_q)*sin(pitch*slope_q)/(1 + slope_q**2)", "y", "slope_q"),
    "stopped": ("hold_q : real\ny = stop_gradient(sin(hold_q))*hold_q**2 + hold_q", "y", "hold_q"),
    "black scholes": (
        "spot, strike, yearly, vol, term : positive\n"
        "d1 = (log(spot/strike) + (yearly + vol**2/2)*term)/(vol*sqrt(term))\n"
        "d2 = d1 - vol*sqrt(term)\nprice = spot*ndtr(d1) - strike*exp(-yearly*term)*ndtr(d2)",
        "price",
        "vol",
    ),
    "softmax": (
        "rows : real[n, d]; slopes : real[d, k]; truth : real[n, k]\n"
        "p = softmax(rows@slopes, axis=1)\nloss = -sum(truth*log(p))/n",
        "loss",
        "slopes",
    ),
}


def everything(text: str, of: str, by: str) -> list[str]:
    """Ask for all that is told of a gradient, each from the beginning."""
    y = sg.parse(text)[of]
    g = sg.grad(y, by)
    texts = [str(g), str(sg.explain(y, by)), str(g.canonical()), sg.compile([y, g]).llvm_ir]
    return [*texts, sg.verify(y, by, g).status]


@pytest.fixture
def counted() -> Iterator[dict[str, Counter[Any]]]:
    """How often each pass answered each question."""
    found: dict[str, Counter[Any]] = {}

    def counting(name: str, find: Any) -> Any:
        asked = found[name] = Counter[Any]()

        def counted(outputs: Any, *rest: Any) -> Any:
            asked[(*outputs, *map(str, rest))] += 1
            return find(outputs, *rest)

        return counted

    originals = {(pipeline, "_canonical"), (pipeline, "_stable"), (vjp, "_pull_back")}
    patches = [patch.object(m, n, counting(n, getattr(m, n))) for m, n in originals]
    for p in patches:
        p.start()
    yield found
    for p in patches:
        p.stop()


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_pass_answers_twice(name: str, counted: dict[str, Counter[Any]]) -> None:
    text, of, by = PROGRAMS[name]
    y = sg.parse(text)[of]
    g = sg.grad(y, by)
    assert counted["_pull_back"].total() == 1
    str(g)
    known = counted["_canonical"].total()
    assert g.canonical().node is canonical([g.node]).nodes[0]
    assert sg.explain(y, by).record.gradient == (g.node,)
    str(sg.explain(y, by))
    sg.compile([y, g])
    own = [k for k in counted["_canonical"] if k[0] is g.node]
    assert known > 0
    assert len(own) == 1 + (name == "stopped")  # with stop_gradient, and as values
    assert [counted["_canonical"][k] for k in own] == [1] * len(own)
    assert [n for k, n in counted["_pull_back"].items() if k[0] is y.node and n > 1] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_remembered_goes_with_the_graph(name: str) -> None:
    text, of, by = PROGRAMS[name]
    y = sg.parse(text)[of]
    g = sg.grad(y, by)
    everything(text, of, by)  # of the same nodes, as these live
    everywhere = topological([y.node, g.node, g.canonical().node])
    alive = [ref(n) for n in everywhere if n.args and symbols_of([n])]  # symbols, others may hold
    del y, g, everywhere
    while gc.collect():  # what is held by what was collected is found next
        pass
    assert [n() for n in alive if n() is not None] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_as_if_nothing_were_remembered(name: str) -> None:
    found = everything(*PROGRAMS[name])

    def forgetful(nodes: Any, question: Any, find: Any, **_: Any) -> Any:
        return find()

    with patch.object(pipeline, "remembered", forgetful), patch.object(vjp, "remembered", forgetful):
        assert everything(*PROGRAMS[name]) == found


def test_nothing_is_held_for_nobody() -> None:
    x = symbol(Declaration("x"))
    gc.collect()
    before = len(graph._table)
    for k in range(100):
        canonical([x, x * x + x * (k + 2)])
    assert len(graph._table) < before + 50


def test_one_holds_so_many_answers() -> None:
    x = symbol(Declaration("x"))
    mine: Answers = {}
    with keeping(mine):
        for k in range(1000):
            canonical([x * x + x * (k + 2)])
    assert len(mine) == 256


def test_a_trace_is_remembered_while_a_derivative_holds_it() -> None:
    x = symbol(Declaration("x"))
    y = x * x + 1
    held = pull_back([y], [as_node(1)], [x])
    assert pull_back([y], [as_node(1)], [x]) is held
    assert pull_back([y], [as_node(2)], [x]).gradients != held.gradients
    gone = ref(held)
    del held
    assert gone() is None


def test_a_pass_that_failed_is_asked_again() -> None:
    node = symbol(Declaration("x")) + 1
    with keeping({}):
        with pytest.raises(KeyboardInterrupt):
            remembered([node], "a", lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
        assert remembered([node], "a", lambda: {1}) == {1}


def test_threads_that_ask_at_once() -> None:
    node = symbol(Declaration("x")) + 1
    mine: Answers = {}
    wrong: list[int] = []

    def ask(start: int) -> None:
        with keeping(mine):
            for k in range(2000):
                q = (start + k) % 300
                if remembered([node], q, lambda q=q: {q}) != {q}:
                    wrong.append(q)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
