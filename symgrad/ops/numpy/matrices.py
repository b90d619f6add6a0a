"""NumPy's and SciPy's functions of matrices on nodes: inv, det, solve, cholesky, kron, expm and others.

They act on the last two axes of a stack of matrices.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.exact import SQUARINGS
from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ir.sizes import size_product
from symgrad.ops.array import linalg, matrix_functions
from symgrad.ops.array.cholesky import cholesky as cholesky_op
from symgrad.ops.array.cholesky import triangle
from symgrad.ops.array.contraction import adjoint, contract
from symgrad.ops.array.layout import expand, full, move_up, squeeze
from symgrad.ops.numpy.calls import identity
from symgrad.ops.numpy.products import matmul
from symgrad.ops.scalar.arith import add, mul
from symgrad.support.errors import NumberTooLargeError, UsageError
from symgrad.support.powers import integer_power


def inv(x: Node) -> Node:
    """``numpy.linalg.inv``; NaN for a singular matrix."""
    return linalg.inv(x)


def det(x: Node) -> Node:
    """``numpy.linalg.det``."""
    return linalg.det(x)


def logdet(x: Node) -> Node:
    """``numpy.linalg.slogdet(x)[1]``: the logarithm of the absolute value of the determinant."""
    return linalg.logdet(x)


def solve(a: Node, b: Node) -> Node:
    """``numpy.linalg.solve``; b with one axis is a vector, else a stack of matrices."""
    if len(b.shape) == 1 and len(a.shape) > 2:
        return squeeze(linalg.solve(a, expand(b, [1])), [len(a.shape) - 1])
    return linalg.solve(a, b)


def cholesky(x: Node, *, upper: bool = False) -> Node:
    """``numpy.linalg.cholesky``; NaN unless the matrix is positive definite."""
    return adjoint(cholesky_op(adjoint(x))) if upper else cholesky_op(x)


def solve_triangular(a: Node, b: Node, *, lower: bool = False) -> Node:
    """``scipy.linalg.solve_triangular``, which reads one triangle of a; NaN if an entry of its diagonal is 0."""
    return solve(a if lower and a.op is cholesky_op else triangle(a, lower=lower), b)


def matrix_power(x: Node, n: int) -> Node:
    """``numpy.linalg.matrix_power`` by repeated squaring.

    Raises:
        UsageError: if n is not an integer.
        NumberTooLargeError: if the power would take very many products.
    """
    if isinstance(n, bool) or not isinstance(n, int):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(f"a matrix to the power of {n!r}", expected="a whole number")
    if n.bit_length() > SQUARINGS:
        raise NumberTooLargeError(
            f"a matrix to a power of {n.bit_length()} bits",
            expected=f"an exponent of at most {SQUARINGS} bits, each of which is a product",
            cure="write powers of named parts: B = matrix_power(A, 1000)",
        )
    inverse = linalg.inv(x)  # raises an error unless the matrices are square
    if n == 0:
        one = full(identity(x.shape[-1]), x.shape)
        return one if x.op is SYMBOL else add(one, mul(as_node(0), x))  # with the domain of x
    base = inverse if n < 0 else x
    if abs(n) == 3:
        return matmul(matmul(base, base), base)
    return integer_power(base, abs(n), matmul)


def kron(a: Node, b: Node) -> Node:
    """``numpy.kron``: a block of b for each entry of a; axes are aligned at the end."""
    rank = max(len(a.shape), len(b.shape))
    a, b = (expand(x, range(rank - len(x.shape))) for x in (a, b))
    axes: list[Any] = [i for pair in zip(range(rank), range(rank, 2 * rank), strict=True) for i in pair]
    every = contract([a, b], [range(rank), range(rank, 2 * rank)], axes, mul)
    return move_up(every, tuple(size_product(pair) for pair in zip(a.shape, b.shape, strict=True)))


def expm(x: Node) -> Node:
    """``scipy.linalg.expm``: the exponential by its power series."""
    return matrix_functions.expm(x)


def sinm(x: Node) -> Node:
    """``scipy.linalg.sinm``: the sine by its power series."""
    return matrix_functions.sinm(x)


def cosm(x: Node) -> Node:
    """``scipy.linalg.cosm``: the cosine by its power series."""
    return matrix_functions.cosm(x)


def expm_frechet(a: Node, b: Node) -> Node:
    """``scipy.linalg.expm_frechet(a, b)[1]``: the derivative of expm at a in the direction b."""
    return matrix_functions.expm_frechet(a, b)


def sinm_frechet(a: Node, b: Node) -> Node:
    """The derivative of sinm at a in the direction b."""
    return matrix_functions.sinm_frechet(a, b)


def cosm_frechet(a: Node, b: Node) -> Node:
    """The derivative of cosm at a in the direction b."""
    return matrix_functions.cosm_frechet(a, b)
