"""Stacks: the rule of every structural op against a loop over the members; and which programs keep rows apart."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from symgrad.autodiff.batch import batch, units
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.rows.formulas import sum_rows
from symgrad.autodiff.rows.independence import find_row_mixing
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import INT
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.indexing import gather, iota, scatter_add
from symgrad.ops.control import stop_gradient
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import products
from symgrad.ops.numpy.subscripts import index, take_along_axis
from symgrad.ops.scalar.arith import add
from tests.arrays import PROGRAMS, SIZES, A, S, V, W, X, random_value, symbol_of

LEADS: list[tuple[Any, ...]] = [(2,), ("k", 3), ()]
MEMBERS = {"k": 2}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("lead", LEADS, ids=str)
def test_a_stack_is_computed_as_its_members_are(name: str, lead: tuple[Any, ...]) -> None:
    node = PROGRAMS[name]()
    symbols = symbols_of([node])
    subsets = [symbols, *([s] for s in symbols if len(symbols) > 1)]
    for moving in subsets:
        sizes = {**SIZES[0], **MEMBERS}
        rng = np.random.default_rng(1)
        binder = symbol_of("binder", *sizes)
        stacks = {s: symbol_of(f"{s.name}s", *lead, *s.shape, domain=s.declaration.domain) for s in moving}
        (stacked,) = batch([node], stacks, lead)
        assert stacked.shape == (*lead, *node.shape)
        given = {s: random_value(s, sizes, rng) for s in [*symbols, *stacks.values(), binder]}
        found = evaluate([stacked], given)[0]
        count = tuple(evaluate_size(s, sizes) for s in lead)
        assert found.shape[: len(count)] == count
        for member in product(*map(range, count)):
            one = {**given, **{s: given[t][member] for s, t in stacks.items()}}
            np.testing.assert_allclose(found[member], evaluate([node], one)[0], rtol=1e-12, atol=1e-12)


def test_what_does_not_vary_is_repeated() -> None:
    (found,) = batch([X * 2], {W: symbol_of("Ws", 3, "n")}, (3,))
    assert found.shape == (3, "n", "m")


@pytest.mark.parametrize("shape", [(), (3,), (1, 1), ("n", 2), ("n", 1, 3), (2, "m", "n")])
def test_units_are_the_identity_of_any_shape(shape: tuple[Any, ...]) -> None:
    sizes = {"n": 2, "m": 3}
    binder = symbol_of("binder", *sizes)
    found = evaluate([units(shape)], {binder: np.ones((2, 3))})[0]
    numbers = tuple(evaluate_size(s, sizes) for s in shape)
    count = int(np.prod(numbers))
    np.testing.assert_array_equal(np.reshape(found, (count, count)), np.eye(count))


# -- rows --------------------------------------------------------------------------------------------------------

IDS = symbol_of("ids", "n", domain=INT)
P = symbol_of("P", 4, "m")
APART = {
    "elementwise": lambda: OPS["tanh"](X) * V + S,
    "rows against a matrix": lambda: products.matmul(X, build.matrix_transpose(P)),
    "softmax of rows": lambda: build.over_axes("softmax", X, 1),
    "norms of rows": lambda: X / build.vector_norm(X, axis=1, keepdims=True),
    "reshape": lambda: build.reshaped(build.reshaped(X, ("n", 1, "m", 1)), ("n", "m")),
    "columns": lambda: build.join([X, X * X], 1),
    "gathered columns": lambda: index(X, (slice(None), [0, 0, 1])),
    "one of each row": lambda: index(X, (build.arange("n"), IDS)),
    "one of each row, a column": lambda: index(
        X, (build.expand_dims(build.arange("n"), 1), build.expand_dims(IDS, 1))
    ),
    "some of each row": lambda: index(X, (build.expand_dims(build.arange("n"), 1), [0, 1])),
    "some of each row, deeper": lambda: index(
        build.reshaped(X, ("n", 1, "m")) * V, (build.reshaped(build.arange("n"), ("n", 1, 1)), 0, [0, 1])
    ),
    "columns first": lambda: index(build.expand_dims(X, 1), (build.arange("n"), slice(None), IDS)),
    "along an axis": lambda: take_along_axis(X, build.expand_dims(IDS, 1), 1),
    "running sums": lambda: build.cumulative_sum(X, 1),
    "outer products": lambda: products.einsum_text("bi,bj->bij", X, X),
    "diagonal": lambda: products.diag(A),
    "mixed behind a stop": lambda: X - stop_gradient(build.reduce_axes("mean", X, 0)),
    "sliced columns": lambda: index(X, (slice(None), slice(1, None))),
}
MIXED = {
    "mean over rows": lambda: X - build.reduce_axes("mean", X, 0),
    "softmax over rows": lambda: build.over_axes("softmax", X, 0),
    "gram": lambda: products.matmul(X, build.matrix_transpose(X)),
    "transpose": lambda: add(A, build.matrix_transpose(A)),
    "reversed rows": lambda: build.flip(X, 0),
    "shuffled rows": lambda: index(X, IDS),
    "all rows, column by column": lambda: index(X, (build.arange("n"), build.expand_dims(IDS, 1))),
    "a row of rows": lambda: index(X, (build.expand_dims(build.arange("n"), 0), build.expand_dims(IDS, 1))),
    "fewer rows": lambda: index(build.join([X, X], 0), (build.arange("n"), IDS)) * 1,
    "rows one after the other": lambda: build.join([X, X], 0),
    "running sums": lambda: build.cumulative_sum(X, 0),
    "other reshape": lambda: build.reshaped(A, (1, "n", "n")),
}


@pytest.mark.parametrize("name", APART)
def test_rows_that_stay_apart(name: str) -> None:
    node = APART[name]()
    x = A if A in symbols_of([node]) else X
    assert find_row_mixing(node, x) is None
    assert _couples(node, x) == set()


@pytest.mark.parametrize("name", MIXED)
def test_rows_that_mix_are_found(name: str) -> None:
    node = MIXED[name]()
    assert find_row_mixing(node, A if A in symbols_of([node]) else X) is not None


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_that_mixes_passes(name: str) -> None:
    node = PROGRAMS[name]()
    for x in symbols_of([node]):
        if x.dtype != "real" or not x.shape or not node.shape or x.shape[0] != node.shape[0]:
            continue
        if find_row_mixing(node, x) is None:
            assert _couples(node, x) == set()


def _couples(node: Node, x: Node) -> set[tuple[int, int]]:
    """Return the pairs of different rows of which one moves with the other, outside stop_gradient."""
    sizes = SIZES[0]
    rng = np.random.default_rng(3)
    direction = symbol_of("direction", *x.shape)
    (moved,) = push_forward([node], {x: direction})
    given = {
        s: random_value(s, sizes, rng)
        for s in [*symbols_of([node, moved, as_node(0)]), x, symbol_of("binder", *sizes)]
    }
    found: set[tuple[int, int]] = set()
    for row in range(sizes["n"]):
        along = np.zeros(tuple(evaluate_size(s, sizes) for s in x.shape))
        if row < len(along):
            along[row] = rng.normal(size=along[row].shape)
            change = np.broadcast_to(
                evaluate([moved], {**given, direction: along})[0],
                tuple(evaluate_size(s, sizes) for s in node.shape),
            )
            found |= {(row, i) for i, part in enumerate(change) if i != row and np.any(part)}
    return found


@pytest.mark.parametrize("lead", [(4,), (2, 3)])
@pytest.mark.parametrize(
    ("axes", "own"), [((0,), ()), ((1,), ()), ((2,), (5,)), ((0, 2), (5,)), ((1, 2), (5, 1))]
)
def test_one_table_is_read_at_stacks_of_positions(
    lead: tuple[int, ...], axes: tuple[int, ...], own: tuple[int, ...]
) -> None:
    table = symbol_of("table", 3, 4, 5)
    first, *others = (symbol_of(f"at{a}", *own, domain=INT) for a in axes)
    stack = symbol_of("stack", *lead, *own, domain=INT)
    read = gather(table, first, *others, params=(axes,))
    (found,) = batch([read], {first: stack}, lead)
    rng = np.random.default_rng(3)
    values: dict[Node, Any] = {
        table: rng.normal(size=(3, 4, 5)),
        stack: rng.integers(0, 3, (*lead, *own)),
        **{o: rng.integers(0, 3, own) for o in others},
    }
    (whole,) = evaluate([found], values)
    assert [n.op for n in topological([found]) if table in n.args] == [gather]
    for place in np.ndindex(*lead):
        (one,) = evaluate([read], {**values, first: values[stack][place]})
        np.testing.assert_array_equal(whole[place], one)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_sum_of_scattered_rows_has_no_axis_of_rows(axis: int) -> None:
    shape, count = (3, 4, 5), 6
    kept = [n for a, n in enumerate(shape) if a != axis]
    values, at = symbol_of("values", count, *kept), symbol_of("at", count, domain=INT)
    rows = scatter_add(values, iota(params=(count,)), at, params=((0, axis + 1), (count, *shape)))
    total = sum_rows(rows)
    assert max(len(n.shape) for n in topological([total])) <= 3
    rng = np.random.default_rng(4)
    given = {values: rng.normal(size=(count, *kept)), at: rng.integers(0, 3, count)}
    found, plain = evaluate([total, rows], given)
    np.testing.assert_allclose(found, plain.sum(axis=0), rtol=1e-12)
