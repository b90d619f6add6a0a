"""The polynomials and constants of symgrad/compiler/llvm/maths/coefficients.py, which tools/minimax.py
computes and writes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import mp

__all__ = ["CONSTANTS", "FITS", "Fit"]

mp.dps = 50

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Fit:
    """A polynomial for `function` on [low, high]: `weight` converts its error into the relative error of the result."""

    name: str
    what: str
    function: Function
    low: Any
    high: Any
    degree: int
    weight: Function


LN2_2 = mp.log(2) / 2

FITS = [
    Fit(
        "EXP_SHORT",
        "(exp(r) - 1 - r)/r**2, |r| <= log(2)/2, for a result rounded three times",
        lambda r: (mp.expm1(r) - r) / r**2,
        -LN2_2 - 0.001,
        LN2_2 + 0.001,
        9,
        lambda r: r**2,
    ),
    Fit(
        "EXP",
        "(exp(r) - 1 - r)/r**2, |r| <= log(2)/2",
        lambda r: (mp.expm1(r) - r) / r**2,
        -LN2_2 - 0.001,
        LN2_2 + 0.001,
        10,
        abs,
    ),
    Fit(
        "COSH",
        "(cosh(r) - 1)/r**2 in r**2",
        lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z,
        0,
        (LN2_2 + 0.001) ** 2,
        5,
        lambda z: z,
    ),
    Fit(
        "SINH",
        "(sinh(r) - r)/r**3 in r**2",
        lambda z: (mp.sinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
        0,
        (LN2_2 + 0.001) ** 2,
        5,
        lambda z: z,
    ),
    Fit(
        "LOG",
        "R(s)/s**2 in s**2, log((1 + s)/(1 - s)) = 2*s + s*R, |s| <= 0.1716",
        lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
        0,
        mp.mpf("0.1716") ** 2,
        6,
        lambda z: z / 2,
    ),
    Fit(
        "LOG_WIDE",
        "the same, |s| <= 0.2",
        lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
        0,
        mp.mpf("0.2") ** 2,
        7,
        lambda z: z / 2,
    ),
]


def series(function: Function, leading: Any, z: Any) -> Any:
    """(function(t)/t - leading)/z with t = sqrt(z)."""
    return (function(mp.sqrt(z)) / mp.sqrt(z) - leading) / z


FITS += [
    Fit(
        "EXP_CUBIC",
        "(exp(r) - 1 - r - r**2/2)/r**3, 3/4 <= exp(r) <= 3/2",
        lambda r: (mp.expm1(r) - r - r**2 / 2) / r**3,
        mp.log(0.75) - 0.001,
        mp.log(1.5) + 0.001,
        9,
        lambda r: r**2,
    ),
]

FITS += [
    Fit(
        "SIN",
        "(sin(r) - r)/r**3 in r**2, |r| <= pi/4",
        lambda z: series(mp.sin, 1, z),
        0,
        mp.mpf("0.786") ** 2,
        5,
        lambda z: z,
    ),
    Fit(
        "COS",
        "(cos(r) - 1 + r**2/2)/r**4 in r**2",
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
        0,
        mp.mpf("0.786") ** 2,
        5,
        lambda z: z**2,
    ),
    Fit(
        "SIN_SHORT",
        "(sin(r) - r)/r**3 in r**2, |r| <= pi/16",
        lambda z: series(mp.sin, 1, z),
        0,
        mp.mpf("0.1964") ** 2,
        3,
        lambda z: z,
    ),
    Fit(
        "COS_SHORT",
        "(cos(r) - 1)/r**2 in r**2, |r| <= pi/16",
        lambda z: (mp.cos(mp.sqrt(z)) - 1) / z,
        0,
        mp.mpf("0.1964") ** 2,
        4,
        lambda z: 2 * z,
    ),
    Fit(
        "TAN",
        "(2*tan(r/2) - r)/r**3 in r**2",
        lambda z: series(lambda r: 2 * mp.tan(r / 2), 1, z),
        0,
        mp.mpf("0.786") ** 2,
        8,
        lambda z: z,
    ),
    Fit(
        "ATAN",
        "(atan(t) - t)/t**3 in t**2, |t| <= 1/2",
        lambda z: series(mp.atan, 1, z),
        0,
        mp.mpf("0.2501"),
        12,
        lambda z: z,
    ),
    Fit(
        "ASIN",
        "(asin(t) - t)/t**3 in t**2, |t| <= 1/2",
        lambda z: series(mp.asin, 1, z),
        0,
        mp.mpf("0.2501"),
        12,
        lambda z: z,
    ),
]


CENTRE = mp.mpf(3.75)


def erfc_in_s(s: Any) -> Any:
    t = CENTRE * (1 + s) / (1 - s)
    return (1 + 2 * t) * mp.exp(t**2) * mp.erfc(t)


def fifth(z: Any) -> Any:
    return (2 * series(mp.atanh, 1, z) - mp.mpf(2) / 3) / z


LAST = (30 - CENTRE) / (30 + CENTRE)

FITS += [
    Fit(
        "LOG_FIFTH",
        "(2*atanh(s)/s - 2 - 2/3*s**2)/s**4 in s**2, |s| <= 0.1716",
        fifth,
        0,
        0.02946,
        7,
        lambda z: z**2 / 2,
    ),
    Fit(
        "CBRT", "m**(-1/3), sqrt(1/2) <= m <= sqrt(2)", lambda m: 1 / mp.cbrt(m), 0.707, 1.415, 4, lambda m: 1
    ),
    Fit(
        "ERF",
        "erf(x)/x - 1 in x**2, |x| <= 1",
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
        0,
        1,
        14,
        lambda z: 1,
    ),
    Fit(
        "ERFC",
        "(P(s) - P(0))/s, P = (1 + 2*t)*exp(t**2)*erfc(t) in s = (t - K)/(t + K), t >= 0.49",
        lambda s: (erfc_in_s(s) - erfc_in_s(0)) / s,
        mp.mpf(0.49 - CENTRE) / (0.49 + CENTRE),
        LAST,
        22,
        abs,
    ),
]

FITS += [
    Fit(
        "LGAMMA",
        "lgamma(2 + t)/t, -3/4 <= t <= 1/2",
        lambda t: mp.loggamma(2 + t) / t,
        -0.75,
        0.5,
        24,
        lambda t: t / mp.loggamma(2 + t),
    ),
    Fit(
        "STIRLING",
        "(lgamma(x) - (x - 1/2)*log(x) + x - log(2*pi)/2)*x in 1/x**2, x >= 8",
        lambda z: (
            (
                mp.loggamma(1 / mp.sqrt(z))
                - (1 / mp.sqrt(z) - 0.5) * mp.log(1 / mp.sqrt(z))
                + 1 / mp.sqrt(z)
                - mp.log(2 * mp.pi) / 2
            )
            / mp.sqrt(z)
        ),
        mp.mpf(2) ** -30,
        mp.mpf(1) / 64,
        6,
        lambda z: mp.sqrt(z) / mp.loggamma(1 / mp.sqrt(z)),
    ),
]

ROOT = mp.findroot(mp.digamma, 1.46)


def above_half(y: Any) -> Any:
    """digamma(y + 1/2)."""
    return mp.digamma(y + 0.5)


FITS += [
    Fit(
        "DIGAMMA",
        "digamma(t + DIGAMMA_ROOT)/t - 1, 1 <= t + DIGAMMA_ROOT <= 2",
        lambda t: mp.digamma(t + ROOT) / t - 1,
        1 - ROOT,
        2 - ROOT,
        21,
        lambda t: t / mp.digamma(t + ROOT),
    ),
    Fit(
        "DIGAMMA_FAR",
        "(digamma(y + 1/2) - log(y))*y**2 in 1/y**2, y >= 2.5",
        lambda z: (above_half(1 / mp.sqrt(z)) + mp.log(z) / 2) / z,
        mp.mpf(2) ** -30,
        1 / mp.mpf(2.5) ** 2,
        12,
        lambda z: z / above_half(1 / mp.sqrt(z)),
    ),
]


def parts(name: str, value: Any, *bits: int) -> str:
    """A constant as a sum of doubles: all but the last have at most so many bits, so that small multiples are exact."""
    terms: list[float] = []
    for size in (*bits, 53):
        exponent = mp.floor(mp.log(abs(value), 2)) - size + 1
        # The doubles are truncated, except the last: then every remainder has the sign of the constant.
        scaled = value / mp.mpf(2) ** exponent
        term = float((mp.nint if size == 53 else mp.floor)(scaled) * mp.mpf(2) ** exponent)
        terms.append(term)
        value -= mp.mpf(term)
    return f'{name} = _read("{" ".join(t.hex() for t in terms)}")'


def doubled(name: str, values: Iterable[Any], leading: int) -> str:
    """Exact coefficients; the first few of them are sums of two doubles."""
    lines: list[str] = []
    small: list[float] = []
    for k, value in enumerate(values):
        high = float(mp.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value)
        low = float(value - Fraction(high) if isinstance(value, Fraction) else value - mp.mpf(high))
        if k < leading:
            lines.append(f'        _read("{high.hex()} {low.hex()}"),')
        else:
            small.append(high)
    rows = [small[i : i + 4] for i in range(0, len(small), 4)]
    ends = [f'        "{" ".join(c.hex() for c in row)} "' for row in rows]
    return "\n".join(
        [f"{name} = PairCoefficients(", "    (", *lines, "    ),", "    _read(", *ends, "    ),", ")"]
    )


def bernoulli_at_half(n: int) -> Fraction:
    """The Bernoulli polynomial of even degree n at 1/2."""
    p, q = mp.bernfrac(n)
    return (Fraction(2) / 2**n - 1) * Fraction(int(p), int(q))


def directions(count: int) -> str:
    """Doubles in the ratio of sine and cosine of k*2*pi/count, and their relative difference from the exact values.

    Each cosine a few units from the nearest double has a sine that fits it best; the pair nearest to the exact ratio is
    taken. A sine of zero is a negative zero with a tiny positive difference, so that zeros keep their signs.
    """

    def point(k: int) -> tuple[float, float, float]:
        s, c = mp.sinpi(mp.mpf(2 * k) / count), mp.cospi(mp.mpf(2 * k) / count)
        if s == 0 or c == 0:
            return float(s) or -0.0, float(c), 2.0**-200
        units = range(-8, 9) if abs(s) != abs(c) else (0,)
        pairs = [(float(x * s / c), x) for x in (float(c) + u * math.ulp(float(c)) for u in units)]
        sine, cosine = min(pairs, key=lambda pair: abs(pair[0] * c - pair[1] * s))
        return sine, cosine, float(1 / mp.hypot(sine, cosine) - 1)

    sines, cosines, lacks = zip(*map(point, range(count)), strict=True)
    lines: list[str] = []
    for name, numbers in (("SINES", sines), ("COSINES", cosines), ("LACKS", lacks[:8])):
        rows = [" ".join(x.hex() for x in numbers[i : i + 4]) for i in range(0, len(numbers), 4)]
        lines += [f"{name} = _read(", *(f'    "{row} "' for row in rows), ")"]
    return "\n".join(lines)


CONSTANTS = [
    ("log(2); multiples up to 2048 of the first part are exact", parts("LN2", mp.log(2), 42)),
    ("log(2) as a sum", parts("LN2_FULL", mp.log(2), 53)),
    ("pi/2; multiples up to 2**20 of the second part are exact", parts("HALF_PI", mp.pi / 2, 53, 33)),
    (
        "pi/2; multiples up to 2**20 of all parts but the last are exact",
        parts("HALF_PI_IN_FOUR", mp.pi / 2, 33, 33, 33),
    ),
    (
        "pi/8 in units of 2**-51; multiples up to 2**22 of the second part are exact",
        parts("EIGHTH_PI", mp.pi / 8 * mp.mpf(2) ** 51, 53, 31),
    ),
    ("8/pi in those units", f'EIGHTHS = float.fromhex("{float(8 / mp.pi / mp.mpf(2) ** 51).hex()}")'),
    (
        "points next to the unit circle in the directions k*pi/8, and what they lack of 1; lacks repeat after four",
        directions(16),
    ),
    ("pi/2 as a sum", parts("HALF_PI_FULL", mp.pi / 2, 53)),
    ("pi/4; multiples up to 4 of the first part are exact", parts("QUARTER_PI", mp.pi / 4, 50)),
    ("1/log(2)", parts("LOG2_E", 1 / mp.log(2), 53)),
    ("1/log(10)", parts("LOG10_E", 1 / mp.log(10), 53)),
    ("2/3 as a sum", parts("LOG_THIRD", mp.mpf(2) / 3, 53)),
    ("P(0) of ERFC as a sum", parts("ERFC_MIDDLE", erfc_in_s(0), 53)),
    ("K of ERFC", f"ERFC_CENTRE = {float(CENTRE)}"),
    ("the root of digamma as a sum", parts("DIGAMMA_ROOT", ROOT, 53)),
    (
        "log(2); multiples up to 2048 of the first two parts are exact",
        parts("LN2_LONG", mp.log(2), 42, 42),
    ),
    ("pi**2 as a sum", parts("PI_SQUARED", mp.pi**2, 53)),
    (
        "atanh(s)/s in s**2, |s| <= 0.1716, to 104 bits",
        doubled("ATANH_DOUBLED", (Fraction(1, 2 * k + 1) for k in range(22)), 11),
    ),
    (
        "sin(pi*t)/(pi*t) in t**2, |t| <= 1/4, to 104 bits",
        doubled("SINE_OF_TURNS", ((-1) ** k * mp.pi ** (2 * k) / mp.fac(2 * k + 1) for k in range(14)), 8),
    ),
    (
        "cos(pi*t) in t**2, |t| <= 1/4, to 104 bits",
        doubled("COSINE_OF_TURNS", ((-1) ** k * mp.pi ** (2 * k) / mp.fac(2 * k) for k in range(15)), 9),
    ),
    (
        "(digamma(y + 1/2) - log(y))*y**2 in 1/y**2, y >= 16.5, to 104 bits beside log(y)",
        doubled("DIGAMMA_DOUBLED", (-bernoulli_at_half(2 * k) / (2 * k) for k in range(1, 21)), 6),
    ),
    ("log10(2), multiples as of LN2", parts("LOG10_2", mp.log10(2), 42)),
    ("log(2*pi)/2 - 1/2", f'STIRLING_CONSTANT = float.fromhex("{float(mp.log(2 * mp.pi) / 2 - 0.5).hex()}")'),
]
