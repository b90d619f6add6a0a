"""torch's elementwise operations as expressions."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

import math
import sys
from typing import Any

from symgrad.api.derivatives.differentiate import stop_gradient
from symgrad.api.derivatives.gradient_override import with_gradient
from symgrad.api.functions import elementary as f
from symgrad.api.functions.layout import broadcast_to
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.booleans import (
    as_boolean,
    clip,
    is_equal,
    is_finite,
    is_nan,
    select_value,
    truncated_remainder,
    unequal,
)
from symgrad.interop.importers.torch.table import (
    TABLE,
    RefusedError,
    alias,
    as_number,
    aten,
    aten_rows,
    integer_size,
)

__all__: list[str] = []

# ------------------------------------------------------------------------------------------ one argument, same meaning

_SAME = """
    abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp exp2 expm1 floor lgamma log log10
    log1p log2 mish reciprocal relu sigmoid sign silu sin sinc sinh sqrt square tan tanh
"""
_UNARY: dict[str, Any] = {name: getattr(f, name) for name in _SAME.split()} | {
    "arccos": f.acos,
    "arccosh": f.acosh,
    "arcsin": f.asin,
    "arcsinh": f.asinh,
    "arctan": f.atan,
    "arctanh": f.atanh,
    "absolute": f.abs,
    "bitwise_not": f.logical_not,
    "log_sigmoid": lambda x: -f.softplus(-x),
    "logical_not": f.logical_not,
    "neg": lambda x: -x,
    "negative": lambda x: -x,
    "rsqrt": lambda x: 1 / f.sqrt(x),
    "sgn": f.sign,
    "softsign": lambda x: x / (1 + f.abs(x)),
    "special_expit": f.sigmoid,
    "tanhshrink": lambda x: x - f.tanh(x),
    "trunc": lambda x: f.where(x < 0, f.ceil(x), f.floor(x)),
}
_TRUTH = ("bitwise_not", "logical_not")


def _unary(name: str, function: Any) -> None:
    def apply(self: Any) -> Expr:
        return function(truth(self) if name in _TRUTH else as_expr(as_number(self)))

    aten(name)(apply)


for _name, _function in _UNARY.items():
    _unary(_name, _function)


def truth(e: Any) -> Any:
    """Return truth values; for numbers, whether they are not zero."""
    return as_boolean(as_expr(e))


# --------------------------------------------------------------------------------------------------- two arguments

_BINARY: dict[str, Any] = {
    "atan2": f.atan2,
    "eq": is_equal,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "hypot": f.hypot,
    "le": lambda a, b: a <= b,
    "logaddexp": f.logaddexp,
    "lt": lambda a, b: a < b,
    "maximum": f.maximum,
    "minimum": f.minimum,
    "mul": lambda a, b: a * b,
    "multiply": lambda a, b: a * b,
    "ne": unequal,
    "remainder": f.mod,
    "floor_divide": f.floor_divide,
    "fmod": truncated_remainder,
    "xlogy": f.xlogy,
}
_LOGIC: dict[str, Any] = {
    "and": f.logical_and,
    "or": f.logical_or,
    "xor": f.logical_xor,
}


def _binary(name: str, function: Any) -> None:
    def apply(self: Any, other: Any) -> Expr:
        return function(as_expr(as_number(self)), as_expr(as_number(other)))

    aten(name)(apply)


for _name, _function in _BINARY.items():
    _binary(_name, _function)


def _logic(name: str, function: Any) -> None:
    def apply(self: Any, other: Any) -> Expr:
        return function(truth(self), truth(other))

    aten(f"logical_{name}")(apply)

    def bitwise(self: Any, other: Any) -> Expr:
        if any(isinstance(e, Expr) and e.dtype != "bool" for e in (self, other)):
            raise RefusedError("bits of whole numbers", expected="truth values")
        return function(truth(self), truth(other))

    aten(f"bitwise_{name}", f"__{name}__")(bitwise)


for _name, _function in _LOGIC.items():
    _logic(_name, _function)


@aten("add")
def add(self: Any, other: Any, alpha: Any = 1) -> Expr:
    a, b = as_expr(as_number(self)), as_number(other)
    return a + (b if alpha == 1 else alpha * as_expr(b))


@aten("sub", "subtract")
def sub(self: Any, other: Any, alpha: Any = 1) -> Expr:
    a, b = as_expr(as_number(self)), as_number(other)
    return a - (b if alpha == 1 else alpha * as_expr(b))


@aten("div", "divide", "true_divide")
def div(self: Any, other: Any, rounding_mode: str | None = None) -> Expr:
    quotient = as_expr(as_number(self)) / as_number(other)
    if rounding_mode is None:
        return quotient
    return f.floor(quotient) if rounding_mode == "floor" else TABLE["trunc"](quotient)


@aten("pow")
def power(self: Any, exponent: Any) -> Expr:
    if isinstance(exponent, float) and exponent.is_integer():
        exponent = int(exponent)
    return as_expr(as_number(self)) ** as_number(exponent)


@aten("round")
def rounded(self: Any, decimals: int = 0) -> Expr:
    return f.round(self) if decimals == 0 else f.round(self * 10**decimals) / 10**decimals


@aten("nan_to_num")
def nan_to_num(self: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Expr:
    x, most = as_expr(as_number(self)), sys.float_info.max
    ends = [
        most if posinf is None else as_expr(posinf),
        -most if neginf is None else as_expr(neginf),
    ]
    infinite = f.where(x > 0, *ends)
    return f.where(is_nan(x), 0 if nan is None else nan, f.where(is_finite(x), x, infinite))


def _rounded_to_grid(x: Any, scale: Any, zero_point: Any, least: int, most: int) -> Expr:
    place = f.round(x / scale) + zero_point
    found = (f.clip(place, least, most) - zero_point) * scale
    inside = (place >= least) & (place <= most)
    return f.where(inside, with_gradient(found, x), stop_gradient(found))


@aten("fake_quantize_per_tensor_affine")
def rounded_tensor(
    self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int, fake_quant_enabled: Any = 1
) -> Expr:
    found = _rounded_to_grid(self, as_expr(scale), zero_point, quant_min, quant_max)
    enabled = as_expr(fake_quant_enabled)
    return found if enabled.node.is_number(1) else f.where(enabled > 0, found, self)


@aten("fake_quantize_per_channel_affine")
def rounded_slices(self: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int) -> Expr:
    key = (slice(None), *(None,) * (len(self.shape) - axis - 1))
    return _rounded_to_grid(self, scale[key], zero_point[key], quant_min, quant_max)


@aten("where")
def choose(condition: Any, self: Any, other: Any) -> Any:
    both = all(isinstance(e, Expr) and e.dtype == "bool" for e in (self, other))
    return (
        select_value(condition, self, other)
        if both
        else f.where(condition, as_number(self), as_number(other))
    )


@aten("fill")
def fill(self: Any, value: Any) -> Expr:
    return broadcast_to(as_expr(as_number(value)), self.shape)


# At the bounds themselves, torch's clamp has the slope 1, and NaN stays NaN.


@aten("clamp", "clip")
def clamp(self: Any, min: Any = None, max: Any = None) -> Expr:
    low, high = (
        b if isinstance(b, Expr) or (b is not None and math.isfinite(b)) else None for b in (min, max)
    )
    x = as_expr(as_number(self))
    if low is not None and high is not None and not isinstance(low, Expr) and not isinstance(high, Expr):
        return f.clip(x, low, high)
    if low is not None:
        x = f.where(x < low, low, x)
    return x if high is None else f.where(x > high, high, x)


@aten("clamp_min")
def clamp_min(self: Any, min: Any) -> Expr:
    return clamp(self, min=min)


@aten("clamp_max")
def clamp_max(self: Any, max: Any) -> Expr:
    return clamp(self, max=max)


# ------------------------------------------------------------------------------------------------------- activations


@aten("softplus")
def softplus(self: Any, beta: Any = 1, threshold: Any = 20) -> Expr:
    found = f.softplus(self) if beta == 1 else f.softplus(beta * self) / beta
    # Above the threshold torch returns the argument itself. From 20 on, both agree in float32.
    return found if threshold >= 20 else f.where(beta * self > threshold, self, found)


@aten("prelu")
def prelu(self: Any, weight: Any) -> Expr:
    if weight.shape not in ((), (1,)):
        weight = weight[(slice(None), *(None,) * (len(self.shape) - 2))] if len(self.shape) > 1 else weight
    return f.where(self > 0, self, weight * self)


@aten("elu")
def elu(self: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Expr:
    found = (
        f.elu(self, alpha)
        if input_scale == 1
        else f.where(self > 0, self, alpha * f.expm1(input_scale * self))
    )
    return found if scale == 1 else scale * found


@aten("hardtanh")
def hardtanh(self: Any, min_val: Any = -1, max_val: Any = 1) -> Expr:
    return clip(self, min_val, max_val)


@aten("hardswish")
def hardswish(self: Any) -> Expr:
    inside = self * (self + 3) / 6
    return f.where(self <= -3, 0, f.where(self >= 3, self, inside))


@aten("glu")
def glu(self: Any, dim: int = -1) -> Expr:
    axis = dim + len(self.shape) if dim < 0 else dim
    lead, half = (slice(None),) * axis, integer_size(self.shape[axis]) // 2
    return self[(*lead, slice(0, half))] * f.sigmoid(self[(*lead, slice(half, None))])


@alias("detach")
def detach(self: Any) -> Expr:
    e = as_expr(self)
    return e if e.dtype != "real" or e.node.op.name == "stop_gradient" else stop_gradient(e)


# ------------------------------------------------------------------------------------------------- rules of one line

aten_rows(
    {
        "rsub": lambda self, other, alpha=1: sub(other, self, alpha),
        "frac": lambda self: self - TABLE["trunc"](self),
        "masked_fill": lambda self, mask, value: choose(mask, value, self),
        "zero": lambda self: fill(self, 0),
        "copy": lambda self, src: broadcast_to(as_expr(src), self.shape),
        "lerp": lambda self, end, weight: self + weight * (end - self),
        "addcmul": lambda self, tensor1, tensor2, value=1: add(self, tensor1 * tensor2, value),
        "addcdiv": lambda self, tensor1, tensor2, value=1: add(self, tensor1 / tensor2, value),
        "gelu": lambda self, approximate="none": f.gelu(self) if approximate == "none" else f.gelu_tanh(self),
        "leaky_relu": lambda self, negative_slope=0.01: f.leaky_relu(self, negative_slope),
        "celu": lambda self, alpha=1.0: f.where(self > 0, self, alpha * f.expm1(self / alpha)),
        "selu": lambda self: elu(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946),
        "relu6": lambda self: hardtanh(self, 0, 6),
        "hardsigmoid": lambda self: hardtanh(self + 3, 0, 6) / 6,
        "threshold": lambda self, threshold, value: f.where(self <= threshold, value, self),
        "logit": lambda self, eps=None: f.logit(self if eps is None else clamp(self, eps, 1 - eps)),
    }
)
