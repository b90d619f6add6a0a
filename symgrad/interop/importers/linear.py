"""Linear algebra as frameworks call it: with triangles, transposes and signs, built from existing ops."""

from __future__ import annotations

import symgrad.api.functions.elementary as fn
from symgrad.api.functions.layout import arange, swapaxes
from symgrad.api.functions.matrices import det, logdet, solve
from symgrad.api.handles.expr import Expr


def triangle(a: Expr, *, lower: bool, diagonal: int = 0, unit: bool = False) -> Expr:
    """Return the entries of matrices on one side of a diagonal, and zeros on the other side.

    Args:
        a: matrices.
        lower: whether to keep the lower side.
        diagonal: the offset of the diagonal above the main diagonal.
        unit: whether the entries of the main diagonal are replaced by ones.
    """
    rows, columns = arange(a.shape[-2])[:, None], arange(a.shape[-1])[None, :]
    edge = rows + diagonal if diagonal else rows
    inside = edge >= columns if lower else edge <= columns
    if a.dtype == "bool":
        return fn.logical_and(inside, a)
    found = fn.where(inside, a, 0)
    return fn.where(rows == columns, 1, found) if unit else found


def solve_matrix(a: Expr, b: Expr, *, left: bool = True, transpose: bool = False) -> Expr:
    """Solve a @ X = b, or X @ a = b, for matrices b.

    Args:
        a: square matrices.
        b: matrices.
        left: whether a is on the left.
        transpose: whether a is transposed first.
    """
    a = swapaxes(a, -1, -2) if transpose == left else a
    return solve(a, b) if left else swapaxes(solve(a, swapaxes(b, -1, -2)), -1, -2)


def sign_and_logdet(a: Expr) -> list[Expr]:
    """Return the sign of the determinant, and the logarithm of its absolute value."""
    return [fn.sign(det(a)), logdet(a)]
