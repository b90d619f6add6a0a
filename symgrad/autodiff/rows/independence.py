"""Check that row b of one array depends only on row b of another, so that all rows can be differentiated at once."""

from __future__ import annotations

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ops.array.along import rows_aligned

AxisNumber = int
"""The axis of a node that indexes the rows."""


def find_row_mixing(y: Node, x: Node) -> Node | None:
    """Return the first equation between ``x`` and ``y`` that may mix rows (entries along axis 0), or None.

    Paths through stop_gradient do not count, because no derivative takes them.
    """
    place: dict[Node, AxisNumber | None] = {x: 0}
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
        found = rows_aligned(node, own) if node.op.pointwise else node.op.array.rows(node, own)
        if found is None:
            culprit[node] = node
        place[node] = found
    return culprit.get(y) if place[y] in (None, 0) else y
