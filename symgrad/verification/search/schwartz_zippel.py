"""Bound the probability that random points suggest a wrong answer about rational functions: the Schwartz-Zippel lemma.

A nonzero polynomial of degree d vanishes at a point drawn uniformly from S**n with probability at most d/|S|
(J. T. Schwartz, Journal of the ACM 27, 1980; R. Zippel, EUROSAM 1979). S is the field of 2**61 - 1 elements. A
polynomial with integer coefficients may also vanish because the prime divides all of them: the bound is for polynomials
whose coefficients are smaller than the prime.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TypeAlias

from symgrad.checker.program.steps import ProofProgram, ProofStep
from symgrad.verification.limits import CHANCE_POINTS

_Degrees: TypeAlias = "tuple[int, int]"

_PRIME = 2**61 - 1


def error_probability(program: ProofProgram, a: int, b: int) -> float | None:
    """Return a bound on the probability that two steps differ although they agree at random points of a finite field.

    Args:
        program: the program.
        a: the position of one value.
        b: the position of the other value.

    Returns:
        The bound; None if the steps are not rational functions of scalars, or differ there.
    """
    degrees = _degrees(program, max(a, b))
    left, right = degrees[a], degrees[b]
    if left is None or right is None:
        return None
    (p, q), (r, s) = left, right
    degree = max(p + s, r + q)
    draw = random.SystemRandom()
    agreed = 0
    for _ in range(3 * CHANCE_POINTS):
        point = {x.name: draw.randrange(_PRIME) for x in program.symbols}
        values = _values(program, max(a, b), point)
        if values is None:
            continue  # a denominator vanishes: try another point
        if values[a] != values[b]:
            return None
        agreed += 1
        if agreed == CHANCE_POINTS:
            return (degree / _PRIME if degree < _PRIME else 1.0) ** CHANCE_POINTS
    return None


def _degrees(program: ProofProgram, last: int) -> list[_Degrees | None]:
    """Bound the degrees of numerator and denominator of every step; None for a step that is not a rational function."""
    found: list[_Degrees | None] = []
    for step in program.steps[: last + 1]:
        args = [found[x] for x in step.args]
        known = [x for x in args if x is not None]
        usable = len(known) == len(args) <= 2 and not step.shape
        found.append(_degree(program, step, *[*known, (0, 0), (0, 0)][:2]) if usable else None)
    return found


def _degree(program: ProofProgram, step: ProofStep, a: _Degrees, b: _Degrees) -> _Degrees | None:
    (p, q), (r, s) = a, b
    match step.op:
        case "symbol":
            return 1, 0
        case "number" if not isinstance(step.params[0], bool):
            return 0, 0
        case "neg" | "stop_gradient":
            return a
        case "add":
            return max(p + s, r + q), q + s
        case "mul":
            return p + r, q + s
        case "div":
            return p + s, q + r
        case "pow" if (n := _exponent(program, step.args[1])) is not None:
            return (p * n, q * n) if n >= 0 else (q * -n, p * -n)
        case _:
            return None


def _exponent(program: ProofProgram, at: int) -> int | None:
    step = program.steps[at]
    if step.op == "number" and not isinstance(step.params[0], bool):
        value = Fraction(step.params[0])
        if value.denominator == 1 and abs(value) < 2**40:
            return int(value)
    return None


def _values(program: ProofProgram, last: int, point: dict[str, int]) -> list[int] | None:
    found: list[int] = []
    for step in program.steps[: last + 1]:
        args = [found[x] for x in step.args]
        match step.op:
            case "symbol":
                value = point[step.params[0]]
            case "number":
                number = Fraction(step.params[0])
                if number.denominator % _PRIME == 0:
                    return None
                value = number.numerator * pow(number.denominator, -1, _PRIME)
            case "neg":
                value = -args[0]
            case "stop_gradient":
                value = args[0]
            case "add":
                value = args[0] + args[1]
            case "mul":
                value = args[0] * args[1]
            case "div" | "pow":
                n = -1 if step.op == "div" else _exponent(program, step.args[1]) or 0
                base = args[1] if step.op == "div" else args[0]
                if n < 0 and base % _PRIME == 0:
                    return None
                value = pow(base, n, _PRIME) * (args[0] if step.op == "div" else 1)
            case _:
                return None
        found.append(value % _PRIME)
    return found
