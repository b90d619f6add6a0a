"""Moments of Gamma and Exponential inputs, and of Laplace inputs, which consist of two Exponential halves."""

from __future__ import annotations

import math
from fractions import Fraction

from symgrad.analysis.expectations.assumptions import Assumptions, NoMoment, Undecided
from symgrad.analysis.expectations.families.complexes import Complex, Value, exp, power
from symgrad.analysis.expectations.families.factor import (
    FamilyFactor,
    integer_exponent,
    largest,
    reciprocal,
    smallest,
)
from symgrad.ir.graph import OPS, Node, as_node

_0, _1 = as_node(0), as_node(1)
_STEPS = 30


def gamma_ratio(k: Node, a: Node) -> Node:
    """Return gamma(k + a)/gamma(k), as a product if a is an integer."""
    if a.is_number() and isinstance(a.value, int) and abs(a.value) <= _STEPS:
        found = _1
        for j in range(abs(a.value)):
            found = found * (k + j) if a.value > 0 else found / (k - 1 - j)
        return found
    return OPS["gamma"](k + a) / _gamma_function(k)


def _gamma_function(k: Node) -> Node:
    if k.is_number() and isinstance(k.value, int) and 0 < k.value <= _STEPS:
        return as_node(math.factorial(k.value - 1))
    return OPS["gamma"](k)


def gamma(f: FamilyFactor, given: Assumptions, k: Node, theta: Node) -> Value:
    """Return E[u**a * exp(t*u)] = Γ(k + a)/Γ(k) * theta**a * (1 - theta*t)**-(k + a), for t < 1/theta and k + a > 0."""
    f.only("power", "size", "rate", "low", "high")
    a, t = f.power + f.size, f.rate
    name = f.u.name
    if not f.low or not given.is_proved(OPS["gt"](largest(f.low), _0)):
        otherwise = f"{name} to the power of its exponent is not integrable at {name} = 0"
        given.require(OPS["gt"](k + a, _0), otherwise)
    real = t.re if isinstance(t, Complex) else t
    if not f.high and not real.is_number(0):
        given.require(OPS["gt"](1 - theta * real, _0), f"exp grows faster than the density of {name} falls")
    if f.is_truncated:
        return _truncated(f, given, k, theta, a)
    moment = gamma_ratio(k, a) * theta**a
    return moment if isinstance(t, Node) and t.is_number(0) else power(t * -theta + 1, -(k + a)) * moment


def _truncated(f: FamilyFactor, given: Assumptions, k: Node, theta: Node, a: Node) -> Node:
    """Integrate u**(k + a - 1)*exp(-c*u) between the ends, with incomplete gamma functions and c = 1/theta - t."""
    c = 1 / theta - f.real_rate
    given.require(OPS["gt"](c, _0), None)  # incomplete gamma functions need positive arguments
    low = None
    if f.low:
        low = largest(f.low)
        if not given.is_proved(OPS["ge"](low, _0)):
            low = OPS["maximum"](low, _0)
    order = k + a
    scale = 1 / (c**order * _gamma_function(k) * theta**k)
    if not f.high:
        assert low is not None
        return scale * _upper(order, c * low)
    high = smallest(f.high)
    floor = _0 if low is None else low
    if not given.is_proved(OPS["ge"](high, floor)):
        high = OPS["maximum"](high, floor)
    if low is None:
        return scale * _lower(order, c * high)
    return scale * (_upper(order, c * low) - _upper(order, c * high))


def _upper(a: Node, x: Node) -> Node:
    """Return the upper incomplete gamma function; for integer orders, (n - 1)!*exp(-x)*(sum of x**j/j! over j < n)."""
    if a.is_number() and isinstance(a.value, int) and 0 < a.value <= _STEPS:
        total = _0
        for j in range(a.value):
            total = total + x**j * Fraction(1, math.factorial(j))
        return math.factorial(a.value - 1) * OPS["exp"](-x) * total
    return OPS["uppergamma"](a, x)


def _lower(a: Node, x: Node) -> Node:
    if a.is_number() and isinstance(a.value, int) and 0 < a.value <= _STEPS:
        return math.factorial(a.value - 1) - _upper(a, x)
    return OPS["lowergamma"](a, x)


def exponential(f: FamilyFactor, given: Assumptions, rate: Node) -> Value:
    """Return the moment of a Gamma variable of shape 1."""
    return gamma(f, given, _1, 1 / rate)


def laplace(f: FamilyFactor, given: Assumptions, mean: Node, scale: Node) -> Value:
    """Return E[u**n * exp(t*u)]: u is mean + e*scale or mean - e*scale with e ~ Exponential(1), each half the time."""
    f.only("power", "size", "rate", "low", "high")
    if not f.size.is_number(0):
        return _two_sided(f, given, mean, scale)
    p = f.power.value if f.power.is_number() else None
    if p is not None and not f.is_truncated and Fraction(p).denominator != 1:
        raise NoMoment(f"{f.u.name}**({p}) has no value for {f.u.name} < 0, which has a probability above 0")
    if p is not None and not f.is_truncated and p < 0:
        raise NoMoment(f"{reciprocal(f.u.name, p)} is not integrable: the density is not 0 at {f.u.name} = 0")
    n = integer_exponent(f.power)
    t = f.rate
    total = f.zero
    for side in (1, -1):
        low, high = (f.low, f.high) if side > 0 else (f.high, f.low)
        low, high = (tuple(side * (end - mean) / scale for end in ends) for ends in (low, high))
        for j in range(n + 1):
            half = FamilyFactor(f.u, power=as_node(j), rate=t * (side * scale), low=low, high=high)
            moment = gamma(half, given, _1, _1)
            total = total + moment * (math.comb(n, j) * mean ** (n - j) * (side * scale) ** j / 2)
    return exp(t * mean) * total


def _two_sided(f: FamilyFactor, given: Assumptions, mean: Node, scale: Node) -> Value:
    """Return E[u**n * abs(u)**a] if the mean is 0."""
    if not mean.is_number(0) or not (isinstance(f.rate, Node) and f.rate.is_number(0)):
        raise Undecided
    if (f.low and f.low != (_0,)) or (f.high and f.high != (_0,)):
        raise Undecided
    sides = [side for side, end in ((1, f.high), (-1, f.low)) if not end]
    n = integer_exponent(f.power)
    size = gamma(FamilyFactor(f.u, power=n + f.size), given, _1, scale)
    return size * (as_node(sum(side**n for side in sides)) / 2)
