"""A kernel of an array program is a generalised ufunc: layouts, batches, outputs, dtypes against NumPy."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.compiler.kernels.array_kernel import ArrayKernel
from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.kernels.elementwise import ElementwiseKernel
from symgrad.compiler.kernels.signature import signature_of
from symgrad.errors import ArrayTypeError
from symgrad.ir.graph import symbol
from symgrad.ir.sizes import Size, size_product, size_sum
from symgrad.ir.types import Declaration
from symgrad.ops.array.contraction import contract
from tests.compiler.kernels.formulas import op, same_bits
from tests.compiler.kernels.programs import (
    PROGRAMS,
    Program,
    X,
    a,
    array,
    batched,
    draw,
    matmul,
    mean,
    op_with,
    w,
    y,
    z,
)

SIZES = {"n": 4, "m": 6}


@pytest.fixture(scope="module", params=["float64", "float32"])
def dtype(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module", params=PROGRAMS, ids=[p.name for p in PROGRAMS])
def case(request: pytest.FixtureRequest, dtype: str) -> tuple[ArrayKernel, Program]:
    program: Program = request.param
    kernel = compile_nodes(program.outputs, program.inputs, dtype=dtype, name=program.name)
    assert isinstance(kernel, ArrayKernel)
    return kernel, program


def values(
    program: Program, dtype: str, *, sizes: dict[str, int] = SIZES, batch: Any = (), seed: int = 0
) -> list[Any]:
    rng = np.random.default_rng(seed)
    batches = batch if isinstance(batch, list) else [batch] * len(program.inputs)
    return [draw(s, sizes, b, rng, dtype) for s, b in zip(program.inputs, batches, strict=False)]


def check(case: tuple[ArrayKernel, Program], given: list[Any], plain: list[Any] | None = None) -> None:
    """Compare a call on arrays of any layout with NumPy on plain ones. All sums are exact, so bits are equal."""
    kernel, program = case
    plain = given if plain is None else plain
    expected = batched(program.reference, program.inputs, [np.asarray(v) for v in plain])
    found = as_tuple(kernel(*given))
    assert len(found) == len(expected)
    for f, e, kind in zip(found, expected, kernel.kinds[len(given) :], strict=True):
        assert same_bits(f, e.astype(kind)) or (kind.kind == "f" and np.allclose(f, e, rtol=1e-6, atol=0)), (
            f,
            e,
        )
        assert np.asarray(f).dtype == kind


def test_values_and_sizes(case, dtype):
    for n, m in ((4, 6), (1, 1), (17, 2), (33, 40)):
        check(case, values(case[1], dtype, sizes={"n": n, "m": m}))


def test_empty_axes(case, dtype):
    kernel, program = case
    nothing = values(program, dtype, sizes={"n": 0, "m": 0})
    if program.name == "loss":
        assert np.isnan(kernel(*nothing)[0])
    else:
        check(case, nothing)
    if program.name not in ("loss", "picked"):
        check(case, values(program, dtype, sizes={"n": 0, "m": 3}))


def test_batches(case, dtype):
    program = case[1]
    for batch in ((3,), (2, 1, 3), (0,)):
        given = values(program, dtype, batch=batch)
        if 0 in batch:
            found = as_tuple(case[0](*given))
            assert all(f.shape[:1] == (0,) for f in found)
        else:
            check(case, given)
    check(case, values(program, dtype, batch=[(2, 1), (3,), (), (1, 1)]))
    check(case, values(program, dtype, batch=[(), (3,), (2, 1), (3,)]))


def strided(value: Any, kind: str) -> Any:
    """The same values in another layout."""
    if kind == "fortran":
        return np.array(value, order="F")
    if kind == "reversed":
        back = (..., *[slice(None, None, -1)] * value.ndim)
        return value[back].copy()[back]
    if kind == "every second":
        wide = np.zeros(tuple(2 * s for s in value.shape), value.dtype)
        second = (..., *[slice(None, None, 2)] * value.ndim)
        wide[second] = value
        return wide[second]
    if kind == "unaligned":
        raw = np.zeros(value.nbytes + 1, np.uint8)[1:]
        moved = raw.view(value.dtype).reshape(value.shape)
        moved[...] = value
        return moved
    if kind == "swapped":
        return value.astype(value.dtype.newbyteorder())
    if kind == "read-only":
        frozen = np.array(value)
        frozen.flags.writeable = False
        return frozen
    raise AssertionError(kind)


KINDS = ("fortran", "reversed", "every second", "unaligned", "swapped", "read-only")


@pytest.mark.parametrize("kind", KINDS)
def test_layouts(case, dtype, kind):
    for batch in ((), (3,)):
        plain = values(case[1], dtype, batch=batch)
        check(case, [strided(v, kind) for v in plain], plain)
        for k in range(len(plain)):
            check(case, [strided(v, kind) if i == k else v for i, v in enumerate(plain)], plain)


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.name for p in PROGRAMS])
def test_lists(program):
    kernel = compile_nodes(program.outputs, program.inputs)
    assert isinstance(kernel, ArrayKernel)
    for batch in ((), (3,)):
        plain = values(program, "float64", batch=batch)
        check((kernel, program), [v.tolist() for v in plain], plain)


def test_lists_of_floats_are_not_float32():
    with pytest.raises(ArrayTypeError, match="the kernel computes in float32"):
        compile_nodes([mean(y)], [y], dtype="float32")([1.0, 2.0])


def test_outputs_of_every_layout(case, dtype):
    kernel, program = case
    for batch in ((), (3,)):
        given = values(program, dtype, batch=batch)
        expected = [np.asarray(e) for e in as_tuple(kernel(*given))]
        for kind in ("fortran", "reversed", "every second", "unaligned", "swapped"):
            outs = tuple(strided(np.zeros_like(e), kind) for e in expected)
            returned = as_tuple(kernel(*given, out=outs))
            for out, r, e in zip(outs, returned, expected, strict=True):
                assert r is out
                assert same_bits(out.astype(e.dtype), e), (kind, out, e)
        if len(expected) > 1:
            only = np.zeros_like(expected[-1])
            first = kernel(*given, out=(None,) * (len(expected) - 1) + (only,))[0]
            assert same_bits(first, expected[0])
            assert same_bits(only, expected[-1])


_TURN = compile_nodes([contract([array("A", "n", "m", "k")], [[0, 1, 2]], [2, 0, 1])])


@st.composite
def views(draw: st.DrawFn, shape: tuple[int, ...]) -> np.ndarray:
    """An array of this shape, with axes in any order in memory, at any steps, from any start."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in shape]
    wide = np.zeros([shape[i] * abs(steps[i]) + draw(st.integers(0, 2)) for i in order])
    turned = wide.transpose(np.argsort(order))
    cut = tuple(
        slice(None, shape[i] * s, s) if s > 0 else slice(shape[i] * -s - 1 if shape[i] else 0, None, s)
        for i, s in enumerate(steps)
    )
    view = turned[cut][tuple(slice(0, n) for n in shape)]
    assert view.shape == shape
    view[...] = np.arange(view.size).reshape(shape)
    return view


