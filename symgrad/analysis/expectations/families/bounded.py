"""Moments of Uniform and Beta inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
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
from symgrad.analysis.expectations.families.gamma import gamma_ratio
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.notation.printer import expression_text

_0, _1 = as_node(0), as_node(1)
_HIGHEST = 9  # for lower powers the quotient of differences is multiplied out


def uniform(f: FamilyFactor, given: Assumptions, low: Node, high: Node) -> Value:
    """Return the integral between the ends, from an antiderivative, divided by their distance."""
    f.only("power", "size", "rate", "logs", "shifted", "low", "high", "base")
    if not f.base.is_number(1):
        raise Undecided
    width = high - low
    start = _clipped(f.low, largest, low, low, high, given) if f.low else low
    end = _clipped(f.high, smallest, high, low, high, given) if f.high else high
    if f.is_truncated and not given.is_proved(OPS["le"](start, end)):
        end = OPS["maximum"](start, end)
    if f == FamilyFactor(f.u, power=f.power) and f.power.is_number() and f.power.value in range(_HIGHEST):
        # (high**(n + 1) - low**(n + 1))/(high - low), as a sum without a quotient.
        n = int(f.power.value)
        total = _0
        for j in range(n + 1):
            total = total + low**j * high ** (n - j)
        return total / (n + 1)
    if f.shifted:
        return _shifted(f, given, start, end) / width
    return _integral(f, given, start, end) / width


def _clipped(
    ends: tuple[Node, ...],
    choose: Callable[[tuple[Node, ...]], Node],
    end: Node,
    low: Node,
    high: Node,
    given: Assumptions,
) -> Node:
    """Return the end of a region or the end of the support, whichever is inside the other."""
    found = choose(ends)
    if end is low and not given.is_proved(OPS["ge"](found, low)):
        found = OPS["maximum"](found, low)
    if end is high and not given.is_proved(OPS["le"](found, high)):
        found = OPS["minimum"](found, high)
    return found


def _shifted(f: FamilyFactor, given: Assumptions, start: Node, end: Node) -> Value:
    """Integrate over v = c0 + c1*u, for one power of v."""
    if f.logs or not f.size.is_number(0):
        raise Undecided
    (c0, c1, e, logs), *others = f.shifted
    if others:
        raise Undecided
    n = integer_exponent(f.power, 12)
    at_start, at_end = c0 + c1 * start, c0 + c1 * end
    if not given.is_proved(OPS["gt"](c1, _0)):
        if not given.is_proved(OPS["lt"](c1, _0)):
            raise Undecided
        at_start, at_end = at_end, at_start
    name = f"({expression_text(c0 + c1 * f.u)})"
    total = f.zero
    for j in range(n + 1):  # u = (v - c0)/c1
        inner = FamilyFactor(f.u, power=e + j, rate=f.rate * (1 / c1), logs=logs)
        part = _integral(inner, given, at_start, at_end, name)
        total = total + part * (math.comb(n, j) * (-c0) ** (n - j) / c1**n)
    return exp(f.rate * (-c0 / c1)) * total * (1 / OPS["abs"](c1))


def _integral(f: FamilyFactor, given: Assumptions, low: Node, high: Node, name: str = "") -> Value:
    """Return the integral of u**a * log(u)**k * exp(t*u) from low to high."""
    name = name or f.u.name
    a = f.power
    if not f.size.is_number(0):
        if not given.is_proved(OPS["ge"](low, _0)):
            integer_power = a.is_number() and isinstance(a.value, int)
            if not integer_power or not given.is_proved(OPS["le"](high, _0)):
                raise Undecided
            sign = (-1) ** a.value
            return _integral(replace(f, rate=-f.rate), given, -high, -low) * as_node(sign)
        a = a + f.size
    _check_zero(a, f.logs, given, low, high, name)
    if isinstance(f.rate, Node) and f.rate.is_number(0):
        return _of_power(a, f.logs, given, high) - _of_power(a, f.logs, given, low)
    n = integer_exponent(a, 20)
    if f.logs:
        raise Undecided
    t = f.rate
    # The antiderivative of u**n * exp(t*u): exp(t*u) * sum of (-1)**j * n!/(n - j)! * u**(n - j)/t**(j + 1).
    if isinstance(t, Node):
        given.require(OPS["ne"](t, _0), None)
    total = f.zero
    for j in range(n + 1):
        c = (-1) ** j * math.perm(n, j)
        ends = exp(t * high) * (c * high ** (n - j)) - exp(t * low) * (c * low ** (n - j))
        total = total + ends / t ** (j + 1)
    return total


def _check_zero(a: Node, logs: int, given: Assumptions, low: Node, high: Node, name: str) -> None:
    """Require that u**a * log(u)**k is integrable near u = 0."""
    if a.is_number() and isinstance(a.value, int) and a.value >= 0 and not logs:
        return
    if given.is_proved(OPS["gt"](low, _0)):
        return
    if not logs and a.is_number() and isinstance(a.value, int):
        if given.is_proved(OPS["lt"](high, _0)):
            return
        inside = given.is_proved(OPS["le"](low, _0)) and given.is_proved(OPS["ge"](high, _0))
        if inside and given.is_proved(OPS["lt"](low, high)):
            raise NoMoment(f"{reciprocal(name, a.value)} is not integrable at {name} = 0")
        given.require(OPS["gt"](low, _0), None)
        return
    if given.is_proved(OPS["lt"](low, _0)):
        if not given.is_proved(OPS["lt"](low, high)):
            raise Undecided
        raise NoMoment(f"there is no value for {name} < 0, which has a probability above 0")
    if not given.is_proved(OPS["ge"](low, _0)):
        given.require(OPS["gt"](low, _0), None)
        return
    given.require(
        OPS["gt"](a, as_node(-1)), f"a power of {name} of -1 or less is not integrable at {name} = 0"
    )


def _of_power(a: Node, k: int, given: Assumptions, u: Node) -> Node:
    """Return the antiderivative of u**a * log(u)**k that is 0 at 0, if it exists."""
    if u.is_number(0):
        return _0
    if not a.is_number():
        given.require(OPS["ne"](a, as_node(-1)), None)
    if a.is_number(-1):
        return OPS["log"](OPS["abs"](u)) ** (k + 1) * Fraction(1, k + 1)
    total = _0
    for j in range(k + 1):
        c = (-1) ** (k - j) * math.perm(k, k - j)
        log = OPS["log"](u) ** j if j else _1
        total = total + c * u ** (a + 1) * log / (a + 1) ** (k - j + 1)
    return total


def beta(f: FamilyFactor, given: Assumptions, a: Node, b: Node) -> Value:
    """Return E[u**p * (1 - u)**q] = B(a + p, b + q)/B(a, b), for a + p > 0 and b + q > 0."""
    f.only("power", "size", "shifted", "rate")
    p, q = f.power + f.size, _0
    if isinstance(f.rate, Complex) or not f.rate.is_number(0):
        raise Undecided
    for c0, c1, e, _ in f.shifted:
        if not (c0.is_number(1) and c1.is_number(-1)):
            raise Undecided
        q = q + e
    name = f.u.name
    for shape, end in ((a + p, 0), (b + q, 1)):
        given.require(OPS["gt"](shape, _0), f"a power is not integrable at {name} = {end}")
    return gamma_ratio(a, p) * gamma_ratio(b, q) / gamma_ratio(a + b, p + q)
