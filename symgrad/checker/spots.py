"""Points of the checker's own at which a statement that is said to be proved must not be refuted.

A proof needs none of them (nor the complex ones, `symgrad.checker.complex.own_points`). They guard against a mistake in
the checker itself, and in its tables: a false statement that it would take for proved differs, almost certainly, at one
of a few points that nobody chose.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from symgrad.checker.balls.programs import context, evaluate, inside
from symgrad.checker.clock import now
from symgrad.checker.limits import SPOT_SECONDS, SPOTS
from symgrad.checker.program.lengths import length
from symgrad.checker.program.steps import ProofProgram, Symbol, resolved
from symgrad.checker.witness import all_certain, are_apart, pairs
from symgrad.support.errors import UsageError

__all__ = ["BITS", "SPREAD", "contradicted", "coordinate"]

BITS = 160
_PRIME = 99_991
"""The denominator of real coordinates: no formula has it, so a point is on no thin set that a proof leaves out."""

SPREAD = (Fraction(2), Fraction(1, 2), Fraction(5))


def contradicted(
    program: ProofProgram,
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
        strict: see `symgrad.checker.balls.programs.evaluate`.
        plain: see there.
        defined: positions of further values that must be certain at the point.
        thin: whether thin sets are left out: then points with whole numbers or truth values, which may well lie in
            one, tell nothing.

    Example:
        >>> from symgrad.checker.program.steps import ProofStep
        >>> roots = (ProofStep("mul", (0, 0)), ProofStep("sqrt", (1,)), ProofStep("abs", (0,)))
        >>> steps = (ProofStep("symbol", (), ("x",)), *roots)
        >>> program = ProofProgram(steps, (Symbol("x", "real", None, None),))
        >>> contradicted(program, 0, 2), contradicted(program, 3, 2)
        (True, False)
    """
    if thin and any(s.kind != "real" for s in program.symbols):
        return False
    deadline = now() + SPOT_SECONDS
    for point, sizes in _points(program):
        try:
            left, right, *rest = evaluate(
                program,
                point,
                precision=BITS,
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
        with context.workprec(BITS):
            if all_certain(rest) and any(are_apart(x, y) for _, x, y in pairs(left, right)):
                return True
    return False


def _points(program: ProofProgram) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    names = sorted(program.sizes)
    for k in range(SPOTS):
        draw = random.Random(k)
        sizes = {name: draw.randint(1, 3) for name in names}
        try:
            point = {s.name: _value(s, sizes, draw, SPREAD[k % len(SPREAD)]) for s in program.symbols}
        except UsageError:  # no such length
            continue
        if inside(program, point, sizes):
            yield point, sizes


def _value(symbol: Symbol, sizes: Mapping[str, int], draw: random.Random, spread: Fraction) -> Any:
    shape, symbol = [length(size, sizes) for size in symbol.shape], resolved(symbol, sizes)

    def filled(axes: Sequence[int]) -> Any:
        return [filled(axes[1:]) for _ in range(axes[0])] if axes else coordinate(symbol, draw, spread)

    value = filled(shape)
    if symbol.symmetric:
        value = [[value[min(i, j)][max(i, j)] for j in range(shape[1])] for i in range(shape[0])]
    return value


def coordinate(symbol: Symbol, draw: random.Random, spread: Fraction) -> Any:
    """A number inside the domain of a variable: a fraction over a prime, or a whole number."""
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
