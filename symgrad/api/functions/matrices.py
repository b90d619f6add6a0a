"""Linear algebra on expressions, under NumPy's names. The last two axes are matrices; all other axes are stacks."""

from __future__ import annotations

from symgrad.api.functions.arrays import Operand
from symgrad.api.functions.numpy_names import NUMPY
from symgrad.api.handles.expr import Expr, build_expr, node_of
from symgrad.ops.numpy import matrices

__all__ = [
    "cholesky",
    "cosm",
    "cosm_frechet",
    "det",
    "expm",
    "expm_frechet",
    "inv",
    "kron",
    "logdet",
    "matrix_power",
    "sinm",
    "sinm_frechet",
    "solve",
    "solve_triangular",
    "trace",
]


def inv(a: Operand) -> Expr:
    """Return the inverse, as ``numpy.linalg.inv``; NaN for a singular matrix, for which NumPy raises an error.

    Args:
        a: square matrices, an array of shape (..., n, n).

    Returns:
        An expression of the same shape. Its derivative is -inv(a) @ da @ inv(a) (Petersen & Pedersen, The Matrix
        Cookbook, 2012, equation 40).

    Raises:
        ShapeError: if the matrices are not square.

    Example:
        >>> import symgrad as sg
        >>> X = sg.tensor("X", ("n", "n"))
        >>> a, b = sg.tensor("a", ("n",)), sg.tensor("b", ("n",))
        >>> print(sg.grad(a @ sg.linalg.inv(X) @ b, X).canonical())
        -outer(inv(X).T@a, inv(X)@b)
    """
    return NUMPY["linalg.inv"](Expr, a)


def det(a: Operand) -> Expr:
    """Return the determinant, as ``numpy.linalg.det``.

    Its derivative is det(a)*trace(inv(a) @ da) (the Matrix Cookbook, equation 41). The derivative contains the inverse,
    so at a singular matrix the derivative is NaN.

    Args:
        a: square matrices, an array of shape (..., n, n).

    Returns:
        An expression of the shape of the stack: () for one matrix.

    Raises:
        ShapeError: if the matrices are not square.

    Example:
        >>> import symgrad as sg
        >>> X = sg.tensor("X", (2, 2))
        >>> round(float(sg.linalg.det(X)(X=[[1.0, 2.0], [3.0, 4.0]])), 12)
        -2.0
    """
    return NUMPY["linalg.det"](Expr, a)


def logdet(a: Operand) -> Expr:
    """Return log(abs(det(a))) without overflow, as ``numpy.linalg.slogdet(a)[1]``; -inf for a singular matrix.

    Args:
        a: square matrices, an array of shape (..., n, n).

    Returns:
        An expression of the shape of the stack: () for one matrix.

    Raises:
        ShapeError: if the matrices are not square.

    Example:
        >>> import symgrad as sg
        >>> X = sg.tensor("X", ("n", "n"))
        >>> print(sg.grad(sg.linalg.logdet(X), X).canonical())
        inv(X).T
    """
    return build_expr(lambda: matrices.logdet(node_of(a)), [a])


def solve(a: Operand, b: Operand) -> Expr:
    """Return x with a @ x = b, as ``numpy.linalg.solve``; NaN for a singular matrix, for which NumPy raises an error.

    Args:
        a: square matrices, an array of shape (..., n, n).
        b: a vector of shape (n,), or matrices of shape (..., n, k).

    Raises:
        ShapeError: if the matrices are not square, or b has another number of rows.

    Example:
        >>> import symgrad as sg
        >>> A, b = sg.tensor("A", ("n", "n")), sg.tensor("b", ("n",))
        >>> sg.linalg.solve(A, b)(A=[[2.0, 0.0], [0.0, 4.0]], b=[2.0, 2.0])
        array([1. , 0.5])
    """
    return NUMPY["linalg.solve"](Expr, a, b)


def cholesky(a: Operand, *, upper: bool = False) -> Expr:
    """Return the lower triangular L with L @ L.T = a, as ``numpy.linalg.cholesky``: the upper triangle is not read.

    Args:
        a: symmetric positive definite matrices, an array of shape (..., n, n).
        upper: whether to read the upper triangle, and return the upper triangular U with U.T @ U = a.

    Returns:
        An expression of the same shape; NaN for a matrix that is not positive definite, for which NumPy raises an
        error. The gradient is zero at the entries that are not read (I. Murray, Differentiation of the Cholesky
        decomposition, arXiv 1602.07527, 2016).

    Raises:
        ShapeError: if the matrices are not square.

    Example:
        >>> import symgrad as sg
        >>> S, x = sg.tensor("S", ("n", "n")), sg.tensor("x", ("n",))
        >>> L = sg.linalg.cholesky(S)
        >>> z = sg.linalg.solve_triangular(L, x, lower=True)
        >>> density = -z @ z / 2 - sg.sum(sg.log(sg.diag(L)))
        >>> sg.grad(density, S)(S=[[4.0, 0.0], [0.0, 1.0]], x=[2.0, 3.0])[1]
        array([1.5, 4. ])
    """
    return NUMPY["linalg.cholesky"](Expr, a, upper=upper)


