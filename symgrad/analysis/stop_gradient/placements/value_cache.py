"""A cache of values at exact points: each node is computed once for the values of the inputs that it reads.

Draws at the same inputs share the nodes without noise. Searches in a program with and without some of its
stop_gradients use the same points. They share the nodes below these stop_gradients, and the whole reference.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.analysis.explain.noise.dependence import readers
from symgrad.ir.graph import Node
from symgrad.rewrite.choice.certain_values import ball_values, exact_ball

Row = dict[Node, Any]
"""Values of nodes."""

_RECENT = 4  # number of points with the same inputs in the cache


class Computed:
    """The values that searches at the same points share."""

    def __init__(self) -> None:
        self.cancels = False
        """Whether a derivative cancelled so far that the lower precision is useless."""
        self._values: dict[int, PointValues] = {}

    def to(self, bits: int) -> PointValues:
        """Return the values in balls of so many bits."""
        return self._values.setdefault(bits, PointValues(bits))


@dataclass(frozen=True, slots=True)
class _ValuesAt:
    at: Mapping[Node, Any]
    sizes: Mapping[str, int]
    row: Row


class PointValues:
    """Values of nodes at exact points, in balls.

    Attributes:
        bits: the precision.
        references: a cache of reference derivatives, by path graph and `frozen_point`.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.references: dict[Hashable, Any] = {}
        self._known: defaultdict[int, deque[_ValuesAt]] = defaultdict(lambda: deque(maxlen=_RECENT))

    def row(
        self, order: Sequence[Node], at: Mapping[Node, Any], sizes: Mapping[str, int], number: int
    ) -> Row:
        """Return the values of nodes.

        Args:
            order: the nodes, arguments first.
            at: exact values of inputs, and of intermediate values that count as inputs.
            sizes: the values of named sizes.
            number: the number of the choice of inputs; points with the same number share values.
        """
        known = {s: exact_ball(v) for s, v in at.items()}
        for earlier in self._known[number]:
            if earlier.sizes == sizes:
                stale = _stale(order, at, earlier.at)
                old = earlier.row
                known.update((n, old[n]) for n in order if n in old and n not in stale and n not in known)
        known = ball_values(order, known, self.bits)
        self._known[number].append(_ValuesAt(at, sizes, known))
        return known


def _stale(order: Sequence[Node], at: Mapping[Node, Any], before: Mapping[Node, Any]) -> Collection[Node]:
    """Return the nodes that read a changed input, or an input that only one of two points has."""
    changed = [s for s in {**at, **before} if s not in at or s not in before or not _same(at[s], before[s])]
    return readers((n for n in order if n not in at), changed)


def _same(a: Any, b: Any) -> bool:
    return bool(np.shape(a) == np.shape(b) and np.all(a == b))


def frozen_point(inputs: Sequence[Node], at: Mapping[Node, Any], sizes: Mapping[str, int]) -> Hashable:
    """Return a hashable key for the values of some inputs."""

    def entries(value: Any) -> Hashable:
        return (np.shape(value), *np.asarray(value, dtype=object).ravel())

    return tuple(sizes.items()), tuple((s, entries(at[s])) for s in inputs)
