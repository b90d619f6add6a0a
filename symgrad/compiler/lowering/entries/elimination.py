"""Write the factors of small matrices (`symgrad/ops/array/factors.py`) as scalar equations.

Elimination exchanges rows as LAPACK does, so it keeps as many digits; an exchange is a selection for each entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np

from symgrad.ir.graph import Node, number

MAX_ROWS = 6
"""The most rows of a matrix whose elimination is written out."""

Entries: TypeAlias = Any
"""A NumPy array of nodes, in the shape of the node that it stands for."""

Equation: TypeAlias = "Callable[..., Node]"
"""A function that returns an equation, ``equation(name, *args)``, from the name of an op."""

_ZERO, _ONE = number(0), number(1)


def _choice(equation: Equation, mask: Node, a: Node, b: Node) -> Node:
    return a if a is b else equation("where", mask, a, b)


def _less(equation: Equation, a: Node, factor: Node, b: Node) -> Node:
    """Return a - factor*b."""
    return equation("add", a, equation("neg", equation("mul", factor, b)))


def _exchange(equation: Equation, rows: list[list[Node]], k: int, place: Node) -> None:
    """Exchange row k with the row whose number is a value."""
    first = list(rows[k])
    for i in range(k + 1, len(rows)):
        here = equation("eq", place, number(i))
        rows[k] = [_choice(equation, here, a, b) for a, b in zip(rows[i], rows[k], strict=True)]
        rows[i] = [_choice(equation, here, a, b) for a, b in zip(first, rows[i], strict=True)]


def _lu(
    equation: Equation, shape: tuple[int, ...], params: Sequence[Any], args: Sequence[Entries]
) -> Entries:
    """Return L and U, and in a last row the number of the row with which each row was exchanged."""
    del params
    n = shape[-1]
    found: Entries = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape[:-2]):
        rows: list[list[Node]] = [list(row) for row in args[0][at]]
        exchanges: list[Node] = []
        for k in range(n):
            best, place = equation("abs", rows[k][k]), number(k)
            for i in range(k + 1, n):
                size = equation("abs", rows[i][k])
                larger = equation("gt", size, best)
                best = _choice(equation, larger, size, best)
                place = _choice(equation, larger, number(i), place)
            exchanges.append(place)
            _exchange(equation, rows, k, place)
            zero = equation("eq", rows[k][k], _ZERO)
            for i in range(k + 1, n):
                factor = _choice(equation, zero, _ZERO, equation("div", rows[i][k], rows[k][k]))
                rows[i][k] = factor
                for j in range(k + 1, n):
                    rows[i][j] = _less(equation, rows[i][j], factor, rows[k][j])
        found[at][:n] = rows
        found[at][n] = exchanges
    return found


def _pivots(
    equation: Equation, shape: tuple[int, ...], params: Sequence[Any], args: Sequence[Entries]
) -> Entries:
    """Return the diagonals of U, where each exchange of two rows changes a sign."""
    del params
    n = shape[-1]
    found: Entries = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape[:-1]):
        own = args[0][at]
        for k in range(n):
            pivot, same = own[k, k], equation("eq", own[n, k], number(k))
            found[at][k] = _choice(equation, same, pivot, equation("neg", pivot)) if k < n - 1 else pivot
    return found


def _solutions(
    solved: Callable[..., list[Node]],
    equation: Equation,
    shape: tuple[int, ...],
    params: Sequence[Any],
    args: Sequence[Entries],
) -> Entries:
    """Return the solutions for all rows of a stack, each by ``solved``; NaN for a matrix with a pivot that is 0."""
    factors, sides = args
    n, lead = shape[-1], shape[:-2]
    factors = np.broadcast_to(factors, (*lead, *factors.shape[-2:]))
    found: Entries = np.empty(shape, dtype=object)
    for at in np.ndindex(*lead):
        own = factors[at]
        regular = [equation("ne", own[k, k], _ZERO) for k in range(n)]
        nothing = _nan_unless(equation, reduce(lambda a, b: equation("and_", a, b), regular))
        for r in range(shape[-2]):
            x = solved(equation, own, [[e] for e in sides[at][r]], transposed=bool(params[0]))
            found[at][r] = [equation("add", e, nothing) for e in x]
    return found


def _solved_by_lu(equation: Equation, own: Entries, x: list[list[Node]], *, transposed: bool) -> list[Node]:
    """Solve with L and then U; for the transposed matrix, with their transposes and U first."""
    n = len(x)
    exchanges = [(k, own[n, k]) for k in range(n - 1)]
    if not transposed:
        for k, place in exchanges:
            _exchange(equation, x, k, place)
    for upper in (transposed, not transposed):
        backward = upper != transposed
        for i in reversed(range(n)) if backward else range(n):
            for j in range(i + 1, n) if backward else range(i):
                if not x[j][0].is_number(0):
                    entry = own[j, i] if transposed else own[i, j]
                    x[i][0] = _less(equation, x[i][0], entry, x[j][0])
            if upper:
                x[i][0] = equation("div", x[i][0], own[i, i])
    if transposed:
        for k, place in reversed(exchanges):
            _exchange(equation, x, k, place)
    return [row[0] for row in x]


def _cholesky(
    equation: Equation, shape: tuple[int, ...], params: Sequence[Any], args: Sequence[Entries]
) -> Entries:
    """Return the left factors of matrices, read from their lower triangles; NaN unless all pivots are positive."""
    del params
    n = shape[-1]
    found: Entries = np.full(shape, _ZERO, dtype=object)
    for at in np.ndindex(*shape[:-2]):
        own = found[at]
        definite: list[Node] = []
        for j, i in combinations_with_replacement(range(n), 2):
            rest: Node = args[0][at][i, j]
            for k in range(j):
                rest = _less(equation, rest, own[i, k], own[j, k])
            if i == j:
                definite.append(equation("gt", rest, _ZERO))
            own[i, j] = equation("sqrt", rest) if i == j else equation("div", rest, own[j, j])
        nothing = _nan_unless(equation, reduce(lambda a, b: equation("and_", a, b), definite))
        for i, j in np.ndindex(n, n):
            own[i, j] = equation("add", own[i, j], nothing)
    return found


def _nan_unless(equation: Equation, mask: Node) -> Node:
    """Return 0 where a mask is true; elsewhere 0/0, which is NaN."""
    return equation("div", _ZERO, equation("where", mask, _ONE, _ZERO))


def _solved_by_triangle(
    equation: Equation, own: Entries, x: list[list[Node]], *, transposed: bool
) -> list[Node]:
    """Solve with a lower triangular matrix, or its transpose, which is one with both axes reversed."""
    if transposed:
        own, x = own.T[::-1, ::-1], x[::-1]
    for i in range(len(x)):
        for j in range(i):
            if not x[j][0].is_number(0):
                x[i][0] = _less(equation, x[i][0], own[i, j], x[j][0])
        x[i][0] = equation("div", x[i][0], own[i, i])
    return [row[0] for row in (x[::-1] if transposed else x)]


ELIMINATIONS: Mapping[
    str, Callable[[Equation, tuple[int, ...], Sequence[Any], Sequence[Entries]], Entries]
] = {
    "lu": _lu,
    "pivots": _pivots,
    "lu_solve": partial(_solutions, _solved_by_lu),
    "cholesky_factor": _cholesky,
    "triangular_solve": partial(_solutions, _solved_by_triangle),
}
"""For each op, a function of the equations, the shape and parameters of a node, and the entries of its arguments."""
