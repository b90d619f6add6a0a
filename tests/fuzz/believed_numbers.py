"""Numbers as a reader computes them: rational ones exactly, others by mpmath; where rounding might decide, nothing."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

__all__ = [
    "COMPLEX",
    "CONSTANTS",
    "REAL",
    "Undefined",
    "apart",
    "compared",
    "each",
    "mp",
    "operators",
    "real",
]

mp: Any = mpmath.MPContext()
mp.dps = 40
_CLOSE = 1e-20  # of two inexact numbers that may be equal
_LONGEST = 20_000  # bits of a power that is computed exactly


class Undefined(Exception):
    """An expression has no value at a point, or none that is known well enough."""


def real(x: Any) -> Any:
    """A number as mpmath's."""
    if isinstance(x, (bool, int)):
        return mp.mpf(int(x))
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else x


def _both(x: Any, y: Any) -> tuple[Any, Any]:
    """Two numbers as fractions if they are some, else as mpmath's."""
    x, y = (Fraction(v) if isinstance(v, (bool, int)) else v for v in (x, y))
    return (x, y) if isinstance(x, Fraction) and isinstance(y, Fraction) else (real(x), real(y))


def apart(x: Any, y: Any, by: float) -> bool:
    """Whether two numbers are further apart than that, by their sizes."""
    x, y = real(x), real(y)
    return bool(abs(x - y) > by * (1 + abs(x) + abs(y)))


def each(function: Callable[..., Any], *args: Any) -> Any:
    """Apply a function to numbers, or to arrays entry by entry; entries without a value are None."""
    if not any(np.ndim(a) for a in args):
        return function(*args)

    def entry(*values: Any) -> Any:
        try:
            return None if any(v is None for v in values) else function(*values)
        except (Undefined, ZeroDivisionError, ValueError, OverflowError):
            return None

    arrays = np.broadcast_arrays(*(np.asarray(a, dtype=object) for a in args))
    out = np.empty(arrays[0].shape, dtype=object)
    for place in np.ndindex(out.shape):
        out[place] = entry(*(a[place] for a in arrays))
    return out


# ----------------------------------------------------------------------------------------------------------- operators


def _exactly(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: function(*_both(x, y))


def _power(x: Any, y: Any) -> Any:
    x, y = _both(x, y)
    if y == int(y):
        n = int(y)
        long = (
            isinstance(x, Fraction) and abs(n) * max(abs(x.numerator), x.denominator).bit_length() > _LONGEST
        )
        return (real(x) if long else x) ** n
    if x < 0 or (x == 0 and y < 0):
        raise Undefined
    return real(x) ** real(y)


def _complex_power(x: Any, y: Any) -> Any:
    x, y = real(x), real(y)
    if mp.im(y) == 0 and mp.re(y) == int(mp.re(y)):
        return x ** int(mp.re(y))
    if x == 0:
        if mp.re(y) > 0:
            return mp.mpf(0)
        raise Undefined
    return mp.exp(y * mp.log(x))


_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: _exactly(operator.add),
    ast.Sub: _exactly(operator.sub),
    ast.Mult: _exactly(operator.mul),
    ast.Div: _exactly(operator.truediv),
    ast.Pow: _power,
}


def operators(*, complexes: bool) -> Mapping[type, Callable[[Any, Any], Any]]:
    """The arithmetic operators of real, or of complex numbers."""
    return {**_OPERATORS, ast.Pow: _complex_power} if complexes else _OPERATORS


_COMPARISONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def compared(op: ast.cmpop, x: Any, y: Any) -> bool:
    """How two numbers compare, unless that is too close to tell."""
    x, y = _both(x, y)
    if not isinstance(x, Fraction) and not apart(x, y, _CLOSE):
        raise Undefined
    return bool(_COMPARISONS[type(op)](x, y))


# ----------------------------------------------------------------------------------------------------------- functions


def _numeric(name: str) -> Callable[[Any], Any]:
    function = getattr(mp, name)
    return lambda x: function(real(x))


def _between(
    low: float | None, high: float | None, name: str, *, closed: bool = True
) -> Callable[[Any], Any]:
    """A function of the numbers between two ends."""
    function = getattr(mp, name)

    def apply(x: Any) -> Any:
        if (low is not None and (x < low or (x == low and not closed))) or (high is not None and x > high):
            raise Undefined
        return function(real(x))

    return apply


def _jumping(name: str) -> Callable[[Any], Any]:
    """A function that jumps at whole numbers."""
    function = getattr(mp, name)

    def apply(x: Any) -> Any:
        if not isinstance(x, (Fraction, int)) and not apart(x, mp.nint(x), _CLOSE):
            raise Undefined
        return Fraction(int(function(real(x))))

    return apply


def _sign(x: Any) -> Any:
    if isinstance(x, (Fraction, int)):
        return Fraction((x > 0) - (x < 0))
    if not apart(x, 0, _CLOSE):
        raise Undefined
    return mp.sign(x)


CONSTANTS: Mapping[str, Callable[[], Any]] = {
    "E": lambda: +mp.e,
    "EulerGamma": lambda: +mp.euler,
    "Catalan": lambda: +mp.catalan,
    "GoldenRatio": lambda: +mp.phi,
}
_ENTIRE = "exp sin cos tan atan sinh cosh tanh asinh erf erfc gamma expm1".split()  # noqa: SIM905
_BRANCHED = "log sqrt asin acos acosh atanh".split()  # noqa: SIM905
REAL: Mapping[str, Callable[..., Any]] = {
    **{name: _numeric(name) for name in _ENTIRE},
    "sqrt": _between(0, None, "sqrt"),
    "log": _between(0, None, "log", closed=False),
    "log1p": _between(-1, None, "log1p", closed=False),
    "asin": _between(-1, 1, "asin"),
    "acos": _between(-1, 1, "acos"),
    "acosh": _between(1, None, "acosh"),
    "abs": abs,
    "sign": _sign,
    "floor": _jumping("floor"),
    "ceil": _jumping("ceil"),
    "maximum": lambda x, y: max(_both(x, y)),
    "minimum": lambda x, y: min(_both(x, y)),
    "relu": lambda x: max(_both(x, 0)),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-real(x))),
    "xor": lambda x, y: x != y,
}
COMPLEX: Mapping[str, Callable[..., Any]] = {
    **{name: _numeric(name) for name in (*_ENTIRE, *_BRANCHED)},
    "log1p": lambda x: mp.log(1 + real(x)),
    "abs": lambda x: abs(real(x)),
    "sign": lambda x: mp.sign(real(x)),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-real(x))),
}
