"""Polylogarithms, the zeta functions of Riemann and Hurwitz, and Lambert's W.

Derivatives with respect to the argument are from DLMF 25.12.11, 25.11.17 and 4.13.4. For derivatives with respect to
the order there is no closed form. Values at integer orders follow from the series at 0 and 1 and from inversion (DLMF
25.12, 25.13). zeta at other orders follows from the Euler-Maclaurin formula (DLMF 25.11.5). All other values are from
mpmath.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symgrad.ir.graph import Op, as_node
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.record import binary, by_scipy, facts, unary
from symgrad.ops.scalar.elementary import exp
from symgrad.ops.scalar.logic import all_of, any_of, eq, ge, gt, le, lt, ne
from symgrad.ops.scalar.rounding import floor
from symgrad.ops.special.gamma import bernoulli, horner, polygamma_of_order, polygamma_reference
from symgrad.ops.special.orders import code_of_order, no_derivative, values_by_order

_LARGEST_ORDER = 30
_TERMS = 26  # the number of terms of each series, enough at the ends of its interval


# ------------------------------------------------------------------------------------------------------- polylogarithms


@lru_cache
def _eulerian(n: int) -> tuple[int, ...]:
    """Return the coefficients, constant first, of A_n: the polylogarithm of order -n is x*A_n(x)/(1 - x)**(n + 1)."""
    row = [1]
    for m in range(2, n + 1):
        at = [0, *row, 0]
        row = [(k + 1) * at[k + 1] + (m - k) * at[k] for k in range(m)]
    return tuple(row)


def _zeta_at(n: int) -> float:
    """Return Riemann's zeta function at an integer other than 1."""
    if n <= 0:
        return float(-bernoulli(1 - n) / (1 - n)) if n else -0.5
    return float(by_scipy("zeta")(n))


def _eta_at(n: int) -> float:
    return math.log(2) if n == 1 else (1 - 2.0 ** (1 - n)) * _zeta_at(n)


