"""Compiling array programs: which inputs a kernel has, what it delivers, and that it agrees with evaluation."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.output import arrange_nodes
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.lowering.cost import own_cost
from symgrad.errors import MissingInputError, UsageError
from symgrad.ir.traverse import topological
from tests.arrays import random_value

X, W, B = sg.tensor("X", ("n", 3)), sg.tensor("w", (3, 2)), sg.tensor("b", (2,))
Y = sg.tensor("y", ("n", 2))
A = sg.symbols("a")
Z: Any = sg.tanh(X @ W + B)
LOSS: Any = sg.mean((Z - Y) ** 2)


def values(expr: Any, n: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {str(i.name): random_value(i.node, {"n": n}, rng) for i in expr.inputs}


V = sg.tensor("v", (3, 2))
DERIVED = {
    "grad": lambda: sg.grad(LOSS, W),
    "by an intermediate": lambda: sg.grad(LOSS, Z),
    "gradients": lambda: sg.gradients(Z, B)[0],
    "jacobian": lambda: sg.jacobian(Z, W),
    "jacobian forwards": lambda: sg.jacobian(Z, B),
    "batch_jacobian": lambda: sg.batch_jacobian(Z, X),
    "hessian": lambda: sg.hessian(LOSS, B),
    "hvp": lambda: sg.hvp(LOSS, W, V),
    "jvp": lambda: sg.jvp(Z, W, V),
    "vjp": lambda: sg.vjp(Z, W, Y),
    "ones": lambda: sg.grad(sg.sum(X), X),
    "nothing": lambda: sg.grad(sg.sum(X), W),
    "units": lambda: sg.jacobian(X, X),
    "a count": lambda: sg.grad(sg.sum(X * 0 + A), A),
}


@pytest.mark.parametrize("name", DERIVED)
@pytest.mark.parametrize("n", [1, 4])
def test_a_compiled_derivative_is_the_evaluated_one(name: str, n: int) -> None:
    expr = DERIVED[name]()
    given = values(expr, n)
    found = sg.compile(expr)(**given)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expr(**given), rtol=1e-12, atol=1e-13)


def test_inputs_that_only_give_a_size_come_along() -> None:
    ones = sg.grad(sg.sum(X), X)
    assert sg.compile(ones).inputs == ("X",)
    assert sg.compile([ones * A, A]).inputs == ("a", "X")
    assert sg.compile(ones, inputs=["X"]).inputs == ("X",)
    other = sg.tensor("rows", ("n",))
    np.testing.assert_array_equal(sg.compile(ones, inputs=[other])(np.zeros(2)), np.ones((2, 3)))
    with pytest.raises(MissingInputError, match="the outputs need the size n") as caught:
        sg.compile(ones * A, inputs=[A])
    assert caught.value.cure == "add X to inputs, or leave inputs out"
    p = sg.parse("X : real[n, 3]\nb : real[n]\nt = sum(X) + sum(b)")
    assert sg.compile(sg.grad(p["t"], "b")).inputs == ("X",)
    assert sg.compile([p["t"], sg.grad(p["t"], "b")]).inputs == ("X", "b")


def test_what_counts_stays_whole_and_what_is_derived_is_real() -> None:
    ids = sg.tensor("ids", ("k",), "int")
    rows = X[ids]
    whole, taken = sg.compile([sg.arrays.argmax(X, axis=1), rows])(ids=[2, 0, 0], X=np.eye(3))
    assert (whole.dtype, taken.dtype) == (np.int64, np.float64)
    counted = sg.compile(sg.grad(sg.sum(rows), X))(ids=[2, 0, 0], X=np.eye(3))
    np.testing.assert_array_equal(counted, [[2.0] * 3, [0.0] * 3, [1.0] * 3])
    assert counted.dtype == np.float64


def test_a_size_that_nothing_gives_needs_an_input_that_has_it() -> None:
    p = sg.parse("m : size\nx : real\ny = sum(x*arange(m))")
    for given in (None, ["x"]):
        with pytest.raises(MissingInputError) as caught:
            sg.compile(p["y"], inputs=given)
        assert "which need not occur in the outputs" in str(caught.value)


def test_an_input_that_is_an_intermediate_value_is_named_as_it_is_written() -> None:
    h = X @ sg.tensor("w", (3,))
    with pytest.raises(UsageError, match="the input 'X@w' is not a symbol"):
        sg.compile(sg.sum(h**2), inputs=[h])


FAST = "x : real\ny : real\nz = (x*y + x)*(1 + y) - x/3 + sin(x*y)"


def test_fast_kernels_compute_the_same_function():
    p = sg.parse(FAST)
    outputs = [p["z"], *sg.grad(p["z"], [p["x"], p["y"]])]
    x, y = np.random.default_rng(0).uniform(-2, 2, (2, 500))
    high = sg.compile(outputs, inputs=p.inputs)
    fast = sg.compile(outputs, inputs=p.inputs, accuracy="fast")
    for a, b in zip(high(x, y), fast(x, y), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-13, atol=1e-13)


def test_only_fast_kernels_fuse_what_was_written():
    p = sg.parse("x : real\ny : real\nz = x*y + 1")
    high, fast = (sg.compile(p["z"], inputs=p.inputs, accuracy=a) for a in ("high", "fast"))
    assert "@llvm.fma" not in high.llvm_ir
    assert ("@llvm.fma" in fast.llvm_ir) == host().target.fused
    x = 1 + 2.0**-30
    assert high(x, x) == x * x + 1
    assert fast(x, x) in {x * x + 1, float(Fraction(x) ** 2 + 1)}


@pytest.mark.parametrize("shape", [(), ("n",)])
def test_fast_kernels_have_quicker_functions_and_keep_them_as_pickles(shape):
    x = sg.tensor("x", shape)
    y: Any = sg.sum(sg.tanh(x)) if shape else sg.tanh(x)
    high, fast = (sg.compile([y], inputs=[x], accuracy=a) for a in ("high", "fast"))
    assert "@maths.fast." not in high.llvm_ir
    assert "@maths.fast.tanhsech" in fast.llvm_ir
    again = pickle.loads(pickle.dumps(fast))
    assert again.llvm_ir == fast.llvm_ir
    values = np.linspace(-3, 3, 41)
    np.testing.assert_allclose(fast(values), high(values), rtol=4 * 2.0**-52, atol=1e-14)


def test_a_fast_kernel_of_an_array_program():
    p = sg.parse("X : real[n, 3]\nw : real[3]\nloss = sum((X@w)**2)")
    outputs = [p["loss"], sg.grad(p["loss"], p["w"])]
    X, w = np.random.default_rng(0).normal(size=(5, 3)), np.ones(3)
    high = sg.compile(outputs, inputs=p.inputs)(X, w)
    for a, b in zip(high, sg.compile(outputs, inputs=p.inputs, accuracy="fast")(X, w), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-13)


def test_an_accuracy_that_there_is_not():
    with pytest.raises(UsageError, match="accuracy='exact'"):
        sg.compile(sg.symbols("x"), accuracy="exact")


def _arm(joints: int) -> tuple[list[sg.Expr], list[sg.Expr]]:
    """The end of an arm that turns about two axes in turn, and its angles."""
    angles = [sg.symbols(f"q{k}") for k in range(joints)]
    place = [sg.cos(angles[0]), sg.sin(angles[0]), sg.cos(angles[0]) * Fraction(1, 2)]
    for k, q in enumerate(reversed(angles[1:])):
        a, b = (0, 1) if k % 2 else (1, 2)
        c, s = sg.cos(q), sg.sin(q)
        place[a], place[b] = c * place[a] - s * place[b], s * place[a] + c * place[b]
        place[2] = place[2] + Fraction(1, 3)
    return place, angles


def test_where_the_chain_rule_is_fine_no_other_form_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    place, angles = _arm(7)
    outputs = [e for f in place for e in (f, *sg.grad(f, angles))]
    expected = sg.compile(outputs, angles)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a canonical form was asked for")

    monkeypatch.setattr("symgrad.rewrite.pipeline.canonical", never)
    kernel = sg.compile(outputs, angles)
    points = np.random.default_rng(0).uniform(-3, 3, (7, 20))
    for a, b in zip(kernel(*points), expected(*points), strict=True):
        np.testing.assert_array_equal(a, b)
    values = [sg.compile(f, angles)(*(points + 1e-6 * np.eye(7)[2][:, None])) for f in place]
    before = [sg.compile(f, angles)(*(points - 1e-6 * np.eye(7)[2][:, None])) for f in place]
    for k, (up, down) in enumerate(zip(values, before, strict=True)):
        np.testing.assert_allclose(kernel(*points)[8 * k + 3], (up - down) / 2e-6, atol=1e-8)
    # A sum with a number may cancel, a function that may be infinite meet a zero.
    for inner in (sg.tanh, lambda e: sg.log(e**2 + 1)):
        with pytest.raises(AssertionError):
            sg.compile([e for f in place for e in sg.grad(inner(f), angles)], angles)


@pytest.mark.parametrize("joints", [2, 5, 7])
def test_fast_forms_are_not_dearer(joints: int) -> None:
    place, angles = _arm(joints)
    outputs = [e for f in place for e in (f, *sg.grad(f, angles))]
    high, fast = (arrange_nodes(outputs, fast=f).nodes for f in (False, True))
    assert sum(map(own_cost, topological(fast))) <= sum(map(own_cost, topological(high)))
