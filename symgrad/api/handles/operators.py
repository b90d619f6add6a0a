"""Python's and NumPy's operators on expressions. Each builds one op; nothing is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, Self, overload

import numpy as np

from symgrad.api.handles.base import Handle, Number, handle_on
from symgrad.api.handles.construction import lift, make_op
from symgrad.api.handles.convert import defers_to_class, is_foreign, node_of, tracing
from symgrad.ir.composite import form_of
from symgrad.ir.graph import OPS, number
from symgrad.support.errors import UnsupportedError

# NumPy functions that are operators in symgrad.
_UNARY: dict[str, Callable[[Operators], Operators]] = {
    "positive": lambda x: x,
    "fabs": abs,
}
_BINARY: dict[str, Callable[[Operators, Operators], Operators]] = {
    "subtract": lambda x, y: x - y,
    "float_power": lambda x, y: x**y,
}

_DEFER: Any = NotImplemented
"""Makes Python call the method of the other operand."""


def _spelling(function: Callable[..., Any]) -> str:
    """Return the signature of a function of `NUMPY` without types and without its first argument, the class."""
    _, *parameters = signature(function).parameters.values()
    plain = [p.replace(annotation=Parameter.empty) for p in parameters]
    return f"{function.__name__}{Signature(plain)}"


def _write_error(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} writes in place",
        expected="expressions, which never change",
        cure="a new value for the name: h = h + x",
    )


def _in_place(name: str) -> Callable[..., Any]:
    """Return an operator such as ``+=``: NumPy writes into its array, which other names may also stand for."""

    def method(self: Operators, _other: Any) -> Any:
        if self.node.shape and tracing.get() is not None:
            raise _write_error(f"{_SIGNS[name]}= on an array")
        return _DEFER  # Python binds the name to a new value

    return method


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "floordiv": "//", "mod": "%"}


def has_function(name: str, count: int) -> bool:
    """Tell whether expressions have an elementwise function of NumPy or SciPy, by its name and number of arguments."""
    known = {1: _UNARY, 2: _BINARY}.get(count, {})
    return name in known or form_of(name, count) is not None or (name in OPS and OPS[name].pointwise)


def _effective_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call of NumPy without those that change nothing: values are real numbers."""
    return {
        name: value
        for name, value in options.items()
        if not (value is None and name in ("out", "dtype", "where"))
        and not (name == "dtype" and np.dtype(value) == np.float64)
    }


