"""Quick code first, better code when it pays: nobody can tell from the values, whoever calls meanwhile."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.compiler.kernels.calls import elementwise_calls as elementwise_module
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.llvm.elementwise import code as code_module
from symgrad.compiler.llvm.elementwise import emit as emit_module
from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.compiler.llvm.engine.scipy_functions import SCIPY_FUNCTIONS
from symgrad.compiler.lowering.elementwise.limits import better_pays_from
from symgrad.compiler.lowering.elementwise.schedule import schedule
from symgrad.errors import UnsupportedError, UsageError
from symgrad.ir.graph import OPS, Node, Op, number, symbol
from symgrad.ir.types import BOOL, Declaration
from tests.compiler.kernels.formulas import as_tuple, same_bits
from tests.graphs import SMOOTH, inputs, random_graph

ALL = sorted({op.name: op for op in OPS.values() if op.pointwise}.values(), key=lambda op: op.name)
MAGNITUDES = "0 5e-324 1e-300 1e-5 0.3 0.5 1 1.5 2 60.5 710 3e5 1e9 1e22 1e300 inf"
REALS = np.array([*(s * float(m) for m in MAGNITUDES.split() for s in (1, -1)), np.nan])


def both(outputs: Sequence[Node], symbols: Sequence[Node], **how: Any) -> list[Kernel]:
    return [compile_nodes(outputs, symbols, effort=effort, **how) for effort in ("auto", "high")]


def is_quick(kernel: Kernel) -> bool:
    return kernel.quick


def assert_alike(a: Any, b: Any) -> None:
    for first, second in zip(as_tuple(a), as_tuple(b), strict=True):
        assert same_bits(first, second)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("op", ALL, ids=lambda op: op.name)
def test_every_op_has_the_same_bits(op: Op, dtype: str) -> None:
    symbols = [
        symbol(Declaration(f"a{i}", BOOL)) if kind == "bool" else symbol(Declaration(f"a{i}"))
        for i, kind in enumerate(op.takes)
    ]
    params = (1,) * len(op.parameters)
    try:
        quick, better = both([op(*symbols, params=params)], symbols, dtype=dtype)
    except UnsupportedError:  # its order is a number
        symbols = symbols[1:]
        quick, better = both([op(number(2), *symbols, params=params)], symbols, dtype=dtype)
    assert is_quick(quick)
    assert not is_quick(better)
    reals = (
        REALS[abs(REALS) < 100] if op.name in SCIPY_FUNCTIONS else REALS
    )  # whose orders of 1e300 take a second each
    with np.errstate(over="ignore"):
        columns = np.meshgrid(*([False, True] if s.dtype == "bool" else reals.astype(dtype) for s in symbols))
    assert_alike(quick(*columns), better(*columns))


@given(seed=st.integers(0, 10**6), size=st.integers(2, 60), order=st.integers(1, 2), wide=st.booleans())
def test_derivatives_have_the_same_bits(seed: int, size: int, order: int, wide: bool) -> None:
    """Also where products and sums are rounded once together, and where better code computes two vectors at a time."""
    symbols = inputs(2)
    value = sg.Expr(random_graph(seed, symbols, size=size, ops=SMOOTH))
    wrt = [sg.Expr(s) for s in symbols]
    outputs = list(sg.derivatives(value, wrt, order=order).values())
    made = [
        sg.compile(outputs, wrt, effort=effort, accuracy="fast" if wide else "high")
        for effort in ("auto", "high")
    ]
    x, y = np.random.default_rng(seed).normal(scale=2.0, size=(2, 37))
    assert_alike(made[0](x, y), made[1](x, y))
    assert_alike(made[0](x[0], y[0]), made[1](x[0], y[0]))


X, U = sg.symbols("x u")
WAVE = sg.exp(-(X**2)) * sg.sin(3 * U) + sg.tanh(X * U)
OUTPUTS = [WAVE, *sg.grad(WAVE, [X, U])]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_module, "better_pays_from", lambda _: 100)
    monkeypatch.setattr(emit_module, "elements_of_a_call", lambda _: 0)
    monkeypatch.setattr(elementwise_module, "_ASK_EVERY", 1)


@pytest.mark.usefixtures("soon")
def test_better_code_comes_when_enough_has_been_computed() -> None:
    kernel: Any = sg.compile(OUTPUTS, [X, U])
    x = np.linspace(-1, 1, 30)
    found = [kernel(x, 0.5) for _ in range(3)]
    assert is_quick(kernel)
    found.append(kernel(x, 0.5))  # it would pass a hundred elements
    assert not is_quick(kernel)
    for values in found[1:]:
        assert_alike(found[0], values)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("arrays", [1, 2])
def test_a_large_call_is_not_computed_by_quick_code(arrays: int) -> None:
    kernel: Any = sg.compile(OUTPUTS, [X, U])
    large = np.linspace(-1, 1, 100)
    kernel(*(large if k < arrays else 0.5 for k in range(2)))
    assert not is_quick(kernel)


@pytest.mark.usefixtures("soon")
def test_outer_products_are_counted_by_their_elements() -> None:
    kernel: Any = sg.compile(OUTPUTS, [X, U])
    x, u = np.linspace(-1, 1, 20)[:, None], np.linspace(-1, 1, 20)
    kernel(x, u)
    assert is_quick(kernel)
    kernel(0.5, 0.5)
    assert not is_quick(kernel)


def test_a_call_counts_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_module, "better_pays_from", lambda _: 1000)
    monkeypatch.setattr(emit_module, "elements_of_a_call", lambda _: 9)
    kernel, point = sg.compile(OUTPUTS, [X, U]), np.array([0.5])  # numbers have code of their own
    for _ in range(100):
        kernel(point, point)
        assert kernel.quick
    for _ in range(17):
        kernel(point, point)
    assert not kernel.quick


def test_whoever_asks_for_the_ufunc_gets_better_code() -> None:
    kernel: Any = sg.compile(OUTPUTS, [X, U])
    x = np.linspace(-1, 1, 30)
    before = kernel(x, x)
    ufunc = kernel.ufunc
    assert not is_quick(kernel)
    assert_alike(before, ufunc(x, x))
    assert_alike(before, kernel(x, x))


@pytest.mark.usefixtures("soon")
def test_threads_that_call_meanwhile_see_the_same_values() -> None:
    x = np.linspace(-3, 3, 40)
    expected = sg.compile(OUTPUTS, [X, U], effort="high")(x, x)
    for _ in range(5):
        kernel = sg.compile(OUTPUTS, [X, U])
        start, wrong = threading.Barrier(4), []

        def call(kernel: Any = kernel, start: Any = start, wrong: list[Any] = wrong) -> None:
            start.wait()
            for _ in range(20):
                found = kernel(x, x)
                if not all(same_bits(a, b) for a, b in zip(found, expected, strict=True)):
                    wrong.append(found)

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert not is_quick(kernel)


@pytest.mark.usefixtures("soon")
def test_an_interrupt_leaves_the_quick_code(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel: Any = sg.compile(OUTPUTS, [X, U])
    x = np.linspace(-1, 1, 60)
    first = kernel(x, x)

    def interrupted(self: ElementwiseCode) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ElementwiseCode, "improve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kernel(x, x)
    assert is_quick(kernel)
    assert_alike(first, kernel(x, x))
    assert not is_quick(kernel)


def test_the_text_is_that_of_the_better_code() -> None:
    quick, better = (sg.compile(OUTPUTS, [X, U], effort=e) for e in ("auto", "high"))
    assert quick.llvm_ir == better.llvm_ir
    assert is_quick(quick)


@pytest.mark.parametrize("effort", ["auto", "high"])
def test_a_pickle_keeps_the_effort(effort: str) -> None:
    kernel = pickle.loads(pickle.dumps(sg.compile(OUTPUTS, [X, U], effort=effort)))
    assert kernel.effort == effort
    assert is_quick(kernel) == (effort == "auto")


def test_other_efforts_are_refused() -> None:
    with pytest.raises(UsageError, match="effort='least'"):
        sg.compile(X, effort="least")


def test_more_to_compute_pays_sooner_and_more_to_compile_later() -> None:
    def pays(*outputs: sg.Expr) -> int:
        return better_pays_from(schedule([e.node for e in outputs], [X.node, U.node]))

    total = X
    for k in range(50):
        total = total * U + k
    functions = X
    for _ in range(50):
        functions = sg.sin(functions)
    assert pays(functions) < pays(total) < pays(X * U)
    assert pays(X) > 0


def long_program(lines: int) -> tuple[sg.Program, str]:
    text = ["x0 : real", "x1 : real"]
    rng = np.random.default_rng(0)
    for i in range(2, lines):
        other = f"x{rng.integers(i)}"
        forms = (f"sin(x{i - 1}) + {other}", f"x{i - 1}*{other}/(1 + x{i - 1}**2)", f"x{i - 1} - 0.5*{other}")
        text.append(f"x{i} = {forms[rng.integers(3)]}")
    return sg.parse("\n".join(text)), f"x{lines - 1}"


def test_low_effort_compiles_quick_code_alone_with_the_same_values(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE", str(tmp_path))
    p, last = long_program(300)
    outputs = [p[last], sg.grad(p[last], "x0"), sg.grad(p[last], "x1")]
    low, high = (sg.compile(outputs, effort=effort) for effort in ("low", "high"))
    assert not low.quick
    values = np.random.default_rng(1).normal(size=(2, 20_000))
    for _ in range(3):
        found, expected = low(*values), high(*values)
    assert not low.quick
    assert same_bits(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-8)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-8)
    again = pickle.loads(pickle.dumps(low))
    assert again.effort == "low"
    assert same_bits(again(*values)[1], found[1])


def test_low_effort_leaves_long_derivatives_as_the_chain_rule_gives_them() -> None:
    p, last = long_program(300)
    gradient = sg.grad(p[last], "x0")
    assert sg.compile([p[last], gradient], effort="low").outputs == (p[last].node, gradient.node)
    assert sg.compile([p[last], gradient]).outputs != (p[last].node, gradient.node)
