"""Floors of bounded random inputs, as sums of steps."""

from __future__ import annotations

import math
from fractions import Fraction

from symgrad.analysis.expectations.assumptions import Undecided
from symgrad.analysis.expectations.terms.expansion import Expansion, simple
from symgrad.analysis.expectations.terms.monomials import ONE, Terms, plus, scaled
from symgrad.analysis.expectations.terms.sign_thresholds import negative_part, other
from symgrad.ir.graph import OPS, as_node

_0, _1 = as_node(0), as_node(1)
_STEPS = 8


def floor_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return floor(c0 + c1*u): its value at the lower end, plus 1 for each integer up to the upper end.

    Raises:
        Undecided: if the sum is not affine, c1 or an end of u is not a number, or there are too many steps.
    """
    if terms.keys() <= {ONE}:
        return {ONE: OPS["floor"](simple(terms.get(ONE, _0)))}
    affine = x.affine(terms)
    if affine is None or not x.is_continuous(affine[0]) or not affine[2].is_number():
        raise Undecided
    u, c0, c1 = affine
    ends = x.given.known.facts(u)
    if isinstance(ends.low, float) or isinstance(ends.high, float):
        raise Undecided
    scale = Fraction(c1.value)
    steps = math.ceil(abs(scale) * (ends.high - ends.low))
    if steps > _STEPS:
        raise Undecided
    first = OPS["floor"](simple(c0 + min(scale * ends.low, scale * ends.high)))
    found: Terms = {ONE: first}
    for j in range(1, steps + 1):
        above = {**terms, ONE: simple(c0 - first - j)}
        plus(found, other(negative_part(x, above)))
    return found


def ceil_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return ceil(c0 + c1*u), which is -floor(-c0 - c1*u)."""
    return scaled(floor_of_sum(x, scaled(terms, as_node(-1))), as_node(-1))


def round_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return round(c0 + c1*u) as floor(1/2 + c0 + c1*u); they differ with probability 0 because u is continuous."""
    if terms.keys() <= {ONE}:
        return {ONE: OPS["round"](simple(terms.get(ONE, _0)))}
    half = {ONE: as_node(Fraction(1, 2))}
    return floor_of_sum(x, plus(half, terms))
