"""Exact numbers: arithmetic, and the limits of their length, with the reasons for them.

A rewrite that would exceed a limit is not made (`power` returns None, and the rewrite engine catches the error of
`exact_value`). If a number of the user exceeds a limit, a NumberTooLargeError is raised. The checker of proofs, which
imports no other package, has its own limits in `checker/limits.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from symgrad.support.errors import NumberTooLargeError

Exact = int | Fraction

CONSTANTS: Mapping[str, Fraction] = {
    "pi": Fraction("3.14159265358979323846264338327950288419716939937510582097494"),
    "E": Fraction("2.71828182845904523536028747135266249775724709369995957496697"),
    "EulerGamma": Fraction("0.577215664901532860606512090082402431042159335939923598805767"),
    "Catalan": Fraction("0.915965594177219015054603514932384110774149374281672134266498"),
    "GoldenRatio": Fraction("1.61803398874989484820458683436563811772030917980576286213545"),
}
"""The named constants, to 60 digits: enough to round correctly to any binary format up to 128 bits."""

DIGITS = 4_000
"""The most digits of an integer, numerator or denominator in a graph and in a text. Python converts at most 4,300
digits, in quadratic time."""

FOLDED = 4_096
"""The most bits of a power of numbers that is evaluated in symgrad's own formulas: enough for derivatives of formulas
with long numbers, whereas 9**9**9**9 stays unevaluated."""

MADE = 512
"""The most bits of a number that canonical forms compute; longer numbers are unreadable, and beyond the range of
floats."""

WIDEST = 192
"""The most bits of the end of an interval of values; a longer end moves outward, to 0 or to infinity."""

KNOWN = 900
"""The most bits of an exact value; of a longer value only the sign is known. Infinite ends of intervals are floats, and
arithmetic with a float overflows at 1024 bits."""

HIGHEST = 64
"""The largest exponent of powers that are expanded, of intervals and of the factors of a polynomial."""

MONOMIALS = 24
"""The most terms of a polynomial that is expanded to cancel terms."""

POLYNOMIAL_EQUATIONS = 400
"""The most equations of a formula that is read as a quotient of polynomials."""

POLYNOMIAL_TERMS = 400
"""The most terms of its numerator, and of its denominator."""

PARTS = 24
"""The most parts of a formula that are variables of these polynomials."""

RATIONAL_EXPONENT = 12
"""The largest exponent of a power that is read as a polynomial."""

SIZE_TERMS = 200
"""The most terms of the length of an axis, which is an expanded polynomial in the names of sizes."""

SQUARINGS = 64
"""The most bits of the exponent of a power of a matrix; each bit takes one or two products of matrices."""

FACTORS = 1_000
"""The largest divisor in the trial division for prime factors of radicands."""

_END = 10**DIGITS


def fits(value: Exact) -> bool:
    """Tell whether a number is short enough for a graph.

    Example:
        >>> fits(10**3999), fits(Fraction(1, 10**4000))
        (True, False)
    """
    if isinstance(value, int):
        return -_END < value < _END
    return -_END < value.numerator < _END and value.denominator < _END


def exact_value(value: Exact) -> Exact:
    """Return a number if it is short enough for a graph; an integer becomes an int.

    Raises:
        NumberTooLargeError: if the number is too long.
    """
    if not fits(value):
        raise NumberTooLargeError(
            "a number is too long",
            expected=f"at most {DIGITS:,} digits, in a fraction above and below",
            cure="write a power such as 10**n, or use a symbol",
        )
    return value.numerator if value.denominator == 1 else value


def is_longer(value: Exact, bits: int) -> bool:
    """Tell whether the numerator or the denominator has more than ``bits`` bits."""
    return value.numerator.bit_length() > bits or value.denominator.bit_length() > bits


def power(base: Exact, exponent: int, bits: int) -> Exact | None:
    """Return base**exponent, or None if it has no value, or roughly more than ``bits`` bits.

    Example:
        >>> power(Fraction(2, 3), -2, FOLDED), power(9, 9**9, FOLDED), power(-1, 9**9, FOLDED)
        (Fraction(9, 4), None, -1)
    """
    if base == 0 and exponent < 0:
        return None
    if base in (0, 1, -1):
        return base if exponent % 2 else base * base if exponent else 1
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if size * abs(exponent) > bits:
        return None
    found = Fraction(base) ** exponent
    return found.numerator if found.denominator == 1 else found


def root(value: int, degree: int) -> int:
    """Return the largest integer whose power with exponent ``degree`` is at most a nonnegative value.

    Example:
        >>> root(10**100 - 1, 2) == 10**50 - 1, root(26, 3)
        (True, 2)
    """
    if degree == 2:
        return math.isqrt(value)
    import flint  # for start-up time: most programs never need it

    return int(flint.fmpz(value).root(degree))


def float_of(value: Exact) -> float:
    """Return the nearest float.

    Raises:
        NumberTooLargeError: if the value is beyond the largest float.
    """
    try:
        return float(value)
    except OverflowError:
        raise NumberTooLargeError(
            f"a number of about 10**{round(math.log10(abs(value.numerator)) - math.log10(value.denominator))} "
            "is beyond the largest float",
            cure="keep it symbolic, or take its logarithm",
        ) from None


def nearest_float(value: Exact) -> float:
    """Return the nearest float; an infinity beyond the largest float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def without(value: int, factor: int) -> tuple[int, int]:
    """Divide a positive integer by a factor as often as possible; return the rest, and the number of divisions.

    Example:
        >>> without(96, 2)
        (3, 5)
    """
    if value % factor:
        return value, 0
    rest, count = without(value, factor * factor)  # so a high power takes few divisions
    return (rest, 2 * count) if rest % factor else (rest // factor, 2 * count + 1)


def decimal_digits(value: Exact) -> tuple[str, int] | None:
    """Return the digits of a nonnegative number, and the number of decimals; None if its decimal does not terminate.

    Example:
        >>> decimal_digits(Fraction(31, 250)), decimal_digits(7), decimal_digits(Fraction(1, 3))
        (('124', 3), ('7', 0), None)
    """
    odd, twos = without(value.denominator, 2)
    rest, fives = without(odd, 5)
    places = max(twos, fives)
    if rest != 1 or places > DIGITS:
        return None
    digits = value.numerator * 10**places // value.denominator
    return (str(digits), places) if fits(digits) else None
