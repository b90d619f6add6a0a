"""Where a formula loses digits in floats, and the form that is computed does not: one line in the names of the user."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.api.handles.base import Handle
from symgrad.api.handles.named_derivatives import named_together, readable
from symgrad.ir.graph import Node, number
from symgrad.ir.traverse import all_pointwise, substitute, symbols_of, topological
from symgrad.rewrite.choice.certain_values import CertainValues
from symgrad.rewrite.choice.digit_losses import CertainSamples, evaluated, loss_points, value_and_change
from symgrad.rewrite.choice.regimes import OneVariable
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.intervals import Facts

_EQUATIONS, _VARIABLES = 160, 6
"""The most equations and variables of a formula that is looked at."""

_RANGES = 3
"""The most ranges that are named."""

_GAP = 3
"""Ranges with fewer samples between them are one range: whether a rounding error shows is partly chance."""

_HUGE = 1e30
"""Numbers beyond this or its reciprocal are not looked at: there, squares soon leave the range of floats."""

_HALVINGS = 16


def digit_notes(expr: Handle, computed: Node) -> tuple[str, ...]:
    """Return a line that tells where a formula, as it is printed, loses digits that another form keeps; or none.

    Args:
        expr: the expression.
        computed: the form of the expression that is compared with the printed one.
    """
    named = named_together([expr])
    printed = readable(expr) if named is None else named.meaning[0]
    symbols, order = symbols_of([printed, computed]), topological([printed, computed])
    numbers = printed.dtype == "real" and not any(s.shape or s.dtype == "bool" for s in symbols)
    small = len(order) <= _EQUATIONS and len(symbols) <= _VARIABLES
    if printed is computed or not numbers or not small or not all_pointwise(order):
        return ()
    known = Conditions()
    facts = {s: known.facts(s) for s in symbols}
    for x in (s for s in symbols if s.dtype == "real"):
        others = {s: _typical_number(f) for s, f in facts.items() if s is not x}
        forms = substitute([printed, computed], {s: number(v) for s, v in others.items()})
        ranges = _loss_ranges(forms[0], forms[1], x, facts[x])
        if ranges:
            at = ", ".join(f"{s.name} = {v}" for s, v in others.items())
            keeps = "calls, kernels and sources keep" if expr.derived else ".stable() keeps"
            where = " or ".join(ranges[:_RANGES]) + (", and elsewhere" if len(ranges) > _RANGES else "")
            return (f"as printed, loses digits for {where}{f' (at {at})' if at else ''}; {keeps} them",)
    return ()


def _typical_number(facts: Facts) -> Fraction:
    """Return a number of an interval, 1 if that is one."""
    low, high = float(facts.low), float(facts.high)
    if low < 1 < high:
        return Fraction(1)
    if np.isfinite(low) and np.isfinite(high):
        middle = (Fraction(low) + Fraction(high)) / 2
        return Fraction(math.floor(middle)) if facts.integer else middle
    return Fraction(low) + 1 if np.isfinite(low) else Fraction(high) - 1


def _loss_ranges(printed: Node, computed: Node, x: Node, facts: Facts) -> list[str]:
    """Return the ranges of a variable in which the first form may lose digits, and the second does not."""
    values = CertainValues([computed])

    def loses(places: Any) -> Any:
        pairs = [value_and_change(values, {x: place}) for place in places.tolist()]
        known = np.array([pair is not None for pair in pairs])
        samples = CertainSamples([pair for pair in pairs if pair is not None])
        old, new = samples.loses_digits(evaluated([printed, computed], {x: places[known]}))
        known[known] = old & ~new
        return known

    places = OneVariable(printed, x, facts).places
    places = places[(np.abs(places) < _HUGE) & (np.abs(places) > 1 / _HUGE)]
    if not len(places) or not loss_points(printed, {x: places}).any():
        return []
    found: Any = np.flatnonzero(loses(places))
    if not len(found):
        return []
    breaks: Any = np.flatnonzero(np.diff(found) > _GAP)
    runs = zip(found[[0, *(breaks + 1)]].tolist(), found[[*breaks, -1]].tolist(), strict=True)
    return [_range_text(str(x.name), places, first, last, loses) for first, last in runs]


def _range_text(name: str, places: Any, first: int, last: int, loses: Callable[[Any], Any]) -> str:
    low = None if first == 0 else _threshold(places[first], places[first - 1], loses)
    high = None if last == len(places) - 1 else _threshold(places[last], places[last + 1], loses)
    if low is None:
        return f"all {name}" if high is None else f"{name} < {high}"
    return f"{name} > {low}" if high is None else f"{name} from {low} to {high}"


def _threshold(inside: float, outside: float, loses: Callable[[Any], Any]) -> str:
    """Return where a range ends between two numbers, with three digits."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if loses(np.array([middle]))[0] else (inside, middle)
    return f"{inside:.3g}"
