"""Facts about one value, and what follows for the result of an op: interval arithmetic on exact rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node

__all__ = ["ANYTHING", "RULED", "Bound", "Facts", "facts_of"]

Bound: TypeAlias = "int | Fraction | float"  # a float only for an infinite end

_INF = math.inf
_WIDEST = 192  # bits of an end point; beyond, the end is moved outwards to a simple one
_LONGEST = 900  # bits of a known value; beyond, it does not meet an infinite end (a float) in arithmetic


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a value: an interval, and what an interval cannot say.

    Args:
        low, high: ends of an interval that contains it, exact, or infinite.
        low_open, high_open: whether it never takes that end.
        nonzero: known to differ from zero.
        integer: known to be an integer.
        parity: 0 if known to be an even integer, 1 if odd, None if unknown.
    """

    low: Bound = -_INF
    high: Bound = _INF
    low_open: bool = False
    high_open: bool = False
    nonzero: bool = False
    integer: bool = False
    parity: int | None = None

    @property
    def point(self) -> int | Fraction | None:
        """The one value it can take, if there is only one."""
        return self.low if self.low == self.high and not isinstance(self.low, float) else None

    @property
    def positive(self) -> bool:
        return self.low > 0 or (self.low == 0 and (self.low_open or self.nonzero))

    @property
    def negative(self) -> bool:
        return self.high < 0 or (self.high == 0 and (self.high_open or self.nonzero))

    @property
    def nonnegative(self) -> bool:
        return self.low >= 0

    @property
    def nonpositive(self) -> bool:
        return self.high <= 0


ANYTHING = Facts()
_NONNEGATIVE = Facts(low=0)
_YES = Facts(1, 1, nonzero=True, integer=True, parity=1)
_NO = Facts(0, 0, integer=True, parity=0)
_TRUTH = Facts(0, 1, integer=True)
_SIZE = Facts(0, integer=True)


def _facts(
    low: Bound,
    high: Bound,
    low_open: bool = False,
    high_open: bool = False,
    *,
    nonzero: bool = False,
    integer: bool = False,
    parity: int | None = None,
) -> Facts:
    """Facts with the ends kept short and `nonzero` filled in from the interval."""
    if low != high:
        if not isinstance(low, float) and _long(low):
            low, low_open = (0, True) if low > 0 else (-_INF, False)
        if not isinstance(high, float) and _long(high):
            high, high_open = (0, True) if high < 0 else (_INF, False)
    elif (
        not isinstance(low, float)
        and max(low.numerator.bit_length(), low.denominator.bit_length()) > _LONGEST
    ):
        integer, parity = low.denominator == 1, None
        return (
            Facts(0, _INF, True, False, True, integer)
            if low > 0
            else Facts(-_INF, 0, False, True, True, integer)
        )
    nonzero = nonzero or low > 0 or high < 0 or (low == 0 and low_open) or (high == 0 and high_open)
    if low == high and not isinstance(low, float):
        integer = low.denominator == 1
        parity = int(low) % 2 if integer else None
    return Facts(low, high, low_open, high_open, nonzero or parity == 1, integer, parity)


def _long(value: int | Fraction) -> bool:
    return value.numerator.bit_length() > _WIDEST or value.denominator.bit_length() > _WIDEST


def _exactly(value: int | Fraction) -> Facts:
    return _facts(value, value)


def _between(low: str, high: str) -> Facts:
    return _facts(Fraction(low), Fraction(high), True, True)


_CONSTANTS = {
    "pi": _between("3.14159", "3.1416"),
    "E": _between("2.71828", "2.71829"),
    "EulerGamma": _between("0.57721", "0.57722"),
    "Catalan": _between("0.91596", "0.91597"),
    "GoldenRatio": _between("1.61803", "1.61804"),
}


def _neg(a: Facts) -> Facts:
    return Facts(-a.high, -a.low, a.high_open, a.low_open, a.nonzero, a.integer, a.parity)


def _add(a: Facts, b: Facts) -> Facts:
    parity = (a.parity + b.parity) % 2 if a.parity is not None and b.parity is not None else None
    return _facts(
        a.low + b.low,
        a.high + b.high,
        a.low_open or b.low_open,
        a.high_open or b.high_open,
        integer=a.integer and b.integer,
        parity=parity,
    )


def _times(x: Bound, y: Bound) -> Bound:
    return x * y if x and y else 0


