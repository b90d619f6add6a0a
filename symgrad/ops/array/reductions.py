"""Reductions: mean, max, min, prod, argmax, argmin, norm. The sum is a contraction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, apply, as_node, size_leaf
from symgrad.ir.op import Kink
from symgrad.ir.sizes import Shape, size_product
from symgrad.ops.array.along import (
    Axes,
    along,
    axes_of,
    axes_text,
    batch_axes,
    call_latex,
    called,
    count,
    difference,
    keep,
    objects,
    over_some,
    rows_reduced,
    spread_back,
    without,
)
from symgrad.ops.array.contraction import contract, einsum, sum_over
from symgrad.ops.array.indexing import iota
from symgrad.ops.array.layout import full, move_up, only, reshape
from symgrad.ops.array.scans import prod_except
from symgrad.ops.record import facts, of_one_array
from symgrad.ops.scalar.arith import div, mul
from symgrad.ops.scalar.elementary import sqrt
from symgrad.ops.scalar.logic import and_, eq, gt, ne, or_, where
from symgrad.ops.scalar.rounding import abs as absolute
from symgrad.support.errors import InternalError, ShapeError

_ZERO = as_node(0)


def _mean(axes: Axes, x: Any) -> Any:
    entries = int(np.prod([np.shape(x)[a] for a in axes]))
    with np.errstate(invalid="ignore"):  # the mean of an empty axis is NaN, without a warning
        return np.true_divide(np.asarray(x).sum(axis=axes), entries)


def _prod(axes: Axes, x: Any) -> Any:
    result: Any = np.asarray(x).prod(axis=axes)
    return result


def _mean_of(mp: Any, entries: list[Any]) -> Any:
    return mp.fsum(entries) / len(entries) if entries else mp.nan


def _norm_of(mp: Any, entries: list[Any]) -> Any:
    return mp.sqrt(mp.fsum([e * e for e in entries]))


def _native_mean(node: Node, args: tuple[Node, ...]) -> Node:
    axes: Axes = node.params[0]
    return div(sum_over(args[0], axes), size_leaf(size_product(node.args[0].shape[a] for a in axes)))


# The derivative is (tangent or cotangent)/count. The count is a node, so one formula holds for every size. The mean of
# an empty axis is NaN.
mean: Op = of_one_array(
    "mean",
    doc="the arithmetic mean over axes",
    gives="real",
    parameters=("axes",),
    shape=without,
    evaluate=_mean,
    reference=lambda mp, axes, x: along(x, axes, lambda v: _mean_of(mp, v)),
    push=lambda node, i, t: mean(full(t, node.args[0].shape), params=node.params),
    pull=lambda node, i, ct: spread_back(ct, node) / count(node.args[0], node.params[0]),
    batch=batch_axes,
    rows=rows_reduced,
    entries="between",
    total="of some",
    native=_native_mean,
    source=called("np.mean", "jnp.mean", "torch.mean", "tf.reduce_mean", "ops.mean"),
    latex=call_latex(r"\operatorname{{mean}}"),
    facts=facts("linear"),
)


def _nonempty(shapes: tuple[Shape, ...], axes: Axes) -> Shape:
    if any(shapes[0][a] == 0 for a in axes):
        raise ShapeError(
            "the extreme of no elements does not exist", cure="reduce over axes that are not empty"
        )
    return without(shapes, axes)


def _extreme(name: str, doc: str, function: Callable[..., Any], choose: Callable[[list[Any]], Any]) -> Op:
    """Register max or min. Entries that are tied share the derivative equally."""

    def evaluate(axes: Axes, x: Any) -> Any:
        if any(np.shape(x)[a] == 0 for a in axes):
            raise ShapeError(f"{name} of no elements", expected="axes that are not empty")
        return function(x, axis=axes)

    def hit(node: Node) -> tuple[Node, Node]:
        here = eq(node.args[0], spread_back(node, node))
        ties = sum_over(where(here, as_node(1), _ZERO), node.params[0])
        return here, ties

    def push(node: Node, _i: int, tangent: Node) -> Node:
        here, ties = hit(node)
        return sum_over(where(here, full(tangent, node.args[0].shape), _ZERO), node.params[0]) / ties

    def pull(node: Node, _i: int, cotangent: Node) -> Node:
        here, ties = hit(node)
        return where(here, spread_back(full(cotangent, node.shape) / ties, node), _ZERO)

    return of_one_array(
        name,
        doc=doc,
        gives="same",
        parameters=("axes",),
        shape=_nonempty,
        evaluate=evaluate,
        reference=lambda mp, axes, x: along(
            x, axes, lambda v: mp.nan if any(mp.isnan(e) for e in v) else choose(v)
        ),
        push=push,
        pull=pull,
        kinks=(Kink("ties", (), (), "the entries that are the extreme one share the derivative equally"),),
        batch=batch_axes,
        rows=rows_reduced,
        entries="picked",
        total="of some only",
        native=over_some,
        source=called(f"np.{name}", f"jnp.{name}", f"torch.a{name}", f"tf.reduce_{name}", f"ops.{name}"),
        latex=call_latex(rf"\{name}"),
        facts=facts("continuous", "piecewise-linear"),
    )


_largest, _smallest = max, min
max = _extreme("max", "the largest entry over axes; NaN if there is one", np.max, _largest)
min = _extreme("min", "the smallest entry over axes; NaN if there is one", np.min, _smallest)


def _position(name: str, doc: str, function: Callable[..., Any]) -> Op:
    def shape(shapes: tuple[Shape, ...], axis: int | None) -> Shape:
        return _nonempty(shapes, tuple(range(len(shapes[0]))) if axis is None else (axis,))

    def evaluate(axis: int | None, x: Any) -> Any:
        if np.shape(x)[axis] == 0 if axis is not None else np.size(x) == 0:
            raise ShapeError(f"{name} of no elements", expected="an axis that is not empty")
        return function(x, axis=axis)

    return of_one_array(
        name,
        doc=doc,
        gives="int",
        parameters=("axis",),
        shape=shape,
        evaluate=evaluate,
        reference=lambda mp, axis, x: evaluate(axis, objects(x)),
        push=_no_tangent,
        pull=_no_tangent,
        batch=_batch_position,
        rows=rows_reduced,
        entries="counted",
        total="of some only",
        native=partial(_native_position, max if name == "argmax" else min),
        source=partial(_source_of_position, name),
        latex=call_latex(rf"\operatorname{{{{{name}}}}}"),
        facts=facts("piecewise-constant", "integral"),
    )


def _batch_position(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    x, axis = only(stacks), node.params[0]
    if axis is None:
        x, axis = move_up(x, (*lead, size_product(node.args[0].shape))), 0
    return node.op(x, params=(axis + len(lead),))


def _native_position(extreme: Op, node: Node, args: tuple[Node, ...]) -> Node:
    """Return the position of the first extreme entry, or of the first NaN: the least with an entry equal to it."""
    (x,) = args
    axis: int | None = node.params[0]
    if axis is None:
        axis, x = 0, apply(reshape, (x,), ((size_product(x.shape),),))
    top = keep(x, extreme(x, params=((axis,),)), (axis,))
    here = or_(eq(x, top), ne(x, x))
    size = x.shape[axis]
    places = apply(reshape, (iota(params=(size,)),), ((size, *[1] * (len(x.shape) - axis - 1)),))
    return min(where(here, places, size_leaf(size)), params=((axis,),))


def _source_of_position(name: str, node: Node) -> str | Mapping[str, str]:
    axis = node.params[0]
    if axis is not None:
        return f"{{np}}.{name}({{0}}, {{axis}}={axis})"
    plain = dict.fromkeys(("numpy", "jax", "torch", "keras"), f"{{np}}.{name}({{0}})")
    return {**plain, "tensorflow": f"tf.{name}(tf.reshape({{0}}, (-1,)))"}


def _no_tangent(node: Node, _i: int, _tangent: Node) -> Node:
    raise InternalError(f"'{node.op.name}' is an integer and carries no tangent")


argmax = _position("argmax", "where the largest entry is, the first one of several", np.argmax)
argmin = _position("argmin", "where the smallest entry is, the first one of several", np.argmin)


_plain_prod = called("np.prod", "jnp.prod", "torch.prod", "tf.reduce_prod", "ops.prod")


def _source_of_prod(node: Node) -> Mapping[str, str]:
    axes: Axes = node.params[0]
    found = _plain_prod(node)
    if not 1 < len(axes) < len(node.args[0].shape):
        return found
    text = "{0:t}"
    for axis in sorted(axes, reverse=True):  # torch takes one axis
        text = f"torch.prod({text}, dim={axis})"
    return {**found, "torch": text}


# d prod/dx_i is computed as the product of all other entries, and not as out/x_i, which is 0/0 for a zero entry.
prod: Op = of_one_array(
    "prod",
    doc="the product of the entries over axes",
    gives="same",
    parameters=("axes",),
    shape=without,
    evaluate=_prod,
    reference=lambda mp, axes, x: along(x, axes, mp.fprod),
    push=lambda node, i, t: sum_over(_others(node) * t, node.params[0]),
    pull=lambda node, i, ct: _others(node) * spread_back(ct, node),
    batch=batch_axes,
    rows=rows_reduced,
    entries="products",
    total="always",
    native=over_some,
    source=_source_of_prod,
    latex=call_latex(r"\operatorname{{prod}}"),
)


def _others(node: Node) -> Node:
    """Return the product of all other entries for each entry of a product's operand."""
    x, axes = node.args[0], node.params[0]
    if len(axes) == 1:
        return prod_except(x, params=(axes[0],))
    # Merge several axes into one axis.
    order = (*(a for a in range(len(x.shape)) if a not in axes), *axes)
    back = tuple(order.index(a) for a in range(len(x.shape)))
    labels = range(len(x.shape))
    moved = contract([x], [labels], order)
    rank = len(order) - len(axes)
    flat = move_up(moved, (*moved.shape[:rank], size_product(moved.shape[rank:])))
    found = move_up(prod_except(flat, params=(rank,)), moved.shape)
    return contract([found], [labels], back)


