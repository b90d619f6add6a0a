"""Compare forms of several variables along lines: one variable moves through its domain, and the others stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, number
from symgrad.ir.traverse import substitute
from symgrad.rewrite.choice.regimes import OneVariable
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.intervals import Facts

_OTHERS = (
    (Fraction(3, 4), Fraction(7, 4), Fraction(5, 4), Fraction(9, 4), Fraction(11, 8), Fraction(1, 2)),
    (Fraction(-5, 8), Fraction(3, 8), Fraction(-9, 8), Fraction(-7, 4), Fraction(5, 2), Fraction(-1, 4)),
)
"""The values of the variables that stay, in turn, for each line through a variable."""


class Lines:
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
        facts = {x: known.facts(x) for x in variables}
        self._lines: list[tuple[OneVariable, dict[Node, Node]]] = []
        for x in variables:
            for values in _OTHERS:
                fixed = {
                    v: number(_inside(values[k % len(values)], facts[v]))
                    for k, v in enumerate(variables)
                    if v is not x
                }
                line = OneVariable(substitute([target], fixed)[0], x, facts[x], near=near.get(x, ()))
                self._lines.append((line, fixed))

    def is_suspect(self, form: Node) -> bool:
        """Tell whether a form may lose digits on some line."""
        return any(line.is_suspect(substitute([form], fixed)[0]) for line, fixed in self._lines)

    def lost(self, forms: Sequence[Node]) -> Any:
        """Return the bits that each form loses, summed over the samples of all lines; infinite for an unequal form."""
        total = np.zeros(len(forms))
        for line, fixed in self._lines:
            rows = [substitute([form], fixed)[0] for form in forms]
            total += line.total_lost(rows)
        return total


def _inside(value: Fraction, facts: Facts) -> Fraction:
    """Return a value of an interval: the value itself, or one as far inside."""
    low, high = facts.low, facts.high
    if not isinstance(low, float) and not isinstance(high, float):
        if low < value < high:
            return value
        return low + (high - low) * Fraction(abs(value), 4)
    if not isinstance(low, float):
        return value if value > low else low + abs(value)
    if not isinstance(high, float):
        return value if value < high else high - abs(value)
    return value
