"""The right derivation of a claim, evaluated numerically: contributions to cotangents, and tangents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.trace import BackwardTrace, placeholder
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological
from symgrad.verification.mistakes.limits import DIRECTIONS, NODES, PARTIAL_SITES
from symgrad.verification.mistakes.numbers import Array, TrialPoint, TrialPoints, entries, lengths
from symgrad.verification.mistakes.rule import Site, Wrong


class TooManyEntries(Exception):
    """A program, or its variable, has too many entries."""


class RightDerivation:
    """One backward pass over a program of numbers or small arrays, and the results of mistakes in it.

    Args:
        y: the function, a number.
        wrt: the variable of the derivative.
        counts: numbers of entries, each with its text.

    Raises:
        TooManyEntries: if the pass would take too long.
    """

    def __init__(self, y: Node, wrt: Node, counts: Mapping[str, int]) -> None:
        order = topological([y])
        if len(order) > NODES or entries(wrt.shape) > DIRECTIONS:
            raise TooManyEntries
        self.y = y
        self.wrt = wrt
        self.counts = counts
        self.order = order
        real = [n for n in order if n.dtype == "real"]
        trace = pull_back([y], [as_node(1)], [wrt, *real])
        self.trace = trace
        self.right, *bars = trace.gradients
        self.bars = dict(zip(real, bars, strict=True))
        self.direction = as_node(1) if not wrt.shape else placeholder(wrt)
        tangents = push_forward(real, {wrt: self.direction})
        self.dots = {n: t for n, t in zip(real, tangents, strict=True) if not t.is_number(0)}
        self.sampled = TrialPoints([], lanes=True)
        self.right_values: Array = np.zeros((0, 0))
        self._moves: list[list[TrialPoint]] = []
        self._jacobians: list[dict[Node, Any]] = []

    # -------------------------------------------------------------------------------------------------------- sites

    def sites(self) -> Iterator[Site]:
        """Yield the equations on which the derivative depends, outermost first.

        Visit an equation with several readers once more for each of them, with all of its arguments: a text may write
        the equation several times, with a mistake in one of them.
        """
        yield from self._sites(self.order, self.trace, self.bars)
        arrived: dict[Node, list[Node]] = {}
        for step in self.trace.steps:
            if step.target.args:
                arrived.setdefault(step.target, []).append(step.contribution)
        left = PARTIAL_SITES
        for node, parts in arrived.items():
            if len(parts) < 2 or node not in self.dots:
                continue
            inside = [n for n in topological([node]) if n.dtype == "real"]
            for part in parts:
                left -= len(inside)
                if left < 0:
                    return
                trace = pull_back([node], [part], inside)
                yield from self._sites(inside, trace, dict(zip(inside, trace.gradients, strict=True)))

    def inside(self, wrong: Wrong) -> Iterator[Site]:
        """Yield the equations below a mistake, with the cotangents that the mistake causes."""
        parts = [(n, c) for n, c in wrong.parts if n is not None]
        nodes, cotangents = [n for n, _ in parts], [c for _, c in parts]
        real = [n for n in self.order if n.dtype == "real"]
        trace = pull_back([self.y, *nodes], [as_node(1), *cotangents], real)
        bars = dict(zip(real, trace.gradients, strict=True))
        below = [n for n in topological(nodes) if n.dtype == "real"]
        yield from self._sites(below, trace, bars)

    def _sites(self, order: list[Node], trace: BackwardTrace, bars: Mapping[Node, Node]) -> Iterator[Site]:
        sent = {(s.node, s.argument): s.contribution for s in trace.steps}
        for node in reversed(order):
            bar = bars.get(node)
            if not node.args or bar is None or bar.is_number(0):
                continue
            yield Site(
                node,
                bar,
                tuple(sent.get((node, i)) for i in range(len(node.args))),
                tuple(self.dots.get(a) for a in node.args),
                tuple(self.bars.get(a) for a in node.args),
                self.wrt,
                self.y,
                self.counts,
            )

    # ------------------------------------------------------------------------------------------------------ numbers

    def sample(self, sampled: TrialPoints) -> None:
        """Set the points at which values are compared."""
        self.sampled = sampled
        if not sampled.lanes:
            self._jacobians = [{} for _ in sampled.points]
            self._moves = [list(self._directions(p)) for p in sampled.points]
        if sampled.points:
            self.right_values = self.rows(self.right)

    def _directions(self, point: TrialPoint) -> Iterator[TrialPoint]:
        shape = lengths(self.wrt.shape)
        for index in np.ndindex(*shape):
            unit = np.zeros(shape)
            unit[index] = 1.0
            yield point.with_values({self.direction: unit} if shape else {})

    def rows(self, node: Node) -> Array:
        """Return the values of a node with the shape of the derivative, one row for each point."""
        return self.sampled.rows(node, self.wrt.shape)

    def through(self, node: Node, cotangent: Node) -> Array:
        """Return the contribution of a cotangent of a node to the derivative."""
        if self.sampled.lanes:
            point = self.sampled.points[0]
            dot = self.dots.get(node)
            with np.errstate(all="ignore"):
                return self.sampled.in_lanes(point(cotangent) * (0.0 if dot is None else point(dot)))
        shape = lengths(node.shape)
        parts = [
            np.tensordot(np.broadcast_to(point(cotangent), shape), self._jacobian(k, node), axes=len(shape))
            for k, point in enumerate(self.sampled.points)
        ]
        return np.stack([p.ravel() for p in parts])

    def _jacobian(self, k: int, node: Node) -> Any:
        """Return the Jacobian of a node at a point: first the axes of the node, then those of the variable."""
        known = self._jacobians[k]
        if node not in known:
            dot = self.dots.get(node)
            own = lengths(node.shape)
            shape = (*own, *lengths(self.wrt.shape))
            if dot is None:
                known[node] = np.zeros(shape)
            else:
                columns = [np.broadcast_to(m(dot), own) for m in self._moves[k]]
                known[node] = np.stack(columns, axis=-1).reshape(shape)
        return known[node]

    def values_of(self, wrong: Wrong) -> Array:
        """Return the result of a derivation with a mistake, at all points."""
        if wrong.value is not None:
            return self.rows(self.formula(wrong))
        total = np.zeros_like(self.right_values) if wrong.alone else self.right_values
        for node, cotangent in wrong.parts:
            total = total + (self.rows(cotangent) if node is None else self.through(node, cotangent))
        return total

    # ----------------------------------------------------------------------------------------------------- formulas

    def formula(self, wrong: Wrong) -> Node:
        """Return the result of a derivation with a mistake, as a formula."""
        if wrong.value is not None:
            return pull_back([wrong.value], [as_node(1)], [self.wrt]).gradients[0]
        total = as_node(0) if wrong.alone else self.right
        for node, cotangent in wrong.parts:
            total = total + (
                cotangent if node is None else pull_back([node], [cotangent], [self.wrt]).gradients[0]
            )
        return total
