"""Reductions and contractions on expressions, under their NumPy and SciPy names.

Each function takes expressions and numbers, and has the meaning of NumPy's function of the same name (or of SciPy's,
for softmax, log_softmax and logsumexp). NumPy's function, called on an expression as in ``numpy.sum(x)``, gives the
same result.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from symgrad.api.foreign_names import refuse_torch_arguments
from symgrad.api.functions.numpy_names import NUMPY
from symgrad.api.handles.expr import Expr, Operand, build_expr, node_of
from symgrad.ops.numpy import calls as build

__all__ = [
    "Axis",
    "Operand",
    "argmax",
    "argmin",
    "cumsum",
    "diag",
    "dot",
    "einsum",
    "inner",
    "log_softmax",
    "logsumexp",
    "matmul",
    "max",
    "mean",
    "min",
    "norm",
    "outer",
    "prod",
    "softmax",
    "std",
    "sum",
    "tensordot",
    "var",
]

Axis: TypeAlias = "int | tuple[int, ...] | None"

# --------------------------------------------------------------------------------------------------------- reductions


@refuse_torch_arguments
def sum(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the sum of the entries, as ``numpy.sum``.

    Args:
        x: an array.
        axis: one axis, several, or None for all.
        keepdims: whether the reduced axes stay, with length 1.

    Raises:
        ShapeError: if there is no such axis.

    Example:
        >>> import symgrad as sg
        >>> X = sg.tensor("X", ("n", 5))
        >>> sg.sum(X).shape, sg.sum(X, axis=0).shape, sg.sum(X, axis=0, keepdims=True).shape
        ((), (5,), (1, 5))
    """
    return NUMPY["sum"](Expr, x, axis, keepdims=keepdims)


