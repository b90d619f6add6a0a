"""What becomes part of a formula: expressions and numbers; anything else is refused with a cure."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import numpy as np

from symgrad.api.operators import Operators
from symgrad.errors import UsageError
from symgrad.ir.graph import Node, as_node, number

__all__ = ["node_of"]


def node_of(value: Any) -> Node:
    """Return the node of an Expr or a Python or NumPy number.

    Raises:
        UsageError: for anything else.
    """
    if isinstance(value, Operators):
        return value.node
    if isinstance(value, bool | int | float | Fraction):
        return as_node(value)
    if isinstance(value, np.ndarray) and not value.ndim:
        return node_of(cast("Any", value)[()])
    if isinstance(value, np.generic):
        given = cast("Any", value)
        scalar: Any = given.item()
        if isinstance(scalar, float):
            # A float32 stands for its own shortest decimal: 0.1f is a tenth. Infinities are refused as floats.
            return number(float(str(given)))
        if isinstance(scalar, bool | int):
            return as_node(scalar)
    kind = type(cast("object", value)).__name__
    raise UsageError(
        f"a value of type {kind} is not part of a formula",
        expected="an Expr, an int, a float or a Fraction",
        cure=_CURES.get(kind, "convert it to an int, a float or a Fraction"),
    )


# By the name of the type, for what is often passed by mistake.
_ARRAYS = "make arrays inputs: declare a symbol and pass the array when you call the kernel"
_CURES = {
    "ndarray": _ARRAYS,
    "list": _ARRAYS,
    "tuple": _ARRAYS,
    "Program": "take one of its values, such as program['y'] or program.last",
    "str": "read a formula with sg.parse(text).result, take a name of a program with program['y'] "
    "and a size with sg.size('n')",
    "complex": "write the real and the imaginary part as two real formulas",
}
