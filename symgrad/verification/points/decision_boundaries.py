"""Find points at which a choice of a program changes its outcome, and points between and next to these.

A choice ties where the two sides of a comparison or of `maximum` are equal, where the argument of `abs` is zero, or
where `floor` jumps. The search moves one coordinate of a point to where such a difference vanishes: by an exact step if
the difference is linear in the coordinate, otherwise by secants. Then it replaces the root by a simple number near it:
in formulas that people write, the exact root is often simple.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from symgrad.checker.balls.entries import box
from symgrad.checker.balls.programs import evaluate, in_interval
from symgrad.checker.balls.scalar_ops import Value, add, ball, neg, number
from symgrad.checker.clock import Budget, tick
from symgrad.checker.extension_field.generators import to_fraction
from symgrad.checker.numbers import flint
from symgrad.checker.program.steps import ProofProgram, Symbol
from symgrad.ir.graph import OPS
from symgrad.support.errors import UsageError
from symgrad.support.traversal import walk
from symgrad.verification.limits import AIM_STEPS, BRACKETS, COORDINATES, POLES, SWITCHES
from symgrad.verification.points.roots import root_between
from symgrad.verification.points.values import clamp_to_domain

fmpq: Any = flint.fmpq

Values: TypeAlias = "Mapping[str, Any]"

_ZERO = fmpq(0)
_BITS = 96
_PER_POINT = 20  # cost of a point, apart from its steps
_WIDE = [Fraction(c) for c in ("0", "1e-7", "1e-3", "1/3", "1", "3", "10", "100", "1e4", "1e7", "1e12")]
_SIMPLE = (1, 12, 1000, 1_000_000)  # denominators of simple numbers
_BESIDE = (Fraction(1, 1024), Fraction(1, 10**9))
_AGAIN = 3  # how many exact ties serve as centres of a search for others

_JUMPS = {"floor": Fraction(0), "ceil": Fraction(0), "round": Fraction(1, 2)}
"""Distance of the jumps from integers."""


@dataclass(frozen=True, slots=True)
class _Switch:
    """Two steps that may tie; or a step and a level, which is set anew at each point for functions with many jumps."""

    left: int
    right: int | None
    jumps: Fraction | None = None
    level: Any = _ZERO


@dataclass(frozen=True, slots=True)
class _Coordinate:
    """A coordinate of a point: a variable, or an entry of a variable."""

    symbol: Symbol
    index: tuple[int, ...]

    def of(self, values: Values) -> Fraction:
        value = values[self.symbol.name]
        for i in self.index:
            value = value[i]
        return value

    def moved(self, values: Values, to: Fraction) -> dict[str, Any]:
        """Return the point with another number at this coordinate, and at the mirror image in a symmetric matrix."""
        array = _replaced(values[self.symbol.name], self.index, to)
        if self.symbol.symmetric:
            array = _replaced(array, self.index[::-1], to)
        return {**values, self.symbol.name: array}


def _replaced(value: Any, index: tuple[int, ...], to: Fraction) -> Any:
    if not index:
        return to
    return [_replaced(v, index[1:], to) if k == index[0] else v for k, v in enumerate(value)]


class _Spent(Exception):
    """The budget of evaluations is exhausted."""


class _Aims:
    """The search for ties around points with the same sizes."""

    def __init__(self, program: ProofProgram, sizes: Mapping[str, int]) -> None:
        self.program, self.sizes = program, sizes
        self.switches = _switches(program)
        self.wanted = sorted({i for s in self.switches for i in (s.left, s.right) if i is not None})
        read = walk(self.wanted, lambda i: program.steps[i].args)
        self.cost = _PER_POINT + sum(1 for _ in read)
        self.budget = Budget(most=AIM_STEPS, ends=_Spent)
        self.readers: dict[str, bytearray] = {}

    def differences(self, values: Values) -> list[Value]:
        """Return for each switch the difference of its sides in the first and last entry; None where unknown."""
        self.budget.spend(self.cost)
        try:
            found = evaluate(self.program, values, precision=_BITS, sizes=self.sizes, wanted=self.wanted)
        except UsageError:
            raise _Spent from None
        at = dict(zip(self.wanted, found, strict=True))
        gaps: list[Value] = []
        for switch in self.switches:
            right = (switch.level, switch.level) if switch.right is None else _ends(at[switch.right])
            for x, y in zip(_ends(at[switch.left]), right, strict=True):
                gaps.append(add(number(x), neg(number(y))))
        return gaps

    def reads(self, switch: int, symbol: Symbol) -> bool:
        """Tell whether a switch depends on a variable."""
        if symbol.name not in self.readers:
            depends = self.readers[symbol.name] = bytearray(len(self.program.steps))
            for i, step in enumerate(self.program.steps):
                own = step.op == "symbol" and step.params == (symbol.name,)
                depends[i] = own or any(depends[a] for a in step.args)
        s = self.switches[switch]
        return any(self.readers[symbol.name][i] for i in (s.left, s.right) if i is not None)

    def level(self, values: Values) -> None:
        """Set the level of functions with many jumps to the jump that is nearest to a point."""
        self.switches = [replace(s, level=_ZERO) for s in self.switches]
        gaps = self.differences(values)
        self.switches = [
            replace(s, level=_nearest(gaps[2 * k], s.jumps)) if s.jumps and gaps[2 * k] is not None else s
            for k, s in enumerate(self.switches)
        ]

    def ties(self, values: Values, coordinate: _Coordinate) -> tuple[list[Fraction], list[Fraction]]:
        """Return values of a coordinate at which a switch ties: exact and approximate ones."""
        symbol, here = coordinate.symbol, coordinate.of(values)
        exact: dict[Fraction, None] = {}
        close: dict[Fraction, None] = {}

        def at(place: Fraction) -> list[Value]:
            return self.differences(coordinate.moved(values, place))

        there = clamp_to_domain(symbol, here + 1)
        curved: list[int] = []
        for k, (g, h) in enumerate(zip(at(here), at(there), strict=True)):
            if not self.reads(k // 2, symbol):
                continue
            if type(g) is fmpq and type(h) is fmpq and g != h:
                root = here - to_fraction(g) * (there - here) / (to_fraction(h) - to_fraction(g))
                if root in exact or (in_interval(symbol, root) and at(root)[k] == 0):
                    exact.setdefault(root)
                    continue
            curved.append(k)
        if not curved:
            return list(exact), []
        grid = sorted({here, *(clamp_to_domain(symbol, s * c) for c in _WIDE for s in (1, -1))})
        rows = [at(number) for number in grid]
        # There may be a root next to a pole.
        poles = [c for c, row in zip(grid, rows, strict=True) if any(row[k] is None for k in curved)][:POLES]
        nearby = {c + s * _BESIDE[0] for c in poles for s in (1, -1)}
        known = dict(zip(grid, rows, strict=True)) | {c: at(c) for c in nearby if in_interval(symbol, c)}
        grid = sorted(known)
        rows = [known[c] for c in grid]
        brackets = [
            (k, i)
            for k in curved
            for i, (low, high) in enumerate(pairwise(rows))
            if _sign(low[k]) * _sign(high[k]) < 0
        ]
        exact.update((n, None) for n, row in zip(grid, rows, strict=True) if any(row[k] == 0 for k in curved))
        for k, i in brackets[:BRACKETS]:
            found = root_between(
                lambda x, k=k: _middle(at(Fraction(x))[k]), float(grid[i]), float(grid[i + 1])
            )
            root = Fraction(found)
            simple = dict.fromkeys(root.limit_denominator(d) for d in _SIMPLE)
            ties = [c for c in simple if in_interval(symbol, c) and at(c)[k] == 0]
            exact.update(dict.fromkeys(ties[:1]))
            close.setdefault(root)
        return list(exact), list(close)


def aimed(
    program: ProofProgram, bases: Sequence[Values], sizes: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Yield ties of choices near some points, and points between and next to these.

    Args:
        program: the program.
        bases: the points around which to search.
        sizes: the lengths of axes at these points.

    Raises:
        TimeoutError: at the deadline of `symgrad.checker.clock`.
    """
    aims = _Aims(program, sizes)
    if not aims.switches:
        return
    pending = list(bases)
    again = _AGAIN
    try:
        while pending:
            base, tied = pending.pop(0), list[Values]()
            aims.level(base)
            for coordinate in _coordinates(program, base):
                tick()
                exact, close = aims.ties(base, coordinate)
                for number in _around(coordinate.symbol, exact, close):
                    yield coordinate.moved(base, number)
                for number in exact[:again]:
                    again -= 1
                    tied.append(coordinate.moved(base, number))
            pending[:0] = tied
    except _Spent:
        return


