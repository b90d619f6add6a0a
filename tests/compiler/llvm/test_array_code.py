"""Compiled array programs against op by op evaluation in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.llvm.arrays.array_code import ArrayCode
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64, FloatType
from symgrad.errors import SymgradError
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import INT
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array import indexing, layout
from symgrad.ops.array.contraction import contract, sum_over, transpose
from tests.compiler.llvm.arrays import Compiled, programs, random_outputs, tensor, values_for, with_gradients

PROGRAMS = programs()
SIZES = ({"n": 4, "b": 2}, {"n": 5, "b": 1}, {"n": 37, "b": 3})


def compare(found: list[np.ndarray], wanted: list[np.ndarray], tolerance: float) -> None:
    for a, b in zip(found, wanted, strict=True):
        b = np.asarray(b, dtype=float)
        scale = 1 + np.max(np.abs(b[np.isfinite(b)]), initial=0)
        np.testing.assert_allclose(np.asarray(a, dtype=float), b, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_op_and_its_gradient(name: str) -> None:
    outputs = with_gradients([PROGRAMS[name]])
    compiled = Compiled(outputs)
    for sizes in SIZES:
        low, high = (-4, 4) if sizes["n"] >= 4 and "pick" not in name else (0, 4)
        values = values_for(compiled.inputs, sizes, low=low, high=high)
        compare(compiled(sizes, values), evaluate(outputs, values), 1e-12)


def check_random(seed: int, real: FloatType, tolerance: float) -> int:
    symbols, chosen = random_outputs(seed)
    if not chosen:
        return 0
    try:
        outputs = with_gradients(chosen)
    except SymgradError:
        outputs = list(chosen)
    inputs = list(dict.fromkeys([*symbols, *symbols_of(outputs)]))
    if set(names_of(*(n.shape for n in topological(outputs)))) - set(names_of(*(s.shape for s in inputs))):
        return 0  # a size that no input has
    compiled = Compiled(outputs, inputs, real)
    count = 0
    for sizes in (
        {"n": 4, "m": 3, "k": 2},
        {"n": 1, "m": 17, "k": 9},
        {"n": 33, "m": 2, "k": 1},
        {"n": 0, "m": 3, "k": 4},
        {"n": 3, "m": 0, "k": 0},
    ):
        values = values_for(inputs, sizes, seed)
        try:
            wanted = evaluate(outputs, values)
        except SymgradError:
            continue  # the extreme of nothing, an index into nothing
        if any(np.max(np.abs(np.asarray(w, dtype=float)), initial=0) > 1e15 for w in wanted):
            continue  # whole numbers are exact to 2**53
        compare(compiled(sizes, values), wanted, tolerance)
        count += 1
    return count


def test_random_programs() -> None:
    assert sum(check_random(seed, FLOAT64, 1e-10) for seed in range(80)) > 250


def test_random_programs_in_float32() -> None:
    assert sum(check_random(seed, FLOAT32, 3e-3) for seed in range(1000, 1025)) > 60


def test_a_mean_of_ten_million_numbers_loses_no_digits() -> None:
    v = tensor("v", "n")
    values = np.random.default_rng(1).random(10_000_000) + 0.1
    (found,) = Compiled([OPS["mean"](v, params=((0,),))])({"n": len(values)}, {v: values})
    exact = float(np.sum(values.astype(np.longdouble)) / len(values))
    assert abs(float(found) - exact) <= 2 * np.spacing(exact)
    (found,) = Compiled([OPS["mean"](v, params=((0,),))], real=FLOAT32)({"n": len(values)}, {v: values})
    exact = float(np.sum(values.astype(np.float32).astype(float)) / len(values))
    assert abs(float(found) - exact) <= 2 * np.spacing(np.float32(exact))


def test_a_mean_over_rows_loses_no_digits() -> None:
    x = tensor("x", "n", 3)
    values = np.random.default_rng(1).random((1_000_000, 3)) + 0.1
    for axes in ((0,), (0, 1)):
        (found,) = Compiled([OPS["mean"](x, params=(axes,))])({"n": len(values)}, {x: values})
        exact = np.asarray(np.mean(values.astype(np.longdouble), axis=axes), dtype=float)
        assert np.all(np.abs(found - exact) <= 3 * np.spacing(exact))


def test_a_row_has_the_same_bits_wherever_it_is() -> None:
    x = tensor("x", "n", "k")
    compiled = Compiled([OPS["softmax"](x, params=((1,),)), sum_over(x * x, [1])])
    rng = np.random.default_rng(3)
    for k in (1, 5, 8, 37, 1000):
        rows = rng.normal(size=(7, k))
        whole = compiled({"n": 7, "k": k}, {x: rows})
        for i in range(7):
            alone = compiled({"n": 1, "k": k}, {x: rows[i : i + 1]})
            for a, b in zip(whole, alone, strict=True):
                assert a[i : i + 1].tobytes() == b.tobytes()


def test_elementwise_values_have_the_bits_of_numpy() -> None:
    x, y = tensor("x", "n", "k"), tensor("y", "k")
    z = OPS["sqrt"](OPS["abs"](x * y + x)) / (y - x)
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(13, 11)), rng.normal(size=11)
    (found,) = Compiled([z])({"n": 13, "k": 11}, {x: a, y: b})
    assert found.tobytes() == (np.sqrt(np.abs(a * b + a)) / (b - a)).tobytes()


@pytest.mark.parametrize("name", ["sum", "mean", "max", "prod", "logsumexp", "softmax", "norm"])
def test_nan_and_infinities_flow(name: str) -> None:
    x = tensor("x", "n", "k")
    node = sum_over(x, [1]) if name == "sum" else OPS[name](x, params=((1,),))
    compiled = Compiled([node])
    rows = np.ones((6, 70))
    rows[0, 66], rows[1, 3], rows[2, 69], rows[3, [1, 2]], rows[4] = (
        np.nan,
        np.inf,
        -np.inf,
        (np.inf, -np.inf),
        -np.inf,
    )
    rows[5, [0, 68]] = 0.0, -0.0
    (found,) = compiled({"n": 6, "k": 70}, {x: rows})
    np.testing.assert_allclose(found, evaluate([node], {x: rows})[0], rtol=1e-14)


@pytest.mark.parametrize("real", [FLOAT64, FLOAT32])
def test_totals_of_infinities_at_every_length(real: FloatType) -> None:
    """Also of many blocks, whose sums keep what rounding lost: of infinities that is NaN."""
    x, w = tensor("x", "n", "k"), tensor("w", "k")
    axes = [(0,), (1,), (0, 1)]
    nodes = [sum_over(x, a) for a in axes] + [OPS["mean"](x, params=(a,)) for a in axes]
    nodes += [contract([x, w], [(0, 1), (1,)], result) for result in ((0,), (1,), ())]
    compiled = Compiled(nodes, [x, w], real)
    rng = np.random.default_rng(6)
    for n, k in ((1, 1), (3, 2), (2, 5000), (5000, 2), (300, 1100), (1100, 9)):
        for ends in ([np.inf], [-np.inf], [np.inf, np.inf], [np.inf, -np.inf], [np.nan], [np.nan, np.inf]):
            rows, weights = rng.uniform(1, 2, (n, k)), rng.uniform(1, 2, k)
            rows.flat[rng.integers(0, n * k, len(ends))] = ends
            with np.errstate(invalid="ignore"):
                wanted = [np.asarray(f(rows, axis=a)) for f in (np.sum, np.mean) for a in axes]
                wanted += [np.asarray(np.sum(rows * weights, axis=a)) for a in (1, 0, None)]
            compare(
                compiled({"n": n, "k": k}, {x: rows, w: weights}), wanted, 1e-12 if real is FLOAT64 else 1e-5
            )
    (total,) = Compiled([sum_over(x, (0, 1))], real=real)(
        {"n": 9, "k": 1000}, {x: np.full((9, 1000), float(np.finfo(real.numpy).max))}
    )
    assert total == np.inf


def test_reductions_of_nothing() -> None:
    x = tensor("x", "n", "k")
    names = {"mean": np.nan, "prod": 1.0, "logsumexp": -np.inf, "norm": 0.0}
    nodes = [OPS[n](x, params=((1,),)) for n in names] + [sum_over(x, [1])]
    found = Compiled(nodes)({"n": 3, "k": 0}, {x: np.ones((3, 0))})
    for array, value in zip(found, [*names.values(), 0.0], strict=True):
        np.testing.assert_array_equal(array, np.full(3, value))


def test_an_index_out_of_range_reads_and_writes_nothing() -> None:
    x, i = tensor("x", "n", 4), tensor("i", "m", domain=INT)
    rows, columns = indexing.gather(x, i, params=((0,),)), indexing.gather(x, i, params=((1,),))
    spread = indexing.scatter_add(rows**2, i, params=((0,), ("n", 4)))
    values = {x: np.arange(12.0).reshape(3, 4), i: np.array([0, 7, -9, -1])}
    values[x][1:] += 0.5
    a, b, c = Compiled([rows, columns, indexing.scatter_add(tensor("s", "m"), i, params=((0,), ("n",)))])(
        {"n": 3, "m": 4}, {**values, tensor("s", "m"): np.ones(4)}
    )
    assert np.isnan(a[1:3]).all()
    np.testing.assert_array_equal(a[[0, 3]], values[x][[0, 2]])
    assert np.isnan(b[:, 1:3]).all()
    np.testing.assert_array_equal(c, [1, 0, 1])
    (d,) = Compiled([spread])({"n": 0, "m": 4}, {x: np.ones((0, 4)), i: values[i]})
    assert d.shape == (0, 4)


def test_equal_positions_add_up() -> None:
    s, i = tensor("s", "m", 3), tensor("i", "m", domain=INT)
    node = indexing.scatter_add(s, i, params=((0,), (4, 3)))
    turned = indexing.scatter_add(tensor("q", "m"), i, params=((0,), (4,)))
    values = {
        s: np.arange(33.0).reshape(11, 3),
        i: np.array([1] * 9 + [3, -1]),
        tensor("q", "m"): np.arange(11.0),
    }
    a, b = Compiled([node, turned])({"m": 11}, values)
    np.testing.assert_array_equal(a, evaluate([node], values)[0])
    np.testing.assert_array_equal(b, evaluate([turned], values)[0])


@pytest.mark.parametrize("parts", range(2, 5))
@pytest.mark.parametrize("early", range(4))
def test_what_is_joined_is_read_after_its_last_part(parts: int, early: int) -> None:
    """One part is computed beside an early output, the others later; a loop that is there already reads all."""
    given = [tensor(f"a{k}", 6) for k in range(parts)]
    z = tensor("z", 6 * parts)
    joined = layout.concatenate(*(OPS["tanh"](a) for a in given), params=(0,))
    first = given[early % parts]
    for nodes in (
        [first * 2, OPS["exp"](z), z * joined],
        [OPS["exp"](z), first * 2, z + joined, joined * joined],
        [first * 2, sum_over(z * z, [0]), sum_over(z * joined, [0])],
    ):
        values = values_for([*given, z], {})
        compare(Compiled(nodes, [*given, z])({}, values), evaluate(nodes, values), 1e-14)


@pytest.mark.parametrize("real", [FLOAT64, FLOAT32])
@pytest.mark.parametrize("last", [1, 2, 3, 5, "m"])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 17), (16, 5), (37, 4)])
def test_columns_that_are_added_up_at_positions(n: int, k: int, last: int | str, real: FloatType) -> None:
    """Neighbours of what is added are rows apart where they go; nothing goes outside."""
    x, i = tensor("x", "k", "n"), tensor("i", "k", domain=INT)
    counts = tensor("c", "k", "n", domain=INT)
    sizes = {"n": n, "k": k, "m": 4}
    width = evaluate_size(last, sizes)

    def spread(values: Node, at: Node) -> Node:
        return indexing.scatter_add(transpose(values, (1, 0)), at, params=((1,), ("n", last)))

    nodes = [spread(x * 3, i), spread(counts * 2, i)]
    inputs = [x, i, counts, *([tensor("size", "m")] if last == "m" else [])]
    values = values_for(inputs, sizes, low=-width, high=width)
    values[x] = values[x].astype(real.numpy)
    compiled = Compiled(nodes, inputs, real)
    for outside in (False, True):
        if outside:
            values[i][k // 2] = width + k
        kept = (values[i] >= -width) & (values[i] < width)
        expected = [np.zeros((n, width)), np.zeros((n, width), int)]
        for total, added in zip(expected, (3 * values[x], 2 * values[counts]), strict=True):
            np.add.at(total.T, values[i][kept], added[kept])
        compare(compiled(sizes, values), expected, 1e-13 if real is FLOAT64 else 1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_positions_that_count_and_positions_that_are_given(seed: int) -> None:
    """What is added at places of which each has one, none or many, beside loops over what is added."""
    rng = np.random.default_rng(seed)
    sizes = {"n": 3, "k": 5}
    spread = ("n", "k")[: rng.integers(1, 3)] if seed % 3 else ("k", "n")
    depth = len(spread)
    values: dict[Node, np.ndarray] = {}
    indices: list[Node] = []
    at: list[np.ndarray] = []
    target: list[int | str] = []
    # Most often one index counts along each axis, and others are given.
    counting = bool(seed % 4)
    kinds = [*range(depth), *([-1] * rng.integers(0, 3))] if counting else [-1] * rng.integers(1, 3)
    for k, along in enumerate(rng.permutation(kinds)):
        if along >= 0:
            shape = (spread[along], *[1] * int(depth - 1 - along))
            counts = OPS["iota"](params=(spread[along],))
            indices.append(counts if shape == (spread[along],) else layout.reshape(counts, params=(shape,)))
            at.append(np.arange(sizes[spread[along]]).reshape([evaluate_size(n, sizes) for n in shape]))
            target.append(spread[along])
        else:
            whole = k == 0 and not counting
            first = 0 if whole else int(rng.integers(0, depth))
            shape = tuple(n if whole or rng.random() < 0.8 else 1 for n in spread[first:])
            index = tensor(f"i{k}", *shape, domain=INT)
            values[index] = rng.integers(-4, 4, [evaluate_size(n, sizes) for n in shape])
            indices.append(index)
            at.append(values[index])
            target.append(4)
    before, after = rng.integers(0, 2, 2)
    shape = (*[2] * before, *target, *[3] * after)
    added = tensor("added", *[2] * before, *spread, *[3] * after)
    values[added] = rng.normal(size=[evaluate_size(n, sizes) for n in added.shape])
    node = indexing.scatter_add(
        added * 2, *indices, params=(tuple(range(before, before + len(target))), shape)
    )
    squares = sum_over(added**2, [len(added.shape) - 1])
    found = Compiled([squares, node, node + 1])(sizes, values)
    expected = np.zeros([evaluate_size(n, sizes) for n in shape])
    np.add.at(expected, (*[slice(None)] * before, *at), 2 * values[added])
    compare(found, [(values[added] ** 2).sum(-1), expected, expected + 1], 1e-13)


def test_rows_that_are_added_up_at_positions() -> None:
    """The rows are computed in one loop with what is read of them, their sums added to entries in another."""
    x, i = tensor("x", "n", "k"), tensor("i", "n", domain=INT)
    squares = x**2
    rows = sum_over(squares, [1])
    shares = squares / layout.reshape(rows, params=(("n", 1),))
    at_rows = indexing.scatter_add(rows, i, params=((0,), (4,)))
    whole = indexing.scatter_add(shares, i, params=((0,), (4, "k")))
    compiled = Compiled([shares, at_rows, whole, rows * 2], [x, i])
    for n, k in ((1, 1), (9, 3), (5, 40), (70, 17)):
        values = values_for([x, i], {"n": n, "k": k}, low=-4, high=4)
        squared = values[x] ** 2
        expected, spread = np.zeros(4), np.zeros((4, k))
        np.add.at(expected, values[i], squared.sum(1))
        np.add.at(spread, values[i], squared / squared.sum(1, keepdims=True))
        wanted = [squared / squared.sum(1, keepdims=True), expected, spread, 2 * squared.sum(1)]
        compare(compiled({"n": n, "k": k}, values), wanted, 1e-13)


def test_one_array_in_several_outputs_and_inputs_as_outputs() -> None:
    x = tensor("x", "n", 2)
    y = x * 2
    flat = layout.reshape(y, params=((2, "n"),))
    values = {x: np.arange(6.0).reshape(3, 2)}
    found = Compiled([y, x, flat, y, as_node(3)])({"n": 3}, values)
    for a, b in zip(
        found, [values[x] * 2, values[x], (values[x] * 2).reshape(2, 3), values[x] * 2, 3], strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_arguments_are_described() -> None:
    x, i = tensor("x", "n", "k"), tensor("i", "b", domain=INT)
    code = ArrayCode([OPS["gt"](x, as_node(0)), indexing.one_hot(i, params=("k",))], [i, x], FLOAT64)
    assert code.names == ("b", "n", "k")
    assert code.kinds == ("int", "real", "bool", "int")
    assert code.shapes == (("b",), ("n", "k"), ("n", "k"), ("b", "k"))


def test_a_chain_of_many_equations() -> None:
    x = tensor("x", "n")
    node: Node = x
    for k in range(3000):
        node = node * x + k
    values = {x: np.linspace(0.1, 0.9, 5)}
    (found,) = Compiled([sum_over(node, [0])])({"n": 5}, values)
    np.testing.assert_allclose(found, evaluate([sum_over(node, [0])], values)[0], rtol=1e-12)


def test_large_products_go_through_blas() -> None:
    a, b = tensor("a", "n", "k"), tensor("b", "k", "m")
    node = contract([a, b], [(0, 1), (1, 2)], (0, 2))
    turned = contract([a, b], [(0, 1), (1, 2)], (2, 0))
    compiled = Compiled([node, turned])
    assert "symgrad.dgemm" in compiled.code.llvm_ir
    for n, k, m in ((40, 30, 20), (1, 500, 70), (64, 1, 64), (50, 0, 40)):
        sizes = {"n": n, "k": k, "m": m}
        values = values_for([a, b], sizes)
        c, d = compiled(sizes, values)
        np.testing.assert_allclose(c, values[a] @ values[b], atol=1e-12)
        np.testing.assert_allclose(d, (values[a] @ values[b]).T, atol=1e-12)


@pytest.mark.parametrize("real", [FLOAT64, FLOAT32])
def test_the_kernel_for_products_in_every_layout(real: FloatType) -> None:
    a, b = tensor("a", "n", "k"), tensor("b", "k", "m")
    turned_a, turned_b = tensor("c", "k", "n"), tensor("d", "m", "k")
    nodes = [
        contract([x, y], [left, right], result)
        for x, left in ((a, (0, 1)), (turned_a, (1, 0)))
        for y, right in ((b, (1, 2)), (turned_b, (2, 1)))
        for result in ((0, 2), (2, 0))
    ]
    compiled = Compiled(nodes, [a, b, turned_a, turned_b], real)
    for n, k, m in ((9, 11, 13), (8, 600, 24), (17, 257, 49), (100, 20, 3), (3, 20, 100), (16, 1000, 1)):
        x, y = np.random.default_rng(n).normal(size=(n, k)), np.random.default_rng(m).normal(size=(k, m))
        x, y = x.astype(real.numpy), y.astype(real.numpy)
        found = compiled({"n": n, "k": k, "m": m}, {a: x, b: y, turned_a: x.T, turned_b: y.T})
        wanted = x.astype(float) @ y.astype(float)
        for i, z in enumerate(found):
            z = z.T if i % 2 else z
            np.testing.assert_allclose(z, wanted, atol=(1e-12 if real is FLOAT64 else 1e-3))


def test_positions_of_extremes_are_the_first_and_nan_is_extreme() -> None:
    x = tensor("x", "n", "k")
    names = ("argmax", "argmin")
    nodes = [OPS[name](x, params=(axis,)) for name in names for axis in (0, 1, None)]
    rows = np.random.default_rng(2).integers(0, 3, (9, 41)).astype(float)
    rows[3, [5, 40]], rows[4, 7], rows[5, 8] = np.nan, np.inf, -np.inf
    for values in (rows, np.nan_to_num(rows, nan=1.0)):
        found = Compiled(nodes)({"n": 9, "k": 41}, {x: values})
        wanted = [f(values, axis=axis) for f in (np.argmax, np.argmin) for axis in (0, 1, None)]
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_next_row_is_fetched_while_there_is_much_to_compute() -> None:
    p = sg.parse("z : real[n, k]\nloss = sum(logsumexp(z, axis=1))")
    z = p["z"].node
    busy = ArrayCode([p["loss"].node, sg.grad(p["loss"], p["z"]).node], [z], FLOAT64)
    assert "call void @llvm.prefetch.p0" in busy.llvm_ir
    plain = ArrayCode([sum_over(OPS["exp"](z), (1,))], [z], FLOAT64)
    assert "prefetch" not in plain.llvm_ir, "one pass: the processor sees for itself what comes next"
