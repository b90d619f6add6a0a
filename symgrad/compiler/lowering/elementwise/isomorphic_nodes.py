"""Store a graph as integer arrays: classes of similar equations, readers, and an order for repetitions."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from symgrad.ir.graph import Node

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NUMBERS = frozenset({"add", "mul", "div"})
"""Ops whose code is the same for every number as an operand, so copies may differ in this number."""

LARGE = 48
"""The largest size of a formula that is counted; larger sizes say nothing about the size of a repetition."""

_SHALLOW = 3
"""Equations of small graphs have the same colour if they are equal down to this depth."""


class NumberedGraph:
    """The symbols and equations of a graph, numbered; the next number stands for all constants.

    Args:
        nodes: symbols and equations, arguments first.
        outputs: the outputs.
        fusable: nodes that may become fused multiply-adds.

    Attributes:
        args: the numbers of the operands of every equation.
        key: a number that is equal for equations with equal code.
        leaf: a mask of the symbols.
    """

    def __init__(self, nodes: Sequence[Node], outputs: Sequence[Node], fusable: Collection[Node]) -> None:
        self.nodes = nodes
        n = self.n = len(nodes)
        get = {node: i for i, node in enumerate(nodes)}.get
        flat = np.array([get(a, n) for node in nodes for a in node.args], np.int64)
        count = np.array([len(node.args) for node in nodes], np.int64)
        row = np.repeat(np.arange(n), count)
        self.arity = max(int(count.max(initial=0)), 1)
        self.args: Ints = np.full((n + 1, self.arity), n, np.int64)
        self.args[row, np.arange(len(flat)) - np.repeat(np.cumsum(count) - count, count)] = flat
        self.leaf: Bools = np.append(count == 0, False)
        codes: dict[object, int] = {}
        known = codes.setdefault
        keys = [known((node.op, node.params), len(codes)) for node in nodes]
        for i in map(int, np.unique(row[flat == n])):
            operands = [int(k) for k in self.args[i]]
            keys[i] = known((keys[i], *_constants(nodes[i], operands, n)), len(codes))
        for node in outputs:
            i = get(node, n)
            if i < n:
                keys[i] = known((keys[i], "output"), len(codes))
        self.key: Ints = np.array([*keys, -1], np.int64)
        self.key[np.fromiter((get(node, n) for node in fusable), np.int64)] += len(codes)
        self.key[n] = -1

    def colours(self) -> tuple[Ints, Ints]:
        """Return the colour of every equation, and the size of its formula down to the depth of the colour."""
        inner = self.args[: self.n] < self.n
        equation = np.append(~self.leaf[:-1], False)
        base = np.where(equation, _mixed(self.key.astype(np.uint64) + np.uint64(3)), np.uint64(1))
        colour, size = base, equation.astype(np.int64)
        # Each step distinguishes about four random equations, so at this depth few equations look alike by chance.
        for _ in range(max(_SHALLOW, round(math.log(self.n, 4)) - 2)):
            mixed, larger = base, equation.astype(np.int64)
            for k in range(self.arity):
                mixed = _mixed(mixed * np.uint64(0x9E3779B97F4A7C15) + colour[self.args[:, k]])
                larger[:-1] += np.where(inner[:, k], size[self.args[:-1, k]], 0)
            colour, size = np.where(equation, mixed, np.uint64(1)), larger
        return np.unique(colour[:-1], return_inverse=True)[1].reshape(-1), np.minimum(size[:-1], LARGE)

    def link(self) -> None:
        """Index the readers of every value; only graphs with repetition need this."""
        n = self.n
        flat = self.args[:n].reshape(-1)
        used = np.flatnonzero(flat < n)
        order = used[np.argsort(flat[used], kind="stable")]
        self.source: Ints = flat[order]
        self.reader: Ints = order // self.arity
        self.operand: Ints = order % self.arity
        self.start: Ints = np.searchsorted(self.source, np.arange(n + 2))

    def uses(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the positions in `reader` of all uses of some nodes, and for each use the index of its node."""
        first, count = self.start[nodes], self.start[nodes + 1] - self.start[nodes]
        which = np.repeat(np.arange(len(nodes)), count)
        return np.arange(len(which)) - np.repeat(np.cumsum(count) - count - first, count), which

    def early(self, unit: Ints) -> Ints | None:
        """Order the equations so that units stay together, and each unit follows its operands immediately.

        In this order a repetition is contiguous. In the order of a graph traversal it may not be contiguous, since
        equations that only a second output needs come much later. Among several units that can follow, units with no
        other operands come first, since they may belong to the same repetition.

        Args:
            unit: for every equation, the equation that represents its unit.

        Returns:
            The place of every equation; None if there is no such order.
        """
        n = self.n
        edges = np.sort(unit[self.source] * n + unit[self.reader])
        edges = edges[np.append(True, edges[1:] != edges[:-1])]
        source, reader = edges // n, edges % n
        between = source != reader
        source, reader = source[between], reader[between]
        lone = np.bincount(reader[~self.leaf[source]], minlength=n) == 1
        order = np.lexsort((~lone[reader], source))
        readers, start = reader[order].tolist(), np.searchsorted(source, np.arange(n + 1)).tolist()
        count = np.bincount(reader, minlength=n)
        missing = count.tolist()
        alone = unit == np.arange(n)
        place = [0] * n
        done = 0
        for first in np.flatnonzero((count == 0) & alone).tolist():
            place[first] = done
            done += 1
            stack = [first]
            while stack:
                top = stack.pop()
                ready: list[int] = []
                for k in readers[start[top] : start[top + 1]]:
                    missing[k] -= 1
                    if not missing[k]:
                        place[k] = done
                        done += 1
                        ready.append(k)
                stack += reversed(ready)
        if done < int(alone.sum()):
            return None
        found = np.empty(n, np.int64)
        found[np.lexsort((np.arange(n), np.array(place, np.int64)[unit]))] = np.arange(n)
        return found


def _constants(node: Node, numbers: Sequence[int], n: int) -> tuple[object, ...]:
    """Return the key of a node's constant operands: their places, and the values on which its code depends."""
    free = node.op.name in NUMBERS
    return tuple(
        [
            None if k < n else "number" if free and a.dtype != "bool" else a
            for a, k in zip(node.args, numbers, strict=False)
        ]
    )


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter the bits of numbers (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
