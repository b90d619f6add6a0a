"""Taylor polynomials of formulas at points where they may be 0/0, by divided differences of certain values.

With values at points that are 2**-100 apart, a divided difference of order k is the k-th coefficient to about as many
bits, and no series of functions are needed. Where the formula has a pole, a jump or a kink, the differences are huge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symgrad.checker.numbers import arb, context, rational
from symgrad.ir.graph import Node, number
from symgrad.ops.scalar.arith import add, mul
from symgrad.rewrite.choice.certain_values import CertainValues

_APART = 100
"""The distance of points, as a power of 1/2."""

_SHORT, _AGREEING = 60, 90
"""A coefficient is a fraction with so few bits if so many bits agree: no other number does by chance."""

_GROWTH = 24
"""A coefficient may exceed the largest before it by two to this power: the radius of convergence is not tiny."""


def taylor_coefficients(node: Node, variable: Node, at: Fraction, terms: int) -> Sequence[Fraction] | None:
    """Return the coefficients of 1, t, t**2, ... of a formula of one variable at variable = at + t.

    The value at the point itself is not read, so the point may be a removable singularity.

    Args:
        node: a formula of one variable.
        variable: the variable.
        at: the point.
        terms: the number of coefficients.

    Returns:
        The coefficients; those that are no short fractions are floats. None if values are unknown or the formula is
        not smooth there.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.scalar.trig import sin
        >>> x = symbol(Declaration("x"))
        >>> [round(float(c), 6) for c in taylor_coefficients(sin(x)/x, x, Fraction(0), 4)]
        [1.0, 0.0, -0.166667, 0.0]
        >>> taylor_coefficients(1/x, x, Fraction(0), 4) is None
        True
    """
    step = Fraction(1, 2**_APART)
    places = [k * step for k in range(-((terms + 1) // 2), terms // 2 + 1) if k][:terms]
    bits = 3 * _APART * (terms + 4)
    values = CertainValues([node])
    rows = [values.balls({variable: at + t}, bits)[0] for t in places]
    if any(v is None or isinstance(v, bool) for v in rows):
        return None
    with context.workprec(bits):
        steps = [rational(t) for t in places]
        return _numbers(_in_powers(_divided_differences([arb(v) for v in rows], steps), steps))


def _divided_differences(values: Sequence[Any], places: Sequence[Any]) -> list[Any]:
    table = list(values)
    for order in range(1, len(table)):
        for k in range(len(table) - 1, order - 1, -1):
            table[k] = (table[k] - table[k - 1]) / (places[k] - places[k - order])
    return table


def _in_powers(newton: Sequence[Any], places: Sequence[Any]) -> list[Any]:
    """Return the coefficients of powers of a polynomial in Newton's form."""
    found = [newton[-1]]
    for c, place in zip(newton[-2::-1], places[-2::-1], strict=True):
        found = [arb(0), *found]
        for k in range(len(found) - 1):
            found[k] -= place * found[k + 1]
        found[0] += c
    return found


def _numbers(coefficients: Sequence[Any]) -> Sequence[Fraction] | None:
    found: list[Fraction] = []
    largest = 0.0
    for k, c in enumerate(coefficients):
        value = float(c.mid())
        if not math.isfinite(value) or float(c.rad()) > 2.0**-_APART * max(abs(value), largest, 2.0**-_APART):
            return None
        if k and largest and abs(value) > largest * 2.0**_GROWTH:
            return None
        # What is left of a coefficient that vanishes is as small as the distance of the points.
        if abs(value) <= 2.0 ** (-_APART / 2) * (largest or 2.0 ** (-_APART / 2)):
            found.append(Fraction(0))
            continue
        largest = max(largest, abs(value))
        found.append(_short(c.mid()))
    return found if largest else None


def _short(value: Any) -> Fraction:
    """Return the rational number that a value with about `_APART` bits stands for, or the nearest float."""
    mantissa, exponent = (int(part) for part in value.man_exp())
    exact = mantissa * Fraction(2) ** exponent
    near = exact.limit_denominator(2**_SHORT)
    short = near.numerator.bit_length() + near.denominator.bit_length() <= _SHORT
    if short and abs(near - exact) < abs(exact) / 2**_AGREEING:
        return near
    return Fraction(repr(float(exact)))


def taylor_polynomial(coefficients: Sequence[Fraction], t: Node) -> Node:
    """Return a polynomial in Horner's form; in t**2 if it is even or odd."""
    if not any(coefficients[1::2]):
        return _horner(coefficients[::2], mul(t, t))
    if not any(coefficients[::2]):
        return mul(t, _horner(coefficients[1::2], mul(t, t)))
    return _horner(coefficients, t)


def _horner(coefficients: Sequence[Fraction], t: Node) -> Node:
    rest = [*coefficients]
    while len(rest) > 1 and not rest[-1]:
        rest.pop()
    found: Node = number(rest[-1])
    for c in rest[-2::-1]:
        found = t if found.is_number(1) else mul(t, found)
        if c:
            found = add(found, number(c))
    return found
