"""Values for inputs: every array that enters an evaluation or a kernel passes here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import ArrayTypeError, ComplexInputError, MissingInputError, ShapeError
from symgrad.ir.graph import Node
from symgrad.ir.listing import suggest

__all__ = ["bind", "check_array", "check_shapes"]


def bind(symbols: Sequence[Node], args: Sequence[Any], by_name: Mapping[str, Any]) -> dict[Node, Any]:
    """Match values with inputs, by position and by name, and check each.

    Raises:
        MissingInputError: for a wrong number of values, an unknown name, a name given twice or not at all.
        ArrayTypeError, ComplexInputError, ShapeError: see `check_array` and `check_shapes`.
    """
    names = [s.name for s in symbols]
    signature = f"{len(names)} inputs: {', '.join(names)}" if names else "no inputs"
    if len(args) > len(symbols):
        raise MissingInputError(f"{len(args)} values were given", expected=signature)
    given: dict[str, Any] = dict(zip(names, args, strict=False))
    for name, value in by_name.items():
        if name not in names:
            raise MissingInputError(
                f"'{name}' is not an input", expected=signature, cure=suggest(name, names)
            )
        if name in given:
            raise MissingInputError(f"'{name}' was given by position and by name", expected=signature)
        given[name] = value
    absent = [n for n in names if n not in given]
    if absent:
        raise MissingInputError(f"no value for {', '.join(absent)}", expected=signature)
    values = {s: check_array(s, given[s.name]) for s in symbols}
    check_shapes(values)
    return values


def check_array(symbol: Node, value: Any) -> Any:
    """Return a value as a NumPy array or scalar of real numbers.

    Raises:
        ComplexInputError: for complex numbers; declared symbols are real.
        ArrayTypeError: for anything else that is not a number or truth value (objects, text, dates).
    """
    if isinstance(value, Fraction):
        value = float(value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArrayTypeError(
            f"input '{symbol.name}' cannot be read as an array: {error}", expected="a real number or array"
        ) from None
    kind = array.dtype.kind
    if kind == "c":
        raise ComplexInputError(
            f"input '{symbol.name}' is complex ({array.dtype})",
            expected="real values",
            cure=f"pass {symbol.name}.real if the imaginary part is zero",
        )
    if kind not in "fiub":
        raise ArrayTypeError(
            f"input '{symbol.name}' is an array of dtype {array.dtype}",
            expected="real numbers (a float, integer or bool dtype)",
            cure="convert it, for instance with numpy.asarray(values, dtype=float)",
        )
    if symbol.dtype == "bool" and kind != "b":
        raise ArrayTypeError(
            f"input '{symbol.name}' is declared bool, got dtype {array.dtype}",
            cure=f"pass a condition, for instance {symbol.name} != 0",
        )
    return array if array.ndim else array[()]


def check_shapes(values: Mapping[Node, Any]) -> None:
    """Check declared sizes, bind size names, and check that all inputs broadcast.

    Raises:
        ShapeError: naming the inputs and the sizes that do not agree.
    """
    sizes: dict[str, tuple[int, str]] = {}
    for s, value in values.items():
        declared = s.shape
        actual = np.shape(value)
        if not declared:
            continue
        if len(actual) < len(declared):
            raise ShapeError(f"input '{s.name}' has shape {actual}", expected=str(s.declaration))
        for size, found in zip(declared, actual[len(actual) - len(declared) :], strict=True):
            if isinstance(size, str):
                known = sizes.setdefault(size, (found, s.name))
                if known[0] != found:
                    raise ShapeError(
                        f"size {size} is {known[0]} in '{known[1]}' and {found} in '{s.name}'",
                        expected="one size for one name",
                    )
            elif size != found:
                raise ShapeError(f"input '{s.name}' has shape {actual}", expected=str(s.declaration))
    try:
        np.broadcast_shapes(*(np.shape(v) for v in values.values()))
    except ValueError:
        shapes = ", ".join(f"{s.name} {np.shape(v)}" for s, v in values.items())
        raise ShapeError(f"the inputs do not broadcast: {shapes}", expected="NumPy broadcasting") from None
