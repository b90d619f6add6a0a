"""The NumPy source stands alone, is safe, and gives the bits of the evaluator."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
import symgrad.ops
from symgrad.errors import NumberTooLargeError, UsageError
from symgrad.ir.graph import OPS, Node, Op, as_node, constant, number, symbol
from symgrad.ir.types import BOOL, INT, Declaration, Distribution
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.special.orders import BY_ORDER
from symgrad.printing.numpy.source import numpy_source

ALL = sorted({op.name: op for op in OPS.values() if op.pointwise}.values(), key=lambda op: op.name)
x, y, z = (symbol(Declaration(n)) for n in "xyz")
k = symbol(Declaration("k", INT))
c = symbol(Declaration("c", BOOL))
REALS = np.array(
    [
        -np.inf,
        -1e300,
        -2.5,
        -1.0,
        -0.3,
        -1e-5,
        -0.0,
        0.0,
        5e-324,
        0.25,
        0.5,
        1.0,
        1.5,
        2.0,
        60.5,
        1e300,
        np.inf,
        np.nan,
    ]
)


def f(name: str, *args: Node | int | Fraction) -> Node:
    return OPS[name](*(as_node(a) for a in args))


def run(source: str, *args: Any, name: str = "f") -> Any:
    namespace: dict[str, Any] = {}
    exec(compile(source, "<source>", "exec"), namespace)
    return namespace[name](*args)


def same_bits(a: Any, b: Any) -> None:
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    np.testing.assert_array_equal(a, b)
    if a.dtype == np.float64:
        np.testing.assert_array_equal(np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)]))


@pytest.mark.parametrize("op", ALL, ids=lambda op: op.name)
def test_every_op_gives_the_bits_of_the_evaluator(op: Op) -> None:
    symbols = [
        symbol(Declaration(f"a{i}", BOOL)) if kind == "bool" else symbol(Declaration(f"a{i}"))
        for i, kind in enumerate(op.takes)
    ]
    for n in range(3 if op.parameters else 1):
        node = op(*symbols, params=(n,) * len(op.parameters))
        if op.name in BY_ORDER:  # source of one order at a time
            symbols = symbols[1:]
            node = f("add", op(number(2), *symbols), op(number(Fraction(-3, 2)), *symbols))
            if op.name in ("polylog", "zeta", "spherical_jn"):
                other = 3 if op.name == "spherical_jn" else -3
                node = f("add", op(number(2), *symbols), op(number(other), *symbols))
        columns = np.meshgrid(*(np.array([False, True]) if kind == "bool" else REALS for kind in op.takes))
        columns = columns[: len(symbols)]
        (expected,) = evaluate([node], dict(zip(symbols, columns, strict=True)))
        with np.errstate(all="raise"):
            same_bits(run(numpy_source(node), *columns), expected)


NUMBERS = [
    x,
    y,
    k,
    constant("pi"),
    constant("Catalan"),
    *map(number, (-2, -1, 0, 1, 3, Fraction(9, 10), Fraction(-1, 3))),
]

WITH_SOURCE = [op for op in ALL if op.name not in BY_ORDER]


@st.composite
def graphs(draw: st.DrawFn) -> list[Node]:
    numbers, conditions = list(NUMBERS), [c, f("lt", x, y)]
    common = [OPS[n] for n in ("add", "mul", "div", "neg", "where", "pow", "sqrt", "stop_gradient")]
    for _ in range(draw(st.integers(1, 20))):
        op = draw(st.sampled_from(common) | st.sampled_from(WITH_SOURCE))
        pools = [conditions if kind == "bool" else numbers for kind in op.takes]
        args = [pool[-1 - draw(st.integers(0, len(pool) - 1))] for pool in pools]
        node = op(*args, params=(1,) * len(op.parameters))
        (conditions if node.dtype == "bool" else numbers).append(node)
    return [numbers[-1], conditions[-1], numbers[draw(st.integers(0, len(numbers) - 1))]]


@given(graphs())
@settings(max_examples=60)
def test_random_graphs_give_the_bits_of_the_evaluator(nodes: list[Node]) -> None:
    values = {x: REALS, y: REALS[::-1].copy(), k: np.arange(-9, 9), c: np.arange(18) % 3 == 0}
    try:
        expected = evaluate(nodes, values)
    except NumberTooLargeError:
        return
    source = numpy_source([*nodes, x, y, k, c])
    order = [s for name in _arguments(source) for s in (x, y, k, c) if s.name == name]
    for mine, theirs in zip(run(source, *(values[s] for s in order)), expected, strict=False):
        same_bits(mine, theirs)


def _arguments(source: str) -> list[str]:
    line = next(line for line in source.split("\n") if line.startswith("def f("))
    return line.removeprefix("def f(").removesuffix("):").split(", ")


def test_shapes_of_the_result() -> None:
    node = f("add", x, 1)
    assert run(numpy_source(node), 2.0) == 3.0
    assert run(numpy_source([node]), 2.0) == 3.0
    assert run(numpy_source([node, x]), 2.0) == (3.0, 2.0)
    assert run(numpy_source({"a": node, "b\n": number(7)}, name="g"), 2.0, name="g") == {"a": 3.0, "b\n": 7.0}
    with pytest.raises(UsageError):
        numpy_source([])


def test_the_whole_text() -> None:
    u = symbol(Declaration("u", distribution=Distribution("Uniform", (Fraction(9, 10), Fraction(11, 10)))))
    shared = f("mul", x, u)
    node = f("add", f("sqrt", f("add", shared, f("neg", f("pow", shared, 2)))), f("erf", x))
    assert (
        numpy_source({"z": node}, name="value")
        == '''\
import numpy as np
from scipy import special


def _pow(x, y):
    x = np.asarray(x)
    return np.power(x.astype(np.result_type(x, np.float32)), y)


def value(x, u):
    """z = sqrt(x*u - (x*u)**2) + erf(x)

    Args:
        x: float64 array, x : real
        u: float64 array, u ~ Uniform(0.9, 1.1)
    """
    x = np.asarray(x, dtype=np.float64)
    u = np.asarray(u, dtype=np.float64)
    with np.errstate(all="ignore"):
        t1 = x*u
        return {'z': np.sqrt(t1 - _pow(t1, 2.0)) + special.erf(x)}
'''
    )


def test_names_never_collide() -> None:
    names = [
        "lambda",
        "lambda_",
        "np",
        "special",
        "f",
        "t1",
        "t2",
        "_pow",
        "_sigmoid",
        "a1",
        "x",
        "print",
        "α",
        "ﬁ",
        "fi",
    ]
    symbols = [symbol(Declaration(n)) for n in names]
    total: Node = number(0)
    for s in symbols:
        total = f("add", total, f("mul", f("sigmoid", f("pow", s, 2)), f("pow", s, 2)))
    values = np.linspace(0.5, 2, len(names))
    source = numpy_source(total)
    assert len(set(_arguments(source))) == len(names)
    same_bits(run(source, *values), evaluate([total], dict(zip(symbols, values, strict=True)))[0])


@pytest.mark.parametrize("bad", ["x; import os", "", "1x", "a b", '"""', "x\n"])
def test_names_are_never_code(bad: str) -> None:
    with pytest.raises(UsageError):
        numpy_source(symbol(Declaration(bad)))
    with pytest.raises(UsageError):
        numpy_source(x, name=bad)
    run(numpy_source({bad: x}), 1.0)


