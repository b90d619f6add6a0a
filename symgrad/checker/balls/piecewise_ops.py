"""Piecewise ops: comparisons, maximum and minimum, rounding, logic; and the tables of all pointwise ops.

`POINTWISE_OPS` has every op. `SMOOTH_OPS` has variants that also return None if the function has no two-sided
derivative: at ties, jumps, kinks and ends of domains.

Two arguments that are the same Python object are the same number, and in `SMOOTH_OPS` the same function near the point.
So an op must not return one of its arguments merely because the numbers agree at the point (x*1 is a new object).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from symgrad.checker.balls.bessel import BESSEL_OPS, INTEGRAL_OPS, SMOOTH_BESSEL_OPS
from symgrad.checker.balls.gamma import GAMMA
from symgrad.checker.balls.scalar_ops import (
    BINARY,
    SMOOTH_BINARY,
    SMOOTH_UNARY,
    UNARY,
    Binary,
    Unary,
    Value,
    add,
    ball,
    neg,
    where_nonzero,
)
from symgrad.checker.balls.special import SMOOTH_SPECIAL, SMOOTH_SPECIAL_BINARY, SPECIAL, SPECIAL_BINARY
from symgrad.checker.numbers import arb, fmpq

_ROUNDING_BOUND = arb(2) ** 2048  # a value beyond this bound is not rounded to an integer


def _less(x: Value, y: Value, equal: bool | None) -> bool | None:
    """Tell whether x < y; if they are equal, return ``equal``."""
    if type(x) is fmpq and type(y) is fmpq:
        return x < y if x != y else equal
    x, y = ball(x), ball(y)
    if x < y:
        return True
    if x > y:
        return False
    if equal is not None and (x <= y if equal else x >= y):
        return equal
    return None


def _comparisons(tie: bool) -> dict[str, Binary]:
    """Return the comparisons; without ``tie``, equal numbers that are different objects compare as unknown."""

    def less(x: Value, y: Value, equal: bool) -> Value:
        if x is None or y is None:
            return None
        return equal if x is y else _less(x, y, equal if tie else None)

    def same(x: Value, y: Value) -> Value:
        if x is None or y is None:
            return None
        if x is y:
            return True
        if type(x) is fmpq and type(y) is fmpq:
            return x == y if tie or x != y else None
        x, y = ball(x), ball(y)
        if x < y or x > y:
            return False
        return True if tie and x == y else None

    def different(x: Value, y: Value) -> Value:
        found = same(x, y)
        return None if found is None else not found

    found: dict[str, Binary] = {
        "lt": lambda x, y: less(x, y, False),
        "le": lambda x, y: less(x, y, True),
        "gt": lambda x, y: less(y, x, False),
        "ge": lambda x, y: less(y, x, True),
        "eq": same,
        "ne": different,
    }
    return found


def _extremes(tie: bool) -> dict[str, Callable[..., Value]]:
    def extreme(x: Value, y: Value, largest: bool) -> Value:
        if x is None or y is None:
            return None
        if x is y:
            return x
        below = _less(x, y, False if tie else None)
        if below is None:
            return (arb.max if largest else arb.min)(ball(x), ball(y)) if tie else None
        return y if below is largest else x

    def clip(x: Value, low: Value, high: Value) -> Value:
        return extreme(extreme(x, low, True), high, False)

    return {
        "maximum": partial(extreme, largest=True),
        "minimum": partial(extreme, largest=False),
        "relu": partial(extreme, y=fmpq(0), largest=True),
        "clip": clip,
    }


def _sign(x: Value) -> Value:
    if x is None:
        return None
    if x > 0:
        return fmpq(1)
    if x < 0:
        return fmpq(-1)
    return fmpq(0) if x == 0 else None


def _integer_floor(x: Value, inside: bool) -> Any:
    """Return the floor of a value; None if it is not certain, or at an integer if ``inside``."""
    if x is None:
        return None
    if type(x) is fmpq:
        return None if inside and x.q == 1 else x.floor()
    if not abs(x) < _ROUNDING_BOUND:
        return None
    found = x.floor().unique_fmpz()
    return None if found is None or (inside and not x > found) else found


def _rounding(inside: bool) -> dict[str, Unary]:
    def floor(x: Value) -> Value:
        found = _integer_floor(x, inside)
        return None if found is None else fmpq(found)

    def ceil(x: Value) -> Value:
        found = _integer_floor(neg(x), inside)
        return None if found is None else fmpq(-found)

    def nearest(x: Value) -> Value:
        shifted = add(x, fmpq(1, 2))
        found = _integer_floor(shifted, inside)
        if found is None or found % 2 == 0:
            return None if found is None else fmpq(found)
        if shifted > found:
            return fmpq(found)
        return fmpq(found - 1) if shifted == found else None  # a half rounds to even

    return {"floor": floor, "ceil": ceil, "round": nearest}


# -------------------------------------------------------------------------------------------------------------- logic


def _where(condition: Value, x: Value, y: Value) -> Value:
    if condition is None:
        return None
    return x if condition else y


def _xor(x: Value, y: Value) -> Value:
    return None if x is None or y is None else x != y


def _and(x: Value, y: Value) -> Value:
    return None if x is None or y is None else x and y


def _or(x: Value, y: Value) -> Value:
    return None if x is None or y is None else x or y


# ------------------------------------------------------------------------------------------------------------- tables


def _abs(x: Value) -> Value:
    return None if x is None else abs(x)


def _not(x: Value) -> Value:
    return None if x is None else not x


def _identity(x: Value) -> Value:
    return x


def _copy(x: Value) -> Value:
    """Return a copy: x and a constant with the value of x are different functions and must be different objects."""
    if x is None or isinstance(x, bool):
        return x
    return arb(x) if type(x) is arb else fmpq(x.p, x.q)


POINTWISE_OPS: dict[str, Callable[..., Value]] = {
    **UNARY,
    **BINARY,
    **GAMMA,
    **INTEGRAL_OPS,
    **BESSEL_OPS,
    **SPECIAL,
    **SPECIAL_BINARY,
    "abs": _abs,
    "sign": _sign,
    **_extremes(True),
    **_rounding(False),
    **_comparisons(True),
    "and_": _and,
    "or_": _or,
    "xor": _xor,
    "not_": _not,
    "where": _where,
    "stop_gradient": _identity,
}

SMOOTH_OPS: dict[str, Callable[..., Value]] = {
    **SMOOTH_UNARY,
    **SMOOTH_BINARY,
    **SMOOTH_BESSEL_OPS,
    **SMOOTH_SPECIAL,
    **SMOOTH_SPECIAL_BINARY,
    "abs": where_nonzero(_abs),
    "sign": where_nonzero(_sign),
    "stop_gradient": _copy,
    **_extremes(False),
    **_rounding(True),
    **_comparisons(False),
}
