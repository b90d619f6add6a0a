"""Scans along an axis: cumsum, logcumsumexp, and prod_except, the product of all other entries for each entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symgrad.ir.graph import OPS, Node, Op, as_node
from symgrad.ir.op import Builder, Lane, Scan
from symgrad.ops.array.along import batch_axes, call_latex, objects, rows_of_scan, same
from symgrad.ops.array.contraction import sum_over
from symgrad.ops.array.layout import expand, full
from symgrad.ops.record import facts, of_one_array, structural
from symgrad.ops.scalar.elementary import exp
from symgrad.ops.scalar.logic import ge, ne, where

_ZERO = as_node(0)


def _prod_except(axis: int, x: Any) -> Any:
    array = np.moveaxis(np.asarray(x), axis, -1)
    ones = np.ones((*array.shape[:-1], 1), dtype=array.dtype)
    before = np.cumprod(np.concatenate([ones, array[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, array[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    result = before * after if array.shape[-1] else array
    return np.moveaxis(result, -1, axis)


def _pairs(node: Node) -> tuple[Node, Node, int]:
    """Return a matrix whose row k is the operand with entry k replaced by 1, the off-diagonal mask, and the row axis.

    For i != k, prod_except of row k at i is the product of all entries except i and k, which is d(out_i)/d(x_k).
    """
    x = node.args[0]
    axis: int = node.params[0]
    off = ne(*_places(x, axis))
    rows = where(off, expand(x, [axis]), as_node(1))
    return prod_except(rows, params=(axis + 1,)), off, axis


def _places(x: Node, axis: int) -> tuple[Node, Node]:
    """Return the row and column numbers of the pairs of entries along an axis, as arrays that broadcast."""
    number, behind = OPS["iota"](params=(x.shape[axis],)), len(x.shape) - axis
    return expand(number, range(1, behind + 1)), expand(number, range(1, behind))


def _prod_except_push(node: Node, _i: int, tangent: Node) -> Node:
    second, off, axis = _pairs(node)
    moved = expand(full(tangent, node.args[0].shape), [axis + 1])
    return sum_over(where(off, second * moved, _ZERO), [axis])


def _prod_except_pull(node: Node, _i: int, cotangent: Node) -> Node:
    second, off, axis = _pairs(node)
    moved = expand(full(cotangent, node.shape), [axis])
    return sum_over(where(off, second * moved, _ZERO), [axis + 1])


prod_except: Op = of_one_array(
    "prod_except",
    doc="for each entry the product of all others along an axis",
    gives="same",
    parameters=("axis",),
    shape=same,
    evaluate=_prod_except,
    reference=lambda mp, axis, x: _prod_except(axis, objects(x)),
    push=_prod_except_push,
    pull=_prod_except_pull,
    batch=batch_axes,
    rows=rows_of_scan,
    entries="computed",
    total="always",
    native=Scan(1.0, "mul", others=True),
    source=lambda node: f"_prod_except({{0:t}}, {node.params[0]})",
    latex=call_latex(r"\operatorname{{prod\_others}}"),
)


def _cumsum(axis: int, reverse: int, x: Any) -> Any:
    if not reverse:
        return np.cumsum(x, axis=axis)
    return np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis)


def _exact_cumsum(_mp: Any, axis: int, reverse: int, x: Any) -> Any:
    return _cumsum(axis, reverse, objects(x))


def _source_of_cumsum(node: Node) -> str | Mapping[str, str]:
    axis, reverse = node.params
    plain = f"{{np}}.cumsum({{0:t}}, {{axis}}={axis})"
    if not reverse:
        return plain
    flipped = f"{{np}}.flip({{np}}.cumsum({{np}}.flip({{0:t}}, {axis}), {{axis}}={axis}), {axis})"
    return {
        **dict.fromkeys(("numpy", "jax", "keras"), flipped),
        "torch": f"torch.flip(torch.cumsum(torch.flip({{0:t}}, ({axis},)), dim={axis}), ({axis},))",
        "tensorflow": f"tf.cumsum({{0:t}}, axis={axis}, reverse=True)",
    }


cumsum: Op = structural(
    "cumsum",
    doc="the sum of all entries up to this one along an axis; reversed: from this one on",
    gives="same",
    parameters=("axis", "reverse"),
    shape=same,
    evaluate=_cumsum,
    reference=_exact_cumsum,
    push=lambda node, i, t: cumsum(full(t, node.shape), params=node.params),
    pull=lambda node, i, ct: cumsum(full(ct, node.shape), params=(node.params[0], 1 - node.params[1])),
    batch=batch_axes,
    rows=rows_of_scan,
    entries="computed",
    total="always",
    native=Scan(0.0, "add"),
    source=_source_of_cumsum,
    latex=call_latex(r"\operatorname{{cumsum}}", lambda node: r"^{{\leftarrow}}" if node.params[1] else ""),
    facts=facts("linear"),
)


def _logcumsumexp(axis: int, x: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.logaddexp.accumulate(np.asarray(x, np.result_type(x, np.float32)), axis=axis)


def _exact_logcumsumexp(mp: Any, axis: int, x: Any) -> Any:
    totals = _cumsum(axis, 0, objects([mp.exp(e) for e in x.flat]).reshape(x.shape))
    return objects([mp.log(e) for e in totals.flat]).reshape(x.shape)


def _logaddexp(b: Builder, before: Lane, entry: Lane) -> Lane:
    """Return max + log1p(exp(min - max)); the difference of equal infinities, which is NaN, counts as 0."""
    top = b.maximum(before, entry)
    less = b.sub(b.minimum(before, entry), top)
    gap = b.select(b.eq(before, entry), b.const(0), less)
    return b.add(top, b.call("log1p", b.call("exp", gap)))


def _shares(node: Node) -> Node:
    """Return a matrix with the share of entry j in the sum up to entry i, exp(x_j - out_i), in row i and column j.

    Differences of running sums would be faster, but would lose all digits. Equal infinities give a share of 1.
    """
    (x,), axis = node.args, node.params[0]
    entry, total = expand(x, [axis]), expand(node, [axis + 1])
    within = ge(*_places(x, axis))
    gap = where(within, where(ne(entry, total), entry - total, _ZERO), _ZERO)
    return where(within, exp(gap), _ZERO)


def _logcumsumexp_push(node: Node, _i: int, tangent: Node) -> Node:
    axis: int = node.params[0]
    return sum_over(_shares(node) * expand(full(tangent, node.shape), [axis]), [axis + 1])


def _logcumsumexp_pull(node: Node, _i: int, cotangent: Node) -> Node:
    axis: int = node.params[0]
    return sum_over(_shares(node) * expand(full(cotangent, node.shape), [axis + 1]), [axis])


logcumsumexp: Op = of_one_array(
    "logcumsumexp",
    doc="log(cumsum(exp(x))) along an axis, without overflow",
    gives="real",
    parameters=("axis",),
    shape=same,
    evaluate=_logcumsumexp,
    reference=_exact_logcumsumexp,
    push=_logcumsumexp_push,
    pull=_logcumsumexp_pull,
    batch=batch_axes,
    rows=rows_of_scan,
    entries="computed",
    total="always",
    native=Scan(float("-inf"), _logaddexp),
    source=lambda node: {
        "numpy": f"np.logaddexp.accumulate({{0}}, axis={node.params[0]})",
        "jax": f"jax.lax.cumlogsumexp({{0:t}}, axis={node.params[0]})",
        "torch": f"torch.logcumsumexp({{0:t}}, dim={node.params[0]})",
        "tensorflow": f"tf.math.cumulative_logsumexp({{0:t}}, axis={node.params[0]})",
        "keras": f"ops.associative_scan(ops.logaddexp, {{0:t}}, axis={node.params[0]})",
    },
    latex=call_latex(r"\operatorname{{logcumsumexp}}"),
)
