"""Compute one operation at sample points: to many digits if that is fast, in extended precision, and in floats."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.exact import CONSTANTS, nearest_float
from symgrad.ir.graph import CONSTANT, NUMBER, Node
from symgrad.ir.values.evaluate import CONSTANT_VALUES, exact_leaf

# Ops that are cheap at any precision; a value of any other op counts as an input.
# fmt: off
COMPUTED = frozenset([
    "add", "mul", "neg", "div", "pow", "sqrt", "cbrt", "abs", "sign", "exp", "exp2", "expm1", "log", "log1p", "log2",
    "log10", "hypot", "sigmoid", "softplus", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "sec", "csc", "cot", "sech", "csch", "coth", "where", "maximum", "minimum",
    "relu", "clip",
    "lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "not_", "xor", "floor", "ceil", "round", "stop_gradient",
])
# Ops that are cheap for arguments of any size.
_PLAIN = frozenset([
    "add", "mul", "neg", "div", "pow", "abs", "sign", "sqrt", "cbrt", "hypot", "atan", "log", "log1p", "log2", "log10",
    "where", "maximum", "minimum", "relu", "clip",
])
_EXPONENTIAL = frozenset([
    "exp", "exp2", "expm1", "sigmoid", "softplus", "sinh", "cosh", "tanh", "sech", "csch", "coth",
])
# fmt: on

# Exponents (of two) of the largest arguments of functions, and of exponentials and powers.
_BEYOND, _FAR = 3000, 24
_CERTAIN = -64  # exact values must agree to so many bits, or one of them was not exact enough


def exact_of(mp: Any, n: Node, args: list[Any]) -> Any:
    """Return a value in mpmath; None if it is unknown.

    This is stricter than `evaluate_mp`: a value is unknown if it would take long, is not a real number, or loses too
    many digits by cancellation. An unknown value in the branch that a choice does not take has no effect.
    """
    if n.op is NUMBER or n.op is CONSTANT:
        return exact_leaf(mp, n)
    name = n.op.name
    if name not in COMPUTED:
        return None
    if name == "where":
        return None if args[0] is None else args[1] if args[0] else args[2]
    for a in args:
        if a is None:
            return None
    if name not in _PLAIN:
        most = _FAR if name in _EXPONENTIAL else _BEYOND
        if any(not isinstance(a, bool) and mp.mag(a) > most for a in args if a):
            return None
    if name == "pow" and args[1] and mp.mag(args[1]) > _FAR:
        return None
    try:
        value = n.op.reference(mp, *n.params, *args)
    except (ZeroDivisionError, ValueError, OverflowError, mp.NoConvergence):
        return None
    if isinstance(value, bool):
        return value
    if name == "add" and _cancels(mp, value, args):
        return None
    if type(value) is not mp.mpf:
        if isinstance(value, mp.mpc):
            return None
        value = mp.mpf(value)
    return value if mp.isfinite(value) else None


def _cancels(mp: Any, total: Any, terms: list[Any]) -> bool:
    """Tell whether so many digits of terms cancel that the sum is unknown."""
    if not total:
        return any(terms)
    least = mp.mag(total) + mp.prec // 2
    return any(a and mp.mag(a) > least for a in terms)


def close(a: Any, b: Any) -> bool:
    """Tell whether two exact values are surely the same."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    largest = max(abs(a), abs(b))
    return bool(abs(a - b) <= largest * 2.0**_CERTAIN)


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
