"""Transfer functions: infer facts about the result of an op from facts about its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import floor

from symgrad.ir.exact import CONSTANTS
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.types import Number
from symgrad.rewrite.facts import intervals
from symgrad.rewrite.facts.intervals import ANYTHING, INF, NONNEGATIVE, Bound, Facts, exactly, facts_between

_YES = Facts(1, 1, nonzero=True, integer=True, parity=1)
_NO = Facts(0, 0, integer=True, parity=0)
_TRUTH = Facts(0, 1, integer=True)
_SIZE = Facts(0, integer=True)
_FINE = 10**5
"""A constant is enclosed between neighbouring multiples of 1/_FINE: arithmetic on short bounds stays short."""


def _constant(value: Fraction) -> Facts:
    low = Fraction(floor(value * _FINE), _FINE)
    return facts_between(low, low + Fraction(1, _FINE), True, True)


_CONSTANTS = {name: _constant(value) for name, value in CONSTANTS.items()}


def _where(c: Facts, a: Facts, b: Facts) -> Facts:
    if c.point is not None:
        return a if c.point else b
    return intervals.hull(a, b)


def _compare(decide: Callable[[Facts, Facts], bool | None]) -> Callable[[Facts, Facts], Facts]:
    def rule(a: Facts, b: Facts) -> Facts:
        known = decide(a, b)
        return _TRUTH if known is None else _YES if known else _NO

    return rule


def _less(a: Facts, b: Facts) -> bool | None:
    if a.high < b.low or (a.high == b.low and (a.high_open or b.low_open or _differ(a, b))):
        return True
    return False if a.low >= b.high else None


def _less_equal(a: Facts, b: Facts) -> bool | None:
    if a.high <= b.low:
        return True
    if a.low > b.high or (a.low == b.high and (a.low_open or b.high_open or _differ(a, b))):
        return False
    return None


def _differ(a: Facts, b: Facts) -> bool:
    return (a.point == 0 and b.nonzero) or (b.point == 0 and a.nonzero)


def _equal(a: Facts, b: Facts) -> bool | None:
    if a.point is not None and a.point == b.point:
        return True
    if _less(a, b) or _less(b, a) or _differ(a, b):
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


def _some(first: Facts, *rest: Facts) -> Facts:
    return reduce(intervals.hull, rest, first)


def _contraction(*operands: Facts) -> Facts:
    """Return the facts of a sum of products; the empty sum is zero, the empty product one."""
    return NONNEGATIVE if all(f.nonnegative for f in operands) else ANYTHING


def _sqrt(a: Facts) -> Facts:
    return intervals.power(a, exactly(Fraction(1, 2)))


def _relu(a: Facts) -> Facts:
    return intervals.maximum(a, exactly(0))


def _clip(a: Facts, low: Facts, high: Facts) -> Facts:
    return intervals.minimum(intervals.maximum(a, low), high)


def _same(a: Facts) -> Facts:
    return a


COMPARISONS: dict[str, Callable[[Facts, Facts], Facts]] = {
    "lt": _compare(_less),
    "gt": _compare(lambda a, b: _less(b, a)),
    "le": _compare(_less_equal),
    "ge": _compare(lambda a, b: _less_equal(b, a)),
    "eq": _compare(_equal),
    "ne": _compare(lambda a, b: _negated(_equal(a, b))),
}
"""The truth of each comparison of two values."""

_RULES: dict[str, Callable[..., Facts]] = {
    "add": intervals.add,
    "neg": intervals.neg,
    "mul": intervals.mul,
    "div": intervals.div,
    "pow": intervals.power,
    "sqrt": _sqrt,
    "abs": intervals.absolute,
    "sign": intervals.sign,
    "exp": intervals.exp,
    "log": intervals.log,
    "where": _where,
    "maximum": intervals.maximum,
    "minimum": intervals.minimum,
    "floor": intervals.rounding(math.floor),
    "ceil": intervals.rounding(math.ceil),
    "round": intervals.rounding(round),
    "relu": _relu,
    "clip": _clip,
    "stop_gradient": _same,
    **COMPARISONS,
    "and_": _both,
    "or_": _either,
    "not_": _opposite,
    "xor": _one_of,
}
_OF_ENTRIES: Mapping[str, Callable[..., Facts]] = {
    "moved": _some,
    "picked": _some,
    "between": _some,
    "products": _contraction,
}


def is_ruled(node: Node) -> bool:
    """Tell whether a transfer function gives more facts about a node than its op record."""
    return node.op.name in _RULES if node.op.pointwise else node.op.array.entries in _OF_ENTRIES


def facts_of(node: Node, args: list[Facts]) -> Facts:
    """Return the facts about a node from the facts about its operands, in the order of `operands_of`."""
    if node.op is NUMBER:
        return exactly(int(node.value) if isinstance(node.value, bool) else node.value)
    if node.op is CONSTANT:
        return _CONSTANTS[node.params[0]]
    if node.op is SYMBOL:
        return _of_symbol(node, args)
    if node.op is SIZE:
        return _SIZE
    if not node.op.pointwise:
        of_entries = _OF_ENTRIES.get(node.op.array.entries)
        numbers = [f for i, f in enumerate(args) if node.op.kind_of(i) == "number"]
        found = _from_record(node, args) if of_entries is None else of_entries(*numbers)
        return _with_integer(node, found)
    rule = _RULES.get(node.op.name)
    # x*x is a square; x == x holds on the domain of x.
    if len(node.args) == 2 and node.args[0] is node.args[1]:
        if node.op.name == "mul":
            return intervals.int_power(args[0], 2)
        if node.op.name in {"eq", "le", "ge"}:
            return _YES
        if node.op.name in {"ne", "lt", "gt"}:
            return _NO
    rounded = node.args and node.args[0].op.name == "floor" and node.args[0].args[0] is node.args[-1]
    if rounded and args[-1].integer and node.op.name in {"eq", "ge"}:
        return _YES
    found = rule(*args) if rule is not None else _from_record(node, args)
    if node.op.name == "add":
        found = _fractional_part(node) or found
    return _with_integer(node, found)


def _fractional_part(node: Node) -> Facts | None:
    """Return the facts of x - floor(x), or of floor(x) - x, plus a number; None for other sums."""
    total: int | Fraction = 0
    terms: list[Node] = []
    pending = list(node.args)
    while pending:
        n = pending.pop()
        if n.op.name == "add":
            pending += n.args
        elif n.op is NUMBER:
            total += n.value
        else:
            terms.append(n)
        if len(terms) > 2:
            return None
    for a, b in (terms, terms[::-1]) if len(terms) == 2 else ():
        if b.op.name == "neg" and b.args[0].op.name == "floor" and b.args[0].args[0] is a:
            return facts_between(total, total + 1, False, True)
        if b.op.name == "neg" and a.op.name == "floor" and a.args[0] is b.args[0]:
            return facts_between(total - 1, total, True, False)
    return None


def _with_integer(node: Node, found: Facts) -> Facts:
    return replace(found, integer=True) if node.dtype == "int" and not found.integer else found


def operands_of(node: Node) -> tuple[Node, ...]:
    """Return the nodes that decide the facts of a node: its arguments, or the parameters of a random input."""
    return node.args or (node.declaration.formulas if node.op is SYMBOL else ())


def _of_symbol(node: Node, of_formulas: list[Facts]) -> Facts:
    declaration = node.declaration
    if of_formulas and declaration.distribution is not None:
        ends = dict(zip(declaration.formulas, map(_numbers_around, of_formulas), strict=True))
        domain = declaration.distribution.support_for(ends)
    else:
        domain = declaration.values
    if domain.kind == "bool":
        return _TRUTH
    ends = domain.span
    low: Bound = -INF if ends[0] is None else ends[0]
    high: Bound = INF if ends[1] is None else ends[1]
    is_open = not domain.closed
    return facts_between(
        low, high, is_open and low > -INF, is_open and high < INF, integer=domain.kind == "int"
    )


def _numbers_around(found: Facts) -> tuple[Number | None, Number | None]:
    """Return exact bounds on values; None for an infinite end."""
    low, high = (None if isinstance(end, float) else end for end in (found.low, found.high))
    return low, high


def _from_record(node: Node, args: list[Facts]) -> Facts:
    """Return the facts that follow from just the op record."""
    names = node.op.facts
    if node.dtype == "bool":
        return _TRUTH
    low: Bound = -1 if "bounded-by-one" in names else -INF
    high: Bound = 1 if "bounded-by-one" in names else INF
    # A strictly increasing bounded function never reaches its bounds: sigmoid, tanh, erf.
    low_open = high_open = "bounded-by-one" in names and "increasing" in names
    nonzero = False
    if "nonnegative" in names or "positive" in names:
        low, low_open = 0, "positive" in names
    if len(args) == 1 and "odd" in names and "increasing" in names:
        # A strictly increasing odd function has the sign of its argument.
        nonzero = args[0].nonzero
        if args[0].nonnegative:
            low, low_open = 0, args[0].positive
        if args[0].nonpositive:
            high, high_open = 0, False
    return facts_between(low, high, low_open, high_open, nonzero=nonzero, integer="integral" in names)
