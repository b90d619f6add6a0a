"""Error functions and the gamma family.

digamma and polygamma have no libm call. For x > 0 the recurrence leads to z = x + N, at which the asymptotic series is
used (Abramowitz and Stegun 6.3.18, 6.4.11; DLMF 5.11.2, 5.15.8). For x < 0 the functions are reflected at 1/2 (DLMF
5.5.4, 5.15.6), with cot(pi*x) of the exactly reduced x - rint(x). Coefficients are exact. In kernels digamma has its
own code, which is accurate even near its roots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, as_node, constant
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.numpy_builder import ARRAYS
from symgrad.ops.record import by_scipy, facts, libm, pointwise, unary
from symgrad.ops.scalar.elementary import exp, sqrt
from symgrad.ops.scalar.logic import any_of, gt, ne
from symgrad.ops.scalar.rounding import floor
from symgrad.support.errors import UnsupportedError
from symgrad.support.powers import integer_power

_REALS = (("-3.5",), ("-0.75",), ("-1e-6",), (0,), ("0.3",), (1,), ("2.5",))
_NO_POLES = (("-6.3",), ("-2.5",), ("-0.3",), ("1e-3",), ("0.5",), ("1.25",), ("3.7",), ("60.5",))


def _gaussian(x: Node) -> Node:
    """Return 2/sqrt(pi)*exp(-x**2), the derivative of erf."""
    return as_node(2) / sqrt(constant("pi")) * exp(-(x**2))


def _off_the_poles(x: Node) -> Node:
    return any_of(gt(x, as_node(0)), ne(floor(x), x))


def _is_pole(mp: Any, x: Any) -> bool:
    return x <= 0 and x == mp.floor(x)


_POLES = (
    Kink("x = 0", (0,), (None,), "a pole"),
    Kink("x a negative integer", (-2,), (None,), "a pole"),
)


def _erfc_reference(mp: Any, x: Any) -> Any:
    # mpmath overflows for |x| > 1e154; beyond 1e100 the first term of the asymptotic series has 200 correct digits.
    if mp.fabs(x) < mp.mpf(10) ** 100 or mp.isnan(x):
        return mp.erfc(x)
    return mp.exp(-x * x) / (x * mp.sqrt(mp.pi)) if x > 0 else mp.mpf(2)


def _lgamma_value(x: Any) -> Any:
    # gammaln loses all digits near its zeros 1 and 2; loggamma, which is complex, uses a series near them.
    near: Any = by_scipy("loggamma")(np.add(x, 0j)).real + 0.0  # no -0.0 at 1, as in C
    far: Any = by_scipy("gammaln")(x)
    return ARRAYS.select(np.abs(np.subtract(x, 1.5)) < 1, near, far)


erf = unary(
    "erf",
    doc="the error function, 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x",
    domain=None,
    partials=(lambda out, x: _gaussian(x),),
    kinks=(),
    facts=facts("odd", "increasing", "bounded-by-one"),
    samples=_REALS,
)

erfc = unary(
    "erfc",
    doc="1 - erf(x), accurate for large x",
    domain=None,
    reference=_erfc_reference,
    partials=(lambda out, x: -_gaussian(x),),
    kinks=(),
    facts=facts("decreasing", "positive"),
    samples=_REALS,
)

gamma = unary(
    "gamma",
    aliases=("tgamma",),
    doc="the gamma function, (x - 1)! at the positive integers; undefined at the integers <= 0",
    domain=_off_the_poles,
    reference=lambda mp, x: mp.nan if _is_pole(mp, x) else mp.gamma(x),
    partials=(lambda out, x: out * digamma(x),),
    kinks=_POLES,
    lower=libm("tgamma"),
    latex=r"\Gamma\left({0}\right)",
    facts=facts("continuous", "poles"),
    samples=_NO_POLES,
)

lgamma = unary(
    "lgamma",
    aliases=("gammaln", "loggamma"),
    doc="log(|gamma(x)|), as in C; undefined at the integers <= 0",
    cas=None,
    domain=_off_the_poles,
    evaluate=_lgamma_value,
    reference=lambda mp, x: mp.nan if _is_pole(mp, x) else mp.re(mp.loggamma(x)),
    partials=(lambda out, x: digamma(x),),
    kinks=_POLES,
    latex=r"\log\left|\Gamma\left({0}\right)\right|",
    facts=facts("continuous", "poles"),
    samples=_NO_POLES,
)


def polygamma_reference(mp: Any, n: int, x: Any) -> Any:
    """Return polygamma in mpmath; NaN for large orders.

    For x < 0, where mpmath is slow, it is reflected (DLMF 5.15.6).
    """
    if _is_pole(mp, x) or n > _LARGEST_REFERENCE:
        return mp.nan
    if n == 0 or not x < 0:
        return mp.psi(n, x)
    with mp.workdps(mp.dps + 15):
        cotangent = mp.cospi(x) / mp.sinpi(x)
        slope = mp.pi ** (n + 1) * mp.polyval(_cotangent_derivative(n)[::-1], cotangent)
        value = (-1) ** n * mp.psi(n, 1 - x) - slope
    return +value


@lru_cache
def bernoulli(n: int) -> Fraction:
    """Return the Bernoulli number B_n, from the equation: the sum over k <= n of binomial(n + 1, k)*B_k is 0."""
    if n == 0:
        return Fraction(1)
    return -sum((math.comb(n + 1, k) * bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


def _steps(n: int) -> int:
    """Return the number of recurrence steps; at z > 10 + n the series soon reaches 2**-60 of its first term."""
    return 10 + n


@lru_cache
def _series(n: int) -> tuple[Fraction, ...]:
    """Return the coefficients c_1, c_2, ... of the asymptotic series relative to its first term, until negligible.

    n = 0: digamma(z) = log(z) - w/2 - sum of B_2k/(2k)*w**(2k); relative to log(z) > 2.
    n > 0: |polygamma(n, z)| = (n-1)!*w**n*(1 + n*w/2 + sum of c_k*w**(2k)), c_k = B_2k*(2k + n - 1)!/((2k)!*(n - 1)!).
    """
    coefficients: list[Fraction] = []
    while True:
        k = 2 * (len(coefficients) + 1)
        c = bernoulli(k) * math.factorial(k + n - 1) / math.factorial(k)
        coefficients.append(c / math.factorial(n - 1) if n else c)
        if abs(coefficients[-1]) < Fraction(_steps(n)) ** k / 2**60:
            return tuple(coefficients)


@lru_cache
def _cotangent_derivative(n: int) -> tuple[int, ...]:
    """Return the coefficients, with the constant first, of P_n with (d/dt)**n cot(t) = P_n(cot(t)).

    P_n+1(c) = -(1 + c**2)*P_n'(c). All coefficients of P_n have the same sign, and all its powers the same parity, so
    in Horner's scheme in c**2 nothing cancels.
    """
    p = [0, 1]
    for _ in range(n):
        slope = [i * a for i, a in enumerate(p)][1:]
        p = [-a - b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return tuple(p)


def horner(b: Builder, coefficients: Sequence[Fraction | float], x: Lane) -> Lane:
    """Return the value of the polynomial with these coefficients, with the constant first, by Horner's scheme."""
    value = b.const(Fraction(coefficients[-1]))
    for c in reversed(coefficients[:-1]):
        value = b.fma(value, x, b.const(Fraction(c)))
    return value


