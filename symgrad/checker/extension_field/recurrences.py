"""Bessel functions in an extension field: of orders that differ by integers, all are reduced to two.

    J(v + 1) = 2*v/x*J(v) - J(v - 1), the same for Y     DLMF 10.6.1
    I(v + 1) = I(v - 1) - 2*v/x*I(v)                     DLMF 10.29.1
    K(v + 1) = K(v - 1) + 2*v/x*K(v)

For integers n, J(-n) = (-1)**n*J(n), the same holds for Y, and I(-n) = I(n); K(-v) = K(v) for every v.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from symgrad.checker.extension_field.field import Element
from symgrad.checker.extension_field.functions import Functions

_SIGNS = {"jv": (1, -1), "yv": (1, -1), "iv": (-1, 1), "kv": (1, 1)}
"""f(v + 1) = a*2*v/x*f(v) + b*f(v - 1)."""


def _bessel(name: str) -> Callable[[Functions, Element, Element], Element]:
    def row(k: Functions, v: Element, x: Element) -> Element:
        F = k.field
        whole = F.integer(v)
        if whole is not None and whole < 0:
            value = row(k, F.neg(v), x)
            return F.neg(value) if name in {"jv", "yv"} and whole % 2 else value
        for known, its, _ in list(k.functions):
            if known != name or not F.is_zero(F.sub(x, its[1])):
                continue
            steps = k.small_integer(F.sub(v, its[0]))
            if steps is None and name == "kv":
                steps = k.small_integer(F.sub(F.neg(v), its[0]))
            if steps in (0, 1) or (steps is not None and k.try_exclude_zeros(x)):
                return _shift_order(k, name, its[0], x, steps)
        return k.opaque(name, v, x)

    return row


def _shift_order(k: Functions, name: str, base: Element, x: Element, steps: int) -> Element:
    """Return f(base + steps) in terms of f(base) and f(base + 1)."""
    F = k.field
    a, b = _SIGNS[name]
    low = k.opaque(name, base, x)
    if steps == 0:
        return low
    high = k.opaque(name, k.plus(base, 1), x)
    for i in range(1, steps):
        slope = F.scaled(k.div(k.plus(base, i), x), 2 * a)
        low, high = high, F.add(F.mul(slope, high), F.scaled(low, b))
    for i in range(0, steps, -1):
        slope = F.scaled(k.div(k.plus(base, i), x), 2 * a)
        low, high = F.scaled(F.sub(high, F.mul(slope, low)), b), low
    return high if steps > 0 else low


def _erf(k: Functions, u: Element) -> Element:
    known = _argument_of_inverse(k, u, "erfinv")
    if known is not None:
        return known
    value = k.opaque_odd("erf", u)
    if k.generator(value.num)[0] == "function":
        k.bounds[k.field.index(value.num)] = Fraction(-1), Fraction(1)
    return value


def _erfinv(k: Functions, u: Element) -> Element:
    return _argument_of_inverse(k, u, "erf") or k.opaque_odd("erfinv", u)


def _argument_of_inverse(k: Functions, u: Element, other: str) -> Element | None:
    """For the inverse of an odd function, return w if u is other(w), and -w if u is -other(w); otherwise None."""
    F = k.field
    for known, its, value in k.functions:
        if known == other and F.is_zero(F.sub(u, value)):
            return its[0]
        if known == other and F.is_zero(F.add(u, value)):
            return F.neg(its[0])
    return None


def _one_minus(k: Functions, u: Element) -> Element:
    return k.field.sub(k.field.constant(1), u)


def _opaque(name: str) -> Callable[[Functions, Element], Element]:
    return lambda k, u: k.opaque(name, u)


_UNARY: dict[str, Callable[[Functions, Element], Element]] = {
    "erf": _erf,
    "erfc": lambda k, u: _one_minus(k, _erf(k, u)),
    "erfi": lambda k, u: k.opaque_odd("erfi", u),
    "erfinv": _erfinv,
    "erfcinv": lambda k, u: _erfinv(k, _one_minus(k, u)),
    "exp1": lambda k, u: k.field.neg(k.opaque("expi", k.field.neg(u))),
    "Si": lambda k, u: k.opaque_odd("Si", u),
    **{name: _opaque(name) for name in ("expi", "Ci", "airyai", "airyaiprime", "airybi", "airybiprime")},
}
BESSEL_AND_ERROR_OPS: Mapping[str, Callable[..., Element]] = MappingProxyType(
    {**_UNARY, **{name: _bessel(name) for name in _SIGNS}}
)
"""For each op, the function that maps the elements of its arguments to the element of its result."""
