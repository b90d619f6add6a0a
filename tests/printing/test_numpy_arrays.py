"""The NumPy source of array programs gives what the evaluator gives, for every op, its gradients, and all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad.autodiff.vjp import pull_back
from symgrad.errors import ShapeError, UsageError
from symgrad.ir.graph import OPS, Node, as_node, size_node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import INT
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.numpy.calls import arange, broadcast, identity, over_axes, reduce_axes, total
from symgrad.ops.numpy.products import einsum_text, matmul
from symgrad.ops.numpy.subscripts import index, take
from symgrad.printing.numpy.source import numpy_source
from tests.arrays import PROGRAMS, SIZES, random_value, symbol_of

ALL_SIZES = [*SIZES, {"n": 0, "m": 2, "b": 1}, {"n": 2, "m": 3, "b": 0}]


def call(source: str, arguments: dict[str, Any], name: str = "f") -> Any:
    namespace: dict[str, Any] = {}
    exec(compile(source, "<source>", "exec"), namespace)
    code = namespace[name].__code__
    return namespace[name](*(arguments[a] for a in code.co_varnames[: code.co_argcount]))


def agree(nodes: list[Node], sizes: Any) -> None:
    rng = np.random.default_rng(1)
    values = {s: random_value(s, sizes, rng) for s in [*symbols_of(nodes), symbol_of("binder", *sizes)]}
    try:
        expected = evaluate(nodes, values)
    except (ShapeError, ValueError, IndexError):
        return  # the extreme of nothing, a position in an empty axis
    arguments = {**sizes, **{s.name: v for s, v in values.items()}}
    found = call(numpy_source(nodes), arguments)
    for mine, theirs in zip(found if len(nodes) > 1 else [found], expected, strict=True):
        assert np.shape(mine) == np.shape(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-13)
        assert not isinstance(mine, np.ndarray) or mine.flags.writeable


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("sizes", ALL_SIZES, ids=str)
def test_values_and_gradients(name: str, sizes: Any) -> None:
    node = PROGRAMS[name]()
    agree([node], sizes)
    real = [s for s in symbols_of([node]) if s.dtype == "real"]
    if node.dtype == "real" and real:
        agree([node, *pull_back([node], [as_node(1)], real).gradients], sizes)


def test_every_array_op_was_there() -> None:
    seen = {n.op.name for make in PROGRAMS.values() for n in topological([make()])}
    gradients = [
        pull_back([node], [as_node(1)], [s for s in symbols_of([node]) if s.dtype == "real"]).gradients
        for node in (make() for make in PROGRAMS.values())
        if node.dtype == "real"
    ]
    seen |= {n.op.name for g in gradients for n in topological(g)}
    assert {op.name for op in OPS.values() if not op.pointwise} - seen <= {"argmin"}


X, w, y = symbol_of("X", "n", 5), symbol_of("w", 5), symbol_of("y", "n")
ids = symbol_of("ids", "b", "c", domain=INT)
table = symbol_of("table", "n", "m")


def test_the_whole_text_of_a_gradient() -> None:
    (gradient,) = pull_back([reduce_axes("mean", (matmul(X, w) - y) ** 2)], [as_node(1)], [w]).gradients
    source = numpy_source({"g": gradient}, name="gradient")
    assert source == (
        '''\
import numpy as np


def gradient(X, w, y):
    """'''
        + source.split('"""')[1]
        + '''"""
    X = np.asarray(X, dtype=np.float64)
    w = np.asarray(w, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    n = np.int64(X.shape[0])
    with np.errstate(all="ignore"):
        return {'g': X.T @ (1.0/n*(2.0*(X @ w - y)))}
'''
    )


def test_embeddings() -> None:
    loss = total(over_axes("softmax", reduce_axes("mean", take(table, ids, 0), axis=1), 1) ** 2)
    (gradient,) = pull_back([loss], [as_node(1)], [table]).gradients
    rng = np.random.default_rng(2)
    values = {table: rng.normal(size=(7, 3)), ids: rng.integers(-7, 7, (4, 2))}
    source = numpy_source(gradient)
    assert "np.add.at" in source
    found = call(source, {"table": values[table], "ids": values[ids]})
    np.testing.assert_allclose(found, evaluate([gradient], values)[0], rtol=1e-14)
    with pytest.raises(IndexError):
        call(source, {"table": values[table], "ids": [[7]]})


def test_positions_that_are_computed() -> None:
    agree([take(w, OPS["add"](index(symbol_of("k", 2, domain=INT), 0), as_node(1)), 0)], {})
    agree([index(w, (OPS["argmax"](w, params=(None,)),))], {})
    agree([index(X, (0, slice(1, 3)))], {"n": 3})


def test_a_size_that_no_argument_has_is_an_argument() -> None:
    source = numpy_source(matmul(identity("k"), broadcast(symbol_of("c"), ("k",))) * size_node("k"))
    assert "def f(c, k):" in source
    np.testing.assert_array_equal(call(source, {"c": 2.0, "k": 3}), [6.0, 6.0, 6.0])


def test_a_size_divides_as_numpy_does() -> None:
    assert np.isinf(call(numpy_source(as_node(1) / size_node("n") + total(y)), {"y": np.zeros(0)}))


def test_names_of_sizes_never_collide() -> None:
    odd = symbol_of("t1", "lambda", "np")
    source = numpy_source([OPS["sin"](odd) * OPS["sin"](odd), arange("lambda"), arange("np")])
    _, rows, columns = call(source, {"t1": np.zeros((2, 3))})
    assert (len(rows), len(columns)) == (2, 3)
    with pytest.raises(UsageError):
        numpy_source(arange("n); import os; ("))


def test_three_factors_are_applied_from_the_right() -> None:
    A, B = symbol_of("A", 3, 4), symbol_of("B", 4, 5)
    assert "A @ (B @ w)" in numpy_source(einsum_text("ij,jk,k->i", A, B, w))
    assert "A @ B" in numpy_source(einsum_text("ij,jk->ik", A, B))
