"""Sample a graph: compute exact values of its nodes, and the number of wrong bits of their forms in floats.

All compared forms are exactly equal, so any choice between them is correct. Therefore a sample may choose.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from symgrad.ir.exact import nearest_float
from symgrad.ir.graph import CONSTANT, NUMBER, Node
from symgrad.ir.traverse import all_pointwise, elementwise_parts, topological
from symgrad.rewrite.choice.certain_values import (
    Ball,
    BallTable,
    CertainValues,
    as_floats,
    distance,
    may_be_equal,
)
from symgrad.rewrite.choice.float_faults import FINE, ROUNDINGS, FloatFaults
from symgrad.rewrite.choice.float_values import COMPUTED, float_of
from symgrad.rewrite.choice.natural_scale import natural_scale
from symgrad.rewrite.choice.sample_points import points_at, points_of, points_of_arguments
from symgrad.rewrite.facts.inference import Conditions
from symgrad.support.traversal import walk

_LARGEST = 160  # largest number of equations for which forms are compared
_LARGEST_ELEMENTWISE = 1000  # the same for an elementwise graph, which then takes a second
_WIDEST = 50_000  # largest number of equations times inputs, since each input is moved: a kilobyte for each
_ROUNDED = 1 + Fraction(1, 2**53)  # the change of a number by half an ulp
_WORST_BITS = 64.0  # wrong bits of a value that is NaN or infinite


def has_extended() -> bool:
    """Tell whether the machine has floats with at least eleven bits more than float64."""
    return np.finfo(np.longdouble).nmant >= 63


def measurable(outputs: Sequence[Node]) -> bool:
    """Tell whether lost digits of a graph are measured: with many inputs this would take quadratic time."""
    return _measurable(topological(outputs), outputs)


def _measurable(order: Sequence[Node], outputs: Sequence[Node]) -> bool:
    # There are at most as many leaves as equations, so the leaves seldom need to be counted.
    return len(order) ** 2 <= _WIDEST or len(order) * len(_leaves(outputs)) <= _WIDEST


def searchable(outputs: Sequence[Node]) -> str | None:
    """Return the reason why there is no search for forms of a graph; None if there is a search."""
    order = topological(outputs)
    if not _measurable(order, outputs):
        return f"equations times inputs are more than {_WIDEST}"
    elementwise = len(order) <= _LARGEST_ELEMENTWISE and all_pointwise(order)
    most = _LARGEST_ELEMENTWISE if elementwise or len(order) > _LARGEST_ELEMENTWISE else _LARGEST
    return f"more than {most} equations" if len(order) > most else None


class Sample:
    """Sample points of the leaves of a graph, and values of nodes at these points.

    Args:
        outputs: the graph.
        known: facts, which include the intervals of its leaves.
    """

    def __init__(self, outputs: Sequence[Node], known: Conditions) -> None:
        self.leaves = _leaves(outputs)
        order = topological(outputs)
        numbers = {abs(nearest_float(n.value)) for n in order if n.op is NUMBER and n.dtype != "bool"}
        near = sorted({1.0, *(v for v in numbers if 2.0**-60 < v < 2.0**60)})[:12]
        facts = [known.facts(n) for n in self.leaves]
        self._points = points_of(self.leaves, facts, near)
        scale = natural_scale(order, self.leaves)
        if scale is not None:
            self._points = points_at(scale, self._points, self.leaves, facts)
        self._points += points_of_arguments(order, self.leaves, facts, self._points[0])
        self._columns = {leaf: [p[k] for p in self._points] for k, leaf in enumerate(self.leaves)}
        self._floats: dict[Node, Any] = {
            leaf: np.array(column, dtype=np.bool_ if leaf.dtype == "bool" else np.float64)
            for leaf, column in self._columns.items()
        }
        self._asked: dict[Node, None] = dict.fromkeys(self.leaves)
        self._balls = BallTable([dict(zip(self.leaves, p, strict=True)) for p in self._points])
        self._nearest: dict[Node, tuple[Any, Any, Any]] = {}
        self._rounded_at: dict[Node, set[int]] = {}

    @cached_property
    def _float_faults(self) -> FloatFaults:
        return FloatFaults(self.floats, self.leaves, len(self._points))

    def seems_fine(self, outputs: Sequence[Node], others: Sequence[Sequence[Node]] = ()) -> bool:
        """Tell whether extended precision shows no wrong bits that justify a search; False without such precision.

        Extended precision has at least eleven more bits, and a wider range. A form that loses all these bits at some
        points loses fewer at other points, unless a sum loses a term nearly everywhere.

        Two errors are not faults of this form if there are other forms: errors that follow from the rounding of the
        inputs alone, and overflow at huge inputs that all other forms have, too. So the squares in a quotient may
        overflow, but exp(x)/(1 + exp(x)) should not.
        """
        places = [k for k, n in enumerate(outputs) if n.op.pointwise and n.dtype == "real"]
        nodes = [outputs[k] for k in places]
        if not nodes or not has_extended():
            return False
        inside = [n for n in elementwise_parts(outputs) if n.dtype == "real" and n not in nodes]
        if inside and (self._float_faults.any(inside, [inside]) or self._float_faults.loses_a_term(inside)):
            return False
        forms = [[form[k] for k in places] for form in others]
        return not (self._float_faults.any(nodes, forms) or self._float_faults.loses_a_term(nodes))

    def loses_digits(self, outputs: Sequence[Node]) -> bool:
        """Tell whether there are `faults`; this takes less time than counting them."""
        nodes = [n for n in outputs if n.op.pointwise and n.dtype == "real"]
        if nodes and has_extended():
            return self._float_faults.any(nodes, [nodes])
        return any(map(self._exact_faults, nodes))

    def faults(self, outputs: Sequence[Node]) -> int:
        """Count the real values with so many wrong bits that they justify a search.

        Errors that follow from the rounding of the inputs alone are not faults, and neither is overflow at huge inputs.
        """
        nodes = [n for n in outputs if n.op.pointwise and n.dtype == "real"]
        if nodes and has_extended():
            return int(self._float_faults.of(nodes, [nodes]).sum())
        return sum(map(self._exact_faults, nodes))

    def faults_of_parts(self, outputs: Sequence[Node]) -> int:
        """Count the `faults` of the elementwise parts of array programs."""
        return self.faults(elementwise_parts(outputs))

    def has_values_of(self, outputs: Sequence[Node], others: Sequence[Node]) -> bool:
        """Tell whether floats of nodes are finite wherever floats of the other nodes are finite."""
        pairs = [(n, o) for n, o in zip(outputs, others, strict=True) if n.op.pointwise and n.dtype == "real"]
        return all(bool((np.isfinite(self.floats(n)) | ~np.isfinite(self.floats(o))).all()) for n, o in pairs)

    def _exact_faults(self, node: Node) -> int:
        """Count the faults of one node by exact values, which takes a hundred times as long."""
        bits = self.errors(node, node)
        over = np.flatnonzero((bits > FINE) & (np.isfinite(self.floats(node)) | ~self._float_faults.huge))
        inherent = self.inherent(node, over.tolist())
        return int((2.0 ** bits[over] > 2.0**FINE + ROUNDINGS * (2.0**inherent - 1)).sum())

    def takes(self, node: Node, leaf: Node) -> None:
        """Give the values of a leaf to the same leaf with rewritten operands."""
        if node not in self._asked and leaf in self.leaves:
            self.leaves.append(node)
            self._asked[node] = None
            self._columns[node], self._floats[node] = self._columns[leaf], self._floats[leaf]
            for point in self._balls.points:
                point[node] = point[leaf]

    def floats(self, node: Node) -> Any:
        """Return the values of a node in float64, operation by operation."""
        with np.errstate(all="ignore"):
            for n in topological([node], until=self._floats):
                if n not in self._floats:
                    self._floats[n] = float_of(n, [self._floats[a] for a in n.args])
        return self._floats[node]

    def exact(self, node: Node) -> list[Ball]:
        """Return the certain values of a node; None where the node is undefined or the value is unknown."""
        self._ask(node)
        return [self._balls.at(node, i) for i in range(len(self._points))]

    def _ask(self, node: Node) -> None:
        """Record a node whose values are used; if it is not a leaf, it cannot become a leaf later."""
        self._asked.update(dict.fromkeys(topological([node], until=self._asked)))

    def agree(self, node: Node, other: Node) -> Any:
        """Return a mask of the points at which two forms have equal values; None if they surely differ somewhere."""
        first, second = self.exact(node), self.exact(other)
        usable = np.zeros(len(first), np.bool_)
        for i, (a, b) in enumerate(zip(first, second, strict=True)):
            if a is None or b is None:
                continue
            if not may_be_equal(a, b):
                return None
            usable[i] = True
        return usable

    def exceeds(self, node: Node, most: float) -> bool:
        """Tell whether a node has more than `most` wrong bits at some point."""
        self._ask(node)
        return bool((self.errors(node, node) > most).any())

    def inherent(self, node: Node, points: Sequence[int]) -> Any:
        """Return the number of wrong bits at points if each input is off by half an ulp, as inputs are floats."""
        _, ulp, _ = self._rounded(node, points)
        values = CertainValues([node])
        found: list[float] = []
        for i in points:
            exact, at = self._balls.at(node, i), self._balls.points[i]
            total = 0.0
            for leaf in self.leaves:
                if leaf.dtype != "real" or exact is None:
                    continue
                (moved,) = values.at({**at, leaf: Fraction(at[leaf]) * _ROUNDED})
                total += 0.0 if moved is None else distance(moved, exact) / float(ulp[i])
            found.append(min(math.log2(1 + total), _WORST_BITS))
        return np.array(found)

    def _rounded(self, node: Node, points: Collection[int]) -> tuple[Any, Any, Any]:
        """Return, at points, the exact values rounded to floats, an ulp of these, and the remainders in ulps."""
        self._ask(node)
        count = len(self._points)
        if node not in self._nearest:
            self._nearest[node] = np.full(count, math.nan), np.full(count, math.nan), np.zeros(count)
            self._rounded_at[node] = set()
        nearest, ulp, rest = self._nearest[node]
        done = self._rounded_at[node]
        if len(done) == count:
            return nearest, ulp, rest
        new = [i for i in points if i not in done]
        for i, value in zip(new, (self._balls.at(node, i) for i in new), strict=True):
            if value is None:
                continue
            nearest[i], low = as_floats(value)
            with np.errstate(all="ignore"):
                ulp[i] = np.spacing(np.abs(nearest[i]))
            rest[i] = low / ulp[i] if math.isfinite(nearest[i]) else 0.0
        done.update(points)
        return nearest, ulp, rest

    def errors(self, node: Node, target: Node, points: Sequence[int] | None = None) -> Any:
        """Return the number of wrong bits of a form of a target at each point: log2(1 + ulps), NaN where unknown.

        Args:
            node: the form.
            target: the node whose form it is.
            points: the points to compute; None for all. At other points the result may be unknown.
        """
        values = self.floats(node)
        nearest, ulp, rest = self._rounded(target, range(len(self._points)) if points is None else points)
        with np.errstate(all="ignore"):
            ulps = np.abs((values - nearest) / ulp - rest)
            ulps = np.where(np.isinf(nearest), np.where(values == nearest, 0.0, math.inf), ulps)
            bits = np.log2(1 + ulps)
            bits = np.where(np.isnan(bits), _WORST_BITS, np.minimum(bits, _WORST_BITS))
        return np.where(np.isnan(nearest), math.nan, bits)


def _leaves(outputs: Iterable[Node]) -> list[Node]:
    def computed(n: Node) -> bool:
        return bool(n.args) and n.op.name in COMPUTED

    # The operands of a leaf may have other forms.
    reached = walk(reversed([*outputs]), lambda n: n.args)
    return [n for n in reached if not computed(n) and n.op is not NUMBER and n.op is not CONSTANT]
