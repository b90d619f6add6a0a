"""Convert operands (expressions, numbers, and lists of these) to nodes; for all others raise an error with a cure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, cast

import numpy as np

from symgrad.api.handles.base import Handle
from symgrad.api.limits import CONSTANT_ENTRIES, LIST_DEPTH
from symgrad.ir.exact import DIGITS
from symgrad.ir.graph import Node, as_node, number
from symgrad.ir.sizes import Extent
from symgrad.ops.array.layout import full
from symgrad.ops.numpy.calls import stack
from symgrad.support.errors import NumberTooLargeError, OperandError, UsageError


class ArrayReader(Protocol):
    """Reads arrays of numbers among the expressions of a function that is traced."""

    def read(self, values: np.ndarray) -> Handle:
        """Return an array as an expression."""
        ...


tracing: ContextVar[ArrayReader | None] = ContextVar("tracing", default=None)
"""The trace of a function of NumPy that is under way."""


def cure_in_numpy(written: str, traced: str) -> str:
    """Return a cure: the second one if a function of NumPy is traced, whose text does not know symgrad."""
    return written if tracing.get() is None else traced


def node_of(value: Any) -> Node:
    """Return the node of an Expr, of a Python or NumPy number, or of nested lists of these (an array).

    Raises:
        UsageError: for anything else.
        ShapeError: for a list of arrays of different shapes.
    """
    node = _node(value)
    if node is not None:
        return node
    if isinstance(value, list | tuple):
        return _array_of(cast("list[Any]", value), 1)
    raise _refusal(value)


def seed_of(value: Any) -> Node:
    """Return the node of a cotangent or tangent: an argument of `node_of`, or a NumPy array of numbers.

    Raises:
        UsageError: for anything else, and for an array with too many entries for a formula.
        ShapeError: for a list of arrays of different shapes.
    """
    array = cast("np.ndarray[Any, Any]", value)
    if not isinstance(value, np.ndarray) or not array.ndim or array.dtype == object:
        return node_of(value)
    if array.size and (array == array.flat[0]).all():
        return full(node_of(array.flat[0]), array.shape)
    if array.size > CONSTANT_ENTRIES or not array.size:
        raise UsageError(
            f"an array of {array.size:,} entries as part of a formula",
            expected=f"1 to {CONSTANT_ENTRIES:,} entries",
            cure="declare an input of its shape, and pass the array when you call the result",
        )
    return node_of(_nested_list(array))


def _nested_list(array: Any) -> Any:
    """Return lists of NumPy scalars, whose dtype `tolist` would lose."""
    return [_nested_list(part) for part in array] if isinstance(array, np.ndarray) else array


def is_foreign(value: Any) -> bool:
    """Tell whether operators return NotImplemented for a value, so that Python asks its class.

    Complex numbers are not foreign: the operator raises an error with a cure. Lists are foreign, because ``+`` and
    ``*`` have another meaning for lists.
    """
    if isinstance(value, np.generic):
        return not isinstance(value, np.number | np.bool_)
    if isinstance(value, np.ndarray):
        return bool(value.ndim)
    return not isinstance(value, Handle | bool | int | float | complex | Fraction | Decimal)


def defers_to_class(value: Any) -> bool:
    """Tell whether a value is foreign in the sense of `is_foreign`.

    Raises:
        OperandError: for a text or a computed size, such as the entries of shapes.
    """
    if isinstance(value, str | Extent) and not isinstance(value, np.generic):
        raise _refusal(value, OperandError)
    return is_foreign(value)


def expressions_in(values: Iterable[Any]) -> Iterator[Handle]:
    """Yield the expressions among values and in nested lists."""
    for value in values:
        if isinstance(value, Handle):
            yield value
        elif isinstance(value, list | tuple):
            yield from expressions_in(cast("list[Any]", value))


def _node(value: Any) -> Node | None:
    if isinstance(value, Handle):
        return value.node
    if isinstance(value, bool | int | float | Fraction):
        return as_node(value)
    if isinstance(value, Decimal):
        return number(_exact(value))
    if isinstance(value, np.ndarray):
        if not value.ndim:
            return _node(cast("Any", value)[()])
        trace, array = tracing.get(), cast("Any", value)
        return None if trace is None or array.dtype == object else trace.read(array).node
    if isinstance(value, np.bool_ | np.integer):
        return as_node(cast("Any", value).item())
    if isinstance(value, np.floating):
        # A float32 stands for its own shortest decimal: 0.1f is a tenth. `number` does not accept infinities as floats.
        scalar = cast("Any", value)
        fits = scalar.itemsize <= 8 or not np.isfinite(scalar)
        return number(float(str(scalar)) if fits else Fraction(str(scalar)))
    return None


def _exact(value: Decimal) -> Fraction | float:
    if not value.is_finite():
        return float(value) if value.is_infinite() else math.nan
    if value and abs(value.adjusted()) > DIGITS:
        raise NumberTooLargeError(
            f"{value} is too large", expected=f"at most {DIGITS:,} digits when written out in full"
        )
    return Fraction(value) if value or not value.is_signed() else -0.0


def _array_of(parts: list[Any], depth: int) -> Node:
    if depth > LIST_DEPTH:
        raise UsageError(
            f"lists that nest deeper than {LIST_DEPTH}", expected="an array: a list for each axis"
        )
    if not parts:
        raise UsageError(
            "an empty list is no array", expected="at least one entry", cure="sg.arrays.zeros((0,))"
        )
    nodes: list[Node] = []
    for part in parts:
        node = _node(part)
        if node is None and not isinstance(part, list | tuple):
            raise _refusal(part)
        nodes.append(_array_of(cast("list[Any]", part), depth + 1) if node is None else node)
    return stack(nodes)


def _refusal(value: Any, error: type[UsageError] = UsageError) -> UsageError:
    kind = "str" if issubclass(type(value), str) else type(value).__name__
    cure = _CURES.get(kind)
    if kind == "ndarray" and value.dtype == object:
        cure = "pass a list of expressions: array.tolist()"
    elif cure is None and callable(value):
        cure = "call it with symbols: f(x) with x = sg.symbols('x')"
    elif type(value).__module__.partition(".")[0] == "sympy":
        cure = "read it with sg.from_sympy(expression)"
    return error(
        f"a value of type {kind} is not part of a formula",
        expected="an Expr, a real number, or a list of these",
        cure=cure or "convert it to an int, a float or a Fraction",
    )


_COMPLEX = "write the real and the imaginary part as two real formulas"
_CURES = {
    "NoneType": "convert it; where it is the .result of a program, name the value you want, program['y']; "
    "where it is a .form that was not found, check_domain(f).reason says why",
    "ndarray": "make arrays inputs: declare a symbol and pass the array when you call the kernel",
    "Program": "take one of its values, such as program['y'] or program.last",
    "str": "read a formula with sg.parse(text).last, take a name of a program with program['y'] "
    "and a size with sg.size('n')",
    "Extent": "take the size as a number with sg.size(...)",
    **dict.fromkeys(["complex", "complex64", "complex128", "clongdouble"], _COMPLEX),
}
"""Cures for frequent mistakes, by the name of the type."""
