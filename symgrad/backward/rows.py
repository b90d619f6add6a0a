"""Whether row b of one array depends on row b of another alone, so that all rows may be differentiated at once."""

from __future__ import annotations

from collections.abc import Callable

from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size, size_product
from symgrad.ir.traverse import topological
from symgrad.ops.array.indexing import iota
from symgrad.ops.array.layout import WHOLE, reshape

__all__ = ["mixing"]

Place = int
"""The axis of a node that counts the rows."""


def mixing(y: Node, x: Node) -> Node | None:
    """Return the first equation between ``x`` and ``y`` that may mix rows (entries along axis 0), None if none does.

    Paths through stop_gradient do not count: no derivative takes them.
    """
    place: dict[Node, Place | None] = {x: 0}
    culprit: dict[Node, Node] = {}
    for node in topological([y], until=[x]):
        if node is x:
            continue
        place[node] = None
        if node.dtype != "real" or "stops" in node.op.facts:
            continue
        own = [place[a] for a in node.args]
        blamed = next((culprit[a] for a in node.args if a in culprit), None)
        if blamed is not None:
            culprit[node] = blamed
            continue
        if all(p is None for p in own):
            continue
        found = _pointwise(node, own) if node.op.pointwise else _structural(node, own)
        if found is None:
            culprit[node] = node
        place[node] = found
    return culprit.get(y) if place[y] in (None, 0) else y


def _pointwise(node: Node, own: list[Place | None]) -> Place | None:
    """Axes align at the end; all that depend on rows must agree, and not be repeated along another axis of rows."""
    rank = len(node.shape)
    places = {rank - len(a.shape) + p for a, p in zip(node.args, own, strict=True) if p is not None}
    if len(places) != 1:
        return None
    (found,) = places
    rows = next(a.shape[p] for a, p in zip(node.args, own, strict=True) if p is not None)
    return found if node.shape[found] == rows else None


def _structural(node: Node, own: list[Place | None]) -> Place | None:
    name = node.op.name
    if name == "einsum":
        return _einsum(node, own)
    if name == "solve":
        return _solved(node, own)
    if name.endswith("_frechet"):
        both = _pointwise(node, own)
        return both if both is not None and both < len(node.shape) - 2 else None
    if any(p is not None for p in own[1:]) and name != "concatenate":
        return None
    if name == "concatenate":
        places = {p for p in own if p is not None}
        found = places.pop()
        return found if not places and found != node.params[0] else None
    p = own[0]
    return _ONE[name](node, p) if p is not None and name in _ONE else None


def _einsum(node: Node, own: list[Place | None]) -> Place | None:
    labels, result = node.params
    rows = {axes[p] for axes, p in zip(labels, own, strict=True) if p is not None}
    if len(rows) != 1:
        return None
    (label,) = rows
    return result.index(label) if label in result else None


def _reduced(node: Node, p: Place) -> Place | None:
    axes = node.params[0]
    return None if p in axes else p - sum(a < p for a in axes)


def _kept(node: Node, p: Place) -> Place | None:
    first = node.params[0]
    return None if p in (first if isinstance(first, tuple) else (first,)) else p


def _reshaped(node: Node, p: Place) -> Place | None:
    before = node.args[0].shape
    count = size_product(before[:p])
    for j, size in enumerate(node.shape):
        if size == before[p] and size_product(node.shape[:j]) == count:
            return j
    return None


def _broadcast(node: Node, p: Place) -> Place | None:
    before = node.args[0].shape
    found = p + len(node.shape) - len(before)
    return found if node.shape[found] == before[p] else None


def _sliced(node: Node, p: Place) -> Place | None:
    return p if node.params[0][p] == WHOLE else None


def _gathered(node: Node, p: Place) -> Place | None:
    axes: tuple[int, ...] = node.params[0]
    depth = max(len(i.shape) for i in node.args[1:])
    if p in axes:
        counted = _counted(node.args[1 + axes.index(p)], node.args[0].shape[p])
        return None if counted is None else axes[0] + depth - counted
    position = p - sum(a < p for a in axes)
    return position if position < axes[0] else position + depth


def _counted(index: Node, rows: Size) -> int | None:
    """Return which axis, from the end, an index array counts the rows along: x[arange(n), ids] keeps row by row."""
    base = index.args[0] if index.op is reshape else index
    if base.op is not iota or base.params[0] != rows or index.shape.count(1) < len(index.shape) - 1:
        return None
    return next((len(index.shape) - j for j, size in enumerate(index.shape) if size == rows), None)


def _scattered(node: Node, p: Place) -> Place | None:
    axes = node.params[0]
    depth = max(len(i.shape) for i in node.args[1:])
    if axes[0] <= p < axes[0] + depth:
        return None
    kept = [a for a in range(len(node.shape)) if a not in axes]
    return kept[p if p < axes[0] else p - depth]


def _matrix(node: Node, p: Place) -> Place | None:
    return p if p < len(node.args[0].shape) - 2 else None


def _solved(node: Node, own: list[Place | None]) -> Place | None:
    """One matrix of a stack is solved on its own, and so is one column of a right side."""
    rank = len(node.shape)
    found = _pointwise(node, own) if rank > 1 else None
    if found is None or found == rank - 2 or (found == rank - 1 and own[0] is not None):
        return None
    return found


_ONE: dict[str, Callable[[Node, Place], Place | None]] = {
    **dict.fromkeys(("mean", "max", "min", "prod", "logsumexp", "norm"), _reduced),
    **dict.fromkeys(("softmax", "log_softmax", "cumsum", "prod_except"), _kept),
    "reshape": _reshaped,
    "broadcast_to": _broadcast,
    "slice": _sliced,
    "unslice": _sliced,
    "gather": _gathered,
    "scatter_add": _scattered,
    **dict.fromkeys(("inv", "det", "logdet", "expm", "sinm", "cosm"), _matrix),
}
