"""Compare forms of several variables along lines: one variable moves through its domain, and the others stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice.certain_values import CertainValues, as_floats, signed_distance
from symgrad.rewrite.choice.digit_losses import (
    CertainSamples,
    are_equal,
    evaluated,
    loss_points,
    point_of,
    value_and_change,
    within,
)
from symgrad.rewrite.choice.float_values import Floats
from symgrad.rewrite.choice.natural_scale import natural_scale
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.intervals import Facts

_OFFSETS = 10.0 ** np.arange(-12, 2, 1.0)
_OTHERS = ((0.75, 1.75, 1.25, 2.25, 1.375, 0.5), (-0.625, 0.375, -1.125, -1.75, 2.5, -0.25))
"""The values of the variables that stay, in turn, for each line through a variable."""

_MAGNITUDES = 2.0 ** np.concatenate([np.arange(-40, 20, 1.5), np.arange(20, 61, 2.5)])
"""The sizes of the variable that moves, times the natural scale of the formula."""

_COMPARED, _MEETINGS = 64, 16
"""The most points at which forms are compared, and at which they are seen to be equal."""

_STEP, _CLOSE = Fraction(1, 2**80), 1e-9
"""The step of a difference quotient, and how close it is to a derivative."""

_WORTH = 8.0
"""The bits, summed over points, that another form must save."""


class VariableLines:
    """The lines through the variables of a formula.

    Args:
        target: the formula, in the form that stays if no other is better.
        variables: its symbols.
        known: facts about them.
        near: for each variable, further points near which it is sampled.
        floats: the type of floats in which forms are computed.
    """

    def __init__(
        self,
        target: Node,
        variables: Sequence[Node],
        known: Conditions,
        near: Mapping[Node, Sequence[Fraction]],
        floats: Floats,
    ) -> None:
        self._target, self._floats = target, floats
        facts = {x: known.facts(x) for x in variables}
        exponents = natural_scale(topological([target]), variables) or [0.0] * len(variables)
        scale = {x: 2.0 ** round(e) for x, e in zip(variables, exponents, strict=True)}
        columns: dict[Node, list[Any]] = {x: [] for x in variables}
        for x in variables:
            beside = [float(p) + s * _OFFSETS for p in near.get(x, ()) for s in (1, -1)]
            sizes = _MAGNITUDES * scale[x]
            places = within(facts[x], np.concatenate([sizes, -sizes, *beside]), floats)
            for values in _OTHERS:
                for k, v in enumerate(variables):
                    stays = np.full(
                        len(places), floats.rounded(_inside(values[k % len(values)] * scale[v], facts[v]))
                    )
                    columns[v].append(places if v is x else stays)
        self._points = {x: np.concatenate(column) for x, column in columns.items()}
        self._zeros = [
            {
                v: 0.0 if v is x else float(_inside(values[k % len(values)], facts[v]))
                for k, v in enumerate(variables)
            }
            for x in variables
            for values in _OTHERS
            if len(within(facts[x], [0.0]))
        ]

    @cached_property
    def _loss_points(self) -> Any:
        """A mask of the points at which the formula may lose digits."""
        return loss_points(self._target, self._points, self._floats)

    def may_lose_digits(self) -> bool:
        """Tell whether the formula may lose digits on some line."""
        return bool(self._loss_points.any())

    def undefined_zeros(self, form: Node, formula: Node) -> list[Mapping[Node, float]]:
        """Return points at a zero of a variable at which a form has no value, and another formula has one."""
        values = CertainValues([form, formula])
        found = [(point, *values.at(point)) for point in self._zeros]
        return [point for point, own, other in found if own is None and other is not None]

    def agrees_with_differences(
        self, form: Node, formula: Node, by: Node, gaps: Sequence[Mapping[Node, float]]
    ) -> bool:
        """Tell whether a form has the values of a derivative at gaps, and is equal to it elsewhere.

        The values are compared with difference quotients.

        Args:
            form: the form.
            formula: the formula whose derivative it is.
            by: the variable of the derivative.
            gaps: points at which this form of the derivative has no value.
        """
        values, quotient = CertainValues([form]), CertainValues([formula])
        completed = False
        for point in gaps:
            (value,) = values.at(point)
            if value is None:
                continue
            x = Fraction(point[by])
            step = _STEP * (abs(x) or 1)
            ends = [quotient.at({**point, by: x + s * step})[0] for s in (1, -1)]
            if None in ends:
                return False
            found, expected = as_floats(value)[0], signed_distance(*ends) / float(2 * step)
            if abs(found - expected) > _CLOSE * max(abs(expected), 1.0):
                return False
            completed = True
        count = len(self._loss_points)
        points = [point_of(self._points, i) for i in range(0, count, 1 + count // _MEETINGS)]
        return completed and are_equal(self._target, form, points, self._floats)

    def best(self, stages: Iterable[Sequence[Node]]) -> Node:
        """Return the form that loses the fewest digits of those that are equal to the formula.

        Args:
            stages: further forms; those of a stage are made if all before lose digits.
        """
        best = self._target
        points, reference = self._compared()
        if not points:
            return best
        columns = {x: np.array([p[x] for p in points]) for x in self._points}
        least = float(reference.losses(evaluated([best], columns, self._floats)).sum()) - _WORTH
        for forms in stages:
            if least < _WORTH:
                break
            losses = reference.losses(evaluated(forms, columns, self._floats)).sum(axis=1).tolist()
            for k in sorted(range(len(forms)), key=losses.__getitem__):
                if losses[k] >= least:
                    break
                if are_equal(self._target, forms[k], points[:: 1 + len(points) // _MEETINGS], self._floats):
                    best, least = forms[k], losses[k]
                    break
        return best

    def _compared(self) -> tuple[list[Mapping[Node, float]], CertainSamples]:
        """Return points at which the formula may lose digits, and some others, with the certain values there."""
        groups = (np.flatnonzero(self._loss_points), np.flatnonzero(~self._loss_points))
        picked = np.concatenate([group[:: 1 + len(group) * 2 // _COMPARED] for group in groups])
        exact = CertainValues([self._target])
        points = [point_of(self._points, i) for i in picked.tolist()]
        found = [(p, pair) for p in points if (pair := value_and_change(exact, p)) is not None]
        return [p for p, _ in found], CertainSamples([pair for _, pair in found], self._floats)


def _inside(value: float, facts: Facts) -> float:
    """Return a value of an interval: the value itself, or one as far inside."""
    low, high = float(facts.low), float(facts.high)
    if low < value < high:
        return value
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * min(abs(value) / 4, 0.9)
    return low + abs(value) if np.isfinite(low) else high - abs(value)