def _norm(axes: Axes, x: Any) -> Any:
    x = np.asarray(x)
    top = np.abs(x).max(axis=axes, keepdims=True, initial=0.0)
    # The squares of large entries overflow, those of small ones vanish: both are scaled by the largest entry.
    scale = np.where((top > 0) & np.isfinite(top), top, 1.0)
    with np.errstate(all="ignore"):
        return np.sqrt(((x / scale) ** 2).sum(axis=axes)) * np.squeeze(scale, axis=axes)


def _native_norm(node: Node, args: tuple[Node, ...]) -> Node:
    axes: Axes = node.params[0]
    (x,) = args
    if not axes:
        return absolute(x)
    if any(x.shape[a] == 0 for a in axes):
        return sqrt(mul(sum_over(x, axes), as_node(1)))
    top = max(absolute(x), params=(axes,))
    # The squares of large entries overflow, those of small ones vanish: both are scaled by the largest entry.
    usable = and_(gt(top, as_node(0)), eq(difference(top, top), as_node(0)))
    scale = where(usable, top, as_node(1))
    ratio = div(x, keep(x, scale, axes))
    labels = tuple(range(len(x.shape)))
    kept = tuple(j for j in labels if j not in axes)
    return mul(sqrt(einsum(ratio, ratio, params=((labels, labels), kept))), scale)


