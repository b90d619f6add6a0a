"""Reductions and what is built on them: mean, max, min, prod, argmax, argmin, norm, cumsum.

The result of a reduction lacks the reduced axes; ``keepdims`` is a reshape around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import InternalError, ShapeError
from symgrad.ir.graph import OPS, Node, Op, as_node, size_node
from symgrad.ir.op import Kink
from symgrad.ir.sizes import Shape, Size, size_product
from symgrad.ops.array.contraction import contract, sum_over
from symgrad.ops.array.layout import expand, full, move_up, spread
from symgrad.ops.record import facts, of_one_array, structural
from symgrad.ops.scalar.logic import eq, ne, where

__all__ = [
    "Axes",
    "along",
    "argmax",
    "argmin",
    "count",
    "cumsum",
    "max",
    "mean",
    "min",
    "norm",
    "objects",
    "prod",
    "prod_except",
    "same",
    "spread_back",
    "without",
]

_ZERO = as_node(0)

Axes = tuple[int, ...]


def without(shapes: tuple[Shape, ...], axes: Axes) -> Shape:
    """The shape rule of what lacks the reduced axes."""
    return tuple(size for i, size in enumerate(shapes[0]) if i not in axes)


def same(shapes: tuple[Shape, ...], *_params: Any) -> Shape:
    """The shape rule of what has the operand's shape."""
    return shapes[0]


def count(x: Node, axes: Axes) -> Node:
    """Return how many entries a reduction over axes takes together, as a node."""
    return size_node(size_product(x.shape[a] for a in axes))


def spread_back(value: Node, node: Node) -> Node:
    """Return a value of the shape of a reduction's result so that it broadcasts against the operand."""
    return spread(value, node.params[0], len(node.args[0].shape))


def objects(x: Any) -> Any:
    """Return an array whose entries are Python objects, such as mpmath's numbers."""
    return np.asarray(x, dtype=object)


def _mean(axes: Axes, x: Any) -> Any:
    entries = int(np.prod([np.shape(x)[a] for a in axes]))
    with np.errstate(invalid="ignore"):  # the mean of nothing is NaN, without a warning
        return np.true_divide(np.sum(x, axis=axes), entries)


def _prod(axes: Axes, x: Any) -> Any:
    result: Any = np.prod(x, axis=axes)
    return result


def _mean_of(mp: Any, entries: list[Any]) -> Any:
    return mp.fsum(entries) / len(entries) if entries else mp.nan


def _norm_of(mp: Any, entries: list[Any]) -> Any:
    return mp.sqrt(mp.fsum([e * e for e in entries]))


def along(x: Any, axes: Axes, combine: Callable[[list[Any]], Any]) -> Any:
    """Apply a function of a list to all entries along axes."""
    array = objects(x)
    moved = np.moveaxis(array, axes, range(-len(axes), 0))
    kept: tuple[int, ...] = moved.shape[: array.ndim - len(axes)]
    rows = moved.reshape((int(np.prod(kept)), -1)) if array.size else moved.reshape((int(np.prod(kept)), 0))
    out = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        out[i] = combine(list(row))
    return out.reshape(kept)


# The derivative is (tangent or cotangent)/count: the count stays a number of the graph, so one formula holds for every
# size. The mean of nothing is NaN.
mean: Op = of_one_array(
    "mean",
    takes=("number",),
    doc="the arithmetic mean over axes",
    gives="real",
    parameters=("axes",),
    shape=without,
    evaluate=_mean,
    reference=lambda mp, axes, x: along(x, axes, lambda v: _mean_of(mp, v)),
    push=lambda node, i, t: mean(full(t, node.args[0].shape), params=node.params),
    pull=lambda node, i, ct: spread_back(ct, node) / count(node.args[0], node.params[0]),
    latex=r"\operatorname{{mean}}\left({0}\right)",
    facts=facts("linear"),
)


def _nonempty(shapes: tuple[Shape, ...], axes: Axes) -> Shape:
    if any(shapes[0][a] == 0 for a in axes):
        raise ShapeError(
            "the extreme of no elements does not exist", cure="reduce over axes that are not empty"
        )
    return without(shapes, axes)


def _extreme(name: str, doc: str, function: Callable[..., Any], choose: Callable[[list[Any]], Any]) -> Op:
    """Max or min. Where several entries are the extreme one, they share the derivative equally."""

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
        takes=("number",),
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
        latex=rf"\{name}\left({{0}}\right)",
        facts=facts(),
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
        takes=("number",),
        doc=doc,
        gives="int",
        parameters=("axis",),
        shape=shape,
        evaluate=evaluate,
        reference=lambda mp, axis, x: evaluate(axis, objects(x)),
        push=_no_tangent,
        pull=_no_tangent,
        latex=rf"\operatorname{{{{{name}}}}}\left({{0}}\right)",
        facts=facts("piecewise-constant", "integral"),
    )


def _no_tangent(node: Node, _i: int, _tangent: Node) -> Node:
    raise InternalError(f"'{node.op.name}' is an integer and carries no tangent")


argmax = _position("argmax", "where the largest entry is, the first one of several", np.argmax)
argmin = _position("argmin", "where the smallest entry is, the first one of several", np.argmin)


