"""The methods that arrays have in NumPy, for expressions: each is the function of that name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from symgrad.api.operators import Operators
from symgrad.errors import ShapeError
from symgrad.ir.sizes import Shape, Size, size_product

if TYPE_CHECKING:
    from symgrad.api.expr import Expr

__all__ = ["ArrayMethods"]

_SCALAR = "a scalar expression (an array is declared with its shape, sg.tensor('x', (3,)))"


class ArrayMethods(Operators):
    """The attributes and methods of NumPy's arrays."""

    __slots__ = ()

    @property
    def shape(self) -> Shape:
        """The shape; () for a scalar. Sizes are numbers, names, or computed from names (``n + m``)."""
        return self.node.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> Size:
        """The number of elements; `symgrad.size` makes it a number of a formula."""
        return size_product(self.node.shape)

    def __getitem__(self, key: Any) -> Expr:
        """Return entries, with NumPy's subscripts to the letter: ints, slices, None, ``...``, int arrays.

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
        from symgrad.api.layout import subscript

        return subscript(cast("Expr", self), key)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{_SCALAR} has no length")
        length = self.shape[0]
        if not isinstance(length, int):
            raise ShapeError(
                f"the length of '{self}' is {length}, which is known when values arrive",
                cure=f"its name is x.shape[0], the number sg.size({str(length)!r}); or declare a number",
            )
        return length

    def __iter__(self) -> Iterator[Expr]:
        if not self.shape:
            raise TypeError(f"{_SCALAR} is not iterable")
        length = self.shape[0]
        if not isinstance(length, int):
            raise ShapeError(
                f"iteration over an axis of length {length}, which is known when values arrive",
                cure="write it for the whole array (x**2, sum(x, axis=0)), or declare a number for this size",
            )
        return (self[i] for i in range(length))

    @property
    def T(self) -> Expr:  # noqa: N802  (its name in NumPy)
        """The array with its axes in reverse order."""
        return self._numpy("transpose", (self,))

    def transpose(self, *axes: Any) -> Expr:
        """Return the array with its axes in another order, as ``numpy.ndarray.transpose``."""
        return self._numpy("transpose", (self, _spread(axes) or None))

    def reshape(self, *shape: Any) -> Expr:
        """Return the array with another shape, given as one tuple or as sizes: see `symgrad.reshape`."""
        return self._numpy("reshape", (self, _spread(shape)))

    def dot(self, other: Any) -> Expr:
        """Return the product with another array: see `symgrad.dot`."""
        return self._numpy("dot", (self, other))

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Expr:
        """Return the sum of the entries: see `symgrad.sum`."""
        return self._numpy("sum", (self, axis), {"keepdims": keepdims})

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Expr:
        """Return the arithmetic mean: see `symgrad.mean`."""
        return self._numpy("mean", (self, axis), {"keepdims": keepdims})

    def prod(self, axis: Any = None, *, keepdims: bool = False) -> Expr:
        """Return the product of the entries: see `symgrad.prod`."""
        return self._numpy("prod", (self, axis), {"keepdims": keepdims})

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Expr:
        """Return the largest entry: see `symgrad.max`."""
        return self._numpy("max", (self, axis), {"keepdims": keepdims})

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Expr:
        """Return the smallest entry: see `symgrad.min`."""
        return self._numpy("min", (self, axis), {"keepdims": keepdims})

    def var(self, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> Expr:
        """Return the variance: see `symgrad.var`."""
        return self._numpy("var", (self, axis), {"ddof": ddof, "keepdims": keepdims})

    def std(self, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> Expr:
        """Return the standard deviation: see `symgrad.std`."""
        return self._numpy("std", (self, axis), {"ddof": ddof, "keepdims": keepdims})


def _spread(args: tuple[Any, ...]) -> Any:
    if len(args) == 1 and isinstance(args[0], list | tuple):
        return cast("Any", args[0])
    return args
