"""Sample exact complex points for a statement: the same ones in every run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain, cycle, islice
from typing import Any

from symgrad.checker.complex.gaussian import Gaussian
from symgrad.checker.program.steps import ProofProgram, Symbol
from symgrad.verification.points.sampler import points_of

_GENERIC = 8  # number of points before the first points on the axes
_QUADRANTS = ((1, 1), (-1, 1), (-1, -1), (1, -1))
_HIGH = 4  # some imaginary parts are scaled by this: then log no longer inverts exp


def complex_points(program: ProofProgram) -> Iterator[dict[str, Gaussian]]:
    """Yield points: generic ones first, then real and imaginary ones in turn, where branch cuts lie.

    Args:
        program: variables of kind ``"complex"`` range over all complex numbers, other variables over their declared
            domains.
    """
    generic, real, imaginary = (_points(program, parts) for parts in (("re", "im"), ("re",), ("im",)))
    ways = [generic, real, generic, imaginary]
    yield from islice(ways[0], _GENERIC)
    if not any(s.kind == "complex" for s in program.symbols):
        yield from ways[0]
    for way in cycle(ways):
        found = next(way, None)
        if found is None:
            return
        yield found


def _points(program: ProofProgram, parts: tuple[str, ...]) -> Iterator[dict[str, Gaussian]]:
    """Yield points whose complex coordinates have these parts; the other part is zero."""

    def real_symbols(s: Symbol) -> list[Symbol]:
        return [replace(s, name=f"{s.name} {p}", kind="real") for p in parts] if s.kind == "complex" else [s]

    symbols = tuple(chain.from_iterable(map(real_symbols, program.symbols)))
    for k, point in enumerate(points_of(ProofProgram(program.steps, symbols), aim=False)):
        yield {s.name: _number(s, point.values, k + j * (1 + k // 4)) for j, s in enumerate(program.symbols)}


def _number(symbol: Symbol, values: Mapping[str, Any], turn: int) -> Gaussian:
    """Return the value of a variable, rotated such that every quadrant and both sides of either axis soon occur."""
    if symbol.kind != "complex":
        return Gaussian(values[symbol.name])
    real, imag = (values.get(f"{symbol.name} {part}", Fraction(0)) for part in ("re", "im"))
    across, up = _QUADRANTS[turn % 4]
    if not (real and imag):
        across = up = (-1) ** turn
    if turn % 8 >= 6:
        up *= _HIGH
    return Gaussian(across * real, up * imag)
