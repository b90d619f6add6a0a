"""Primitives of JAX that compute element by element, or along axes, as expressions."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import symgrad.api.functions.elementary as fn
from symgrad.api.derivatives.differentiate import stop_gradient
from symgrad.api.functions.arrays import argmax, argmin, cumsum, max, min, prod, sum
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.booleans import (
    all_of,
    any_of,
    as_boolean,
    as_number,
    clip,
    is_equal,
    is_finite,
    select_value,
    truncated_remainder,
    unequal,
)
from symgrad.interop.importers.sorting import cumulative
from symgrad.support.errors import UnsupportedError

OpRule = Callable[..., Any]


def _convert(x: Expr, new_dtype: Any, **_: Any) -> Expr:
    kind = new_dtype.kind if new_dtype.name != "bfloat16" else "f"
    if kind == "b":
        return as_boolean(x)
    if x.dtype == "bool":
        return as_number(x)
    if kind in "iu" and x.dtype == "real":
        raise UnsupportedError("a real number made whole")
    if kind == "c":
        raise UnsupportedError("complex numbers")
    return x


def _select(which: Expr, *cases: Any) -> Expr:
    if which.dtype == "bool":
        return select_value(which, cases[1], cases[0])
    found = cases[-1]
    for k in range(len(cases) - 2, -1, -1):
        found = select_value(which <= k, cases[k], found)
    return found


_TO_EVEN = 1
"""The value of `jax.lax.RoundingMethod.TO_NEAREST_EVEN`, which is also its text."""


def _round(x: Expr, rounding_method: Any = 0, **_: Any) -> Expr:
    if int(rounding_method) == _TO_EVEN:
        return fn.round(x)
    return fn.where(x >= 0, fn.floor(x + 0.5), fn.ceil(x - 0.5))


def _of_bools(function: Callable[..., Expr]) -> OpRule:
    def rule(*args: Expr) -> Expr:
        if any(a.dtype != "bool" for a in args):
            raise UnsupportedError("bits of whole numbers")
        return function(*args)

    return rule


def _clamp(low: Expr, x: Expr, high: Expr) -> Expr:
    return clip(x, low, high) if x.dtype == "real" else fn.clip(x, low, high)


def _abs(x: Expr) -> Expr:
    return fn.where(x < 0, -x, x) if x.dtype == "real" else fn.abs(x)  # at 0 the derivative is 1


_NAMES = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh digamma erf erfc exp exp2 expm1 floor lgamma log log1p
    sign sin sinh sqrt tan tanh zeta
"""

ELEMENTWISE: Mapping[str, OpRule] = {
    **{name: getattr(fn, name) for name in _NAMES.split()},
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "neg", "pow", "lt", "le", "gt", "ge")},
    **dict.fromkeys(("copy", "copy_p", "name", "optimization_barrier", "real"), lambda x: x),
    "abs": _abs,
    "add_any": operator.add,
    "and": _of_bools(fn.logical_and),
    "bessel_i0e": lambda x: fn.ive(0, x),
    "bessel_i1e": lambda x: fn.ive(1, x),
    "clamp": _clamp,
    "div": operator.truediv,
    "eq": is_equal,
    "erf_inv": fn.erfinv,
    "igamma": fn.gammainc,
    "igammac": fn.gammaincc,
    "is_finite": is_finite,
    "logistic": fn.sigmoid,
    "max": fn.maximum,
    "min": fn.minimum,
    "ne": unequal,
    "not": _of_bools(fn.logical_not),
    "or": _of_bools(fn.logical_or),
    "rem": truncated_remainder,
    "rsqrt": lambda x: 1 / fn.sqrt(x),
    "select_n": _select,
    "square": lambda x: x**2,
    "stop_gradient": stop_gradient,
    "xor": _of_bools(fn.logical_xor),
}
"""For each primitive, by name: a function of expressions that broadcast."""

WITH_PARAMETERS: Mapping[str, OpRule] = {
    "convert_element_type": _convert,
    "integer_pow": lambda x, y, **_: x**y,
    "round": _round,
}
"""For each primitive, by name: a function of expressions that broadcast, and of the parameters by name."""


def _reduced(function: Callable[..., Expr]) -> OpRule:
    def rule(x: Expr, axes: Sequence[int], **_: Any) -> Expr:
        return function(x, axis=tuple(map(int, axes))) if axes else x

    return rule


def _indexed(function: Callable[..., Expr]) -> OpRule:
    def rule(x: Expr, axes: Sequence[int], **_: Any) -> Expr:
        return function(x, axis=int(axes[0]))

    return rule


def _running(combine: Callable[[Any, Any], Expr]) -> OpRule:
    def rule(x: Expr, axis: int, reverse: bool = False, **_: Any) -> Expr:
        return cumulative(x, int(axis), combine, reverse=reverse)

    return rule


REDUCTIONS: Mapping[str, OpRule] = {
    "reduce_sum": _reduced(sum),
    "reduce_max": _reduced(max),
    "reduce_min": _reduced(min),
    "reduce_prod": _reduced(prod),
    "reduce_and": _reduced(all_of),
    "reduce_or": _reduced(any_of),
    "cumlogsumexp": _running(fn.logaddexp),
    "cummax": _running(fn.maximum),
    "cummin": _running(fn.minimum),
    "cumprod": _running(operator.mul),
    "argmax": _indexed(argmax),
    "argmin": _indexed(argmin),
    "cumsum": lambda x, axis, reverse=False, **_: cumsum(x, axis=int(axis), reverse=reverse),
}
"""For each primitive, by name: a function of one expression of its whole shape, and of the parameters."""


LIBRARY: Mapping[tuple[str, str], Callable[..., Expr]] = {
    ("nn/functions.py", "relu"): fn.relu,
    ("nn/functions.py", "relu6"): lambda x: clip(x, 0, 6),
    ("numpy/ufuncs.py", "logaddexp"): fn.logaddexp,
    ("lax/other.py", "logaddexp"): fn.logaddexp,
    ("scipy/special.py", "xlogy"): fn.xlogy,
    ("scipy/special.py", "xlog1py"): fn.xlog1py,
}
"""Functions of JAX with a custom derivative for which there is an op, by the end of their file and their name."""
