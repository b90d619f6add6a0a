"""Expressions with shapes: one spelling on expressions and on arrays gives one value."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import symgrad as sg
from symgrad.errors import (
    ArrayTypeError,
    IndexRangeError,
    MissingInputError,
    RedefinitionError,
    ShapeError,
    SymgradError,
    UnsupportedError,
    UsageError,
)

RNG = np.random.default_rng(5)
VALUES: dict[str, Any] = {
    "X": RNG.normal(size=(4, 3)),
    "Y": RNG.normal(size=(4, 3)),
    "S": RNG.normal(size=(3, 3)),
    "T": RNG.normal(size=(2, 4, 3)),
    "v": RNG.normal(size=3),
    "w": RNG.normal(size=4),
    "ids": RNG.integers(-3, 3, size=(2, 5)),
    "a": 1.5,
}
EXPRS: dict[str, Any] = {
    "X": sg.tensor("X", ("n", 3)),
    "Y": sg.tensor("Y", ("n", 3)),
    "S": sg.tensor("S", (3, 3)),
    "T": sg.tensor("T", ("b", "n", 3)),
    "v": sg.tensor("v", (3,)),
    "w": sg.tensor("w", ("n",)),
    "ids": sg.tensor("ids", ("b", 5), "int"),
    "a": sg.symbols("a"),
}

# Read with a namespace of expressions and with one of arrays.
SAME = """
X @ v
v @ v
T @ X.T
np.matmul(X, S)
a*X + v
X.T
X.T.T
T.transpose(1, 0, 2)
T.transpose((2, 0, 1))
X.sum()
X.sum(axis=0)
X.sum(0, keepdims=True)
np.sum(X, axis=(0, 1), keepdims=True)
np.sum(X, axis=-1)
X.mean(1)
np.mean(T, axis=(0, 2))
np.prod(X, axis=1)
X.prod()
X.max()
np.max(X, axis=1, keepdims=True)
np.amin(X, axis=0)
X.min(axis=1)
X.var()
np.var(X, axis=0, ddof=1)
X.std(axis=1)
np.std(X)
np.argmax(X, axis=1)
np.argmin(X)
np.linalg.norm(X)
np.linalg.norm(X, axis=1)
np.linalg.norm(X, 1)
np.linalg.norm(X, np.inf)
np.linalg.norm(v, 1)
np.linalg.norm(X, "fro", keepdims=True)
np.cumsum(X)
np.cumsum(X, axis=1)
np.einsum("ij,j->i", X, v)
np.einsum("...ij,kj->...ik", T, X)
np.einsum("ii", S)
np.einsum("ij->ji", X)
np.dot(X, v)
X.dot(S)
np.dot(T, v)
np.tensordot(T, X, axes=([1], [0]))
np.tensordot(T, X, axes=2)
np.inner(X, Y)
np.outer(X, v)
np.trace(S)
np.linalg.inv(S)
np.linalg.det(S)
np.linalg.slogdet(S)[1]
np.linalg.slogdet(S)[0]
np.linalg.solve(S, v)
np.linalg.solve(S, X.T)
np.linalg.matrix_power(S, 3)
np.linalg.matrix_power(S, -2)
np.kron(X, v)
np.kron(v, S)
np.diag(S)
np.diag(v)
X.reshape(-1)
X.reshape(-1, 1, 3)
np.reshape(S, (9, 1))
np.ravel(X)
np.transpose(T)
np.transpose(T, (1, 2, 0))
np.swapaxes(T, 0, 2)
np.moveaxis(T, 0, -1)
np.expand_dims(X, (0, 2))
np.squeeze(np.expand_dims(X, 1))
np.squeeze(X.sum(0, keepdims=True), axis=0)
np.broadcast_to(v, (2, 4, 3))
np.flip(X)
np.flip(X, axis=1)
np.concatenate([X, 2*Y])
np.concatenate([X, Y], axis=1)
np.stack([X, Y])
np.stack([X, Y], axis=-1)
np.vstack([X, v])
np.hstack([X, Y])
np.hstack([v, v])
np.where(X > 0, X, a)
np.clip(X, -0.5, 0.5)
np.take(X, ids, axis=0)
np.take(X, 2)
np.take(X, [0, 2, 2], axis=1)
np.take_along_axis(X, np.expand_dims(np.argmax(X, axis=1), 1), 1)
np.ones_like(X)*v
np.zeros_like(X) + a
np.full_like(v, a)
np.exp(X) + np.sin(X)*np.sqrt(np.square(X))
np.subtract(X, v)
X[0]
X[-1, 1]
X[1:]
X[::-1, 1:3]
X[..., 0]
X[:, None]
T[1, ..., 2]
X[ids]
X[ids, [0]]
X[:, [2, 0]]
T[:, 1][0]
T[[1, 0], :, [0, 2]]
X - X.mean(axis=0)
X/np.linalg.norm(X, axis=1, keepdims=True)
-X + +X + abs(X)
""".strip().splitlines()


@pytest.mark.parametrize("text", SAME)
def test_an_expression_is_what_numpy_computes(text: str) -> None:
    expr = eval(text, {"np": np, **EXPRS})
    expected = eval(text, {"np": np, **VALUES})
    read = {s.name: VALUES[str(s.name)] for s in expr.inputs}
    found = expr(**read)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    assert (expr.dtype == "int") == (np.asarray(expected).dtype.kind in "iu") or expr.dtype == "real"
    sizes = {"n": 4, "b": 2}
    assert tuple(sizes.get(str(s), s) for s in expr.shape) == np.shape(expected) or any(
        not isinstance(s, int | str) for s in expr.shape
    )


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_softmax_and_logsumexp_are_those_of_scipy(axis: Any) -> None:
    X = EXPRS["X"]
    for name in ("softmax", "log_softmax", "logsumexp"):
        found = getattr(sg, name)(X, axis=axis)(X=VALUES["X"])
        np.testing.assert_allclose(found, getattr(scipy.special, name)(VALUES["X"], axis=axis), rtol=1e-14)


def test_functions_and_numpy_build_the_same_graph() -> None:
    X, v = EXPRS["X"], EXPRS["v"]
    for ours, numpys in [
        (sg.sum(X, axis=0), np.sum(X, axis=0)),
        (sg.einsum("ij,j->i", X, v), X @ v),
        (sg.arrays.concatenate([X, X]), np.concatenate([X, X])),
        (sg.linalg.norm(X, axis=1), np.linalg.norm(X, axis=1)),
        (sg.arrays.reshape(X, (-1,)), X.reshape(-1)),
        (sg.mean(X), X.mean()),
    ]:
        assert ours.same(numpys)


def test_constants_that_have_shapes() -> None:
    w = EXPRS["w"]
    np.testing.assert_array_equal((sg.arrays.eye("n") @ w)(w=VALUES["w"]), VALUES["w"])
    np.testing.assert_array_equal((sg.arrays.arange("n") + 0 * w)(w=VALUES["w"]), np.arange(4))
    np.testing.assert_array_equal(sg.arrays.ones((2, 3))(), np.ones((2, 3)))
    np.testing.assert_array_equal(sg.arrays.full(3, 0.5)(), np.full(3, 0.5))
    np.testing.assert_array_equal(sg.arrays.zeros(2)(), np.zeros(2))
    found = sg.nn.one_hot(EXPRS["ids"], 3)(ids=abs(VALUES["ids"]))
    np.testing.assert_array_equal(found, np.eye(4, 3)[abs(VALUES["ids"])])


def test_scatter_add_adds_up() -> None:
    ids, T = sg.tensor("i", ("n",), "int"), sg.tensor("rows", ("n", 2))
    found = sg.arrays.scatter_add(T, ids, (4, 2))(i=[3, 0, 3], rows=[[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(found, [[3, 4], [0, 0], [0, 0], [6, 8]])


# -- sizes -------------------------------------------------------------------------------------------------------


def test_sizes_are_names_numbers_and_numbers_of_formulas() -> None:
    X = EXPRS["X"]
    assert X.shape == ("n", 3)
    assert (X.ndim, len(X[0]), len(sg.tensor("F", (2, 5)))) == (2, 3, 2)
    assert str(X.size) == "3*n"
    total = sg.sum(X) / sg.size(X.shape[0])
    np.testing.assert_allclose(total(X=VALUES["X"]), VALUES["X"].sum() / 4)
    assert float((sg.size(X.size) + 0 * sg.sum(X))(X=VALUES["X"])) == 12
    tail = X[1 : sg.size("n") - 1]
    np.testing.assert_array_equal(tail(X=VALUES["X"]), VALUES["X"][1:3])
    wide = sg.arrays.broadcast_to(EXPRS["v"], (sg.size("n") * 2, 3))
    assert [i.name for i in (wide + 0).inputs] == ["v"]


def test_iteration_over_a_known_axis() -> None:
    S = EXPRS["S"]
    rows = list(S)
    assert len(rows) == 3
    assert rows[1].same(S[1])
    first, second, third = S.sum(axis=0)
    assert (first + second + third).shape == ()


@pytest.mark.parametrize("call", [lambda x: list(x), lambda x: len(x), lambda x: next(iter(x))])
def test_a_named_axis_is_not_iterated(call: Callable[[Any], Any]) -> None:
    with pytest.raises(ShapeError, match="known only in a call") as caught:
        call(EXPRS["X"])
    assert caught.value.cure


def test_a_scalar_has_no_length() -> None:
    for call in (len, iter):
        with pytest.raises(TypeError, match="scalar"):
            call(EXPRS["a"])


def test_tensors_are_interned_and_pickle() -> None:
    X = EXPRS["X"]
    assert sg.tensor("X", ("n", 3)) is X
    assert not sg.tensor("X", ("m", 3)).same(X)
    assert pickle.loads(pickle.dumps(X @ EXPRS["v"])).same(X @ EXPRS["v"])


def test_domains_of_tensors() -> None:
    assert sg.tensor("p", 3, "positive").node.declaration.domain.name == "positive"
    assert str(sg.tensor("p", (3,), "real(0, 1)").node.declaration) == "p : real(0, 1)[3]"
    assert sg.tensor("flags", ("n",), "bool").dtype == "bool"
    assert str(sg.symbols("q", "real(-1, 1)").node.declaration) == "q : real(-1, 1)"


# -- values ------------------------------------------------------------------------------------------------------


def test_whole_numbers_for_real_inputs_are_floats() -> None:
    X = EXPRS["X"]
    found = (X**-1.0 + 1 / X).sum(axis=0)(X=np.array([[1, 2, 4]]))
    np.testing.assert_array_equal(found, [2, 1, 0.5])
    assert sg.sum(X)(X=np.full((2, 3), 2**62)).dtype == float


def test_inputs_that_only_give_a_size() -> None:
    X, w = EXPRS["X"], EXPRS["w"]
    ones = sg.grad(sg.sum(X), X)
    assert [i.name for i in ones.inputs] == ["X"]
    np.testing.assert_array_equal(ones(X=VALUES["X"]), np.ones((4, 3)))
    np.testing.assert_array_equal(ones(VALUES["X"]), np.ones((4, 3)))
    with pytest.raises(MissingInputError, match="no value for X"):
        ones()
    # Of a gradient of a gradient, too; and another input with the size will do.
    both = sg.grad(sg.sum(X) + sg.sum(w), X)
    np.testing.assert_array_equal(both(w=VALUES["w"]), np.ones((4, 3)))
    np.testing.assert_array_equal(both(X=VALUES["X"], w=VALUES["w"]), np.ones((4, 3)))
    again = sg.grad(sg.sum(both), X)
    assert again.nothing == "disconnected"
    np.testing.assert_array_equal(again(X=VALUES["X"]), np.zeros((4, 3)))
    p = sg.parse("X : real[n, 3]\nb : real[n]\nt = sum(X) + sum(b)")
    np.testing.assert_array_equal(sg.grad(p["t"], "b")(b=np.zeros(2)), np.ones(2))
    assert [i.name for i in sg.grad(p["t"], "b").inputs] == ["X"]


def test_substitution_keeps_shapes() -> None:
    X, v = EXPRS["X"], EXPRS["v"]
    total = sg.sum(X @ v)
    np.testing.assert_allclose(
        total.subs(v=2 * v)(X=VALUES["X"], v=VALUES["v"]), 2 * (VALUES["X"] @ VALUES["v"]).sum()
    )
    np.testing.assert_allclose(total.subs(v=1)(X=VALUES["X"]), VALUES["X"].sum())
    np.testing.assert_allclose((X + v).subs(X=0)(X=VALUES["X"], v=VALUES["v"]), 0 * VALUES["X"] + VALUES["v"])
    with pytest.raises(ShapeError, match=r"replacing v of shape \(3,\) by one of shape \(4,\)"):
        total.subs(v=sg.tensor("u", (4,)))


# -- refusals ----------------------------------------------------------------------------------------------------

X, Y, V, W, IDS = (EXPRS[name] for name in ("X", "Y", "v", "w", "ids"))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: X @ W, ShapeError, r"X has shape \(n, 3\), w has shape \(n,\)"),
        (lambda: X + W, ShapeError, r"X has shape \(n, 3\), w has shape \(n,\)"),
        (lambda: X @ 2, ShapeError, "write \\*"),
        (lambda: sg.arrays.concatenate([X, W]), ShapeError, "w has shape"),
        (lambda: X.reshape(4, 3), ShapeError, "has 3\\*n elements"),
        (lambda: X.sum(axis=2), ShapeError, "axis 2"),
        (lambda: X[0, 0, 0], ShapeError, "3 subscripts"),
        (lambda: V[3], IndexRangeError, "index 3"),
        (lambda: X[0.5], UsageError, "subscript of type float"),
        (lambda: X[V], SymgradError, "kind real"),
        (lambda: X[X > 0], UnsupportedError, "truth value"),
        (lambda: X[np.array([0.5])], UsageError, "write positions as a list"),
        (lambda: X * np.ones(3), UsageError, "make arrays inputs"),
        (lambda: np.ones((2, 4)) @ X, UsageError, "make arrays inputs"),
        (lambda: np.sum(X, dtype=int), UnsupportedError, r"sum\(x, axis=None, \*, keepdims=False\)"),
        (lambda: np.linalg.pinv(EXPRS["S"]), UnsupportedError, "numpy.linalg.pinv"),
        (lambda: np.linalg.inv(X), ShapeError, r"inv: an array of shape \(n, 3\)"),
        (lambda: np.hypot.reduce(X), UnsupportedError, "reduce"),
        (lambda: np.asarray(X), UnsupportedError, "not an array"),
        (lambda: np.linalg.norm(EXPRS["S"], 2), UnsupportedError, "norm of order 2"),
        (lambda: sg.tensor("x", (None, 5)), UsageError, "gets a name"),
        (lambda: sg.tensor("x", (-1,)), UsageError, "axis of length -1"),
        (lambda: sg.tensor("x", (2.5,)), UsageError, "not the size of an axis"),
        (lambda: sg.tensor("x", (X.size,)), UsageError, "a name of its own"),
        (lambda: sg.tensor("1x", (3,)), UsageError, "cannot name"),
        (lambda: sg.tensor("x", (3,), "rael"), UsageError, "unknown domain"),
        (lambda: sg.size(V), UsageError, "not the size"),
        (lambda: sg.nn.one_hot(V, 3), SymgradError, "kind real"),
        (lambda: sg.arrays.take(X, V), SymgradError, "kind real"),
        (lambda: sg.size("n")(), MissingInputError, "no value"),
        (lambda: X(X=np.ones((2, 4))), ShapeError, r"X : real\[n, 3\]"),
        (lambda: sg.sum(X)(X=np.ones(3)), ShapeError, r"X : real\[n, 3\]"),
        (
            lambda: sg.sum(X + Y)(X=np.ones((2, 3)), Y=np.ones((5, 3))),
            ShapeError,
            r"2 in 'X' of shape .* and 5 in 'Y'",
        ),
        (lambda: X[IDS](X=np.ones((2, 3)), ids=np.full((1, 5), 2)), IndexRangeError, "index 2"),
        (lambda: X[IDS](X=np.ones((2, 3)), ids=np.full((1, 5), 0.5)), ArrayTypeError, "declared int"),
        (lambda: (sg.sum(X) * EXPRS["a"])(X=np.ones((2, 3)), a=np.ones(2)), ShapeError, "'a' has shape"),
        (lambda: bool(X == Y), SymgradError, "truth value"),
    ],
)
def test_refusals_say_what_and_how_else(call: Callable[[], Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_sympy_takes_no_arrays() -> None:
    a, b = sg.tensor("A", (2, 2)), sg.tensor("B", (2, 2))
    for e in (a @ b, a * b, sg.sum(a), sg.sum(sg.arrays.ones(3))):
        with pytest.raises(UnsupportedError, match="SymPy takes formulas of numbers"):
            e.sympy()


def test_a_symbol_and_a_size_share_no_name() -> None:
    n, x = sg.symbols("n"), sg.tensor("x", ("n",))
    for use in (
        lambda: (n * sg.sum(x))(n=2.0, x=np.ones(3)),
        lambda: sg.compile(n * sg.sum(x)),
        lambda: sg.compile(sg.sum(sg.tensor("x", ("x",)))),
    ):
        with pytest.raises(RedefinitionError, match="stands for a size and a symbol: 'x : real"):
            use()


@pytest.mark.parametrize(
    "y", ["sum(eye(n - 5))", "sum(full((n - 5, n), 2.0)@x)", "zeros((n - 5,))", "arange(n - 5)"]
)
def test_a_computed_length_is_not_negative(y: str) -> None:
    p = sg.parse(f"x : real[n]; y = {y}")
    kernel = sg.compile(p["y"], [p["x"]])
    for call in (kernel, p["y"]):
        with pytest.raises(ShapeError, match="n - 5 is -2 long for n = 3"):
            call(np.ones(3))
    assert np.shape(kernel(np.ones(5))) in ((), (0,))


def test_a_length_that_cannot_be_negative_is_not_checked() -> None:
    p = sg.parse("x : real[n]; y = sum(zeros((maximum(n - 5, 0),))) + sum(x[:n - 5])")
    assert sg.compile(p["y"], [p["x"]])(np.ones(3)) == 0


def test_positions_may_be_an_array_of_whole_numbers() -> None:
    rows, labels = sg.tensor("P", (3, 4)), sg.tensor("labels", (3,), "int(0, 3)")
    assert rows[np.arange(3), labels].node is rows[[0, 1, 2], labels].node
    assert rows[np.array([0, 2, 1, 1], dtype=np.uint8)].shape == (4, 4)
