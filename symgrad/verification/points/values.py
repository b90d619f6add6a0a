"""Draw the value of a variable from its domain, in one of several styles, or move a number into the domain."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from symgrad.checker.balls.programs import in_interval
from symgrad.checker.program.length_values import length_value
from symgrad.checker.program.steps import ProofProgram, Symbol
from symgrad.verification.limits import LARGEST_INDEX, SCALED_INPUTS, SHORTENED_POINTS

Style: TypeAlias = Literal[
    "positive", "signed", "unit", "above one", "wide", "near", "large", "odd", "huge", "tiny", "ends"
]
STYLES: tuple[Style, ...] = (
    "signed", "odd", "unit", "above one", "wide", "ends", "positive", "near", "huge", "odd", "large", "tiny",
)  # fmt: skip
"""The order in which further points are drawn."""

_PRIMES = (101, 127, 139, 257, 311, 397, 503, 613, 719, 839, 941, 997)
_LARGE_PRIMES = (10_007, 99_991, 1_000_003)
"""Denominators of some numbers: a formula such as sin(720*pi*x), which vanishes at all simple fractions, does not
vanish there."""

_SHORT = (1, 2, 4, 8, 10, 16, 64)  # denominators of short numbers
_SCALE = Fraction(1000)
_PLAIN = 4  # the largest denominator of a simple number

THROUGH = frozenset({"reshape", "broadcast_to", "slice", "stop_gradient"})


@dataclass(frozen=True, slots=True)
class Positions:
    """The axes that a variable indexes.

    Args:
        lengths: the lengths of axes of gathers and scatters: valid positions are -length to length - 1.
        depths: the lengths of axes of `one_hot`, for which every integer is valid.
    """

    lengths: tuple[int | str, ...]
    depths: tuple[int | str, ...]


def positions_of(program: ProofProgram) -> dict[str, Positions]:
    """Return the axes that each index variable indexes."""
    found: dict[str, tuple[list[int | str], list[int | str]]] = {}

    def note(at: int, size: int | str, *, counts: bool = False) -> None:
        step = program.steps[at]
        while step.op in THROUGH:
            step = program.steps[step.args[0]]
        if step.op == "symbol":
            found.setdefault(step.params[0], ([], []))[counts].append(size)

    for step in program.steps:
        if step.op in ("gather", "scatter_add"):
            shape = program.steps[step.args[0]].shape if step.op == "gather" else step.shape
            axes: tuple[int, ...] = step.params[0]
            for a, axis in zip(step.args[1:], axes, strict=True):
                note(a, shape[axis])
        elif step.op == "one_hot":
            note(step.args[0], step.params[0], counts=True)
    return {name: Positions(tuple(lengths), tuple(depths)) for name, (lengths, depths) in found.items()}


def has_values(symbol: Symbol) -> bool:
    """Tell whether a variable can have any value."""
    low, high = symbol.low, symbol.high
    if low is None or high is None or symbol.kind == "bool":
        return True
    return low < high and (symbol.kind != "int" or low.__floor__() + 1 < high)


def clamp_to_domain(symbol: Symbol, value: Fraction) -> Fraction:
    """Move a number into the domain of a variable; the result depends only on its size and sign."""
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


def nearest(
    symbol: Symbol,
    value: Fraction,
    rng: random.Random,
    positions: Mapping[str, Positions],
    sizes: Mapping[str, int],
) -> Any:
    """Move a number into the domain of a variable; for truth values and positions, draw a value instead."""
    if symbol.kind == "bool" or symbol.name in positions:
        return draw_value(symbol, "signed", rng, positions, sizes)
    return clamp_to_domain(symbol, value)


def shorter(
    program: ProofProgram, values: Mapping[str, Any], fixed: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a few points near a given one, with shorter numbers that create no zeros and no ties.

    Args:
        program: its symbols have the domains.
        values: the values of the variables.
        fixed: a variable that keeps its value.

    Example:
        >>> x = Symbol("x", "real", None, Fraction(1))
        >>> next(shorter(ProofProgram((), (x,)), {"x": Fraction(-55, 64)}))
        {'x': Fraction(-1, 1)}
    """
    symbols = _real_symbols(program, fixed)
    numbers = {s.name: np.array(values[s.name], dtype=object) for s in symbols}
    distinct = {n for array in numbers.values() for n in array.flat}
    longest = max((n.denominator for n in distinct), default=1)
    left = SHORTENED_POINTS
    for denominator in (d for d in _SHORT if d < longest):
        short = {n: n.limit_denominator(denominator) for n in distinct}
        plain = set(short.values())
        if len(plain) < len(distinct) or (0 in plain) > (0 in distinct):
            continue
        if not all(in_interval(s, short[n]) for s in symbols for n in numbers[s.name].flat):
            continue
        if (left := left - 1) < 0:
            return
        moved = {name: np.vectorize(short.get, otypes=[object])(array) for name, array in numbers.items()}
        yield {**values, **{name: array.tolist() for name, array in moved.items()}}