def _polylog(b: Builder, order: float, x: Lane) -> Lane | None:
    if order != math.floor(order) or abs(order) > _LARGEST_ORDER:
        return None
    n = int(order)
    one = b.const(1)
    if n == 1:
        return b.neg(b.call("log1p", b.neg(x)))
    if n <= 0:
        w = b.div(one, b.sub(one, x))
        value = b.mul(x, w)
        if n < 0:
            value = b.mul(value, horner(b, _eulerian(-n), x))
        for _ in range(-n):
            value = b.mul(value, w)
        return value
    half = b.const(0.5)
    powers = [Fraction(0), *(Fraction(1, k**n) for k in range(1, 2 * _TERMS + 4))]
    small = horner(b, powers, x)
    size = b.abs(x)
    inside = b.lt(x, one)
    # Near 1 this is a series in powers of the logarithm; at 1 itself the power of the logarithm times log(-log) is 0.
    above = b.gt(x, half)
    log = b.call("log", b.select(above, x, one))
    known = [0.0 if k == n - 1 else _zeta_at(n - k) / math.factorial(k) for k in range(_TERMS)]
    at_one = b.eq(log, b.const(0))
    harmonic = b.const(math.fsum(1 / k for k in range(1, n)))
    bracket = b.sub(harmonic, b.call("log", b.select(at_one, one, b.neg(log))))
    power = b.const(1 / math.factorial(n - 1))
    for _ in range(n - 1):
        power = b.mul(power, log)
    near = b.add(horner(b, known, log), b.mul(power, bracket))
    # For negative x this is a series in powers of the logarithm of -x; for x < -2 it is used after inversion.
    far = b.lt(x, b.const(-2))
    minus = b.neg(b.select(b.lt(x, b.neg(half)), x, b.const(-1)))
    inverted = b.select(far, b.div(one, minus), minus)
    log = b.call("log", inverted)
    series = horner(b, [-_eta_at(n - k) / math.factorial(k) for k in range(_TERMS + 8)], log)
    tiny = horner(b, powers, b.neg(inverted))
    inner = b.select(b.lt(inverted, half), tiny, series)
    up = b.neg(log)  # the negative logarithm of -x
    terms = [0.0] * (n + 1)
    for k in range(n // 2 + 1):
        eta = 0.5 if k == 0 else _eta_at(2 * k)
        terms[n - 2 * k] = -2 * eta / math.factorial(n - 2 * k)
    outer = b.sub(horner(b, terms, up), inner if n % 2 == 0 else b.neg(inner))
    negative = b.select(far, outer, inner)
    value = b.select(b.le(size, half), small, b.select(above, near, negative))
    return b.select(b.or_(inside, b.eq(x, one)), value, b.const(math.nan))


def _polylog_reference(mp: Any, n: Any, x: Any) -> Any:
    whole = n == mp.floor(n)
    if not (x < 1 or (x == 1 and n > 1) or (whole and n <= 0 and x != 1)) or mp.isnan(n):
        return mp.nan
    if whole and n <= 0:
        m = int(-n)
        if m == 0:
            return x / (1 - x)
        return x * mp.fsum(c * x**k for k, c in enumerate(_eulerian(m))) / (1 - x) ** (m + 1)
    if x == 0:
        return mp.mpf(0)
    if n == 1:
        return -mp.log1p(-x)
    with mp.workdps(mp.dps + 15):
        value = mp.re(mp.zeta(n) if x == 1 else mp.polylog(int(n) if whole else n, x))
    return +value


polylog: Op = binary(
    "polylog",
    doc="the polylogarithm of order n, the sum of x**k/k**n over k = 1, 2, ..., and its continuation to x < 1",
    domain=lambda n, x: any_of(
        lt(x, as_node(1)),
        all_of(eq(x, as_node(1)), gt(n, as_node(1))),
        all_of(ne(x, as_node(1)), le(n, as_node(0)), eq(floor(n), n)),
    ),
    evaluate=values_by_order(_polylog, _polylog_reference),
    reference=_polylog_reference,
    partials=(no_derivative("polylog"), lambda out, n, x: polylog(n - 1, x) / x),
    kinks=(
        Kink("y = 0", (2, 0), (None, None), "a quotient there, which has a limit and no value", smooth=True),
        Kink("y = 1", (2, 1), (None, None), "the end of the domain"),
    ),
    lower=code_of_order("polylog", _polylog, "whole, from -30 to 30"),
    latex=r"\operatorname{{Li}}_{{{0}}}\left({1}\right)",
    samples=(
        (2, "0.4"), (2, "-7.5"), (3, "0.8"), (3, "-0.7"), (1, "-3.5"), (0, "2.5"), (-2, "0.3"), (4, "-12.5"),
    ),
)  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- zeta


def _bernoulli_polynomial(n: int) -> list[Fraction]:
    """Return the coefficients, with the constant first."""
    return [math.comb(n, k) * bernoulli(n - k) for k in range(n + 1)]


def _zeta(b: Builder, s: float, a: Lane) -> Lane | None:
    if s == 1:
        return b.select(b.lt(a, a), a, b.const(math.nan))
    if s == math.floor(s):
        n = int(s)
        if n > _LARGEST_ORDER + 1 or n < -_LARGEST_ORDER:
            return None
        if n <= 0:
            scaled = [-c / (1 - n) for c in _bernoulli_polynomial(1 - n)]
            return horner(b, scaled, a)
        value = polygamma_of_order(b, n - 1, a)
        return b.mul(b.const(Fraction((-1) ** n, math.factorial(n - 1))), value)
    if not 1 < s <= _LARGEST_ORDER:
        return None
    steps = 10 + math.ceil(s)
    total = None
    inside = b.select(b.gt(a, b.const(0)), a, b.const(math.nan))
    for k in range(steps):
        term = b.call("pow", b.add(inside, b.const(k)), b.const(-s))
        total = term if total is None else b.add(total, term)
    z = b.add(inside, b.const(steps))
    w = b.div(b.const(1), z)
    coefficients: list[float] = []
    rising = s
    for j in range(1, 13):
        coefficients.append(float(bernoulli(2 * j)) / math.factorial(2 * j) * rising)
        rising *= (s + 2 * j - 1) * (s + 2 * j)
    bracket = b.add(
        b.mul(z, b.const(1 / (s - 1))), b.add(b.const(0.5), b.mul(w, horner(b, coefficients, b.mul(w, w))))
    )
    return b.add(total, b.mul(b.call("pow", z, b.const(-s)), bracket))


def _zeta_reference(mp: Any, s: Any, a: Any) -> Any:
    if mp.isnan(s) or mp.isnan(a) or s == 1:
        return mp.nan
    whole = s == mp.floor(s)
    if whole and s <= 0:
        return -mp.bernpoly(int(1 - s), a) / (1 - s)
    if not a > 0 and not (whole and a != mp.floor(a)):
        return mp.nan
    if whole and not a > 0:
        n = int(s)
        return (-1) ** n * polygamma_reference(mp, n - 1, a) / mp.factorial(n - 1)
    with mp.workdps(mp.dps + 15):
        value = mp.re(mp.zeta(s, a))
    return +value


zeta: Op = binary(
    "zeta",
    doc="Hurwitz's zeta function, zeta(s, a): the sum of (a + k)**-s over k = 0, 1, ..., and its continuation "
    "to s < 1; zeta(s) is zeta(s, 1)",
    domain=lambda s, a: all_of(
        ne(s, as_node(1)),
        any_of(gt(a, as_node(0)), all_of(eq(floor(s), s), any_of(le(s, as_node(0)), ne(floor(a), a)))),
    ),
    evaluate=values_by_order(_zeta, _zeta_reference),
    reference=_zeta_reference,
    partials=(no_derivative("zeta"), lambda out, s, a: as_node(-1) if s.is_number(0) else -s * zeta(s + 1, a)),
    kinks=(
        Kink("y = 0", (2, 0), (None, None), "a pole"),
        Kink("y a negative integer", (2, -2), (None, None), "a pole"),
    ),
    lower=code_of_order("zeta", _zeta, "whole, from -30 to 31, or between 1 and 30"),
    latex=r"\zeta\left({0}, {1}\right)",
    samples=(
        (2, 1), (3, "0.4"), (2, "-0.3"), ("1.5", "2.5"), ("2.25", "0.7"), (-2, "1.7"), ("7.5", "11.5"),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- Lambert's W

_BRANCH = 24  # terms of the series at the branch point
_INVERSE_E = Fraction(
    "0.36787944117144232159552377016146086744581113103176783450783680169746149574489980335714727434591964"
)


@lru_cache
def _branch_series() -> tuple[Fraction, ...]:
    """Return the coefficients of W in p = sqrt(2*(e*x + 1)): Corless et al., On the Lambert W function (1996), 4.22."""
    mu, alpha = [Fraction(-1), Fraction(1)], [Fraction(2), Fraction(-1)]
    for k in range(2, _BRANCH):
        alpha.append(sum((mu[j] * mu[k + 1 - j] for j in range(2, k)), Fraction(0)))
        mu.append(
            Fraction(k - 1, k + 1) * (mu[k - 2] / 2 + alpha[k - 2] / 4) - alpha[k] / 2 - mu[k - 1] / (k + 1)
        )
    return tuple(mu)


def _lambert(b: Builder, x: Lane) -> Lane:
    one, zero = b.const(1), b.const(0)
    # x + 1/e in three steps: the first two are exact near the branch point.
    parts: list[Fraction] = []
    rest = _INVERSE_E
    for bits in (20, 42):
        parts.append(Fraction(math.floor(rest * 2**bits), 2**bits))
        rest -= parts[-1]
    off = b.add(b.add(b.add(x, b.const(parts[0])), b.const(parts[1])), b.const(rest))
    outside = b.lt(off, zero)
    p = b.sqrt(b.mul(b.const(2 * math.e), b.maximum(off, zero)))
    series = horner(b, _branch_series(), b.minimum(p, one))
    # The initial value is from Iacono and Boyd (2017); steps of Halley's method follow.
    x = b.maximum(x, b.const(-0.36))
    log = b.call("log1p", x)
    large = b.gt(x, b.const(3))
    safe = b.select(large, log, one)
    w = b.select(
        large,
        b.sub(safe, b.call("log", safe)),
        b.mul(log, b.sub(one, b.div(b.call("log1p", log), b.add(b.const(2), log)))),
    )
    for _ in range(4):
        # f = w - x*exp(-w), which does not overflow.
        decay = b.mul(x, b.call("exp", b.neg(w)))
        f = b.sub(w, decay)
        above = b.add(one, w)
        half = b.div(b.mul(f, b.add(w, b.const(2))), b.mul(b.const(2), above))
        w = b.sub(w, b.div(f, b.sub(above, half)))
    value = b.select(b.lt(p, b.const(0.3)), series, w)
    value = b.select(b.eq(x, b.const(math.inf)), x, value)
    return b.select(outside, b.const(math.nan), value)


def _lambert_reference(mp: Any, x: Any) -> Any:
    with mp.workdps(mp.dps + 10):
        if mp.isnan(x) or x < -mp.exp(-1):
            return mp.nan
        value = mp.re(mp.lambertw(x))
    return +value


LambertW: Op = unary(
    "LambertW",
    aliases=("lambertw",),
    doc="the principal branch of Lambert's W, the solution w >= -1 of w*exp(w) = x, for x >= -exp(-1), where it has a "
    "vertical tangent",
    domain=lambda x: ge(x, -exp(as_node(-1))),
    code=_lambert,
    reference=_lambert_reference,
    partials=(lambda out, x: exp(-out) / (1 + out),),
    kinks=(),
    latex=r"W\left({0}\right)",
    facts=facts("increasing"),
    samples=(("-0.36",), ("-0.1",), ("-1e-6",), ("0.3",), (1,), ("2.5",), (1000,)),
)
