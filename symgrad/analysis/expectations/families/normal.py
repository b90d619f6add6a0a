"""Moments of Normal inputs, and of LogNormal inputs, whose logarithm is Normal."""

from __future__ import annotations

import math
from fractions import Fraction

from symgrad.analysis.expectations.assumptions import Assumptions, NoMoment, Undecided
from symgrad.analysis.expectations.families.complexes import Complex, Value, exp
from symgrad.analysis.expectations.families.factor import (
    FamilyFactor,
    integer_exponent,
    largest,
    reciprocal,
    smallest,
)
from symgrad.ir.graph import OPS, Node, as_node, constant

_0, _1 = as_node(0), as_node(1)


def normal(f: FamilyFactor, given: Assumptions, mean: Node, sd: Node) -> Value:
    """Return E[u**n * exp(t*u + q*u**2)] by completing the square: a number times a moment of another Normal variable.

    The variance becomes S**2 = sd**2/v and the mean m = (mean + t*sd**2)/v, with v = 1 - 2*q*sd**2.
    """
    f.only("power", "size", "rate", "square", "low", "high")
    t, q = f.rate, f.square
    v = _1 if q.is_number(0) else 1 - 2 * q * sd**2
    if v is not _1:
        otherwise = "exp of the square of a Normal input grows faster than its density falls"
        given.require(OPS["gt"](v, _0), otherwise)
    m = (t * sd**2 + mean) / v
    scale = exp((t * mean + t * t * (sd**2 / 2) + q * mean**2) / v)
    spread = sd
    if v is not _1:
        spread, scale = sd / OPS["sqrt"](v), scale / OPS["sqrt"](v)
    if not f.size.is_number(0):
        return scale * _size(f, given, m, spread)
    _check_power(f)
    n = integer_exponent(f.power)
    if not f.is_truncated:
        total = f.zero
        for j in range(n // 2 + 1):
            moment = math.comb(n, 2 * j) * math.prod(range(1, 2 * j, 2)) * spread ** (2 * j)
            total = total + m ** (n - 2 * j) * moment
        return scale * total
    if isinstance(m, Complex):
        raise Undecided
    return scale * _truncated(f, given, m, spread, n)


def _check_power(f: FamilyFactor) -> None:
    if not f.power.is_number():
        raise Undecided
    p = Fraction(f.power.value)
    if p >= 0 and p.denominator == 1:
        return
    if f.is_truncated:
        raise Undecided
    if p.denominator != 1:
        raise NoMoment(f"{f.u.name}**({p}) has no value for {f.u.name} < 0, which has a probability above 0")
    raise NoMoment(f"{reciprocal(f.u.name, p)} is not integrable: the density is not 0 at {f.u.name} = 0")


def _size(f: FamilyFactor, given: Assumptions, m: Value, sd: Node) -> Value:
    """Return E[abs(u)**a] = sd**a * 2**(a/2) * gamma((a + 1)/2)/sqrt(pi), if the mean is 0."""
    half = (f.low, f.high) in (((_0,), ()), ((), (_0,)))
    if isinstance(m, Complex) or not m.is_number(0) or not f.power.is_number(0):
        raise Undecided
    if f.is_truncated and not half:
        raise Undecided
    a = f.size
    given.require(OPS["gt"](a, as_node(-1)), f"abs({f.u.name}) to a power of -1 or less is not integrable")
    whole_line = sd**a * as_node(2) ** (a / 2) * OPS["gamma"]((a + 1) / 2) / OPS["sqrt"](constant("pi"))
    return whole_line / 2 if half else whole_line


def _cdf(z: Node) -> Node:
    return OPS["erfc"](-z / OPS["sqrt"](as_node(2))) / 2


def _density(z: Node) -> Node:
    return OPS["exp"](-(z**2) / 2) / OPS["sqrt"](2 * constant("pi"))


def _truncated(f: FamilyFactor, given: Assumptions, m: Node, sd: Node, n: int) -> Node:
    """Return moments between ends by the recursion M[j] = (j - 1)*M[j - 2] + a**(j - 1)*phi(a) - b**(j - 1)*phi(b)."""
    low = (largest(f.low) - m) / sd if f.low else None
    high = (smallest(f.high) - m) / sd if f.high else None
    if low is not None and high is not None and not given.is_proved(OPS["le"](low, high)):
        high = OPS["maximum"](low, high)
    at_low = _cdf(low) if low is not None else _0
    at_high = _cdf(high) if high is not None else _1
    moments = [_cdf(-low)] if high is None and low is not None else [at_high - at_low]
    for j in range(1, n + 1):
        found = (j - 1) * moments[j - 2] if j > 1 else _0
        if low is not None:
            found = found + low ** (j - 1) * _density(low)
        if high is not None:
            found = found - high ** (j - 1) * _density(high)
        moments.append(found)
    total = _0
    for j, moment in enumerate(moments):
        total = total + math.comb(n, j) * m ** (n - j) * sd**j * moment
    return total


def lognormal(f: FamilyFactor, given: Assumptions, mean: Node, sd: Node) -> Value:
    """Return E[u**a * log(u)**k] = E[exp(a*v) * v**k] with v = log(u) ~ Normal(mean, sd)."""
    if not f.square.is_number(0) or (isinstance(f.rate, Node) and not f.rate.is_number(0)):
        t = f.square if not f.square.is_number(0) else f.real_rate
        if given.is_proved(OPS["gt"](t, _0)):
            raise NoMoment(f"exp({f.u.name}) grows faster than the density of a LogNormal input falls")
        raise Undecided
    f.only("power", "size", "logs", "low", "high")
    for end in (*f.low, *f.high):
        if not given.is_proved(OPS["gt"](end, _0)):
            raise Undecided
    low, high = (tuple(OPS["log"](end) for end in ends) for ends in (f.low, f.high))
    v = FamilyFactor(f.u, power=as_node(f.logs), rate=f.power + f.size, low=low, high=high)
    return normal(v, given, mean, sd)
