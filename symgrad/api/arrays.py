"""The array functions on expressions, under their NumPy and SciPy names.

Each takes expressions and numbers, and means what the function of that name means in NumPy (softmax, log_softmax and
logsumexp: in SciPy). Called as ``numpy.sum(x)`` on an expression, NumPy's function gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as whole
from typing import Any, TypeAlias, cast

from symgrad.api.expr import Expr, as_expr, built, handle, node_of
from symgrad.errors import UsageError
from symgrad.ir.graph import NUMBER, SIZE, Node, size_node
from symgrad.ir.sizes import Extent, Shape, Size, size_product, size_sum
from symgrad.ir.types import is_name
from symgrad.ops import build, subscripts
from symgrad.ops.indexing import scatter_add as scatter

__all__ = [
    "arange",
    "argmax",
    "argmin",
    "broadcast_to",
    "concatenate",
    "cumsum",
    "diag",
    "dot",
    "einsum",
    "expand_dims",
    "eye",
    "flip",
    "full",
    "inner",
    "log_softmax",
    "logsumexp",
    "matmul",
    "max",
    "mean",
    "min",
    "moveaxis",
    "norm",
    "one_hot",
    "ones",
    "outer",
    "prod",
    "reshape",
    "scatter_add",
    "shape_of",
    "size",
    "size_of",
    "softmax",
    "squeeze",
    "stack",
    "std",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tensordot",
    "transpose",
    "var",
    "zeros",
]

Axis: TypeAlias = "int | tuple[int, ...] | None"
Operand: TypeAlias = "Expr | int | float"
SizeLike: TypeAlias = "Size | Expr"

# ------------------------------------------------------------------------------------------------------------ sizes


def size(of: SizeLike) -> Expr:
    """Return a size as a number of a formula: the length of an axis, known when values arrive.

    Args:
        of: the name of a size, or what ``shape`` has for an axis.

    Example:
        >>> import symgrad as sg
        >>> x = sg.tensor("x", ("n",))
        >>> mean = sg.sum(x)/sg.size("n")
        >>> float(mean(x=[1.0, 2.0, 6.0]))
        3.0
    """
    return handle(size_node(size_of(of)))


def size_of(value: Any) -> Size:
    """Return a size from a number, a name, a computed size, or a formula made of these with + - *.

    Raises:
        UsageError: for anything else.
    """
    if isinstance(value, Extent):
        return value
    if isinstance(value, str):
        if is_name(value):
            return value
    elif isinstance(value, Expr):
        found = _size_of_node(value.node)
        if found is not None:
            return found
    elif value is not None and not isinstance(value, bool | float):
        try:
            return whole(value)
        except TypeError:
            pass
    raise UsageError(
        f"{value!r} is not the size of an axis",
        expected="a whole number, a name such as 'n', or an entry of a shape",
        cure="a size that is not known yet gets a name, which is bound when values arrive"
        if value is None
        else None,
    )


def _size_of_node(node: Node) -> Size | None:
    if node.op is SIZE:
        return node.params[0]
    if node.op is NUMBER:
        return node.value if isinstance(node.value, int) and node.dtype == "int" else None
    parts = [_size_of_node(a) for a in node.args]
    if node.op.name not in ("add", "mul", "neg") or any(p is None for p in parts):
        return None
    sizes = cast("list[Size]", parts)
    if node.op.name == "neg":
        return size_product([-1, *sizes])
    return size_sum(sizes) if node.op.name == "add" else size_product(sizes)


def shape_of(value: Any) -> Shape:
    """Return a shape from a size or a sequence of sizes."""
    many = isinstance(value, list | tuple)
    return tuple(size_of(s) for s in (cast("Sequence[Any]", value) if many else [value]))


# ------------------------------------------------------------------------------------------------------- reductions


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
    return built(lambda: build.total(node_of(x), axis, keepdims), [x])


def _reduction(name: str, x: Operand, axis: Axis, keepdims: bool) -> Expr:
    return built(lambda: build.reduce_axes(name, node_of(x), axis, keepdims), [x])


def mean(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the arithmetic mean, as ``numpy.mean``; arguments as for `sum`.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> X = sg.tensor("X", ("n", 2))
        >>> sg.mean(X, axis=0)(X=np.array([[1.0, 2.0], [3.0, 6.0]]))
        array([2., 4.])
    """
    return _reduction("mean", x, axis, keepdims)


