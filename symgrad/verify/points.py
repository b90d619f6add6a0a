"""Exact points at which to try a statement: inside the declared domains, the same ones in every run."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from symgrad.errors import UsageError
from symgrad.proof.lengths import length, names_in
from symgrad.proof.steps import Program, Symbol

__all__ = ["Point", "lengths_of", "points_of"]

_Draw: TypeAlias = "Callable[[Symbol], Fraction]"

_SPECIAL = tuple(Fraction(t) for t in ("1", "0", "-1", "1/2", "2", "3", "-1/2", "-2", "1/3", "10"))
_FEW_CONSTANTS = 12
_LARGEST_CONSTANT = 10**30
_BESIDE = Fraction(17, 16)  # of a threshold: floor does not jump there
_AGAIN = 200  # draws of points that were there before, after which there are no others
_LOOKED_AT = 4000  # steps that are read for constants and for the seed
_LARGEST_INDEX = 6
_THROUGH = frozenset({"reshape", "broadcast_to", "slice", "stop_gradient"})


@dataclass(frozen=True, slots=True)
class Point:
    """A value for every variable, a Fraction, a truth value or nested lists of them; and the lengths of axes."""

    values: Mapping[str, Any]
    sizes: Mapping[str, int]


def points_of(program: Program) -> Iterator[Point]:
    """Yield points, generic small ones first, then special ones, then of several magnitudes; without end if there are.

    A program without variables has one point, one whose domains are empty none.

    Args:
        program: its symbols say what values they take; its numbers are tried as thresholds.
    """
    scalars = [s for s in program.symbols if not s.shape]
    if any(s.low is not None and s.high is not None and not _interval(s) for s in program.symbols):
        return
    seen: set[str] = set()
    again = 0
    for choose, sizes in _plan(program, scalars):
        try:
            values = {s.name: _fill(s, choose, sizes) for s in program.symbols}
        except UsageError:
            continue
        key = repr((sorted(values.items()), sorted(sizes.items())))
        if key not in seen:
            seen.add(key)
            yield Point(values, sizes)
            again = 0
        elif (again := again + 1) > _AGAIN:
            return
        if not program.symbols:
            return


def _plan(
    program: Program, scalars: list[Symbol]
) -> Iterator[tuple[Callable[[Symbol], Any], dict[str, int]]]:
    rng = random.Random(zlib.crc32(repr((program.steps[:_LOOKED_AT], program.symbols)).encode()))
    many_sizes = _sizes(program)
    bounds = _index_bounds(program)

    def drawn(style: str, k: int) -> tuple[Callable[[Symbol], Any], dict[str, int]]:
        sizes = many_sizes[k % len(many_sizes)]
        return lambda s: _random(s, style, rng, bounds, sizes), sizes

    for k, style in enumerate(["positive", "positive", "signed", "positive", "signed"]):
        yield drawn(style, 0 if k < 3 else k)
    values = _special_values(program)
    for value in values:
        yield lambda s, v=value: _nearest(s, v, rng, bounds, many_sizes[0]), many_sizes[0]
    if len(scalars) > 1:
        place = {s.name: i for i, s in enumerate(program.symbols)}
        for turn, step in product(range(len(values)), (1, 2)):
            yield (
                lambda s, t=turn, d=step: _nearest(
                    s, values[(t + d * place[s.name]) % len(values)], rng, bounds, many_sizes[0]
                ),
                many_sizes[0],
            )
    k = 0
    while True:
        for style in ("signed", "positive", "unit", "above one", "wide", "positive", "near", "large"):
            yield drawn(style, k)
            k += 1


def _special_values(program: Program) -> list[Fraction]:
    found = dict.fromkeys(_SPECIAL)
    constants: dict[Fraction, None] = {}
    for step in program.steps[:_LOOKED_AT]:
        if (
            step.op == "number"
            and not isinstance(step.params[0], bool)
            and abs(step.params[0]) < _LARGEST_CONSTANT
        ):
            constants.setdefault(Fraction(step.params[0]))
        if len(constants) >= _FEW_CONSTANTS:
            break
    for c in constants:
        found.update(dict.fromkeys((c, -c, c + _BESIDE, c - _BESIDE)))
    return list(found)


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
    if symbol.kind == "bool" or symbol.name in bounds or symbol.shape:
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


def _fill(symbol: Symbol, choose: Callable[[Symbol], Any], sizes: Mapping[str, int]) -> Any:
    lengths = [length(n, sizes) for n in symbol.shape]

    def nested(axis: int) -> Any:
        return choose(symbol) if axis == len(lengths) else [nested(axis + 1) for _ in range(lengths[axis])]

    if symbol.symmetric:
        rows: list[list[Any]] = [[choose(symbol) for _ in range(i + 1)] for i in range(lengths[0])]
        return [[rows[max(i, j)][min(i, j)] for j in range(lengths[0])] for i in range(lengths[0])]
    return nested(0)


def lengths_of(program: Program) -> list[int | str]:
    """Return every length that a program mentions, each once."""
    found: dict[int | str, None] = {}
    for symbol in program.symbols:
        found.update(dict.fromkeys(symbol.shape))
    for step in program.steps:
        if step.shape:
            found.update(dict.fromkeys(step.shape))
        if step.op == "size":
            found.setdefault(step.params[0])
    return list(found)


def _sizes(program: Program) -> list[dict[str, int]]:
    """Return lengths for the names: distinct ones first, so that a wrong axis shows."""
    lengths = lengths_of(program)
    names = names_in(lengths)
    if not names:
        return [{}]
    rows = [
        [2 + i % 4 for i in range(len(names))],
        [3 - i % 3 for i in range(len(names))],
        [3 + i % 3 for i in range(len(names))],
        [5 + i for i in range(len(names))],
    ]
    found = [dict(zip(names, row, strict=True)) for row in rows]
    return (
        [s for s in found[:3] if _possible(lengths, s)]
        or [s for s in found[3:] if _possible(lengths, s)]
        or [found[0]]
    )


def _possible(lengths: list[int | str], sizes: Mapping[str, int]) -> bool:
    try:
        return all(length(n, sizes) > 0 for n in lengths if isinstance(n, str))
    except UsageError:
        return False


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
