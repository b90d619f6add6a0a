"""Mistakes in the product rule and the quotient rule."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.graph import as_node
from symgrad.verification.mistakes.rule import MistakeTable, Site, Wrong

mistake: MistakeTable[Site, Wrong] = MistakeTable()


@mistake("product-rule-lost-term", ("mul", "einsum"), 18, "losing a term of the product rule at {0}")
def _lose_term(s: Site) -> Iterator[Wrong]:
    if len(s.moving) > 1:
        for i in s.moving:
            yield s.sends({i: as_node(0)})


@mistake("product-of-derivatives", ("mul",), 20, "multiplying the derivatives of the factors of {0}")
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


mistake("quotient-of-derivatives", ("div",), 40, "dividing the derivatives of the two parts of {0}")(
    _of_derivatives
)


@mistake("quotient-upside-down", ("div",), 21, "differentiating {0} upside down")
def _inverted(s: Site) -> Iterator[Wrong]:
    f, g = s.node.args
    slopes = {0: -g / (f * f), 1: 1 / f}
    if s.moving:
        yield s.sends({i: s.slope(i, slopes[i]) for i in s.moving})


@mistake(
    "quotient-upside-down",
    ("div",),
    22,
    "dividing by the square of the numerator of {0} in the quotient rule",
)
def _over_numerator(s: Site) -> Iterator[Wrong]:
    f, g = s.node.args
    slopes = {0: g / (f * f), 1: -1 / f}
    if s.moving:
        yield s.sends({i: s.slope(i, slopes[i]) for i in s.moving})


@mistake("quotient-sign-swapped", ("div",), 19, "the quotient rule with its two terms swapped at {0}")
def _swapped(s: Site) -> Iterator[Wrong]:
    if 1 in s.moving:
        yield s.sends({i: -s.right(i) for i in s.moving})


@mistake("quotient-sign-swapped", ("div",), 21, "adding the two terms of the quotient rule at {0}")
def _plus(s: Site) -> Iterator[Wrong]:
    if len(s.moving) == 2:
        yield s.sends({1: -s.right(1)})


@mistake(
    "quotient-denominator-not-squared",
    ("div",),
    16.9,
    "not squaring the denominator in the quotient rule at {0}",
)
def _not_squared(s: Site) -> Iterator[Wrong]:
    f, g = s.node.args
    if 1 in s.moving:
        slopes = {0: as_node(1), 1: -f / g}
        yield s.sends({i: s.slope(i, slopes[i]) for i in s.moving})
        yield s.sends({1: s.slope(1, -f / g)})
