"""Compute one operation at sample points in extended precision, and in floats."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.exact import CONSTANTS, nearest_float
from symgrad.ir.graph import CONSTANT, NUMBER, Node
from symgrad.ir.values.evaluate import CONSTANT_VALUES

# Ops that extended precision has; a value of any other op counts as an input.
# fmt: off
COMPUTED = frozenset([
    "add", "mul", "neg", "div", "pow", "sqrt", "cbrt", "abs", "sign", "exp", "exp2", "expm1", "log", "log1p", "log2",
    "log10", "hypot", "sigmoid", "softplus", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "sec", "csc", "cot", "sech", "csch", "coth", "where", "maximum", "minimum",
    "relu", "clip",
    "lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "not_", "xor", "floor", "ceil", "round", "stop_gradient",
])
# fmt: on


def wide_of(n: Node, args: list[Any]) -> Any:
    """Return the values of an operation in extended precision."""
    if n.op is NUMBER and not isinstance(n.value, bool):
        return np.longdouble(n.value.numerator) / np.longdouble(n.value.denominator)
    if n.op is CONSTANT:
        high = CONSTANT_VALUES[n.params[0]]
        return np.longdouble(high) + np.longdouble(_REST[n.params[0]])
    return float_of(n, args)


def float_of(n: Node, args: list[Any]) -> Any:
    """Return the values of an operation in float64."""
    if n.op is NUMBER:
        return np.bool_(n.value) if isinstance(n.value, bool) else np.float64(nearest_float(n.value))
    if n.op is CONSTANT:
        return np.float64(CONSTANT_VALUES[n.params[0]])
    if n.op.name not in COMPUTED:
        return np.float64(math.nan)  # this node is not a leaf of the sample
    return n.op.evaluate(*n.params, *args)


_REST = {name: float(value - Fraction(float(value))) for name, value in CONSTANTS.items()}
"""The differences between constants and their floats."""
