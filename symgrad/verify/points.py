"""Exact points at which to try a statement: inside the declared domains, the same ones in every run."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias, cast

from symgrad.errors import UsageError
from symgrad.proof.ball_entries import LARGEST_ARRAY
from symgrad.proof.clock import tick
from symgrad.proof.lengths import length
from symgrad.proof.steps import Program, Symbol
from symgrad.verify.axes import sizes_of
from symgrad.verify.thresholds import between, literals

__all__ = ["Point", "points_of"]

_Planned: TypeAlias = "tuple[Callable[[Symbol], Any], dict[str, int]]"
"""How to choose a value, and the lengths of axes."""

_SPECIAL = tuple(Fraction(t) for t in ("1", "0", "-1", "1/2", "2", "3", "-1/2", "-2", "1/3", "10"))
_COMMON = 5  # of the special values: those that entries of arrays have most often
_BESIDE = Fraction(17, 16)  # of a threshold: floor does not jump there
_AGAIN = 200  # draws of points that were there before, after which there are no others
_LOOKED_AT = 4000  # steps that are read for the seed
_LARGEST_INDEX = 6
_THROUGH = frozenset({"reshape", "broadcast_to", "slice", "stop_gradient"})


@dataclass(frozen=True, slots=True)
class Point:
    """A value for every variable, a Fraction, a truth value or nested lists of them; and the lengths of axes."""

    values: Mapping[str, Any]
    sizes: Mapping[str, int]


def points_of(program: Program) -> Iterator[Point]:
    """Yield points, generic small ones first, then special ones, then of several magnitudes; without end if there are.

    A program without variables has one point for each choice of sizes, one whose domains are empty none.

    Args:
        program: its symbols say what values they take; its numbers are tried as thresholds.

    Raises:
        TimeoutError: at the deadline of `symgrad.proof.clock`.
    """
    scalars = [s for s in program.symbols if not s.shape]
    if any(s.low is not None and s.high is not None and not _interval(s) for s in program.symbols):
        return
    seen: set[Any] = set()
    again = 0
    for choose, sizes in _plan(program, scalars):
        try:
            if any(_entries(s, sizes) > LARGEST_ARRAY for s in program.symbols):
                if (again := again + 1) > _AGAIN:
                    return
                continue
            values = {s.name: _fill(s, choose, sizes) for s in program.symbols}
        except UsageError:
            continue
        key = _frozen(sorted(values.items())), tuple(sorted(sizes.items()))
        if key not in seen:
            seen.add(key)
            yield Point(values, sizes)
            again = 0
        elif (again := again + 1) > _AGAIN:
            return


def _frozen(values: Any) -> Any:
    """Nested lists as nested tuples, and numbers apart from truth values."""
    if isinstance(values, list | tuple):
        return tuple(_frozen(v) for v in cast("Sequence[Any]", values))
    return type(values), values


def _plan(program: Program, scalars: list[Symbol]) -> Iterator[_Planned]:
    rng = random.Random(zlib.crc32(repr((program.steps[:_LOOKED_AT], program.symbols)).encode()))
    first, others = sizes_of(program)
    every = [*first, *others]
    bounds = _index_bounds(program)
    arrays = len(scalars) < len(program.symbols)
    values, more = _special_values(program)

    def drawn(style: str, sizes: dict[str, int]) -> _Planned:
        return lambda s: _random(s, style, rng, bounds, sizes), sizes

    def special(value: Callable[[Symbol], Fraction], sizes: dict[str, int]) -> _Planned:
        return lambda s: _nearest(s, value(s), rng, bounds, sizes), sizes

    def mixed(value: Fraction, sizes: dict[str, int]) -> _Planned:
        """Entries of arrays among a few common values, so that there are zeros, and some are equal."""
        few = [value, *_SPECIAL[:_COMMON]]
        return special(lambda s: rng.choice(few) if s.shape else value, sizes)

    for k, style in enumerate(["positive", "positive", "signed", "positive", "signed"]):
        yield drawn(style, first[0 if k < 3 else k % len(first)])
    if arrays:
        for value in values[:_COMMON]:
            yield mixed(value, first[0])
    for sizes in others:
        yield drawn("positive", sizes)
        yield drawn("signed", sizes)
    for k, value in enumerate(values):
        yield special(lambda _s, v=value: v, first[0])
        if arrays:
            yield mixed(value, every[k % len(every)])
    if len(scalars) > 1:
        place = {s.name: i for i, s in enumerate(program.symbols)}
        for turn, step in product(range(len(values)), (1, 2)):
            yield special(lambda s, t=turn, d=step: values[(t + d * place[s.name]) % len(values)], first[0])
    for k, value in enumerate(more):
        yield special(lambda _s, v=value: v, first[0])
        if arrays:
            yield mixed(value, every[k % len(every)])
        if len(scalars) > 1:
            one = scalars[k % len(scalars)]
            near = _random(one, "signed", rng, {}, {})
            yield special(lambda s, v=value, w=near, o=one: v if s is o else w, first[0])
    k = 0
    while True:
        for style in ("signed", "positive", "unit", "above one", "wide", "positive", "near", "large"):
            yield drawn(style, every[k % len(every)])
            k += 1


def _special_values(program: Program) -> tuple[list[Fraction], list[Fraction]]:
    """Small numbers, those of the formulas and some beside them; and further ones where formulas may change."""
    found = dict.fromkeys(_SPECIAL)
    for c in literals(program):
        found.update(dict.fromkeys((c, -c, c + _BESIDE, c - _BESIDE)))
    return list(found), [c for c in between(program) if c not in found]


# ------------------------------------------------------------------------------------------------------------ numbers


def _interval(symbol: Symbol) -> bool:
    """Tell whether a variable can have any value."""
    low, high = symbol.low, symbol.high
    if low is None or high is None or symbol.kind == "bool":
        return True
    return low < high and (symbol.kind != "int" or low.__floor__() + 1 < high)


def _within(symbol: Symbol, value: Fraction) -> Fraction:
    """Move a number, by its size and sign alone, into the domain of a variable."""
    low, high = symbol.low, symbol.high
    if symbol.kind == "int":
        value = Fraction(round(value))
        least = None if low is None else low.__floor__() + 1
        most = None if high is None else high.__ceil__() - 1
        if least is not None and most is not None:
            return Fraction(least + int(abs(value)) % (most - least + 1))
        if least is not None and value < least:
            return least + abs(value)
        return most - abs(value) if most is not None and value > most else value
    if (low is None or value > low) and (high is None or value < high):
        return value
    size = abs(value) or Fraction(1, 4)
    if low is not None and high is not None:
        return low + (high - low) * (size / (size + 1))
    if low is not None:
        return low + size
    return high - size if high is not None else value


def _nearest(
    symbol: Symbol,
    value: Fraction,
    rng: random.Random,
    bounds: Mapping[str, list[int | str]],
    sizes: Mapping[str, int],
) -> Any:
    if symbol.kind == "bool" or symbol.name in bounds:
        return _random(symbol, "signed", rng, bounds, sizes)
    return _within(symbol, value)


def _random(
    symbol: Symbol,
    style: str,
    rng: random.Random,
    bounds: Mapping[str, list[int | str]],
    sizes: Mapping[str, int],
) -> Any:
    if symbol.kind == "bool":
        return rng.random() < 0.5
    if symbol.name in bounds:
        return Fraction(rng.randrange(max(1, min(length(b, sizes) for b in bounds[symbol.name]))))
    if symbol.kind == "int":
        reach = 40 if style in ("wide", "large") else _LARGEST_INDEX
        return _within(symbol, Fraction(rng.randint(0 if style == "positive" else -reach // 2, reach)))
    fine = 16 if symbol.shape else 1  # many entries: two of them rarely tie
    match style:
        case "positive":
            value = Fraction(rng.randint(13 * fine, 160 * fine), 64 * fine)
        case "unit":
            value = Fraction(rng.randint(-63, 63), 64)
        case "above one":
            value = 1 + Fraction(rng.randint(1, 60), rng.choice((7, 16, 24)))
        case "near":
            value = rng.choice((-1, 0, 1, 1)) + Fraction(rng.randint(-16, 16), 1024)
        case "wide":
            value = rng.choice((-1, 1)) * Fraction(rng.randint(8, 15), 8) * Fraction(2) ** rng.randint(-9, 6)
        case "large":
            value = rng.choice((-1, 1)) * Fraction(rng.randint(3, 1000))
        case _:
            value = Fraction(rng.randint(-160 * fine, 160 * fine), 64 * fine)
    return _within(symbol, value)


# ------------------------------------------------------------------------------------------------------------- arrays


def _entries(symbol: Symbol, sizes: Mapping[str, int]) -> int:
    return math.prod(length(n, sizes) for n in symbol.shape)


def _fill(symbol: Symbol, choose: Callable[[Symbol], Any], sizes: Mapping[str, int]) -> Any:
    lengths = [length(n, sizes) for n in symbol.shape]

    def nested(axis: int) -> Any:
        tick()
        return choose(symbol) if axis == len(lengths) else [nested(axis + 1) for _ in range(lengths[axis])]

    if symbol.symmetric:
        rows: list[list[Any]] = [[choose(symbol) for _ in range(i + 1)] for i in range(lengths[0])]
        return [[rows[max(i, j)][min(i, j)] for j in range(lengths[0])] for i in range(lengths[0])]
    return nested(0)


def _index_bounds(program: Program) -> dict[str, list[int | str]]:
    """Return for the variables that are used as positions the lengths of the axes that they index."""
    bounds: dict[str, list[int | str]] = {}

    def note(at: int, size: int | str) -> None:
        step = program.steps[at]
        while step.op in _THROUGH:
            step = program.steps[step.args[0]]
        if step.op == "symbol":
            bounds.setdefault(step.params[0], []).append(size)

    for step in program.steps:
        if step.op in ("gather", "scatter_add"):
            whole = program.steps[step.args[0]].shape if step.op == "gather" else step.shape
            axes: tuple[int, ...] = step.params[0]
            for a, axis in zip(step.args[1:], axes, strict=True):
                note(a, whole[axis])
        elif step.op == "one_hot":
            note(step.args[0], step.params[0])
    return bounds