def solve_triangular(a: Operand, b: Operand, *, lower: bool = False) -> Expr:
    """Return x with a @ x = b, where one triangle of a is read, as ``scipy.linalg.solve_triangular``.

    Args:
        a: triangular matrices, an array of shape (..., n, n).
        b: a vector of shape (n,), or matrices of shape (..., n, k).
        lower: whether to read the lower triangle of a, and not the upper one.

    Returns:
        An expression; NaN for a matrix with a zero on its diagonal, for which SciPy raises an error.

    Raises:
        ShapeError: if the matrices are not square, or b has another number of rows.

    Example:
        >>> import symgrad as sg
        >>> A, b = sg.tensor("A", ("n", "n")), sg.tensor("b", ("n",))
        >>> sg.linalg.solve_triangular(A, b, lower=True)(A=[[2.0, 7.0], [1.0, 4.0]], b=[2.0, 5.0])
        array([1., 1.])
    """
    return build_expr(lambda: matrices.solve_triangular(node_of(a), node_of(b), lower=lower), [a, b])


def matrix_power(a: Operand, n: int) -> Expr:
    """Return a power of a matrix, as ``numpy.linalg.matrix_power``.

    Args:
        a: square matrices, an array of shape (..., m, m).
        n: the exponent; 0 gives the identity, a negative exponent gives powers of the inverse.

    Raises:
        ShapeError: if the matrices are not square.
        UsageError: if n is not a whole number.

    Example:
        >>> import symgrad as sg
        >>> X = sg.tensor("X", ("n", "n"))
        >>> print(sg.linalg.matrix_power(X, 3))
        X@X@X
    """
    return NUMPY["linalg.matrix_power"](Expr, a, n)


def kron(a: Operand, b: Operand) -> Expr:
    """Return the Kronecker product, as ``numpy.kron``: each entry of a is replaced by a block, the entry times b.

    Example:
        >>> import symgrad as sg
        >>> A, B = sg.tensor("A", ("n", "m")), sg.tensor("B", (2, "k"))
        >>> print(*sg.linalg.kron(A, B).shape)
        2*n k*m
    """
    return NUMPY["kron"](Expr, a, b)


def trace(x: Operand) -> Expr:
    """Return the sum of the diagonal of a square matrix, as ``numpy.trace``."""
    return NUMPY["trace"](Expr, x)


def expm(a: Operand) -> Expr:
    """Return the exponential of a matrix, by the power series of exp, as ``scipy.linalg.expm``.

    Args:
        a: square matrices, an array of shape (..., n, n).

    Returns:
        An expression of the same shape. Its derivative in a direction is `expm_frechet`.

    Raises:
        ShapeError: if the matrices are not square.

    Example:
        >>> import symgrad as sg
        >>> X, B = sg.tensor("X", ("n", "n")), sg.tensor("B", ("n", "n"))
        >>> print(sg.grad(sg.sum(B*sg.linalg.expm(X)), X).canonical())
        expm_frechet(X.T, B)
        >>> sg.verify(sg.linalg.trace(sg.linalg.expm(X)), X, "expm(X).T").status
        'proved'
    """
    return build_expr(lambda: matrices.expm(node_of(a)), [a])


def sinm(a: Operand) -> Expr:
    """Return the sine of a matrix, by the power series of sin, as ``scipy.linalg.sinm``; see `expm`."""
    return build_expr(lambda: matrices.sinm(node_of(a)), [a])


def cosm(a: Operand) -> Expr:
    """Return the cosine of a matrix, by the power series of cos, as ``scipy.linalg.cosm``; see `expm`."""
    return build_expr(lambda: matrices.cosm(node_of(a)), [a])


def expm_frechet(a: Operand, b: Operand) -> Expr:
    """Return the derivative of expm at a in the direction b, like the second result of ``scipy.linalg.expm_frechet``.

    The derivative is linear in b, and its value at a.T, b.T is the transpose. The derivatives of this function are the
    second derivatives of expm (N. J. Higham, Functions of Matrices, SIAM 2008, sections 3.1 and 10.6).

    Args:
        a: square matrices, an array of shape (..., n, n).
        b: directions, an array of the same shape.

    Raises:
        ShapeError: if the matrices are not square, or the shapes differ.

    Example:
        >>> import symgrad as sg
        >>> A, B = sg.tensor("A", (1, 1)), sg.tensor("B", (1, 1))
        >>> sg.linalg.expm_frechet(A, B)(A=[[0.0]], B=[[2.0]])
        array([[2.]])
    """
    return build_expr(lambda: matrices.expm_frechet(node_of(a), node_of(b)), [a, b])


def sinm_frechet(a: Operand, b: Operand) -> Expr:
    """Return the derivative of sinm at a in the direction b; see `expm_frechet`."""
    return build_expr(lambda: matrices.sinm_frechet(node_of(a), node_of(b)), [a, b])


def cosm_frechet(a: Operand, b: Operand) -> Expr:
    """Return the derivative of cosm at a in the direction b; see `expm_frechet`."""
    return build_expr(lambda: matrices.cosm_frechet(node_of(a), node_of(b)), [a, b])
