"""Draw sample points from the intervals of a graph's leaves; they are the same in every run.

They are a fixed sequence over the declared domains. They have moderate and extreme magnitudes, values near ends of
intervals and near numbers of the formula, and values that nearly agree.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from symgrad.ir.graph import Node, Op
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice.float_values import COMPUTED, float_of
from symgrad.rewrite.facts.intervals import Facts

# Numbers of points, with the largest exponent (of two) of their values.
_WIDTHS = ((8, 3), (8, 10), (20, 26), (4, 60), (2, 300), (4, 530), (2, 1000))
_SCALES = (-990, -700, -530, 530, 700, 990)  # exponents near which all values of a point lie
_ALONE = 4  # number of inputs that are 0 (or 1) while other inputs are not
_LARGEST = 1000  # largest exponent of values at the scale of a formula
_NEAR = 8  # number of points near numbers of the formula, and number of points with nearly equal values


_ARGUMENTS = tuple(sign * x for x in (20.0, 40.0, 200.0, 380.0, 500.0, 800.0, 2000.0) for sign in (1, -1))
"""Arguments of functions between which exponentials, their squares and sums with 1 round or overflow."""

_NEARBY = 0.01  # how far from these an argument may be, for example if it is no linear function of an input
_ARGUED = 4  # number of arguments that are large at points of their own


_Point: TypeAlias = "tuple[float, ...]"


def points_of(leaves: Sequence[Node], facts: Sequence[Facts], near: Sequence[float]) -> list[_Point]:
    """Return the points: a value for each leaf."""
    drawn, beside = _drawn(tuple([(f, leaf.dtype) for f, leaf in zip(facts, leaves, strict=True)]))
    points = list(drawn)
    for k, (place, sign, step) in enumerate(beside if leaves else ()):
        i = k % len(leaves)
        value = _inside(sign * near[k % len(near)] * step, facts[i], leaves[i].dtype)
        row = points[place]
        points[place] = (*row[:i], value, *row[i + 1 :])
    return points


@lru_cache(maxsize=16)
def _drawn(
    inputs: tuple[tuple[Facts, str], ...],
) -> tuple[Sequence[_Point], Sequence[tuple[int, int, float]]]:
    """Return the points that depend only on facts and dtypes of inputs, and places for numbers.

    A place for a number of the formula is a point, a sign and a factor for the number. All graphs with such inputs
    share these points, because drawing them takes as long as the analysis of a small graph.
    """
    draw = random.Random(20)  # a fixed sequence
    facts = [f for f, _ in inputs]
    points: list[_Point] = []
    beside: list[tuple[int, int, float]] = []

    limited = [
        (i, f, dtype)
        for i, (f, dtype) in enumerate(inputs)
        if f.integer or dtype != "real" or f.low > -math.inf or f.high < math.inf
    ]

    def keep(values: list[float]) -> None:
        for i, f, dtype in limited:
            values[i] = _inside(values[i], f, dtype)
        points.append(tuple(values))

    for count, width in _WIDTHS:
        columns = [_column(f, count, width, draw) for f in facts]
        for row in zip(*columns, strict=True):
            keep(list(row))
    for scale in _SCALES:
        keep([_spread(f, 9, draw, scale=scale) if _unbounded(f) else _spread(f, 99, draw) for f in facts])
    for number in (0.0, 1.0):
        keep([number for _ in facts])
        for k in range(min(len(facts), _ALONE)):
            keep([number if i == k else _spread(f, 3, draw) for i, f in enumerate(facts)])
    for k in range(_NEAR):
        step = 1 + draw.choice((-1, 1)) * draw.random() * 2.0 ** -(4 * k)
        beside.append((len(points), draw.choice((-1, 1, 1)), step))
        keep([1.0 if i == k % len(facts) else _spread(f, 3, draw) for i, f in enumerate(facts)])
        if len(facts) > 1:
            base = _spread(facts[0], 10, draw)
            keep([base * (1 + (draw.random() - 0.5) * 2.0 ** (-5 * k)) for _ in facts])
    return points, beside


def points_at(
    scale: Sequence[float], points: Sequence[_Point], leaves: Sequence[Node], facts: Sequence[Facts]
) -> list[_Point]:
    """Move points around 1 to points around the scale of a formula.

    Args:
        scale: the exponent (of two) of each leaf's size.
        points: the points around 1.
        leaves: the leaves of the graph.
        facts: the facts about the leaves.
    """
    moved = [
        round(e) if _unbounded(f) and leaf.dtype == "real" else 0
        for e, leaf, f in zip(scale, leaves, facts, strict=True)
    ]

    def value(v: float, e: int, leaf: Node, f: Facts) -> float:
        _, size = math.frexp(v)
        return (
            _inside(math.ldexp(v, max(min(e, _LARGEST - size), -_LARGEST - size)), f, leaf.dtype)
            if e and v
            else v
        )

    return [tuple(map(value, point, moved, leaves, facts)) for point in points]


def points_of_arguments(
    order: Sequence[Node], leaves: Sequence[Node], facts: Sequence[Facts], start: _Point
) -> list[_Point]:
    """Return points at which arguments of functions such as exp are large, and the inputs are not.

    Drawn points have large products and sums of several inputs only by chance.

    Args:
        order: the nodes of a graph, arguments first.
        leaves: the leaves of the graph.
        facts: the facts about the leaves.
        start: a point of ordinary size; one input moves from it at a time.
    """
    read = dict.fromkeys(a for n in order if len(n.args) == 1 and _leaves_range(n.op) for a in n.args)
    found: list[_Point] = []
    for argument in [a for a in read if a.dtype == "real"][:_ARGUED]:
        inside = topological([argument], until=leaves)
        for k, leaf in enumerate(leaves):
            if leaf.dtype != "real" or leaf not in inside:
                continue

            def at(values: Any, k: int = k, inside: Sequence[Node] = inside) -> Any:
                known: dict[Node, Any] = {x: values if i == k else start[i] for i, x in enumerate(leaves)}
                for n in inside:
                    if n not in known:
                        known[n] = float_of(n, [known[a] for a in n.args])
                return np.broadcast_to(known[inside[-1]], np.shape(values))

            with np.errstate(all="ignore"):
                here, there = at(np.array((start[k], 2 * start[k] + 1)))
                values = start[k] + (np.array(_ARGUMENTS) - here) / (there - here) * (start[k] + 1)
                met = np.abs(at(values) - _ARGUMENTS) < _NEARBY * np.abs(_ARGUMENTS)
            rows = [
                (*start[:k], value, *start[k + 1 :])
                for value in values[met].tolist()
                if _inside(value, facts[k], "real") == value
            ]
            found += rows
            if rows:
                break
    return found


@lru_cache(maxsize=128)
def _leaves_range(op: Op) -> bool:
    """Tell whether values of a function of one argument overflow or vanish where the argument is 800 or -800."""
    if op.name not in COMPUTED or op.parameters:
        return False
    with np.errstate(all="ignore"):
        return any(abs(float(op.evaluate(np.float64(x)))) in (0.0, math.inf) for x in (800, -800))


def _unbounded(f: Facts) -> bool:
    return math.isinf(f.low) or math.isinf(f.high)


def _column(f: Facts, count: int, width: int, draw: random.Random) -> list[float]:
    """Return numbers of all magnitudes up to a width, each with both signs, in random order."""
    step = 4 * width / count
    exponents = [step * (k + draw.random()) - width for k in range(count // 2) for _ in range(2)]
    found = [_spread(f, width, draw, e, 1.0 - 2 * (k % 2)) for k, e in enumerate(exponents)]
    draw.shuffle(found)
    return found


def _spread(
    f: Facts,
    width: int,
    draw: random.Random,
    exponent: float | None = None,
    sign: float | None = None,
    scale: int = 0,
) -> float:
    """Return a number of an interval: uniform for a small width, otherwise from a wide range of magnitudes."""
    low, high = float(f.low), float(f.high)
    size = (0.5 + draw.random() / 2) * 2.0 ** (draw.uniform(-width, width) if exponent is None else exponent)
    size = math.ldexp(size, scale)
    sign = draw.choice((-1.0, 1.0)) if sign is None else sign
    if math.isinf(low) and math.isinf(high):
        return sign * size
    if math.isinf(high):
        return low + size
    if math.isinf(low):
        return high - size
    if width <= 3:
        return low + (high - low) * draw.random()
    small = min(size, 1 / size)
    if low < 0 < high and draw.random() < 0.5:
        return small * (high if sign > 0 else low)
    return low + (high - low) * small if sign > 0 else high - (high - low) * small


def _inside(value: float, f: Facts, dtype: str) -> float:
    """Return a value in an interval: the value itself, or a value inside the end that it reaches or exceeds."""
    low, high = float(f.low), float(f.high)
    if dtype == "bool":
        return float(value > 1)
    whole = f.integer or dtype == "int"
    if whole:
        value = float(round(max(min(value, 1e15), -1e15)))
    length = high - low

    def step(end: float) -> float:
        return (
            min(length, 1.0) if whole else length / 3 if length < math.inf else max(1.0, abs(end) * 2.0**-20)
        )

    if value < low or (value == low and f.low_open):
        value = low + step(low)
    if value > high or (value == high and f.high_open):
        value = high - step(high)
    return value