class Operators(Handle):
    """The operators of `Expr`."""

    __slots__ = ()

    def _apply(self, name: str, *args: Any) -> Self:
        """Return an op applied to expressions and numbers."""
        return make_op(type(self), name, *args)

    def _lift(self, value: Any) -> Self:
        """Return an expression unchanged, and a number as a constant."""
        return lift(type(self), value)

    def _minus(self, value: Any) -> Self:
        """Return the negative of a value, for x - y = x + (-y)."""
        # x - 2 is x + (-2): the sign of a literal belongs to the number, as in the text notation.
        # The negative of 0 stays an operation: -0.0 keeps the sign of a zero x.
        kind = type(self)
        if isinstance(value, kind):
            return -value
        node = node_of(value)
        if not node.is_number() or node.value == 0:
            return -handle_on(kind, node)
        return handle_on(kind, number(-node.value))

    def _with_other(self, name: str, other: Any) -> Self:
        return _DEFER if defers_to_class(other) else self._apply(name, self, other)

    def _of_other(self, name: str, other: Any) -> Self:
        return _DEFER if defers_to_class(other) else self._apply(name, other, self)

    def __add__(self, other: Self | Number) -> Self:
        return self._with_other("add", other)

    def __radd__(self, other: Self | Number) -> Self:
        return self._of_other("add", other)

    def __sub__(self, other: Self | Number) -> Self:
        return _DEFER if defers_to_class(other) else self._apply("add", self, self._minus(other))

    def __rsub__(self, other: Self | Number) -> Self:
        return _DEFER if defers_to_class(other) else self._apply("add", other, -self)

    def __mul__(self, other: Self | Number) -> Self:
        return self._with_other("mul", other)

    def __rmul__(self, other: Self | Number) -> Self:
        return self._of_other("mul", other)

    def __truediv__(self, other: Self | Number) -> Self:
        return self._with_other("div", other)

    def __rtruediv__(self, other: Self | Number) -> Self:
        return self._of_other("div", other)

    def __pow__(self, other: Self | Number) -> Self:
        return self._with_other("pow", other)

    def __rpow__(self, other: Self | Number) -> Self:
        return self._of_other("pow", other)

    def __floordiv__(self, other: Self | Number) -> Self:
        return self._with_other("floor_divide", other)

    def __rfloordiv__(self, other: Self | Number) -> Self:
        return self._of_other("floor_divide", other)

    def __mod__(self, other: Self | Number) -> Self:
        return self._with_other("remainder", other)

    def __rmod__(self, other: Self | Number) -> Self:
        return self._of_other("remainder", other)

    def __divmod__(self, other: Self | Number) -> tuple[Self, Self]:
        return _DEFER if defers_to_class(other) else (self // other, self % other)

    def __rdivmod__(self, other: Self | Number) -> tuple[Self, Self]:
        return _DEFER if defers_to_class(other) else (other // self, other % self)

    def __neg__(self) -> Self:
        return self._apply("neg", self)

    def __matmul__(self, other: Self | Number) -> Self:
        return _DEFER if defers_to_class(other) else self._numpy("matmul", (self, other))

    def __rmatmul__(self, other: Self | Number) -> Self:
        return _DEFER if defers_to_class(other) else self._numpy("matmul", (other, self))

    def __pos__(self) -> Self:
        return self._lift(self)

    def __abs__(self) -> Self:
        return self._apply("abs", self)

    def __floor__(self) -> Self:
        return self._apply("floor", self)

    def __ceil__(self) -> Self:
        return self._apply("ceil", self)

    def __round__(self, digits: int = 0) -> Self:
        if digits:
            raise UnsupportedError("round() to decimals is not an operation here", cure="round(x*100)/100")
        return self._apply("round", self)

    def __lt__(self, other: Self | Number) -> Self:
        return self._with_other("lt", other)

    def __le__(self, other: Self | Number) -> Self:
        return self._with_other("le", other)

    def __gt__(self, other: Self | Number) -> Self:
        return self._with_other("gt", other)

    def __ge__(self, other: Self | Number) -> Self:
        return self._with_other("ge", other)

    @overload
    def __eq__(self, other: Self | Number) -> Self: ...  # pyright: ignore[reportOverlappingOverload]  (an object may be one)
    @overload
    def __eq__(self, other: object) -> bool: ...
    def __eq__(self, other: object) -> Any:
        return _DEFER if is_foreign(other) else self._apply("eq", self, other)

    @overload
    def __ne__(self, other: Self | Number) -> Self: ...  # pyright: ignore[reportOverlappingOverload]  (an object may be one)
    @overload
    def __ne__(self, other: object) -> bool: ...
    def __ne__(self, other: object) -> Any:
        return _DEFER if is_foreign(other) else self._apply("ne", self, other)

    def __and__(self, other: Self | Number) -> Self:
        return self._with_other("and_", other)

    def __rand__(self, other: Self | Number) -> Self:
        return self._of_other("and_", other)

    def __or__(self, other: Self | Number) -> Self:
        return self._with_other("or_", other)

    def __ror__(self, other: Self | Number) -> Self:
        return self._of_other("or_", other)

    def __xor__(self, other: Self | Number) -> Self:
        return self._with_other("xor", other)

    def __rxor__(self, other: Self | Number) -> Self:
        return self._of_other("xor", other)

    def __invert__(self) -> Self:
        return self._apply("not_", self)

    __iadd__, __isub__, __imul__, __itruediv__, __ipow__, __ifloordiv__, __imod__ = map(_in_place, _SIGNS)

    # -- NumPy -----------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Self:
        """Build the op for a NumPy (or SciPy) ufunc that is called on expressions."""
        called = method == "__call__"
        given = {name: v for name, v in options.items() if v is not None}
        if "out" in given:
            raise _write_error(f"numpy.{ufunc.__name__} with options (out=, or h += x with an array h)")
        if called and given:
            raise UnsupportedError(
                f"numpy.{ufunc.__name__} with options on an expression",
                cure="call it plainly, or compile the expression and use the kernel's ufunc",
            )
        if called and any(is_foreign(i) and not isinstance(i, list | tuple | np.ndarray) for i in inputs):
            return _DEFER
        return self._numpy(ufunc.__name__ if called else f"{ufunc.__name__}.{method}", inputs, given)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Build the ops for a NumPy function, such as ``numpy.where`` or ``numpy.sum``, called on expressions."""
        module = str(function.__module__).removeprefix("numpy").removeprefix(".")
        return self._numpy(f"{module}.{function.__name__}" if module else function.__name__, args, options)

    def _numpy(self, name: str, args: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
        # For start-up time: many programs call none of these.
        from symgrad.api.foreign_names import cure_of_numpy
        from symgrad.api.functions.numpy_names import NUMPY

        if name in NUMPY:
            function = NUMPY[name]
            options = _effective_options(options or {})
            try:
                signature(function).bind(type(self), *args, **(options or {}))
            except TypeError as error:
                raise UnsupportedError(
                    f"numpy.{name} on an expression: {error}",
                    expected=_spelling(function),
                    cure=cure_of_numpy("options"),
                ) from None
            return function(type(self), *args, **(options or {}))
        if options:
            raise UnsupportedError(f"numpy.{name} with options on an expression")
        if name in _UNARY and len(args) == 1:
            return _UNARY[name](self._lift(args[0]))
        if name in _BINARY and len(args) == 2:
            return _BINARY[name](self._lift(args[0]), self._lift(args[1]))
        if not has_function(name, len(args)):
            raise UnsupportedError(
                f"numpy.{name} has no op of that name",
                expected="a function of a formula, elementwise or one of the array functions of symgrad",
                cure=cure_of_numpy(name),
            )
        return self._apply(name, *args)
