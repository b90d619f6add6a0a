"""Special functions in an extension field: reduced to a few of them by identities of real functions.

    E(n, x) = x**(n - 1)*G(1 - n, x)                              DLMF 8.19.1
    G(a + 1, x) = a*G(a, x) + x**a*exp(-x), G upper               DLMF 8.8.2
    G(1, x) = exp(-x), G(0, x) = -Ei(-x), G(1/2, x) = sqrt(pi)*erfc(sqrt(x))
    lower(a, x) = gamma(a) - G(a, x)
    zeta(s, a + 1) = zeta(s, a) - a**-s                           DLMF 25.11.3
    zeta(n, a) = (-1)**n*polygamma(n - 1, a)/(n - 1)!             DLMF 25.11.12
    Shi(x) = (Ei(x) - Ei(-x))/2, Chi(x) = (Ei(x) + Ei(-x))/2, li(x) = Ei(log(x))
    exp(W(x)) = x/W(x)
    sinc(x) = sin(pi*x)/(pi*x), j(0, x) = sin(x)/x, j(1, x) = (j(0, x) - cos(x))/x
    j(n + 1, x) = (2*n + 1)/x*j(n, x) - j(n - 1, x), j spherical     DLMF 10.51.1

Polylogarithms of order 1, 0, -1, ... and zeta functions of order 0, -1, ... are elementary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb, factorial
from types import MappingProxyType

from symgrad.checker.extension_field.field import Element, GiveUp
from symgrad.checker.extension_field.functions import Functions
from symgrad.checker.extension_field.generators import to_fraction
from symgrad.checker.extension_field.recurrences import BESSEL_AND_ERROR_OPS
from symgrad.checker.numbers import flint

# ----------------------------------------------------------------------------------------------------- incomplete gamma


def _upper(k: Functions, a: Element, x: Element) -> Element:
    F = k.field
    if F.is_zero(x):
        return k.gamma(a)
    n = k.small_integer(a)
    if n is not None:
        base, value = (1, k.exp(F.neg(x))) if n > 0 else (0, F.neg(k.opaque("expi", F.neg(x))))
        return _shift_order(k, F.constant(base), value, x, n - base)
    for known, its, value in list(k.functions):
        if known == "uppergamma" and F.is_zero(F.sub(x, its[1])):
            steps = k.small_integer(F.sub(a, its[0]))
            if steps is not None:
                return _shift_order(k, its[0], value, x, steps)
    half = F.constant(Fraction(1, 2))
    steps = k.small_integer(F.sub(a, half))
    if steps is not None:
        value = F.mul(k.sqrt(k.pi()), _erfc(k, k.sqrt(x)))
        return _shift_order(k, half, value, x, steps)
    return k.opaque("uppergamma", a, x)


_erfc = BESSEL_AND_ERROR_OPS["erfc"]


def _shift_order(k: Functions, a: Element, value: Element, x: Element, steps: int) -> Element:
    """Return the upper incomplete gamma function of order a + steps, computed from the one of order a."""
    F = k.field
    if not steps:
        return value
    down = k.exp(F.neg(x))
    for i in range(steps):
        order = k.plus(a, i)
        value = F.add(F.mul(order, value), F.mul(k.power(x, order), down))
    for i in range(0, steps, -1):
        order = k.plus(a, i - 1)
        if not k.try_exclude_zeros(order):
            raise GiveUp("an order that may be zero on an open set")
        value = k.div(F.sub(value, F.mul(k.power(x, order), down)), order)
    return value


def _lower(k: Functions, a: Element, x: Element) -> Element:
    F = k.field
    return F.constant(0) if F.is_zero(x) else F.sub(k.gamma(a), _upper(k, a, x))


def _expint(k: Functions, n: Element, x: Element) -> Element:
    F = k.field
    if F.is_zero(x):
        return k.inverse(k.plus(n, -1))
    return F.mul(k.power(x, k.plus(n, -1)), _upper(k, F.sub(F.constant(1), n), x))


# ------------------------------------------------------------------------------------------------- zeta, polylogarithms


def _zeta(k: Functions, s: Element, a: Element) -> Element:
    F, n = k.field, k.small_integer(s)
    if n == 1:
        raise GiveUp("the zeta function of order 1")
    if n is not None and n > 1:
        return F.scaled(k.polygamma(n - 1, a), Fraction((-1) ** n, factorial(n - 1)))
    if n is not None and n < 1:
        m, total = 1 - n, F.constant(0)
        for j in range(m + 1):
            bernoulli = to_fraction(flint.fmpq.bernoulli(m - j))
            total = F.add(total, F.scaled(k.integer_power(a, j), comb(m, j) * bernoulli))
        return F.scaled(total, Fraction(-1, m))
    for known, its, value in list(k.functions):
        if known != "zeta" or not F.is_zero(F.sub(s, its[0])):
            continue
        steps = k.small_integer(F.sub(a, its[1]))
        for i in range(steps or 0):
            value = F.sub(value, k.power(k.plus(its[1], i), F.neg(s)))
        for i in range(0, steps or 0, -1):
            value = F.add(value, k.power(k.plus(its[1], i - 1), F.neg(s)))
        if steps is not None:
            return value
    return k.opaque("zeta", s, a)


def _polylog(k: Functions, s: Element, x: Element) -> Element:
    F, n = k.field, k.small_integer(s)
    if F.is_zero(x):
        return F.constant(0)
    rest = F.sub(F.constant(1), x)
    if n == 1:
        return F.neg(k.log(rest))
    if n is None or n > 1:
        return k.opaque("polylog", s, x)
    w = k.div(x, rest)
    total, power = F.constant(0), w
    for i in range(1 - n):
        count = int(flint.fmpz.stirling_s2(1 - n, i + 1))
        total = F.add(total, F.scaled(power, Fraction(factorial(i) * count)))
        power = F.mul(power, w)
    return total


def _lambert(k: Functions, u: Element) -> Element:
    F = k.field
    if F.is_zero(u):
        return u
    count = len(k.functions)
    w = k.opaque("LambertW", u)
    if len(k.functions) > count:
        k.bounds[F.index(w.num)] = Fraction(-1), None
        # exp(w/n) is the n-th root of u/w.
        scale = k.oracle.scale("exp", len(k.exps))
        value = k.div(u, w)
        value = value if scale == 1 else k.power(value, F.constant(Fraction(1, scale)))
        k.exps.append((F.scaled(w, Fraction(1, scale)), value))
    return w


# --------------------------------------------------------------------------------------------------- elliptic integrals


def _complete(name: str, at_one: int | None) -> Callable[[Functions, Element], Element]:
    def row(k: Functions, m: Element) -> Element:
        F = k.field
        if F.is_zero(m):
            return k.half(k.pi())
        if at_one is not None and F.number(m) == 1:
            return F.constant(at_one)
        return k.opaque(name, m)

    return row


_FIRST, _SECOND = _complete("ellipk", None), _complete("ellipe", 1)


def _elliptic(name: str, complete: Callable[[Functions, Element], Element]) -> Callable[..., Element]:
    def row(k: Functions, phi: Element, m: Element) -> Element:
        """Return an incomplete integral: it is odd in phi, and complete at pi/2."""
        F = k.field
        if F.is_zero(phi) or F.is_zero(m):
            return phi
        for sign in (1, -1):
            if F.is_zero(F.sub(F.scaled(phi, Fraction(2 * sign)), k.pi())):
                return F.scaled(complete(k, m), Fraction(sign))
        for known, its, value in k.functions:
            if known == name and F.is_zero(F.add(phi, its[0])) and F.is_zero(F.sub(m, its[1])):
                return F.neg(value)
        return k.opaque(name, phi, m)

    return row


# ------------------------------------------------------------------------------------------- in terms of a few others


def _erfcx(k: Functions, u: Element) -> Element:
    F = k.field
    return F.mul(k.exp(F.mul(u, u)), _erfc(k, u))


def _dawsn(k: Functions, u: Element) -> Element:
    F = k.field
    return F.mul(F.mul(k.half(k.sqrt(k.pi())), k.exp(F.neg(F.mul(u, u)))), k.opaque_odd("erfi", u))


def _log_ndtr(k: Functions, u: Element) -> Element:
    F = k.field
    return k.log(k.half(_erfc(k, F.neg(F.mul(u, k.sqrt(F.constant(Fraction(1, 2))))))))


def _hyperbolic(sign: int) -> Callable[[Functions, Element], Element]:
    def row(k: Functions, u: Element) -> Element:
        F = k.field
        if F.is_zero(u) and sign < 0:
            return u
        k.exclude_zeros(u.num)
        return k.half(F.add(k.opaque("expi", u), F.scaled(k.opaque("expi", F.neg(u)), Fraction(sign))))

    return row


def _li(k: Functions, u: Element) -> Element:
    """Return li(u) = Ei(log(u)); at u = 0, where log(u) has no value, it is 0."""
    if k.field.is_zero(u):
        return u
    k.exclude_zeros(u.num)
    return k.opaque("expi", k.log(u))


def _ive(k: Functions, n: Element, x: Element) -> Element:
    return k.field.mul(k.exp(k.field.neg(k.absolute(x))), BESSEL_AND_ERROR_OPS["iv"](k, n, x))


def _spherical(k: Functions, n: Element, x: Element) -> Element:
    F, order = k.field, k.small_integer(n)
    if order is None or order < 0:
        return k.opaque("spherical_jn", n, x)
    if F.is_zero(x):
        return F.constant(int(not order))
    if not k.try_exclude_zeros(x):
        return k.opaque("spherical_jn", n, x)
    c, s = k.cos_sin(x)
    low = k.div(s, x)
    if not order:
        return low
    high = k.div(F.sub(low, c), x)
    for i in range(1, order):
        low, high = high, F.sub(F.mul(F.scaled(k.inverse(x), Fraction(2 * i + 1)), high), low)
    return high


def _sinc(k: Functions, u: Element) -> Element:
    F = k.field
    if F.is_zero(u):
        return F.constant(1)
    if not k.try_exclude_zeros(u):
        return k.opaque("sinc", u)
    turned = F.mul(k.pi(), u)
    return k.div(k.cos_sin(turned)[1], turned)


_UNARY: dict[str, Callable[[Functions, Element], Element]] = {
    "LambertW": _lambert,
    "ellipk": _FIRST,
    "ellipe": _SECOND,
    "erfcx": _erfcx,
    "dawsn": _dawsn,
    "log_ndtr": _log_ndtr,
    "Shi": _hyperbolic(-1),
    "Chi": _hyperbolic(1),
    "li": _li,
    "sinc": _sinc,
    "fresnels": lambda k, u: k.opaque_odd("fresnels", u),
    "fresnelc": lambda k, u: k.opaque_odd("fresnelc", u),
}
_BINARY: dict[str, Callable[[Functions, Element, Element], Element]] = {
    "uppergamma": _upper,
    "lowergamma": _lower,
    "expint": _expint,
    "zeta": _zeta,
    "polylog": _polylog,
    "ellipkinc": _elliptic("ellipkinc", _FIRST),
    "ellipeinc": _elliptic("ellipeinc", _SECOND),
    "ive": _ive,
    "spherical_jn": _spherical,
}
SPECIAL_OPS: Mapping[str, Callable[..., Element]] = MappingProxyType({**_UNARY, **_BINARY})
"""For each op, the function that maps the elements of its arguments to the element of its result."""