def _mul(a: Facts, b: Facts) -> Facts:
    parity = None
    if a.integer and b.integer and (a.parity == 0 or b.parity == 0):
        parity = 0
    elif a.parity == 1 and b.parity == 1:
        parity = 1
    return _facts(
        *_ends_of_product(a, b),
        nonzero=a.nonzero and b.nonzero,
        integer=a.integer and b.integer,
        parity=parity,
    )


def _ends_of_product(a: Facts, b: Facts) -> tuple[Bound, Bound, bool, bool]:
    """The ends of a product and whether they are open: in general the extremes of four, in common cases fewer."""
    if not (a.low_open or a.high_open or b.low_open or b.high_open):
        if b.low is b.high:
            a, b = b, a
        if a.low is a.high:
            first, second = _times(a.low, b.low), _times(a.low, b.high)
            return (first, second, False, False) if a.low > 0 else (second, first, False, False)
        if a.low == -a.high and b.low == -b.high:
            high = _times(a.high, b.high)
            return -high, high, False, False
    ends: list[tuple[Bound, bool]] = []
    for x, x_open in ((a.low, a.low_open), (a.high, a.high_open)):
        for y, y_open in ((b.low, b.low_open), (b.high, b.high_open)):
            value = _times(x, y)
            # Zero is taken as soon as one factor takes it, whatever the other does.
            reached = not (x_open or y_open) or (not x and not x_open) or (not y and not y_open)
            ends.append((value, not reached))
    low, high = min(e[0] for e in ends), max(e[0] for e in ends)
    return low, high, all(o for v, o in ends if v == low), all(o for v, o in ends if v == high)


def _reciprocal(a: Facts) -> Facts:
    """Of the nonzero values only: a reciprocal of zero has no value to know anything about."""
    if a.low >= 0:
        low, low_open = (0, True) if a.high == _INF else (1 / Fraction(a.high) if a.high else 0, a.high_open)
        high, high_open = (_INF, False) if a.low == 0 else (1 / Fraction(a.low), a.low_open)
        return _facts(low, high, low_open, high_open, nonzero=True)
    if a.high <= 0:
        return _neg(_reciprocal(_neg(a)))
    return Facts(nonzero=True)


def _div(a: Facts, b: Facts) -> Facts:
    return replace(_mul(a, _reciprocal(b)), integer=False, parity=None)


def _abs(a: Facts) -> Facts:
    if a.low >= 0:
        return a
    if a.high <= 0:
        return _neg(a)
    high = max(-a.low, a.high)
    high_open = all(o for v, o in ((-a.low, a.low_open), (a.high, a.high_open)) if v == high)
    return _facts(0, high, a.nonzero, high_open, nonzero=a.nonzero, integer=a.integer, parity=a.parity)


def _root(value: Bound, degree: int, *, up: bool) -> Bound:
    """A rational bound of value**(1/degree), exact for exact powers, from below or (up) from above."""
    if isinstance(value, float):
        return value
    scale = 2**8 if not _long(value) else 1
    scaled = value * scale**degree
    n = scaled.__floor__()
    guess = round(n ** (1 / degree)) if n.bit_length() < 900 else 0
    while guess**degree > n:
        guess -= 1
    while (guess + 1) ** degree <= n:
        if n.bit_length() >= 900:
            return _INF if up else 1
        guess += 1
    exact = guess**degree == scaled
    return Fraction(guess if exact or not up else guess + 1, scale)


def _int_power(a: Facts, n: int) -> Facts:
    if n < 0:
        return _reciprocal(_int_power(a, -n))
    if n == 0:
        return _exactly(1)
    if n % 2 == 0:
        a = _abs(a)
    if n > 64 and not (a.low in (0, 1) and a.high in (1, _INF)):
        return Facts(0 if n % 2 == 0 or a.low >= 0 else -_INF, _INF if a.high > 0 else 0, nonzero=a.nonzero)
    return _facts(
        a.low**n, a.high**n, a.low_open, a.high_open, nonzero=a.nonzero, integer=a.integer, parity=a.parity
    )


def _power(a: Facts, b: Facts) -> Facts:
    exponent = b.point
    if exponent is None:
        if a.positive:
            return _facts(0, _INF, True)
        return _NONNEGATIVE if a.nonnegative or b.parity == 0 else ANYTHING
    if exponent.denominator == 1:
        return _int_power(a, int(exponent))
    if exponent < 0:
        return _reciprocal(_power(a, _exactly(-exponent)))
    # A fractional power has a value for nonnegative bases only.
    low, low_open = (a.low, a.low_open) if a.low >= 0 else (0, False)
    if a.high < 0 or exponent.numerator > 64 or exponent.denominator > 16:
        return _facts(0, _INF, low_open and low >= 0, nonzero=a.nonzero)
    top, bottom = exponent.numerator, exponent.denominator
    low_root, high_root = _root(low, bottom, up=False), _root(a.high, bottom, up=True)
    return _facts(
        low_root**top,
        high_root**top,
        low_open and low == 0,
        a.high_open and high_root**bottom == a.high,
        nonzero=a.nonzero,
    )


