"""Operations of TensorFlow along axes: reductions, softmax, normalisation, as expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

import symgrad.api.functions.elementary as fn
from symgrad.api.functions.arrays import (
    argmax,
    argmin,
    cumsum,
    log_softmax,
    max,
    mean,
    min,
    prod,
    softmax,
    sum,
)
from symgrad.api.functions.constants import constant, exact_decimals
from symgrad.api.functions.layout import concatenate, expand_dims, full, reshape, take_along_axis
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.booleans import all_of, any_of
from symgrad.interop.importers.sorting import cumulative, sort_positions
from symgrad.interop.importers.tensorflow.ops import Value, expr_of, known_ints, of
from symgrad.support.errors import UnsupportedError


def _axes(x: Expr, axes: Value) -> tuple[int, ...]:
    return tuple(sorted({a % len(x.shape) for a in known_ints(axes, "an axis")})) if x.shape else ()


def _reduced(function: Callable[..., Expr]) -> Callable[..., Expr]:
    def rule(op: Any, x: Value, axes: Value) -> Expr:
        e = expr_of(x)
        along = _axes(e, axes)
        return function(e, axis=along, keepdims=bool(op.attribute("keep_dims"))) if along else e

    return rule


def _mean(x: Expr, axis: Any, keepdims: bool) -> Expr:
    if x.dtype == "int":
        raise UnsupportedError("the mean of whole numbers")
    return mean(x, axis=axis, keepdims=keepdims)


def _norm(x: Expr, axis: Any, keepdims: bool) -> Expr:
    return fn.sqrt(sum(x**2, axis=axis, keepdims=keepdims))


def _place(function: Callable[..., Expr]) -> Callable[..., Expr]:
    def rule(_: Any, x: Value, axis: Value) -> Expr:
        return function(expr_of(x), axis=known_ints(axis, "an axis")[0])

    return rule


def _cumsum(op: Any, x: Value, axis: Value) -> Expr:
    e = expr_of(x)
    along, back = known_ints(axis, "an axis")[0] % len(e.shape), bool(op.attribute("reverse"))
    return cumsum(_moved_on(e, along, 0, back) if op.attribute("exclusive") else e, axis=along, reverse=back)


def _moved_on(e: Expr, axis: int, unit: float, back: bool) -> Expr:
    """Return entries shifted by one place along an axis, forwards or backwards; a number takes the free place."""
    lead = (slice(None),) * axis
    parts = [
        full((*e.shape[:axis], 1, *e.shape[axis + 1 :]), unit),
        e[(*lead, slice(1, None) if back else slice(None, -1))],
    ]
    return concatenate(parts[::-1] if back else parts, axis)


def _running(combine: Callable[[Any, Any], Expr], unit: float | None) -> Callable[..., Any]:
    def rule(op: Any, x: Value, axis: Value) -> Expr:
        e, along, back = expr_of(x), known_ints(axis, "an axis")[0], bool(op.attribute("reverse"))
        along %= len(e.shape)
        if not op.attribute("exclusive"):
            return cumulative(e, along, combine, reverse=back)
        if unit is None:
            raise UnsupportedError(f"{op.type} with exclusive=True, which begins with minus infinity")
        return cumulative(_moved_on(e, along, unit, back), along, combine, reverse=back)

    return rule


def _top_k(_: Any, x: Value, k: Value) -> list[Any]:
    e = expr_of(x)
    last = len(e.shape) - 1
    key = (..., slice(0, known_ints(k, "a number of entries")[0]))
    places = sort_positions(e, last, descending=True)[key]
    return [take_along_axis(e, places, last), places]


def _cross_entropy(_: Any, scores: Value, labels: Value) -> list[Any]:
    x, p = expr_of(scores), expr_of(labels)
    return [-sum(p * log_softmax(x, axis=-1), axis=-1), softmax(x, axis=-1) - p]


def _sparse_cross_entropy(op: Any, scores: Value, labels: Value) -> list[Any]:
    x, k = expr_of(scores), expr_of(labels)
    picked = take_along_axis(log_softmax(x, axis=-1), expand_dims(k, -1), axis=-1)
    return [-reshape(picked, op.shape(0)), None]


def _batch_norm(op: Any, x: Value, scale: Value, offset: Value, mean_: Value, var_: Value) -> list[Any]:
    e, g, b = map(expr_of, (x, scale, offset))
    rank = len(e.shape)
    axis = 1 if str(op.text("data_format")).startswith("NC") else rank - 1
    others = tuple(k for k in range(rank) if k != axis)
    eps = exact_decimals(np.array([op.attribute("epsilon")], np.float32))[0].item()

    def spread(v: Expr) -> Expr:
        return v if axis == rank - 1 else reshape(v, (*v.shape, *[1] * (rank - 1 - axis)))

    if op.attribute("is_training"):
        m = mean(e, axis=others)
        v = mean((e - spread(m)) ** 2, axis=others)
    else:
        m, v = expr_of(mean_), expr_of(var_)
    y = (e - spread(m)) / fn.sqrt(spread(v) + eps) * spread(g) + spread(b)
    count = int(np.prod([cast("int", e.shape[k]) for k in others]))
    if op.attribute("is_training"):
        v = v * count / (count - 1) if count > 1 else v
        rate = exact_decimals(np.array([op.attribute("exponential_avg_factor", 1.0)], np.float32))[0].item()
        if rate != 1:  # the running statistics move towards those of the batch
            m, v = ((1 - rate) * expr_of(old) + rate * new for old, new in ((mean_, m), (var_, v)))
    return [y, m, v, None, None, None]


def _bias(op: Any, x: Value, b: Value) -> Expr:
    e, bias = expr_of(x), expr_of(b)
    if op.text("data_format") == "NCHW":
        bias = reshape(bias, (*bias.shape, *[1] * (len(e.shape) - 2)))
    return e + bias


def _bias_grad(op: Any, v: Value) -> Expr:
    e = expr_of(v)
    channels = 1 if op.text("data_format") == "NCHW" else len(e.shape) - 1
    return sum(e, axis=tuple(k for k in range(len(e.shape)) if k != channels))


def _filled(number: int) -> Callable[..., Expr]:
    def rule(op: Any, _: Value) -> Expr:
        return constant(cast("Any", np.full(op.shape(0), number, op.dtype(0))))

    return rule


ALONG_AXES: Mapping[str, Callable[..., Any]] = {
    "Sum": _reduced(sum),
    "Mean": _reduced(_mean),
    "Max": _reduced(max),
    "Min": _reduced(min),
    "Prod": _reduced(prod),
    "All": _reduced(all_of),
    "Any": _reduced(any_of),
    "EuclideanNorm": _reduced(_norm),
    "ArgMax": _place(argmax),
    "ArgMin": _place(argmin),
    "Cumsum": _cumsum,
    "Cumprod": _running(operator.mul, 1),
    "CumulativeLogsumexp": _running(fn.logaddexp, None),
    "TopKV2": _top_k,
    "Softmax": of(lambda op, x: softmax(expr_of(x), axis=-1)),
    "LogSoftmax": of(lambda op, x: log_softmax(expr_of(x), axis=-1)),
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
    "L2Loss": of(lambda op, x: sum(expr_of(x) ** 2) / 2),
    "FusedBatchNormV3": _batch_norm,
    "FusedBatchNormV2": _batch_norm,
    "FusedBatchNorm": _batch_norm,
    "BiasAdd": _bias,
    "BiasAddGrad": _bias_grad,
    "ZerosLike": _filled(0),
    "OnesLike": _filled(1),
}
"""For each operation, a function of expressions of their whole shape."""
