"""Scatters as choices between values and zero, which need no memory of their own in kernels."""

from __future__ import annotations

from symgrad.ir.graph import OPS, Node, apply, as_node, size_leaf
from symgrad.ir.sizes import Size
from symgrad.ops.array.contraction import einsum
from symgrad.ops.array.layout import full, reshape, shaped
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.logic import eq, lt, where


def as_choice(node: Node, args: tuple[Node, ...]) -> Node:
    """Write a scatter with at most one value for each entry as a choice; return any other scatter unchanged.

    The derivative of picking one entry of every row is such a scatter: positions enumerate the rows, and a comparison
    finds the entry within a row.
    """
    axes, shape = node.params
    values, *indices = args
    depth = max(len(i.shape) for i in indices)
    counted: dict[int, int] = {}
    for index, axis in zip(indices, axes, strict=True):
        along = _counts(index, depth)
        if along is not None:
            counted[along] = axis
    first: int = axes[0]
    extents = values.shape[first : first + depth]
    if any(d not in counted or shape[counted[d]] != n for d, n in enumerate(extents)):
        return apply(node.op, args, node.params)
    # Labels are the axes of the target; the label of an axis of the positions is the axis that it enumerates.
    rest = iter([a for a in range(len(shape)) if a not in axes])
    of_values = tuple(
        counted[j - first] if first <= j < first + depth else next(rest) for j in range(len(values.shape))
    )
    result = _spread(values, of_values, len(shape))
    for index, axis in zip(indices, axes, strict=True):
        if axis in counted.values():
            continue
        lead = depth - len(index.shape)
        at = _spread(index, tuple(counted[j + lead] for j in range(len(index.shape))), len(shape))
        size = shape[axis]
        at = where(lt(at, as_node(0)), add(at, size_leaf(size)), at)
        here = eq(at, _spread(_iota(size), (axis,), len(shape)))
        result = where(here, result, as_node(0))
    return full(result, shape)


def _counts(index: Node, depth: int) -> int | None:
    """Return the axis of the positions along which an index array counts 0, 1, ...; None if there is no such axis."""
    x = index
    while x.op is reshape:
        x = x.args[0]
    long = [j for j, n in enumerate(index.shape) if n != 1]
    if x.op is not OPS["iota"] or len(long) != 1:
        return None
    return long[0] + depth - len(index.shape)


def _spread(x: Node, labels: tuple[int, ...], rank: int) -> Node:
    """Place the axes of x among the axes of an array of a given rank; all other axes have length 1."""
    order = tuple(sorted(labels))
    if order != labels:
        x = apply(einsum, (x,), ((labels,), order))
    sizes = dict(zip(order, x.shape, strict=True))
    return shaped(x, tuple(sizes.get(a, 1) for a in range(rank)))


def _iota(size: Size) -> Node:
    return apply(OPS["iota"], (), (size,))
