"""Operations of TensorFlow that compute element by element, or along axes, as expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

import symgrad.api.functions.elementary as fn
from symgrad.api.derivatives.differentiate import stop_gradient
from symgrad.api.functions.constants import constant, uniform_value
from symgrad.api.functions.layout import broadcast_to, reshape
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.booleans import (
    as_boolean,
    as_number,
    clip,
    is_equal,
    is_finite,
    is_nan,
    select_value,
    truncated_remainder,
    unequal,
)
from symgrad.support.errors import UnsupportedError

Value: TypeAlias = "Expr | np.ndarray"
"""The value of a tensor: an expression, or a known array."""


def expr_of(value: Value) -> Expr:
    """Return a value as an expression."""
    if isinstance(value, Expr):
        return value
    if isinstance(cast("Any", value), np.ndarray):
        return constant(value, decimal=True)
    raise UnsupportedError("a list of tensors where a tensor is needed")


def known_ints(value: Value, what: str) -> list[int]:
    """Return integers that are known."""
    if not isinstance(value, np.ndarray):
        raise UnsupportedError(f"{what} that depends on the data", expected="shapes and axes in numbers")
    return [int(v) for v in value.reshape(-1)]


def number_of(value: Value) -> Any:
    """Return the number to which all entries of a known value are equal, or None."""
    return uniform_value(value, decimal=True) if isinstance(value, np.ndarray) else None


def _small(values: Sequence[Value], shape: tuple[int, ...]) -> list[Any]:
    """Return operands as expressions.

    An operand with equal entries becomes one number if the others have the whole shape.
    """
    shapes = [tuple(cast("Any", v.shape)) for v in values if isinstance(v, Expr)]
    if shape and shape in shapes:
        found: list[Any] = []
        for v in values:
            n = number_of(v)
            small = n is not None and not isinstance(n, bool) and np.isfinite(n)
            found.append(as_expr(n) if small else expr_of(v))
        return found
    return [expr_of(v) for v in values]


def _pointwise(function: Callable[..., Any]) -> Callable[..., Expr]:
    def rule(op: Any, *values: Value) -> Expr:
        shape = op.shape(0)
        found = as_expr(function(*_small(values, shape)))
        return found if tuple(cast("Any", found.shape)) == shape else broadcast_to(found, shape)

    return rule


def _one(function: Callable[[Expr], Any]) -> Callable[..., Expr]:
    return _pointwise(function)


def _two(function: Callable[[Expr, Expr], Any]) -> Callable[..., Expr]:
    return _pointwise(function)


def of(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a rule that applies a function to an operation and its first value."""

    def rule(op: Any, x: Value, *_: Value) -> Any:
        return function(op, x)

    return rule


def _cast(op: Any, value: Value) -> Value:
    kind = op.kind(0)
    if isinstance(value, np.ndarray) and kind == "f":
        wider = value.dtype.kind != "f" or op.dtype(0).itemsize > value.dtype.itemsize
        return value.astype(op.dtype(0)) if wider else value  # widening is exact
    x = expr_of(value)
    if kind == "b":
        return as_boolean(x)
    if kind not in ("f", "i"):
        raise UnsupportedError("complex numbers" if kind == "c" else f"a value of dtype {op.dtype(0)}")
    if x.dtype == "bool":
        return as_number(x)
    if kind == "i" and x.dtype == "real":
        raise UnsupportedError(
            "a real number made whole", cure="pass whole numbers as an argument of their own"
        )
    return x


def _select(op: Any, condition: Value, x: Value, y: Value) -> Expr:
    c = expr_of(condition)
    shape = op.shape(0)
    if op.type == "Select" and len(c.shape) == 1 and len(shape) > 1:  # rows are treated as wholes
        c = reshape(c, (*c.shape, *[1] * (len(shape) - 1)))
    sides = [float(n) if n is not None and np.isinf(n) else None for n in map(number_of, (x, y))]
    if None not in sides:
        raise UnsupportedError("a choice between infinities")
    exprs = iter(_small([v for v, n in zip((x, y), sides, strict=True) if n is None], shape))
    a, b = [next(exprs) if n is None else n for n in sides]
    found = select_value(c, a, b)
    return found if tuple(cast("Any", found.shape)) == shape else broadcast_to(found, shape)


def _divided(x: Expr, y: Expr) -> Expr:
    zero = y == 0
    return fn.where(zero, 0, x / fn.where(zero, 1, y))


def _selu(x: Expr) -> Expr:
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return scale * fn.where(
        x < 0, alpha * fn.expm1(fn.minimum(x, 0)), x
    )  # at 0 the slope is the one on the right


def _quotient(x: Expr, y: Expr) -> Expr:
    return x / y


def _power(x: Expr, y: Expr) -> Expr:
    return x**y


def _reciprocal(x: Expr) -> Expr:
    return 1 / x


def _polygamma(_: Any, n: Value, x: Value) -> Expr:
    order = number_of(n)
    if order is None or order != int(order):
        raise UnsupportedError("polygamma of an order that is no known whole number")
    return fn.polygamma(int(order), expr_of(x))


def _sum_of(_: Any, *values: Value) -> Expr:
    total = expr_of(values[0])
    for v in values[1:]:
        total = total + expr_of(v)
    return total