def _polygamma_of_positive(b: Builder, n: int, x: Lane) -> Lane:
    """Return |polygamma(n, x)| for n > 0 and digamma(x) for n = 0, at x > 0."""
    one = b.const(1)
    climbed = None
    z = x
    for i in range(_steps(n)):
        z = x if i == 0 else b.add(x, b.const(i))
        term = b.div(one, integer_power(z, n + 1, b.mul))
        climbed = term if climbed is None else b.add(climbed, term)
    z = b.add(x, b.const(_steps(n)))
    w = b.div(one, z)
    w2 = b.mul(w, w)
    tail = b.mul(w2, horner(b, _series(n), w2))
    if n == 0:
        # The small terms are added first; log(z) and the sum are large.
        return b.sub(b.sub(b.call("log", z), b.fma(w, b.const(0.5), tail)), climbed)
    bracket = b.add(one, b.fma(w, b.const(Fraction(n, 2)), tail))
    leading = b.mul(b.const(math.factorial(n - 1)), integer_power(w, n, b.mul))
    return b.fma(b.const(math.factorial(n)), climbed, b.mul(leading, bracket))


def _cotangent_of_turns(b: Builder, r: Lane) -> Lane:
    """Return cot(pi*r), |r| <= 1/2, to a few ulp; near its zero tan(pi*(1/2 - |r|)) is used."""
    size = b.abs(r)
    near_zero = b.gt(size, b.const(0.25))
    turns = b.select(near_zero, b.sub(b.const(0.5), size), size)
    tangent = b.call("tan", b.mul(b.const_named("pi"), turns))
    return b.copysign(b.select(near_zero, tangent, b.div(b.const(1), tangent)), r)


