"""Linear algebra of matrices of values by elimination: a result is certain if every pivot is certainly nonzero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from symgrad.checker.balls.matrix_products import exact_bits
from symgrad.checker.balls.scalar_ops import Value, ball, div, log, mul, neg, sqrt, where_nonzero
from symgrad.checker.balls.scalar_ops import add as plus
from symgrad.checker.clock import STEP, tick
from symgrad.checker.limits import ELIMINATED_ROWS, EXACT_BITS
from symgrad.checker.numbers import context, flint, fmpq

Array: TypeAlias = Any


_STEP = 5e-8  # approximate seconds of a product of short balls in flint's elimination
_EXPONENTIAL_COST = 6  # the time of a matrix exponential in units of an elimination
_EXACT_STEP = 2e-9  # seconds of a product modulo a prime, in an exact elimination


def _pivot(column: list[Value]) -> int | None:
    """Return the position of the entry that is farthest from zero; None if none is certainly nonzero."""
    best, size = None, ball(fmpq(0))
    for i, v in enumerate(column):
        low = ball(v).abs_lower()
        if low > size:
            best, size = i, low
    return best


def _eliminate(a: Array, b: Array) -> tuple[Value, Array]:
    """Return the determinant of a, and the solution of a @ x = b, by Gauss-Jordan; None for what is not certain."""
    n = len(a)
    rows: list[list[Value]] = [[*p, *q] for p, q in zip(a.tolist(), b.tolist(), strict=True)]
    nothing = np.full(b.shape, None, dtype=object)
    if any(v is None for row in rows for v in row[:n]):
        return None, nothing
    determinant: Value = fmpq(1)
    for k in range(n):
        tick(STEP * n * len(rows[0]) / 4)
        column = [row[k] for row in rows[k:]]
        found = None if any(v is None for v in column) else _pivot(column)
        if found is None:
            zero = all(type(v) is fmpq and not v for v in column)
            return (fmpq(0) if zero else None), nothing
        if found:
            rows[k], rows[k + found] = rows[k + found], rows[k]
            determinant = neg(determinant)
        top = rows[k][k]
        determinant = mul(determinant, top)
        rows[k] = [div(v, top) for v in rows[k]]
        for i in range(n):
            if i != k:
                factor = neg(rows[i][k])
                rows[i] = [plus(p, mul(factor, q)) for p, q in zip(rows[i], rows[k], strict=True)]
    solution = np.empty(b.shape, dtype=object)
    for i, j in np.ndindex(*b.shape):
        solution[i, j] = rows[i][n + j]
    return determinant, solution


def _elimination_seconds(n: int) -> float:
    """Estimate the seconds of an elimination, which cannot be interrupted."""
    return _STEP * n**3 * max(1.0, context.prec / 128)


def _determinant(a: Array) -> Value:
    """Return the determinant of a large matrix, exactly for short rational numbers."""
    rows = a.tolist()
    bits = exact_bits(a.ravel().tolist()) if all(v is not None for v in a.flat) else 0
    if bits == 0:
        return None
    if bits is not None:
        tick(_EXACT_STEP * len(a) ** 3 * (1 + len(a) * bits / 640))
        value: Any = flint.fmpq_mat(rows).det()
        return value if value.height_bits() <= EXACT_BITS else flint.arb(value)
    tick(_elimination_seconds(len(a)))
    value = _balls(a).det()
    return value if value.is_finite() else None


def _solution(a: Array, b: Array) -> Array:
    """Return the solution of a large system in balls."""
    unknown = np.full(b.shape, None, dtype=object)
    if any(v is None for v in a.flat) or not b.size:
        return unknown
    tick(_elimination_seconds(len(a)) * (1 + b.shape[1] / len(a)))
    good = [j for j in range(b.shape[1]) if all(v is not None for v in b[:, j])]
    try:
        found: list[list[Any]] = _balls(a).solve(_balls(b[:, good])).tolist() if good else []
    except ZeroDivisionError:
        return unknown
    for i, row in enumerate(found):
        for j, v in zip(good, row, strict=True):
            unknown[i, j] = v if v.is_finite() else None
    return unknown


def _balls(a: Array) -> Any:
    return flint.arb_mat([[ball(v) for v in row] for row in a.tolist()])


def _solve_stack(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the determinants and solutions for two stacks of matrices that broadcast."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(s, (*lead, *s.shape[-2:])) for s in (a, b))
    determinants, solutions = np.empty(lead, dtype=object), np.empty(b.shape, dtype=object)
    for at in np.ndindex(*lead):
        if a.shape[-1] <= ELIMINATED_ROWS:
            determinants[at], solutions[at] = _eliminate(a[at], b[at])
        elif b.shape[-1]:
            solutions[at] = _solution(a[at], b[at])
        else:
            determinants[at] = _determinant(a[at])
    return determinants, solutions


def _identity(n: int) -> Array:
    return np.array([[fmpq(int(i == j)) for j in range(n)] for i in range(n)], dtype=object).reshape(n, n)


def _inv(x: Array) -> Array:
    return _solve_stack(x, _identity(x.shape[-1]))[1]


def _det(x: Array) -> Array:
    return _solve_stack(x, x[..., :0])[0]


def _abs(x: Value) -> Value:
    return abs(x)


def _logdet(x: Array) -> Array:
    size: Callable[[Value], Value] = where_nonzero(_abs)
    return np.frompyfunc(lambda d: log(size(d)), 1, 1)(_det(x))


def _solve(a: Array, b: Array) -> Array:
    return _solve_stack(a, b[:, None])[1][:, 0] if b.ndim == 1 else _solve_stack(a, b)[1]


def _cholesky(x: Array) -> Array:
    """Return the factors of matrices whose pivots are certainly positive, from their lower triangles."""
    result = np.full(x.shape, None, dtype=object)
    n = x.shape[-1]
    for at in np.ndindex(*x.shape[:-2]):
        own = np.full((n, n), fmpq(0), dtype=object)
        for j in range(n):
            tick(STEP * n * (n - j))
            for i in range(j, n):
                rest: Value = x[at][i, j]
                for k in range(j):
                    rest = plus(rest, neg(mul(own[i, k], own[j, k])))
                if i == j:
                    certain = rest is not None and ball(rest) > 0
                    own[j, j] = sqrt(rest) if certain else None
                else:
                    own[i, j] = div(rest, own[j, j])
        if all(v is not None for v in own.diagonal()):
            result[at] = own
    return result


# ------------------------------------------------------------------------------------------- functions of matrices


def _expm(x: list[list[Value]]) -> list[list[Value]]:
    tick(_EXPONENTIAL_COST * _elimination_seconds(len(x)))
    found: Any = flint.arb_mat([[ball(v) for v in row] for row in x]).exp()
    return found.tolist()


def _matrix_function(name: str, x: list[list[Value]]) -> list[list[Value]]:
    """Return a function of a matrix; exp([[0, -x], [x, 0]]) is [[cos(x), -sin(x)], [sin(x), cos(x)]]."""
    if name == "expm":
        return _expm(x)
    n, none = len(x), [fmpq(0)] * len(x)
    turned = [[*none, *(neg(v) for v in row)] for row in x] + [[*row, *none] for row in x]
    found = _expm(turned)
    return [row[:n] for row in (found[n:] if name == "sinm" else found[:n])]


def _function(name: str) -> Callable[..., Array]:
    """Return a function f of each matrix of a stack.

    With a direction e, return its derivative, from f([[x, e], [0, x]]); with more, differentiate this in the same way.
    """

    def of(x: Array, *directions: Array) -> Array:
        result = np.full(x.shape, None, dtype=object)
        n = x.shape[-1]
        for at in np.ndindex(*x.shape[:-2]):
            rows = x[at]
            if any(v is None for m in (x, *directions) for v in m[at].flat) or not n:
                continue
            for e in directions:
                none = np.full(rows.shape, fmpq(0), dtype=object)
                along = none.copy()
                for k in range(0, len(rows), n):
                    along[k : k + n, k : k + n] = e[at]
                rows = np.block([[rows, along], [none, rows]])
            found = _matrix_function(name, rows.tolist())
            for i, j in np.ndindex(n, n):
                v: Any = found[i][j + len(rows) - n]
                result[at][i, j] = v if v.is_finite() else None
        return result

    return of


MATRICES: dict[str, Callable[..., Array]] = {
    "inv": _inv,
    "det": _det,
    "logdet": _logdet,
    "solve": _solve,
    "cholesky": _cholesky,
    **{name: _function(name) for name in ("expm", "sinm", "cosm")},
    **{f"{name}_frechet": _function(name) for name in ("expm", "sinm", "cosm")},
}
