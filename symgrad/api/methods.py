"""The methods that arrays have in NumPy, for expressions: each is the function of that name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from symgrad.api.expr import Expr

__all__ = ["ArrayMethods"]


class ArrayMethods(ABC):
    """The methods of NumPy's arrays, over one thing that `Expr` supplies."""

    __slots__ = ()

    @abstractmethod
    def _numpy(self, name: str, args: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
        """Return what a NumPy function means for expressions."""

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
