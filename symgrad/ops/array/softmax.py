"""Sums of exponentials without overflow: logsumexp, softmax, log_softmax."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, as_node
from symgrad.ops.array.along import (
    Axes,
    along,
    axes_text,
    batch_axes,
    call_latex,
    called,
    difference,
    finite_or,
    keep,
    objects,
    rows_of_scan,
    rows_reduced,
    same,
    spread_back,
    without,
)
from symgrad.ops.array.contraction import sum_over
from symgrad.ops.array.layout import full, shaped, spread
from symgrad.ops.array.reductions import max
from symgrad.ops.record import facts, of_one_array
from symgrad.ops.scalar.arith import add, div, mul
from symgrad.ops.scalar.elementary import exp, log


def _exp(mp: Any, x: Any) -> Any:
    return objects([mp.exp(e) for e in x.flat]).reshape(x.shape)


def _shifted(axes: Axes, x: Any) -> tuple[Any, Any]:
    """Return x minus its largest entry, so that exp does not overflow, and this largest entry."""
    x = np.asarray(x)
    x = x.astype(np.result_type(x.dtype, np.float32) if x.dtype.kind == "f" else float, copy=False)
    if any(x.shape[a] == 0 for a in axes):
        top = np.full(tuple(1 if i in axes else n for i, n in enumerate(x.shape)), -np.inf, dtype=x.dtype)
    else:
        top = x.max(axis=axes, keepdims=True)
    with np.errstate(invalid="ignore"):
        # Infinities are not subtracted: exp(-inf - 0) is correctly 0, whereas inf - inf would be NaN where the result
        # is inf.
        return x - np.where(np.isfinite(top), top, 0), top


def _logsumexp(axes: Axes, x: Any) -> Any:
    shifted, top = _shifted(axes, x)
    with np.errstate(all="ignore"):
        total = np.log(np.exp(shifted).sum(axis=axes))
    return total + np.squeeze(np.where(np.isfinite(top), top, 0), axis=axes)


def _softmax(axes: Axes, x: Any) -> Any:
    shifted, _ = _shifted(axes, x)
    with np.errstate(all="ignore"):
        e = np.exp(shifted)
        return e / e.sum(axis=axes, keepdims=True)


def _log_softmax(axes: Axes, x: Any) -> Any:
    shifted, _ = _shifted(axes, x)
    with np.errstate(all="ignore"):
        return shifted - np.log(np.exp(shifted).sum(axis=axes, keepdims=True))


def _exact_logsumexp(mp: Any, axes: Axes, x: Any) -> Any:
    return along(x, axes, lambda v: mp.log(mp.fsum(map(mp.exp, v))) if v else mp.mpf("-inf"))


def _exact_with_axes(mp: Any, axes: Axes, x: Any) -> Any:
    value = _exact_logsumexp(mp, axes, x)
    return np.expand_dims(value, axes)


def _softened(x: Node, axes: Axes) -> tuple[Node, Node]:
    """Return the largest entry of x if it is finite, else 0, and exp of x minus this number."""
    if any(x.shape[a] == 0 for a in axes):
        top = as_node(0)
    else:
        # An infinity is not subtracted: exp(-inf) is correctly 0, and inf - inf would be NaN.
        top = keep(x, finite_or(max(x, params=(axes,)) if axes else x, 0), axes)
    return top, exp(difference(x, top))


def _native_logsumexp(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    top, e = _softened(args[0], axes)
    total = log(sum_over(e, axes))
    if top.shape != total.shape and top.shape:
        top = shaped(top, node.shape)
    return add(total, top)


def _native_softmax(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    _, e = _softened(args[0], axes)
    # There is only one division per row. The sum is at least 1, so using its reciprocal costs only one rounding.
    return mul(e, keep(e, div(as_node(1), sum_over(e, axes)), axes))


def _native_log_softmax(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    top, e = _softened(args[0], axes)
    return difference(difference(args[0], top), log(keep(e, sum_over(e, axes), axes)))


_called_logsumexp = called(
    "_logsumexp",
    "jax.scipy.special.logsumexp",
    "torch.logsumexp",
    "tf.reduce_logsumexp",
    "ops.logsumexp",
    says=("torch",),
)


def _source_of_logsumexp(node: Node) -> Mapping[str, str]:
    return {**_called_logsumexp(node), "numpy": f"_logsumexp({{0}}, {axes_text(node)})"}


def _source_of_softmax(name: str, node: Node) -> Mapping[str, str]:
    """Return the source of softmax or its logarithm; only JAX has them over several axes."""
    axes: Axes = node.params[0]
    jax, own = f"jax.nn.{name}({{0:t}}, axis={axes_text(node)})", f"_{name}({{0}}, {axes_text(node)})"
    if len(axes) == 1:
        plain = f"{{np}}.{name}({{0:t}}, {{axis}}={axes[0]})"
        nn = f"tf.nn.{name}({{0:t}}, axis={axes[0]})"
        return {"numpy": own, "jax": jax, "torch": plain, "tensorflow": nn, "keras": plain}
    found: dict[str, str] = {}
    for library, function in (
        ("jax", ""),
        ("torch", "torch.logsumexp"),
        ("tensorflow", "tf.reduce_logsumexp"),
        ("keras", "ops.logsumexp"),
    ):
        keep_dims = "keepdim" if library == "torch" else "keepdims"
        total = f"{function}({{0:t}}, {{axis}}={axes}, {keep_dims}=True)" if axes else "{0:tm}"
        text = f"{{0:tm}} - {total}"
        found[library] = f"{{m}}.exp({text})" if name == "softmax" else f"({text})"
    return {**found, "numpy": own, **({"jax": jax} if axes else {})}


logsumexp: Op = of_one_array(
    "logsumexp",
    doc="log(sum(exp(x))) over axes, without overflow",
    gives="real",
    parameters=("axes",),
    shape=without,
    evaluate=_logsumexp,
    reference=_exact_logsumexp,
    push=lambda node, i, t: sum_over(softmax(node.args[0], params=node.params) * t, node.params[0]),
    pull=lambda node, i, ct: softmax(node.args[0], params=node.params) * spread_back(ct, node),
    batch=batch_axes,
    rows=rows_reduced,
    entries="computed",
    total="of some",
    native=_native_logsumexp,
    source=_source_of_logsumexp,
    latex=call_latex(r"\operatorname{{logsumexp}}"),
)


def _centred(node: Node, _i: int, moving: Node) -> Node:
    """Return the derivative s*(t - sum(s*t)). Its matrix diag(s) - s*s' is symmetric, so it is its own transpose."""
    axes = node.params[0]
    weighted = full(node * moving, node.shape)
    return node * (moving - spread(sum_over(weighted, axes), axes, len(node.shape)))