def _around(symbol: Symbol, exact: list[Fraction], close: list[Fraction]) -> Iterator[Fraction]:
    """Yield ties, numbers between them, and numbers next to them."""
    every = sorted({*exact, *close})
    found = [*exact, *((a + b) / 2 for a, b in pairwise(every))]
    for c in every:
        size = abs(c) or Fraction(1)
        found += [c + s * size * d for d in _BESIDE for s in (1, -1)]
    is_integer = symbol.kind == "int"
    yield from (c for n in found if in_interval(symbol, c := Fraction(round(n)) if is_integer else n))


def _switches(program: ProofProgram) -> list[_Switch]:
    found: dict[_Switch, None] = {}
    moving = bytearray(len(program.steps))
    for i, step in enumerate(program.steps):
        moving[i] = step.op == "symbol" or any(moving[a] for a in step.args)
        if not moving[i]:
            continue
        for _, other in OPS[step.op].switches if step.op in OPS else ():
            right = None if other is None else step.args[other]
            found.setdefault(_Switch(step.args[0], right, _JUMPS.get(step.op)))
        if len(found) >= SWITCHES:
            break
    return list(found)


def _coordinates(program: ProofProgram, values: Values) -> list[_Coordinate]:
    """Return the coordinates to move: all scalars first, then the first and last entries of arrays."""
    found = [_Coordinate(s, ()) for s in program.symbols if not s.shape and s.kind in ("real", "int")]
    for s in program.symbols:
        shape = np.shape(np.array(values[s.name], dtype=object))
        if shape and 0 not in shape and s.kind == "real":
            ends = dict.fromkeys([(0,) * len(shape), tuple(n - 1 for n in shape)])
            found += [_Coordinate(s, index) for index in ends]
    return found[:COORDINATES]


def _ends(value: Any) -> tuple[Value, Value]:
    entries: list[Value] = [] if value is None else box(value).ravel().tolist()
    return (entries[0], entries[-1]) if entries else (None, None)


def _nearest(value: Value, after: Fraction) -> Any:
    """Return the jump that is nearest to a value: an integer plus an offset."""
    middle = _middle(value)
    found = round(Fraction(middle) - after) + after if math.isfinite(middle) else after
    return fmpq(found.numerator, found.denominator)


def _sign(gap: Value) -> float:
    """Return the sign of a gap; NaN where it has no value."""
    if gap is None:
        return math.nan
    gap = ball(gap)
    return 1 if gap > 0 else -1 if gap < 0 else 0


def _middle(gap: Value) -> float:
    """Return a value as a float; NaN where there is none."""
    return math.nan if gap is None else float(ball(gap).mid())
