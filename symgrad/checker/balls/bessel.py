"""Bessel and Airy functions, exponential, sine and cosine integrals, and inverse error functions of single values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.checker.balls.ops import Binary, Unary, Value, ball, finite
from symgrad.checker.limits import BESSEL_ORDER
from symgrad.checker.numbers import flint

__all__ = ["INSIDE_ORDERS", "INTEGRALS", "ORDERS", "anywhere", "certainly", "positive", "is_whole"]

fmpq: Any = flint.fmpq
arb: Any = flint.arb

_REACH = arb(2) ** 64  # beyond it a value is unknown


def certainly(holds: Callable[[Any], bool], method: Callable[[Any], Any], zero: int | None = None) -> Unary:
    """A function where a condition certainly holds; ``zero`` is where it is 0."""

    def apply(x: Value) -> Value:
        if x is None or not holds(x) or not abs(x) < _REACH:
            return None
        return fmpq(0) if type(x) is fmpq and x == zero else finite(method(ball(x)))

    return apply


def anywhere(_x: Value) -> bool:
    """No condition."""
    return True


def positive(x: Value) -> bool:
    """Whether a value is certainly positive."""
    return bool(x > 0)


INTEGRALS: dict[str, Unary] = {
    "erfi": certainly(anywhere, arb.erfi, 0),
    "erfinv": certainly(lambda x: x > -1 and x < 1, arb.erfinv, 0),
    "erfcinv": certainly(lambda x: x > 0 and x < 2, arb.erfcinv, 1),
    "expi": certainly(lambda x: x > 0 or x < 0, arb.ei),
    "exp1": certainly(positive, lambda x: x.expint(1)),
    "Si": certainly(anywhere, arb.si, 0),
    "Ci": certainly(positive, arb.ci),
    "airyai": certainly(anywhere, arb.airy_ai),
    "airyaiprime": certainly(anywhere, lambda x: x.airy_ai(derivative=1)),
    "airybi": certainly(anywhere, arb.airy_bi),
    "airybiprime": certainly(anywhere, lambda x: x.airy_bi(derivative=1)),
}


def is_whole(n: Value) -> bool:
    """Whether a value is exactly a whole number."""
    return type(n) is fmpq and n.q == 1


def _entire(method: Callable[[Any, Any], Any], *, inside: bool) -> Binary:
    """J and I: at x < 0 for whole orders only, at x = 0 also for positive ones, but there not on both sides."""

    def apply(n: Value, x: Value) -> Value:
        if n is None or x is None or not (abs(n) < BESSEL_ORDER and abs(x) < _REACH):
            return None
        if type(x) is fmpq and not x:
            if is_whole(n):
                return fmpq(int(n == 0))
            return fmpq(0) if n > 0 and not inside else None
        return finite(method(ball(x), ball(n))) if x > 0 or is_whole(n) else None

    return apply


def _of_positive(method: Callable[[Any, Any], Any]) -> Binary:
    def apply(n: Value, x: Value) -> Value:
        if n is None or x is None or not (x > 0 and abs(n) < BESSEL_ORDER and abs(x) < _REACH):
            return None
        return finite(method(ball(x), ball(n)))

    return apply


ORDERS: dict[str, Binary] = {
    "jv": _entire(arb.bessel_j, inside=False),
    "yv": _of_positive(arb.bessel_y),
    "iv": _entire(arb.bessel_i, inside=False),
    "kv": _of_positive(arb.bessel_k),
}
INSIDE_ORDERS: dict[str, Binary] = {
    "jv": _entire(arb.bessel_j, inside=True),
    "iv": _entire(arb.bessel_i, inside=True),
}
"""Those that are not certain where they have no slope."""
