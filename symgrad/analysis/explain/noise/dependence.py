"""Value edges: the random inputs on which the value of a node depends, and the paths to these inputs.

A value edge leads from every equation to each of its arguments, also through stop_gradient, which cuts only derivative
edges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological


class Dependence:
    """The sources on which the value of each node depends, as bit masks that are computed in one sweep.

    Args:
        outputs: the graph.
        sources: the sources.
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
        """Tell whether the value of a node depends on a source along value edges."""
        return bool(self._mask.get(node, 0) & self._bit[source])


class Paths:
    """The shortest value path from every node to one source; of several, the leftmost.

    Args:
        order: the nodes of the graph, each after its arguments.
        source: the node at which the paths end.
        through: the nodes that a path may pass; None for all nodes.
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
        """Return the number of edges from a node to the source."""
        return self._distance[node]

    def path(self, start: Node) -> tuple[Node, ...]:
        """Return the path from a node to the source, including both; () if there is none."""
        if start not in self._distance:
            return ()
        path = [start]
        while path[-1] is not self.source:
            path.append(self._next[path[-1]])
        return tuple(path)


def blocking_stops(output: Node, source: Node) -> tuple[bool, list[Node]]:
    """Return whether a path from the source to the output avoids all stops, and the outermost stops around it."""
    order = topological([output])
    stops = {n for n in order if "stops" in n.op.facts}
    outside = topological([output], until=stops)
    inside = Paths(order, source)
    return source in outside, [n for n in reversed(outside) if n in stops and n in inside]