def simple_points(
    program: ProofProgram, values: Mapping[str, Any], fixed: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a few points with positive numbers: near a point, and with one variable or all scaled by 1000 or 1/1000.

    Args:
        program: its symbols have the domains.
        values: the values of the variables.
        fixed: a variable that keeps its value.

    Example:
        >>> x = Symbol("x", "real", None, None)
        >>> [str(v["x"]) for v in simple_points(ProofProgram((), (x,)), {"x": Fraction(-55, 32)})]
        ['7/4', '2000', '1/500']
    """
    symbols = _real_symbols(program, fixed)[:SCALED_INPUTS]
    some = [[s] for s in symbols] + ([symbols] if len(symbols) > 1 else [])
    for scale, scaled in [(Fraction(1), []), *product((_SCALE, 1 / _SCALE), some)]:
        moved = {s.name: _moved(s, values[s.name], scale if s in scaled else None) for s in symbols}
        yield {**values, **moved}


def _moved(symbol: Symbol, values: Any, scale: Fraction | None) -> Any:
    """Make numbers positive and simple, or positive integers times a scale, within the domain of a variable."""
    if isinstance(values, list):
        return [_moved(symbol, v, scale) for v in cast("list[Any]", values)]
    n: Fraction = abs(values)
    plain = n.limit_denominator(_PLAIN) or n
    return clamp_to_domain(symbol, plain if scale is None else scale * (round(n) or 1))


def negatives(program: ProofProgram, values: Mapping[str, Any], fixed: str | None) -> int:
    """Return the number of variables that are negative although their domains contain positive numbers."""
    free = [s for s in _real_symbols(program, fixed) if s.high is None or s.high > 0]
    return sum(any(n < 0 for n in np.array(values[s.name], dtype=object).flat) for s in free)


def _real_symbols(program: ProofProgram, fixed: str | None) -> list[Symbol]:
    return [s for s in program.symbols if s.kind == "real" and s.name != fixed]


def draw_value(
    symbol: Symbol,
    style: Style,
    rng: random.Random,
    positions: Mapping[str, Positions],
    sizes: Mapping[str, int],
) -> Any:
    """Draw a value of a variable in one of several styles."""
    if symbol.kind == "bool":
        return rng.random() < 0.5
    if symbol.name in positions:
        return clamp_to_domain(symbol, Fraction(_position(positions[symbol.name], style, rng, sizes)))
    if symbol.kind == "int":
        return clamp_to_domain(symbol, Fraction(_integer(style, rng)))
    return clamp_to_domain(symbol, _number(style, rng, 16 if symbol.shape else 1))


def _position(own: Positions, style: Style, rng: random.Random, sizes: Mapping[str, int]) -> int:
    """Draw a position, counted from either end of the axis; only for `one_hot` also beyond the ends."""
    lengths = [length_value(n, sizes) for n in own.lengths]
    if not lengths:
        lengths = [1 + max((length_value(n, sizes) for n in own.depths), default=1)]
    n = max(1, min(lengths))
    if style == "positive":
        return rng.randrange(n)
    return rng.choice((0, -1, n - 1, -n)) if style == "ends" else rng.randrange(-n, n)


def _integer(style: Style, rng: random.Random) -> int:
    if style in ("huge", "tiny"):
        return rng.choice((-1, 1)) * rng.randint(1, 10 ** rng.randint(3, 12))
    reach = 40 if style in ("wide", "large") else LARGEST_INDEX
    return rng.randint(0 if style == "positive" else -reach // 2, reach)


def _number(style: Style, rng: random.Random, fine: int) -> Fraction:
    """Draw a number; the grid for entries of arrays is ``fine`` times finer, so that two entries rarely tie."""
    sign: Sequence[int] = (-1, 1)
    match style:
        case "positive":
            return Fraction(rng.randint(13 * fine, 160 * fine), 64 * fine)
        case "unit":
            return Fraction(rng.randint(-63, 63), 64)
        case "above one":
            return 1 + Fraction(rng.randint(1, 60), rng.choice((7, 16, 24)))
        case "near":
            return rng.choice((-1, 0, 1, 1)) + Fraction(rng.randint(-16, 16), 1024)
        case "wide":
            return rng.choice(sign) * Fraction(rng.randint(8, 15), 8) * Fraction(2) ** rng.randint(-9, 6)
        case "large":
            return Fraction(rng.choice(sign) * rng.randint(3, 1000))
        case "odd":
            prime = rng.choice(_PRIMES if fine == 1 else _LARGE_PRIMES)
            return Fraction(rng.randint(-3 * prime, 3 * prime), prime)
        case "huge":
            return Fraction(rng.choice(sign) * rng.randint(1, 9) * 10 ** rng.randint(3, 18))
        case "tiny":
            return Fraction(rng.choice(sign) * rng.randint(1, 9), 10 ** rng.randint(3, 18))
        case _:
            return Fraction(rng.randint(-160 * fine, 160 * fine), 64 * fine)
