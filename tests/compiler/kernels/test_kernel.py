"""Calling a Kernel: checks of the inputs, names, pickling, kernels that are no ufunc."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symgrad.compiler.kernels.compile import compile_nodes, save_native
from symgrad.compiler.kernels.elementwise import ElementwiseKernel
from symgrad.compiler.kernels.kernel import KernelOptions
from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.compiler.llvm.text.types import FLOAT64
from symgrad.compiler.lowering.elementwise.schedule import schedule
from symgrad.errors import (
    ArrayTypeError,
    ComplexInputError,
    KernelError,
    MissingInputError,
    NumberTooLargeError,
    ShapeError,
    SymgradError,
    UsageError,
)
from symgrad.ir.graph import Node, constant, number, symbol
from symgrad.ir.types import REAL, Declaration
from tests.compiler.kernels.formulas import flag, op, same_bits, sub, u, x
from tests.processes import printed


@pytest.fixture(scope="module")
def kernel():
    return compile_nodes([op("mul", x, u), op("div", x, u)], [x, u], name="pair")


@pytest.fixture(scope="module")
def single():
    return compile_nodes([op("mul", x, u)], [x, u], dtype="float32", name="single")


def test_values_by_position_and_by_name(kernel):
    for found in (kernel(6.0, 2.0), kernel(6, u=2), kernel(u=np.float32(2), x=6), kernel([6.0], (2,))):
        assert [float(np.asarray(f).item()) for f in found] == [12.0, 3.0]
    assert compile_nodes([op("neg", x)])(2.0) == -2.0
    assert isinstance(compile_nodes([op("neg", x)])([1.0, 2.0]), np.ndarray)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda k: k(1.0), MissingInputError, "no value for u"),
        (lambda k: k(1.0, 2.0, 3.0), MissingInputError, "3 values were given"),
        (lambda k: k(1.0, w=2.0), MissingInputError, "'w' is not an input"),
        (lambda k: k(1.0, x=2.0), MissingInputError, "'x' is given twice"),
        (lambda k: k(1j, 2.0), ComplexInputError, "input 'x' is complex"),
        (lambda k: k(1.0, np.ones(3, complex)), ComplexInputError, "input 'u' is complex"),
        (lambda k: k(np.array([1.0, None]), 2.0), ArrayTypeError, "input 'x' is not numeric"),
        (lambda k: k("1", 2.0), ArrayTypeError, "input 'x' is not numeric"),
        (lambda k: k(np.datetime64("2020-01-01"), 2.0), ArrayTypeError, "input 'x' is not numeric"),
        (lambda k: k([[1.0], [1.0, 2.0]], 2.0), ArrayTypeError, "input 'x' is not an array"),
        (lambda k: k(op("neg", x), 2.0), ArrayTypeError, "input 'x' is a formula"),
        (lambda k: k(np.ones(2, np.longdouble), 2.0), ArrayTypeError, "the kernel computes in float64"),
        (lambda k: k(10**400, 2.0), NumberTooLargeError, "too large for float64"),
        (lambda k: k(np.ones(3), np.ones(4)), ShapeError, r"do not broadcast: x \(3,\), u \(4,\)"),
        (lambda k: k(np.ones(3), 1.0, out=(np.ones(4), np.ones(4))), ShapeError, r"out \(4,\)"),
        (lambda k: k(1.0, 1.0, out=np.ones(3)), ArrayTypeError, "2 writable arrays"),
        (lambda k: k(1.0, 1.0, out=(np.ones(1, int), None)), ArrayTypeError, "float64, float64"),
    ],
)
def test_wrong_inputs(kernel, call, error, words):
    with pytest.raises(error, match=words) as caught:
        call(kernel)
    assert type(caught.value) is error


def test_float32_kernels_take_nothing_wider(single):
    assert single(np.float32(0.5), 0.1).dtype == np.float32
    assert single(0.1, 3) == np.float32(0.1) * np.float32(3)
    assert single(np.ones(2, np.int16), True)[0] == 1
    with pytest.raises(ArrayTypeError, match="input 'u' is float64") as caught:
        single(np.float32(1), np.ones(3))
    assert caught.value.cure == 'pass u.astype(np.float32), or compile with dtype="float64"'
    with pytest.raises(NumberTooLargeError):
        single(1e300, 1.0)
    with pytest.raises(ArrayTypeError, match="'flag' is float64, but it is declared bool"):
        compile_nodes([op("logical_not", flag)])(1.0)


@pytest.mark.parametrize(
    ("inputs", "error", "words"),
    [
        ([x, u, x], UsageError, "the input 'x' is listed twice"),
        ([op("neg", x), u], UsageError, "the input '-x' is not a symbol"),
        ([x], MissingInputError, "the outputs read u, which is not among the inputs"),
        ([], MissingInputError, "the outputs read x, u, which is not among the inputs"),
    ],
)
def test_inputs_that_are_none(inputs, error, words):
    with pytest.raises(error, match=words) as caught:
        compile_nodes([op("mul", x, u)], inputs)
    if error is MissingInputError:
        assert caught.value.expected == "inputs that contain x, u"
    assert compile_nodes([op("mul", x, u)], [u, x, symbol(Declaration("z"))])(2, 3, 4) == 6


def test_declared_shapes():
    a = symbol(Declaration("a", REAL, ("n", 3)))
    b = symbol(Declaration("b", REAL, ("n", 1)))
    k = compile_nodes([op("mul", a, b)], [a, b])
    assert same_bits(k(np.full((2, 3), 2.0), np.ones((2, 1))), np.full((2, 3), 2.0))
    for wrong in (np.ones((2, 4)), np.ones(3), 1.0):
        with pytest.raises(ShapeError, match=r"input 'a' has shape") as caught:
            k(wrong, np.ones((2, 1)))
        assert caught.value.expected == "a : real[n, 3]"
    with pytest.raises(ShapeError, match=r"size n is 2 in 'a' of shape .* and 3 in 'b'"):
        k(np.ones((2, 3)), np.ones((3, 1)))


def test_no_warnings_from_lanes_that_are_not_chosen(kernel):
    guarded = compile_nodes([op("where", op("gt", x, number(0)), op("log", x), number(0))])
    assert same_bits(guarded(np.array([-1.0, 0.0, 1.0])), np.zeros(3))  # warnings are errors in the tests
    assert kernel(0.0, 0.0)[0] == 0


def test_without_inputs_and_with_unused_ones():
    k = compile_nodes([number(Fraction(1, 3)), constant("pi")])
    assert k() == (1 / 3, np.pi)
    with pytest.raises(KernelError, match="0 inputs"):
        _ = k.ufunc
    k = compile_nodes([op("neg", u), number(7)], [x, u])
    found = k(np.zeros(3), 2.0)
    assert same_bits(found[0], np.full(3, -2.0))
    assert same_bits(found[1], np.full(3, 7.0))


def test_more_arguments_than_a_ufunc_takes():
    many = [symbol(Declaration(f"a{i}")) for i in range(70)]
    total: Node = many[0]
    outputs = [op("lt", many[0], many[1])]
    for node in many[1:]:
        total = op("add", total, node)
        outputs.append(total)
    k = compile_nodes(outputs, many)
    with pytest.raises(KernelError, match="70 inputs and 70 outputs"):
        _ = k.ufunc
    rng = np.random.default_rng(1)
    arrays: list[Any] = [rng.normal(size=(4, 9)) for _ in many]
    arrays[3], arrays[5], arrays[6] = arrays[3][:, :1], np.float64(2.0), np.arange(9)
    found = k(*arrays)
    expected = np.cumsum([np.broadcast_to(a, (4, 9)) for a in arrays], axis=0)
    assert same_bits(found[0], arrays[0] < arrays[1])
    for f, e in zip(found[1:], expected[1:], strict=True):
        assert same_bits(f, e)
    outs = (None,) * 69 + (np.zeros((4, 9)),)
    mask = np.arange(9) % 2 == 0
    again = k(*arrays, out=outs, where=mask)
    assert again[-1] is outs[-1]
    assert same_bits(outs[-1], np.where(mask, found[-1], 0))
    assert same_bits(np.array(k(*[float(i) for i in range(70)])[-1]), np.array(2415.0))
    with pytest.raises(ShapeError):
        k(*[np.ones(2)] * 69, np.ones(3))
    with pytest.raises(ArrayTypeError):
        k(*arrays, out=(None,))


def test_hundreds_of_arguments_take_their_scratch_from_the_heap():
    many = [symbol(Declaration(f"a{i}")) for i in range(400)]
    total = many[0]
    for node in many[1:]:
        total = op("add", total, node)
    k = compile_nodes([total, many[7]], many)
    arrays = np.random.default_rng(2).normal(size=(400, 21))
    found = k(*arrays)
    assert same_bits(found[0], np.cumsum(arrays, axis=0)[-1])
    assert same_bits(found[1], arrays[7])


def test_exactly_as_many_arguments_as_a_ufunc_takes():
    many = [symbol(Declaration(f"a{i}")) for i in range(63)]
    total = many[0]
    for node in many[1:]:
        total = op("add", total, node)
    assert compile_nodes([total], many).ufunc(*range(63)) == 1953


def test_pickle_copy_and_repr(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    assert again is not kernel
    assert (again.name, again.inputs, again.outputs, again.dtype) == (
        "pair",
        ("x", "u"),
        kernel.outputs,
        np.float64,
    )
    assert again(6.0, 2.0) == kernel(6.0, 2.0)
    assert copy.copy(kernel) is kernel
    assert copy.deepcopy([kernel])[0] is kernel
    assert repr(kernel) == "<Kernel pair(x, u) -> 2 outputs, float64>"
    assert kernel.ufunc.__name__ == "pair"
    assert kernel.ufunc.__doc__.endswith("pair(x, u)")


def test_pickle_to_another_process(kernel, tmp_path):
    path = tmp_path / "k.pickle"
    path.write_bytes(pickle.dumps(kernel))
    code = f"import pickle; k = pickle.load(open({str(path)!r}, 'rb')); print(k(6.0, 2.0) == (12.0, 3.0))"
    assert printed(code) == "True\n"


def test_wrong_requests():
    with pytest.raises(MissingInputError, match="the outputs read u"):
        compile_nodes([op("mul", x, u)], [x])
    for bad in (
        lambda: compile_nodes([]),
        lambda: compile_nodes([x], [x, x]),
        lambda: compile_nodes([x], [op("neg", x)]),
        lambda: compile_nodes([x], dtype="float16"),
        lambda: compile_nodes([x], dtype=object),
        lambda: compile_nodes([x], dtype="nonsense"),
    ):
        with pytest.raises(UsageError):
            bad()


def test_constants_are_rounded_once_and_overflow_is_an_error():
    third = compile_nodes([op("add", x, number(Fraction(1, 3)))], dtype="float32")
    assert third(np.float32(0)) == np.float32(1 / 3)
    # Halfway between two float32 numbers plus a little that float64 cannot hold.
    tie = Fraction(1) + Fraction(1, 2**24) + Fraction(1, 2**60)
    assert compile_nodes([op("mul", x, number(tie))], dtype="float32")(1.0) == np.nextafter(
        np.float32(1), np.float32(2)
    )
    nine = number(9)
    huge = op("pow", nine, op("pow", nine, op("pow", nine, nine)))
    for node in (
        huge,
        op("mul", x, huge),
        op("div", number(1), huge),
        op("exp", number(1000)),
        number(10**400),
    ):
        with pytest.raises(NumberTooLargeError):
            compile_nodes([op("add", node, x)])
    with pytest.raises(NumberTooLargeError, match="float32"):
        compile_nodes([op("mul", x, op("exp", number(100)))], dtype="float32")
    # A pole is not an overflow.
    assert compile_nodes([op("add", op("div", number(1), number(0)), x)])(0.0) == np.inf
    assert compile_nodes([op("log", number(0))])() == -np.inf


def test_folded_constants_have_the_bits_of_the_kernel():
    names = [
        "sin",
        "cos",
        "exp",
        "expm1",
        "log",
        "log1p",
        "sqrt",
        "tanh",
        "cbrt",
        "erf",
        "gamma",
        "floor",
        "sign",
        "sigmoid",
    ]
    value = Fraction(17, 10)
    for dtype in ("float64", "float32"):
        at_run_time = compile_nodes([op(name, x) for name in names], [x], dtype=dtype)
        folded = compile_nodes([op(name, number(value)) for name in names], [], dtype=dtype)
        for name, a, b in zip(names, at_run_time(float(value)), folded(), strict=True):
            assert same_bits(a, b), (name, dtype, a, b)


def test_threads_compile_and_call_together():
    def work(i: int) -> bool:
        k = compile_nodes([op("add", op("mul", x, number(i)), op("sin", u))], [x, u])
        a = np.arange(2000.0)
        return bool(np.array_equal(k(a, a), a * i + compile_nodes([op("sin", u)])(a)))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))


def test_large_graphs_in_chunks_give_the_same_bits():
    rng = np.random.default_rng(3)
    pool: list[Node] = [x, u]
    for i in range(600):
        a, b = (pool[-rng.integers(1, min(len(pool), 80) + 1)] for _ in range(2))
        kinds = [
            op("add", a, b),
            op("mul", a, op("tanh", b)),
            op("where", op("lt", a, b), sub(a, b), number(2)),
        ]
        pool.append(kinds[i % 3])
    outputs = [*pool[-20:], op("lt", pool[50], pool[-1]), u, x, number(3)]
    whole = compile_nodes(outputs, [x, u])
    a, b = rng.normal(size=(2, 101))
    expected = whole(a, b)
    for size in (1, 7, 64):
        cut = ElementwiseKernel(
            ElementwiseCode(schedule(outputs, [x, u], chunk=size), FLOAT64),
            outputs,
            [x, u],
            KernelOptions("cut", 1, compile_nodes, save_native),
        )
        for e, f in zip(expected, cut(a, b), strict=True):
            assert same_bits(e, f)
    # Chunks too must read an input before an output that shares its memory is stored.
    c, d = a.copy(), b.copy()
    cut(c, d, out=(*[None] * 21, c, d, None))
    assert same_bits(c, b)
    assert same_bits(d, a)


def test_compile_time_is_linear():
    """No timing: the text is what LLVM's time is linear in, and functions are bounded."""
    rng = np.random.default_rng(0)  # nothing repeats
    node: Node = x
    expected = 0.0
    for i, kind in enumerate(rng.choice(["add", "mul", "div", "minimum", "maximum"], size=24_000)):
        other = 1 + i % 7
        node = op(str(kind), node, op("add", u, number(other)))
        scalar = {"add": np.add, "mul": np.multiply, "div": np.divide, "minimum": min, "maximum": max}[kind]
        expected = scalar(expected, float(other))
    k = compile_nodes([node], [x, u])
    functions = k.llvm_ir.split("\ndefine ")
    assert len(functions) > 100
    assert max(f.count("\n") for f in functions) < 600
    assert same_bits(k(0.0, 0.0), np.float64(expected))


def test_errors_are_symgrad_errors(kernel):
    with pytest.raises(SymgradError):
        kernel(np.ones(3), np.ones(4))