_plain_norm = called("", "jnp.linalg.norm", "torch.linalg.vector_norm", "tf.norm", "ops.norm")
_sum_of_squares = called("", "jnp.sum", "torch.sum", "tf.reduce_sum", "ops.sum", of="{0:ta}**2")


def _source_of_norm(node: Node) -> Mapping[str, str]:
    axes: Axes = node.params[0]
    found = {**_plain_norm(node), "numpy": f"_norm({{0}}, {axes_text(node)})"}
    if not axes:
        return {**dict.fromkeys(found, "{m}.abs({0:t})"), "numpy": found["numpy"]}
    if 2 < len(axes) < len(node.args[0].shape):  # only torch takes so many axes
        sums = _sum_of_squares(node)
        return {**found, **{x: f"{{m}}.sqrt({sums[x]})" for x in ("jax", "tensorflow", "keras")}}
    return found


def _latex_of_norm(node: Node) -> str:
    axes, rank = axes_of(node), len(node.args[0].shape)
    plain = r"\left\lVert {0} \right\rVert"
    if len(axes) == rank <= 2:
        return plain + "_{{F}}" * (rank == 2)
    return rf"{plain}_{{{{\text{{{{axis }}}} {', '.join(map(str, axes))}}}}}"


def _direction(node: Node) -> Node:
    """Return x/norm(x), or 0 if the norm is 0."""
    out = spread_back(node, node)
    return where(ne(out, _ZERO), node.args[0] / out, _ZERO)


norm: Op = of_one_array(
    "norm",
    doc="the square root of the sum of squares over axes",
    gives="real",
    parameters=("axes",),
    shape=without,
    evaluate=_norm,
    reference=lambda mp, axes, x: along(x, axes, lambda v: _norm_of(mp, v)),
    push=lambda node, i, t: sum_over(_direction(node) * t, node.params[0]),
    pull=lambda node, i, ct: _direction(node) * spread_back(ct, node),
    kinks=(Kink("x = 0", (), (), "the cone has no slope at its tip; 0 is the subgradient of least norm"),),
    batch=batch_axes,
    rows=rows_reduced,
    entries="computed",
    total="always",
    native=_native_norm,
    source=_source_of_norm,
    latex=_latex_of_norm,
    facts=facts("nonnegative", "continuous"),
)
