"""Values at positions: ones written into zeros are `one_hot`, and factors of such values are read there only.

scatter_add(ones(n), arange(n), t)   is  one_hot(t, k), where every t is known to be a position
P*scatter_add(1/P[i, t], i, t)       is  scatter_add(1, i, t)
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from functools import reduce

from symgrad.ir.graph import SYMBOL, Node, apply, as_node, size_node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.sizes import Shape, Size, size_sum
from symgrad.ir.traverse import substitute, topological, with_args
from symgrad.ir.types import Domain
from symgrad.ops.array.contraction import einsum
from symgrad.ops.array.indexing import gather, one_hot, scatter_add
from symgrad.ops.array.layout import expand, full
from symgrad.ops.array.reductions import argmax, argmin
from symgrad.ops.scalar.arith import div, mul
from symgrad.pretty.forms.factor_out import factors_of
from symgrad.rewrite.array_forms.row_scatters import RowScatter, row_scatter
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.integer_ranges import is_position
from symgrad.rewrite.trace import Note

_OUTSIDE = "also defined where {} is out of range"
POSITIONS = (argmax, argmin)


def as_one_hot(node: Node, known: Conditions, *, read: bool = False) -> tuple[Node, dict[Node, Note]]:
    """Return a node with `one_hot` in place of scatters whose positions are in range.

    Also the results with unproved positions.

    Args:
        node: a formula.
        known: facts.
        read: whether to do this also for values that are read at the same positions, and so might still cancel.

    Example:
        >>> from symgrad.ir.graph import as_node
        >>> found, unsure = as_one_hot(scatter_add(as_node(1), as_node(2), params=((0,), (5,))), Conditions())
        >>> found is one_hot(as_node(2), params=(5,)), unsure
        (True, {})
    """
    done: dict[Node, Node] = {}
    unsure: dict[Node, Note] = {}
    order = topological([node])
    if not any(n.op is scatter_add or n.op is one_hot for n in order):
        return node, unsure
    for n in order:
        made = with_args(n, [done[a] for a in n.args])
        if n.op is scatter_add:
            made = _one_hot(made, known, unsure, read=read) or made
        elif n.op is einsum:
            made = _ones(made, known) or made
        done[n] = made
    return done[node], unsure


def _one_hot(node: Node, known: Conditions, unsure: dict[Node, Note], *, read: bool) -> Node | None:
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
    chosen = row_scatter(node)
    if chosen is not None and is_inside(chosen.index, shape[-1], known):
        reads = any(n.op is gather and n.args[-1] in chosen.spelled for n in topological([values]))
        return _rows(chosen, shape[-1]) if read or not reads else None
    return None


def _rows(chosen: RowScatter, size: Size) -> Node:
    values, index = chosen.values, chosen.index
    return _times(
        expand(values, (len(values.shape),)) if values.shape else values, one_hot(index, params=(size,))
    )


def readings(
    node: Node, inside: Callable[[Node, Size], bool], computed: Container[Node] = ()
) -> Iterator[str]:
    """Yield a sentence for each part of a formula that would be shorter if some positions were known to be in range.

    Args:
        node: a formula.
        inside: a function that tells whether positions are known to be in range.
        computed: names that stand for computed values, not for inputs.
    """
    for n in topological([node]):
        if n.op is scatter_add:
            values, *indices = n.args
            rows = n.params[0] != (0,) or bool(values.shape)
            chosen = row_scatter(n) if rows else RowScatter(values, indices[0], ())
            outside = "below 0 it counts from the end"
            index = chosen.index if chosen is not None else None
            if index is not None and index.op is SYMBOL and starts_at(index) is not None:
                outside = "beyond it there is no entry"
        elif n.op is einsum and (index := _summed_ones(n)) is not None:
            chosen = RowScatter(as_node(1), index, ())
            outside = "else a row of it has no 1"
        else:
            continue
        if chosen is None or chosen.index.is_number():
            continue
        size: Size = n.shape[-1] if n.op is scatter_add else n.args[0].shape[-1]
        if inside(chosen.index, size):
            continue
        short = _rows(chosen, size) if n.op is scatter_add else as_node(1)
        index = chosen.index
        declared = "" if index.op is not SYMBOL or index in computed else _as_declared(index, size)
        every = "every entry of " if index.shape else ""
        last = size - 1 if isinstance(size, int) else f"{size}-1"
        yield (
            f"{expression_text(n)} is {expression_text(short)} where {every}{expression_text(index)} "
            f"is in 0..{last}{declared}; {outside}"
        )


def starts_at(index: Node) -> int | None:
    """Return the declared lower end of an input if it is at least 0; None if the input may be below 0."""
    low = index.declaration.domain.low if index.declaration.distribution is None else None
    return int(low) if isinstance(low, int) and low >= 0 else None


def _as_declared(index: Node, size: Size) -> str:
    """Describe the declaration that makes an input a position, and that both of its ends are included."""
    old = index.declaration
    if old.distribution is not None:
        return ""
    new = replace(old, domain=Domain("int", "int", 0, size_sum([size, -1]), closed=True))
    both = f" (both ends of {old.domain} belong to it)" if old.domain.high == size else ""
    return f", as {new} declares{both}"


def _ones(node: Node, known: Conditions) -> Node | None:
    """If its position is in range, every row of `one_hot` has one entry that is 1."""
    index = _summed_ones(node)
    inside = index is not None and is_inside(index, node.args[0].shape[-1], known)
    return full(as_node(1), node.shape) if inside else None


def _summed_ones(node: Node) -> Node | None:
    """Return the positions of a `one_hot` whose rows are summed; None for other nodes."""
    ones, *others = node.args
    if others or ones.op is not one_hot:
        return None
    (own,), result = node.params
    return ones.args[0] if result == own[:-1] else None


def _times(values: Node, ones: Node) -> Node:
    return ones if values.is_number(1) else values * ones


def is_inside(index: Node, size: Size, known: Conditions) -> bool:
    """Tell whether positions are in range for an axis, if the axis has any entry."""
    found = known.facts(index)
    if isinstance(size, int) and found.low >= 0 and found.high <= size - 1:
        return True
    return is_position(index, size, some=True)


def as_scattered(node: Node, known: Conditions) -> Node:
    """Return a node in which each `one_hot` of a single position that is in range is a scatter of 1."""
    ones = [n for n in topological([node]) if n.op is one_hot and not n.args[0].shape]
    table = {
        n: scatter_add(as_node(1), n.args[0], params=((0,), n.shape))
        for n in ones
        if is_inside(n.args[0], n.shape[0], known)
    }
    return substitute([node], table)[0] if table else node


def merged(node: Node) -> Node:
    """Return a node in which the factors of values at positions are read there only, in products and contractions."""
    done: dict[Node, Node] = {}
    for n in topological([node]):
        made = with_args(n, [done[a] for a in n.args])
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
    """Return values at positions, multiplied and divided by the entries of other arrays at the same positions."""
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
