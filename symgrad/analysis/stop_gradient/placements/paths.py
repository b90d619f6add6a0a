"""The derivative paths of a program: its edges, the edges in series, and the nodes on every path.

An edge means that an equation reads an argument. A stop_gradient on an edge removes every path through it and changes
nothing else, because residuals are values, and values stay the same. So the gradient is then the sum over the remaining
paths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.autodiff.trace import Pullback
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import REAL, Declaration


@dataclass(frozen=True, slots=True)
class ValueEdge:
    """An edge: an equation reads a value on a derivative path.

    Attributes:
        target: the value.
        step: the pullback of the equation that reads the value; None for the output, which no equation reads.
    """

    target: Node
    step: Pullback | None = field(repr=False)

    @property
    def node(self) -> Node | None:
        """The equation that reads the value."""
        return None if self.step is None else self.step.node

    @property
    def argument(self) -> int:
        """The position of the value among the arguments of the equation."""
        return 0 if self.step is None else self.step.argument


class PathGraph:
    """The edges on derivative paths from a value to inputs.

    Attributes:
        y: the value.
        wrt: the inputs.
        order: the nodes on such paths, arguments first.
        edges: the edges: first the output itself, then from the output to the inputs.
        classes: the positions of edges in series. The same paths pass all edges of a class, so one edge stands for all.
        passed: the nodes that every path passes, from the output to the inputs.
    """

    def __init__(self, y: Node, wrt: Sequence[Node]) -> None:
        self.y, self.wrt = y, tuple(wrt)
        seed = symbol(Declaration("__seed", REAL, y.shape)) if y.shape else as_node(1)
        steps = pull_back([y], [seed], wrt).steps
        alive = set(wrt) & {y, *(s.target for s in steps)}
        for step in reversed(steps):
            if step.target in alive:
                alive.add(step.node)
        self.order = [n for n in topological([y]) if n in alive]
        self.ends = [w for w in dict.fromkeys(wrt) if w in alive]
        self.edges: list[ValueEdge] = []
        if y in alive:
            self.edges = [ValueEdge(y, None), *(ValueEdge(s.target, s) for s in steps if s.target in alive)]
        self.into: dict[Node, list[int]] = {n: [] for n in self.order}
        self.out_of: dict[Node, list[int]] = {n: [] for n in self.order}
        for k, edge in enumerate(self.edges):
            self.into[edge.target].append(k)
            if edge.node is not None:
                self.out_of[edge.node].append(k)
        self.position = {n: i for i, n in enumerate(self.order)}
        self.classes: list[list[int]] = []
        self.passed: list[Node] = []
        if self.edges:
            self._series()

    def _series(self) -> None:
        """Find the edges in series and the nodes on every path, from the dominator trees of both directions.

        Two edges are in series if one dominates the other from the output, and the other dominates it from the ends.
        Here edges are vertices as well, and so are the exits at the ends.
        """
        names: list[object] = [0]
        for node in reversed(self.order):
            names.append(node)
            names += self.out_of[node]
            if node in self.ends:
                names.append(("end", node))
        names.append("sink")
        place = {name: i for i, name in enumerate(names)}
        before: list[list[int]] = [[] for _ in names]
        after: list[list[int]] = [[] for _ in names]

        def arc(a: object, b: object) -> None:
            before[place[b]].append(place[a])
            after[place[a]].append(place[b])

        for k, edge in enumerate(self.edges):
            if edge.node is not None:
                arc(edge.node, k)
            arc(k, edge.target)
        for node in self.ends:
            arc(node, ("end", node))
            arc(("end", node), "sink")
        down = _dominators(before)
        last = len(names) - 1
        up = [last - i for i in _dominators([[last - j for j in after[last - i]] for i in range(len(names))])]
        up.reverse()
        is_edge = [not isinstance(name, Node) for name in names]
        above = _nearest(down, is_edge, range(1, len(names)))
        below = _nearest(up, is_edge, range(last - 1, -1, -1))
        of: dict[int, list[int]] = {}
        for i, name in enumerate(names):
            if isinstance(name, int):
                chain = of.get(above[i]) if i and below[above[i]] == i else None
                of[i] = [] if chain is None else chain
                if chain is None:
                    self.classes.append(of[i])
                of[i].append(name)
        at = down[last]
        while at:
            name = names[at]
            if isinstance(name, Node):
                self.passed.append(name)
            at = down[at]
        self.passed.reverse()

    def reached(self, start: Sequence[Node], keep: Callable[[int], bool], *, down: bool) -> set[Node]:
        """Return the nodes that some nodes reach along edges, towards the ends or towards the output.

        Args:
            start: the nodes.
            keep: a function that tells whether to follow an edge.
            down: whether to go towards the ends.
        """
        found = set(start)
        for node in reversed(self.order) if down else self.order:
            if node in found:
                for k in self.out_of[node] if down else self.into[node]:
                    edge = self.edges[k]
                    other = edge.target if down else edge.node
                    if other is not None and keep(k):
                        found.add(other)
        return found

    def smallest_cut(self, noisy: Sequence[bool]) -> list[int]:
        """Return the smallest set of edges whose removal leaves exactly the paths without a noisy edge: a minimum cut.

        The edges of clean paths must stay. A noisy path leaves them at a node, and returns to them, or to an end, at
        another node. The flow network merges the nodes of the first kind into its source, and those of the second kind
        into its sink.
        """
        import numpy as np  # a late import, for a quick start
        from scipy import sparse

        network: Any = sparse.csgraph

        def clean(k: int) -> bool:
            return not noisy[k]

        to_end = self.reached(self.ends, clean, down=False)
        from_y = self.reached([self.y], clean, down=True)
        calm = from_y & to_end
        source, sink = len(self.order), len(self.order) + 1
        capacity: dict[tuple[int, int], int] = {}
        arcs: dict[int, tuple[int, int]] = {}
        for k, edge in enumerate(self.edges):
            if clean(k) and edge.target in to_end and (edge.node in from_y or edge.node is None):
                continue
            begins = edge.node is None or edge.node in calm
            ends = edge.target in calm or edge.target in self.ends
            a = source if begins else self.position[edge.node]  # pyright: ignore[reportArgumentType]  (None begins)
            arcs[k] = (a, sink if ends else self.position[edge.target])
            capacity[arcs[k]] = capacity.get(arcs[k], 0) + 1
        if not arcs:
            return []
        rows, columns = np.array(list(capacity)).T
        size = len(self.order) + 2
        amounts = np.array(list(capacity.values()), np.int32)
        matrix: Any = sparse.csr_array((amounts, (rows, columns)), (size, size))
        left: Any = sparse.csr_array(matrix - network.maximum_flow(matrix, source, sink).flow)
        left.eliminate_zeros()
        side = {int(i) for i in network.breadth_first_order(left, source, return_predecessors=False)}
        return [k for k, (a, b) in arcs.items() if a in side and b not in side]


def _dominators(before: Sequence[Sequence[int]]) -> list[int]:
    """Return the immediate dominator of each vertex of an acyclic graph in topological order."""
    found, depth = [0] * len(before), [0] * len(before)
    for i in range(1, len(before)):
        at = before[i][0]
        for other in before[i][1:]:
            while at != other:
                if depth[at] >= depth[other]:
                    at = found[at]
                else:
                    other = found[other]
        found[i], depth[i] = at, depth[at] + 1
    return found


def _nearest(tree: Sequence[int], wanted: Sequence[bool], order: Sequence[int]) -> list[int]:
    """Return for each vertex its nearest wanted ancestor in a tree; if there is none, the root."""
    found = list(tree)
    for i in order:
        if not wanted[tree[i]]:
            found[i] = found[tree[i]]
    return found
