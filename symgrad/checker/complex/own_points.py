"""Complex points of the checker's own, at which a statement that is said to be proved must not be refuted.

As in `symgrad.checker.spots`: what is said there of real ones holds of these.
"""

from __future__ import annotations

import random
from fractions import Fraction

from symgrad.checker.balls.programs import context
from symgrad.checker.clock import now
from symgrad.checker.complex.gaussian import Gaussian
from symgrad.checker.complex.meaning import ComplexStatement
from symgrad.checker.complex.points import are_apart, evaluate, inside
from symgrad.checker.limits import OWN_POINTS, SPOT_SECONDS
from symgrad.checker.program.steps import Symbol
from symgrad.checker.spots import BITS, SPREAD, coordinate

__all__ = ["contradicted_at_complex"]

_QUADRANTS = ((1, 1), (-1, 1), (-1, -1), (1, -1))


def contradicted_at_complex(s: ComplexStatement, *, thin: bool = False) -> bool:
    """Tell whether the two sides of a statement about complex numbers certainly differ at one of a few points.

    Args:
        s: the statement.
        thin: as for `contradicted`.
    """
    symbols = s.program.symbols
    if thin and any(v.kind not in ("real", "complex") for v in symbols):
        return False
    deadline = now() + SPOT_SECONDS
    for k in range(OWN_POINTS):
        draw = random.Random(k)
        spread = SPREAD[k % len(SPREAD)]
        # The first half in one quadrant each, then variables in several.
        turns = (_QUADRANTS[(k + j * (k // 4)) % 4] for j in range(len(symbols)))
        point = {v.name: _complex_value(v, draw, spread, t) for v, t in zip(symbols, turns, strict=True)}
        if not inside(s.program, point):
            continue
        try:
            left, right, *rest = evaluate(
                s.program,
                point,
                precision=BITS,
                wanted=[s.a, s.b, *s.defined],
                wrt=s.wrt,
                deadline=deadline,
            )
        except TimeoutError:  # nothing speaks against it
            return False
        with context.workprec(BITS):
            if None not in (left, right, *rest) and are_apart(left, right):
                return True
    return False


def _complex_value(symbol: Symbol, draw: random.Random, spread: Fraction, signs: tuple[int, int]) -> Gaussian:
    """A number in a quadrant; of a real variable one of its own."""
    if symbol.kind != "complex":
        return Gaussian(coordinate(symbol, draw, spread))
    across, up = (abs(coordinate(symbol, draw, spread)) for _ in range(2))
    return Gaussian(signs[0] * across, signs[1] * up)
