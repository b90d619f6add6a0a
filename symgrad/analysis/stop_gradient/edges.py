"""Derivative edges: which nodes the output reaches, and which are active with respect to inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ops.control import with_slope


def derivative_edges(node: Node) -> Iterator[Node]:
    """Yield the arguments with respect to which an equation may have a nonzero derivative of some order."""
    if node.dtype != "real" or "stops" in node.op.facts or "piecewise-constant" in node.op.facts:
        return
    for i, arg in enumerate(node.args):
        if arg.dtype != "real" or node.op.kind_of(i) != "number":
            continue
        # At order two, the pullback of a custom gradient is differentiated.
        if not node.op.pointwise or node.op is with_slope or node.op.partials[i] is not None:
            yield arg


class Edges:
    """Activity analysis: which nodes the output has a derivative with respect to, and which depend on the inputs.

    Args:
        y: the program.
        wrt: the inputs of the program with respect to which derivatives are taken.
        dropped: stop_gradients that count as absent.
        blocked: equations that block derivatives.
    """

    def __init__(
        self, y: Node, wrt: Sequence[Node], dropped: Collection[Node] = (), blocked: Collection[Node] = ()
    ) -> None:
        def edges(n: Node) -> tuple[Node, ...]:
            if n in blocked:
                return ()
            return n.args if n in dropped else tuple(derivative_edges(n))

        order = topological([y])
        self.active = {w for w in wrt if w.dtype == "real"}
        """Nodes that have a derivative with respect to some of wrt."""
        self.reached = {y}
        """Nodes with respect to which the program has a derivative."""
        below: dict[Node, tuple[Node, ...]] = {}
        for n in order:
            below[n] = edges(n)
            if any(a in self.active for a in below[n]):
                self.active.add(n)
        for n in reversed(order):
            if n in self.reached:
                self.reached.update(below[n])
        self._below = below

    def passes(self, node: Node) -> bool:
        """Tell whether a derivative path leads through a node."""
        return node in self.reached and node in self.active

    def path(self, start: Node, end: Node) -> tuple[Node, ...]:
        """Return the shortest derivative path from a node down to another node; () if there is none."""
        above = {start: start}
        queue = [start]
        for n in queue:  # breadth first
            for a in self._below.get(n, ()):
                if a not in above:
                    above[a] = n
                    queue.append(a)
        if end not in above:
            return ()
        path = [end]
        while path[-1] is not start:
            path.append(above[path[-1]])
        return tuple(reversed(path))
