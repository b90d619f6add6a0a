"""Points of the checker's own, real and complex, at which a statement that is said to be proved must not be refuted.

A proof needs none of them. They guard against a mistake in the checker itself, and in its tables: a false statement
that it would take for proved differs, almost certainly, at one of a few points that nobody chose.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from symgrad.errors import UsageError
from symgrad.proof.balls import complex_points as ball_complex
from symgrad.proof.balls.programs import context, evaluate, inside
from symgrad.proof.complex.gaussian import Gaussian
from symgrad.proof.complex.meaning import Stated
from symgrad.proof.program.lengths import length
from symgrad.proof.program.steps import Program, Symbol, resolved
from symgrad.proof.witness import apart, known, pairs

__all__ = ["contradicted", "contradicted_at_complex"]

_POINTS = 6
_COMPLEX_POINTS = 8
_QUADRANTS = ((1, 1), (-1, 1), (-1, -1), (1, -1))
_BITS = 160
_SECONDS = 5.0
_PRIME = 99_991
"""The denominator of real coordinates: no formula has it, so a point is on no thin set that a proof leaves out."""

_SPREAD = (Fraction(2), Fraction(1, 2), Fraction(5))


def contradicted(
    program: Program,
    a: int,
    b: int,
    *,
    strict: bool | str = False,
    plain: int | None = None,
    defined: Sequence[int] = (),
    thin: bool = False,
) -> bool:
    """Tell whether two steps certainly differ at one of a few points, always the same ones.

    Args:
        program: the steps.
        a: position of one value.
        b: position of the other.
        strict: see `symgrad.proof.balls.programs.evaluate`.
        plain: see there.
        defined: positions of further values that must be certain at the point.
        thin: whether thin sets are left out: then points with whole numbers or truth values, which may well lie in
            one, tell nothing.

    Example:
        >>> from symgrad.proof.program.steps import Step
        >>> steps = (Step("symbol", (), ("x",)), Step("mul", (0, 0)), Step("sqrt", (1,)), Step("abs", (0,)))
        >>> program = Program(steps, (Symbol("x", "real", None, None),))
        >>> contradicted(program, 0, 2), contradicted(program, 3, 2)
        (True, False)
    """
    if thin and any(s.kind != "real" for s in program.symbols):
        return False
    deadline = time.monotonic() + _SECONDS
    for point, sizes in _points(program):
        try:
            left, right, *rest = evaluate(
                program,
                point,
                precision=_BITS,
                sizes=sizes,
                strict=strict,
                plain=plain,
                wanted=[a, b, *defined],
                deadline=deadline,
            )
        except UsageError:  # sizes with which an axis would have a negative length
            continue
        except TimeoutError:  # nothing speaks against it
            return False
        with context.workprec(_BITS):
            if known(rest) and any(apart(x, y) for _, x, y in pairs(left, right)):
                return True
    return False


def contradicted_at_complex(s: Stated, *, thin: bool = False) -> bool:
    """Tell whether the two sides of a statement about complex numbers certainly differ at one of a few points.

    Args:
        s: the statement.
        thin: as for `contradicted`.
    """
    symbols = s.program.symbols
    if thin and any(v.kind not in ("real", "complex") for v in symbols):
        return False
    deadline = time.monotonic() + _SECONDS
    for k in range(_COMPLEX_POINTS):
        draw = random.Random(k)
        spread = _SPREAD[k % len(_SPREAD)]
        # The first half in one quadrant each, then variables in several.
        turns = (_QUADRANTS[(k + j * (k // 4)) % 4] for j in range(len(symbols)))
        point = {v.name: _complex_value(v, draw, spread, t) for v, t in zip(symbols, turns, strict=True)}
        if not ball_complex.inside(s.program, point):
            continue
        try:
            left, right, *rest = ball_complex.evaluate(
                s.program,
                point,
                precision=_BITS,
                wanted=[s.a, s.b, *s.defined],
                wrt=s.wrt,
                deadline=deadline,
            )
        except TimeoutError:  # nothing speaks against it
            return False
        with context.workprec(_BITS):
            if None not in (left, right, *rest) and ball_complex.apart(left, right):
                return True
    return False


def _complex_value(symbol: Symbol, draw: random.Random, spread: Fraction, signs: tuple[int, int]) -> Gaussian:
    """A number in a quadrant; of a real variable one of its own."""
    if symbol.kind != "complex":
        return Gaussian(_coordinate(symbol, draw, spread))
    across, up = (abs(_coordinate(symbol, draw, spread)) for _ in range(2))
    return Gaussian(signs[0] * across, signs[1] * up)


def _points(program: Program) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    names = sorted(program.sizes)
    for k in range(_POINTS):
        draw = random.Random(k)
        sizes = {name: draw.randint(1, 3) for name in names}
        try:
            point = {s.name: _value(s, sizes, draw, _SPREAD[k % len(_SPREAD)]) for s in program.symbols}
        except UsageError:  # no such length
            continue
        if inside(program, point, sizes):
            yield point, sizes


def _value(symbol: Symbol, sizes: Mapping[str, int], draw: random.Random, spread: Fraction) -> Any:
    shape, symbol = [length(size, sizes) for size in symbol.shape], resolved(symbol, sizes)

    def filled(axes: Sequence[int]) -> Any:
        return [filled(axes[1:]) for _ in range(axes[0])] if axes else _coordinate(symbol, draw, spread)

    value = filled(shape)
    if symbol.symmetric:
        value = [[value[min(i, j)][max(i, j)] for j in range(shape[1])] for i in range(shape[0])]
    return value


def _coordinate(symbol: Symbol, draw: random.Random, spread: Fraction) -> Any:
    if symbol.kind == "bool":
        return draw.random() < 0.5
    low, high = symbol.low, symbol.high
    if low is None:
        low = high - 2 * spread if high is not None else -spread
    if high is None:
        high = low + 2 * spread
    if symbol.kind == "int":
        first = low.numerator // low.denominator + 1
        return Fraction(draw.randint(first, max(-(-high.numerator // high.denominator) - 1, first)))
    return low + (high - low) * Fraction(draw.randrange(1, _PRIME), _PRIME)
