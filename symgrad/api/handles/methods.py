"""The methods of NumPy's arrays, for expressions: each is the function of the same name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from symgrad.api.foreign_names import no_attribute, refuse_torch_arguments
from symgrad.api.handles.construction import make
from symgrad.api.handles.convert import cure_in_numpy
from symgrad.api.handles.operators import Operators
from symgrad.ir.sizes import Shape, Size, not_called, size_product
from symgrad.support.errors import OperandError, ShapeError

_SCALAR = "a scalar expression (an array is declared with its shape, sg.tensor('x', (3,)))"


class ArrayMethods(Operators):
    """The attributes and methods of NumPy's arrays."""

    __slots__ = ()

    @property
    def shape(self) -> Shape:
        """The shape; () for a scalar. Sizes are numbers, names, or formulas of names (``n + m``)."""
        return self.node.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> Size:
        """The number of elements; `symgrad.size` turns it into a number in a formula."""
        found = size_product(self.node.shape)
        return _Number(found) if isinstance(found, int) else _Name(found) if isinstance(found, str) else found

    def __getitem__(self, key: Any) -> Self:
        """Return entries by NumPy's subscripts, with the same meaning: ints, slices, None, ``...``, int arrays.

        Index arrays are int expressions or lists of ints. Ends of slices may be sizes: ``x[1:sg.size("n") - 1]``.

        Raises:
            IndexRangeError: for an int outside an axis of known length.
            ShapeError: for more subscripts than axes.
            UnsupportedError: for a mask of truth values.

        Example:
            >>> import symgrad as sg
            >>> X = sg.tensor("X", ("n", 5))
            >>> X[:, 1:3].shape, X[0].shape, X[..., None, [0, 2, 2]].shape
            (('n', 2), (5,), ('n', 1, 3))
        """
        from symgrad.api.functions.sizes import (
            subscript_of,  # for start-up time: many programs have no subscripts
        )
        from symgrad.ops.numpy.subscripts import index

        items = _without_masks(self.shape, cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,))
        plain = tuple(subscript_of(item) for item in items)
        return make(type(self), lambda: index(self.node, plain), [self, *items])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{_SCALAR} has no length")
        length = self.shape[0]
        if not isinstance(length, int):
            raise ShapeError(
                f"the length of '{self}' is {length}, which is known only in a call",
                cure=f"its name is x.shape[0], the number sg.size({str(length)!r}), and a loop over it sg.fori_loop(0, "
                f"{str(length)!r}, ...); or declare a number",
            )
        return length

    def __iter__(self) -> Iterator[Self]:
        if not self.shape:
            raise TypeError(f"{_SCALAR} is not iterable")
        length = self.shape[0]
        if not isinstance(length, int):
            raise ShapeError(
                f"iteration over an axis of length {length}, which is known only in a call",
                cure="write it for the whole array (x**2, sum(x, axis=0)) or as a loop, sg.scan(f, h, x); or declare a "
                "number for this size",
            )
        return (self[i] for i in range(length))

    @property
    def T(self) -> Self:  # noqa: N802  (its name in NumPy)
        """The array with its axes in reverse order."""
        return self._numpy("transpose", (self,))

    def transpose(self, *axes: Any) -> Self:
        """Return the array with its axes in another order, as ``numpy.ndarray.transpose``."""
        return self._numpy("transpose", (self, _spread(axes) or None))

    def reshape(self, *shape: Any) -> Self:
        """Return the array with another shape, passed as one tuple or as sizes; see `symgrad.reshape`."""
        return self._numpy("reshape", (self, _spread(shape)))

    @property
    def mT(self) -> Self:  # noqa: N802  (its name in NumPy)
        """The array with its last two axes swapped."""
        return self._numpy("swapaxes", (self, -1, -2))

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Return the array with two axes swapped: see `symgrad.swapaxes`."""
        return self._numpy("swapaxes", (self, axis1, axis2))

    @refuse_torch_arguments
    def squeeze(self, axis: Any = None) -> Self:
        """Return the array without axes of length 1: see `symgrad.squeeze`."""
        return self._numpy("squeeze", (self, axis))

    def ravel(self) -> Self:
        """Return the entries along one axis, as ``numpy.ndarray.ravel``."""
        return self._numpy("ravel", (self,))

    def flatten(self) -> Self:
        """Return the entries along one axis, as ``numpy.ndarray.flatten``."""
        return self._numpy("ravel", (self,))

    @refuse_torch_arguments
    def take(self, indices: Any, axis: int | None = None) -> Self:
        """Return the entries at positions: see `symgrad.take`."""
        return self._numpy("take", (self, indices, axis))

    def clip(self, min: Any = None, max: Any = None) -> Self:
        """Return the entries clipped to bounds, one of which may be None; see `symgrad.clip`."""
        if min is not None and max is not None:
            return self._apply("clip", self, min, max)
        if max is not None:
            return self._apply("minimum", self, max)
        return self._lift(self) if min is None else self._apply("maximum", self, min)

    def round(self, decimals: int = 0) -> Self:
        """Return the nearest whole numbers: see `symgrad.round`."""
        return round(self, decimals)

    def trace(self) -> Self:
        """Return the sum of the diagonal: see `symgrad.trace`."""
        return self._numpy("trace", (self,))

    @refuse_torch_arguments
    def cumsum(self, axis: int | None = None) -> Self:
        """Return the running sums: see `symgrad.cumsum`."""
        return self._numpy("cumsum", (self, axis))

    @refuse_torch_arguments
    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Self:
        """Return the position of the largest entry: see `symgrad.argmax`."""
        return self._numpy("argmax", (self, axis), {"keepdims": keepdims})

    @refuse_torch_arguments
    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Self:
        """Return the position of the smallest entry: see `symgrad.argmin`."""
        return self._numpy("argmin", (self, axis), {"keepdims": keepdims})

    def dot(self, other: Any) -> Self:
        """Return the product with another array: see `symgrad.dot`."""
        return self._numpy("dot", (self, other))

    @refuse_torch_arguments
    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """Return the sum of the entries: see `symgrad.sum`."""
        return self._numpy("sum", (self, axis), {"keepdims": keepdims})

    @refuse_torch_arguments
    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """Return the arithmetic mean: see `symgrad.mean`."""
        return self._numpy("mean", (self, axis), {"keepdims": keepdims})

    @refuse_torch_arguments
    def prod(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """Return the product of the entries: see `symgrad.prod`."""
        return self._numpy("prod", (self, axis), {"keepdims": keepdims})

    @refuse_torch_arguments
    def max(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """Return the largest entry: see `symgrad.max`."""
        return self._numpy("max", (self, axis), {"keepdims": keepdims})

    @refuse_torch_arguments
    def min(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """Return the smallest entry: see `symgrad.min`."""
        return self._numpy("min", (self, axis), {"keepdims": keepdims})

    @refuse_torch_arguments
    def var(self, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> Self:
        """Return the variance: see `symgrad.var`."""
        return self._numpy("var", (self, axis), {"ddof": ddof, "keepdims": keepdims})

    @refuse_torch_arguments
    def std(self, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> Self:
        """Return the standard deviation: see `symgrad.std`."""
        return self._numpy("std", (self, axis), {"ddof": ddof, "keepdims": keepdims})

    if not TYPE_CHECKING:  # a type checker reports unknown attributes

        def __setitem__(self, key: Any, value: Any) -> None:
            raise OperandError(
                "an expression never changes: its entries cannot be set",
                cure=cure_in_numpy(
                    "sg.where(sg.arrays.arange(5) == 2, new, x) is x with another x[2]",
                    "np.where(np.arange(5) == 2, new, x) is x with another x[2]; np.stack joins parts",
                ),
            )

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # protocols of Python and libraries
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

            raise no_attribute(self, name)


def _without_masks(shape: Shape, items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return subscripts in which arrays of truth values are the positions at which they are true."""
    masks: list[Any] = [
        item for item in items if isinstance(item, np.ndarray) and cast("Any", item).dtype == bool
    ]
    if not masks:
        return items
    found: list[Any] = []
    for item in items:
        if not any(item is mask for mask in masks):
            found.append(item)
            continue
        first = sum(i is not None for i in found)
        if any(i is Ellipsis for i in found) or shape[first : first + item.ndim] != item.shape:
            raise ShapeError(
                f"a mask of shape {item.shape} for an array of shape {shape}",
                expected="a mask of the shape of the axes that it stands for",
                cure="np.where(mask, x, 0) keeps the shape",
            )
        found += np.nonzero(item)
    return tuple(found)


class _Number(int):
    """A number of entries; a call, as in torch, is an error."""

    __slots__ = ()
    __call__ = not_called


class _Name(str):
    """A named number of entries."""

    __slots__ = ()
    __call__ = not_called


def _spread(args: tuple[Any, ...]) -> Any:
    if len(args) == 1 and isinstance(args[0], list | tuple):
        return cast("Any", args[0])
    return args
