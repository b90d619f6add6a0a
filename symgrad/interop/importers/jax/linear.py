"""Sorting and linear algebra of JAX as expressions: primitives, and functions of its library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symgrad.api.functions.layout import take_along_axis
from symgrad.api.functions.matrices import cholesky, det, expm, inv, solve
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.linear import sign_and_logdet, solve_matrix, triangle
from symgrad.interop.importers.sorting import sort_positions
from symgrad.support.errors import UnsupportedError


def _sort(*xs: Expr, dimension: int, num_keys: int, **_: Any) -> list[Expr]:
    if num_keys != 1:
        raise UnsupportedError(
            f"sort by {num_keys} arrays", cure="sort by one, and read the others along argsort"
        )
    places = sort_positions(xs[0], int(dimension))
    return [take_along_axis(x, places, int(dimension)) for x in xs]


def _top_k(x: Expr, *, k: int, axis: int = -1, **_: Any) -> list[Expr]:
    axis = int(axis) % len(x.shape)
    places = sort_positions(x, axis, descending=True)[(*(slice(None),) * axis, slice(0, k))]
    return [take_along_axis(x, places, axis), places]


def _triangular_solve(
    a: Expr, b: Expr, *, left_side: bool, lower: bool, transpose_a: bool, unit_diagonal: bool, **_: Any
) -> Expr:
    return solve_matrix(
        triangle(a, lower=lower, unit=unit_diagonal), b, left=left_side, transpose=transpose_a
    )


def _cholesky(x: Expr, **_: Any) -> Expr:
    return cholesky(x)


ORDERED: Mapping[str, Callable[..., Any]] = {
    "cholesky": _cholesky,
    "sort": _sort,
    "top_k": _top_k,
    "triangular_solve": _triangular_solve,
}
"""For each primitive, by name: a function of expressions of their whole shapes, and of the parameters."""

LIBRARY_CALLS: Mapping[tuple[str, str], Callable[..., Expr | Sequence[Expr]]] = {
    ("numpy/linalg.py", "det"): det,
    ("numpy/linalg.py", "inv"): inv,
    ("numpy/linalg.py", "slogdet"): sign_and_logdet,
    ("numpy/linalg.py", "solve"): solve,
    ("scipy/linalg.py", "expm"): expm,
}
"""Functions of JAX on real arrays for which there is an op, by the end of their file and their name."""