@given(st.data(), st.lists(st.integers(0, 4), min_size=3, max_size=6))
def test_every_view(data: st.DataObject, sizes: list[int]):
    shape = tuple(sizes)
    given_view = data.draw(views(shape))
    expected = np.moveaxis(given_view, -1, -3)
    assert same_bits(_TURN(given_view), expected)
    out = data.draw(views(expected.shape))
    _TURN(given_view, out=out)
    assert same_bits(out, expected)


def test_an_output_may_overlap_inputs():
    square = array("S", 4, 4)
    k = compile_nodes([matmul(square, square)], [square])
    data = np.arange(16.0).reshape(4, 4)
    expected = data @ data
    assert k(data, out=data) is data
    assert same_bits(data, expected)
    long = np.arange(24.0)
    view, target = long[:16].reshape(4, 4), long[8:].reshape(4, 4)
    expected = view @ view
    k(view, out=target)
    assert same_bits(target, expected)
    # Without core dimensions NumPy lets an output be an input, element by element.
    data = np.arange(16.0).reshape(4, 4)
    k.ufunc(data, out=data)
    assert same_bits(data, np.arange(16.0).reshape(4, 4) @ np.arange(16.0).reshape(4, 4))
    # One memory: a matrix for every element of the batch as an input, a row for each as the output.
    k = compile_nodes([matmul(square, array("v", 4))], [square, array("v", 4)])
    data, batch = np.arange(16.0).reshape(4, 4), np.arange(16.0, 0, -1).reshape(4, 4)
    expected = k(data, batch)
    assert same_bits(k(data, batch, out=data), expected)
    repeated = op_with("broadcast_to", ((3,),), a)
    k = compile_nodes([op_with("max", ((0,),), repeated), op("mul", a, a)], [a])
    v = np.arange(5.0)
    first, second = k(v, out=(v, None))
    assert first is v
    assert same_bits(v, np.arange(5.0))
    assert same_bits(second, np.arange(5.0) ** 2)
    b = symbol(Declaration("b"))
    k = compile_nodes([op("add", a, op_with("max", ((0,),), op_with("broadcast_to", ((2,),), b)))], [a, b])
    assert k.ufunc.reduce(v) == 10
    assert same_bits(k.ufunc.accumulate(v), np.cumsum(v))


