"""Trigonometric functions, their reciprocals and inverses.

Reciprocals and their inverses have no libm call: their lowerings combine other functions, and are accurate to a few
ulp.
"""

from __future__ import annotations

import numpy as np

from symgrad.ir.graph import Node, Op, as_node
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.record import binary, facts, unary, vertical_tangents
from symgrad.ops.scalar.elementary import hypot, sqrt
from symgrad.ops.scalar.logic import all_of, any_of, ge, is_nonzero, le
from symgrad.ops.scalar.rounding import abs

_ANGLES = (("-7.5",), ("-1.25",), ("-1e-6",), ("0.3",), (1,), ("2.75",), ("100.5",))
_REALS = (("-1e5",), ("-1.5",), ("-1e-6",), ("0.3",), (1,), ("2.75",), ("1e8",))
_WITHIN_ONE = (("-0.9375",), ("-0.5",), ("-1e-6",), ("1e-3",), ("0.25",), ("0.999",))
_BEYOND_ONE = (("-1e5",), ("-2.5",), ("-1.0625",), ("1.001",), ("1.5",), (3,), ("1e6",))


def _within_one(x: Node) -> Node:
    return all_of(ge(x, as_node(-1)), le(x, as_node(1)))


def _beyond_one(x: Node) -> Node:
    return any_of(le(x, as_node(-1)), ge(x, as_node(1)))


_POLE_AT_ZERO = (Kink("x a multiple of pi", (0,), (None,), "a pole"),)


# 1 - x**2 would cancel near x = 1 (half the digits gone at 1 - x = 1e-8); 1 - x is exact there.
def _cosine_of_asin(x: Node) -> Node:
    return sqrt((1 - x) * (1 + x))


def _tangent_of_asec(x: Node) -> Node:
    return sqrt((x - 1) * (x + 1))


sin: Op = unary(
    "sin",
    doc="the sine of an angle in radians",
    domain=None,
    partials=(lambda out, x: cos(x),),
    kinks=(),
    latex=r"\sin\left({0}\right)",
    facts=facts("odd", "bounded-by-one"),
    samples=_ANGLES,
)

cos: Op = unary(
    "cos",
    doc="the cosine of an angle in radians",
    domain=None,
    partials=(lambda out, x: -sin(x),),
    kinks=(),
    latex=r"\cos\left({0}\right)",
    facts=facts("even", "bounded-by-one"),
    samples=_ANGLES,
)

# No rational number is an odd multiple of pi/2, so no exact test point is a pole of tan or sec.
tan: Op = unary(
    "tan",
    doc="the tangent of an angle in radians",
    domain=lambda x: is_nonzero(cos(x)),
    partials=(lambda out, x: 1 + out**2,),
    kinks=(),
    latex=r"\tan\left({0}\right)",
    facts=facts("odd", "continuous", "poles"),
    samples=_ANGLES,
)

sec = unary(
    "sec",
    doc="1/cos(x)",
    domain=lambda x: is_nonzero(cos(x)),
    evaluate=lambda x: 1 / np.cos(x),
    partials=(lambda out, x: out * tan(x),),
    kinks=(),
    lower=lambda b, node, x: b.div(b.const(1), b.call("cos", x)),
    latex=r"\sec\left({0}\right)",
    facts=facts("even", "continuous", "poles"),
    samples=_ANGLES,
)

csc = unary(
    "csc",
    doc="1/sin(x)",
    domain=lambda x: is_nonzero(sin(x)),
    evaluate=lambda x: 1 / np.sin(x),
    reference=lambda mp, x: mp.csc(x) if x != 0 else mp.nan,
    partials=(lambda out, x: -out * cot(x),),
    kinks=_POLE_AT_ZERO,
    lower=lambda b, node, x: b.div(b.const(1), b.call("sin", x)),
    latex=r"\csc\left({0}\right)",
    facts=facts("odd", "continuous", "poles"),
    samples=_ANGLES,
)

cot: Op = unary(
    "cot",
    doc="1/tan(x)",
    domain=lambda x: is_nonzero(sin(x)),
    evaluate=lambda x: 1 / np.tan(x),
    reference=lambda mp, x: mp.cot(x) if x != 0 else mp.nan,
    partials=(lambda out, x: -(1 + out**2),),
    kinks=_POLE_AT_ZERO,
    lower=lambda b, node, x: b.div(b.const(1), b.call("tan", x)),
    latex=r"\cot\left({0}\right)",
    facts=facts("odd", "continuous", "poles"),
    samples=_ANGLES,
)

asin = unary(
    "asin",
    aliases=("arcsin",),
    doc="the angle in [-pi/2, pi/2] with the sine x, of |x| <= 1",
    domain=_within_one,
    evaluate=np.arcsin,
    reference=lambda mp, x: mp.asin(x) if -1 <= x <= 1 else mp.nan,
    partials=(lambda out, x: 1 / _cosine_of_asin(x),),
    kinks=vertical_tangents(-1, 1),
    latex=r"\arcsin\left({0}\right)",
    facts=facts("odd", "increasing", "continuous"),
    samples=_WITHIN_ONE,
)

