"""torch's linear algebra as expressions."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

import math
from typing import Any, cast

from symgrad.api.functions import arrays as a
from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.functions import matrices as m
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.linear import sign_and_logdet, solve_matrix, triangle
from symgrad.interop.importers.torch.ops.layout import axis_of
from symgrad.interop.importers.torch.ops.reductions import norm
from symgrad.interop.importers.torch.table import RefusedError, aten, aten_rows

__all__: list[str] = []


@aten("logdet")
def logdet(self: Any) -> Expr:
    # torch returns the logarithm of the determinant itself: NaN if the determinant is negative.
    return m.logdet(self) + f.log(f.sign(m.det(self)))


@aten("linalg_solve")
def solve(A: Any, B: Any, left: bool = True) -> Expr:
    # As in torch, B is a stack of vectors if it has one axis, or the shape of A without its last axis.
    vectors = len(B.shape) == 1 or B.shape == A.shape[:-1]
    if not vectors:
        return solve_matrix(A, B, left=left)
    if not left:
        raise RefusedError("vectors on the left", cure="left=True, or matrices")
    return l.squeeze(solve_matrix(A, B[..., None]), len(A.shape) - 1)


@aten("linalg_solve_triangular")
def solve_triangular(self: Any, B: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> Expr:
    return solve_matrix(triangle(self, lower=not upper, unit=unitriangular), B, left=left)


@aten("triangular_solve")
def triangular_solve(
    self: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> list[Expr]:
    return [solve_matrix(triangle(A, lower=not upper, unit=unitriangular), self, transpose=transpose), A]


@aten("cholesky_solve")
def cholesky_solve(self: Any, input2: Any, upper: bool = False) -> Expr:
    factor = triangle(input2, lower=not upper)
    factor = l.swapaxes(factor, -1, -2) if upper else factor
    return solve_matrix(factor, solve_matrix(factor, self), transpose=True)


@aten("linalg_multi_dot", "chain_matmul")
def multi_dot(tensors: Any = None, matrices: Any = None) -> Expr:
    factors: list[Any] = matrices if tensors is None else tensors
    product = factors[0]
    for factor in factors[1:]:
        product = product @ factor
    return product


@aten("trace")
def trace(self: Any) -> Expr:
    n = min(self.shape) if all(isinstance(k, int) for k in self.shape) else self.shape[0]
    return m.trace(self[:n, :n])


@aten("linalg_cross", "cross")
def cross(self: Any, other: Any, dim: int = -1) -> Expr:
    x, y = (l.moveaxis(e, axis_of(e, dim), -1) for e in (self, other))
    parts = [x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return l.moveaxis(l.stack(parts, len(parts[0].shape)), -1, dim)


@aten("linalg_norm")
def linalg_norm(self: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Expr:
    axes = 1 if not isinstance(dim, list) else len(cast("list[int]", dim))
    if ord is not None and (len(self.shape) if dim is None else axes) != 1:
        return matrix_norm(self, ord, [-2, -1] if dim is None else dim, keepdim)
    return norm(self, ord=2 if ord is None else ord, dim=dim, keepdim=keepdim)


@aten("linalg_matrix_norm")
def matrix_norm(self: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False) -> Expr:
    if ord != "fro":
        raise RefusedError(f"a norm of matrices of order {ord}", expected="fro")
    return norm(self, ord=2, dim=list(dim), keepdim=keepdim)


@aten("cdist")
def cdist(x1: Any, x2: Any, p: float = 2.0) -> Expr:
    apart = x1[..., :, None, :] - x2[..., None, :, :]
    if p not in (1, 2, math.inf):
        raise RefusedError(f"distances of order {p}", expected="1, 2 or inf")
    return norm(apart, p=p, dim=-1)


@aten("tensordot")
def tensordot(self: Any, other: Any, dims_self: Any, dims_other: Any) -> Expr:
    return a.tensordot(self, other, axes=(list(dims_self), list(dims_other)))


def _matrix(self: Any = None, A: Any = None) -> Any:
    """Return the matrix argument of an operation, which has one of two names."""
    return A if self is None else self


# ------------------------------------------------------------------------------------------------- rules of one line

aten_rows(
    {
        "det linalg_det": lambda self=None, A=None: m.det(_matrix(self, A)),
        "slogdet linalg_slogdet": lambda self=None, A=None: sign_and_logdet(_matrix(self, A)),
        "cholesky linalg_cholesky": lambda self, upper=False: m.cholesky(self, upper=upper),
        "inverse linalg_inv": lambda self=None, A=None: m.inv(_matrix(self, A)),
        "matrix_power linalg_matrix_power": lambda self, n: m.matrix_power(self, n),
        "matrix_exp linalg_matrix_exp": lambda self: m.expm(self),
        "kron": lambda self, other: m.kron(self, other),
    }
)
