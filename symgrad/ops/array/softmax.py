"""Sums of exponentials, and what is built on them, without overflow: logsumexp, softmax, log_softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op
from symgrad.ops.array.contraction import sum_over
from symgrad.ops.array.layout import full, spread
from symgrad.ops.array.reductions import Axes, along, objects, same, spread_back, without
from symgrad.ops.record import facts, of_one_array

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _exp(mp: Any, x: Any) -> Any:
    return objects([mp.exp(e) for e in x.flat]).reshape(x.shape)


def _shifted(axes: Axes, x: Any) -> tuple[Any, Any]:
    """Return x less its largest entry (which exp takes without overflow), and that entry."""
    x = np.asarray(
        x, dtype=np.result_type(np.asarray(x).dtype, np.float32) if np.asarray(x).dtype.kind == "f" else float
    )
    if any(x.shape[a] == 0 for a in axes):
        top = np.full(tuple(1 if i in axes else n for i, n in enumerate(x.shape)), -np.inf, dtype=x.dtype)
    else:
        top = np.max(x, axis=axes, keepdims=True)
    with np.errstate(invalid="ignore"):
        # Infinities: exp(-inf - 0) is the right 0, inf - inf would be NaN where the answer is inf.
        return x - np.where(np.isfinite(top), top, 0), top


def _logsumexp(axes: Axes, x: Any) -> Any:
    shifted, top = _shifted(axes, x)
    with np.errstate(all="ignore"):
        total = np.log(np.sum(np.exp(shifted), axis=axes))
    return total + np.squeeze(np.where(np.isfinite(top), top, 0), axis=axes)


def _softmax(axes: Axes, x: Any) -> Any:
    shifted, _ = _shifted(axes, x)
    with np.errstate(all="ignore"):
        e = np.exp(shifted)
        return e / np.sum(e, axis=axes, keepdims=True)


def _log_softmax(axes: Axes, x: Any) -> Any:
    shifted, _ = _shifted(axes, x)
    with np.errstate(all="ignore"):
        return shifted - np.log(np.sum(np.exp(shifted), axis=axes, keepdims=True))


def _exact_logsumexp(mp: Any, axes: Axes, x: Any) -> Any:
    return along(x, axes, lambda v: mp.log(mp.fsum(map(mp.exp, v))) if v else mp.mpf("-inf"))


def _exact_kept(mp: Any, axes: Axes, x: Any) -> Any:
    value = _exact_logsumexp(mp, axes, x)
    return np.expand_dims(value, axes)


logsumexp: Op = of_one_array(
    "logsumexp",
    takes=("number",),
    doc="log(sum(exp(x))) over axes, without overflow",
    gives="real",
    parameters=("axes",),
    shape=without,
    evaluate=_logsumexp,
    reference=_exact_logsumexp,
    push=lambda node, i, t: sum_over(softmax(node.args[0], params=node.params) * t, node.params[0]),
    pull=lambda node, i, ct: softmax(node.args[0], params=node.params) * spread_back(ct, node),
    latex=r"\operatorname{{logsumexp}}\left({0}\right)",
    facts=facts(),
)


def _centred(node: Node, _i: int, moving: Node) -> Node:
    """D softmax: s*(t - sum(s*t)). The matrix diag(s) - s*s' is symmetric, so this is its own transpose."""
    axes = node.params[0]
    weighted = full(node * moving, node.shape)
    return node * (moving - spread(sum_over(weighted, axes), axes, len(node.shape)))


softmax: Op = of_one_array(
    "softmax",
    takes=("number",),
    doc="exp(x)/sum(exp(x)) over axes, without overflow",
    gives="real",
    parameters=("axes",),
    shape=same,
    evaluate=_softmax,
    reference=lambda mp, axes, x: _exp(mp, objects(x) - _exact_kept(mp, axes, x)),
    push=_centred,
    pull=_centred,
    latex=r"\operatorname{{softmax}}\left({0}\right)",
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
    takes=("number",),
    doc="x - logsumexp(x) over axes",
    gives="real",
    parameters=("axes",),
    shape=same,
    evaluate=_log_softmax,
    reference=lambda mp, axes, x: objects(x) - _exact_kept(mp, axes, x),
    push=_log_softmax_push,
    pull=_log_softmax_pull,
    latex=r"\operatorname{{log\_softmax}}\left({0}\right)",
    facts=facts(),
)
