"""Values at positions: ones written into zeros are `one_hot`, and a factor of such values is read where they stand.

scatter_add(ones(n), arange(n), t)   is  one_hot(t, k), where every t is known to be a position
P*scatter_add(1/P[i, t], i, t)       is  scatter_add(1, i, t)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

from symgrad.ir.graph import Node, apply, as_node, size_node
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.traverse import topological
from symgrad.ops.arith import div, mul
from symgrad.ops.contraction import einsum
from symgrad.ops.indexing import gather, iota, one_hot, scatter_add
from symgrad.ops.layout import expand, full
from symgrad.ops.reductions import argmax, argmin
from symgrad.rewrite.condition import Conditions
from symgrad.rewrite.trace import Note
from symgrad.rules.views import view
from symgrad.words.common import factors_of

__all__ = ["POSITIONS", "as_one_hot", "is_inside", "merged", "readings"]

_OUTSIDE = "also defined where {} is out of range"
POSITIONS = (argmax, argmin)


def as_one_hot(node: Node, known: Conditions) -> tuple[Node, dict[Node, Note]]:
    """Return a node with `one_hot` for values at positions that are known to be inside, and those it takes to be.

    Example:
        >>> from symgrad.ir.graph import as_node
        >>> found, unsure = as_one_hot(scatter_add(as_node(1), as_node(2), params=((0,), (5,))), Conditions())
        >>> found is one_hot(as_node(2), params=(5,)), unsure
        (True, {})
    """
    done: dict[Node, Node] = {}
    unsure: dict[Node, Note] = {}
    for n in topological([node]):
        args = tuple(done[a] for a in n.args)
        made = n if args == n.args else apply(n.op, args, n.params)
        if n.op is scatter_add:
            made = _one_hot(made, known, unsure) or made
        elif n.op is einsum:
            made = _ones(made, known) or made
        done[n] = made
    return done[node], unsure


def _one_hot(node: Node, known: Conditions, unsure: dict[Node, Note]) -> Node | None:
    values, *indices = node.args
    axes, shape = node.params
    if axes == (0,) and len(shape) == 1 and not values.shape:
        (index,), (size,) = indices, shape
        place = size_node(size) + index if index.is_number() and index.value < 0 else index
        inside = is_inside(place, size, known)
        if not inside and (isinstance(size, int) or not index.is_number()):
            return None
        made = one_hot(place, params=(size,))
        if not inside:
            unsure[made] = Note(_OUTSIDE, index)
        return _times(values, made)
    index = _chosen(node)
    if index is not None and is_inside(index, shape[1], known):
        # What is read at the same positions may cancel yet.
        reads = any(n.op is gather and index in n.args for n in topological([values]))
        return None if reads else _rows(values, index, shape[1])
    return None


def _chosen(node: Node) -> Node | None:
    """Return the positions at which values stand in rows, one in each; None if they stand otherwise."""
    axes, shape = node.params
    row, *others = node.args[1:]
    is_rows = axes == (0, 1) and len(shape) == 2 and row.op is iota and row.shape == (shape[0],)
    return others[0] if is_rows and len(others[0].shape) == 1 else None


def _rows(values: Node, index: Node, size: Size) -> Node:
    column = view(values)[0]
    return _times(column if not column.shape else expand(values, (1,)), one_hot(index, params=(size,)))


def readings(node: Node, inside: Callable[[Node, Size], bool]) -> Iterator[tuple[Node, Node, Node, Size]]:
    """Yield values at positions that are `one_hot` as long as the positions, of which that is not known, are inside.

    Args:
        node: a formula.
        inside: tells what is known.

    Returns:
        The node, what it is then, the positions, and how many there are.
    """
    for n in topological([node]):
        if n.op is not scatter_add:
            continue
        values, *indices = n.args
        index = indices[0] if n.params[0] == (0,) and not values.shape else _chosen(n)
        size = n.shape[-1]
        if index is not None and not index.is_number() and not inside(index, size):
            made = (
                _rows(values, index, size) if index.shape else _times(values, one_hot(index, params=(size,)))
            )
            yield n, made, index, size


def _ones(node: Node, known: Conditions) -> Node | None:
    """Every row of `one_hot` has one entry that is 1, if its position is inside."""
    ones, *others = node.args
    if others or ones.op is not one_hot:
        return None
    (own,), result = node.params
    (index,) = ones.args
    inside = result == own[:-1] and is_inside(index, ones.shape[-1], known)
    return full(as_node(1), node.shape) if inside else None


def _times(values: Node, ones: Node) -> Node:
    return ones if values.is_number(1) else values * ones


def is_inside(index: Node, size: Size, known: Conditions) -> bool:
    """Tell whether what counts positions stays inside an axis."""
    core, _ = view(index)
    if core.op in POSITIONS:
        axis: int | None = core.params[0]
        (counted,) = core.args
        return counted.shape == (size,) if axis is None else counted.shape[axis] == size
    if core.op is iota:
        return core.shape == (size,)
    found = known.facts(core)
    if not isinstance(size, int):
        return False
    return bool(found.low >= 0) and bool(found.high <= size - 1)


def merged(node: Node) -> Node:
    """Return a node with what multiplies values at positions read there, in products and contractions."""
    done: dict[Node, Node] = {}
    for n in topological([node]):
        args = tuple(done[a] for a in n.args)
        made = n if args == n.args else apply(n.op, args, n.params)
        if n.op in (mul, div) and n.shape:
            made = _product(made) or made
        elif n.op is einsum and len(n.args) > 1:
            made = _contraction(made) or made
        done[n] = made
    return done[node]


def _product(node: Node) -> Node | None:
    sign, above, below = factors_of(node)
    scattered = [f for f in above if f.op is scatter_add and f.shape == node.shape]
    if not scattered:
        return None
    first = scattered[0]
    above.remove(first)
    arrays = [f for f in above if f.shape], [f for f in below if f.shape]
    if not any(arrays):
        return None
    inside = _read(first, arrays[0], arrays[1])
    front = [f for f in above if not f.shape]
    back = [f for f in below if not f.shape]
    made = reduce(mul, [*front, inside])
    made = div(made, reduce(mul, back)) if back else made
    return -made if sign < 0 else made


def _read(scattered: Node, above: list[Node], below: list[Node]) -> Node:
    """Return values at positions times what stands at these in other arrays."""
    values, *indices = scattered.args
    shape: Shape = scattered.shape
    axes = (scattered.params[0],)
    values = reduce(mul, [gather(full(f, shape), *indices, params=axes) for f in above], values)
    values = reduce(div, [gather(full(f, shape), *indices, params=axes) for f in below], values)
    return scatter_add(full(values, scattered.args[0].shape), *indices, params=scattered.params)


def _contraction(node: Node) -> Node | None:
    labels, result = node.params
    for i, (operand, own) in enumerate(zip(node.args, labels, strict=True)):
        others = [k for k in range(len(labels)) if k != i and labels[k] == own]
        if operand.op is scatter_add and others:
            one = _read(operand, [node.args[k] for k in others], [])
            kept = [k for k in range(len(labels)) if k not in others]
            args = tuple(one if k == i else node.args[k] for k in kept)
            return apply(einsum, args, (tuple(labels[k] for k in kept), result))
    return None
