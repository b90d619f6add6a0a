"""Compare the two sides of a proved statement at complex sample points; see `symgrad.checker.samples`."""

from __future__ import annotations

import random
from fractions import Fraction

from symgrad.checker.clock import now
from symgrad.checker.complex.balls import disjoint, evaluate, in_domain
from symgrad.checker.complex.gaussian import Gaussian
from symgrad.checker.complex.principal_branches import ComplexStatement
from symgrad.checker.limits import COMPLEX_SAMPLES, SAMPLE_SECONDS
from symgrad.checker.numbers import context
from symgrad.checker.program.steps import Symbol
from symgrad.checker.samples import BITS, SPREADS, sample_coordinate

_QUADRANTS = ((1, 1), (-1, 1), (-1, -1), (1, -1))


def differs_at_complex_samples(s: ComplexStatement, *, thin: bool = False) -> bool:
    """Tell whether the two sides of a statement about complex numbers certainly differ at one of a few fixed points.

    Args:
        s: the statement.
        thin: as for `symgrad.checker.samples.differs_at_samples`.
    """
    symbols = s.program.symbols
    if thin and any(v.kind not in ("real", "complex") for v in symbols):
        return False
    deadline = now() + SAMPLE_SECONDS
    for k in range(COMPLEX_SAMPLES):
        draw = random.Random(k)
        spread = SPREADS[k % len(SPREADS)]
        # For the first half of the points all variables share a quadrant; for the other half they lie in different
        # ones.
        turns = (_QUADRANTS[(k + j * (k // 4)) % 4] for j in range(len(symbols)))
        point = {v.name: _sample_value(v, draw, spread, t) for v, t in zip(symbols, turns, strict=True)}
        if not in_domain(s.program, point):
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
        except TimeoutError:  # no difference was found
            return False
        with context.workprec(BITS):
            if None not in (left, right, *rest) and disjoint(left, right):
                return True
    return False


def _sample_value(symbol: Symbol, draw: random.Random, spread: Fraction, signs: tuple[int, int]) -> Gaussian:
    """Return a number in a quadrant; for a real variable, a number in its domain."""
    if symbol.kind != "complex":
        return Gaussian(sample_coordinate(symbol, draw, spread))
    across, up = (abs(sample_coordinate(symbol, draw, spread)) for _ in range(2))
    return Gaussian(signs[0] * across, signs[1] * up)
