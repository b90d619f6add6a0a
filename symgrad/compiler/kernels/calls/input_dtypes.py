"""Convert the value of an input: a kernel admits numbers and arrays that its dtype holds without loss."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from symgrad.ir.values.exchange import PLAIN, as_array
from symgrad.ir.values.inputs import check_int64, converted, not_complex
from symgrad.support.errors import ArrayTypeError

if TYPE_CHECKING:
    from symgrad.compiler.llvm.text.types import FloatType
    from symgrad.ir.graph import Node


def _is_formula(value: Any) -> bool:
    graph: Any = sys.modules.get("symgrad.ir.graph")  # a formula exists only if this is imported
    return graph is not None and any(isinstance(v, graph.Node) for v in (value, getattr(value, "node", None)))


def admitted(symbol: Node, kind: np.dtype[Any], real: FloatType, value: Any) -> Any:
    """Return the value of an input as an argument that the ufunc converts without loss.

    Args:
        symbol: the input.
        kind: its dtype.
        real: the format of the kernel's numbers.
        value: the value.

    Raises:
        ArrayTypeError, ComplexInputError, NumberTooLargeError: if there is no such argument.
    """
    name = symbol.name
    cls = cast("type[Any]", type(value))
    if cls is int and abs(value) <= 2**24 and kind.kind == "f":
        return kind.type(value)  # exact; a fast path for a common case
    if _is_formula(value):
        raise ArrayTypeError(
            f"input '{name}' is a formula",
            expected=f"a {kind} array",
            cure="give it a value, or substitute it in the formula and compile that",
        )
    is_array = issubclass(cls, np.ndarray)
    if hasattr(cls, "__array_ufunc__") and not is_array and not issubclass(cls, np.generic):
        return value  # NumPy passes the call to this array type
    try:
        if not (is_array or cls in PLAIN):
            value = as_array(name, value)
        array = np.asarray(value)
    except ValueError as error:
        raise ArrayTypeError(f"input '{name}' is not an array: {error}") from error
    found = array.dtype
    not_complex(name, array)
    if cls in (int, float) and kind.kind == "f":
        return real.round(value)  # a Python number takes the kernel's precision
    if found.kind not in "buif":
        raise ArrayTypeError(
            f"input '{name}' is not numeric: its dtype is {found}",
            expected=f"a {kind} array",
            cure=f"convert it: np.asarray({name}, dtype=np.{kind})",
        )
    if kind.kind == "i" and not np.can_cast(found, kind, "safe"):
        check_int64(symbol, array)
        return converted(array, kind)
    if not np.can_cast(found, kind, "safe"):
        cure = f"pass {name}.astype(np.{kind})"
        if found == np.float64 and kind == np.float32:
            cure += ', or compile with dtype="float64"'
        raise ArrayTypeError(
            f"input '{name}' is {found}, but the kernel computes in {kind}"
            if kind.kind == "f"
            else f"input '{name}' is {found}, but it is declared bool",
            expected=f"a {kind} array",
            cure=cure,
        )
    return array if array.ndim and not is_array else value
