"""Kernels and sums over data under Dask: the same bits in threads, in processes, and block by block here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import MissingInputError, UsageError

dask: Any = import_module("dask")
da: Any = import_module("dask.array")
distributed: Any = import_module("distributed")

P = sg.parse("x : real\nu : real\nz = sin(x)*u")
ONE, TWO = sg.compile(P["z"], name="my-kernel"), sg.compile([P["z"], sg.grad(P["z"], P["x"])], ["x", "u"])
Q = sg.parse("A : real[n, d]\nv : real[d]\ns = sum((A@v)**2)\nt = A@v")
ARRAYS: Any = sg.compile([Q["t"], Q["s"]], ["A", "v"])
LOSS = sg.parse("X : real[n, d]; w : real[d]; y : real[n]; loss = mean(tanh(X@w - y)**2)")
TOTAL = sg.over_data(LOSS["loss"], ["w"], "n", rows=1000)
RNG = np.random.default_rng(2)
X, Y, W = RNG.normal(size=(20_500, 8)), RNG.normal(size=20_500), RNG.normal(size=8)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=["threads", "cluster"])
def scheduler(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "cluster":
        request.getfixturevalue("client")
        yield "cluster"
    else:
        with dask.config.set(scheduler="threads"):
            yield "threads"


def test_kernels_take_arrays_of_dask(scheduler: str) -> None:
    x, u = RNG.normal(size=(50, 40)), RNG.normal(size=40)
    lazy = da.from_array(x, chunks=(20, 15))
    for found in (ONE(lazy, 2.0), ONE(x=lazy, u=2.0)):
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(), ONE(x, 2.0))
    np.testing.assert_array_equal(ONE(lazy, da.from_array(u, chunks=7)).compute(), ONE(x, u))
    np.testing.assert_array_equal(ONE(lazy, u).compute(), ONE(x, u))
    for found, expected in zip(dask.compute(*TWO(lazy, 2.0)), TWO(x, 2.0), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_ways_of_dask(scheduler: str) -> None:
    x = RNG.normal(size=(50, 40))
    lazy = da.from_array(x, chunks=(20, 15))
    expected = ONE(x, 2.0)
    np.testing.assert_array_equal(da.map_blocks(ONE, lazy, 2.0).compute(), expected)
    np.testing.assert_array_equal(da.map_blocks(ONE, lazy, 2.0, dtype=float).compute(), expected)
    blocks = da.blockwise(ONE, "ij", lazy, "ij", 2.0, None, dtype=float)
    np.testing.assert_array_equal(blocks.compute(), expected)
    stack, v = RNG.normal(size=(6, 5, 3)), RNG.normal(size=3)
    lazy = da.from_array(stack, chunks=(2, 5, 3))
    for found in (
        da.apply_gufunc(ARRAYS, ARRAYS.signature, lazy, v, output_dtypes=[float, float]),
        ARRAYS(lazy, v),
    ):
        for part, wanted in zip(dask.compute(*found), ARRAYS(stack, v), strict=True):
            np.testing.assert_array_equal(part, wanted)


def test_an_axis_of_one_array_is_not_cut() -> None:
    with pytest.raises(sg.errors.ShapeError, match="multiple chunks"):
        ARRAYS(da.zeros((6, 5, 3), chunks=(2, 2, 3)), np.zeros(3))


def test_a_kernel_is_compiled_once_in_a_worker(client: Any) -> None:
    def loads() -> int:
        from symgrad.compiler.kernels import kernel

        return kernel._compiled.cache_info().misses

    before = sum(client.run(loads).values())
    other = sg.compile(P["z"] + 1, ["x", "u"])
    da.map_blocks(other, da.zeros(1000, chunks=50), 1.0, dtype=float).compute()
    assert sum(client.run(loads).values()) - before <= 2


def same(a: tuple, b: tuple) -> None:
    assert a[0].tobytes() == b[0].tobytes()
    for x, y in zip(a[1], b[1], strict=True):
        assert x.tobytes() == y.tobytes()


def read(first: int, last: int) -> dict[str, np.ndarray]:
    return {"X": X[first:last], "y": Y[first:last]}


@pytest.mark.parametrize("source", ["arrays", "files", "dask", "function"])
def test_a_sum_over_data_has_the_bits_of_the_single_process(
    scheduler: str, source: str, tmp_path: Path
) -> None:
    expected = TOTAL({"X": X, "y": Y}, w=W)
    count = None
    if source == "arrays":
        data = {"X": X, "y": Y}
    elif source == "files":
        np.save(tmp_path / "X.npy", np.asfortranarray(X))
        np.save(tmp_path / "y.npy", Y)
        data = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("X", "y")}
    elif source == "dask":
        data = {"X": da.from_array(X, chunks=(777, 5)), "y": da.from_array(Y, chunks=3000)}
    else:
        data, count = read, len(X)
    lazy = sg.to_dask(TOTAL)(data, count, w=W)
    same(lazy.compute(), expected)
    same(TOTAL(data, count, w=W), expected)


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 8000, 9001])
def test_trees_of_every_size(count: int) -> None:
    data = {"X": X[:count], "y": Y[:count]}
    found = sg.to_dask(TOTAL)(data, w=W).compute(scheduler="threads")
    np.testing.assert_equal(found, TOTAL(data, w=W))


def test_files_travel_by_their_names(tmp_path: Path) -> None:
    import pickle

    np.save(tmp_path / "X.npy", X)
    opened = np.load(tmp_path / "X.npy", mmap_mode="r")
    graph = sg.to_dask(TOTAL)({"X": opened, "y": np.load(tmp_path / "X.npy", mmap_mode="r")[:, 0]}, w=W)
    from symgrad.interop.exporters.dask import _by_name

    assert len(pickle.dumps(_by_name(opened))) < 1000
    part = opened[5:, 1:]  # not the whole file: its rows travel
    assert _by_name(part) is part
    same(graph.compute(scheduler="threads"), TOTAL({"X": X, "y": X[:, 0]}, w=W))


def test_parameters_may_come_later() -> None:
    lazy = sg.to_dask(TOTAL)({"X": X, "y": Y}, w=dask.delayed(np.negative)(W))
    same(lazy.compute(scheduler="threads"), TOTAL({"X": X, "y": Y}, w=-W))


def test_what_does_not_fit_is_said_before_anything_runs() -> None:
    with pytest.raises(MissingInputError, match="no rows for 'y'"):
        sg.to_dask(TOTAL)({"X": X}, w=W)
    with pytest.raises(MissingInputError, match="'v' is no input of the loss without rows"):
        sg.to_dask(TOTAL)({"X": X, "y": Y}, v=W)
    with pytest.raises(UsageError, match="a value of type ElementwiseKernel"):
        sg.to_dask(ONE)  # pyright: ignore[reportArgumentType]


def test_errors_of_blocks_come_home(scheduler: str) -> None:
    bad = X.astype(complex)
    with pytest.raises(sg.errors.ComplexInputError, match="'X' is complex"):
        sg.to_dask(TOTAL)({"X": bad, "y": Y}, w=W).compute()
