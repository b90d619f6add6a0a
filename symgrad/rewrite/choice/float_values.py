"""Compute one operation at sample points in extended precision, and in floats of both types."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

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


class Floats(NamedTuple):
    """A type of floats.

    Attributes:
        dtype: NumPy's type.
        bits: the bits of its numbers.
        normal: the smallest number with all its bits.
        smallest: errors below the rounding of this are none, as numbers near it lose bits.
        ordinary: beyond this and its reciprocal a value is about to leave the range.
    """

    dtype: Any
    bits: int
    normal: float
    smallest: float
    ordinary: float

    def rounded(self, values: Any) -> Any:
        """Return numbers rounded to this type, as float64."""
        with np.errstate(all="ignore"):
            return np.asarray(values, self.dtype).astype(np.float64)

    def step_at(self, values: Any) -> Any:
        """Return the distance of each number to the next one."""
        sizes = np.maximum(np.abs(values), self.smallest)
        return np.spacing(sizes.astype(self.dtype)).astype(np.float64)


FLOAT64 = Floats(np.float64, 53, 2.3e-308, 1e-300, 1e-280)
FLOAT32 = Floats(np.float32, 24, 1.2e-38, 1e-37, 1e-35)


def floats_named(name: str) -> Floats:
    """Return the type of floats with a name: float64 or float32."""
    return FLOAT32 if name == "float32" else FLOAT64


def wide_of(n: Node, args: list[Any]) -> Any:
    """Return the values of an operation in extended precision."""
    if n.op is NUMBER and not isinstance(n.value, bool):
        return np.longdouble(n.value.numerator) / np.longdouble(n.value.denominator)
    if n.op is CONSTANT:
        high = CONSTANT_VALUES[n.params[0]]
        return np.longdouble(high) + np.longdouble(_REST[n.params[0]])
    return float_of(n, args)


def float_of(n: Node, args: list[Any], floats: Floats = FLOAT64) -> Any:
    """Return the values of an operation in floats."""
    if n.op is NUMBER:
        return np.bool_(n.value) if isinstance(n.value, bool) else floats.dtype(nearest_float(n.value))
    if n.op is CONSTANT:
        return floats.dtype(CONSTANT_VALUES[n.params[0]])
    if n.op.name not in COMPUTED:
        return floats.dtype(math.nan)  # this node is not a leaf of the sample
    return n.op.evaluate(*n.params, *args)


_REST = {name: float(value - Fraction(float(value))) for name, value in CONSTANTS.items()}
"""The differences between constants and their floats."""
