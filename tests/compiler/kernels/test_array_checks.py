"""What an array kernel refuses, in the words of the formula, before any memory is touched."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from symgrad.compiler.kernels.calls.guards import guards_of
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.errors import (
    ArrayTypeError,
    ComplexInputError,
    IndexRangeError,
    KernelError,
    MissingInputError,
    ShapeError,
    UnsupportedError,
)
from symgrad.ir.graph import number, size_node, symbol
from symgrad.ir.sizes import size_sum
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ops.array.layout import expand
from tests.compiler.kernels.formulas import op, same_bits
from tests.compiler.kernels.programs import X, array, ids, mask, matmul, mean, op_with, r, w, y, z


@pytest.fixture(scope="module")
def loss():
    return compile_nodes([mean((matmul(X, w) - y) ** 2), matmul(X, w)], [X, w, y], name="loss")


D, V, T = np.ones((3, 5)), np.ones(5), np.ones(3)


@pytest.mark.parametrize(
    ("call", "error", "words", "expected"),
    [
        (lambda k: k(D, V), MissingInputError, "no value for y", None),
        (lambda k: k(D, V, T, T), MissingInputError, "4 values were given", None),
        (lambda k: k(D, V, t=T), MissingInputError, "'t' is not an input", None),
        (lambda k: k(D, V, 1.0), ShapeError, r"input 'y' has shape \(\)", "y : real[n]"),
        (lambda k: k(V, V, T), ShapeError, r"input 'X' has shape \(5,\)", "X : real[n, 5]"),
        (lambda k: k(D[:, :4], V, T), ShapeError, r"input 'X' has shape \(3, 4\)", "X : real[n, 5]"),
        (
            lambda k: k(D, V, np.ones(4)),
            ShapeError,
            r"size n is 3 in 'X' of shape \(3, 5\) and 4 in 'y' of shape \(4,\)",
            "X : real[n, 5] and y : real[n]",
        ),
        (lambda k: k(D, V, np.ones(1)), ShapeError, "size n is 3 in 'X' .* and 1 in 'y'", None),
        (
            lambda k: k(np.ones((2, 3, 5)), V, np.ones((4, 3))),
            ShapeError,
            r"the batches do not broadcast: X \(2, 3, 5\), w \(5,\), y \(4, 3\)",
            None,
        ),
        (
            lambda k: k(D, V, T, out=(None, np.ones(4))),
            ShapeError,
            r"out has shape \(4,\), and output 1 has",
            None,
        ),
        (lambda k: k(D, V, T, out=(None, np.ones(3, int))), ArrayTypeError, "Cannot cast", None),
        (lambda k: k(D, V, T, out=np.ones(3)), ArrayTypeError, "2 arrays|tuple", None),
        (lambda k: k(D, V, T, out=(None, np.broadcast_to(1.0, 3))), ArrayTypeError, "may only be read", None),
        (lambda k: k(D * 1j, V, T), ComplexInputError, "input 'X' is complex", None),
        (lambda k: k(D.astype(object), V, T), ArrayTypeError, "input 'X' is not numeric", None),
        (lambda k: k(D.astype("U3"), V, T), ArrayTypeError, "input 'X' is not numeric", None),
        (lambda k: k(D.astype(np.longdouble), V, T), ArrayTypeError, "computes in float64", None),
        (
            lambda k: k(np.ma.masked_array(D, D > 2), V, T),
            ArrayTypeError,
            "input 'X' is a masked array",
            None,
        ),
        (lambda k: k([[1.0], [1.0, 2.0]], V, T), ArrayTypeError, "input 'X' is not an array", None),
        (lambda k: k(X, V, T), ArrayTypeError, "input 'X' is a formula", None),
        (lambda k: k(D, V, T, where=T > 0), UnsupportedError, "no where=", None),
    ],
)
def test_wrong_calls(loss, call, error, words, expected):
    with pytest.raises(error, match=words) as caught:
        call(loss)
    assert type(caught.value) is error
    if expected is not None:
        assert caught.value.expected == expected


def test_right_calls(loss):
    assert loss(D, V, T)[0] == 16
    assert loss(D, y=T, w=V)[0] == 16
    assert loss(D.astype(int), V.astype(np.float32), T.astype(bool))[0] == 16
    assert loss(D.tolist(), list(V), tuple(T))[0] == 16
    assert isinstance(loss(D, V, T)[0], np.float64)


def test_size_names_must_be_bound():
    with pytest.raises(MissingInputError, match="the size n, but no input has an axis of this size"):
        compile_nodes([number(2) * size_node("n") + w], [w])
    with pytest.raises(MissingInputError, match="the size m"):
        compile_nodes([op_with("iota", ("m",))], [y])


def test_a_length_that_others_imply():
    """Whether NumPy calls the loop or the kernel does, which has more arguments than a ufunc takes."""
    joined = symbol(Declaration("joined", REAL, (size_sum(["n", "m"]),)))
    more = [array(f"v{i}", "n") for i in range(70)]
    for inputs in ([joined, y, z], [joined, y, z, *more]):
        k = compile_nodes([joined + 1, *(mean(v) for v in inputs[1:])], inputs)
        rest = [np.ones(2), np.ones(3)] + [np.ones(2)] * (len(inputs) - 3)
        assert same_bits(k(np.arange(5.0), *rest)[0], np.arange(1.0, 6.0))
        for length in (0, 1, 4, 6):
            with pytest.raises(ShapeError, match=rf"input 'joined' has shape \({length},\)") as caught:
                k(np.ones(length), *rest)
            assert "m + n is 5, since m is 3 in 'z' of shape (3,) and n is 2 in 'y'" in caught.value.what
            assert caught.value.expected == "y : real[n] and z : real[m] and joined : real[m + n]"


def test_whole_numbers():
    k = compile_nodes([op_with("gather", ((0,),), y, ids)], [y, ids])
    values = np.array([10.0, 20.0, 30.0])
    expected = np.array([30.0, 10.0])
    for good in (
        [2, 0],
        [2.0, 0.0],
        np.array([2, 0], np.uint64),
        np.array([-1, -3], np.int8),
        np.array([2, 0], ">i4"),
    ):
        assert same_bits(k(values, good), expected)
    assert same_bits(k(values, [True, False]), np.array([20.0, 10.0]))
    for bad, words in (
        ([0.5, 1], "one of its values is 0.5"),
        ([np.nan, 1], "one of its values is nan"),
        ([np.inf, 1], "one of its values is inf"),
        ([2.0**63, 1], "one of its values is 9.2233"),
        (np.array([2**63], np.uint64), "one of its values is 9223372036854775808"),
        ([1j, 0], "is complex"),
    ):
        with pytest.raises(ArrayTypeError, match=words):
            k(values, bad)
    with pytest.raises(ArrayTypeError, match="'mask' is float64, but it is declared bool"):
        compile_nodes([op("where", mask, y, -y), mean(y)], [mask, y])([1.0], [1.0])


class TestPositions:
    values = np.array([10.0, 20.0, 30.0])

    def test_inputs(self):
        k = compile_nodes([op_with("gather", ((0,),), y, ids)], [y, ids])
        assert same_bits(k(self.values, [0, -3, 2, -1]), np.array([10.0, 10.0, 30.0, 30.0]))
        with pytest.raises(
            IndexRangeError, match=r"input 'ids' is 3 at \[1\], out of range .* length 3 \(n\)"
        ) as caught:
            k(self.values, [0, 3, 5])
        assert caught.value.expected == "indices from -3 to 2"
        with pytest.raises(IndexRangeError, match=r"input 'ids' is -4 at \[0\]"):
            k(self.values, [-4])
        with pytest.raises(IndexRangeError, match=r"'ids' is 9 at \[1, 0\]"):
            k(self.values, [[0, 1], [9, 2]])
        with pytest.raises(IndexRangeError) as caught:
            k([], [0])
        assert caught.value.expected == "no index at all: the axis is empty"
        assert k([], []).shape == (0,)
        assert k(np.ones((2, 3)), []).shape == (2, 0)

    def test_scatter(self):
        k = compile_nodes([op_with("scatter_add", ((0,), ("n",)), r, ids) + y], [r, ids, y])
        assert same_bits(k([1.0, 2.0], [0, 0], self.values), np.array([13.0, 20.0, 30.0]))
        with pytest.raises(IndexRangeError, match="input 'ids' is 3"):
            k([1.0, 2.0], [0, 3], self.values)

    def test_moved_inputs_are_still_the_input(self):
        grid = array("grid", "n", 5)
        moved = expand(ids, [1])
        k = compile_nodes([op_with("gather", ((0, 1),), grid, moved, moved)], [grid, ids])
        assert k(np.eye(5), [1, 2]).tolist() == [[1.0], [1.0]]
        with pytest.raises(IndexRangeError, match=r"input 'ids' is 4 at \[0\], .*length 4 \(n\)"):
            k(np.ones((4, 5)), [4])
        with pytest.raises(IndexRangeError, match=r"input 'ids' is 6 at \[0\], .*length 5"):
            k(np.ones((7, 5)), [6])

    def test_computed(self):
        k = compile_nodes([op_with("gather", ((0,),), y, ids + 1)], [y, ids])
        assert same_bits(k(self.values, [1, -2]), np.array([30.0, 30.0]))
        assert same_bits(k(self.values, [[1], [0]]), np.array([[30.0], [20.0]]))
        for bad in ([2], [-5], [[0], [2]]):
            with pytest.raises(IndexRangeError, match=r"a computed index is (3|-4) at"):
                k(self.values, bad)

    def test_computed_from_another_position(self):
        inner = op_with("gather", ((0,),), ids, ids + 1)
        k = compile_nodes([op_with("gather", ((0,),), y, inner)], [y, ids])
        assert same_bits(k(self.values, [0, 1, -1]), np.array([20.0, 30.0, 10.0]))
        with pytest.raises(IndexRangeError, match=r"computed index is 7 at \[0\], .*length 3 \(m\)"):
            k(self.values, [6, 0, 0])
        with pytest.raises(IndexRangeError, match=r"computed index is 3 at \[0\], .*length 3 \(n\)"):
            k(self.values, [0, 3, 0, 0, 0])

    def test_computed_from_more_inputs_than_a_ufunc_takes(self):
        many = [array(f"i{j}", "m", domain=INT) for j in range(70)]
        total = many[0]
        for i in many[1:]:
            total = total + i
        k = compile_nodes([op_with("gather", ((0,),), y, total)], [y, *many])
        some = [np.zeros(2, int)] * 69
        assert same_bits(k(self.values, [1, -3], *some), np.array([20.0, 10.0]))
        with pytest.raises(IndexRangeError, match=r"computed index is 3 at \[1\], .*length 3 \(n\)"):
            k(self.values, [0, 1], *some[1:], np.array([0, 2]))

    def test_what_is_always_inside_is_not_checked(self):
        rows = op_with("gather", ((0,),), y, op_with("iota", ("n",)))
        best = op_with("gather", ((0,),), y, op_with("argmax", (0,), y))
        assert guards_of([rows, best]).positions == ()
        k = compile_nodes([rows, best], [y])
        assert k(self.values)[1] == 30
        wrong = op_with("gather", ((0,),), y, op_with("iota", ("m",)))
        k = compile_nodes([wrong], [y, z])
        with pytest.raises(IndexRangeError):
            k(self.values, np.ones(4))

    def test_it_is_an_index_error(self):
        k = compile_nodes([op_with("gather", ((0,),), y, ids)], [y, ids])
        with pytest.raises(IndexError):
            k([1.0], [1])

    def test_the_ufunc_itself_stays_inside(self):
        """Without the checks: nothing is read or written outside, whatever the positions are."""
        k = compile_nodes([op_with("gather", ((0,),), y, ids)], [y, ids])
        wild = np.array([0, 2**62, -(2**62), 3, -4, -(2**63), 2**63 - 1])
        found = k.ufunc(self.values, wild)
        assert found[0] == 10
        assert np.isnan(found[1:]).all()
        k = compile_nodes([op_with("scatter_add", ((0,), ("n",)), r, ids) + y], [r, ids, y])
        assert same_bits(k.ufunc(np.ones(7), wild, self.values), np.array([11.0, 20.0, 30.0]))


def test_the_extreme_of_nothing():
    for name in ("max", "min"):
        k = compile_nodes([op_with(name, ((0, 1),), X)], [X])
        assert k(D) == 1
        with pytest.raises(ShapeError, match=f"{name} of no elements: size n is 0"):
            k(np.ones((0, 5)))
        assert k.ufunc(np.ones((0, 3, 5))).shape == (0,)
        k.ufunc(np.ones((0, 5)))  # any value, no crash
    k = compile_nodes([op_with("argmax", (1,), X)], [X])
    assert k(np.ones((0, 5))).shape == (0,)
    k = compile_nodes([op_with("argmin", (None,), X)], [X])
    with pytest.raises(ShapeError, match="argmin of no elements"):
        k(np.ones((0, 5)))


def test_pickle_copy_and_repr(loss):
    again = pickle.loads(pickle.dumps(loss))
    assert (again.name, again.inputs, again.outputs, again.dtype) == (
        "loss",
        ("X", "w", "y"),
        loss.outputs,
        np.float64,
    )
    assert again(D, V, T)[0] == 16
    assert copy.deepcopy(loss) is loss
    assert repr(loss) == "<Kernel loss(X, w, y) -> 2 outputs, float64>"
    assert loss.ufunc.__name__ == "loss"
    assert loss.ufunc.signature == "(n,5),(5),(n)->(),(n)"
    assert "define" in loss.llvm_ir
    assert loss.asm.strip()


def test_no_ufunc():
    k = compile_nodes([op_with("iota", (3,))], [])
    with pytest.raises(KernelError, match="0 inputs"):
        _ = k.ufunc


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_whole_numbers_are_exact_in_every_dtype(dtype):
    i = array("i", "n", domain=INT)
    k = compile_nodes([op_with("max", ((0,),), i), i + 1], [i], dtype=dtype)
    big = 2**53 - 2
    top, more = k([big, 3])
    assert (top, more.tolist(), more.dtype) == (big, [big + 1, 4], np.int64)
