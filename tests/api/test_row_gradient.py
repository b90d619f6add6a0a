"""row_gradient: rows that add up to the dense gradient, without an array as long as the table; and training by rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import NotInProgramError, NotScalarError, UnsupportedError, UsageError
from symgrad.ir.traverse import topological

E = sg.tensor("E", ("v", 3))
IDS, OTHER = sg.tensor("ids", ("n", "k"), "int"), sg.tensor("other", ("m",), "int")
ONE, W, T = sg.symbols("one", "int"), sg.tensor("w", (3,)), sg.tensor("t", ("v",))
SEVERAL = (
    sg.mean(sg.tanh(E[IDS] @ W)) + sg.sum(sg.exp(E[OTHER]) * E[OTHER][:, :1]) + sg.sin(E[ONE, :][0] + E[2][1])
)
LOSSES = {
    "one reading": sg.sum(sg.sin(E[OTHER] @ W)),
    "a matrix of positions": sg.mean(sg.sum(E[IDS], axis=1) ** 2),
    "several readings": SEVERAL,
    "readings of one length": sg.sum(sg.sin(E[OTHER] + E[-1 - OTHER]) @ W),
    "readings of readings' rows": sg.sum(E[OTHER][[0, 1, 1]] ** 2),
    "one known row": sg.sum(E[1] ** 2),
    "spelled positions": sg.sum(E[[0, 0, -1]] ** 3 @ W),
    "a table behind stop_gradient as well": sg.sum(E[OTHER] ** 2) * sg.stop_gradient(sg.mean(E)),
    "a stopped reading": sg.sum(E[OTHER] ** 2 * sg.stop_gradient(sg.sum(E[IDS]))),
    "a choice": sg.sum(sg.where(E[OTHER] > 0, E[OTHER] ** 2, 0)),
}


def values(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "E": rng.normal(size=(6, 3)),
        "ids": rng.integers(-6, 6, (4, 2)),
        "other": rng.integers(0, 6, 5),
        "one": rng.integers(-6, 6),
        "w": rng.normal(size=3),
    }


def needed(e: sg.Expr, given: dict[str, Any]) -> dict[str, Any]:
    return {str(s.name): given[str(s.name)] for s in e.inputs}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_add_up_to_the_gradient(loss: sg.Expr, seed: int) -> None:
    found, dense = sg.row_gradient(loss, E), sg.grad(loss, E)
    given = values(seed)
    kernel = sg.compile([found.ids, found.rows, dense])
    ids, rows, whole = kernel(**{name: given[name] for name in kernel.inputs})
    assert ids.shape == rows.shape[:1]
    added = np.zeros_like(given["E"])
    np.add.at(added, ids, rows)
    np.testing.assert_allclose(added, whole, rtol=1e-12, atol=1e-13)
    again = found.dense()
    np.testing.assert_allclose(again(**needed(again, given)), whole, rtol=1e-12, atol=1e-13)


@given(st.lists(st.sampled_from(["ids", "other", "one"]), min_size=1, max_size=4), st.integers(0, 99))
def test_any_mixture_of_readings(readings: list[str], seed: int) -> None:
    loss: Any = 0
    for i, name in enumerate(readings):
        index = {"ids": IDS, "other": OTHER, "one": ONE}[name]
        loss = sg.sum(sg.tanh(E[index] * (i + 1)) @ W) * (1 + loss)
    given = values(seed)
    found, dense = sg.row_gradient(loss, E).dense(), sg.grad(loss, E)
    one = found(**needed(found, given))
    np.testing.assert_allclose(one, dense(**needed(dense, given)), rtol=1e-11, atol=1e-12)


def test_tables_of_any_rank() -> None:
    cube = sg.tensor("C", ("v", 2, 3))
    for table, shape in ((T, (5,)), (cube, (5, 2, 3))):
        loss = sg.sum(sg.sin(table[OTHER]))
        value, other = np.random.default_rng(0).normal(size=shape), [4, 4, -2]
        (name,) = (str(s.name) for s in loss.inputs if s.name != "other")
        got = sg.row_gradient(loss, name).dense()(**{name: value, "other": other})
        np.testing.assert_allclose(got, sg.grad(loss, table)(**{name: value, "other": other}), rtol=1e-14)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_nothing_but_the_table_is_as_long_as_it(loss: sg.Expr) -> None:
    found = sg.row_gradient(loss, E)
    stopped = {n for s in topological([loss.node]) if s.op.name == "stop_gradient" for n in topological([s])}
    for node in topological([found.ids.node, found.rows.node]):
        assert node is E.node or "v" not in node.shape or node in stopped
    kernel: Any = sg.compile([loss, found.ids, found.rows])
    sizes = {"v": 6, "n": 4, "k": 2, "m": 5}
    long = {"v": 10**7, "n": 4, "k": 2, "m": 5}
    assert len({kernel.scratch_bytes(**{s: d[s] for s in kernel.sizes}) for d in (sizes, long)}) == 1


def test_ten_million_rows() -> None:
    table, ids, weights = (
        sg.tensor("table", ("v", 16)),
        sg.tensor("ids", ("n",), "int"),
        sg.tensor("w", (16,)),
    )
    loss = sg.mean(sg.sin(table[ids] @ weights))
    found = sg.row_gradient(loss, table)
    kernel: Any = sg.compile([loss, found.ids, found.rows], inputs=[table, ids, weights])
    large = np.zeros((10**7, 16))  # memory that nobody touches is not there
    positions = np.array([3, 9_999_999, 3, -1])
    large[positions] = np.arange(16.0) / 9
    _, where, rows = kernel(large, positions, np.ones(16))
    np.testing.assert_array_equal(where, positions)
    np.testing.assert_allclose(rows, np.full((4, 16), np.cos(120 / 9) / 4), rtol=1e-12)
    assert kernel.scratch_bytes(v=10**7, n=4) < 10_000


@pytest.mark.parametrize(
    ("loss", "reader"),
    [
        (sg.sum(sg.tanh(E)[OTHER]), r"'tanh\(E\)'"),
        (sg.sum(E[OTHER]) + sg.sum(E**2), r"'E\*\*2'"),
        (sg.sum(E[OTHER] @ E.T), r"'E\[other\]@E\.T'|'E\.T'"),
        (sg.sum(E[1:3]), r"'E\[1:3\]'"),
        (sg.sum(E[:, OTHER]), r"'E\[:, other\]'"),
        (sg.sum(E[OTHER, OTHER]), r"'E\[other, other\]'"),
    ],
)
def test_a_dense_gradient_is_refused_by_name(loss: sg.Expr, reader: str) -> None:
    with pytest.raises(
        UnsupportedError,
        match=f"the gradient with respect to 'E' is dense: ({reader}) reads it in another way",
    ):
        sg.row_gradient(loss, E)


def test_what_has_no_rows_is_refused() -> None:
    with pytest.raises(UsageError, match="has no gradient with respect to 'E'"):
        sg.row_gradient(sg.sum(sg.stop_gradient(E[OTHER])), E)
    with pytest.raises(UsageError, match="has no gradient with respect to 'E'"):
        sg.row_gradient(sg.sum(W), E)
    with pytest.raises(UsageError, match="by one"):
        sg.row_gradient(sg.sum(E[ONE]), ONE)
    with pytest.raises(NotScalarError):
        sg.row_gradient(E[OTHER], E)
    p = sg.parse("E : real[v, 2]; i : int[n]; l = sum(E[i])")
    with pytest.raises(NotInProgramError):
        sg.row_gradient(p["l"], "F")


def test_a_reader_that_has_a_name_is_called_by_it() -> None:
    p = sg.parse("E : real[v, 3]; i : int[n]; scaled = 2*E; l = sum(scaled[i])")
    with pytest.raises(UnsupportedError, match="'scaled' reads it in another way"):
        sg.row_gradient(p["l"], "E")
    assert sg.row_gradient(p["l"], "scaled").rows.shape == ("n", 3)


# -- training ----------------------------------------------------------------------------------------------------

LOSS = sg.mean((sg.tanh(E[IDS] @ W) - 0.5) ** 2)
START = {"E": np.random.default_rng(1).normal(size=(9, 3)), "w": np.array([1.0, -2.0, 0.5])}
DATA = {"ids": np.random.default_rng(2).integers(-9, 9, (50, 4))}


@pytest.mark.parametrize("wrt", [None, "E"])
def test_training_by_rows_is_training(wrt: str | None) -> None:
    dense, rows = (
        sg.train(LOSS, START, DATA, wrt=wrt, method="sgd", rate=0.3, steps=40, batch=3, sparse=s)
        for s in ((), "E")
    )
    np.testing.assert_allclose(rows["E"], dense["E"], rtol=1e-12)
    np.testing.assert_allclose(rows["w"], dense["w"], rtol=1e-12)
    np.testing.assert_allclose(rows.history, dense.history, rtol=1e-12)
    assert (rows["E"] != START["E"]).any()


def test_training_two_tables_by_rows() -> None:
    loss = sg.sum(sg.sin(E[OTHER] @ W) * T[OTHER]) + sg.sum(T[IDS])
    start = {**START, "t": np.linspace(0, 1, 9)}
    data = {**DATA, "other": [1, 1, -8]}
    dense, rows = (
        sg.train(loss, start, data, method="sgd", rate=0.01, steps=7, sparse=s) for s in ((), ["E", "t"])
    )
    for name in start:
        np.testing.assert_allclose(rows[name], dense[name], rtol=1e-12)


def test_rows_that_run_away_are_found() -> None:
    loss = sg.sum(E[OTHER] ** 4)
    with pytest.raises(sg.errors.ConvergenceError, match=r"entries of 'E' go up to|gradient by 'E'"):
        sg.train(loss, {"E": START["E"]}, {"other": [1]}, method="sgd", rate=10, steps=100, sparse="E")
    table = sg.tensor("P", ("v",), "positive")
    with pytest.raises(sg.errors.ConvergenceError, match="step 0 takes 'P' out of its domain"):
        sg.train(sg.sum(table[OTHER]), {"P": [1, 1]}, {"other": [1]}, method="sgd", rate=10, sparse=table)


def test_what_moves_every_row_is_refused() -> None:
    with pytest.raises(UsageError, match="sparse parameters with adam"):
        sg.train(LOSS, START, DATA, sparse="E")
    with pytest.raises(UsageError, match="'E' is sparse and not trained"):
        sg.train(LOSS, START, DATA, method="sgd", rate=1, wrt="w", sparse="E")
    with pytest.raises(UnsupportedError, match="the gradient with respect to 'w' is dense"):
        sg.train(LOSS, START, DATA, method="sgd", rate=1, sparse="w")


@pytest.mark.parametrize("step", ["tanh(W@h[t-1] + X[t-1])", "h[t-1]*X[t-1] + sin(X[t-1])"])
def test_rows_that_steps_read(step: str) -> None:
    p = sg.parse(
        "E : real[v, 2]; ids : int(0, v - 1)[T]; W : real[2, 2]\nX = E[ids]\nh[0] = zeros(2)\n"
        f"h[t] = {step} for t in 1..T\nloss = sum(h[T]**2)"
    )
    found = sg.row_gradient(p["loss"], "E")
    rng = np.random.default_rng(0)
    given = {"E": rng.normal(size=(5, 2)), "ids": np.array([3, 0, 3]), "W": rng.normal(size=(2, 2))}
    dense = sg.grad(p["loss"], "E")
    np.testing.assert_allclose(
        found.dense()(**needed(found.dense(), given)), dense(**needed(dense, given)), rtol=1e-12
    )
    kernel = sg.compile([found.ids, found.rows])
    ids, rows = kernel(**{n: given[n] for n in kernel.inputs})
    assert ids.tolist() == [3, 0, 3]
    assert rows.shape == (3, 2)


def test_rows_of_the_values_of_a_recurrence() -> None:
    p = sg.parse(
        "a : real; ids : int(0, 3)[m]\nh[0] = a\nh[t] = sin(h[t-1])*a for t in 1..3\nloss = sum(h[ids]**2)"
    )
    found = sg.row_gradient(p["loss"], "h")
    assert found.ids.node is p["ids"].node
    np.testing.assert_allclose(found.rows(a=0.5, ids=[3, 0]), 2 * p["h"](a=0.5)[[3, 0]])


def test_a_table_that_steps_read_by_position_is_refused() -> None:
    p = sg.parse(
        "E : real[v]; ids : int(0, v - 1)[T]\nh[0] = 0\nh[t] = sin(h[t-1] + E[ids[t-1]]) for t in 1..T\nloss = h[T]"
    )
    with pytest.raises(UnsupportedError) as caught:
        sg.row_gradient(p["loss"], "E")
    assert (
        caught.value.cure
        == "take the rows before the steps, X = E[ids], and read X[t-1] in them; or use grad"
    )
