"""Search an array program for two draws of a random input that give different gradients: the witness.

As in `witness`, float64 finds candidates, and evaluation at exact points in two high precisions decides. Named sizes
are set to small numbers. A witness is rejected if rounding might decide a comparison near the point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from symgrad.analysis.explain.limits import PRECISE_WORK
from symgrad.analysis.explain.noise.points_across_kinks import straddling
from symgrad.analysis.explain.noise.precision import PrecisionPair, is_continuous_at, is_finite
from symgrad.analysis.explain.noise.sample_points import (
    as_floats,
    domain_of,
    draws,
    entries,
    hash_of,
    value_at,
)
from symgrad.analysis.explain.noise.witness import Evidence, NoiseWitness, requirements
from symgrad.ir.graph import NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Number
from symgrad.ir.values.evaluate import evaluate
from symgrad.support.errors import SymgradError

_POINTS = 6
_SMALL = 3
"""Further points, with entries an eighth as large: larger entries saturate a network of several layers."""

_STRADDLED = 2
_PAIRS = ((0, 1), (2, 3))
_DIGITS = (50, 90)


def find_array_evidence(
    y: Node, gradients: Sequence[Node], source: Node, *, straddle: bool = False
) -> Evidence | None:
    """Search for two draws of a random input that give different gradients.

    Args:
        y: the differentiated value, which must exist at the point.
        gradients: the gradients.
        source: the random input, a symbol of any shape.
        straddle: whether to try only points that have kinks or thresholds between the two draws; otherwise other
            points.

    Returns:
        The evidence; None if no pair was found, which proves nothing.
    """
    order = topological([y, *gradients, *requirements([y, *gradients, source])])
    symbols = symbols_of([*order, source])
    inputs = [s for s in symbols if s is not source]
    names = names_of(
        *((n.shape, n.params if n.op is SIZE else ()) for n in (*inputs, source, *order)),
        *(s.declaration.values.sizes for s in symbols),
    )
    landmarks = [n.value for n in order if n.op is NUMBER and not isinstance(n.value, bool)]
    for index in range(_STRADDLED if straddle else _POINTS + _SMALL):
        size = Fraction(1, 8) if index >= _POINTS else 1
        sizes = {name: 2 + (i + index) % 3 for i, name in enumerate(names)}
        every = draws(source, landmarks, sizes)
        # If an entry is equal to a landmark, some comparison ties; so draws without landmarks are tried as well.
        choices = ([v for v in every if v not in landmarks] or every, every)
        try:
            if _work(order, sizes) > PRECISE_WORK:
                return None
            point = {s: filled(s, sizes, partial(entry, s, index, size), index) for s in inputs}
            for pair, candidates in zip(_PAIRS, choices, strict=True):
                sides = tuple(
                    filled(source, sizes, partial(draw_entry, source, candidates, d, size), d) for d in pair
                )
                for there in straddling(order, source, sides, point) if straddle else (point,):
                    evidence = _decide(order, y, gradients, source, there, sides)
                    if evidence is not None:
                        return evidence
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
            continue  # the point is outside the domain of an op, or of an axis
    return None


def _work(order: Sequence[Node], sizes: Mapping[str, int]) -> int:
    total = 0
    for node in order:
        total += prod(evaluate_size(s, sizes) for s in node.shape)
        if node.op.name == "einsum":
            lengths = {
                label: evaluate_size(size, sizes)
                for own, arg in zip(node.params[0], node.args, strict=True)
                for label, size in zip(own, arg.shape, strict=True)
            }
            total += prod(lengths.values())
    return total


def filled(symbol: Node, sizes: Mapping[str, int], value: Callable[[int], Any], number: int) -> Any:
    """Return a value for a symbol: a number, or an array of exact numbers of dtype object.

    Args:
        symbol: the symbol.
        sizes: the lengths of axes.
        value: a function that returns the entries by their positions, if they are independent.
        number: the number of the draw, if entries depend on one another.

    Raises:
        ValueError: if there are not enough different values.
    """
    shape = tuple(evaluate_size(s, sizes) for s in symbol.shape)
    if not shape:
        return value(0)
    distribution = symbol.declaration.distribution
    if distribution is not None and not distribution.family.independent:
        return _different(symbol, shape, _count(symbol, sizes), number)
    array = np.empty(shape, dtype=object)
    for i, place in enumerate(product(*map(range, shape))):
        array[place] = value(i)
    if symbol.declaration.symmetric:
        rows, columns = np.triu_indices(shape[0])
        array[columns, rows] = array[rows, columns]
    return array


def _count(symbol: Node, sizes: Mapping[str, int]) -> int:
    """Return how many values a symbol can take, counted from 0."""
    high = domain_of(symbol, sizes).high
    if not isinstance(high, int):
        raise ValueError(f"{symbol.name} takes any number of values")
    return high + 1


def _different(symbol: Node, shape: tuple[int, ...], count: int, number: int) -> Any:
    """Return the first entries of a pseudo-random permutation."""
    if shape[0] > count:
        raise ValueError(f"{shape[0]} different positions out of {count}")
    order = sorted(range(count), key=lambda k: hash_of(symbol.name, number, k))
    return np.array(order[: shape[0]], dtype=object)


def entry(symbol: Node, index: int, size: Number, i: int) -> Number | bool:
    """Return entry i of an input at a sample point. Integers are mostly indices, so the entries are 0 or 1."""
    if symbol.shape and symbol.dtype == "int":
        return hash_of(symbol.name, index, i) % 2
    return _sized(symbol, value_at(symbol, hash_of(index, i) % 1009 if symbol.shape else index), size)


def draw_entry(
    source: Node, candidates: Sequence[Number | bool], draw: int, size: Number, i: int
) -> Number | bool:
    """Return entry i of a draw. Entries differ, so that a dependence on their differences is seen."""
    return _sized(source, candidates[hash_of(source.name, draw, i) % len(candidates)], size)


def _sized(symbol: Node, value: Number | bool, size: Number) -> Number | bool:
    """Scale a value of an unbounded real symbol."""
    domain = domain_of(symbol)
    free = domain.low is None and domain.high is None and symbol.dtype == "real"
    return value * Fraction(size) if free and symbol.shape and size != 1 else value


def _decide(
    order: list[Node],
    y: Node,
    gradients: Sequence[Node],
    source: Node,
    point: Mapping[Node, Any],
    sides: tuple[Any, ...],
) -> Evidence | None:
    near: list[list[Any]] = []
    for side in sides:
        at = {s: as_floats(s, v) for s, v in {**point, source: side}.items()}
        near.append(evaluate([y, *gradients], at))
    if not all(np.all(np.isfinite(v)) for values in near for v in values):
        return None
    if all(np.allclose(a, b, rtol=1e-7, atol=0) for a, b in zip(near[0][1:], near[1][1:], strict=True)):
        return None
    level = PrecisionPair(_DIGITS)
    found: list[tuple[dict[Node, Any], dict[Node, Any]]] = []
    for side in sides:
        rows = level.evaluate(order, {**point, source: side})
        for mp, values in zip(level.contexts, rows, strict=True):
            if not all(is_finite(mp, e) for n in (y, *gradients) for e in entries(values[n])):
                return None
            if not all(np.all(values[c]) for c in requirements([y, *gradients])):
                return None  # the value is outside the support of a distribution
        found.append(rows)
    low, high = ([rows[k] for rows in found] for k in (0, 1))
    for i, gradient in enumerate(gradients):
        place = _place(level, low, high, gradient)
        if place is None:
            continue
        if not all(settled(level, order, *rows) for rows in zip(low, high, strict=True)):
            return None
        texts = level.texts(*([_at(side[gradient], place) for side in rows] for rows in (low, high)))
        values = {s.name: _listed(v) for s, v in point.items()}
        pair = (_listed(sides[0]), _listed(sides[1]))
        witness = NoiseWitness(values, pair, i, texts, source.name, place)
        return Evidence(witness, high[0], high[1], level)
    return None


def _at(value: Any, place: tuple[int, ...]) -> Any:
    return np.asarray(value, dtype=object)[place]


def _place(level: PrecisionPair, low: Any, high: Any, node: Node) -> tuple[int, ...] | None:
    """Return the first entry of a gradient in which the draws differ, by the same amount at both precisions."""
    shape = np.shape(low[0][node])
    for place in np.ndindex(*shape):
        (a, b), (c, d) = ([_at(values[node], place) for values in rows] for rows in (low, high))
        if level.differ(c, d) and not abs((b - a) - (d - c)) > level.margin * abs(d - c):
            return place
    return None


def _listed(value: Any) -> Any:
    return np.asarray(value, dtype=object).tolist()


# --------------------------------------------------------------------------------------------------------- near ties


def settled(
    level: PrecisionPair, order: Sequence[Node], values: Mapping[Node, Any], finer: Mapping[Node, Any]
) -> bool:
    """Tell whether rounding cannot have changed a comparison, a jump or the choice of an index."""
    exact: set[Node] = set()
    for node in order:
        moved = (
            not node.op.pointwise and node.op.array.entries == "moved" and all(a in exact for a in node.args)
        )
        if node.op in (SYMBOL, NUMBER, SIZE) or node.dtype != "real" or moved:
            exact.add(node)

    def doubt(node: Node) -> Any:
        coarse, fine = (np.asarray(v[node], dtype=object) for v in (values, finer))
        return np.zeros(coarse.shape, dtype=object) if node in exact else level.doubt(coarse, fine)

    # All other ops are continuous, also max and min; indices were checked at the op that computes them.
    jumping = [n for n in order if _is_position(n) or (n.op.pointwise and (n.dtype == "bool" or n.op.kinks))]
    inexact = [n for n in jumping if not exact.issuperset(n.args)]
    return all(_sure(level, n, values, [doubt(a) for a in n.args]) for n in inexact)


def _is_position(node: Node) -> bool:
    return not node.op.pointwise and "piecewise-constant" in node.op.facts


def _sure(level: PrecisionPair, node: Node, values: Mapping[Node, Any], doubts: Sequence[Any]) -> bool:
    args = [np.asarray(values[a], dtype=object) for a in node.args]
    if _is_position(node):
        return _is_unique(args[0], doubts[0], node.params[0])
    if node.op.name == "eq" and _is_extreme_of(node.args[1], node.args[0]):
        return _one_hit(node, values, args, doubts)
    operands, off = (
        list(zip(*(np.ravel(a) for a in np.broadcast_arrays(*arrays)), strict=True))
        for arrays in (args, doubts)
    )
    if node.dtype == "bool":
        return all(abs(a - b) > sum(d) for (a, b), d in zip(operands, off, strict=True))
    results = zip(entries(values[node]), operands, off, strict=True)
    return all(is_continuous_at(level, node, r, e, d) for r, e, d in results)


def _is_unique(x: Any, doubts: Any, axis: int | None) -> bool:
    rows, off = (
        np.reshape(v, (1, -1)) if axis is None else np.moveaxis(v, axis, -1).reshape(-1, v.shape[axis])
        for v in (x, doubts)
    )
    for row, around in zip(rows, off, strict=True):
        ordered = sorted(zip(row, around, strict=True))
        for end in (ordered[:2], ordered[-2:]):
            if len(end) == 2 and not end[1][0] - end[0][0] > end[0][1] + end[1][1]:
                return False
    return True


def _without_reshape(node: Node) -> Node:
    while node.op.name in ("reshape", "broadcast_to"):
        node = node.args[0]
    return node


def _is_extreme_of(node: Node, x: Node) -> bool:
    inner = _without_reshape(node)
    return inner.op.name in ("max", "min") and inner.args[0] is x


def _one_hit(node: Node, values: Mapping[Node, Any], args: Sequence[Any], doubts: Sequence[Any]) -> bool:
    """Tell whether each reduction has exactly one extreme entry, and all other entries are clearly smaller or larger.

    The extreme entry is then the same for any rounding.
    """
    inner = _without_reshape(node.args[1])
    a, b, off = (np.ravel(v) for v in np.broadcast_arrays(*args, sum(doubts)))
    hits = sum(1 for p, q in zip(a, b, strict=True) if p == q)
    clear = all(p == q or abs(p - q) > d for p, q, d in zip(a, b, off, strict=True))
    return clear and hits == np.size(np.asarray(values[inner], dtype=object))
