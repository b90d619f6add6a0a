"""Moments of Poisson and Cauchy inputs."""

from __future__ import annotations

import math
from collections.abc import Callable

from symgrad.analysis.expectations.assumptions import Assumptions, NoMoment, Undecided
from symgrad.analysis.expectations.families.complexes import Complex, Value, exp
from symgrad.analysis.expectations.families.complexes import power as complex_power
from symgrad.analysis.expectations.families.factor import (
    FamilyFactor,
    integer_exponent,
    largest,
    reciprocal,
    smallest,
)
from symgrad.ir.graph import OPS, Node, as_node, constant
from symgrad.rewrite.pipeline import canonical

_0, _1 = as_node(0), as_node(1)
_COUNTS = 40  # number of terms of a sum that is written out


def poisson(f: FamilyFactor, _given: Assumptions, rate: Node) -> Value:
    """Return E[u**n * s**u] = exp(rate*(s - 1)) * (sum of S(n, j)*(rate*s)**j), with Stirling's second numbers S."""
    f.only("power", "size", "rate", "base", "low", "high")
    power = f.power + f.size
    first = _counted_from(f.low, largest) if f.low else 0
    if power.is_number() and power.value < 0 and first <= 0:
        raise NoMoment(f"there is no value at {f.u.name} = 0, which has a probability above 0")
    s = exp(f.rate) * f.base
    if f.high:
        last = _counted_from(f.high, smallest)
        return _counted(f, s, power, rate, range(max(first, 0), last))
    n = integer_exponent(power)
    row = [1]  # S(n, 0), ..., S(n, n)
    for m in range(1, n + 1):
        row = [j * (row[j] if j < m else 0) + (row[j - 1] if j else 0) for j in range(m + 1)]
    total = f.zero
    for j, c in enumerate(row):
        if c:
            total = total + (s * rate) ** j * c
    total = exp((s - 1) * rate) * total
    return total - _counted(f, s, power, rate, range(first)) if first > 0 else total


def _counted_from(ends: tuple[Node, ...], choose: Callable[[tuple[Node, ...]], Node]) -> int:
    """Return the first integer that is not below a lower end.

    Raises:
        Undecided: if the end is not a number.
    """
    (end,) = canonical([choose(ends)]).nodes
    if not end.is_number():
        raise Undecided
    return math.ceil(end.value)


def _counted(f: FamilyFactor, s: Value, power: Node, rate: Node, values: range) -> Value:
    """Return the sum of k**power * s**k * exp(-rate)*rate**k/k! over a range of k.

    Raises:
        Undecided: if the range has too many numbers.
    """
    if len(values) > _COUNTS:
        raise Undecided
    total = f.zero
    for k in values:
        here = _1 if power.is_number(0) else as_node(k) ** power
        total = total + complex_power(s, k) * (here * rate**k / math.factorial(k))
    return total * exp(-rate)


def cauchy(f: FamilyFactor, _given: Assumptions, location: Node, scale: Node) -> Value:
    """Return E[exp(i*w*u)] = exp(i*location*w - scale*abs(w)), or the probability of an interval."""
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
