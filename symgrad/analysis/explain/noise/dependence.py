"""Value edges: which random inputs a node's value depends on, and by which path.

A value edge leads from every equation to each of its arguments, through stop_gradient too: a stop cuts
derivative edges only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological

__all__ = ["Dependence", "Paths", "blocking_stops"]


class Dependence:
    """Which of some source nodes each node's value depends on, found in one walk.

    Args:
        outputs: the graph.
        sources: the nodes asked about.
    """

    def __init__(self, outputs: Iterable[Node], sources: Sequence[Node]) -> None:
        self.order = topological(outputs)
        self._bit = {s: 1 << i for i, s in enumerate(sources)}
        self._mask: dict[Node, int] = {}
        for node in self.order:
            mask = self._bit.get(node, 0)
            for arg in node.args:
                mask |= self._mask[arg]
            self._mask[node] = mask

    def __call__(self, node: Node, source: Node) -> bool:
        """Tell whether a node's value depends on a source along value edges."""
        return bool(self._mask.get(node, 0) & self._bit[source])


class Paths:
    """The shortest value path from every node to one source; of equal ones the leftmost.

    Args:
        order: the graph, arguments first.
        source: where the paths end.
        through: the nodes a path may use; None for all.
    """

    def __init__(self, order: Iterable[Node], source: Node, through: Collection[Node] | None = None) -> None:
        self.source = source
        self._distance: dict[Node, int] = {source: 0}
        self._next: dict[Node, Node] = {}
        for node in order:
            if node is source or (through is not None and node not in through):
                continue
            nearest = min(
                (a for a in node.args if a in self._distance), key=self._distance.__getitem__, default=None
            )
            if nearest is not None:
                self._distance[node], self._next[node] = self._distance[nearest] + 1, nearest

    def __contains__(self, node: Node) -> bool:
        return node in self._distance

    def distance(self, node: Node) -> int:
        """Return the number of edges to the source, of a node that reaches it."""
        return self._distance[node]

    def path(self, start: Node) -> tuple[Node, ...]:
        """Return the path from a node to the source, both included; () where there is none."""
        if start not in self._distance:
            return ()
        path = [start]
        while path[-1] is not self.source:
            path.append(self._next[path[-1]])
        return tuple(path)


def blocking_stops(output: Node, source: Node) -> tuple[bool, list[Node]]:
    """Return whether the source reaches the output outside all stops, and the outermost stops that it is inside of."""
    order = topological([output])
    stops = {n for n in order if "stops" in n.op.facts}
    outside = topological([output], until=stops)
    inside = Paths(order, source)
    return source in outside, [n for n in reversed(outside) if n in stops and n in inside]
