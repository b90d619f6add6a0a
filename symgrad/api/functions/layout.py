"""Functions of expressions that move, select and place entries, under their NumPy names; arrays of constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from symgrad.api.functions.arrays import Axis, Operand
from symgrad.api.functions.numpy_names import NUMPY
from symgrad.api.functions.sizes import length_of, shape_of, size_of
from symgrad.api.handles.expr import Expr, build_expr, handle, node_of
from symgrad.ir.graph import size_node
from symgrad.ir.sizes import Size
from symgrad.ops.array.indexing import scatter_add as scatter
from symgrad.ops.numpy import calls as build

__all__ = [
    "arange",
    "broadcast_to",
    "concatenate",
    "expand_dims",
    "eye",
    "flip",
    "full",
    "moveaxis",
    "one_hot",
    "ones",
    "pad",
    "reshape",
    "scatter_add",
    "size",
    "squeeze",
    "stack",
    "swapaxes",
    "take",
    "take_along_axis",
    "transpose",
    "zeros",
]

SizeLike: TypeAlias = "Size | Expr"


def reshape(x: Operand, shape: Any) -> Expr:
    """Return the array with another shape, with elements in C order, as ``numpy.reshape``.

    Args:
        x: an array.
        shape: sizes, one of which may be -1.

    Raises:
        ShapeError: if the number of elements differs for all values of the named sizes.

    Example:
        >>> import symgrad as sg
        >>> X = sg.tensor("X", ("n", 6))
        >>> print(sg.arrays.reshape(X, (-1, 3)).shape[0])
        2*n
    """
    return NUMPY["reshape"](Expr, x, shape)


def broadcast_to(x: Operand, shape: Any) -> Expr:
    """Return the array repeated along axes of length 1 and along new leading axes, as ``numpy.broadcast_to``."""
    return NUMPY["broadcast_to"](Expr, x, shape)


def transpose(x: Operand, axes: Sequence[int] | None = None) -> Expr:
    """Return the array with its axes in another order (by default reversed), as ``numpy.transpose``."""
    return NUMPY["transpose"](Expr, x, axes)


def swapaxes(x: Operand, axis1: int, axis2: int) -> Expr:
    """Return the array with two axes exchanged, as ``numpy.swapaxes``."""
    return NUMPY["swapaxes"](Expr, x, axis1, axis2)


def moveaxis(x: Operand, source: Any, destination: Any) -> Expr:
    """Return the array with axes moved to other places, as ``numpy.moveaxis``."""
    return NUMPY["moveaxis"](Expr, x, source, destination)


def expand_dims(x: Operand, axis: Any) -> Expr:
    """Return the array with new axes of length 1 at given places of the result, as ``numpy.expand_dims``."""
    return NUMPY["expand_dims"](Expr, x, axis)


def squeeze(x: Operand, axis: Axis = None) -> Expr:
    """Return the array without axes of length 1, as ``numpy.squeeze``; axes with named sizes stay."""
    return NUMPY["squeeze"](Expr, x, axis)


def flip(x: Operand, axis: Axis = None) -> Expr:
    """Return the array with the entries along axes in reverse order, as ``numpy.flip``."""
    return NUMPY["flip"](Expr, x, axis)


def pad(
    x: Operand,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: float = 0,
) -> Expr:
    """Return an array with zeros around it, as ``numpy.pad``.

    Args:
        x: an array.
        pad_width: the numbers of zeros before and after, for each axis; or one pair or one number for all axes. A width
            may be the named size of an axis, whose value is only known in a call. An axis of ``maximum(n - k, 0)``
            entries, such as the axis of a slice, has n entries after padding with k zeros; if n is less than k, there
            is nothing to pad.
        mode: only "constant".
        constant_values: only 0.

    Raises:
        ShapeError: for widths that do not match the axes of x.
        UnsupportedError: for another mode, or for a value other than 0.

    Example:
        >>> import symgrad as sg
        >>> x = sg.tensor("x", ("n",))
        >>> print(sg.arrays.pad(x[1:], (1, 0)), sg.arrays.pad(x[1:], (1, 0)).shape)
        pad(x[1:], (1, 0)) ('n',)
    """
    return NUMPY["pad"](Expr, x, pad_width, mode, constant_values=constant_values)


def concatenate(arrays: Sequence[Operand], axis: int = 0) -> Expr:
    """Return arrays joined along an axis, as ``numpy.concatenate``.

    Args:
        arrays: arrays whose other sizes are equal.
        axis: the axis along which they are joined.

    Example:
        >>> import symgrad as sg
        >>> a, b = sg.tensor("a", ("n",)), sg.tensor("b", ("m",))
        >>> print(sg.arrays.concatenate([a, b]).shape[0])
        m + n
    """
    return NUMPY["concatenate"](Expr, arrays, axis)


def stack(arrays: Sequence[Operand], axis: int = 0) -> Expr:
    """Return arrays of the same shape joined along a new axis, as ``numpy.stack``."""
    return NUMPY["stack"](Expr, arrays, axis)


# ----------------------------------------------------------------------------------------------------------- indexing


def take(x: Operand, indices: Any, axis: int | None = None) -> Expr:
    """Return entries by position, as ``numpy.take``: a gather, whose gradient is a `scatter_add`.

    Args:
        x: an array.
        indices: an int array (an Expr), an int, or a list of ints; negative positions count from the end.
        axis: the axis, or None for the flattened array.

    Raises:
        DomainError: if the indices are not ints.

    Example:
        >>> import symgrad as sg
        >>> table, ids = sg.tensor("table", ("words", 8)), sg.tensor("ids", ("batch", 4), "int")
        >>> sg.arrays.take(table, ids, axis=0).shape
        ('batch', 4, 8)
    """
    return NUMPY["take"](Expr, x, indices, axis)


def take_along_axis(x: Operand, indices: Expr, axis: int) -> Expr:
    """Return the entry at each position along an axis, with other axes matched, as ``numpy.take_along_axis``."""
    return NUMPY["take_along_axis"](Expr, x, indices, axis)


def scatter_add(values: Operand, indices: Expr, shape: Any) -> Expr:
    """Return zeros of a shape with rows of values added at positions of axis 0; rows at equal positions add up.

    Args:
        values: an array of shape ``indices.shape + shape[1:]``.
        indices: an int array.
        shape: the shape of the result.

    Raises:
        ShapeError: if the values have another shape.

    Example:
        >>> import symgrad as sg
        >>> v, ids = sg.tensor("v", ("n",)), sg.tensor("ids", ("n",), "int")
        >>> sg.arrays.scatter_add(v, ids, (3,))(v=[1.0, 2.0, 4.0], ids=[0, 2, 2])
        array([1., 0., 6.])
    """
    sizes = shape_of(shape)
    return build_expr(
        lambda: scatter(node_of(values), node_of(indices), params=((0,), sizes)), [values, indices]
    )


def one_hot(indices: Any, depth: SizeLike) -> Expr:
    """Return 1 at each position along a new last axis and 0 elsewhere, as ``jax.nn.one_hot``.

    Args:
        indices: an int array; a position out of range gives a row of zeros.
        depth: the length of the new axis.
    """
    return build_expr(lambda: build.onehot(node_of(indices), length_of(depth)), [indices])


# ---------------------------------------------------------------------------------------------------------- constants


def full(shape: Any, value: Operand) -> Expr:
    """Return an array with the same value everywhere, as ``numpy.full``; sizes may be names that an input has."""
    return build_expr(lambda: build.full_array(shape_of(shape), node_of(value)), [value])


def zeros(shape: Any) -> Expr:
    """Return an array of zeros, as ``numpy.zeros``."""
    return full(shape, 0)


def ones(shape: Any) -> Expr:
    """Return an array of ones, as ``numpy.ones``."""
    return full(shape, 1)


def eye(rows: SizeLike, columns: SizeLike | None = None) -> Expr:
    """Return the identity matrix, as ``numpy.eye``."""
    return handle(build.identity(length_of(rows), None if columns is None else length_of(columns)))


def arange(stop: SizeLike) -> Expr:
    """Return the ints 0, 1, ..., stop - 1, as ``numpy.arange``."""
    return handle(build.arange(length_of(stop)))


def size(of: SizeLike) -> Expr:
    """Return a size as a number in a formula: the length of an axis, which is known in a call.

    Args:
        of: the name of a size, or an entry of a ``shape``.

    Example:
        >>> import symgrad as sg
        >>> x = sg.tensor("x", ("n",))
        >>> mean = sg.sum(x)/sg.size("n")
        >>> float(mean(x=[1.0, 2.0, 6.0]))
        3.0
    """
    return handle(size_node(size_of(of)))
