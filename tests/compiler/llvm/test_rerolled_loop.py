"""Loops over copies give the bits that the same equations give one after the other, in every way to run them."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Sequence
from ctypes import CDLL, POINTER, c_double, c_int64
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import symgrad as sg
from benchmarks.repetition import lennard_jones, long_sum, pendulum, rosenbrock
from symgrad.api.handles.output import arrange_nodes
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.compiler.kernels.compile import compile_nodes, save_native
from symgrad.compiler.kernels.elementwise import ElementwiseKernel
from symgrad.compiler.kernels.kernel import KernelOptions
from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.compiler.llvm.engine.target import Target
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64, FloatType
from symgrad.compiler.lowering.elementwise import loop_rerolling as growth
from symgrad.compiler.lowering.elementwise import rolling, segments
from symgrad.compiler.lowering.elementwise import schedule as scheduling
from symgrad.compiler.lowering.elementwise.schedule import Schedule, schedule
from symgrad.ir.graph import OPS, SYMBOL, Node, number, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import BOOL, Declaration
from tests.compiler.kernels.test_artefact import CC, needs_cc
from tests.compiler.lowering.test_rolling import check_copies
from tests.compiler.lowering.test_schedule import simulate

REALS = [symbol(Declaration(f"x{k}")) for k in range(6)]
FLAGS = [symbol(Declaration(f"c{k}", BOOL)) for k in range(2)]


def op(name: str, *args: Node) -> Node:
    return OPS[name](*args)


def kernel(plan: Schedule, real: FloatType = FLOAT64, target: Target | None = None) -> ElementwiseKernel:
    return ElementwiseKernel(
        ElementwiseCode(plan, real, target),
        plan.outputs,
        plan.inputs,
        KernelOptions("k", 1, compile_nodes, save_native),
    )


def rolled(plan: Schedule) -> int:
    return len({chunk.group for chunk in plan.chunks} - {None})


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops from a few equations on."""
    less_is_enough(monkeypatch)


def less_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rolling, "SMALL", 0)
    for module in (rolling, growth):
        monkeypatch.setattr(module, "LEAST", 20)
    monkeypatch.setattr(growth, "_TRAFFIC", 10.0)
    monkeypatch.setattr(segments, "FEWEST", 1)
    monkeypatch.setattr(scheduling, "WHOLE", 0)
    monkeypatch.setattr(scheduling, "CHUNK", 16)


def repetitive(choose: random.Random) -> tuple[list[Node], list[Node]]:
    """A random piece, again and again on random operands, with random equations between and on top."""
    unary = ["neg", "sin", "exp", "tanh", "abs", "sqrt", "floor"]
    binary = ["add", "mul", "div", "minimum", "maximum", "atan2"]
    given = choose.randint(1, 4)
    steps: list[tuple[str, list[int], int]] = []
    for k in range(choose.randint(4, 9)):
        name = choose.choice([*unary, *binary, *binary, "where", "number", "pow"])
        here = given + k  # most read what was computed just before, or little of a piece would be alive
        where = [here - 1, *(choose.randrange(max(0, here - 4), here) for _ in range(3))]
        choose.shuffle(where)
        steps.append((name, where, choose.randrange(3)))
    inputs = [*REALS[: choose.randint(1, 6)], *FLAGS[: choose.randint(0, 2)]]
    pool = [n for n in inputs if n.dtype != "bool"]
    outputs: list[Node] = []
    memory = choose.choice([2, 6, 1000])
    masks = [n for n in inputs if n.dtype == "bool"]
    sums = [choose.choice(pool) for _ in range(choose.randint(1, 3))]
    for _ in range(choose.randint(12, 40)):
        values = [choose.choice(pool[-memory:]) for _ in range(given)]
        number_here = number(choose.choice([2, 3, 0.1, -1, 7]))
        for name, where, kind in steps:
            a, b, c, d = (values[i] for i in where)
            if name == "where":
                test = choose.choice(masks) if masks and kind == 0 else op("lt", a, b)
                test = op("and_", test, op("ge", c, d)) if kind == 1 else test
                if kind == 2 and choose.random() < 0.3:
                    masks.append(test)
                    outputs.append(test)
                values.append(op("where", test, c, d))
            elif name == "number":
                values.append(op(["add", "mul", "div"][kind], a, number_here))
            elif name == "pow":
                values.append(op("pow", a, number(kind + 2)))
            else:
                values.append(op(name, a) if name in unary else op(name, a, b))
        pool += values[-choose.randint(1, 2) :]
        k = choose.randrange(len(sums))
        sums[k] = op("add", sums[k], values[-1])
        if choose.random() < 0.2:
            pool.append(op(choose.choice(binary), choose.choice(pool), choose.choice(pool)))
        if choose.random() < 0.3:
            outputs.append(choose.choice(pool))
    return inputs, [*outputs, *sums]


