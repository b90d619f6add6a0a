"""Products whose logarithm is the sum of logarithms at every complex point, and square roots of primes (Gauss sums)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symgrad.checker.extension_field.extension import ExtensionField
from symgrad.checker.extension_field.field import Element, FractionField, Poly
from symgrad.checker.limits import LOG_ARGUMENT_TERMS


def split_log(ring: ExtensionField, u: Element) -> tuple[Element, Element, int] | None:
    """Return g, h and p = 1 or -1 with u = g*h**p and log(u) = log(g) + p*log(h) everywhere; None if there are none.

    Let k be a positive number. If g + k*h is positive, then the imaginary parts of g and h have opposite signs, or both
    are real and one is positive: so arg(g) + arg(h) lies in (-pi, pi]. If h - k*g is positive, then the imaginary parts
    of g and h have the same sign, or both are real and h is positive wherever g is: so arg(g) - arg(h) lies in (-pi,
    pi].
    """
    F = ring.field
    if len(u.num) > LOG_ARGUMENT_TERMS or len(u.den) > 1 or u.num.is_constant():
        return None
    unit, factors = ring.split(u.num)
    below = [(F.factors[i], -e) for i, e in u.den]
    found = [f for f, e in [*factors, *below] if abs(e) == 1]
    if len(found) != 2 or len(factors) + len(below) != 2:
        return None
    power = -1 if below else 1
    for sign in (1, -1):
        g, h = found[0] * unit * sign, found[1] * sign
        if _is_positive(F, g, h, power):
            return Element(g), Element(h), power
    return None


def _is_positive(F: FractionField, g: Poly, h: Poly, power: int) -> bool:
    """Tell whether h + power*k*g is a positive number for some positive number k."""
    zero = (0,) * F.capacity
    (rest_g, one_g), (rest_h, one_h) = (
        (p - p.to_dict().get(zero, 0), p.to_dict().get(zero, 0)) for p in (g, h)
    )
    if not rest_g or not rest_h:
        return False
    k = -power * rest_h.leading_coefficient() / rest_g.leading_coefficient()
    return bool(k > 0 and rest_h + power * k * rest_g == 0 and one_h + power * k * one_g > 0)


def root_of_prime(
    F: FractionField, turns: int, unity: Callable[[Fraction], Element], value: Element
) -> Element | None:
    """Return the square root of a prime number as a Gauss sum of roots of unity of order ``turns``.

    The result is None if it is not one.
    """
    p = F.integer(value) or 0
    if p < 2 or turns % (8 if p == 2 else 4 * p):
        return None
    if p == 2:
        return F.add(unity(Fraction(1, 8)), unity(Fraction(-1, 8)))
    total, squares = F.constant(0), {a * a % p for a in range(1, p)}
    for a in range(1, p):
        turn = unity(Fraction(a, p))
        total = F.add(total, turn if a in squares else F.neg(turn))
    return total if p % 4 == 1 else F.mul(unity(Fraction(3, 4)), total)
