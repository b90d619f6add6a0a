"""Find faults of floats at sample points: float64 values that differ from values in extended precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice.float_values import wide_of

FINE = 2.0
"""Number of wrong bits that do not justify a search."""

ROUNDINGS = 3
"""Allowed rounding error of a computation, as a multiple of the error that follows from rounding its inputs."""

_HUGE = 2.0**20
"""Size of huge inputs: powers overflow above it, exponentials already below it."""

_FIRST = 8  # number of points of one node that are checked before all points
_SMALL = 100  # number of equations of graphs in which checking all points takes no longer
_NEARLY_ALL = 0.9


class FloatFaults:
    """Compares values of one sample in float64 and in extended precision; each is computed once.

    Args:
        floats: returns the values of a node in float64.
        leaves: the leaves of the graph.
        count: the number of points.
    """

    def __init__(self, floats: Callable[[Node], Any], leaves: Sequence[Node], count: int) -> None:
        self._floats, self._leaves, self._count = floats, leaves, count
        self._wide: dict[Node, Any] = {}

    def loses_a_term(self, nodes: Sequence[Node]) -> bool:
        """Tell whether a sum equals one of its terms, or zero, at nearly all points where neither term is zero."""
        values, leaves = self._values(nodes), set(self._leaves)
        with np.errstate(all="ignore"):
            sums = (n for n in topological(nodes, until=leaves) if n.op.name == "add" and n not in leaves)
            return any(_loses_a_term(n, values) for n in sums)

    def any(self, nodes: Sequence[Node], others: Sequence[Sequence[Node]]) -> bool:
        """Tell whether there are faults."""
        if len(topological(nodes)) > _SMALL and self.evident(nodes, others):
            return True
        return bool(self.of(nodes, others).any())

    def evident(self, nodes: Sequence[Node], others: Sequence[Sequence[Node]]) -> bool:
        """Tell whether the first node has faults at its largest errors, which is likely if there are any faults."""
        return bool(self.of(nodes[:1], [form[:1] for form in others], most=_FIRST).any())

    def of(self, nodes: Sequence[Node], others: Sequence[Sequence[Node]], *, most: int | None = None) -> Any:
        """Return for each node a mask of the points at which its float64 value is wrong.

        Two errors are not faults of this form if there are other forms: errors that follow from the rounding of the
        inputs alone, and overflow at huge inputs that all other forms have, too. So the squares in a quotient may
        overflow, but exp(x)/(1 + exp(x)) should not.

        Args:
            nodes: the nodes, of real numbers.
            others: further forms of all nodes.
            most: the largest number of points to check: the points with the largest errors.
        """
        with np.errstate(all="ignore"):
            values = self._values(nodes)
            wide = self._stacked(nodes, values.__getitem__)
            found = self._stacked(nodes, self._floats)
            nearest = wide.astype(np.float64)
            same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
            if others:
                lost = ~np.isfinite(found) & self.huge
                for form in others:
                    lost &= ~np.isfinite(self._stacked(form, self._floats))
                same |= lost
            off, allowed = np.abs(found - wide), (2.0**FINE - 1) * np.spacing(np.abs(nearest))
            if not others:
                return ~(same | (off <= allowed))
            points = _worst_first(np.where(same, 0.0, off / allowed))[:most]
            allowed = allowed[:, points] + ROUNDINGS * self._inherent(nodes, wide, points)
            faults = np.zeros_like(same)
            faults[:, points] = ~(same[:, points] | (off[:, points] <= allowed))
        return faults

    @property
    def huge(self) -> Any:
        """A mask of the points at which some input is huge."""
        sizes = [np.abs(self._floats(n)) > _HUGE for n in self._leaves if n.dtype == "real"]
        return np.any(sizes, axis=0) if sizes else np.zeros(self._count, np.bool_)

    def _stacked(self, nodes: Sequence[Node], of: Callable[[Node], Any]) -> Any:
        return np.stack([np.broadcast_to(of(n), (self._count,)) for n in nodes])

    def _values(self, nodes: Sequence[Node]) -> dict[Node, Any]:
        """Return values in extended precision."""
        known = self._wide
        for leaf in self._leaves:
            if leaf not in known:
                floats = self._floats(leaf)
                known[leaf] = floats if leaf.dtype == "bool" else floats.astype(np.longdouble)
        _compute(nodes, known)
        return known

    def _inherent(self, nodes: Sequence[Node], wide: Any, points: Any) -> Any:
        """Return the error of values at points: the sum of the changes if each input in turn moves by half an ulp."""
        known = {leaf: self._wide[leaf][points] for leaf in self._leaves}
        moved = [leaf for leaf in self._leaves if leaf.dtype == "real"]
        for k, leaf in enumerate(moved):
            known[leaf] = np.tile(known[leaf], (len(moved), 1))
            known[leaf][k] *= 1 + np.longdouble(2) ** -53
        _compute(nodes, known)
        shape = (len(moved), len(points))
        total = np.zeros((len(nodes), len(points)), np.longdouble)
        for row in np.stack([np.broadcast_to(known[n], shape) for n in nodes], axis=1):
            total = total + np.abs(row - wide[:, points])
        return total


def _compute(nodes: Sequence[Node], known: dict[Node, Any]) -> None:
    with np.errstate(all="ignore"):
        for n in topological(nodes, until=known):
            if n not in known:
                known[n] = wide_of(n, [known[a] for a in n.args])


def _worst_first(excess: Any) -> Any:
    return np.argsort(-np.where(np.isnan(excess), np.inf, excess).max(axis=0), kind="stable")


def _loses_a_term(total: Node, values: dict[Node, Any]) -> bool:
    a, b = (values[n] for n in total.args)
    there = (a != 0) & (b != 0) & np.isfinite(values[total])
    lost = there & ((values[total] == a) | (values[total] == b) | (values[total] == 0))
    return bool(np.count_nonzero(lost) > _NEARLY_ALL * np.count_nonzero(there))