def test_nan_and_infinities_flow(dtype):
    k = compile_nodes([mean(y), y * 2, op_with("max", ((0,),), y)], [y], dtype=dtype)
    for special in (np.nan, np.inf, -np.inf):
        v = np.array([1, special, 2], dtype)
        m, double, top = k(v)
        assert same_bits(m, np.mean(v))
        assert same_bits(double, v * 2)
        assert same_bits(top, np.max(v))
    assert np.isnan(compile_nodes([mean(y)], [y], dtype=dtype)(np.zeros(0, dtype)))


def test_no_warnings_from_the_ufunc_itself():
    k = compile_nodes([mean(op("div", y, y - y))], [y])
    assert np.isnan(k.ufunc(np.zeros(3)))  # warnings are errors in the tests
    with np.errstate(all="raise"):
        assert np.isnan(k(np.zeros(3)))


def test_which_programs_are_ufuncs():
    s = array("s", "n", 1)
    same = compile_nodes([y * 2], [y])
    assert isinstance(same, ElementwiseKernel)
    assert isinstance(compile_nodes([X * s], [X, s]), ElementwiseKernel)
    different = compile_nodes([X * s, -s], [X, s])
    assert isinstance(different, ArrayKernel)
    assert different.ufunc.signature == "(n,5),(n,1)->(n,5),(n,1)"
    unrelated = compile_nodes([y * 2, z * 3], [y, z])
    found = unrelated([1.0], [1.0, 2.0])
    assert same_bits(found[1], np.array([3.0, 6.0]))


def test_signatures():
    joined = next(p for p in PROGRAMS if p.name == "joined")
    k = compile_nodes(joined.outputs, joined.inputs)
    assert k.ufunc.signature == "(n),(m)->(m_n),(max_n_1_0)"
    with pytest.raises(ValueError, match=r"size that the other arrays imply: m \+ n"):
        k.ufunc(np.ones(2), np.ones(3), out=(np.ones(6), None))
    assert k.ufunc(np.ones((4, 2)), np.ones(3))[0].shape == (4, 5)
    empty = array("e", "n", 0)
    k = compile_nodes([mean(empty), op("neg", empty)], [empty])
    assert k(np.ones((2, 0)))[1].shape == (2, 0)
    with pytest.raises(ValueError, match="the other arrays imply: 0"):
        k.ufunc(np.ones((2, 1)))
    greek = array("g", "σ", "n")
    assert compile_nodes([mean(greek)], [greek])(np.ones((2, 3))) == 1


def test_every_size_has_a_spelling_of_its_own():
    """NumPy takes sizes of one spelling for one size, and numbers for what must be so long."""
    rng = np.random.default_rng(0)
    names: list[Size] = ["n", "m", "n_m", "n_m_", "_2_n", "_u03C3", "σ", "ß_1", "_0"]
    sizes = [*names, 0, 1, 2, 3]
    for _ in range(40):
        one, other = (names[k] for k in rng.integers(len(names), size=2))
        sizes += [
            size_sum([one, other]),
            size_product([one, other]),
            size_sum([one, 2]),
            size_product([one, 2]),
        ]
    for _ in range(40):
        shapes = [tuple(sizes[k] for k in rng.integers(len(sizes), size=rng.integers(4))) for _ in range(6)]
        found = signature_of(shapes[:3], shapes[3:])
        told = [re.findall(r"\w+", text) for text in re.findall(r"\(([^()]*)\)", found.text)]
        texts = [f"({','.join(t)})" for t in told]
        assert found.text == ",".join(texts[:3]) + "->" + ",".join(texts[3:])
        assert found.text.isascii()
        spelled: dict[Size, str] = {}
        for shape, spellings in zip(shapes, told, strict=True):
            for size, text in zip(shape, spellings, strict=True):
                assert spelled.setdefault(size, text) == text
                assert text == str(size) if isinstance(size, int) and size else not text[0].isdigit()
        assert len(set(spelled.values())) == len(spelled)
        assert [tuple(found.sizes[k] for k in axes) for axes in found.axes] == shapes