def _of_real(function: Callable[..., Any], name: str) -> Callable[..., Expr]:
    """Return a rule for an op that means something else for integers than for real numbers."""
    rule = _pointwise(function)

    def checked(op: Any, *values: Value) -> Expr:
        if op.kind(0) in "iu":
            raise UnsupportedError(f"{name} of whole numbers")
        return rule(op, *values)

    return checked


_SAME = ("Identity", "Snapshot", "EnsureShape", "CheckNumerics", "CheckNumericsV2", "DeepCopy")
_NAMES = """
    abs acos acosh asin asinh atan atan2 atanh ceil cos cosh digamma erf erfc exp expm1 floor lgamma log log1p sign sin
    sinh softplus sqrt tan tanh xlog1py xlogy zeta
"""

ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "AddV2": _two(lambda a, b: a + b),
    "Add": _two(lambda a, b: a + b),
    "Sub": _two(lambda a, b: a - b),
    "Mul": _two(lambda a, b: a * b),
    **{name: _of_real(_quotient, name) for name in ("Div", "RealDiv")},
    "FloorDiv": _pointwise(fn.floor_divide),
    "FloorMod": _pointwise(fn.mod),
    "Mod": _of_real(truncated_remainder, "Mod"),
    "TruncateMod": _of_real(truncated_remainder, "TruncateMod"),
    "Neg": _one(lambda a: -a),
    "Pow": _of_real(_power, "Pow"),
    "Square": _one(lambda a: a**2),
    "SquaredDifference": _two(lambda a, b: (a - b) ** 2),
    "Rsqrt": _one(lambda a: 1 / fn.sqrt(a)),
    **{name: _of_real(_reciprocal, name) for name in ("Inv", "Reciprocal")},
    "DivNoNan": _pointwise(_divided),
    "MulNoNan": _two(lambda x, y: fn.where(y == 0, 0, x * y)),
    "Xdivy": _two(lambda x, y: fn.where(x == 0, 0, x / y)),
    "Maximum": _pointwise(fn.maximum),
    "Minimum": _pointwise(fn.minimum),
    "ClipByValue": _pointwise(fn.clip),
    "AddN": _sum_of,
    "Round": _pointwise(fn.round),
    "Rint": _pointwise(fn.round),
    "Sigmoid": _pointwise(fn.sigmoid),
    "Relu": _pointwise(fn.relu),
    "Relu6": _one(lambda x: clip(x, 0, 6)),
    "LeakyRelu": of(lambda op, x: fn.leaky_relu(expr_of(x), float(str(np.float32(op.attribute("alpha")))))),
    "Elu": _pointwise(fn.elu),
    "Selu": _pointwise(_selu),
    "Softsign": _one(lambda x: x / (1 + fn.abs(x))),
    "Igamma": _pointwise(fn.gammainc),
    "Igammac": _pointwise(fn.gammaincc),
    "Polygamma": _polygamma,
    "Ndtri": _pointwise(fn.ndtri),
    "Erfinv": _pointwise(fn.erfinv),
    "BesselI0e": _one(lambda x: fn.ive(0, x)),
    "BesselI1e": _one(lambda x: fn.ive(1, x)),
    "Less": _two(lambda a, b: a < b),
    "LessEqual": _two(lambda a, b: a <= b),
    "Greater": _two(lambda a, b: a > b),
    "GreaterEqual": _two(lambda a, b: a >= b),
    "Equal": _two(is_equal),
    "NotEqual": _two(unequal),
    "LogicalAnd": _pointwise(fn.logical_and),
    "LogicalOr": _pointwise(fn.logical_or),
    "LogicalNot": _pointwise(fn.logical_not),
    "IsNan": _pointwise(is_nan),
    "IsFinite": _one(is_finite),
    "Select": _select,
    "SelectV2": _select,
    "Cast": _cast,
    "StopGradient": of(lambda op, x: stop_gradient(x) if isinstance(x, Expr) and x.dtype == "real" else x),
    # A gradient tape inside the function creates these operations: of a value and a cotangent, or of a cotangent and an
    # argument.
    "TanhGrad": _two(lambda y, v: v * (1 - y**2)),
    "SigmoidGrad": _two(lambda y, v: v * y * (1 - y)),
    "SqrtGrad": _two(lambda y, v: v / (2 * y)),
    "RsqrtGrad": _two(lambda y, v: -v * y**3 / 2),
    "ReciprocalGrad": _two(lambda y, v: -v * y**2),
    "InvGrad": _two(lambda y, v: -v * y**2),
    "ReluGrad": _two(lambda v, x: fn.where(x > 0, v, 0)),
    "Relu6Grad": _two(lambda v, x: fn.where((x > 0) & (x < 6), v, 0)),
    "EluGrad": _two(lambda v, y: fn.where(y < 0, v * (y + 1), v)),
    "SoftplusGrad": _two(lambda v, x: v * fn.sigmoid(x)),
    **{name: of(lambda _, x: x) for name in _SAME},
    **{name[0].upper() + name[1:]: _pointwise(getattr(fn, name)) for name in _NAMES.split()},
}
"""For each type of operation: a function of the operation and of its values."""
