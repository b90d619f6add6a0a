"""Exact complex numbers with rational parts (Gaussian rationals)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from symgrad.checker.numbers import flint, number_from_json, number_to_json


@dataclass(frozen=True, slots=True)
class Gaussian:
    """real + imag*i.

    Args:
        real: a Fraction.
        imag: a Fraction.

    Example:
        >>> z = Gaussian(Fraction(1, 2), Fraction(-3))
        >>> print(z, z*z, z/z, complex(z))
        1/2 - 3*i -35/4 - 3*i 1 (0.5-3j)
    """

    real: Fraction
    imag: Fraction = Fraction(0)

    def __bool__(self) -> bool:
        return bool(self.real or self.imag)

    def __add__(self, other: Gaussian) -> Gaussian:
        return Gaussian(self.real + other.real, self.imag + other.imag)

    def __neg__(self) -> Gaussian:
        return Gaussian(-self.real, -self.imag)

    def __mul__(self, other: Gaussian) -> Gaussian:
        a, b, c, d = self.real, self.imag, other.real, other.imag
        return Gaussian(a * c - b * d, a * d + b * c)

    def __truediv__(self, other: Gaussian) -> Gaussian:
        size = other.real**2 + other.imag**2
        return self * Gaussian(other.real / size, -other.imag / size)

    def __pow__(self, n: int) -> Gaussian:
        base, result = (self, Gaussian(Fraction(1))) if n >= 0 else (Gaussian(Fraction(1)) / self, self**0)
        n = abs(n)
        while n:
            result = result * base if n & 1 else result
            n >>= 1
            base = base * base if n else base
        return result

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imag))

    def __str__(self) -> str:
        if not self.imag:
            return number_to_json(self.real)
        size = "i" if abs(self.imag) == 1 else f"{number_to_json(abs(self.imag))}*i"
        if not self.real:
            return size if self.imag > 0 else f"-{size}"
        return f"{number_to_json(self.real)} {'+' if self.imag > 0 else '-'} {size}"

    @property
    def bits(self) -> int:
        """The number of bits of the longest numerator or denominator."""
        return max(n.bit_length() for x in (self.real, self.imag) for n in x.as_integer_ratio())

    def sqrt(self) -> Gaussian | None:
        """Return the principal square root if its parts are rational, otherwise None."""
        size = _root(self.real**2 + self.imag**2)
        half = None if size is None else _root((size + self.real) / 2)
        if half is None or size is None:
            return None
        if half:
            return Gaussian(half, self.imag / (2 * half))
        below = _root((size - self.real) / 2)
        return None if below is None else Gaussian(Fraction(0), below)

    def to_json(self) -> dict[str, str]:
        """Return the number as a value for `json.dumps`.

        Example:
            >>> Gaussian(Fraction(1, 2), Fraction(-3)).to_json()
            {'re': '1/2', 'im': '-3'}
        """
        return {"re": number_to_json(self.real), "im": number_to_json(self.imag)}


def gaussian_from_json(data: Any) -> Gaussian:
    """Read a number of a proof file: text, or an object with ``re`` and ``im``.

    Raises:
        ValueError, KeyError, TypeError: if it is not a number.
    """
    if isinstance(data, str):
        return Gaussian(number_from_json(data))
    parts = cast("Mapping[str, Any]", data)
    if set(parts) != {"re", "im"} or not all(isinstance(p, str) for p in parts.values()):
        raise ValueError(f"{data!r} is no complex number")
    return Gaussian(number_from_json(parts["re"]), number_from_json(parts["im"]))


def _root(x: Fraction) -> Fraction | None:
    """Return the square root of a nonnegative rational if it is rational, otherwise None."""
    top, bottom = (flint.fmpz(n) for n in (x.numerator, x.denominator))
    p, q = top.isqrt(), bottom.isqrt()
    return Fraction(int(p), int(q)) if p * p == top and q * q == bottom else None