def test_sizes_whose_names_look_alike():
    a, b = array("a", "n"), array("b", "n_m")
    c = array("c", "m")
    k = compile_nodes([op_with("concatenate", (0,), a, c), b], [a, b, c])
    joined, other = k(np.ones(3), np.zeros(2), np.full(4, 2.0))
    assert joined.tolist() == [1, 1, 1, 2, 2, 2, 2]
    assert other.tolist() == [0, 0]


def test_sizes_beyond_memory_are_errors():
    """Nothing is ever computed with a size that wrapped around."""
    k = compile_nodes([op_with("concatenate", (0,), y, z), mean(y)], [y, z])
    huge = np.broadcast_to(1.0, (2**59,))
    with pytest.raises((ValueError, MemoryError)):
        k.ufunc(huge, huge)
    three = array("three", "n", "n", "n")
    flat = compile_nodes([op_with("reshape", ((size_product(["n"] * 3),),), three)], [three])
    with pytest.raises((ValueError, MemoryError)):
        flat.ufunc(np.broadcast_to(np.float64(1), (2**19,) * 3), out=np.zeros(3))


def test_memory_for_sizes_that_overflow_is_never_enough():
    table = op_with("einsum", (((0,), (1,)), (0, 1)), y, z)
    k = compile_nodes([op_with("max", ((0, 1),), op_with("cumsum", (0, 0), table))], [y, z])
    assert isinstance(k, ArrayKernel)

    def needed(n: int, m: int) -> int:
        return k.code.scratch_bytes([n, m])

    assert 8 * 30 <= needed(5, 6) < 8 * 30 + 4096
    assert needed(2**31, 2**31) == -1  # the product of these, times 8, is 0 in 64 bits
    assert needed(2**62, 2) == -1
    assert k(np.arange(3.0), np.arange(4.0)) == 9


def test_memory_exhausted_is_an_error():
    k = compile_nodes([op_with("max", ((0,),), y)], [y])
    for call in (k, k.ufunc):
        with pytest.raises(MemoryError):
            call(np.broadcast_to(1.0, (2**52,)))


def test_threads_share_a_kernel():
    k = compile_nodes([matmul(X, w), mean(X)], [X, w])
    rng = np.random.default_rng(0)

    def work(i: int) -> bool:
        n = int(rng.integers(1, 300))
        p, q = np.random.default_rng(i).integers(-9, 9, (7, n, 10)).astype(float)[..., ::2], np.ones(5)
        return bool(np.array_equal(k(p, q)[0], p @ q))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_without_inputs():
    k = compile_nodes([op_with("eye", (2, 3)), op_with("iota", (4,))], [])
    eye, iota = k()
    assert same_bits(np.asarray(eye, float), np.eye(2, 3))
    assert iota.tolist() == [0, 1, 2, 3]
    out = np.zeros((2, 3))
    assert k(out=(out, None))[0] is out
    assert same_bits(out, np.eye(2, 3))


def test_more_arguments_than_a_ufunc_takes():
    many = [array(f"v{i}", "n") for i in range(70)]
    k = compile_nodes([mean(v * v) for v in many] + [many[0] * many[1]], many)
    rng = np.random.default_rng(0)
    given = [rng.integers(-9, 9, (2, 1, 4) if i % 2 else (3, 4)).astype(float)[..., ::-1] for i in range(70)]
    found = k(*given)
    for f, g in zip(found, given, strict=False):
        assert same_bits(f, np.broadcast_to(np.mean(g * g, axis=-1), (2, 3)))
    assert same_bits(found[-1], given[0] * given[1])
    out = np.zeros((2, 3, 4))
    assert k(*given, out=(None,) * 70 + (out,))[-1] is out
    assert same_bits(out, found[-1])


def test_more_axes_than_a_ufunc_takes():
    cubes = [array(f"c{i}", "n", 2, 3) for i in range(20)]
    k = compile_nodes([c * mean(c) for c in cubes], cubes)
    given = [np.full((2, 2, 3), float(i)) for i in range(20)]
    for i, f in enumerate(k(*given)):
        assert same_bits(f, np.full((2, 2, 3), float(i * i)))
