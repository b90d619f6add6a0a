"""The gamma function, its logarithm, and the derivatives of the logarithm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symgrad.checker.balls.scalar_ops import ARGUMENT_BOUND, Unary, Value, ball, finite_or_none
from symgrad.checker.limits import EXACT_FACTORIAL, FUNCTION_ORDER
from symgrad.checker.numbers import acb, arb, fmpq

_LEAST_ARGUMENT = -10_000  # zeta(s, x) at x < 0 takes |x| terms


def _gamma_like(method: Callable[[Any], Any], exact: Callable[[int], int | None]) -> Unary:
    def apply(x: Value) -> Value:
        if x is None:
            return None
        if type(x) is fmpq and x.q == 1:
            if x <= 0:
                return None
            value = exact(int(x.p))
            if value is not None:
                return fmpq(value)
        x = ball(x)
        return finite_or_none(method(x)) if abs(x) < ARGUMENT_BOUND else None

    return apply


_gamma = _gamma_like(arb.gamma, lambda n: math.factorial(n - 1) if n <= EXACT_FACTORIAL else None)
_lgamma = _gamma_like(
    lambda x: x.lgamma() if x > 0 else abs(x.gamma()).log(), lambda n: 0 if n <= 2 else None
)
_digamma = _gamma_like(arb.digamma, lambda n: None)


def polygamma(n: int, x: Value) -> Value:
    """The n-th derivative of digamma: (-1)**(n + 1)*n!*zeta(n + 1, x) for n > 0, DLMF 25.11.12."""
    if n == 0:
        return _digamma(x)
    if not 0 < n <= FUNCTION_ORDER:
        return None
    sign = -1 if n % 2 == 0 else 1

    def value(t: Any) -> Any:
        if not (t > 0 or (t < 0 and t.floor().unique_fmpz() is not None and not t.is_integer())):
            return arb.nan()
        if t > 0:
            return sign * math.factorial(n) * arb(n + 1).zeta(t)
        return sign * math.factorial(n) * acb(n + 1).zeta(acb(t)).real if t > _LEAST_ARGUMENT else arb.nan()

    return _gamma_like(value, lambda k: None)(x)


GAMMA: dict[str, Unary] = {"gamma": _gamma, "lgamma": _lgamma, "digamma": _digamma}