# d prod/dx_i is the product of the others, never out/x_i: that is 0/0 where an entry is zero.
prod: Op = of_one_array(
    "prod",
    takes=("number",),
    doc="the product of the entries over axes",
    gives="same",
    parameters=("axes",),
    shape=without,
    evaluate=_prod,
    reference=lambda mp, axes, x: along(x, axes, mp.fprod),
    push=lambda node, i, t: sum_over(_others(node) * t, node.params[0]),
    pull=lambda node, i, ct: _others(node) * spread_back(ct, node),
    latex=r"\prod {0}",
    facts=facts(),
)


def _others(node: Node) -> Node:
    """Return the product of all other entries for each entry of a product's operand."""
    x, axes = node.args[0], node.params[0]
    if len(axes) == 1:
        return prod_except(x, params=(axes[0],))
    # Several axes are one axis of a reshaped operand.
    order = (*(a for a in range(len(x.shape)) if a not in axes), *axes)
    back = tuple(order.index(a) for a in range(len(x.shape)))
    labels = range(len(x.shape))
    moved = contract([x], [labels], order)
    kept = len(order) - len(axes)
    flat = move_up(moved, (*moved.shape[:kept], size_product(moved.shape[kept:])))
    found = move_up(prod_except(flat, params=(kept,)), moved.shape)
    return contract([found], [labels], back)


def _prod_except(axis: int, x: Any) -> Any:
    array = np.moveaxis(np.asarray(x), axis, -1)
    ones = np.ones((*array.shape[:-1], 1), dtype=array.dtype)
    before = np.cumprod(np.concatenate([ones, array[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, array[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    result = before * after if array.shape[-1] else array
    return np.moveaxis(result, -1, axis)


def _pairs(node: Node) -> tuple[Node, Node, int]:
    """Return a matrix whose row k is the operand with entry k replaced by 1, the off-diagonal mask, and its row axis.

    prod_except of row k at i is the product of the entries other than i and k: d(out_i)/d(x_k) for i != k.
    """
    x = node.args[0]
    axis: int = node.params[0]
    size: Size = x.shape[axis]
    rank = len(x.shape)
    off = ne(
        expand(_iota(size), [1, *range(2, rank - axis + 1)]),
        expand(_iota(size), range(1, rank - axis)),
    )
    rows = where(off, expand(x, [axis]), as_node(1))
    return prod_except(rows, params=(axis + 1,)), off, axis


def _iota(size: Size) -> Node:
    return OPS["iota"](params=(size,))


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
    takes=("number",),
    doc="for each entry the product of all others along an axis",
    gives="same",
    parameters=("axis",),
    shape=same,
    evaluate=_prod_except,
    reference=lambda mp, axis, x: _prod_except(axis, objects(x)),
    push=_prod_except_push,
    pull=_prod_except_pull,
    latex=r"\prod_{{\ne}} {0}",
    facts=facts(),
)


def _norm(axes: Axes, x: Any) -> Any:
    x = np.asarray(x)
    top = np.max(np.abs(x), axis=axes, keepdims=True, initial=0.0)
    # The squares of large entries overflow, those of small ones vanish: both are scaled by the largest entry.
    scale = np.where((top > 0) & np.isfinite(top), top, 1.0)
    with np.errstate(all="ignore"):
        return np.sqrt(np.sum((x / scale) ** 2, axis=axes)) * np.squeeze(scale, axis=axes)


def _direction(node: Node) -> Node:
    """Return x/norm(x), and 0 where the norm is 0."""
    out = spread_back(node, node)
    return where(ne(out, _ZERO), node.args[0] / out, _ZERO)


norm: Op = of_one_array(
    "norm",
    takes=("number",),
    doc="the square root of the sum of squares over axes",
    gives="real",
    parameters=("axes",),
    shape=without,
    evaluate=_norm,
    reference=lambda mp, axes, x: along(x, axes, lambda v: _norm_of(mp, v)),
    push=lambda node, i, t: sum_over(_direction(node) * t, node.params[0]),
    pull=lambda node, i, ct: _direction(node) * spread_back(ct, node),
    kinks=(Kink("x = 0", (), (), "the cone has no slope at its tip; 0 is the subgradient of least norm"),),
    latex=r"\left\|{0}\right\|",
    facts=facts("nonnegative"),
)


def _cumsum(axis: int, reverse: int, x: Any) -> Any:
    if not reverse:
        return np.cumsum(x, axis=axis)
    return np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis)


def _exact_cumsum(_mp: Any, axis: int, reverse: int, x: Any) -> Any:
    return _cumsum(axis, reverse, objects(x))


cumsum: Op = structural(
    "cumsum",
    takes=("number",),
    doc="the sum of all entries up to this one along an axis; reversed: from this one on",
    gives="same",
    parameters=("axis", "reverse"),
    shape=same,
    evaluate=_cumsum,
    reference=_exact_cumsum,
    push=lambda node, i, t: cumsum(full(t, node.shape), params=node.params),
    pull=lambda node, i, ct: cumsum(full(ct, node.shape), params=(node.params[0], 1 - node.params[1])),
    latex=r"\operatorname{{cumsum}}\left({0}\right)",
    facts=facts("linear"),
)
