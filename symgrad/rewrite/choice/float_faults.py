"""Faults of floats at sample points: where float64 has not the values that extended precision has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice.exact_values import wide_of

__all__ = ["FINE", "ROUNDINGS", "FloatFaults"]

FINE = 2.0
"""Wrong bits that are not worth a search."""

ROUNDINGS = 3
"""Roundings on the way are as bad as those of inputs, so many times over."""

_HUGE = 2.0**20
"""Beyond, powers overflow; exponentials do before."""

_FIRST = 8  # points of one node where a fault is looked for before it is everywhere
_SMALL = 100  # equations of graphs where all take no longer
_NEARLY_ALL = 0.9


class FloatFaults:
    """Compares values of one sample in float64 and in extended precision, which are made once.

    Args:
        floats: the values of a node in float64.
        leaves: what the graph reads.
        count: of points.
    """

    def __init__(self, floats: Callable[[Node], Any], leaves: Sequence[Node], count: int) -> None:
        self._floats, self._leaves, self._count = floats, leaves, count
        self._wide: dict[Node, Any] = {}

    def loses_a_term(self, nodes: Sequence[Node]) -> bool:
        """Tell whether a sum is one of its terms, or zero, at nearly all points where neither term is zero."""
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
        """Tell whether the first node has faults where it is furthest off, as it most often has if there are any."""
        return bool(self.of(nodes[:1], [form[:1] for form in others], most=_FIRST).any())

    def of(self, nodes: Sequence[Node], others: Sequence[Sequence[Node]], *, most: int | None = None) -> Any:
        """Return for each node at which points float64 has not its value.

        Where there are other forms, what rounding of the inputs alone does is no fault of this one, nor what overflows
        in the others too where inputs are huge: the squares of a quotient do, but exp(x)/(1 + exp(x)) should not.

        Args:
            nodes: of numbers.
            others: further forms of all of them.
            most: at how many points it is asked; these are where floats are furthest off.
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
        """At which points some input is huge."""
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
        """Return how far values are off at points if each input in turn is half a unit of its last place off."""
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