def test_hostile_sizes_stay_in_the_docstring() -> None:
    hostile = symbol(Declaration("x", shape=('n"""\nraise SystemExit #\\',)))
    same_bits(run(numpy_source(hostile), [1.0]), [1.0])


@pytest.mark.parametrize(
    "name", ["class", "np", "special", "scipy", "range", "max", "_pow", "ﬁ", "__debug__", "\udcff", 3]
)
def test_reserved_function_names(name: str) -> None:
    with pytest.raises(UsageError):
        numpy_source(f("pow", x, y), name=name)


def test_a_name_is_reserved_where_the_source_needs_it() -> None:
    assert run(numpy_source(x, name="_pow"), 2.0, name="_pow") == 2


def test_arguments_do_not_hide_what_the_source_calls() -> None:
    a, b = (sg.tensor(name, ("n", "n")) for name in ("scipy", "np"))
    value = np.array([[0.0, 1], [0, 0]])
    found = run(sg.linalg.expm(a + b).numpy_source(), value, value)
    np.testing.assert_allclose(found, [[1, 2], [0, 1]])
    most = sg.tensor("max", ("n",))
    padded = sg.arrays.concatenate([most, sg.arrays.zeros(most[3:].shape)])
    assert "max(" in padded.numpy_source()
    assert run(padded.numpy_source(), np.arange(5.0)).tolist() == [0, 1, 2, 3, 4, 0, 0]


def test_a_long_chain_is_text_that_python_reads() -> None:
    node = x
    for i in range(20_000):
        node = f("add", f("mul", node, node) if i % 2 else node, y)
    for _ in range(300):
        node = f("neg", node)
    same_bits(
        run(numpy_source(node), 0.0, 1e-9), evaluate([node], {x: np.float64(0), y: np.float64(1e-9)})[0]
    )
