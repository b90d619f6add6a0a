"""Compare forms of several variables along lines: one variable moves through its domain, and the others stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.graph import Node
from symgrad.rewrite.choice.certain_values import Ball, CertainValues, as_floats, signed_distance
from symgrad.rewrite.choice.digit_losses import (
    MOVED,
    CertainSamples,
    are_equal,
    evaluated,
    loss_points,
    within,
)
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.intervals import Facts

_OFFSETS = 10.0 ** np.arange(-12, 2, 1.0)
_OTHERS = ((0.75, 1.75, 1.25, 2.25, 1.375, 0.5), (-0.625, 0.375, -1.125, -1.75, 2.5, -0.25))
"""The values of the variables that stay, in turn, for each line through a variable."""

_MAGNITUDES = 2.0 ** np.arange(-40, 21, 1.5)
"""The sizes of the variable that moves: those of numbers in ordinary units."""

_COMPARED, _MEETINGS = 64, 16
"""The most points at which forms are compared, and at which they are seen to be equal."""

_STEP, _CLOSE = Fraction(1, 2**80), 1e-9
"""The step of a difference quotient, and how close it is to a derivative."""

_WORTH = 8.0
"""The bits, summed over points, that another form must save."""


class VariableLines:
    """The lines through the variables of a formula.

    Args:
        target: the formula.
        variables: its symbols.
        known: facts about them.
        near: for each variable, further points near which it is sampled.
    """

    def __init__(
        self,
        target: Node,
        variables: Sequence[Node],
        known: Conditions,
        near: Mapping[Node, Sequence[Fraction]],
    ) -> None:
        self._target = target
        facts = {x: known.facts(x) for x in variables}
        columns: dict[Node, list[Any]] = {x: [] for x in variables}
        for x in variables:
            beside = [float(p) + s * _OFFSETS for p in near.get(x, ()) for s in (1, -1)]
            places = within(facts[x], np.concatenate([_MAGNITUDES, -_MAGNITUDES, *beside]))
            for values in _OTHERS:
                for k, v in enumerate(variables):
                    stays = np.full(len(places), _inside(values[k % len(values)], facts[v]))
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

    def may_lose_digits(self, form: Node) -> bool:
        """Tell whether a form may lose digits on some line."""
        return bool(loss_points(form, self._points).any())

    def agrees_at_zeros(self, formula: Node, by: Node, node: Node, form: Node) -> bool:
        """Tell whether a form has the value of a derivative at a zero of a variable where another form has none.

        The value is compared with a difference quotient of the formula.

        Args:
            formula: the formula whose derivative it is.
            by: the variable of the derivative.
            node: the form that may have no value.
            form: the other form.
        """
        values = CertainValues([formula, node, form])
        quotient = CertainValues([formula])
        filled = False
        for point in self._zeros:
            f, before, after = values.at(point)
            if f is None or before is not None or after is None:
                continue
            x = Fraction(point[by])
            step = _STEP * (abs(x) or 1)
            ends = [quotient.at({**point, by: x + s * step})[0] for s in (1, -1)]
            if None in ends:
                return False
            found, expected = as_floats(after)[0], signed_distance(*ends) / float(2 * step)
            if abs(found - expected) > _CLOSE * max(abs(expected), 1.0):
                return False
            filled = True
        return filled and are_equal(self._target, form, self._some_points)

    @property
    def _some_points(self) -> list[Mapping[Node, float]]:
        count = len(next(iter(self._points.values())))
        chosen = range(0, count, 1 + count // _MEETINGS)
        return [{x: float(column[i]) for x, column in self._points.items()} for i in chosen]

    def best(self, form: Node, stages: Iterable[Sequence[Node]]) -> Node:
        """Return the form that loses the fewest digits of those that are equal to the formula.

        Args:
            form: the form that stays if no other is better.
            stages: other forms; those of a stage are made if all before lose digits.
        """
        points, reference = self._compared(form)
        if not points:
            return form
        columns = {x: np.array([p[x] for p in points]) for x in self._points}
        least = float(reference.losses(evaluated([form], columns)).sum()) - _WORTH
        best = form
        for forms in stages:
            if least < _WORTH:
                break
            losses = reference.losses(evaluated(forms, columns)).sum(axis=1).tolist()
            for k in sorted(range(len(forms)), key=losses.__getitem__):
                if losses[k] >= least:
                    break
                if are_equal(self._target, forms[k], points[:: 1 + len(points) // _MEETINGS]):
                    best, least = forms[k], losses[k]
                    break
        return best

    def _compared(self, form: Node) -> tuple[list[Mapping[Node, float]], CertainSamples]:
        """Return points at which a form may lose digits, and some others, with the certain values there."""
        losing = loss_points(form, self._points)
        groups = (np.flatnonzero(losing), np.flatnonzero(~losing))
        picked = np.concatenate([group[:: 1 + len(group) * 2 // _COMPARED] for group in groups])
        exact = CertainValues([self._target])
        points: list[Mapping[Node, float]] = []
        values: list[tuple[Ball, Ball]] = []
        for i in picked.tolist():
            point = {x: float(column[i]) for x, column in self._points.items()}
            (value,) = exact.at(point)
            if value is not None and not isinstance(value, bool):
                points.append(point)
                values.append((value, *exact.at({x: Fraction(v) * MOVED for x, v in point.items()})))
        return points, CertainSamples([v for v, _ in values], [m for _, m in values])


def _inside(value: float, facts: Facts) -> float:
    """Return a value of an interval: the value itself, or one as far inside."""
    low, high = float(facts.low), float(facts.high)
    if low < value < high:
        return value
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * min(abs(value) / 4, 0.9)
    return low + abs(value) if np.isfinite(low) else high - abs(value)
