"""The pointwise ops of programs on single values: exact rationals while they are short, else balls.

    Value ::= fmpq | arb | bool | None

An fmpq is the number itself, an arb a finite ball that contains it. None means that the value is not certain to be a
real number: it lies outside the domain, or its ball reaches across the boundary. The `SMOOTH_` tables have variants
that also return None where the function has no two-sided derivative: at ties, jumps, kinks and ends of domains.

The identity of an object stands for a number; in the `SMOOTH_` tables it stands for a function near the point. So an op
must not return one of its arguments merely because the numbers agree at the point (x*1 is a new object).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from symgrad.checker.limits import BALL_ROOT_ORDER, EXACT_BITS
from symgrad.checker.numbers import arb, fmpq

Value: TypeAlias = Any
Unary: TypeAlias = "Callable[[Value], Value]"
Binary: TypeAlias = "Callable[[Value, Value], Value]"


ARGUMENT_BOUND = arb(2) ** 64
"""The arguments of special functions from which on a value is unknown."""

CONSTANTS: Mapping[str, Callable[[], Value]] = {
    "pi": arb.pi,
    "E": arb.const_e,
    "EulerGamma": arb.const_euler,
    "Catalan": arb.const_catalan,
    "GoldenRatio": lambda: (1 + arb(5).sqrt()) / 2,
}
"""The named constants, as balls of the current precision."""


def ball(x: Any) -> Any:
    """Return a number as a ball."""
    return arb(x) if type(x) is fmpq else x


def number(x: Value) -> Value:
    """Convert a truth value to 0 or 1, as a new object."""
    return fmpq(int(x)) if isinstance(x, bool) else x


def _shorten(x: Any) -> Value:
    if type(x) is fmpq:
        return x if x.height_bits() <= EXACT_BITS else arb(x)
    return x if x.is_finite() else None


def finite_or_none(x: Any) -> Value:
    """Return a ball if it is finite, otherwise None."""
    return x if x.is_finite() else None


# ------------------------------------------------------------------------------------------------------- arithmetic


def add(x: Value, y: Value) -> Value:
    """The sum."""
    return None if x is None or y is None else _shorten(x + y)


def neg(x: Value) -> Value:
    """The negative."""
    return None if x is None else -x


def mul(x: Value, y: Value) -> Value:
    """The product; zero times any number is zero exactly."""
    if x is None or y is None:
        return None
    if (type(x) is fmpq and not x) or (type(y) is fmpq and not y):
        return fmpq(0)
    return _shorten(x * y)


def div(x: Value, y: Value) -> Value:
    """The quotient."""
    if x is None or y is None:
        return None
    if type(y) is fmpq:
        return _shorten(x / y) if y else None
    if not (y > 0 or y < 0):
        return None
    return fmpq(0) if type(x) is fmpq and not x else _shorten(x / y)


def _root(x: Any, n: int) -> Any:
    """Return the n-th root of a nonnegative rational if it is rational, otherwise None."""
    p, q = x.p.root(n), x.q.root(n)
    return fmpq(p, q) if p**n == x.p and q**n == x.q else None


def _integer_power(x: Any, n: int) -> Value:
    if type(x) is not fmpq:
        return fmpq(1) if n == 0 else finite_or_none(x**n)
    if not x:
        return fmpq(int(n == 0)) if n >= 0 else None
    if x == 1 or x == -1:
        return fmpq(-1 if x == -1 and n % 2 else 1)
    if x.height_bits() * abs(n) <= EXACT_BITS:
        return fmpq(1) * x**n
    return finite_or_none(arb(x) ** n)


def _pow(x: Value, y: Value, *, at_zero: bool = True) -> Value:
    if x is None or y is None:
        return None
    if type(y) is fmpq and y.q == 1:
        return _integer_power(x, int(y.p))
    if type(x) is fmpq:
        if not x:
            return fmpq(0) if at_zero and y > 0 else None
        if x < 0 and type(y) is fmpq:
            return None
        if type(y) is fmpq and y.q <= BALL_ROOT_ORDER:
            root = _root(x, int(y.q))
            if root is not None:
                return _integer_power(root, int(y.p))
    return finite_or_none(ball(x) ** ball(y))


def sqrt(x: Value) -> Value:
    """The square root of x >= 0."""
    if x is None:
        return None
    if type(x) is fmpq:
        if x < 0:
            return None
        root = _root(x, 2)
        if root is not None:
            return root
    return finite_or_none(ball(x).sqrt())


def _cbrt(x: Value) -> Value:
    if x is None:
        return None
    if type(x) is fmpq:
        size = _root(abs(x), 3)
        if size is not None:
            return -size if x < 0 else size
    x = ball(x)
    if x > 0:
        return finite_or_none(x.root(3))
    return -(-x).root(3) if x < 0 else finite_or_none(x.abs_upper().root(3) * arb(0, 1))


def _hypot(x: Value, y: Value) -> Value:
    squares = add(mul(x, x), mul(y, y))
    if type(squares) is arb and not squares > 0:
        squares = (
            squares.nonnegative_part()
        )  # a sum of squares is not negative, although the ball may reach below 0
    return sqrt(squares)


# ------------------------------------------------------------------------------------------- functions of one number


def _function(method: Callable[[Any], Any], exact: Mapping[int, int] | None = None) -> Unary:
    """Turn a method of balls into an op that has exact values at some integers."""
    known = exact or {}

    def apply(x: Value) -> Value:
        if x is None:
            return None
        if type(x) is fmpq:
            if known and x.q == 1 and abs(x) <= 2:
                value = known.get(int(x.p))
                if value is not None:
                    return fmpq(value)
            x = arb(x)
        return finite_or_none(method(x))

    return apply


def _of_reciprocal(inverse: Unary) -> Unary:
    return lambda x: inverse(div(fmpq(1), x))


exp = _function(arb.exp, {0: 1})
log = _function(arb.log, {1: 0})
_acos = _function(arb.acos, {1: 0})
_asin = _function(arb.asin, {0: 0})
_acosh = _function(arb.acosh, {1: 0})
_asinh = _function(arb.asinh, {0: 0})
_atan = _function(arb.atan, {0: 0})
_atanh = _function(arb.atanh, {0: 0})


def _log_base(base: int) -> Unary:
    def apply(x: Value) -> Value:
        if x is None:
            return None
        if type(x) is fmpq:
            if x <= 0:
                return None
            top, bottom = int(x.p), int(x.q)
            n = round(math.log(top, base) - math.log(bottom, base))
            if 1 in (top, bottom) and fmpq(base) ** n == x:
                return fmpq(n)
        x = ball(x)
        return finite_or_none(x.log() / arb(base).log()) if x > 0 else None

    return apply


def _asech(x: Value) -> Value:
    return _acosh(div(fmpq(1), x)) if x is not None and x > 0 else None


def _sigmoid(x: Value) -> Value:
    if x is None:
        return None
    if type(x) is fmpq and not x:
        return fmpq(1, 2)
    x = ball(x)
    if x < 0:
        e = x.exp()
        return finite_or_none(e / (1 + e))
    return finite_or_none(1 / (1 + (-x).exp()))


def _softplus(x: Value) -> Value:
    if x is None:
        return None
    x = ball(x)
    return finite_or_none(x + (-x).exp().log1p() if x > 0 else x.exp().log1p())


def _acot(x: Value) -> Value:
    if x is None:
        return None
    if type(x) is fmpq:
        return finite_or_none(arb.pi() / 2) if not x else _atan(1 / x)
    return finite_or_none((1 / x).atan() if x > 0 or x < 0 else arb.pi() / 2 * arb(0, 1))


def _atan2(x: Value, y: Value) -> Value:
    if x is None or y is None:
        return None
    if type(x) is fmpq and type(y) is fmpq and not x and y >= 0:
        return fmpq(0)
    return finite_or_none(arb.atan2(ball(x), ball(y)))


# ------------------------------------------------------------------------------------------------------------- tables

UNARY: dict[str, Unary] = {
    "neg": neg,
    "sqrt": sqrt,
    "cbrt": _cbrt,
    "exp": exp,
    "exp2": lambda x: _pow(fmpq(2), x),
    "expm1": _function(arb.expm1, {0: 0}),
    "log": log,
    "log2": _log_base(2),
    "log10": _log_base(10),
    "log1p": _function(arb.log1p, {0: 0}),
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "sin": _function(arb.sin, {0: 0}),
    "cos": _function(arb.cos, {0: 1}),
    "tan": _function(arb.tan, {0: 0}),
    "sec": _function(arb.sec, {0: 1}),
    "csc": _function(arb.csc),
    "cot": _function(arb.cot),
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "asec": _of_reciprocal(_acos),
    "acsc": _of_reciprocal(_asin),
    "acot": _acot,
    "sinh": _function(arb.sinh, {0: 0}),
    "cosh": _function(arb.cosh, {0: 1}),
    "tanh": _function(arb.tanh, {0: 0}),
    "sech": _function(arb.sech, {0: 1}),
    "csch": _function(arb.csch),
    "coth": _function(arb.coth),
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
    "asech": _asech,
    "acsch": _of_reciprocal(_asinh),
    "acoth": _of_reciprocal(_atanh),
    "erf": _function(arb.erf, {0: 0}),
    "erfc": _function(arb.erfc, {0: 1}),
}
BINARY: dict[str, Binary] = {
    "add": add,
    "mul": mul,
    "div": div,
    "pow": _pow,
    "hypot": _hypot,
    "atan2": _atan2,
}


def _except_at(op: Unary, *ends: int) -> Unary:
    """Return an op that is unknown at the given points, where it has no two-sided derivative."""

    def apply(x: Value) -> Value:
        return None if x is None or any(x == e for e in ends) else op(x)

    return apply


def where_nonzero(op: Unary) -> Unary:
    """Return an op that is unknown unless its argument is certainly nonzero."""

    def apply(x: Value) -> Value:
        return op(x) if x is not None and (x > 0 or x < 0) else None

    return apply


def _atan2_off_cut(x: Value, y: Value) -> Value:
    return _atan2(x, y) if x is not None and y is not None and (x > 0 or x < 0 or y > 0) else None


def _hypot_off_zero(x: Value, y: Value) -> Value:
    length = _hypot(x, y)
    return length if length is not None and length > 0 else None


SMOOTH_UNARY: dict[str, Unary] = {
    "sqrt": _except_at(sqrt, 0),
    "cbrt": _except_at(_cbrt, 0),
    "asin": _except_at(_asin, -1, 1),
    "acos": _except_at(_acos, -1, 1),
    "acosh": _except_at(_acosh, 1),
    "asech": _except_at(_asech, 1),
    "asec": _except_at(UNARY["asec"], -1, 1),
    "acsc": _except_at(UNARY["acsc"], -1, 1),
    "acot": where_nonzero(_acot),
}
SMOOTH_BINARY: dict[str, Binary] = {
    "pow": partial(_pow, at_zero=False),
    "hypot": _hypot_off_zero,
    "atan2": _atan2_off_cut,
}
"""Variants that are unknown at ends of their domains, at jumps, and where they have no derivative."""
