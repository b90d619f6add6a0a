"""Poisson and Cauchy."""

from __future__ import annotations

from symgrad.analysis.expectations.families.complexes import Complex, Value, exp
from symgrad.analysis.expectations.families.factor import FamilyFactor, largest, reciprocal, smallest, whole
from symgrad.analysis.expectations.given import Given, NoMoment, Undecided
from symgrad.ir.graph import OPS, Node, as_node, constant

__all__ = ["cauchy", "poisson"]

_0, _1 = as_node(0), as_node(1)


def poisson(f: FamilyFactor, _given: Given, rate: Node) -> Value:
    """E[u**n * s**u] = exp(rate*(s - 1)) * sum of S(n, j)*(rate*s)**j, with Stirling numbers of the second kind."""
    f.only("power", "size", "rate", "base")
    power = f.power + f.size
    if power.is_number() and power.value < 0:
        raise NoMoment(f"there is no value at {f.u.name} = 0, which has a probability above 0")
    n = whole(power)
    s = exp(f.rate) * f.base
    row = [1]  # S(n, 0), ..., S(n, n)
    for m in range(1, n + 1):
        row = [j * (row[j] if j < m else 0) + (row[j - 1] if j else 0) for j in range(m + 1)]
    total = f.zero
    for j, c in enumerate(row):
        if c:
            total = total + (s * rate) ** j * c
    return exp((s - 1) * rate) * total


def cauchy(f: FamilyFactor, _given: Given, location: Node, scale: Node) -> Value:
    """E[exp(i*w*u)] = exp(i*location*w - scale*abs(w)); probabilities of intervals; nothing that grows."""
    name = f.u.name
    f.only("power", "size", "rate", "low", "high")
    power = f.power + f.size
    if isinstance(f.rate, Complex):
        if f.is_truncated or not power.is_number(0) or not f.rate.re.is_number(0):
            raise Undecided
        w = f.rate.im
        return exp(Complex(-scale * OPS["abs"](w), location * w))
    if not f.rate.is_number(0) or not power.is_number():
        raise Undecided
    if power.value == 0:
        at_high = _cdf(smallest(f.high), location, scale) if f.high else _1
        at_low = _cdf(largest(f.low), location, scale) if f.low else _0
        if f.low and f.high:
            at_high = OPS["maximum"](at_high, at_low)
        return at_high - at_low
    if f.low and f.high:
        raise Undecided
    if power.value >= 1:
        raise NoMoment(
            f"the tails of a Cauchy input are too heavy: {name} to a power of 1 or more has no mean"
        )
    if not f.is_truncated and isinstance(power.value, int):
        raise NoMoment(
            f"{reciprocal(name, power.value)} is not integrable: the density is not 0 at {name} = 0"
        )
    raise Undecided


def _cdf(x: Node, location: Node, scale: Node) -> Node:
    return as_node(1) / 2 + OPS["atan"]((x - location) / scale) / constant("pi")
