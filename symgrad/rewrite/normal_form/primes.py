"""Prime factors of exact numbers by trial division, for roots of numbers."""

from __future__ import annotations

from fractions import Fraction

from symgrad.ir.exact import FACTORS, without


def is_power(value: Fraction, q: int | Fraction) -> bool:
    """Tell whether value**q is rational."""
    return all((count * q).denominator == 1 for _, count in prime_powers(value))


def prime_powers(value: Fraction) -> list[tuple[int, int]]:
    """Return the prime factors with their exponents; a cofactor without small prime factors counts as prime."""
    found: list[tuple[int, int]] = []
    for n, sign in ((value.numerator, 1), (value.denominator, -1)):
        p = 2
        while p * p <= n and p < FACTORS:
            if n % p == 0:
                n, count = without(n, p)
                found.append((p, sign * count))
            p += 1 if p == 2 else 2
        if n > 1:
            found.append((n, sign))
    return found
