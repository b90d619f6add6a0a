"""Contraction: sums of products over labelled axes. matmul, dot, outer, trace, transpose, sum and diag use this op."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import OPS, Node, Op, as_node
from symgrad.ir.notation.arrays import write_contraction
from symgrad.ir.sizes import Shape, Size
from symgrad.ops.array.layout import full, shape_text, spread
from symgrad.ops.record import structural
from symgrad.support.errors import ShapeError

Labels = tuple[int, ...]


def _rule(shapes: tuple[Shape, ...], labels: tuple[Labels, ...], result: Labels) -> Shape:
    sizes: dict[int, tuple[Size, int]] = {}
    for k, (shape, axes) in enumerate(zip(shapes, labels, strict=True)):
        if len(shape) != len(axes):
            raise ShapeError(
                f"operand {k + 1} has shape {shape_text(shape)} and {len(axes)} labels",
                expected="a label for every axis",
            )
        for size, label in zip(shape, axes, strict=True):
            known, owner = sizes.setdefault(label, (size, k))
            if known != size:
                raise ShapeError(
                    f"operands of shapes {shape_text(shapes[owner])} and {shape_text(shape)} share an axis: "
                    f"{known} is not {size}",
                    expected="equal sizes",
                )
    return tuple(sizes[label][0] for label in result)


def _evaluate(labels: tuple[Labels, ...], result: Labels, *arrays: Any) -> Any:
    operands: list[Any] = []
    for array, axes in zip(arrays, labels, strict=True):
        operands += [array, list(axes)]
    # NumPy's default order of contraction is from left to right; integers stay exact in any order.
    return np.einsum(*operands, list(result), optimize=len(arrays) > 2)


def _reference(_mp: Any, labels: tuple[Labels, ...], result: Labels, *arrays: Any) -> Any:
    operands: list[Any] = []
    for array, axes in zip(arrays, labels, strict=True):
        operands += [np.asarray(array, dtype=object), list(axes)]
    return np.einsum(*operands, list(result), optimize=False)


def _push(node: Node, i: int, tangent: Node) -> Node:
    labels, result = node.params
    args = list(node.args)
    args[i] = full(tangent, args[i].shape)
    return contract(args, labels, result)


def _pull(node: Node, i: int, cotangent: Node) -> Node:
    """Contract the cotangent with the other operands.

    Along a summed axis that only operand i has, the cotangent is constant. If operand i has a label twice, only its
    diagonal is used, and off the diagonal the cotangent is zero.
    """
    labels, result = node.params
    wanted: Labels = labels[i]
    once = tuple(dict.fromkeys(wanted))
    if len(node.args) == 1 and set(result) <= set(once):
        others: list[Node] = []
        rest: list[Labels] = []
        available = set(result)
        summed = [j for j, label in enumerate(once) if label not in available]
        if [label for label in once if label in available] == list(result) and summed:
            # The cotangent of a plain sum need not be broadcast here.
            found = spread(cotangent, summed, len(once))
            return found if len(once) == len(wanted) else _on_diagonal(found, once, node, i)
    else:
        others = [a for j, a in enumerate(node.args) if j != i]
        rest = [axes for j, axes in enumerate(labels) if j != i]
        available = set(result).union(*rest)
    operands, axes = list(others), list(rest)
    operands.insert(i, full(cotangent, node.shape))
    axes.insert(i, result)
    found = contract(operands, axes, [label for label in once if label in available])
    missing = [j for j, label in enumerate(once) if label not in available]
    if missing:
        found = spread(found, missing, len(once))
    return found if len(once) == len(wanted) else _on_diagonal(found, once, node, i)


def _on_diagonal(x: Node, once: Labels, node: Node, i: int) -> Node:
    """Return an array with the labels of operand i that has x, whose labels are distinct, on its diagonal."""
    wanted: Labels = node.params[0][i]
    fresh = max(wanted) + 1
    shape = node.args[i].shape
    if x.shape or any(wanted.count(label) == 1 for label in once):
        x = full(x, tuple(shape[wanted.index(label)] for label in once))
    operands, axes = [x], [once if x.shape else ()]
    result: list[int] = []
    for j, label in enumerate(wanted):
        if label in result:
            size = shape[j]
            operands.append(OPS["eye"](params=(size, size)))
            axes.append((label, fresh))
            result.append(fresh)
            fresh += 1
        else:
            result.append(label)
    return contract(operands, axes, tuple(result))


def _batch(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    labels, result = node.params
    fresh = 1 + max((x for own in labels for x in own), default=-1)
    stack = tuple(range(fresh, fresh + len(lead)))
    operands = [arg if s is None else s for arg, s in zip(node.args, stacks, strict=True)]
    own = [axes if s is None else (*stack, *axes) for axes, s in zip(labels, stacks, strict=True)]
    return contract(operands, own, (*stack, *result))


def _rows(node: Node, places: Sequence[int | None]) -> int | None:
    labels, result = node.params
    rows = {axes[p] for axes, p in zip(labels, places, strict=True) if p is not None}
    if len(rows) != 1:
        return None
    (label,) = rows
    return result.index(label) if label in result else None


einsum: Op = structural(
    "einsum",
    doc="the sum of products over the labelled axes that the result does not have",
    variadic=True,
    gives="same",
    parameters=("labels", "result"),
    shape=_rule,
    evaluate=_evaluate,
    reference=_reference,
    push=_push,
    pull=_pull,
    batch=_batch,
    rows=_rows,
    entries="products",
    total="always",
    native=None,
    written=write_contraction,
    cost=0,
    source=None,
)


def contract(
    args: Sequence[Node],
    labels: Sequence[Sequence[int]],
    result: Sequence[int],
    times: Callable[[Node, Node], Node] = operator.mul,
) -> Node:
    """Return a contraction as one node, with its labels numbered by first occurrence.

    Scalar operands become factors in front. If the contraction changes nothing, the operand is returned.

    Args:
        args: the operands.
        labels: the labels of their axes.
        result: the labels of the result.
        times: the function that multiplies scalar operands: the operator of symgrad's own formulas, which folds
            numbers, or the op for formulas of users, which stay unevaluated (`0*log(x)` is not 0).
    """
    scale: Node | None = None
    operands: list[Node] = []
    axes: list[Sequence[int]] = []
    for arg, own in zip(args, labels, strict=True):
        if own:
            operands.append(arg)
            axes.append(own)
        else:
            scale = arg if scale is None else times(scale, arg)
    if not operands:
        return as_node(1) if scale is None else scale
    names: dict[int, int] = {}
    for own in axes:
        for label in own:
            names.setdefault(label, len(names))
    numbered = tuple(tuple(names[label] for label in own) for own in axes)
    out = tuple(names[label] for label in result)
    same = len(operands) == 1 and numbered[0] == out
    found = operands[0] if same else einsum(*operands, params=(numbered, out))
    return found if scale is None else times(scale, found)


def sum_over(x: Node, axes: Sequence[int]) -> Node:
    """Return the sum over axes (counted from 0)."""
    labels = range(len(x.shape))
    return contract([x], [labels], [j for j in labels if j not in axes])


def transpose(x: Node, axes: Sequence[int]) -> Node:
    """Return x with its axes in another order, as ``numpy.transpose``."""
    return contract([x], [range(len(x.shape))], axes)


def adjoint(x: Node) -> Node:
    """Return x with its last two axes swapped."""
    *lead, i, j = range(len(x.shape))
    return transpose(x, (*lead, j, i))
