"""Array expressions as one writes them on paper."""

from __future__ import annotations

import pytest

from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node, number, size_node, symbol
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ops.array.matrix_functions import expm, sinm_frechet
from symgrad.ops.numpy.calls import (
    arange,
    broadcast,
    cumulative_sum,
    expand_dims,
    identity,
    join,
    matrix_transpose,
    onehot,
    over_axes,
    permute,
    reduce_axes,
    reshaped,
    total,
    vector_norm,
)
from symgrad.ops.numpy.products import diag, dot, einsum_text, matmul, outer, trace
from symgrad.ops.numpy.subscripts import index, take
from symgrad.ops.scalar.arith import div, mul, neg
from symgrad.ops.scalar.arith import pow as power
from symgrad.printing.latex.expressions import latex


def array(name: str, *shape: int | str) -> Node:
    return symbol(Declaration(name, REAL, shape))


X, z, W = array("X", "n", 5), array("z", "n", 5), array("W", 4, 5)
w, y, b, c = array("w", 5), array("y", "n"), array("b", 4), array("c")
A, B, T, t = array("A", 3, 3), array("B", 3, 3), array("T", "V", "d"), array("t", 3, 4, 5)
ids = symbol(Declaration("ids", INT, ("m",)))
n, two = size_node("n"), number(2)
r = matmul(X, w) - y

