"""Compare the two sides of a proved statement at sample points that the checker chooses.

No proof depends on these points (nor on the complex points of `symgrad.checker.complex.samples`). They guard against a
mistake in the checker and in its tables: the sides of a false statement differ, almost certainly, at one of a few
pseudorandom points.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from symgrad.checker.balls.programs import in_domain
from symgrad.checker.clock import now
from symgrad.checker.limits import SAMPLE_ENTRIES, SAMPLE_SECONDS, SAMPLES
from symgrad.checker.numbers import context
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.length_values import length_value
from symgrad.checker.program.steps import ProofProgram, Symbol, resolve_ends
from symgrad.checker.witness import certain_entries, disjoint
from symgrad.support.errors import UsageError

BITS = 160
_PRIME = 99_991
"""The denominator of real coordinates: no formula contains it, so a point lies on no excluded thin set."""

SPREADS = (Fraction(2), Fraction(1, 2), Fraction(5))


def differs_at_samples(claim: Equality, *, thin: bool = False) -> bool:
    """Tell whether the two sides of a claim certainly differ at one of a few fixed points.

    Args:
        claim: the claim that they are equal.
        thin: whether the proof excludes thin sets; if it does, programs with integers or truth values are not tested,
            because their points may lie in such a set.

    Example:
        >>> from symgrad.checker.program.steps import ProofStep
        >>> roots = (ProofStep("mul", (0, 0)), ProofStep("sqrt", (1,)), ProofStep("abs", (0,)))
        >>> steps = (ProofStep("symbol", (), ("x",)), *roots)
        >>> program = ProofProgram(steps, (Symbol("x", "real", None, None),))
        >>> [differs_at_samples(Equality(program, a, 2)) for a in (0, 3)]
        [True, False]
    """
    if thin and any(s.kind != "real" for s in claim.program.symbols):
        return False
    deadline = now() + SAMPLE_SECONDS
    for point, sizes in _sample_points(claim.program):
        try:
            both = certain_entries(claim, point, sizes, precision=BITS, deadline=deadline)
        except UsageError:  # with these sizes an axis has a negative length
            continue
        except TimeoutError:  # no difference was found
            return False
        with context.workprec(BITS):
            if any(disjoint(x, y) for _, x, y in both):
                return True
    return False


def _sample_points(program: ProofProgram) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    names = sorted(program.sizes)
    for k in range(SAMPLES):
        draw = random.Random(k)
        sizes = {name: draw.randint(1, 3) for name in names}
        try:
            lengths = [[length_value(n, sizes) for n in s.shape] for s in program.symbols]
            if sum(map(math.prod, lengths)) > SAMPLE_ENTRIES:
                continue
            point = {
                s.name: _sample_value(s, sizes, draw, SPREADS[k % len(SPREADS)]) for s in program.symbols
            }
        except UsageError:  # with these sizes an axis has length 0
            continue
        if in_domain(program, point, sizes):
            yield point, sizes


def _sample_value(symbol: Symbol, sizes: Mapping[str, int], draw: random.Random, spread: Fraction) -> Any:
    shape, symbol = [length_value(size, sizes) for size in symbol.shape], resolve_ends(symbol, sizes)

    def filled(axes: Sequence[int]) -> Any:
        return [filled(axes[1:]) for _ in range(axes[0])] if axes else sample_coordinate(symbol, draw, spread)

    value = filled(shape)
    if symbol.symmetric:
        value = [[value[min(i, j)][max(i, j)] for j in range(shape[1])] for i in range(shape[0])]
    return value


def sample_coordinate(symbol: Symbol, draw: random.Random, spread: Fraction) -> Any:
    """Return a number in the domain of a variable: a fraction whose denominator is a prime, or an integer."""
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
