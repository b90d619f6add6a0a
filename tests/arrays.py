"""Array programs to test on: symbols with shapes, one program for every array op, and values for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.autodiff.recurrences import recur
from symgrad.ir.graph import OPS, Node, as_node, symbol
from symgrad.ir.sizes import Size, evaluate_size
from symgrad.ir.types import INT, REAL, Declaration, Domain
from symgrad.ops.array.contraction import contract
from symgrad.ops.array.layout import slice_axes, unslice
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import matrices, products
from symgrad.ops.numpy.subscripts import index, take_along_axis
from symgrad.ops.scalar.hyperbolic import tanh

__all__ = ["PROGRAMS", "RECURRENCES", "SIZES", "random_value", "symbol_of"]

SIZES: Sequence[Mapping[str, int]] = (
    {"n": 4, "m": 3, "b": 2},
    {"n": 1, "m": 1, "b": 1},
    {"n": 5, "m": 1, "b": 3},
)
"""Values for the named sizes of PROGRAMS."""


def symbol_of(name: str, *shape: Size, domain: Domain = REAL) -> Node:
    """Return a symbol."""
    return symbol(Declaration(name, domain, tuple(shape)))


def random_value(node: Node, sizes: Mapping[str, int], rng: np.random.Generator) -> Any:
    """Return an array for a symbol; whole numbers are positions in an axis of length 1 or more."""
    shape = tuple(evaluate_size(s, sizes) for s in node.shape)
    if node.dtype == "int":
        return rng.integers(-1, 1, shape)
    return rng.normal(size=shape)


X, Y = symbol_of("X", "n", "m"), symbol_of("Y", "n", "m")
V, W = symbol_of("v", "m"), symbol_of("w", "n")
A, T = symbol_of("A", "n", "n"), symbol_of("T", "b", "n", "m")
S = symbol_of("s")
Q = symbol_of("Q", "b", "n", "n")
REGULAR = A + 4 * build.identity("n")
DEFINITE = products.matmul(A, build.matrix_transpose(A)) + build.identity("n")
REGULARS = Q + 4 * build.identity("n")
IDS = symbol_of("ids", "b", 3, domain=INT)
_OP = OPS.__getitem__


def _recurrence() -> Node:
    """Return the values of a recurrence that runs back over the rows of X."""
    h, x = symbol_of("h", "m"), symbol_of("x", "m")
    return recur([V], [h], [tanh(h * S) + x], {x: X}, "n", reverse=True)[0]


def _recurrences() -> list[Node]:
    """Return the values of two recurrences over the rows of X, with one more than rows of X."""
    h, c, x = symbol_of("h", "m"), symbol_of("c"), symbol_of("x", "m")
    step = [tanh(h * S + x * c), c / 2 + build.total(h * x)]
    return recur([V, S], [h, c], step, {x: X}, "n")


RECURRENCES = ("recurrence", "recurrences", "values side by side")
"""The programs that verdicts write out, or prove by induction: the checker reads no steps."""

PROGRAMS: Mapping[str, Callable[[], Node]] = {
    "recurrence": lambda: _recurrence(),
    "recurrences": lambda: build.total(_recurrences()[0] ** 2) * _recurrences()[1],
    "values side by side": lambda: OPS["pack"](X, W, params=(1,)),
    "matmul": lambda: products.matmul(X, V),
    "matmul of a batch": lambda: products.matmul(T, build.matrix_transpose(X)),
    "least squares": lambda: build.reduce_axes("mean", (products.matmul(X, V) - W) ** 2),
    "three factors": lambda: contract([X, A, W], [(0, 1), (2, 0), (2,)], (1,)),
    "outer": lambda: products.outer(V, W),
    "trace": lambda: products.trace(products.matmul(A, A)),
    "diagonal": lambda: products.diag(A) * W,
    "diagonal matrix": lambda: products.matmul(products.diag(W), X),
    "diagonal summed": lambda: contract([A, W], [(0, 0), (0,)], ()),
    "unused axis": lambda: contract([X, A], [(0, 1), (2, 3)], (0,)),
    "the same operand twice": lambda: contract([X, X], [(0, 1), (0, 1)], (0,)),
    "inv": lambda: matrices.inv(REGULAR),
    "inv of a stack": lambda: matrices.inv(REGULARS),
    "det": lambda: matrices.det(REGULAR) * S,
    "det of a stack": lambda: matrices.det(REGULARS),
    "logdet": lambda: matrices.logdet(REGULAR),
    "logdet of a stack": lambda: matrices.logdet(REGULARS),
    "expm": lambda: matrices.expm(A / 4),
    "expm of a stack": lambda: matrices.expm(Q / 4),
    "sinm": lambda: matrices.sinm(A / 4),
    "cosm of a stack": lambda: matrices.cosm(Q / 4),
    "expm_frechet": lambda: matrices.expm_frechet(A, A * S),
    "sinm_frechet of a stack": lambda: matrices.sinm_frechet(Q, Q * Q),
    "cosm_frechet": lambda: matrices.cosm_frechet(A, products.outer(W, W)),
    "solve": lambda: matrices.solve(REGULAR, W),
    "solve for matrices": lambda: matrices.solve(REGULAR, X),
    "solve for a stack": lambda: matrices.solve(REGULAR, T),
    "solve of a stack": lambda: matrices.solve(REGULARS, X),
    "solve of a stack for a vector": lambda: matrices.solve(REGULARS, W),
    "cholesky": lambda: matrices.cholesky(DEFINITE),
    "cholesky of a stack": lambda: matrices.cholesky(Q + 9 * build.identity("n")),
    "solve_triangular": lambda: matrices.solve_triangular(REGULAR, W),
    "solve_triangular by a factor": lambda: matrices.solve_triangular(
        matrices.cholesky(DEFINITE), X, lower=True
    ),
    "matrix_power": lambda: matrices.matrix_power(A, 3),
    "kron": lambda: matrices.kron(X, A),
    "broadcast rows": lambda: X * V,
    "broadcast columns": lambda: X + build.expand_dims(W, 1) * S,
    "scalar times array": lambda: S * X + S,
    "reshape": lambda: build.reshaped(X * X, ("m", "n")),
    "reshape to a vector": lambda: build.reshaped(X, (-1,)) ** 2,
    "broadcast_to": lambda: build.broadcast(V * V, ("n", "m")),
    "transpose": lambda: build.permute(T, (2, 0, 1)) ** 2,
    "slice": lambda: index(X * X, (slice(1, None, 2), slice(None, None, -1))),
    "slice from the end": lambda: index(X * X, (slice(-2, None), slice(None, -1))),
    "unslice": lambda: unslice(
        slice_axes(X * X, [(1, None, 1), (None, None, 1)]),
        params=(((1, None, 1), (None, None, 1)), ("n", "m")),
    ),
    "concatenate": lambda: build.join([X * X, 3 * X, Y], 0),
    "concatenate columns": lambda: build.join([X, Y * Y], 1),
    "stack": lambda: build.stack([X * Y, Y], 1),
    "sum": lambda: build.total(X * X, 0),
    "mean": lambda: build.reduce_axes("mean", X**3, 1),
    "variance": lambda: build.var(X, 0, ddof=0),
    "max": lambda: build.reduce_axes("max", X, 1),
    "max of all": lambda: build.reduce_axes("max", X * Y),
    "min": lambda: build.reduce_axes("min", X * V, 0),
    "prod": lambda: build.reduce_axes("prod", X, 1),
    "prod of all": lambda: build.reduce_axes("prod", T, (0, 2)),
    "prod_except": lambda: _OP("prod_except")(X, params=(0,)),
    "logsumexp": lambda: build.reduce_axes("logsumexp", X, 1),
    "softmax": lambda: build.over_axes("softmax", X, 1),
    "softmax of all": lambda: build.over_axes("softmax", X),
    "log_softmax": lambda: build.over_axes("log_softmax", X, 0),
    "norm": lambda: build.vector_norm(X, axis=1),
    "norm of all": lambda: build.vector_norm(X),
    "norm 1": lambda: build.vector_norm(X, 1, axis=0),
    "norm inf": lambda: build.vector_norm(X, "inf", axis=0),
    "cumsum": lambda: build.cumulative_sum(X, 0),
    "cumsum reversed": lambda: _OP("cumsum")(X * X, params=(1, 1)),
    "logcumsumexp": lambda: _OP("logcumsumexp")(X * X, params=(0,)),
    "gather rows": lambda: index(X * X, IDS),
    "gather columns": lambda: index(X * X, (slice(None), IDS)),
    "gather pairs": lambda: index(X, (IDS, IDS)),
    "gather one": lambda: index(X, 0),
    "take_along_axis": lambda: take_along_axis(T, build.reshaped(IDS, ("b", 1, 3)), 2),
    "scatter_add": lambda: _OP("scatter_add")(index(X, IDS) ** 2, IDS, params=((0,), (9, "m"))),
    "one_hot": lambda: build.total(build.onehot(IDS, "m") * V, -1),
    "argmax": lambda: index(V * V, _OP("argmax")(V, params=(0,))),
    "argmin": lambda: index(V * V, _OP("argmin")(V, params=(0,))),
    "eye": lambda: build.identity("n") * A,
    "arange": lambda: build.arange("n") * W,
    "size": lambda: build.total(X) / as_node(1) * build.count(X, (0,)),
    "cross entropy": lambda: (
        build.total(build.onehot(index(IDS, (slice(None), 0)), "m"), -1)
        * build.reduce_axes("logsumexp", build.reduce_axes("mean", index(X, IDS), 1), 1)
    ),
}
