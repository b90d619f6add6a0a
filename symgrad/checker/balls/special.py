"""Fresnel and other integrals, incomplete gamma, zeta and elliptic functions, polylogarithms, Lambert's W.

Conventions: each is real on its domain and unknown elsewhere. li(0) = 0; polylog(n, 1) = zeta(n) for n > 1;
expint(n, 0) = 1/(n - 1) for n > 1; sinc(0) = 1. The smooth variants are unknown at the ends of the domains.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symgrad.checker.balls.bessel import BESSEL_OPS, always, defined_where, is_integer, is_positive
from symgrad.checker.balls.gamma import polygamma
from symgrad.checker.balls.scalar_ops import (
    ARGUMENT_BOUND,
    Binary,
    Unary,
    Value,
    ball,
    exp,
    finite_or_none,
    mul,
    neg,
)
from symgrad.checker.limits import ELLIPTIC_ANGLE, FUNCTION_ORDER, SPECIAL_TERMS
from symgrad.checker.numbers import acb, arb, flint, fmpq

# ---------------------------------------------------------------------------------------------- functions of one number


def _log_ndtr(x: Any) -> Any:
    x = x / arb(2).sqrt()
    return (-x.erfc() / 2).log1p() if x > 0 else ((-x).erfc() / 2).log()


_li_positive = defined_where(lambda x: bool(x > 0 and (x > 1 or x < 1)), arb.li)
_ellipe_smooth = defined_where(lambda m: bool(m < 1), lambda m: acb(m).elliptic_e().real)


def _sinc(x: Value) -> Value:
    if is_integer(x):
        return fmpq(int(not x))
    return None if x is None else finite_or_none(ball(x).sinc_pi())


SPECIAL: dict[str, Unary] = {
    "sinc": _sinc,
    "erfcx": defined_where(always, lambda x: (x * x).exp() * x.erfc()),
    "dawsn": defined_where(always, lambda x: arb.pi().sqrt() / 2 * (-x * x).exp() * x.erfi(), 0),
    "log_ndtr": defined_where(always, _log_ndtr),
    "fresnels": defined_where(always, arb.fresnel_s, 0),
    "fresnelc": defined_where(always, arb.fresnel_c, 0),
    "Shi": defined_where(always, arb.shi, 0),
    "Chi": defined_where(is_positive, arb.chi),
    "li": lambda x: fmpq(0) if _is_zero(x) else _li_positive(x),
    # The branch point is -1/e.
    "LambertW": defined_where(lambda x: bool(ball(x) + arb(-1).exp() > 0), arb.lambertw, 0),
    "ellipk": defined_where(lambda m: bool(m < 1), lambda m: acb(m).elliptic_k().real),
    "ellipe": lambda m: fmpq(1) if type(m) is fmpq and m == 1 else _ellipe_smooth(m),
}
SMOOTH_SPECIAL: dict[str, Unary] = {"li": _li_positive, "ellipe": _ellipe_smooth}


# --------------------------------------------------------------------------------------------- of an order and a number


def _with_order(value: Binary) -> Binary:
    """Return a function of an order and an argument, unknown if these are large."""

    def apply(n: Value, x: Value) -> Value:
        if n is None or x is None or not (abs(n) < FUNCTION_ORDER and abs(x) < ARGUMENT_BOUND):
            return None
        return value(n, x)

    return apply


def _is_zero(x: Value) -> bool:
    return type(x) is fmpq and not x


def _expint_smooth(n: Value, x: Value) -> Value:
    if x > 0:
        return finite_or_none(ball(x).expint(ball(n)))
    if x < 0 and is_integer(n) and -SPECIAL_TERMS < n <= 0:
        m, x = int(-n.p), ball(x)
        total = sum((x**k / math.factorial(k) for k in range(m + 1)), arb(0))
        return finite_or_none((-x).exp() * math.factorial(m) / x ** (m + 1) * total)
    return None


def _expint(n: Value, x: Value) -> Value:
    if _is_zero(x):
        if not n > 1:
            return None
        return 1 / (n - 1) if type(n) is fmpq else finite_or_none(1 / (n - 1))
    return _expint_smooth(n, x)


def _upper_smooth(a: Value, x: Value) -> Value:
    if x > 0:
        return finite_or_none(ball(x).gamma_upper(ball(a)))
    if is_integer(a) and 0 < a < SPECIAL_TERMS:
        n, x = int(a.p), ball(x)
        total = sum((x**k * (math.factorial(n - 1) // math.factorial(k)) for k in range(n)), arb(0))
        return finite_or_none((-x).exp() * total)
    return None


def _upper(a: Value, x: Value) -> Value:
    if _is_zero(x) and a > 0:
        return finite_or_none(ball(a).gamma())
    return _upper_smooth(a, x)


def _spherical(n: Value, x: Value) -> Value:
    """sqrt(pi)/2*(x/2)**n*0F1(n + 3/2, -x**2/4)/gamma(n + 3/2), DLMF 10.47.3 and 10.16.9."""
    if not is_integer(n) or n < 0:
        return None
    if _is_zero(x):
        return fmpq(int(not n))
    x, order = ball(x), ball(n) + arb(3) / 2
    series = (-x * x / 4).hypgeom_0f1(order, regularized=True)
    return finite_or_none(arb.pi().sqrt() / 2 * (x / 2) ** int(n.p) * series)


def _is_no_pole(a: Any) -> bool:
    """Tell whether a value is certainly different from 0, -1, -2, ..."""
    return bool(a > 0 or not ball(a).contains_integer())


def _lower_smooth(a: Value, x: Value) -> Value:
    if not _is_no_pole(a):
        return None
    upper = _upper_smooth(a, x)
    return None if upper is None else finite_or_none(ball(a).gamma() - upper)


def _polylog_smooth(n: Value, x: Value) -> Value:
    if x < 1:
        if _is_zero(x):
            return fmpq(0)
        return finite_or_none(acb(ball(x)).polylog(acb(ball(n))).real)
    if x > 1 and is_integer(n) and -SPECIAL_TERMS < n <= 0:
        return _rational_polylog(int(-n.p), ball(x))
    return None


def _rational_polylog(m: int, x: Any) -> Value:
    """The polylogarithm of order -m: the sum of k!*S(m + 1, k + 1)*(x/(1 - x))**(k + 1) over k <= m, DLMF 25.12.10."""
    w = x / (1 - x)
    terms = (math.factorial(k) * flint.fmpz.stirling_s2(m + 1, k + 1) * w ** (k + 1) for k in range(m + 1))
    return finite_or_none(sum(terms, arb(0)))


def _polylog(n: Value, x: Value) -> Value:
    if type(x) is fmpq and x == 1 and n > 1:
        return finite_or_none(ball(n).zeta())
    return _polylog_smooth(n, x)


def _zeta(s: Value, a: Value) -> Value:
    if is_integer(s):
        n = int(s.p)
        if n > 1:
            value = polygamma(n - 1, a)
            return None if value is None else mul(value, fmpq((-1) ** n, math.factorial(n - 1)))
        if n == 1:
            return None
        value = ball(a).bernoulli_poly(1 - n) if n > -SPECIAL_TERMS else arb.nan()
        return finite_or_none(-value / (1 - n))
    if not (a > 0 and (s > 1 or s < 1)):
        return None
    return finite_or_none(acb(ball(s)).zeta(acb(ball(a))).real)


def _ive(n: Value, x: Value) -> Value:
    value = BESSEL_OPS["iv"](n, x)
    return None if value is None else mul(exp(neg(abs(x))), value)


# --------------------------------------------------------------------------------------------------- elliptic integrals


def _has_real_integrand(phi: Value, m: Value) -> bool:
    """Tell whether 1 - m*sin(t)**2 is certainly positive for t from 0 to phi: m < 1, or its first zero is after phi."""
    if not (abs(phi) < ELLIPTIC_ANGLE and abs(m) < ARGUMENT_BOUND):
        return False
    if m < 1:
        return True
    phi = ball(phi)
    return bool(abs(phi) < arb.pi() / 2 and ball(m) * phi.sin() ** 2 < 1)


def _elliptic(method: Callable[[Any, Any], Any]) -> Binary:
    def apply(phi: Value, m: Value) -> Value:
        if phi is None or m is None or not _has_real_integrand(phi, m):
            return None
        return fmpq(0) if _is_zero(phi) else finite_or_none(method(acb(ball(phi)), acb(ball(m))).real)

    return apply


_second_kind_smooth = _elliptic(acb.elliptic_e_inc)


def _second_kind(phi: Value, m: Value) -> Value:
    if phi is None or type(m) is not fmpq or m != 1:
        return _second_kind_smooth(phi, m)
    # The integral of |cos(t)| is 2 for each half turn, plus the sine of the remaining angle.
    if not abs(phi) < ELLIPTIC_ANGLE:
        return None
    phi = ball(phi)
    turns = (phi / arb.pi() + arb(1) / 2).floor().unique_fmpz()
    if turns is None:
        return None
    return finite_or_none(2 * turns + (phi - turns * arb.pi()).sin())


SPECIAL_BINARY: dict[str, Binary] = {
    "ive": _ive,
    "expint": _with_order(_expint),
    "uppergamma": _with_order(_upper),
    "lowergamma": _with_order(lambda a, x: fmpq(0) if _is_zero(x) and a > 0 else _lower_smooth(a, x)),
    "polylog": _with_order(_polylog),
    "zeta": _with_order(_zeta),
    "spherical_jn": _with_order(_spherical),
    "ellipkinc": _elliptic(acb.elliptic_f),
    "ellipeinc": _second_kind,
}
SMOOTH_SPECIAL_BINARY: dict[str, Binary] = {
    "ive": lambda n, x: _ive(n, x) if x is not None and (x > 0 or x < 0) else None,
    "expint": _with_order(_expint_smooth),
    "uppergamma": _with_order(_upper_smooth),
    "lowergamma": _with_order(_lower_smooth),
    "polylog": _with_order(_polylog_smooth),
    "ellipeinc": _second_kind_smooth,
}
"""Variants that are unknown at ends of their domains, and where they have no derivative."""
