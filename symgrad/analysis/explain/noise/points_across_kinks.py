"""Find points at which a kink, a jump or a threshold lies between two draws of a random input.

If the noise is narrow, usually all draws lie on one side at a random point: `maximum(x, u)` separates them only for x
in the support of u. So one input is moved to a value at which a comparison, a `maximum` or the argument of `abs` ties
for a value of the noise between the two draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.analysis.explain.limits import (
    STRADDLE_POINTS,
    STRADDLED_ENTRIES,
    STRADDLED_INPUTS,
    STRADDLED_KINKS,
)
from symgrad.analysis.explain.noise.dependence import readers
from symgrad.analysis.explain.noise.sample_points import as_floats, domain_of, inside, place_in
from symgrad.ir.graph import Node
from symgrad.ir.types import Number
from symgrad.ir.values.evaluate import evaluate
from symgrad.verification.points.roots import root_between

Point: TypeAlias = "Mapping[Node, Any]"

_DIGITS = 40

_TAIL = [Fraction(1, 2**k) for k in (2, 3, 4, 5, 7, 10, 14, 20, 27, 40)]
_PLACES = sorted({*_TAIL, *(1 - t for t in _TAIL), *(Fraction(k, 16) for k in range(1, 16))})


def straddling(
    order: Sequence[Node], source: Node, draws: Sequence[Any], point: Point
) -> Iterator[dict[Node, Any]]:
    """Yield variants of a point in which one input is moved such that something ties between two draws.

    Args:
        order: nodes, each after its arguments.
        source: the random input.
        draws: two exact values of the random input.
        point: exact values of the other inputs.

    Raises:
        SymgradError, ArithmeticError: if the nodes cannot be evaluated there.
    """
    noisy = readers(order, [source])
    moved = 0
    for s in point:
        kinks = _kinks(order, noisy & readers(order, [s]))
        if s.dtype == "bool" or not kinks or (s.shape and (s.dtype == "int" or np.size(point[s]) == 0)):
            continue
        moved += 1
        if moved > STRADDLED_INPUTS:
            return
        for number in _between(kinks, source, draws, point, s):
            if inside(domain_of(s), number):
                yield {**point, s: _replaced(point[s], s, number)}


def _kinks(order: Sequence[Node], among: set[Node]) -> list[tuple[Node, Node | None]]:
    """Return the pairs of nodes that may tie; None stands for zero."""
    found: dict[tuple[Node, Node | None], None] = {}
    for node in order:
        if node not in among:
            continue
        if all(a.dtype != "bool" for a in node.args):
            pairs = ((node.args[0], None if i is None else node.args[i]) for _, i in node.op.switches)
            found.update(dict.fromkeys(pairs))
    return list(found)


def _between(
    kinks: Sequence[tuple[Node, Node | None]], source: Node, draws: Sequence[Any], point: Point, s: Node
) -> list[Number]:
    """Return numbers for an input, or its first entry, at which some pair has the draws on different sides."""
    wanted = list(dict.fromkeys(n for pair in kinks for n in pair if n is not None))
    others = {n: as_floats(n, v) for n, v in point.items()}
    noise = [as_floats(source, d) for d in draws]

    def differences(number: Any, draw: int) -> Any:
        at = {**others, s: as_floats(s, _replaced(point[s], s, number)), source: noise[draw]}
        values = dict(zip(wanted, evaluate(wanted, at), strict=True))
        flat: list[Any] = []
        for a, b in kinks:
            gap = np.asarray(values[a], dtype=float) - np.asarray(0 if b is None else values[b], dtype=float)
            flat += gap.ravel()[:STRADDLED_ENTRIES].tolist()
        return np.array(flat[:STRADDLED_KINKS])

    grid = list(dict.fromkeys(cast("Number", place_in(domain_of(s), t)) for t in _PLACES))
    rows = [np.array([differences(number, k) for number in grid]) for k in (0, 1)]
    signs = [np.sign(r) for r in rows]
    found: dict[Number, None] = {}
    for e in range(rows[0].shape[1]):
        apart = signs[0][:, e] * signs[1][:, e] < 0
        if apart.any():
            found.setdefault(min((grid[int(i)] for i in np.flatnonzero(apart)), key=abs))
            continue
        turns = np.logical_and(*(g[:-1, e] * g[1:, e] < 0 for g in signs))
        if turns.any():
            i = int(np.argmax(turns))
            ends = float(grid[i]), float(grid[i + 1])
            roots = [root_between(lambda x, k=k, e=e: float(differences(x, k)[e]), *ends) for k in (0, 1)]
            number = _short(min(roots), max(roots), whole=s.dtype == "int")
            if number is not None:
                found.setdefault(number)
        if len(found) >= STRADDLE_POINTS:
            break
    return list(found)


def _short(low: float, high: float, *, whole: bool) -> Number | None:
    """Return the shortest decimal that is clearly between two numbers.

    Example:
        >>> _short(0.908, 1.092, whole=False), _short(2.2, 2.4, whole=True)
        (1, None)
    """
    if not math.isfinite(low) or not low < high:
        return None
    first, last = Fraction(low), Fraction(high)
    middle, room = (first + last) / 2, (last - first) / 4
    for digits in range(1 if whole else _DIGITS):
        number = Fraction(round(middle * 10**digits), 10**digits)
        if abs(number - middle) <= (2 * room if whole else room) and first < number < last:
            return int(number) if number.denominator == 1 else number
    return None


def _replaced(value: Any, s: Node, number: Any) -> Any:
    """Replace a number, or the first entry of an array."""
    if not s.shape:
        return number
    array = value.copy()
    array[(0,) * array.ndim] = number
    return array
