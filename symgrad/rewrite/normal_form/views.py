"""Views: arrays that repeat or reorder the entries of another array, `x.T`, `x[:, None]`, `broadcast_to(x, (n, m))`.

    view[i0, i1, ...] = core[i_a, i_b, ...]    each axis of the core is one axis of the view; along the other axes
    entries repeat

Transposes, new axes of length 1 and broadcasts compose to one such map. So views nested in any order have one
canonical form: `broadcast_to(reshape(transpose(core)))`, each op only if it changes something.
"""

from __future__ import annotations

from typing import TypeAlias

from symgrad.ir.graph import OPS, Node
from symgrad.ir.sizes import Shape
from symgrad.ops.array.contraction import transpose
from symgrad.ops.array.indexing import eye
from symgrad.ops.array.layout import broadcast_to, full, move_up, reshape

Map: TypeAlias = "tuple[int | None, ...]"
_EINSUM = OPS["einsum"]


def view(node: Node) -> tuple[Node, Map]:
    """Return the core of a view, and for each axis of the view the axis of the core (None if entries repeat).

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import REAL, Declaration
        >>> from symgrad.ops.array.layout import broadcast_to, expand
        >>> r = symbol(Declaration("r", REAL, ("n",)))
        >>> core, axes = view(broadcast_to(expand(r, [1]), params=(("n", 5),)))
        >>> core is r, axes
        (True, (0, None))
    """
    core = node
    axes: Map = tuple(range(len(node.shape)))
    while True:
        if core.op is broadcast_to:
            inner, found = _below_broadcast(core)
        elif core.op is reshape:
            inner, found = _below_reshape(core)
        elif core.op is _EINSUM and _permutes(core):
            inner, found = core.args[0], tuple(core.params[0][0].index(k) for k in core.params[1])
        else:
            return core, _upright(core, axes)
        axes = tuple(None if a is None else found[a] for a in axes)
        if inner is core:
            return core, _upright(core, axes)
        core = inner


def _upright(core: Node, axes: Map) -> Map:
    """Sort the axes of a view of the identity matrix, which is its own transpose."""
    if core.op is not eye or core.shape[0] != core.shape[1]:
        return axes
    own = iter(sorted(a for a in axes if a is not None))
    return tuple(None if a is None else next(own) for a in axes)


def _permutes(node: Node) -> bool:
    (labels, *more), result = node.params
    return not more and len(result) == len(labels) and len(set(labels)) == len(labels)


def _below_broadcast(node: Node) -> tuple[Node, Map]:
    inner = node.args[0]
    lead = len(node.shape) - len(inner.shape)
    repeated = [a for a, size in enumerate(inner.shape) if size == 1 and node.shape[a + lead] != 1]
    kept = [a for a in range(len(inner.shape)) if a not in repeated]
    core = move_up(inner, tuple(inner.shape[a] for a in kept)) if repeated else inner
    return core, (*[None] * lead, *(kept.index(a) if a in kept else None for a in range(len(inner.shape))))


def _keeps(node: Node) -> Shape | None:
    """Return the shape without axes of length 1 if a reshape changes only such axes; otherwise None."""
    before, after = (tuple(s for s in x.shape if s != 1) for x in (node.args[0], node))
    return before if before == after else None


def _below_reshape(node: Node) -> tuple[Node, Map]:
    """Read a reshape that only adds or drops axes of length 1 as a view of its operand without these axes."""
    sizes = _keeps(node)
    core = node.args[0] if sizes is not None else node
    if sizes is not None and core.op is not reshape and core.shape != sizes:
        inner, found = view(core)
        if all(found[a] is None for a, size in enumerate(core.shape) if size == 1):
            kept = iter([found[a] for a, size in enumerate(core.shape) if size != 1])
            return inner, tuple(None if size == 1 else next(kept) for size in node.shape)
    if sizes is None or (core.shape != sizes and core.op is not reshape and node.shape == sizes):
        return node, tuple(range(len(node.shape)))
    core = move_up(core, sizes)
    axes: list[int | None] = []
    for size in node.shape:
        axes.append(None if size == 1 else len(axes) - axes.count(None))
    return core, tuple(axes)


def write_view(core: Node, axes: Map, shape: Shape) -> Node:
    """Write a view of a core in canonical form."""
    order = [a for a in axes if a is not None]
    moved = transpose(core, order) if order else core
    sizes = [1 if a is None else size for a, size in zip(axes, shape, strict=True)]
    while sizes and axes[len(axes) - len(sizes)] is None:
        sizes.pop(0)
    return full(move_up(moved, tuple(sizes)), shape)


def see_through(node: Node) -> Node:
    """Return an operand of an elementwise op without the views that NumPy's broadcasting makes redundant."""
    while node.op is broadcast_to:
        node = node.args[0]
    if node.op is reshape and node.shape[:1] == (1,):
        core, axes = view(node)
        while axes and axes[0] is None:
            axes = axes[1:]
        return write_view(core, axes, node.shape[len(node.shape) - len(axes) :])
    return node


def is_plain(axes: Map) -> bool:
    """Tell whether a view is the identity map."""
    return axes == tuple(range(len(axes)))
