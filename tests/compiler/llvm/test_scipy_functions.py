"""The special functions that SciPy computes: in kernels the same bits as in NumPy; no files of such kernels."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import symgrad as sg
import symgrad.ops
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.engine.scipy_functions import SCIPY_FUNCTIONS
from symgrad.errors import UnsupportedError
from symgrad.ir.composite import WRITTEN
from symgrad.ir.graph import OPS, as_node, symbol
from symgrad.ir.types import Declaration

X = symbol(Declaration("x"))
AT = np.linspace(0.03, 1.9, 37)


COMPOSED = {"ellipeinc", "ellipkinc", "expn", "ive", *WRITTEN}
ALONE = [name for name in SCIPY_FUNCTIONS if name in OPS and name not in COMPOSED]


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_bits_are_those_of_scipy(name: str, dtype: str) -> None:
    at = AT[AT < 1] if name in {"erfinv", "ellipk", "ellipe"} else AT
    args = [as_node(2), X] if OPS[name].arity == 2 else [X]
    points = at.astype(dtype)
    got = compile_nodes([OPS[name](*args)], [X], dtype=dtype)(points)
    wide = points.astype("float64")
    expected = OPS[name].evaluate(*([2.0, wide] if len(args) == 2 else [wide]))
    assert got.dtype == dtype
    assert np.array_equal(got, expected.astype(dtype))


@pytest.mark.parametrize("name", ALONE)
def test_constants_are_folded_to_the_same_bits(name: str) -> None:
    args = [as_node(2), as_node(0.5)] if OPS[name].arity == 2 else [as_node(0.5)]
    kernel = compile_nodes([OPS[name](*args) + X], [X])
    assert "scipy." not in kernel.llvm_ir
    variables = [symbol(Declaration(n)) for n in "ab"[: len(args)]]
    numbers = [float(a.value) for a in args]
    assert kernel(0.0) == compile_nodes([OPS[name](*variables)], variables)(*numbers)


def test_several_values_of_one_function_share_it() -> None:
    kernel = compile_nodes([OPS["Si"](X) + OPS["Ci"](X) * OPS["airyai"](X), OPS["airybi"](X)], [X])
    assert kernel.llvm_ir.count("declare void @scipy.sici(") == 1
    assert kernel.llvm_ir.count("declare void @scipy.airy(") == 1
    both = kernel(2.0)
    assert both[1] == pytest.approx(3.298094999978214, rel=1e-14)


def test_in_array_programs() -> None:
    p = sg.parse("x : real[n]; y = sum(jv(0, x)*exp1(x))")
    gradient = sg.grad(p["y"], p["x"])
    value = sg.compile(gradient)(x=AT)
    step = 1e-6
    for i in (0, 20, 36):
        moved = AT[i] + np.array([-step, step])
        low, high = (float(sg.parse("t : real; y = jv(0, t)*exp1(t)")["y"](t=t)) for t in moved)
        assert value[i] == pytest.approx((high - low) / (2 * step), rel=1e-5)


def test_no_files(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="the code of jv, airyai is SciPy's") as caught:
        write_artefacts(compile_nodes([OPS["jv"](as_node(1), X) * OPS["airyai"](X)], [X]), tmp_path / "f")
    assert caught.value.cure
    assert list(tmp_path.iterdir()) == []


def test_no_derivative_by_the_order() -> None:
    p = sg.parse("x : positive; n : real; y = jv(n, x) + kv(2*n, x)")
    for name in ("n",):
        with pytest.raises(UnsupportedError, match=r"of (jv|kv)\(n, x\) with respect to its order"):
            sg.grad(p["y"], p[name])
    p = sg.parse("x : positive; y = jv(stop_gradient(x), x)")
    assert "jv" in str(sg.grad(p["y"], p["x"]))


BY_ORDER = {
    "expint": [(2, 0.7), (0, 0.7), (-2, 0.7), (2.5, 0.7), (2.5, 3), (0.5, 0.7)],
    "uppergamma": [(0.5, 0.7), (3, -0.7), (0, 0.7), (-1.5, 0.7)],
    "lowergamma": [(0.5, 0.7), (3, -0.7), (-1.5, 0.7)],
    "polylog": [(2, 0.7), (2, 0.3), (3, -5), (0, 3), (-2, 0.7)],
    "zeta": [(2, 0.7), (1.5, 0.7), (-2, 0.7), (3, -0.3)],
}


@pytest.mark.parametrize("name", BY_ORDER)
def test_one_order_at_a_time(name: str) -> None:
    """Code of an order that is a number, and what it gives without compiling; both near mpmath."""
    for order, at in BY_ORDER[name]:
        number = as_node(Fraction(order))
        got = compile_nodes([OPS[name](number, X)], [X])(float(at))
        assert got == pytest.approx(float(OPS[name].evaluate(float(order), float(at))), rel=1e-15)
        mp = mpmath.mp
        assert got == pytest.approx(float(OPS[name].reference(mp, mp.mpf(order), mp.mpf(at))), rel=1e-13)


@pytest.mark.parametrize("name", BY_ORDER)
def test_no_code_of_an_order_that_is_a_variable(name: str) -> None:
    n = symbol(Declaration("n"))
    with pytest.raises(
        UnsupportedError, match=f"{name} of an order that is a variable has no native code"
    ) as caught:
        compile_nodes([OPS[name](n, X)], [n, X])
    assert caught.value.cure


def test_orders_without_code_are_evaluated_all_the_same() -> None:
    half = as_node(Fraction(1, 2))
    with pytest.raises(UnsupportedError, match=r"polylog of order 0\.5 has no native code"):
        compile_nodes([OPS["polylog"](half, X)], [X])
    values = OPS["polylog"].evaluate(0.5, np.array([-3.0, 0.5, 2.0]))
    assert values[:2] == pytest.approx([-1.0710467, 0.80612672], rel=1e-6)
    assert np.isnan(values[2])
