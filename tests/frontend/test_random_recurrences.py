"""Random recurrences: values and derivatives are those of the steps written out, and texts are read back."""

from __future__ import annotations

import random

import numpy as np
import pytest

import symgrad as sg
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from tests.recurrences import unrolled

HEAD = "a, b : real; x : real[9]\n"
VALUES = {"a": 0.6, "b": 0.4, "x": np.linspace(0.2, 0.9, 9)}
STARTS = ("a", "b", "1", "a*b", "0", "2")
TERMS = ("a*{0}", "{0}*{1}/4", "sin({0})", "{0}", "t*{0}/8", "x[t-1]*{0}")
RESULTS = ("sum({0}**2)", "{0}[0]*{0}[-1]", "sum(sin({0}[1:]))")


def program(rng: random.Random) -> str:
    """Return a program of one line of steps, which run forward, back or until a condition holds."""
    names = rng.sample("FGHK", rng.choice([1, 1, 2]))
    memory = {name: rng.choice([1, 2, 2, 3]) for name in names}
    longest, length = max(memory.values()), rng.randint(1, 4)
    way = rng.choice(["forward", "forward", "back", "until"])

    def value(name: str, back: int) -> str:
        """Return a value that was computed some steps before."""
        offset = back - 1 if way == "back" else memory[name] - longest - back
        return f"{name}[t{offset:+d}]" if offset else f"{name}[t]"

    def read(done: list[str]) -> str:
        name = rng.choice(names)
        return value(name, 0 if name in done and rng.random() < 0.3 else rng.randint(1, memory[name]))

    first = length if way == "back" else 0
    lines = [f"{name}[{first + k}] = {rng.choice(STARTS)}" for name in names for k in range(memory[name])]
    steps: list[str] = []
    for k, name in enumerate(names):
        terms = (
            rng.choice(TERMS).format(read(names[:k]), read(names[:k])) for _ in range(rng.choice([1, 2, 3]))
        )
        steps.append(f"{value(name, 0)} = {' + '.join(terms)}")
    clause = {
        "forward": f"for t in {longest}..{longest + length - 1}",
        "back": f"for t in {length}..1",
        "until": f"until {value(names[0], 0)} > 0.7, at most {length}",
    }[way]
    result = " + ".join(rng.choice(RESULTS).format(name) for name in names)
    return HEAD + "\n".join([*lines, f"{'; '.join(steps)} {clause}", f"y = {result}"])


def value_of(node: Node) -> np.ndarray:
    return np.asarray(evaluate([node], {s: VALUES[s.name] for s in symbols_of([node])})[0])


@pytest.mark.parametrize("seed", range(60))
def test_texts_are_read_back(seed: int) -> None:
    text = program(random.Random(seed))
    p = sg.parse(text)
    y = p["y"]
    assert sg.parse(str(p))["y"].node is y.node
    assert sg.parse(y.text(expand=True)).last.node is y.node
    assert y.latex()
    (plain,) = unrolled([y.node])
    np.testing.assert_allclose(value_of(y.node), value_of(plain), rtol=1e-12)
    for x in y.inputs:
        slope = sg.grad(y, x)
        wanted = value_of(pull_back([plain], [as_node(1)], [x.node]).gradients[0])
        shown, whole = str(slope), slope.text(expand=True)
        below = shown if " : " in shown.splitlines()[0] else f"{text}\n{shown}"
        for found in (slope, sg.parse(below).last, sg.parse(whole).last):
            np.testing.assert_allclose(value_of(found.node), wanted, rtol=1e-10, atol=1e-12)
        assert slope.latex()