softmax: Op = of_one_array(
    "softmax",
    doc="exp(x)/sum(exp(x)) over axes, without overflow",
    gives="real",
    parameters=("axes",),
    shape=same,
    evaluate=_softmax,
    reference=lambda mp, axes, x: _exp(mp, objects(x) - _exact_with_axes(mp, axes, x)),
    push=_centred,
    pull=_centred,
    batch=batch_axes,
    rows=rows_of_scan,
    entries="computed",
    total="always",
    native=_native_softmax,
    source=partial(_source_of_softmax, "softmax"),
    latex=call_latex(r"\operatorname{{softmax}}"),
    facts=facts("nonnegative", "bounded-by-one"),
)


def _log_softmax_push(node: Node, _i: int, tangent: Node) -> Node:
    axes = node.params[0]
    weighted = full(softmax(node.args[0], params=node.params) * tangent, node.shape)
    return tangent - spread(sum_over(weighted, axes), axes, len(node.shape))


def _log_softmax_pull(node: Node, _i: int, cotangent: Node) -> Node:
    axes = node.params[0]
    total = spread(sum_over(full(cotangent, node.shape), axes), axes, len(node.shape))
    return cotangent - softmax(node.args[0], params=node.params) * total


log_softmax: Op = of_one_array(
    "log_softmax",
    doc="x - logsumexp(x) over axes",
    gives="real",
    parameters=("axes",),
    shape=same,
    evaluate=_log_softmax,
    reference=lambda mp, axes, x: objects(x) - _exact_with_axes(mp, axes, x),
    push=_log_softmax_push,
    pull=_log_softmax_pull,
    batch=batch_axes,
    rows=rows_of_scan,
    entries="computed",
    total="always",
    native=_native_log_softmax,
    source=partial(_source_of_softmax, "log_softmax"),
    latex=call_latex(r"\operatorname{{log\_softmax}}"),
)
