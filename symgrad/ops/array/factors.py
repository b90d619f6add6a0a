"""Linear algebra in kernels by factors of matrices: inverse, determinant and solutions share one elimination.

There are six ops that only kernels use, on stacks of matrices with n rows:

    lu        L and U of each matrix, and a last row for the exchanges of rows: shape (..., n + 1, n)
    pivots    the diagonal of U, with one sign changed for each exchange: the determinant is the product of the pivots
    lu_solve  the solutions of A @ x = b, or of A.T @ x = b, for every row b of a stack of rows
    cholesky_factor   L of each matrix, read from its lower triangle; NaN unless it is positive definite
    triangular_solve  the solutions of L @ x = b, or of L.T @ x = b, for every row b of a stack of rows
    exponential  expm, followed by the matrices of its computation: shape (..., WORKSPACE*n, n)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

from symgrad.ir.graph import Node, Op, as_node, internal_op, number
from symgrad.ir.op import Loop, Structure
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, Size, size_product, size_sum
from symgrad.ops.array.contraction import adjoint, einsum, sum_over
from symgrad.ops.array.layout import full, reshape, shaped, slice_axes, squeeze
from symgrad.ops.array.reductions import prod
from symgrad.ops.record import FUNCTION_COST
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.ops.scalar.elementary import exp2, log
from symgrad.ops.scalar.logic import and_, eq, ge, gt, le, lt, ne, where
from symgrad.ops.scalar.rounding import abs as absolute
from symgrad.ops.scalar.rounding import round as rint
from symgrad.support.errors import InternalError

WORKSPACE = 6
"""The number of matrices in the computation of an exponential."""


def _only_in_kernels(*_args: Any, **_options: Any) -> Any:
    raise InternalError("an op of kernels was used as one of formulas")


_STRUCTURE: Structure[Node] = Structure(
    batch=_only_in_kernels,
    rows=_only_in_kernels,
    entries="computed",
    total="of regular",
    native=None,
    written=_only_in_kernels,
    source=None,
)


def kernel_op(
    name: str,
    doc: str,
    parameters: tuple[str, ...],
    arity: int,
    shape: Callable[..., Shape],
    native: Loop | None = None,
) -> Op:
    """Return an op that only kernels use.

    Args:
        name: its name.
        doc: what it computes.
        parameters: the names of its static parameters.
        arity: the number of its arguments; 0 for any number.
        shape: the rule of its shape.
        native: how kernels compute it; None for a call or a loop of its own.
    """
    return internal_op(
        name,
        doc,
        _only_in_kernels,
        parameters=parameters,
        takes=("number",) * max(arity, 1),
        shape=shape,
        push=_only_in_kernels,
        pull=_only_in_kernels,
        structure=replace(_STRUCTURE, native=native),
        cost=FUNCTION_COST,
        precedence=9,
        variadic=arity == 0,
    )


def _lu_shape(shapes: tuple[Shape, ...]) -> Shape:
    *lead, rows, columns = shapes[0]
    return (*lead, size_sum([rows, 1]), columns)


def _pivots_shape(shapes: tuple[Shape, ...]) -> Shape:
    return (*shapes[0][:-2], shapes[0][-1])


def _same_shape(shapes: tuple[Shape, ...]) -> Shape:
    return shapes[0]


def _solved_shape(shapes: tuple[Shape, ...], _transposed: int) -> Shape:
    return shapes[1]


def _work_shape(shapes: tuple[Shape, ...]) -> Shape:
    *lead, rows, columns = shapes[0]
    return (*lead, size_product([WORKSPACE, rows]), columns)


_LU = kernel_op("lu", "factors of matrices, by elimination with exchanges of rows", (), 1, _lu_shape)
_PIVOTS = kernel_op("pivots", "the diagonals of the right factors, signed", (), 1, _pivots_shape)
_SOLVE = kernel_op("lu_solve", "solutions for the rows of a stack", ("transposed",), 2, _solved_shape)
_CHOLESKY = kernel_op("cholesky_factor", "left factors of definite matrices", (), 1, _same_shape)
_TRIANGULAR_SOLVE = kernel_op(
    "triangular_solve", "solutions for the rows of a stack", ("transposed",), 2, _solved_shape
)

EXPONENTIAL = kernel_op(
    "exponential", "exponentials of matrices, with room to compute them", (), 1, _work_shape
)
"""The op that computes the exponential of a matrix."""

FACTORS = frozenset({"lu", "pivots", "lu_solve", "cholesky_factor", "triangular_solve", "exponential"})
"""The names of these ops."""


def _real(x: Node) -> Node:
    return x if x.dtype == "real" else div(x, as_node(1))


def _factors(x: Node) -> Node:
    return _LU(_real(x))


def _below_transpose(x: Node) -> Node | None:
    """Return the operand of a transpose of matrices; None for any other node."""
    if x.op is not einsum or len(x.args) != 1:
        return None
    (labels,), result = x.params
    swapped = labels == (*result[:-2], result[-1], result[-2]) and len(set(labels)) == len(labels)
    return x.args[0] if swapped else None


def _triangle_of(x: Node) -> Literal["lower", "upper"] | None:
    """Return which triangle of matrices has all their nonzero entries, if that is evident."""
    if x.op is _CHOLESKY:
        return "lower"
    if x.op is not where or not x.args[2].is_number(0) or x.args[0].op not in (ge, gt, le, lt):
        return None
    mask = x.args[0]
    places = [_place(a, x.shape[-1]) for a in (mask.args if mask.op in (ge, gt) else mask.args[::-1])]
    return "lower" if places == ["row", "column"] else "upper" if places == ["column", "row"] else None


def _place(x: Node, n: Size) -> str | None:
    """Return whether an array has the number of the row, or of the column, at each entry of a matrix with n rows."""
    source = x.args[0] if x.op is reshape else x
    if source.op.name != "iota" or source.shape != (n,):
        return None
    return "row" if x.shape == (n, 1) else "column" if x.shape in ((n,), (1, n)) else None


def inverse(x: Node, identity: Node) -> Node:
    """Return the inverses: row i is the solution of A.T @ x = e_i."""
    return _SOLVE(_factors(x), full(identity, x.shape), params=(1,))


def cholesky_factor(x: Node) -> Node:
    """Return the lower triangular L with L @ L.T = x."""
    return _CHOLESKY(_real(x))


def solution(a: Node, b: Node) -> Node:
    """Return the solutions of a @ x = b; a matrix and its transpose share the factors."""
    below = _below_transpose(a)
    matrix, transposed = (a, 0) if below is None else (below, 1)
    kept = _triangle_of(matrix)
    if kept == "upper":
        matrix, transposed = adjoint(matrix), 1 - transposed
    factors, solver = (_real(matrix), _TRIANGULAR_SOLVE) if kept else (_factors(matrix), _SOLVE)
    b = _real(b)
    n = a.shape[-1]
    if len(b.shape) == 1:
        return shaped(solver(factors, shaped(b, (1, n)), params=(transposed,)), b.shape)
    rows = adjoint(b)
    lead = broadcast_shapes([a.shape[:-2], b.shape[:-2]])
    if len(a.shape) == 2:
        # One matrix is used for all columns of the stack together.
        flat = shaped(rows, (size_product(rows.shape[:-1]), n))
        return adjoint(shaped(solver(factors, flat, params=(transposed,)), rows.shape))
    factors = full(factors, (*lead, *factors.shape[-2:]))
    return adjoint(solver(factors, full(rows, (*lead, *rows.shape[-2:])), params=(transposed,)))


def log_determinant(x: Node) -> Node:
    """Return the logarithm of the absolute value of the determinant."""
    return _sum(log(absolute(_PIVOTS(_factors(x)))))


def determinant(x: Node) -> Node:
    """Return the determinant: the product of the pivots, or of their mantissas if it might overflow or underflow.

    A partial product that was subnormal has lost digits, which the result does not show. So the plain product is used
    only if the sum of the absolute values of all exponents is in the range of floats. Up to three pivots are multiplied
    in an order in which no partial product matters.
    """
    pivots = _PIVOTS(_factors(x))
    rows = x.shape[-1]
    if isinstance(rows, int) and 0 < rows <= 3:
        return _short_product([_entry(pivots, i) for i in range(rows)])
    size = log(absolute(pivots))
    plain = _is_finite(size)  # false if a pivot is zero, infinite or NaN
    exponents = where(plain, rint(mul(size, number(_LOG2_E))), as_node(0))
    reach = exp2(_sum(add(absolute(exponents), as_node(1))))
    mantissas = _product(_scaled(pivots, neg(exponents)))
    regular = and_(_is_finite(mantissas), ne(mantissas, as_node(0)))
    other = where(regular, _scaled(mantissas, _sum(exponents)), mantissas)
    return where(_is_finite(reach), _product(pivots), other)


def _entry(x: Node, i: int) -> Node:
    """Return entry i along the last axis."""
    last = len(x.shape) - 1
    return squeeze(slice_axes(x, [*[(None, None, 1)] * last, (i, i + 1, 1)]), [last])


def _short_product(factors: list[Node]) -> Node:
    """Return the product of one, two or three factors.

    The largest factor times the smallest is out of the range of floats only if the product of all three is. If the
    smallest one is subnormal, and has fewer digits, it comes last.
    """
    if len(factors) < 3:
        return reduce(mul, factors)
    low, middle, high = factors
    for i, j in ((0, 1), (1, 2), (0, 1)):
        ordered = [low, middle, high]
        a, b = ordered[i], ordered[j]
        swap = gt(absolute(a), absolute(b))
        ordered[i], ordered[j] = where(swap, b, a), where(swap, a, b)
        low, middle, high = ordered
    ends = mul(high, low)
    tiny = and_(lt(absolute(ends), _TINY), ne(ends, as_node(0)))
    return where(tiny, mul(mul(high, middle), low), mul(ends, middle))


_TINY = number(Fraction(1, 2**900))

_LOG2_E = Fraction(14427, 10000)
"""About 1/log(2), since exponents need not be exact."""


def _is_finite(x: Node) -> Node:
    return eq(add(x, neg(x)), as_node(0))


def _scaled(x: Node, exponent: Node) -> Node:
    """Return x*2**exponent in two steps, since the power alone may overflow."""
    half = rint(mul(exponent, number(Fraction(1, 2))))
    rest = add(exponent, neg(half))
    return mul(mul(x, exp2(half)), exp2(rest))


def _sum(x: Node) -> Node:
    return sum_over(x, [len(x.shape) - 1])


def _product(x: Node) -> Node:
    return prod(x, params=((len(x.shape) - 1,),))