def prod(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the product of the entries, as ``numpy.prod``; arguments as for `sum`."""
    return _reduction("prod", x, axis, keepdims)


def max(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the largest entry, as ``numpy.max``; arguments as for `sum`. Equal ones share the derivative equally."""
    return _reduction("max", x, axis, keepdims)


def min(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return the smallest entry, as ``numpy.min``; arguments as for `sum`. Equal ones share the derivative equally."""
    return _reduction("min", x, axis, keepdims)


def logsumexp(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return log(sum(exp(x))) without overflow, as ``scipy.special.logsumexp``; arguments as for `sum`.

    Example:
        >>> import symgrad as sg
        >>> z = sg.tensor("z", ("n",))
        >>> round(float(sg.logsumexp(z)(z=[1000.0, 1000.0])), 4)
        1000.6931
    """
    return _reduction("logsumexp", x, axis, keepdims)


def var(x: Operand, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Expr:
    """Return the variance, as ``numpy.var``: the squared distance from the mean, over count - ddof.

    Args:
        x: an array.
        axis: one axis, several, or None for all.
        ddof: what is taken off the count; 1 for the unbiased estimate.
        keepdims: whether the reduced axes stay, with length 1.
    """
    return built(lambda: build.var(node_of(x), axis, keepdims, ddof), [x])


def std(x: Operand, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Expr:
    """Return the standard deviation, as ``numpy.std``; arguments as for `var`."""
    return built(lambda: build.std(node_of(x), axis, keepdims, ddof), [x])


def norm(x: Operand, ord: Any = None, axis: Axis = None, *, keepdims: bool = False) -> Expr:
    """Return a norm, as ``numpy.linalg.norm`` for those that need no decomposition.

    Args:
        x: an array.
        ord: None for the Euclidean (Frobenius) norm; 1, 2 or inf of a vector; 1, inf or "fro" of a matrix.
        axis: one axis for vectors, two for matrices, None for all.
        keepdims: whether the reduced axes stay, with length 1.

    Raises:
        UnsupportedError: for another order.
    """
    return built(lambda: build.vector_norm(node_of(x), ord, axis, keepdims), [x])


def argmax(x: Operand, axis: int | None = None, *, keepdims: bool = False) -> Expr:
    """Return where the largest entry is (the first one), as ``numpy.argmax``: int, so no derivative passes."""
    return built(lambda: build.argument_position("argmax", node_of(x), axis, keepdims), [x])


def argmin(x: Operand, axis: int | None = None, *, keepdims: bool = False) -> Expr:
    """Return where the smallest entry is (the first one), as ``numpy.argmin``: int, so no derivative passes."""
    return built(lambda: build.argument_position("argmin", node_of(x), axis, keepdims), [x])


def softmax(x: Operand, axis: Axis = None) -> Expr:
    """Return exp(x)/sum(exp(x)) without overflow, as ``scipy.special.softmax``.

    Args:
        x: an array.
        axis: over what the result sums to 1; None for all axes.

    Example:
        >>> import symgrad as sg
        >>> z = sg.tensor("z", (2,))
        >>> sg.softmax(z)(z=[800.0, 800.0])
        array([0.5, 0.5])
    """
    return built(lambda: build.over_axes("softmax", node_of(x), axis), [x])


def log_softmax(x: Operand, axis: Axis = None) -> Expr:
    """Return x - logsumexp(x), as ``scipy.special.log_softmax``; arguments as for `softmax`."""
    return built(lambda: build.over_axes("log_softmax", node_of(x), axis), [x])


def cumsum(x: Operand, axis: int | None = None) -> Expr:
    """Return the running sums along an axis, or of the flattened array, as ``numpy.cumsum``."""
    return built(lambda: build.cumulative_sum(node_of(x), axis), [x])


# ----------------------------------------------------------------------------------------------------- contractions


def einsum(subscripts: str, *operands: Operand) -> Expr:
    """Return a sum of products over labelled axes, as ``numpy.einsum``.

    Args:
        subscripts: letters for the axes of each operand, ``...`` for the rest, as in ``"ij,jk->ik"``.
        operands: arrays.

    Raises:
        ShapeError, UsageError: if the subscripts do not fit the operands.

    Example:
        >>> import symgrad as sg
        >>> A, B = sg.tensor("A", ("n", 3)), sg.tensor("B", (3, "m"))
        >>> sg.einsum("ij,jk->ik", A, B).same(A @ B)
        True
    """
    return built(lambda: build.einsum_text(subscripts, *map(node_of, operands)), operands)


def matmul(a: Operand, b: Operand) -> Expr:
    """Return the matrix product, as ``numpy.matmul`` and ``a @ b``.

    Args:
        a: an array of shape (..., n, k) or (k,).
        b: an array of shape (..., k, m) or (k,).

    Raises:
        ShapeError: if the shapes do not fit, with both.
    """
    return built(lambda: build.matmul(node_of(a), node_of(b)), [a, b])


def dot(a: Operand, b: Operand) -> Expr:
    """Return the product over the last axis of a and the last but one of b, as ``numpy.dot``."""
    return built(lambda: build.dot(node_of(a), node_of(b)), [a, b])


def tensordot(a: Operand, b: Operand, axes: Any = 2) -> Expr:
    """Return the product over several axes, as ``numpy.tensordot``.

    Args:
        a: an array.
        b: an array.
        axes: how many last axes of a and first ones of b, or a pair of lists of axes.
    """
    return built(lambda: build.tensordot(node_of(a), node_of(b), axes), [a, b])


def inner(a: Operand, b: Operand) -> Expr:
    """Return the product over the last axis of both, as ``numpy.inner``."""
    return built(lambda: build.inner(node_of(a), node_of(b)), [a, b])


def outer(a: Operand, b: Operand) -> Expr:
    """Return all products of an entry of a and one of b (both flattened), as ``numpy.outer``."""
    return built(lambda: build.outer(node_of(a), node_of(b)), [a, b])


def diag(x: Operand) -> Expr:
    """Return the diagonal of a square matrix, or the matrix with a vector on its diagonal, as ``numpy.diag``."""
    return built(lambda: build.diag(node_of(x)), [x])


# ----------------------------------------------------------------------------------------------------------- layout


def reshape(x: Operand, shape: Any) -> Expr:
    """Return the array with another shape, elements in C order, as ``numpy.reshape``.

    Args:
        x: an array.
        shape: sizes, one of which may be -1.

    Raises:
        ShapeError: if the number of elements differs, whatever the named sizes are.

    Example:
        >>> import symgrad as sg
        >>> X = sg.tensor("X", ("n", 6))
        >>> print(sg.reshape(X, (-1, 3)).shape[0])
        2*n
    """
    return built(lambda: build.reshaped(node_of(x), shape_of(shape)), [x])


def broadcast_to(x: Operand, shape: Any) -> Expr:
    """Return the array repeated along axes of length 1 and new leading ones, as ``numpy.broadcast_to``."""
    return built(lambda: build.broadcast(node_of(x), shape_of(shape)), [x])


def transpose(x: Operand, axes: Sequence[int] | None = None) -> Expr:
    """Return the array with its axes in another order (reversed, if none is given), as ``numpy.transpose``."""
    return built(lambda: build.permute(node_of(x), axes), [x])


def swapaxes(x: Operand, axis1: int, axis2: int) -> Expr:
    """Return the array with two axes exchanged, as ``numpy.swapaxes``."""
    return built(lambda: build.swapaxes(node_of(x), axis1, axis2), [x])


def moveaxis(x: Operand, source: Any, destination: Any) -> Expr:
    """Return the array with axes moved to other places, as ``numpy.moveaxis``."""
    return built(lambda: build.moveaxis(node_of(x), source, destination), [x])


def expand_dims(x: Operand, axis: Any) -> Expr:
    """Return the array with new axes of length 1 at these places of the result, as ``numpy.expand_dims``."""
    return built(lambda: build.expand_dims(node_of(x), axis), [x])


def squeeze(x: Operand, axis: Axis = None) -> Expr:
    """Return the array without axes of length 1, as ``numpy.squeeze``; a named size is not taken for 1."""
    return built(lambda: build.squeeze_axes(node_of(x), axis), [x])


def flip(x: Operand, axis: Axis = None) -> Expr:
    """Return the array with the entries along axes in reverse order, as ``numpy.flip``."""
    return built(lambda: build.flip(node_of(x), axis), [x])


def concatenate(arrays: Sequence[Operand], axis: int = 0) -> Expr:
    """Return arrays one after the other along an axis, as ``numpy.concatenate``.

    Args:
        arrays: arrays whose other sizes are equal.
        axis: the axis along which they are joined.

    Example:
        >>> import symgrad as sg
        >>> a, b = sg.tensor("a", ("n",)), sg.tensor("b", ("m",))
        >>> print(sg.concatenate([a, b]).shape[0])
        m + n
    """
    return built(lambda: build.join([node_of(a) for a in arrays], axis), arrays)


def stack(arrays: Sequence[Operand], axis: int = 0) -> Expr:
    """Return arrays of one shape along a new axis, as ``numpy.stack``."""
    return built(lambda: build.stack([node_of(a) for a in arrays], axis), arrays)


# ---------------------------------------------------------------------------------------------------------- indexing


def take(x: Operand, indices: Any, axis: int | None = None) -> Expr:
    """Return entries by position, as ``numpy.take``: a gather, whose gradient is a `scatter_add`.

    Args:
        x: an array.
        indices: an int array (an Expr), an int, or a list of ints; negative ones count from the end.
        axis: the axis, or None for the flattened array.

    Raises:
        DomainError: if the indices are not ints.

    Example:
        >>> import symgrad as sg
        >>> table, ids = sg.tensor("table", ("words", 8)), sg.tensor("ids", ("batch", 4), "int")
        >>> sg.take(table, ids, axis=0).shape
        ('batch', 4, 8)
    """
    positions = node_of(indices) if isinstance(indices, Expr) else indices
    return built(lambda: subscripts.take(node_of(x), positions, axis), [x, indices])


def take_along_axis(x: Operand, indices: Expr, axis: int) -> Expr:
    """Return one entry for each position, the other axes side by side, as ``numpy.take_along_axis``."""
    return built(lambda: subscripts.take_along_axis(node_of(x), node_of(indices), axis), [x, indices])


def scatter_add(values: Operand, indices: Expr, shape: Any) -> Expr:
    """Return zeros of a shape with rows of values added at positions of axis 0; equal positions add up.

    Args:
        values: an array of shape ``indices.shape + shape[1:]``.
        indices: an int array.
        shape: the shape of the result.

    Raises:
        ShapeError: if the values have another shape.

    Example:
        >>> import symgrad as sg
        >>> v, ids = sg.tensor("v", ("n",)), sg.tensor("ids", ("n",), "int")
        >>> sg.scatter_add(v, ids, (3,))(v=[1.0, 2.0, 4.0], ids=[0, 2, 2])
        array([1., 0., 6.])
    """
    sizes = shape_of(shape)
    return built(lambda: scatter(node_of(values), node_of(indices), params=((0,), sizes)), [values, indices])


def one_hot(indices: Any, depth: SizeLike) -> Expr:
    """Return 1 at each position along a new last axis and 0 elsewhere, as ``jax.nn.one_hot``.

    Args:
        indices: an int array; a position outside gives a row of zeros.
        depth: the length of the new axis.
    """
    return built(lambda: build.onehot(node_of(indices), size_of(depth)), [indices])


# --------------------------------------------------------------------------------------------------------- constants


def full(shape: Any, value: Operand) -> Expr:
    """Return an array of one value, as ``numpy.full``; sizes may be names, if an input has them."""
    return built(lambda: build.full_array(shape_of(shape), node_of(value)), [value])


def zeros(shape: Any) -> Expr:
    """Return an array of zeros, as ``numpy.zeros``."""
    return full(shape, 0)


def ones(shape: Any) -> Expr:
    """Return an array of ones, as ``numpy.ones``."""
    return full(shape, 1)


def eye(rows: SizeLike, columns: SizeLike | None = None) -> Expr:
    """Return the identity matrix, as ``numpy.eye``."""
    return handle(build.identity(size_of(rows), None if columns is None else size_of(columns)))


def arange(stop: SizeLike) -> Expr:
    """Return 0, 1, ..., stop - 1, as ``numpy.arange``: int."""
    return handle(build.arange(size_of(stop)))


# --------------------------------------------------------------------------------------------------------- subscripts


def subscript(x: Expr, key: Any) -> Expr:
    """Return ``x[key]`` with NumPy's meaning; see `symgrad.ops.subscripts.index`."""
    items = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
    plain = tuple(_item(item) for item in items)
    return built(lambda: subscripts.index(as_expr(x).node, plain), [x, *items])


def _item(item: Any) -> Any:
    if isinstance(item, Expr):
        return item.node
    if isinstance(item, slice):
        given = cast("slice[Any, Any, Any]", item)
        start, stop = (None if e is None else size_of(e) for e in (given.start, given.stop))
        return slice(start, stop, None if given.step is None else whole(given.step))
    if item is None or item is Ellipsis or isinstance(item, bool | list | str):
        return cast("Any", item)
    try:
        return whole(item)
    except TypeError:
        pass
    raise UsageError(
        f"a subscript of type {type(item).__name__}",
        expected="a whole number, a slice, None, ..., an int expression or a list of whole numbers",
        cure="write positions as a list, x[[0, 2]], or make them an int input",
    )