SPELLINGS = {
    r"X w - y": r,
    r"\operatorname{mean}\left(\left(X w - y\right)^{2}\right)": reduce_axes("mean", r**2),
    r"\left\lVert X w - y \right\rVert^{2}": total(r**2),
    r"\left\lVert A \right\rVert_{F}^{2}": total(power(A, two)),
    r"\frac{2}{n} X^{\top} \left(X w - y\right)": div(mul(two, matmul(matrix_transpose(X), r)), n),
    r"\frac{1}{n} X^{\top} \left(X w - y\right)": div(einsum_text("ij,i->j", X, r), n),
    r"-\frac{2}{n} w": div(mul(number(-2), w), n),
    r"-\frac{1}{c} A B": div(neg(matmul(A, B)), c),
    r"\frac{w}{c}": div(w, c),
    r"\frac{w}{w + 1}": div(w, w + 1),
    r"w^{\top} w": dot(w, w),
    r"\left(w^{\top} w\right) c w": mul(mul(dot(w, w), c), w),
    r"W^{\top} b": matmul(b, W),
    r"b^{\top} W w": matmul(matmul(b, W), w),
    r"b w^{\top} W^{\top}": outer(b, matmul(W, w)),
    r"w^{\top} W^{\top} W w": dot(matmul(W, w), matmul(W, w)),
    r"w y^{\top}": outer(w, y),
    r"W w y^{\top}": einsum_text("ij,j,k->ik", W, w, y),
    r"w y^{\top} X": einsum_text("i,j,jk->ik", w, y, X),
    r"A \left(A \odot B\right)": matmul(A, mul(A, B)),
    r"\left(A B\right) \odot A": mul(matmul(A, B), A),
    r"A \odot \left(A B\right)": mul(A, matmul(A, B)),
    r"-A \odot B": neg(mul(A, B)),
    r"c A \odot B": mul(c, mul(A, B)),
    r"\left(c A B\right) \odot A": mul(mul(c, matmul(A, B)), A),
    r"A \left(2 B\right)": matmul(A, mul(two, B)),
    r"2 A B": mul(matmul(A, B), two),
    r"A^{\circ 2}": power(A, two),
    r"w^{2}": power(w, two),
    r"\left(A^{\circ 2}\right)^{\top}": matrix_transpose(power(A, two)),
    r"\sum_{i} w_{i}": total(w),
    r"\left(\sum_{i} w_{i}\right) w": mul(total(w), w),
    r"\operatorname{sum}_{0}\left(X\right)": total(X, 0),
    r"\operatorname{sum}_{1}\left(X \odot z\right)": total(mul(X, z), 1),
    r"\operatorname{sum}\left(X \odot z\right)": einsum_text("ij,ij->", X, z),
    r"\operatorname{tr}\left(A\right)": trace(A),
    r"\operatorname{tr}\left(A B\right)": einsum_text("ij,ji->", A, B),
    r"\operatorname{diag}\left(w\right)": diag(w),
    r"\operatorname{expm}\left(A B\right)": expm(matmul(A, B)),
    r"L_{\operatorname{sinm}}\left(A, B\right)": sinm_frechet(A, B),
    r"X \operatorname{diag}\left(w\right)": einsum_text("ij,j->ij", X, w),
    r"\operatorname{diag}\left(y\right) X": einsum_text("ij,i->ij", X, y),
    r"\left[A_{i j} B_{j k}\right]_{i j k}": einsum_text("ij,jk->ijk", A, B),
    r"\left[\sum_{k} t_{i j k} X_{l k}\right]_{i j l}": einsum_text("ijk,lk->ijl", t, X),
    r"\operatorname{softmax}_{1}\left(z\right)": over_axes("softmax", z, 1),
    r"\operatorname{softmax}\left(y\right)": over_axes("softmax", y),
    r"\operatorname{log\_softmax}\left(y\right)": over_axes("log_softmax", y),
    r"\operatorname{logsumexp}_{1}\left(z\right)": reduce_axes("logsumexp", z, axis=1),
    r"\left\lVert w \right\rVert": vector_norm(w),
    r"\left\lVert X \right\rVert_{F}": vector_norm(X),
    r"\left\lVert X \right\rVert_{\text{axis } 1}": vector_norm(X, axis=1),
    r"\max_{0}\left(z\right)": reduce_axes("max", z, axis=0),
    r"\operatorname{prod}\left(w\right)": reduce_axes("prod", w),
    r"T_{\mathrm{ids}}": take(T, ids, 0),
    r"T_{:, \mathrm{ids}}": take(T, ids, 1),
    r"A_{\mathrm{ids}, \mathrm{ids}}": index(A, (ids, ids)),
    r"X_{1:}": index(X, (slice(1, None),)),
    r"X_{:-1}": index(X, (slice(None, -1),)),
    r"w_{4}": index(w, -1),
    r"t_{::2, 1}": index(t, (slice(None, None, 2), 1)),
    r"w_{:, \ast}": expand_dims(w, 1),
    r"\frac{X}{\operatorname{sum}_{1}\left(X\right)_{:, \ast}}": div(X, total(X, 1, True)),
    r"w - \operatorname{mean}\left(w\right)": w - reduce_axes("mean", w, None, True),
    r"\mathbf{1}_{n \times 5}": broadcast(as_node(1), ("n", 5)),
    r"\mathbf{0}_{3}": broadcast(as_node(0), (3,)),
    r"c \mathbf{1}_{3}": broadcast(c, (3,)),
    r"\operatorname{broadcast}_{3 \times 5}\left(w\right)": broadcast(w, (3, 5)),
    r"\operatorname{reshape}_{9}\left(A\right)": reshaped(A, 9),
    r"\operatorname{transpose}_{2, 1, 0}\left(t\right)": permute(t),
    r"I_{n}": identity("n"),
    r"I_{2 \times 3}": identity(2, 3),
    r"\left(0, \ldots, n - 1\right)": arange("n"),
    r"\operatorname{onehot}_{7}\left(\mathrm{ids}\right)": onehot(ids, 7),
    r"\operatorname{concatenate}_{1}\left(A, B\right)": join([A, B], 1),
    r"\operatorname{cumsum}\left(w\right)": cumulative_sum(w),
    r"\operatorname{cumsum}^{\leftarrow}_{0}\left(A\right)": OPS["cumsum"](A, params=(0, 1)),
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_spelling(text: str) -> None:
    assert latex(SPELLINGS[text]) == text


@pytest.mark.parametrize("text", [t for t in SPELLINGS if r"\text" not in t])
def test_it_typesets(text: str) -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    # mathtext knows the long names alone, and no \lVert.
    for short, long in ((r"\lVert", r"\|"), (r"\rVert", r"\|")):
        text = text.replace(short, long)
    mathtext.MathTextParser("path").parse(f"${text}$")


def grads(loss: Node, *wrt: Node) -> list[str]:
    return [latex(g) for g in pull_back([loss], [as_node(1)], wrt).gradients]


def test_gradients_as_the_backward_pass_makes_them() -> None:
    h = matmul(W, w) + b
    assert grads(total(OPS["tanh"](h)), b) == [r"\operatorname{sech}^{2}\left(W w + b\right)"]
    assert grads(total(OPS["tanh"](h)), W) == [r"\operatorname{sech}^{2}\left(W w + b\right) w^{\top}"]
    assert grads(total(reduce_axes("logsumexp", z, axis=1)), z) == [
        r"\operatorname{softmax}_{1}\left(z\right)"
    ]
    assert grads(total(power(take(T, ids, 0), two)), T) == [
        r"\operatorname{scatter\_add}_{V \times d}\left(2 T_{\mathrm{ids}}, \mathrm{ids}\right)"
    ]
    assert grads(total(power(index(w, slice(1, None)), two)), w) == [
        r"\operatorname{pad}_{5}\left(2 w_{1:};\ 1:\right)"
    ]


def test_a_named_product_stays_a_name() -> None:
    product = mul(two, w)
    assert latex(div(product, c), {product: "g"}) == r"\frac{g}{c}"
    sliced = index(A, (slice(0, 1),))
    assert latex(reshaped(sliced, 3), {sliced: "row"}) == r"\mathrm{row}_{0}"


def test_a_long_product_of_products() -> None:
    row = w = array("w", 3)
    for _ in range(5_000):
        row = matmul(row, A)
    assert latex(dot(row, w)).count("A") > 10
