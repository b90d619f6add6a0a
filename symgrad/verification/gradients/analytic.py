"""Tell where a formula is real-analytic: no kink, no jump, no end of a domain, for all values of its inputs.

The record of each op lists its kinks and domain, and inferred facts about its argument exclude them: sqrt(1 + x**2)
is analytic because 1 + x**2 is positive. Two
functions that are analytic on an interval, and differ at one point of it, differ at each of its points in the value or
in a derivative of some order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from symgrad.ir.graph import OPS, SYMBOL, Node, number, symbol
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Domain, Number
from symgrad.ops.scalar.logic import gt, lt, ne
from symgrad.ops.user_ops import without_definitions
from symgrad.rewrite.facts.inference import Conditions

_POLYNOMIAL = frozenset({"det"})
"""Polynomials in their entries whose derivatives are written as quotients."""


def is_analytic(outputs: Sequence[Node], inputs: Collection[Node]) -> bool:
    """Tell whether formulas are known to be analytic in some inputs, for all values of all inputs.

    A node that reads none of these inputs is a constant and needs only to have a value: floors and conditions in it do
    not matter.

    Args:
        outputs: formulas without stop_gradient.
        inputs: symbols.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x, c : real; y = sqrt(1 + x**2)*floor(c); z = sqrt(x**2)*c")
        >>> [is_analytic([p[name]], [p["x"]]) for name in "yz"]
        [True, False]
    """
    known = Conditions()
    moves: set[Node] = set()
    for n in topological(without_definitions(outputs)):
        if n in inputs or any(a in moves for a in n.args):
            moves.add(n)
            if n.op is not SYMBOL and not _is_smooth_here(n, known):
                return False
    return True


def _is_smooth_here(n: Node, known: Conditions) -> bool:
    """Tell whether an op is known to be analytic wherever its arguments are."""
    if n.dtype != "real" or OPS.identity_of(n.op) is not None or "given-slope" in n.op.facts:
        return False
    if "stops" in n.op.facts or "piecewise-constant" in n.op.facts:
        return False
    if n.op.name in _POLYNOMIAL:
        return True
    if not n.op.kinks:
        # Positions are data: an expression has a value only if they lie inside their axes.
        return n.op.domain is None and (
            n.op.pointwise or n.op.array.total not in ("of regular", "of definite")
        )
    return is_away_from_kinks(n, known)


def is_away_from_kinks(n: Node, known: Conditions) -> bool:
    """Tell whether the arguments of an op never take values at which its slope is undefined, or defined by convention.

    Args:
        n: a real-valued op whose slope is undefined, or a convention, at some arguments.
        known: facts about the arguments.
    """
    conditions = conditions_off_kinks(n)
    return conditions is not None and known.total(n) and all(known.holds(c) == "yes" for c in conditions)


def conditions_off_kinks(n: Node) -> list[Node] | None:
    """Return comparisons that hold exactly where an op has no kink; None if they are not known.

    Where a comparison is false, its sides are equal, or the op has no value, or an end of `clip` has no effect.
    """
    args = n.args
    if n.op.name in ("minimum", "maximum"):
        return [ne(*args)]
    if n.op.name == "clip":
        x, low, high = args
        return [ne(x, low), ne(x, high), lt(low, high)]
    if n.op.name == "div":
        return [ne(args[1], number(0))]
    if n.op.name == "pow":
        base, exponent = args
        if not exponent.is_number() or exponent.value.denominator != 1:
            return [gt(base, number(0))]
        return [] if exponent.value >= 0 else [ne(base, number(0))]
    if n.op.name == "hypot":
        return [gt(args[0] ** 2 + args[1] ** 2, number(0))]
    if n.op.name == "norm":
        return [gt(n, number(0))]
    if len(args) != 1 or any(kink.where != f"x = {kink.point[0]}" for kink in n.op.kinks if kink.point):
        return None
    if not n.op.pointwise:
        return None  # the kink is at one of several entries
    return [ne(args[0], number(kink.point[0])) for kink in n.op.kinks]


def in_a_box(outputs: Sequence[Node], low: Number, high: Number) -> list[Node] | None:
    """Restrict all real inputs to an interval within their domains; None if the interval misses the domain of an input.

    Args:
        outputs: formulas.
        low: the lower end.
        high: the upper end.
    """
    table: dict[Node, Node] = {}
    for s in topological(outputs):
        if s.op is not SYMBOL or s.dtype != "real" or s.declaration.distribution is not None:
            continue
        least, most = s.declaration.domain.span
        a = low if least is None else max(low, least)
        b = high if most is None else min(high, most)
        if a >= b:
            return None
        table[s] = symbol(replace(s.declaration, domain=Domain("real", "real", a, b)))
    return substitute(outputs, table)