def _hull(a: Facts, b: Facts) -> Facts:
    low, high = min(a.low, b.low), max(a.high, b.high)
    return _facts(
        low,
        high,
        all(f.low_open for f in (a, b) if f.low == low),
        all(f.high_open for f in (a, b) if f.high == high),
        nonzero=a.nonzero and b.nonzero,
        integer=a.integer and b.integer,
        parity=a.parity if a.parity == b.parity else None,
    )


def _where(c: Facts, a: Facts, b: Facts) -> Facts:
    if c.point is not None:
        return a if c.point else b
    return _hull(a, b)


def _maximum(a: Facts, b: Facts) -> Facts:
    either = _hull(a, b)
    low = max(a.low, b.low)
    low_open = any(f.low_open for f in (a, b) if f.low == low)
    return _facts(
        low,
        either.high,
        low_open,
        either.high_open,
        nonzero=either.nonzero,
        integer=either.integer,
        parity=either.parity,
    )


def _minimum(a: Facts, b: Facts) -> Facts:
    return _neg(_maximum(_neg(a), _neg(b)))


def _sign(a: Facts) -> Facts:
    if a.positive or a.negative or a.point == 0:
        return _exactly(0 if a.point == 0 else 1 if a.positive else -1)
    return _facts(0 if a.nonnegative else -1, 0 if a.nonpositive else 1, nonzero=a.nonzero, integer=True)


def _rounding(how: Callable[[Fraction], int]) -> Callable[[Facts], Facts]:
    def rule(a: Facts) -> Facts:
        low, high = (end if isinstance(end, float) else how(Fraction(end)) for end in (a.low, a.high))
        return a if a.integer else _facts(low, high, integer=True)

    return rule


def _exp(a: Facts) -> Facts:
    low = 1 if a.low >= 0 else 0
    high = 1 if a.high <= 0 else _INF
    return _facts(low, high, low == 0 or a.low > 0 or a.low_open, high == 1 and (a.high < 0 or a.high_open))


def _log(a: Facts) -> Facts:
    low = 0 if a.low >= 1 else -_INF
    high = 0 if a.high <= 1 else _INF
    return _facts(low, high, a.low > 1 or a.low_open, high == 0 and (a.high < 1 or a.high_open))


def _compare(decide: Callable[[Facts, Facts], bool | None]) -> Callable[[Facts, Facts], Facts]:
    def rule(a: Facts, b: Facts) -> Facts:
        known = decide(a, b)
        return _TRUTH if known is None else _YES if known else _NO

    return rule


def _less(a: Facts, b: Facts) -> bool | None:
    if a.high < b.low or (a.high == b.low and (a.high_open or b.low_open or _apart(a, b))):
        return True
    return False if a.low >= b.high else None


def _less_equal(a: Facts, b: Facts) -> bool | None:
    if a.high <= b.low:
        return True
    if a.low > b.high or (a.low == b.high and (a.low_open or b.high_open or _apart(a, b))):
        return False
    return None


def _apart(a: Facts, b: Facts) -> bool:
    return (a.point == 0 and b.nonzero) or (b.point == 0 and a.nonzero)


def _equal(a: Facts, b: Facts) -> bool | None:
    if a.point is not None and a.point == b.point:
        return True
    if _less(a, b) or _less(b, a) or _apart(a, b):
        return False
    if a.parity is not None and b.parity is not None and a.parity != b.parity:
        return False
    return None


def _opposite(a: Facts) -> Facts:
    return _TRUTH if a.point is None else _NO if a.point else _YES


def _both(a: Facts, b: Facts) -> Facts:
    if a.point == 0 or b.point == 0:
        return _NO
    return _YES if a.point == 1 and b.point == 1 else _TRUTH


def _negated(known: bool | None) -> bool | None:
    return None if known is None else not known


def _either(a: Facts, b: Facts) -> Facts:
    return _opposite(_both(_opposite(a), _opposite(b)))


def _one_of(a: Facts, b: Facts) -> Facts:
    if a.point is None or b.point is None:
        return _TRUTH
    return _NO if a.point == b.point else _YES


def _sqrt(a: Facts) -> Facts:
    return _power(a, _exactly(Fraction(1, 2)))


