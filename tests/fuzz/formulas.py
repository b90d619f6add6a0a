"""Formulas as text: random ones full of ends of domains, and their values without symgrad.

`Real` is a number with Python's operators, and `functions` are those of mpmath where they are real; with them a formula
can be evaluated by Python, and ends in an error where a step of it has no value.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tests.rewrite.rules.strict import MP

__all__ = ["POINTS", "Real", "UndefinedError", "functions", "random_formula"]

# Where domains end, and dyadic numbers, which mpmath holds exactly.
_DYADIC = "0 1 -1 2 -2 3 -3 1/2 -1/2 3/2 -3/2 1/4 7/4 -13/8 10"
POINTS = tuple(Fraction(t) for t in _DYADIC.split())


# ------------------------------------------------------------------------------------------------- random expressions

_UNARY = """
log sqrt exp abs sign tan asin acos atanh acosh cbrt expm1 log1p floor round ceil relu sigmoid sinh tanh atan log2 exp2
gamma cos
"""
_NUMBERS = ("0", "0", "1", "-1", "2", "-2", "3", "1/2")
_EXPONENTS = ("2", "3", "0", "(-1)", "(1/2)", "(1/3)", "(-2)", "(3/2)", "(2/3)", "(-1/2)")


def random_formula(rng: random.Random, depth: int, names: Sequence[str]) -> str:
    """Return a formula full of ends of domains: roots, logarithms, quotients, choices, zeros and ones."""
    kind = rng.random()
    if depth == 0 or kind < 0.12:
        return rng.choice(list(names)) if rng.random() < 0.65 else rng.choice(_NUMBERS)
    a = random_formula(rng, depth - 1, names)
    if kind < 0.34:
        return f"{rng.choice(_UNARY.split())}({a})"
    if kind < 0.4:
        return f"({a})**{rng.choice(_EXPONENTS)}"
    b = random_formula(rng, depth - 1, names)
    if kind < 0.93:
        form = "({a})**({b})" if kind < 0.5 else rng.choice(["({a})/({b})", "({a})*({b})", "({a}) + ({b})"])
        return form.format(a=a, b=b) if rng.random() < 0.8 else f"({a}) - ({b})"
    if kind < 0.97:
        c = random_formula(rng, depth - 1, names)
        return f"where(({a}) {rng.choice(['>', '<', '==', '!=', '>=', '<='])} ({b}), {c}, {a})"
    return f"{rng.choice(['maximum', 'minimum', 'Mod', 'atan2', 'hypot'])}({a}, {b})"


# ---------------------------------------------------------------------------------------------------- formulas as text


class UndefinedError(Exception):
    """A step of a formula has no value."""


class Real:
    """A real number; an operation without a real value is an error."""

    def __init__(self, value: Any) -> None:
        self.value = (
            MP.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else MP.mpf(value)
        )

    def __add__(self, other: Any) -> Real:
        return Real(self.value + _plain(other))

    def __mul__(self, other: Any) -> Real:
        return Real(self.value * _plain(other))

    def __sub__(self, other: Any) -> Real:
        return Real(self.value - _plain(other))

    def __rsub__(self, other: Any) -> Real:
        return Real(_plain(other) - self.value)

    def __neg__(self) -> Real:
        return Real(-self.value)

    def __truediv__(self, other: Any) -> Real:
        if not _plain(other):
            raise UndefinedError
        return Real(self.value / _plain(other))

    def __rtruediv__(self, other: Any) -> Real:
        return Real(other) / self

    def __pow__(self, other: int) -> Real:
        return Real(self.value**other)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == _plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= _plain(other))

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return self > other or self == other

    def __rpow__(self, other: int) -> Real:
        return Real(MP.mpf(other) ** self.value)

    __radd__, __rmul__ = __add__, __mul__


def _plain(x: Any) -> Any:
    return x.value if isinstance(x, Real) else MP.mpf(x)


def _on(domain: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Real]:
    def apply(*args: Any) -> Real:
        plain = [_plain(a) for a in args]
        if not domain(*plain):
            raise UndefinedError
        return Real(MP.re(value(*plain)))

    return apply


def _no_pole(x: Any) -> bool:
    return x > 0 or x != MP.floor(x)


def _counts(a: Any) -> bool:
    return a > 0 and a == MP.floor(a)


def _upper_domain(a: Any, x: Any) -> bool:
    return x > 0 or (x == 0 and a > 0) or _counts(a)


def _lower(a: Any, x: Any) -> Any:
    return MP.gamma(a) - _upper(a, x)


def _upper(a: Any, x: Any) -> Any:
    if not _counts(a):
        return MP.gammainc(a, x)
    n = int(a)  # mpmath may not end at x < 0
    return MP.exp(-x) * MP.fsum(x**k * MP.factorial(n - 1) / MP.factorial(k) for k in range(n))


def _anywhere(*_: Any) -> bool:
    return True


def functions() -> dict[str, Any]:
    """Return what the formulas of written functions call, with their domains (docs/language.md), in mpmath."""
    return {
        "pi": Real(MP.pi),
        "EulerGamma": Real(MP.euler),
        "sqrt": _on(lambda x: x >= 0, MP.sqrt),
        "log": _on(lambda x: x > 0, MP.log),
        "log1p": _on(lambda x: x > -1, lambda x: MP.log(1 + x)),
        "expm1": _on(_anywhere, MP.expm1),
        "tanh": _on(_anywhere, MP.tanh),
        "sigmoid": _on(_anywhere, lambda x: 1 / (1 + MP.exp(-x))),
        "softplus": _on(_anywhere, lambda x: MP.log(1 + MP.exp(x))),
        "abs": _on(_anywhere, abs),
        "sign": _on(_anywhere, MP.sign),
        "number": lambda text: Real(Fraction(text)),
        "floor": _on(_anywhere, MP.floor),
        "gamma": _on(_no_pole, MP.gamma),
        "lgamma": _on(_no_pole, lambda x: MP.log(abs(MP.gamma(x)))),
        "digamma": _on(_no_pole, MP.digamma),
        "polygamma": _on(lambda n, x: _no_pole(x), lambda n, x: MP.psi(int(n), x)),
        "erf": _on(_anywhere, MP.erf),
        "erfc": _on(_anywhere, MP.erfc),
        "erfcinv": _on(lambda x: 0 < x < 2, lambda x: MP.erfinv(1 - x)),
        "li": _on(lambda x: x >= 0 and x != 1, lambda x: MP.li(x) if x else x),
        "lowergamma": _on(lambda a, x: _no_pole(a) and _upper_domain(a, x), _lower),
        "uppergamma": _on(_upper_domain, _upper),
        "polylog": _on(lambda n, x: x <= 1, lambda n, x: MP.polylog(int(n), x)),
        "zeta": _on(lambda s, a: s != 1, MP.zeta),
        "ellipe": _on(lambda m: m <= 1, MP.ellipe),
        "ellipeinc": _on(
            lambda phi, m: m <= 1 or (abs(phi) < MP.pi / 2 and m * MP.sin(phi) ** 2 <= 1), MP.ellipe
        ),
        "jv": _on(_anywhere, MP.besselj),
        "iv": _on(_anywhere, MP.besseli),
        "yv": _on(lambda n, x: x > 0, MP.bessely),
        "kv": _on(lambda n, x: x > 0, MP.besselk),
        "ive": _on(_anywhere, lambda n, x: MP.exp(-abs(x)) * MP.besseli(n, x)),
    }
