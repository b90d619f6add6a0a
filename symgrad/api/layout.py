"""Functions that move, pick and place entries, on expressions, under their NumPy names; and arrays of constants."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as whole
from typing import Any, cast

from symgrad.api.arrays import Axis, Operand
from symgrad.api.expr import Expr, as_expr, built, handle, node_of
from symgrad.api.sizes import SizeLike, length_of, shape_of, size_of
from symgrad.errors import UsageError
from symgrad.ops import build, subscripts
from symgrad.ops.indexing import scatter_add as scatter

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
    "reshape",
    "scatter_add",
    "squeeze",
    "stack",
    "subscript",
    "swapaxes",
    "take",
    "take_along_axis",
    "transpose",
    "zeros",
]


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
    return built(lambda: build.reshaped(node_of(x), shape_of(shape, rest=True)), [x])


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


# ----------------------------------------------------------------------------------------------------------- indexing


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
    return built(lambda: build.onehot(node_of(indices), length_of(depth)), [indices])


# ---------------------------------------------------------------------------------------------------------- constants


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
    return handle(build.identity(length_of(rows), None if columns is None else length_of(columns)))


def arange(stop: SizeLike) -> Expr:
    """Return 0, 1, ..., stop - 1, as ``numpy.arange``: int."""
    return handle(build.arange(length_of(stop)))


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