def arrays(plan: Schedule, count: int, real: FloatType, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [
        rng.random(count) < 0.5 if n.dtype == "bool" else rng.normal(size=count).astype(real.numpy)
        for n in plan.inputs
    ]


def results(k: ElementwiseKernel, given: Sequence[np.ndarray], **out: object) -> list[np.ndarray]:
    found = k(*given, **out)
    return list(found) if isinstance(found, tuple) else [found]


def check_same(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> None:
    for x, y in zip(a, b, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
        if x.dtype.kind == "f":
            some = ~np.isnan(x)
            np.testing.assert_array_equal(np.signbit(x[some]), np.signbit(y[some]))


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([1, 7, 8, 16, 37]))
@example(10_341, False, 7)  # copies of another colour spoil a group, which is then taken without them
def test_random_repetitive_programs(seed: int, single: bool, count: int) -> None:
    choose = random.Random(seed)
    real = FLOAT32 if single else FLOAT64
    inputs, outputs = repetitive(choose)
    with pytest.MonkeyPatch.context() as patch:
        less_is_enough(patch)
        plan = schedule(outputs, inputs)
    plain = schedule(outputs, inputs, rolled=False)
    given = arrays(plain, count, real, seed)
    expected = results(kernel(plain, real), given)
    check_same(results(kernel(plan, real), given), expected)
    # An output may be an input array: nothing is stored before everything is read.
    copies = [a.copy() for a in given]
    out: list[np.ndarray | None] = []
    left = dict(enumerate(copies))
    for node in outputs:
        match = next((k for k, a in left.items() if (a.dtype == bool) == (node.dtype == "bool")), None)
        out.append(None if match is None else left.pop(match))
    check_same(results(kernel(plan, real), copies, out=tuple(out)), expected)


def test_the_random_programs_are_rolled() -> None:
    """Or the test above would say nothing."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        less_is_enough(patch)
        for seed in range(40):
            inputs, outputs = repetitive(random.Random(seed))
            found.append(rolled(schedule(outputs, inputs)))
    assert sum(count > 0 for count in found) >= 12
    assert max(found) >= 2


@pytest.mark.usefixtures("small")
def test_copies_of_random_programs_are_alike_and_in_order() -> None:
    for seed in range(10_300, 10_400):
        inputs, outputs = repetitive(random.Random(seed))
        plan = schedule(outputs, inputs)
        assert simulate(plan) == set(topological(outputs))
        for group in {chunk.group for chunk in plan.chunks} - {None}:
            copies = [chunk.nodes for chunk in plan.chunks if chunk.group == group]
            check_copies(copies, outputs, frozenset())


PROGRAMS: dict[str, Callable[[], tuple[list[sg.Expr], list[sg.Expr]]]] = {
    "Rosenbrock": lambda: rosenbrock(150),
    "Lennard-Jones": lambda: lennard_jones(12),
    "pendulum": lambda: pendulum(300),
    "long sum": lambda: long_sum(180),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_whole_programs(name: str) -> None:
    inputs, outputs = PROGRAMS[name]()
    found = arrange_nodes(outputs)
    nodes, fusable = found.nodes, found.fusable
    symbols = [x.node for x in inputs]
    exact = schedule(nodes, symbols)
    assert rolled(exact)
    # Steps so short that the pendulum is not chaotic: a last bit would become all of it.
    given = [a / 8 + 0.5 for a in arrays(exact, 21, FLOAT64, 0)]
    plain = schedule(nodes, symbols, rolled=False)
    for target in (None, Target(16, fused=False)):
        expected = results(kernel(plain, target=target), given)
        check_same(results(kernel(exact, target=target), given), expected)
    # Where products and sums may be rounded once, a border between copies may keep them apart.
    fused = results(kernel(schedule(nodes, symbols, fusable=fusable)), given)
    for a, b in zip(fused, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_code_follows_the_distinct_structure() -> None:
    short, long = (sg.compile(pendulum(steps)[1], pendulum(steps)[0]) for steps in (300, 1200))
    code = [
        [line for line in k.llvm_ir.splitlines() if not line.startswith("@copies.")] for k in (short, long)
    ]
    assert abs(len(code[1]) - len(code[0])) < 200
    assert len(code[0]) < 1500


def test_better_code_of_little_is_compiled_at_once() -> None:
    inputs, outputs = (list(nodes) for nodes in pendulum(300))
    plans = [
        schedule([e.node for e in outputs], [x.node for x in inputs], rolled=rolled)
        for rolled in (True, False)
    ]
    assert [ElementwiseCode(plan, FLOAT64, effort="auto").quick for plan in plans] == [False, True]


def test_threads_and_broadcasting() -> None:
    inputs, outputs = pendulum(300)
    one, two = (sg.compile(outputs, inputs, threads=n) for n in (1, min(2, _processors())))
    q, p = np.random.default_rng(1).normal(size=(2, 5000))
    check_same(one(q, p, 0.01), two(q, p, 0.01))
    check_same([a[7] for a in one(q, p, 0.01)], [np.asarray(a) for a in one(q[7], p[7], 0.01)])


def _processors() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@needs_cc
def test_an_object_file_has_the_loops_too(tmp_path: Path) -> None:
    inputs, outputs = pendulum(300)
    k = sg.compile(outputs, inputs, name="steps")
    assert "@copies." in k.llvm_ir
    write_artefacts(k, tmp_path / "steps")
    subprocess.run([CC, "-shared", "-o", tmp_path / "steps.so", tmp_path / "steps.o", "-lm"], check=True)
    function = CDLL(str(tmp_path / "steps.so")).steps
    given = np.random.default_rng(2).normal(size=(3, 19)) / 9
    made = np.empty((2, 19))
    pointer = POINTER(c_double)
    at = [a.ctypes.data_as(pointer) for a in (*given, *made)]
    function(*at[:3], c_int64(19), *at[3:])
    check_same(list(made), k(*given))


@pytest.mark.usefixtures("small")
def test_outputs_that_are_inputs_or_constants_are_stored_last() -> None:
    x, y = REALS[:2]
    value = x
    for k in range(30):
        value = op("add", op("mul", op("sin", value), y), number(k))
    outputs = [value, x, number(5), y]
    plan = schedule(outputs, [x, y])
    assert rolled(plan)
    a, b = np.random.default_rng(3).normal(size=(2, 33))
    expected = results(kernel(schedule(outputs, [x, y], rolled=False)), [a, b])
    c, d = a.copy(), b.copy()
    check_same(results(kernel(plan), [c, d], out=(d, None, None, c)), expected)


@pytest.mark.usefixtures("small")
def test_many_inputs_are_read_in_a_loop_and_flags_are_not() -> None:
    many = [symbol(Declaration(f"v{k}")) for k in range(40)]
    value = many[0]
    for v in many:
        value = op("where", FLAGS[0], op("add", op("mul", v, v), value), op("neg", value))
    plan = schedule([value], [*many, FLAGS[0]])
    assert rolled(plan)
    loops = [c for c in plan.chunks if c.group is not None and c.nodes[0].op is SYMBOL]
    assert len(loops) == 40
    given = arrays(plan, 9, FLOAT64, 5)
    given[3] = given[3][0]  # one for all elements
    check_same(
        results(kernel(plan), given),
        results(kernel(schedule([value], [*many, FLAGS[0]], rolled=False)), given),
    )
