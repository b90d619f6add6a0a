"""Array programs as text: what is printed reads back as the same node, in the spelling that one would choose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.autodiff.vjp import pull_back
from symgrad.errors import RedefinitionError
from symgrad.frontend.text import parse_expression, parse_program
from symgrad.ir.graph import OPS, SYMBOL, Node, as_node, symbol
from symgrad.ir.notation.literals import size_text
from symgrad.ir.notation.printer import expression_text, program_text
from symgrad.ir.sizes import Size, size_ceildiv, size_max, size_min, size_product, size_sum
from symgrad.ir.traverse import topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import products
from symgrad.ops.numpy.lengths import as_size
from tests.graphs_arrays import MOVES, SYMBOLS, random_arrays

NAMES = {s.name: s for s in SYMBOLS}
X, A, V, W = (NAMES[n] for n in "XAvw")
SEEDS = st.integers(0, 2**32)


def read(text: str) -> Node:
    return parse_expression(text, NAMES)


@given(SEEDS)
def test_random_arrays_read_back(seed: int) -> None:
    for node in random_arrays(seed):
        assert read(expression_text(node)) is node


@given(SEEDS)
def test_random_programs_read_back(seed: int) -> None:
    # Names that temporaries must leave alone.
    outputs = {f"t{i}": n for i, n in enumerate(random_arrays(seed, 20)[-3:])}
    listing = parse_program(program_text(outputs))
    assert {name: listing[name] for name in outputs} == outputs


@given(SEEDS)
def test_gradients_read_back(seed: int) -> None:
    y = random_arrays(seed, 6)[-1]
    loss = build.total(y * y)
    wrt = [n for n in topological([loss]) if n.op is SYMBOL and n.dtype == "real"]
    gradients = pull_back([loss], [as_node(1)], wrt).gradients
    outputs = {f"g{i}": g for i, g in enumerate(gradients)}
    listing = parse_program(program_text(outputs, declared=SYMBOLS))
    assert {name: listing[name] for name in outputs} == outputs


@pytest.mark.parametrize("name", MOVES)
def test_every_move_is_drawn(name: str) -> None:
    # A move that never succeeds would leave the properties above without its ops.
    assert len(random_arrays(1, 5, [name])) == 5


SAME = [
    "X.T@(X@v - w)", "X@v", "w@X", "X.T@w", "v@X.T", "v@v", "B@C", "B.T@C.T", "C.T@B.T", "A@A@A", "A@(A@A)",
    "A.T@A", "T@v", "w@T", "T@X.T", "X.T@A@T", "2*X", "2*A@w",
    "-A@w", "(2*A)@w", "(-A)@w", "2*(w@w)", "-(w@w)", "2*A@A.T@w", "-2*A@w/3", "A@-w", "A@w*2", "A@w/2",
    "(A@w)**2", "(A + A).T", "(A@w)[0]", "X.T", "T.T", "transpose(T, (1, 0, 2))", "outer(v, w)", "trace(A)",
    "trace(A@A)", "inv(A)", "inv(A.T).T@w", "w@inv(A)@X", "det(A)*inv(A).T", "logdet(2*A)", "solve(A, w)",
    "expm(A)", "expm(2*A).T@w", "sinm(A)@cosm(A)", "expm_frechet(A, A.T)", "sinm_frechet(A, A)", "cosm_frechet(A, A)",
    "solve(A.T, X)", "diag(A)", "diag(v)", "sum(X)", "sum(X, axis=0)", "sum(T, axis=(0, 2))",
    "sum(X, axis=1, keepdims=True)", "sum(X*X)", "sum(X, keepdims=True)", 'einsum("ij,ij->", X, X)',
    'einsum("ij,jk->ki", A, X)', 'einsum("ij,jk,k->i", A, X, v)', 'einsum("ij,j->i", A.T, w)', "mean(X)",
    "mean(X, axis=0)", "max(X, axis=0)", "min(X)", "prod(X, axis=1)", "norm(X)",
    "norm(X, axis=1, keepdims=True)", "logsumexp(X, axis=1)", "softmax(X, axis=1)", "log_softmax(v)",
    "argmax(X)", "argmax(X, axis=1)", "argmax(v, axis=0, keepdims=True)", "argmax(v, keepdims=True)",
    "cumsum(X, axis=0)", "cumsum(v, axis=0, reverse=True)", "prod_except(X, axis=1)", "mean(v, axis=())",
    "X[1:]", "X[:, ::-1]", "X[:-1]", "X[1:n - 1]", "X[:, None, :]", "v[None, :]", "s[None]", "B[0]",
    "B[:, 1]", "B[2, 0]", "R[0, 1:, 0]", "squeeze(O)", "squeeze(E, axis=0)", "reshape(X, (m*n,))",
    "reshape(B, (2, 3))", "reshape(v, (m,))", "reshape(X[:, None, :], (n, 1, m, 1))",
    "broadcast_to(v, (n, m))", "broadcast_to(X, (n, m))", "zeros((n, 5))", "zeros(n)", "ones((2, n + 1))",
    "full((n, 5), 1/3)", "full(n, s)", "X[ids]", "X[:, ids]", "X[ids, ids]", "X[k]", "X[-1]",
    "T[ids, :, ids]", "gather(stack((T, T)), ids, ids, axes=(1, 3))", "gather(B, 0, axes=(0,))", "B[[0, 2]]",
    "T[1, k]", "T[0, k, -1]", "B[k, 1]", "T[:, 1:][0, k]",
    "B[rows, [0, 1]]", "X[arange(n)[:, None], ids[None, :]]", "concatenate((X, X), axis=1)",
    "concatenate((v,), axis=0)", "stack((v, v))", "stack((v, v), axis=1)", "stack((s, 1, k))",
    "one_hot(ids, m)", "eye(n)", "eye(n, 3)", "arange(2*n)", "n", "n*s", "sum(X)/n",
    "pad(v[1:], (1, 0))", "pad(X, ((0, 0), (2, 1)))", "unslice(v[::2], ((None, None, 2),), (m,))",
    "slice(v, ((0, m, 1),))", "slice(v, ((None, None, 1),))",
    "scatter_add(X[ids], ids, shape=(n, m))",
    "scatter_add(X[ids, ids], ids, ids, axes=(0, 1), shape=(n, m))", "arange(maximum(n - 1, 0))",
    "arange(ceil(n/2))", "arange(ceil((n + 1)/2))", "arange(minimum(2, n))",
]  # fmt: skip


@pytest.mark.parametrize("text", SAME)
def test_spelling(text: str) -> None:
    assert expression_text(read(text)) == text


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("matmul(A, w)", "A@w"),
        ("dot(A, w)", "A@w"),
        ("inner(A, X.T)", "A@X.T.T"),
        ("transpose(A)@w", "A.T@w"),
        ("swapaxes(A, 0, 1)@w", "A.T@w"),
        ("tensordot(A, X, 1)", "A@X"),
        ("moveaxis(T, 0, -1)", "transpose(T, (1, 2, 0))"),
        ("einsum('ij,jk', A, X)", "A@X"),
        ("einsum('...j,j', X, v)", "X@v"),
        ("expand_dims(v, 0)", "v[None, :]"),
        ("X[..., 1:]", "X[:, 1:]"),
        ("B[-1]", "B[2]"),
        ("X[0:n]", "X"),
        ("flip(v)", "v[::-1]"),
        ("take(X, [0, -1], axis=1)", "X[:, [0, -1]]"),
        ("amax(X, 0)", "max(X, axis=0)"),
        ("norm(v, ord=2)", "norm(v)"),
        ("norm(v, ord=1)", "sum(abs(v))"),
        ("zeros_like(X)", "zeros((n, m))"),
        ("X[maximum(n - 3, 0):]", "X[n - 3:]"),
        ("X[:maximum(n - 3, 0)]", "X[:n - 3]"),
        ("X[:, :maximum(n - 3, 0)]", "X[:, :n - 3]"),
        ("reshape(X, (-1,))", "reshape(X, (m*n,))"),
    ],
)
def test_other_spellings(text: str, shorter: str) -> None:
    assert expression_text(read(text)) == shorter


def test_names_stand_for_what_is_inside_a_spelling() -> None:
    total = build.total(X, 1)
    node = OPS["reshape"](total, params=(("n", 1),))
    assert expression_text(node) == "sum(X, axis=1, keepdims=True)"
    assert expression_text(node, {total: "y"}) == "y[:, None]"
    rows = build.stack([V, V])
    assert expression_text(rows, {rows.args[0]: "y"}) == "concatenate((y, y), axis=0)"


def test_a_transpose_with_a_name_is_part_of_a_product_too() -> None:
    turned = build.matrix_transpose(A)
    text = program_text({"At": turned, "y": products.matmul(turned, W)}, {turned: "At"})
    listing = parse_program(text)
    assert listing["y"] is products.matmul(turned, W)
    # A contraction with the transpose as an operand is another node.
    inner = OPS["einsum"](turned, W, params=(((0, 1), (1,)), (0,)))
    assert parse_program(program_text({"y": inner}, {turned: "At"}))["y"] is inner


SIZES: list[Size] = [
    0,
    7,
    "n",
    size_sum(["n", "m", -1]),
    size_product([3, "n", "n"]),
    size_sum([5, size_product([-1, "n"])]),
    size_max(size_sum(["n", -2]), 0),
    size_min("n", 3),
    size_ceildiv("n", 2),
    size_ceildiv(size_sum(["n", 1]), 3),
    size_product(["m", size_max(size_sum(["n", -2]), 0)]),
    size_ceildiv(size_max(size_sum(["n", -1]), 0), 2),
]


@pytest.mark.parametrize("size", SIZES)
def test_sizes_read_back(size: Size) -> None:
    assert as_size(read(size_text(size))) == size


@pytest.mark.parametrize("text", ["X", "s", "k", "1/2", "n/2", "n**2", "pi", "sqrt(n)", "ceil(n*s)", "n > 2"])
def test_what_is_no_size(text: str) -> None:
    assert as_size(read(text)) is None


def test_a_long_chain_of_products_is_named_in_parts() -> None:
    node = A
    for _ in range(3_000):
        node = products.matmul(A, node)
    listing = parse_program(program_text({"y": node}))
    assert listing["y"] is node


def test_a_size_that_no_symbol_has_is_declared() -> None:
    node = OPS["eye"](params=("rows", 3))
    text = program_text({"y": node})
    assert text == "rows : size\ny = eye(rows, 3)"
    assert parse_program(text)["y"] is node
    assert symbol(Declaration("x", REAL, ("rows",))) is parse_program(text + "\nx : real[rows]")["x"]


def test_a_size_and_a_symbol_of_one_name_are_refused() -> None:
    x, n = symbol(Declaration("x", REAL, ("n",))), symbol(Declaration("n"))
    with pytest.raises(RedefinitionError, match="'n' stands for a size and a symbol"):
        program_text({"y": x * n})
    with pytest.raises(RedefinitionError, match="'n' stands for"):
        program_text({"n": build.total(x)})


@pytest.mark.parametrize("text", ["array([1, 2, 1])", "array([s, s + 1, -2])", "array([[1, s], [s, 1]])"])
def test_arrays_of_entries(text: str) -> None:
    node = read(text)
    assert expression_text(node) == text
    assert read(expression_text(node)) is node
    values = {n: 0.5 for n in topological([node]) if n.op is SYMBOL}
    np.testing.assert_array_equal(evaluate([node], values)[0], eval(text, {"array": np.array, "s": 0.5}))