@refuse_torch_arguments
def mean(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the arithmetic mean, as ``numpy.mean``; arguments as for `sum`.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> X = sg.tensor("X", ("n", 2))
        >>> sg.mean(X, axis=0)(X=np.array([[1.0, 2.0], [3.0, 6.0]]))
        array([2., 4.])
    """
    return NUMPY["mean"](Expr, x, axis, keepdims=keepdims)


@refuse_torch_arguments
def prod(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the product of the entries, as ``numpy.prod``; arguments as for `sum`."""
    return NUMPY["prod"](Expr, x, axis, keepdims=keepdims)


@refuse_torch_arguments
def max(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the largest entry, as ``numpy.max``; arguments as for `sum`. Equal entries share the gradient equally."""
    return NUMPY["max"](Expr, x, axis, keepdims=keepdims)


@refuse_torch_arguments
def min(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the smallest entry, as ``numpy.min``; arguments as for `sum`. Equal entries share the gradient equally."""
    return NUMPY["min"](Expr, x, axis, keepdims=keepdims)


@refuse_torch_arguments
def logsumexp(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return log(sum(exp(x))) without overflow, as ``scipy.special.logsumexp``; arguments as for `sum`.

    Example:
        >>> import symgrad as sg
        >>> z = sg.tensor("z", ("n",))
        >>> round(float(sg.special.logsumexp(z)(z=[1000.0, 1000.0])), 4)
        1000.6931
    """
    return build_expr(lambda: build.reduce_axes("logsumexp", node_of(x), axis, keepdims), [x])


@refuse_torch_arguments
def var(x: Operand, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Expr:
    """Return the variance, as ``numpy.var``: the sum of squared distances from the mean, divided by count - ddof.

    Args:
        x: an array.
        axis: one axis, several, or None for all.
        ddof: the number to subtract from the count; 1 for the unbiased estimate.
        keepdims: whether the reduced axes stay, with length 1.
    """
    return NUMPY["var"](Expr, x, axis, ddof=ddof, keepdims=keepdims)


@refuse_torch_arguments
def std(x: Operand, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Expr:
    """Return the standard deviation, as ``numpy.std``; arguments as for `var`."""
    return NUMPY["std"](Expr, x, axis, ddof=ddof, keepdims=keepdims)


@refuse_torch_arguments
def norm(x: Operand, ord: Any = None, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return a norm, as ``numpy.linalg.norm``, if it needs no decomposition.

    Args:
        x: an array.
        ord: None for the Euclidean (Frobenius) norm; 1, 2 or inf of a vector; 1, inf or "fro" of a matrix.
        axis: one axis for vectors, two for matrices, None for all.
        keepdims: whether the reduced axes stay, with length 1.

    Raises:
        UnsupportedError: for another order.
    """
    return NUMPY["linalg.norm"](Expr, x, ord, axis, keepdims=keepdims)


@refuse_torch_arguments
def argmax(x: Operand, axis: int | None = None, *, keepdims: bool = False) -> Expr:
    """Return the position of the first largest entry, as ``numpy.argmax``: an int, so no derivative passes."""
    return NUMPY["argmax"](Expr, x, axis, keepdims=keepdims)


@refuse_torch_arguments
def argmin(x: Operand, axis: int | None = None, *, keepdims: bool = False) -> Expr:
    """Return the position of the first smallest entry, as ``numpy.argmin``: an int, so no derivative passes."""
    return NUMPY["argmin"](Expr, x, axis, keepdims=keepdims)


@refuse_torch_arguments
def softmax(x: Operand, axis: Axis = None) -> Expr:
    """Return exp(x)/sum(exp(x)) without overflow, as ``scipy.special.softmax``.

    Args:
        x: an array.
        axis: the axes over which the result sums to 1; None for all axes.

    Example:
        >>> import symgrad as sg
        >>> z = sg.tensor("z", (2,))
        >>> sg.nn.softmax(z)(z=[800.0, 800.0])
        array([0.5, 0.5])
    """
    return build_expr(lambda: build.over_axes("softmax", node_of(x), axis), [x])


@refuse_torch_arguments
def log_softmax(x: Operand, axis: Axis = None) -> Expr:
    """Return x - logsumexp(x), as ``scipy.special.log_softmax``; arguments as for `softmax`."""
    return build_expr(lambda: build.over_axes("log_softmax", node_of(x), axis), [x])


@refuse_torch_arguments
def cumsum(x: Operand, axis: int | None = None, *, reverse: bool = False) -> Expr:
    """Return the running sums along an axis, or of the flattened array, as ``numpy.cumsum``.

    Args:
        x: an array.
        axis: the axis; None for the flattened array.
        reverse: whether to sum from the end: each result is the sum of an entry and all later entries.

    Example:
        >>> import symgrad as sg
        >>> x = sg.tensor("x", ("n",))
        >>> sg.arrays.cumsum(x, reverse=True)(x=[1.0, 2.0, 4.0])
        array([7., 6., 4.])
    """
    return NUMPY["cumsum"](Expr, x, axis, reverse=reverse)


# ------------------------------------------------------------------------------------------------------- contractions


def einsum(subscripts: str, *operands: Operand) -> Expr:
    """Return a sum of products over labelled axes, as ``numpy.einsum``.

    Args:
        subscripts: letters for the axes of each operand, and ``...`` for the remaining axes, as in ``"ij,jk->ik"``.
        operands: arrays.

    Raises:
        ShapeError, UsageError: if the subscripts do not fit the operands.

    Example:
        >>> import symgrad as sg
        >>> A, B = sg.tensor("A", ("n", 3)), sg.tensor("B", (3, "m"))
        >>> sg.einsum("ij,jk->ik", A, B).same(A @ B)
        True
    """
    return NUMPY["einsum"](Expr, subscripts, *operands)


def matmul(a: Operand, b: Operand) -> Expr:
    """Return the matrix product, as ``numpy.matmul`` and ``a @ b``.

    Args:
        a: an array of shape (..., n, k) or (k,).
        b: an array of shape (..., k, m) or (k,).

    Raises:
        ShapeError: if the shapes do not match; the message has both.
    """
    return NUMPY["matmul"](Expr, a, b)


def dot(a: Operand, b: Operand) -> Expr:
    """Return the product over the last axis of a and the second last axis of b, as ``numpy.dot``."""
    return NUMPY["dot"](Expr, a, b)


def tensordot(a: Operand, b: Operand, axes: Any = 2) -> Expr:
    """Return the product over several axes, as ``numpy.tensordot``.

    Args:
        a: an array.
        b: an array.
        axes: the number of last axes of a and first axes of b to sum over, or a pair of lists of axes.
    """
    return NUMPY["tensordot"](Expr, a, b, axes)


def inner(a: Operand, b: Operand) -> Expr:
    """Return the product over the last axes of both arrays, as ``numpy.inner``."""
    return NUMPY["inner"](Expr, a, b)


def outer(a: Operand, b: Operand) -> Expr:
    """Return all products of an entry of a and an entry of b (both flattened), as ``numpy.outer``."""
    return NUMPY["outer"](Expr, a, b)


def diag(x: Operand) -> Expr:
    """Return the diagonal of a square matrix, or the matrix with a vector on its diagonal, as ``numpy.diag``."""
    return NUMPY["diag"](Expr, x)
