"""The Cholesky factor of symmetric matrices in the last two axes, read from their lower triangles.

Let H(X) be the lower triangle of X with half of its diagonal, and A the symmetric matrix with the lower triangle that
is read, A = H(X) + H(X).T. Then dA = L @ dL.T + dL @ L.T gives dL = L @ H(inv(L) @ dA @ inv(L).T), where dL is lower
triangular (I. Murray, Differentiation of the Cholesky decomposition, arXiv 1602.07527, 2016). Entries above the
diagonal are not read, so their derivative is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, as_node, number
from symgrad.ir.op import Kink
from symgrad.ir.sizes import Size
from symgrad.ops.array.contraction import adjoint
from symgrad.ops.array.factors import cholesky_factor
from symgrad.ops.array.indexing import iota
from symgrad.ops.array.layout import expand, full
from symgrad.ops.array.linalg import of_each, of_matrices, product_of, solve, square_shape
from symgrad.ops.scalar.arith import add, mul
from symgrad.ops.scalar.logic import ge, gt, where


def triangle(x: Node, *, lower: bool) -> Node:
    """Return the lower or the upper triangle of matrices, with the diagonal, and zeros elsewhere.

    Raises:
        ShapeError: if the matrices are not square.
    """
    square_shape((x.shape,))
    rows, columns = _positions(x.shape[-2]), iota(params=(x.shape[-1],))
    return where(ge(rows, columns) if lower else ge(columns, rows), x, as_node(0))


def _positions(n: Size) -> Node:
    return expand(iota(params=(n,)), [1])


def _half(x: Node) -> Node:
    """Return the lower triangle of matrices with half of the diagonal."""
    rows, columns = _positions(x.shape[-2]), iota(params=(x.shape[-1],))
    half = where(ge(rows, columns), number(Fraction(1, 2)), as_node(0))
    return mul(where(gt(rows, columns), as_node(1), half), x)


def _symmetric(x: Node) -> Node:
    return add(x, adjoint(x))


def _push(node: Node, _i: int, tangent: Node) -> Node:
    change = _symmetric(_half(full(tangent, node.shape)))
    relative = solve(node, adjoint(solve(node, change)))
    return product_of(node, _half(relative))


def _pull(node: Node, _i: int, cotangent: Node) -> Node:
    relative = _half(product_of(node, full(cotangent, node.shape), left=True))
    upper = adjoint(node)
    return _half(_symmetric(solve(upper, adjoint(solve(upper, adjoint(relative))))))


_CHOLESKY: Callable[[Any], Any] = np.linalg.cholesky


def _evaluate(x: Any) -> Any:
    try:
        found = _CHOLESKY(x)
    except np.linalg.LinAlgError:
        found = of_each(_CHOLESKY, np.shape(x), np.asarray(x))
    # LAPACK may continue after a pivot that is NaN.
    definite = np.all(np.diagonal(found, axis1=-2, axis2=-1) > 0, axis=-1)
    return np.where(definite[..., None, None], found, np.nan)


def _reference(mp: Any, x: Any) -> Any:
    x = np.asarray(x, dtype=object)
    found = np.full(x.shape, mp.mpf(0), dtype=object)
    n = x.shape[-1]
    for at in np.ndindex(*x.shape[:-2]):
        own = found[at]
        for j in range(n):
            pivot = x[at][j, j] - mp.fsum(v * v for v in own[j, :j])
            if not pivot > 0:
                own[:] = mp.nan
                break
            for i in range(j, n):
                rest = x[at][i, j] - mp.fsum(u * v for u, v in zip(own[i, :j], own[j, :j], strict=True))
                own[i, j] = rest / mp.sqrt(pivot)
    return found


cholesky: Op = of_matrices(
    "cholesky",
    doc="the lower triangular L with L @ L.T = x, from the lower triangles of matrices; NaN if there is none",
    shape=square_shape,
    evaluate=_evaluate,
    reference=_reference,
    push=_push,
    pull=_pull,
    native=lambda node, args: cholesky_factor(args[0]),
    total="of definite",
    # The derivatives of the frameworks are those by a symmetric matrix, so what is read is made one.
    source={
        "numpy": "np.linalg.cholesky({0:t})",
        "jax": "jnp.linalg.cholesky(jnp.tril({0:t}) + jnp.tril({0:t}, -1).mT)",
        "torch": "torch.linalg.cholesky(torch.tril({0:t}) + torch.tril({0:t}, -1).mT)",
        "tensorflow": "tf.linalg.cholesky(tf.linalg.band_part({0:t}, -1, 0) + "
        "tf.linalg.matrix_transpose({0:t} - tf.linalg.band_part({0:t}, 0, -1)))",
        "keras": "ops.cholesky(ops.tril({0:t}) + ops.swapaxes(ops.tril({0:t}, -1), -1, -2))",
    },
    latex=r"\operatorname{{cholesky}}\left({0}\right)",
    kink=Kink("singular matrices", (), (), "there is a factor of positive definite matrices only, else NaN"),
)
