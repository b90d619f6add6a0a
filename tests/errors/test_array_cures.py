"""What messages on arrays tell one to do, done."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArrayTypeError, ShapeError, UnknownNameError, UsageError


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ("zeros(K)", "size"),
        ("ones((n, K))", "size"),
        ("full((K, 2), 1)", "size"),
        ("full((n, 2), K)", "real"),
        ("eye(n, K)", "size"),
        ("sum(x)*sum(arange(K))", "size"),
        ("x[K]", "int"),
        ("x[:K]", "size"),
        ("x[K:]", "size"),
        ("X[1:, K]", "int"),
        ("one_hot(K, 3)", "int"),
        ("one_hot(ids, K)", "size"),
        ("take(x, K)", "int"),
        ("scatter_add(x, ids, shape=(K,))", "size"),
        ("sum(x*K)", "real"),
        ("exp(K)", "real"),
        ("x[0] + K", "real"),
    ],
)
def test_an_unknown_name_is_declared_as_what_it_must_be(y: str, kind: str) -> None:
    declared = "x : real[n]; X : real[n, 5]; ids : int[n]"
    with pytest.raises(UnknownNameError) as caught:
        sg.parse(f"{declared}; y = {y}")
    assert caught.value.cure == f"declare it: K : {kind}"
    assert "y" in sg.parse(f"{declared}; K : {kind}; y = {y}")


@pytest.mark.parametrize("bad", [[2**63], [np.nan], [np.inf], [2.0**63], np.array([2**63], np.uint64)])
def test_positions_that_are_none_are_named_in_evaluation_as_in_kernels(bad) -> None:
    y = sg.parse("x : real[n]; ids : int[m]; y = x[ids]")["y"]
    messages: list[str] = []
    for call in (y, sg.compile(y)):
        with pytest.raises(
            ArrayTypeError, match="input 'ids' is declared int, and one of its values is"
        ) as caught:
            call(x=np.ones(3), ids=bad)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert y(x=np.arange(3.0), ids=[2.0, -1.0]).tolist() == [2, 2]


def test_a_direction_that_drops_out_is_still_an_input() -> None:
    x, A, v = sg.tensor("x", ("n",)), sg.tensor("A", ("n", "n")), sg.tensor("v", ("n", "n"))
    loss = x @ A @ x
    at = {"x": np.ones(2), "A": np.ones((2, 2)), "v": np.ones((2, 2))}
    assert sg.hvp(loss, A, v)(**at).tolist() == [[0, 0], [0, 0]]
    assert sg.jvp(sg.sum(x), x, sg.tensor("t", ("n",)))(x=at["x"], t=at["x"]) == 2
    c = sg.symbols("c")
    assert sg.vjp(sg.stop_gradient(x), x, sg.tensor("t", ("n",)))(x=at["x"], t=at["x"]).tolist() == [0, 0]
    assert sg.grad(c, c)(c=1.0) == 1


def test_one_column_without_a_slice_that_may_be_empty() -> None:
    for refused in (
        lambda: sg.parse("X : real[n, m]; y = X*X[:, :1]"),
        lambda: sg.tensor("X", ("n", "m")) * sg.tensor("X", ("n", "m"))[:, :1],
    ):
        with pytest.raises(ShapeError) as caught:
            refused()
        assert "x[:, 0][:, None]" in str(caught.value.cure)
    X = np.arange(6.0).reshape(2, 3)
    y = sg.parse("X : real[n, m]; y = X*X[:, 0][:, None]")["y"]
    assert np.array_equal(y(X=X), X * X[:, :1])


def test_a_cotangent_of_computed_shape() -> None:
    x = sg.tensor("x", ("n",))
    y = x[1:] - x[:-1]
    with pytest.raises(UsageError) as refused:
        sg.tensor("s", y.shape)
    assert "sg.tensor('s', ('n',))[1:] has n - 1 entries" in str(refused.value)
    with pytest.raises(ShapeError) as caught:
        sg.vjp(y, x, cotangent=sg.tensor("s", ("k",)))
    assert "sg.tensor('s', ('n',))[1:]" in str(caught.value)
    pulled = sg.vjp(y, x, cotangent=sg.tensor("s", ("n",))[1:])
    assert pulled(x=np.zeros(3), s=[9.0, 1.0, 5.0]).tolist() == [-1, -4, 5]
