"""Linear algebra of TensorFlow as expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from symgrad.api.functions.arrays import einsum
from symgrad.api.functions.elementary import where
from symgrad.api.functions.layout import arange, expand_dims, swapaxes
from symgrad.api.functions.matrices import cholesky, det, expm, inv
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.linear import sign_and_logdet, solve_matrix, triangle
from symgrad.interop.importers.tensorflow.ops import Value, expr_of, known_ints, number_of, of
from symgrad.support.errors import UnsupportedError


def _inverse(op: Any, x: Value) -> Expr:
    e = expr_of(x)
    return inv(swapaxes(e, -1, -2) if op.attribute("adjoint") else e)


def _solve(op: Any, a: Value, b: Value) -> Expr:
    return solve_matrix(expr_of(a), expr_of(b), transpose=bool(op.attribute("adjoint")))


def _triangular_solve(op: Any, a: Value, b: Value) -> Expr:
    half = triangle(expr_of(a), lower=bool(op.attribute("lower")))
    return solve_matrix(half, expr_of(b), transpose=bool(op.attribute("adjoint")))


def _main_diagonal(offset: Value) -> None:
    if known_ints(offset, "a diagonal") != [0]:
        raise UnsupportedError("diagonals beside the main one")


def _diagonal(_: Any, x: Value, offset: Value | None = None, padding: Value | None = None) -> Expr:
    del padding
    if offset is not None:
        _main_diagonal(offset)
    e = expr_of(x)
    n = min(cast("tuple[int, int]", e.shape[-2:]))
    return einsum("...ii->...i", e[..., :n, :n])


def _with_diagonal(
    op: Any,
    x: Value,
    offset: Value | None = None,
    rows: Value | None = None,
    columns: Value | None = None,
    padding: Value | None = None,
) -> Expr:
    del rows, columns
    if offset is not None:
        _main_diagonal(offset)
    border = 0 if padding is None else number_of(padding)
    e, shape = expr_of(x), op.shape(0)
    if border is None or shape[-2:] != (e.shape[-1],) * 2:
        raise UnsupportedError("a diagonal in an array that is larger than it")
    n = arange(shape[-1])
    return where(n[:, None] == n[None, :], expand_dims(e, -1), border)


LINEAR: Mapping[str, Callable[..., Any]] = {
    "Cholesky": of(lambda _, x: cholesky(expr_of(x))),
    "LogMatrixDeterminant": of(lambda _, x: sign_and_logdet(expr_of(x))),
    "MatrixDeterminant": of(lambda _, x: det(expr_of(x))),
    "MatrixDiag": _with_diagonal,
    "MatrixDiagPart": _diagonal,
    "MatrixDiagPartV3": _diagonal,
    "MatrixDiagV3": _with_diagonal,
    "MatrixExponential": of(lambda _, x: expm(expr_of(x))),
    "MatrixInverse": _inverse,
    "MatrixSolve": _solve,
    "MatrixTriangularSolve": _triangular_solve,
}
"""For each type of operation: a function of the operation and of its values."""
