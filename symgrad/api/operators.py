"""Python's and NumPy's operators on expressions: what you write is what is built, nothing is evaluated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from symgrad.errors import UnsupportedError
from symgrad.ir.op import OPS
from symgrad.ir.written import form_of

if TYPE_CHECKING:
    from symgrad.api.expr import Expr, ExprLike
    from symgrad.ir.graph import Node

__all__ = ["Operators"]

# NumPy functions that are operators here.
_UNARY: dict[str, Callable[[Expr], Expr]] = {
    "positive": lambda x: x,
    "fabs": abs,
    "around": round,
}
_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "subtract": lambda x, y: x - y,
    "float_power": lambda x, y: x**y,
}


def _spelling(function: Callable[..., Any]) -> str:
    """Return how a function is called, without types."""
    plain = [p.replace(annotation=Parameter.empty) for p in signature(function).parameters.values()]
    return f"{function.__name__}{Signature(plain)}"


class Operators(ABC):
    """The operators of `Expr`, over six things that it supplies."""

    __slots__ = ()

    @property
    @abstractmethod
    def node(self) -> Node:
        """The node of the graph (internal: see ``symgrad.ir.graph``)."""

    @abstractmethod
    def _apply(self, name: str, *args: Any) -> Expr:
        """Return an op applied to expressions and numbers."""

    @abstractmethod
    def _lift(self, value: Any) -> Expr:
        """Return an expression as it is, a number as a constant."""

    @abstractmethod
    def _minus(self, value: Any) -> Expr:
        """Return what adding subtracts the value."""

    @abstractmethod
    def _foreign(self, value: Any) -> bool:
        """Tell whether a value is of no kind that stands in formulas."""

    @abstractmethod
    def _leaves(self, value: Any) -> bool:
        """Tell whether arithmetic leaves a foreign value to its own class; it may refuse it instead."""

    def _with_other(self, name: str, other: Any) -> Expr:
        return NotImplemented if self._leaves(other) else self._apply(name, self, other)

    def _of_other(self, name: str, other: Any) -> Expr:
        return NotImplemented if self._leaves(other) else self._apply(name, other, self)

    def __add__(self, other: ExprLike) -> Expr:
        return self._with_other("add", other)

    def __radd__(self, other: ExprLike) -> Expr:
        return self._of_other("add", other)

    def __sub__(self, other: ExprLike) -> Expr:
        return NotImplemented if self._leaves(other) else self._apply("add", self, self._minus(other))

    def __rsub__(self, other: ExprLike) -> Expr:
        return NotImplemented if self._leaves(other) else self._apply("add", other, -self)

    def __mul__(self, other: ExprLike) -> Expr:
        return self._with_other("mul", other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return self._of_other("mul", other)

    def __truediv__(self, other: ExprLike) -> Expr:
        return self._with_other("div", other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return self._of_other("div", other)

    def __pow__(self, other: ExprLike) -> Expr:
        return self._with_other("pow", other)

    def __rpow__(self, other: ExprLike) -> Expr:
        return self._of_other("pow", other)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return self._with_other("floor_divide", other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return self._of_other("floor_divide", other)

    def __mod__(self, other: ExprLike) -> Expr:
        return self._with_other("remainder", other)

    def __rmod__(self, other: ExprLike) -> Expr:
        return self._of_other("remainder", other)

    def __divmod__(self, other: ExprLike) -> tuple[Expr, Expr]:
        return NotImplemented if self._leaves(other) else (self // other, self % other)

    def __rdivmod__(self, other: ExprLike) -> tuple[Expr, Expr]:
        return NotImplemented if self._leaves(other) else (other // self, other % self)

    def __neg__(self) -> Expr:
        return self._apply("neg", self)

    def __matmul__(self, other: ExprLike) -> Expr:
        return NotImplemented if self._leaves(other) else self._numpy("matmul", (self, other))

    def __rmatmul__(self, other: ExprLike) -> Expr:
        return NotImplemented if self._leaves(other) else self._numpy("matmul", (other, self))

    def __pos__(self) -> Expr:
        return self._lift(self)

    def __abs__(self) -> Expr:
        return self._apply("abs", self)

    def __floor__(self) -> Expr:
        return self._apply("floor", self)

    def __ceil__(self) -> Expr:
        return self._apply("ceil", self)

    def __round__(self, digits: int = 0) -> Expr:
        if digits:
            raise UnsupportedError("round() to decimals is not an operation here", cure="round(x*100)/100")
        return self._apply("round", self)

    def __lt__(self, other: ExprLike) -> Expr:
        return self._with_other("lt", other)

    def __le__(self, other: ExprLike) -> Expr:
        return self._with_other("le", other)

    def __gt__(self, other: ExprLike) -> Expr:
        return self._with_other("gt", other)

    def __ge__(self, other: ExprLike) -> Expr:
        return self._with_other("ge", other)

    @overload
    def __eq__(self, other: ExprLike) -> Expr: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __eq__(self, other: object) -> bool: ...
    def __eq__(self, other: object) -> Any:
        return NotImplemented if self._foreign(other) else self._apply("eq", self, other)

    @overload
    def __ne__(self, other: ExprLike) -> Expr: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __ne__(self, other: object) -> bool: ...
    def __ne__(self, other: object) -> Any:
        return NotImplemented if self._foreign(other) else self._apply("ne", self, other)

    def __and__(self, other: ExprLike) -> Expr:
        return self._with_other("and_", other)

    def __rand__(self, other: ExprLike) -> Expr:
        return self._of_other("and_", other)

    def __or__(self, other: ExprLike) -> Expr:
        return self._with_other("or_", other)

    def __ror__(self, other: ExprLike) -> Expr:
        return self._of_other("or_", other)

    def __xor__(self, other: ExprLike) -> Expr:
        return self._with_other("xor", other)

    def __rxor__(self, other: ExprLike) -> Expr:
        return self._of_other("xor", other)

    def __invert__(self) -> Expr:
        return self._apply("not_", self)

    # -- NumPy -----------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Expr:
        """Build the op of a NumPy (or SciPy) ufunc called on expressions."""
        if method != "__call__" or any(v is not None for v in options.values()):
            raise UnsupportedError(
                f"numpy.{ufunc.__name__} with {method if method != '__call__' else 'options'} on an expression",
                cure="call it plainly, or compile the expression and use the kernel's ufunc",
            )
        if any(self._foreign(i) and not isinstance(i, list | tuple | np.ndarray) for i in inputs):
            return NotImplemented
        return self._numpy(ufunc.__name__, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Build what a NumPy function such as ``numpy.where`` or ``numpy.sum`` means for expressions."""
        module = str(function.__module__).removeprefix("numpy").removeprefix(".")
        return self._numpy(f"{module}.{function.__name__}" if module else function.__name__, args, options)

    def _numpy(self, name: str, args: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
        from symgrad.api.numpy_names import NUMPY

        if name in NUMPY:
            function = NUMPY[name]
            try:
                signature(function).bind(*args, **(options or {}))
            except TypeError as error:
                raise UnsupportedError(
                    f"numpy.{name} on an expression: {error}", expected=_spelling(function)
                ) from None
            return function(*args, **(options or {}))
        if options:
            raise UnsupportedError(f"numpy.{name} with options on an expression")
        if name in _UNARY and len(args) == 1:
            return _UNARY[name](self._lift(args[0]))
        if name in _BINARY and len(args) == 2:
            return _BINARY[name](self._lift(args[0]), self._lift(args[1]))
        if name == "divmod" and len(args) == 2:
            return divmod(self._lift(args[0]), self._lift(args[1]))
        if form_of(name, len(args)) is None and not (name in OPS and OPS[name].pointwise):
            raise UnsupportedError(
                f"numpy.{name} has no op of that name",
                expected="a function of a formula, elementwise or one of the array functions of symgrad",
                cure="x % y has the sign of y"
                if name == "fmod"
                else "write it with the functions of symgrad",
            )
        return self._apply(name, *args)