def _relu(a: Facts) -> Facts:
    return _maximum(a, _exactly(0))


def _clip(a: Facts, low: Facts, high: Facts) -> Facts:
    return _minimum(_maximum(a, low), high)


def _same(a: Facts) -> Facts:
    return a


def _some(first: Facts, *rest: Facts) -> Facts:
    return reduce(_hull, rest, first)


def _entries(a: Facts, *_positions: Facts) -> Facts:
    return a


def _share(_a: Facts) -> Facts:
    return _facts(0, 1)


def _contraction(*operands: Facts) -> Facts:
    """A sum of products; the sum of nothing is zero, the product of nothing one."""
    return _NONNEGATIVE if all(f.nonnegative for f in operands) else ANYTHING


_RULES: dict[str, Callable[..., Facts]] = {
    "add": _add,
    "neg": _neg,
    "mul": _mul,
    "div": _div,
    "pow": _power,
    "sqrt": _sqrt,
    "abs": _abs,
    "sign": _sign,
    "exp": _exp,
    "log": _log,
    "where": _where,
    "maximum": _maximum,
    "minimum": _minimum,
    "floor": _rounding(math.floor),
    "ceil": _rounding(math.ceil),
    "round": _rounding(round),
    "relu": _relu,
    "clip": _clip,
    "stop_gradient": _same,
    "lt": _compare(_less),
    "gt": _compare(lambda a, b: _less(b, a)),
    "le": _compare(_less_equal),
    "ge": _compare(lambda a, b: _less_equal(b, a)),
    "eq": _compare(_equal),
    "ne": _compare(lambda a, b: _negated(_equal(a, b))),
    "and_": _both,
    "or_": _either,
    "not_": _opposite,
    "xor": _one_of,
    **dict.fromkeys(("reshape", "broadcast_to", "slice", "max", "min", "mean"), _same),
    "concatenate": _some,
    "einsum": _contraction,
    "prod": _contraction,
    "gather": _entries,
    "softmax": _share,
}
RULED = frozenset(_RULES)
"""Ops of which more is known than the facts of their records."""


def facts_of(node: Node, args: list[Facts]) -> Facts:
    """Return what is known of a node from what is known of its arguments."""
    if node.op is NUMBER:
        return _exactly(int(node.value) if isinstance(node.value, bool) else node.value)
    if node.op is CONSTANT:
        return _CONSTANTS[node.params[0]]
    if node.op is SYMBOL:
        return _of_symbol(node)
    if node.op is SIZE:
        return _SIZE
    rule = _RULES.get(node.op.name)
    # x*x is a square; x == x holds wherever x has a value.
    if len(node.args) == 2 and node.args[0] is node.args[1]:
        if node.op.name == "mul":
            return _int_power(args[0], 2)
        if node.op.name in {"eq", "le", "ge"}:
            return _YES
        if node.op.name in {"ne", "lt", "gt"}:
            return _NO
    rounded = node.args and node.args[0].op.name == "floor" and node.args[0].args[0] is node.args[-1]
    if rounded and args[-1].integer and node.op.name in {"eq", "ge"}:
        return _YES
    found = rule(*args) if rule is not None else _from_record(node, args)
    return replace(found, integer=True) if node.dtype == "int" and not found.integer else found


def _of_symbol(node: Node) -> Facts:
    declaration = node.declaration
    domain = declaration.distribution.support if declaration.distribution else declaration.domain
    if domain.kind == "bool":
        return _TRUTH
    low: Bound = -_INF if domain.low is None else domain.low
    high: Bound = _INF if domain.high is None else domain.high
    is_open = not domain.closed
    return _facts(low, high, is_open and low > -_INF, is_open and high < _INF, integer=domain.kind == "int")


def _from_record(node: Node, args: list[Facts]) -> Facts:
    """From the facts of the op record alone."""
    names = node.op.facts
    if node.dtype == "bool":
        return _TRUTH
    low: Bound = -1 if "bounded-by-one" in names else -_INF
    high: Bound = 1 if "bounded-by-one" in names else _INF
    low_open = nonzero = False
    if "nonnegative" in names or "positive" in names:
        low, low_open = 0, "positive" in names
    if len(args) == 1 and "odd" in names and "increasing" in names:
        # Strictly increasing through the origin: the sign of the argument.
        nonzero = args[0].nonzero
        if args[0].nonnegative:
            low, low_open = 0, args[0].positive
        if args[0].nonpositive:
            high = 0
    return _facts(low, high, low_open, nonzero=nonzero, integer="integral" in names)
