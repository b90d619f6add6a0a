"""Mistakes in the product rule and the quotient rule."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.graph import as_node
from symgrad.verification.mistakes.rule import MalRule, Site, Wrong

__all__ = ["ROWS"]


def _inverted(s: Site) -> Iterator[Wrong]:
    f, g = s.node.args
    slopes = {0: -g / (f * f), 1: 1 / f}
    if s.moving:
        yield s.sends({i: s.slope(i, slopes[i]) for i in s.moving})


def _over_numerator(s: Site) -> Iterator[Wrong]:
    f, g = s.node.args
    slopes = {0: g / (f * f), 1: -1 / f}
    if s.moving:
        yield s.sends({i: s.slope(i, slopes[i]) for i in s.moving})


def _swapped(s: Site) -> Iterator[Wrong]:
    if 1 in s.moving:
        yield s.sends({i: -s.right(i) for i in s.moving})


def _plus(s: Site) -> Iterator[Wrong]:
    if len(s.moving) == 2:
        yield s.sends({1: -s.right(1)})


def _not_squared(s: Site) -> Iterator[Wrong]:
    f, g = s.node.args
    if 1 in s.moving:
        slopes = {0: as_node(1), 1: -f / g}
        yield s.sends({i: s.slope(i, slopes[i]) for i in s.moving})
        yield s.sends({1: s.slope(1, -f / g)})


def _of_derivatives(s: Site) -> Iterator[Wrong]:
    """Multiply or divide the derivatives of both operands."""
    if len(s.moving) == 2 and not s.wrt.shape and not s.node.shape:
        (f, g), (df, dg) = s.node.args, s.dots
        if df is None or dg is None:
            return
        if s.node.op.name == "mul":
            tangent, right = df * dg, f * dg + g * df
        else:
            tangent, right = df / dg, (df * g - f * dg) / (g * g)
        yield Wrong(((None, s.bar * (tangent - right)),))


def _lose_term(s: Site) -> Iterator[Wrong]:
    if len(s.moving) > 1:
        for i in s.moving:
            yield s.sends({i: as_node(0)})


ROWS = (
    MalRule(
        kind="product-rule-lost-term",
        says="this is what one gets by losing a term of the product rule at {0}",
        ops=("mul", "einsum"),
        distort=_lose_term,
        rank=18,
    ),
    MalRule(
        kind="product-of-derivatives",
        says="this is what one gets by multiplying the derivatives of the factors of {0}",
        ops=("mul",),
        distort=_of_derivatives,
        rank=20,
    ),
    MalRule(
        kind="quotient-of-derivatives",
        says="this is what one gets by dividing the derivatives of the two parts of {0}",
        ops=("div",),
        distort=_of_derivatives,
        rank=40,
    ),
    MalRule(
        kind="quotient-upside-down",
        says="this is what one gets by differentiating {0} upside down",
        ops=("div",),
        distort=_inverted,
        rank=21,
    ),
    MalRule(
        kind="quotient-upside-down",
        says="this is what one gets by dividing by the square of the numerator of {0} in the quotient rule",
        ops=("div",),
        distort=_over_numerator,
        rank=22,
    ),
    MalRule(
        kind="quotient-sign-swapped",
        says="this is what one gets by the quotient rule with its two terms swapped at {0}",
        ops=("div",),
        distort=_swapped,
        rank=19,
    ),
    MalRule(
        kind="quotient-sign-swapped",
        says="this is what one gets by adding the two terms of the quotient rule at {0}",
        ops=("div",),
        distort=_plus,
        rank=21,
    ),
    MalRule(
        kind="quotient-denominator-not-squared",
        says="this is what one gets by not squaring the denominator in the quotient rule at {0}",
        ops=("div",),
        distort=_not_squared,
        rank=16.9,
    ),
)
