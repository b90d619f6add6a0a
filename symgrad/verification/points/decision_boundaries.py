"""Points at which a choice of a program comes out another way, points between these, and points beside them.

Choices tie where the two sides of a comparison or of `maximum` are equal, where the argument of `abs` is zero, where
`floor` jumps. From a point that is given one coordinate is moved to where such a difference vanishes: by an exact step
if it is linear in the coordinate, else by secants. Roots are replaced by simple numbers near them, which they are more
often than not in what people write.
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
from symgrad.checker.balls.programs import evaluate, flint
from symgrad.checker.balls.scalar_ops import Value, add, ball, neg, number
from symgrad.checker.clock import tick
from symgrad.checker.program.steps import ProofProgram, Symbol
from symgrad.ir.graph import OPS
from symgrad.support.errors import UsageError
from symgrad.verification.limits import AIM_STEPS, BRACKETS, COORDINATES, POLES, SWITCHES
from symgrad.verification.points.roots import root_between
from symgrad.verification.points.values import admits, clamp_to_domain

__all__ = ["aimed"]

fmpq: Any = flint.fmpq

Values: TypeAlias = "Mapping[str, Any]"

_ZERO = fmpq(0)
_BITS = 96
_PER_POINT = 20  # what a point costs beside its steps
_WIDE = [Fraction(c) for c in ("0", "1e-7", "1e-3", "1/3", "1", "3", "10", "100", "1e4", "1e7", "1e12")]
_SIMPLE = (1, 12, 1000, 1_000_000)  # denominators of simple numbers
_BESIDE = (Fraction(1, 1024), Fraction(1, 10**9))
_AGAIN = 3  # exact ties from which others are looked for

_JUMPS = {"floor": Fraction(0), "ceil": Fraction(0), "round": Fraction(1, 2)}
"""How far after whole numbers they jump."""


@dataclass(frozen=True, slots=True)
class _Switch:
    """What ties: two steps; or one and a number, which for what jumps at many is chosen at each point."""

    left: int
    right: int | None
    jumps: Fraction | None = None
    level: Any = _ZERO


@dataclass(frozen=True, slots=True)
class _Coordinate:
    """A number of a point: a variable, or an entry of one."""

    symbol: Symbol
    index: tuple[int, ...]

    def of(self, values: Values) -> Fraction:
        value = values[self.symbol.name]
        for i in self.index:
            value = value[i]
        return value

    def moved(self, values: Values, to: Fraction) -> dict[str, Any]:
        """The point with another number there, and its mirror image in a symmetric matrix."""
        whole = _replaced(values[self.symbol.name], self.index, to)
        if self.symbol.symmetric:
            whole = _replaced(whole, self.index[::-1], to)
        return {**values, self.symbol.name: whole}


def _replaced(value: Any, index: tuple[int, ...], to: Fraction) -> Any:
    if not index:
        return to
    return [_replaced(v, index[1:], to) if k == index[0] else v for k, v in enumerate(value)]


class _Spent(Exception):
    """No more is evaluated."""


class _Aims:
    """The search around points of one choice of sizes."""

    def __init__(self, program: ProofProgram, sizes: Mapping[str, int]) -> None:
        self.program, self.sizes = program, sizes
        self.switches = _switches(program)
        self.wanted = sorted({i for s in self.switches for i in (s.left, s.right) if i is not None})
        self.cost = _PER_POINT + len(_read(program, self.wanted))
        self.left = AIM_STEPS
        self.readers: dict[str, bytearray] = {}

    def gaps(self, values: Values) -> list[Value]:
        """What is zero at a tie, of each switch, of arrays in the first and the last entry; None where not known."""
        self.left -= self.cost
        if self.left < 0:
            raise _Spent
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
        """Whether a switch depends on a variable."""
        if symbol.name not in self.readers:
            depends = bytearray(len(self.program.steps))
            for i, step in enumerate(self.program.steps):
                depends[i] = (
                    step.params == (symbol.name,)
                    if step.op == "symbol"
                    else any(depends[a] for a in step.args)
                )
            self.readers[symbol.name] = depends
        s = self.switches[switch]
        return any(self.readers[symbol.name][i] for i in (s.left, s.right) if i is not None)

    def level(self, values: Values) -> None:
        """Let what jumps at whole numbers tie at the one that is nearest at a point."""
        self.switches = [replace(s, level=_ZERO) for s in self.switches]
        gaps = self.gaps(values)
        self.switches = [
            replace(s, level=_nearest(gaps[2 * k], s.jumps)) if s.jumps and gaps[2 * k] is not None else s
            for k, s in enumerate(self.switches)
        ]

    def ties(self, values: Values, coordinate: _Coordinate) -> tuple[list[Fraction], list[Fraction]]:
        """Numbers of a coordinate at which a switch ties: exactly, or nearly."""
        symbol, here = coordinate.symbol, coordinate.of(values)
        exact: dict[Fraction, None] = {}
        close: dict[Fraction, None] = {}

        def at(place: Fraction) -> list[Value]:
            return self.gaps(coordinate.moved(values, place))

        there = clamp_to_domain(symbol, here + 1)
        curved: list[int] = []
        for k, (g, h) in enumerate(zip(at(here), at(there), strict=True)):
            if not self.reads(k // 2, symbol):
                continue
            if type(g) is fmpq and type(h) is fmpq and g != h:
                root = here - _fraction(g) * (there - here) / (_fraction(h) - _fraction(g))
                if root in exact or (admits(symbol, root) and at(root)[k] == 0):
                    exact.setdefault(root)
                    continue
            curved.append(k)
        if not curved:
            return list(exact), []
        grid = sorted({here, *(clamp_to_domain(symbol, s * c) for c in _WIDE for s in (1, -1))})
        rows = [at(number) for number in grid]
        # Beside a pole there may be a root.
        poles = [c for c, row in zip(grid, rows, strict=True) if any(row[k] is None for k in curved)][:POLES]
        beside = {c + s * _BESIDE[0] for c in poles for s in (1, -1)}
        known = dict(zip(grid, rows, strict=True)) | {c: at(c) for c in beside if admits(symbol, c)}
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
            ties = [c for c in simple if admits(symbol, c) and at(c)[k] == 0]
            exact.update(dict.fromkeys(ties[:1]))
            close.setdefault(root)
        return list(exact), list(close)


def aimed(
    program: ProofProgram, bases: Sequence[Values], sizes: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Yield points near those that are given at which choices tie, and points between and beside these.

    Args:
        program: its steps.
        bases: points.
        sizes: the lengths of axes at these.

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
    """Yield ties, what is between them, and what is beside them."""
    every = sorted({*exact, *close})
    found = [*exact, *((a + b) / 2 for a, b in pairwise(every))]
    for c in every:
        size = abs(c) or Fraction(1)
        found += [c + s * size * d for d in _BESIDE for s in (1, -1)]
    whole = symbol.kind == "int"
    yield from (c for n in found if admits(symbol, c := Fraction(round(n)) if whole else n))


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


def _read(program: ProofProgram, wanted: Sequence[int]) -> set[int]:
    found, todo = set[int](), list(wanted)
    while todo:
        i = todo.pop()
        if i not in found:
            found.add(i)
            todo += program.steps[i].args
    return found


def _coordinates(program: ProofProgram, values: Values) -> list[_Coordinate]:
    """The numbers of a point that are moved: all variables that are no arrays first, then entries of arrays."""
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
    """The number that is nearest to a value of those that are as far after whole numbers."""
    middle = _middle(value)
    found = round(Fraction(middle) - after) + after if math.isfinite(middle) else after
    return fmpq(found.numerator, found.denominator)


def _sign(gap: Value) -> float:
    """The sign of a gap; NaN where it has no value."""
    if gap is None:
        return math.nan
    gap = ball(gap)
    return 1 if gap > 0 else -1 if gap < 0 else 0


def _middle(gap: Value) -> float:
    """A value as a float; NaN where there is none."""
    return math.nan if gap is None else float(ball(gap).mid())


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))