acos = unary(
    "acos",
    aliases=("arccos",),
    doc="the angle in [0, pi] with the cosine x, of |x| <= 1",
    domain=_within_one,
    evaluate=np.arccos,
    reference=lambda mp, x: mp.acos(x) if -1 <= x <= 1 else mp.nan,
    partials=(lambda out, x: -1 / _cosine_of_asin(x),),
    kinks=vertical_tangents(-1, 1),
    latex=r"\arccos\left({0}\right)",
    facts=facts("decreasing", "nonnegative", "continuous"),
    samples=_WITHIN_ONE,
)

atan = unary(
    "atan",
    aliases=("arctan",),
    doc="the angle in (-pi/2, pi/2) with the tangent x",
    domain=None,
    evaluate=np.arctan,
    partials=(lambda out, x: 1 / (1 + x**2),),
    kinks=(),
    latex=r"\arctan\left({0}\right)",
    facts=facts("odd", "increasing"),
    samples=_REALS,
)


def _over_square(numerator: Node, x: Node, y: Node) -> Node:
    # numerator/(x**2 + y**2) would overflow beyond 1e154 and underflow below 1e-154. A ratio of at most 1, divided by
    # the length, does so only if the result does.
    return numerator / hypot(x, y) / hypot(x, y)


atan2 = binary(
    "atan2",
    aliases=("arctan2",),
    doc="atan2(x, y): the angle in [-pi, pi] of the point with ordinate x and abscissa y; 0 at the origin, as in C",
    domain=None,
    evaluate=np.arctan2,
    partials=(lambda out, x, y: _over_square(y, x, y), lambda out, x, y: -_over_square(x, x, y)),
    kinks=(
        Kink("x = y = 0", (0, 0), (None, None), "all angles meet here"),
        Kink(
            "x = 0 > y",
            (0, -2),
            (-0.5, 0.0),
            "the angle jumps by 2*pi; its slopes are the same on both sides",
        ),
    ),
    samples=((1, 2), ("0.5", "-1.5"), ("-2", "-0.25"), ("-1e-3", "1e3"), ("1e6", "-1e-2"), (2, 0)),
)


def _asec(b: Builder, x: Lane) -> Lane:
    """Return acos(1/x) as the angle of (+-1, sqrt(x**2 - 1)), since 1/x would lose half of the digits near |x| = 1."""
    return b.call("atan2", _leg(b, x), b.copysign(b.const(1), x))


def _acsc(b: Builder, x: Lane) -> Lane:
    """Return asin(1/x) as the angle of (sqrt(x**2 - 1), +-1), for the same reason as asec."""
    return b.copysign(b.call("atan2", b.const(1), _leg(b, x)), x)


def _leg(b: Builder, x: Lane) -> Lane:
    """Return sqrt(x**2 - 1); NaN for |x| < 1. The two roots do not overflow."""
    size, one = b.abs(x), b.const(1)
    return b.mul(b.sqrt(b.sub(size, one)), b.sqrt(b.add(size, one)))


asec = unary(
    "asec",
    doc="acos(1/x), of |x| >= 1",
    domain=_beyond_one,
    code=_asec,
    reference=lambda mp, x: mp.asec(x) if x <= -1 or x >= 1 else mp.nan,
    partials=(lambda out, x: 1 / (abs(x) * _tangent_of_asec(x)),),
    kinks=vertical_tangents(-1, 1),
    facts=facts("nonnegative", "continuous"),
    samples=_BEYOND_ONE,
)

acsc = unary(
    "acsc",
    doc="asin(1/x), of |x| >= 1",
    domain=_beyond_one,
    code=_acsc,
    reference=lambda mp, x: mp.acsc(x) if x <= -1 or x >= 1 else mp.nan,
    partials=(lambda out, x: -1 / (abs(x) * _tangent_of_asec(x)),),
    kinks=vertical_tangents(-1, 1),
    facts=facts("odd", "continuous"),
    samples=_BEYOND_ONE,
)

acot = unary(
    "acot",
    doc="atan(1/x), in (-pi/2, pi/2], pi/2 at 0: SymPy's branch, with a jump at 0 (a float -0.0 gives -pi/2)",
    domain=None,
    evaluate=lambda x: np.arctan(np.divide(1, x)),
    partials=(lambda out, x: -1 / (1 + x**2),),
    kinks=(Kink("x = 0", (0,), (-1.0,), "the branch jumps by pi; its slope is the same on both sides"),),
    lower=lambda b, node, x: b.call("atan", b.div(b.const(1), x)),
    samples=_REALS,
)
