"""Bessel and Airy functions, exponential, sine and cosine integrals, and inverse error functions of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.checker.balls.scalar_ops import ARGUMENT_BOUND, Binary, Unary, Value, ball, finite_or_none
from symgrad.checker.limits import BESSEL_ORDER
from symgrad.checker.numbers import arb, fmpq


def defined_where(
    holds: Callable[[Any], bool], method: Callable[[Any], Any], zero: int | None = None
) -> Unary:
    """Return a function that is unknown unless a condition certainly holds; ``zero`` is its exact value at 0."""

    def apply(x: Value) -> Value:
        if x is None or not holds(x) or not abs(x) < ARGUMENT_BOUND:
            return None
        return fmpq(0) if type(x) is fmpq and x == zero else finite_or_none(method(ball(x)))

    return apply


def always(_x: Value) -> bool:
    """Return True for every value: this condition always holds."""
    return True


def is_positive(x: Value) -> bool:
    """Tell whether a value is certainly positive."""
    return bool(x > 0)


INTEGRAL_OPS: dict[str, Unary] = {
    "erfi": defined_where(always, arb.erfi, 0),
    "erfinv": defined_where(lambda x: x > -1 and x < 1, arb.erfinv, 0),
    "erfcinv": defined_where(lambda x: x > 0 and x < 2, arb.erfcinv, 1),
    "expi": defined_where(lambda x: x > 0 or x < 0, arb.ei),
    "exp1": defined_where(is_positive, lambda x: x.expint(1)),
    "Si": defined_where(always, arb.si, 0),
    "Ci": defined_where(is_positive, arb.ci),
    "airyai": defined_where(always, arb.airy_ai),
    "airyaiprime": defined_where(always, lambda x: x.airy_ai(derivative=1)),
    "airybi": defined_where(always, arb.airy_bi),
    "airybiprime": defined_where(always, lambda x: x.airy_bi(derivative=1)),
}


def is_integer(n: Value) -> bool:
    """Tell whether a value is an exact integer."""
    return type(n) is fmpq and n.q == 1


def _entire_bessel(method: Callable[[Any, Any], Any], *, inside: bool) -> Binary:
    """Return J or I: for x < 0 only of integer orders; for x = 0 also of positive orders, but one-sided there."""

    def apply(n: Value, x: Value) -> Value:
        if n is None or x is None or not (abs(n) < BESSEL_ORDER and abs(x) < ARGUMENT_BOUND):
            return None
        if type(x) is fmpq and not x:
            if is_integer(n):
                return fmpq(int(n == 0))
            return fmpq(0) if n > 0 and not inside else None
        return finite_or_none(method(ball(x), ball(n))) if x > 0 or is_integer(n) else None

    return apply


def _positive_bessel(method: Callable[[Any, Any], Any]) -> Binary:
    def apply(n: Value, x: Value) -> Value:
        if n is None or x is None or not (x > 0 and abs(n) < BESSEL_ORDER and abs(x) < ARGUMENT_BOUND):
            return None
        return finite_or_none(method(ball(x), ball(n)))

    return apply


BESSEL_OPS: dict[str, Binary] = {
    "jv": _entire_bessel(arb.bessel_j, inside=False),
    "yv": _positive_bessel(arb.bessel_y),
    "iv": _entire_bessel(arb.bessel_i, inside=False),
    "kv": _positive_bessel(arb.bessel_k),
}
SMOOTH_BESSEL_OPS: dict[str, Binary] = {
    "jv": _entire_bessel(arb.bessel_j, inside=True),
    "iv": _entire_bessel(arb.bessel_i, inside=True),
}
"""Variants that are unknown where the function has no derivative."""