def polygamma_of_order(b: Builder, n: int, x: Lane) -> Lane:
    """Return polygamma(n, x), which is reflected for x < 0.

    DLMF 5.15.6: (-1)**n*polygamma(n, 1 - x) - polygamma(n, x) = pi * (d/dx)**n cot(pi*x).
    """
    if n > _LARGEST_ORDER:
        raise UnsupportedError(
            f"polygamma of order {n} has no native code",
            expected=f"an order of at most {_LARGEST_ORDER}",
            cure="evaluate without compiling",
        )
    if n == 0 and b.knows("digamma"):
        return b.call("digamma", x)
    zero, one = b.const(0), b.const(1)
    negative = b.lt(x, zero)
    positive = _polygamma_of_positive(b, n, b.select(negative, b.sub(one, x), x))
    sign = 1 if n % 2 else -1  # the sign of polygamma(n, x) for x > 0, n > 0
    direct = positive if n == 0 or sign > 0 else b.neg(positive)
    mirrored = direct if n % 2 == 0 else b.neg(direct)

    reduced = b.sub(x, b.rint(x))
    cotangent = _cotangent_of_turns(b, reduced)
    p = _cotangent_derivative(n)
    parity = (n + 1) % 2
    value = horner(b, p[parity::2], b.mul(cotangent, cotangent))
    if parity:
        value = b.mul(value, cotangent)
    for _ in range(n + 1):
        value = b.mul(value, b.const_named("pi"))

    result = b.select(negative, b.sub(mirrored, value), direct)
    pole = b.and_(b.le(x, zero), b.eq(reduced, zero))
    return b.select(pole, b.const(math.nan), result)


_LARGEST_REFERENCE = 1_000  # for larger orders mpmath takes more than a tenth of a second
_LARGEST_ORDER = 30  # factorials up to 34! fit into float32

digamma: Op = unary(
    "digamma",
    aliases=("psi",),
    doc="the derivative of log(gamma(x)); undefined at the integers <= 0",
    domain=_off_the_poles,
    code=lambda b, x: polygamma_of_order(b, 0, x),
    reference=lambda mp, x: polygamma_reference(mp, 0, x),
    partials=(lambda out, x: polygamma(x, params=(1,)),),
    kinks=_POLES,
    latex=r"\psi\left({0}\right)",
    facts=facts("continuous", "poles"),
    samples=_NO_POLES,
)


def _polygamma_value(n: int, x: Any) -> Any:
    return polygamma_of_order(ARRAYS, n, x)


def _lower_polygamma(b: Builder, node: Node, x: Lane) -> Lane:
    return polygamma_of_order(b, node.params[0], x)


def _next_polygamma(out: Node, x: Node) -> Node:
    return polygamma(x, params=(out.params[0] + 1,))


polygamma: Op = pointwise(
    "polygamma",
    doc="polygamma(n, x), the n-th derivative of digamma(x), n = 0, 1, ...; undefined at the integers <= 0",
    parameters=("n",),
    cas=None,
    domain=_off_the_poles,
    evaluate=_polygamma_value,
    reference=polygamma_reference,
    partials=(_next_polygamma,),
    kinks=_POLES,
    lower=_lower_polygamma,
    latex=r"\psi^{{\left({n}\right)}}\left({0}\right)",
    samples=_NO_POLES,
)
