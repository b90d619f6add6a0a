"""Trigonometric functions, their reciprocals and inverses.

Reciprocals and their inverses have no libm call: their lowerings compose one, accurate to a few ulp.
"""

from __future__ import annotations

import numpy as np

from symgrad.ir.graph import Node, Op, as_node
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.numpy_builder import ARRAYS
from symgrad.ops.record import binary, facts, libm, unary
from symgrad.ops.scalar.elementary import hypot, sqrt
from symgrad.ops.scalar.logic import all_of, any_of, ge, le, ne
from symgrad.ops.scalar.rounding import abs

__all__ = ["acos", "acot", "acsc", "asec", "asin", "atan", "atan2", "cos", "cot", "csc", "sec", "sin", "tan"]

_ANGLES = (("-7.5",), ("-1.25",), ("-1e-6",), ("0.3",), (1,), ("2.75",), ("100.5",))
_REALS = (("-1e5",), ("-1.5",), ("-1e-6",), ("0.3",), (1,), ("2.75",), ("1e8",))
_WITHIN_ONE = (("-0.9375",), ("-0.5",), ("-1e-6",), ("1e-3",), ("0.25",), ("0.999",))
_BEYOND_ONE = (("-1e5",), ("-2.5",), ("-1.0625",), ("1.001",), ("1.5",), (3,), ("1e6",))


def _within_one(x: Node) -> Node:
    return all_of(ge(x, as_node(-1)), le(x, as_node(1)))


def _beyond_one(x: Node) -> Node:
    return any_of(le(x, as_node(-1)), ge(x, as_node(1)))


def _nonzero(x: Node) -> Node:
    return ne(x, as_node(0))


def _vertical(*points: int) -> tuple[Kink, ...]:
    return tuple(Kink(f"x = {p}", (p,), (None,), "a vertical tangent: no finite slope") for p in points)


_POLE_AT_ZERO = (Kink("x a multiple of pi", (0,), (None,), "a pole"),)


# 1 - x**2 would cancel near x = 1 (half the digits gone at 1 - x = 1e-8); 1 - x is exact there.
def _cosine_of_asin(x: Node) -> Node:
    return sqrt((1 - x) * (1 + x))


def _tangent_of_asec(x: Node) -> Node:
    return sqrt((x - 1) * (x + 1))


sin: Op = unary(
    "sin",
    aliases=(),
    doc="the sine of an angle in radians",
    gives="real",
    cas="sin",
    domain=None,
    evaluate=np.sin,
    reference=lambda mp, x: mp.sin(x),
    partials=(lambda out, x: cos(x),),
    kinks=(),
    lower=libm("sin"),
    latex=r"\sin\left({0}\right)",
    facts=facts("odd", "bounded-by-one"),
    samples=_ANGLES,
)

cos: Op = unary(
    "cos",
    aliases=(),
    doc="the cosine of an angle in radians",
    gives="real",
    cas="cos",
    domain=None,
    evaluate=np.cos,
    reference=lambda mp, x: mp.cos(x),
    partials=(lambda out, x: -sin(x),),
    kinks=(),
    lower=libm("cos"),
    latex=r"\cos\left({0}\right)",
    facts=facts("even", "bounded-by-one"),
    samples=_ANGLES,
)

# No rational number is an odd multiple of pi/2, so neither tan nor sec has a pole that a test point can name exactly.
tan: Op = unary(
    "tan",
    aliases=(),
    doc="the tangent of an angle in radians",
    gives="real",
    cas="tan",
    domain=lambda x: _nonzero(cos(x)),
    evaluate=np.tan,
    reference=lambda mp, x: mp.tan(x),
    partials=(lambda out, x: 1 + out**2,),
    kinks=(),
    lower=libm("tan"),
    latex=r"\tan\left({0}\right)",
    facts=facts("odd", "continuous", "poles"),
    samples=_ANGLES,
)

sec = unary(
    "sec",
    aliases=(),
    doc="1/cos(x)",
    gives="real",
    cas="sec",
    domain=lambda x: _nonzero(cos(x)),
    evaluate=lambda x: 1 / np.cos(x),
    reference=lambda mp, x: mp.sec(x),
    partials=(lambda out, x: out * tan(x),),
    kinks=(),
    lower=lambda b, node, x: b.div(b.const(1), b.call("cos", x)),
    latex=r"\sec\left({0}\right)",
    facts=facts("even", "continuous", "poles"),
    samples=_ANGLES,
)

csc = unary(
    "csc",
    aliases=(),
    doc="1/sin(x)",
    gives="real",
    cas="csc",
    domain=lambda x: _nonzero(sin(x)),
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
    aliases=(),
    doc="1/tan(x)",
    gives="real",
    cas="cot",
    domain=lambda x: _nonzero(sin(x)),
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
    gives="real",
    cas="asin",
    domain=_within_one,
    evaluate=np.arcsin,
    reference=lambda mp, x: mp.asin(x) if -1 <= x <= 1 else mp.nan,
    partials=(lambda out, x: 1 / _cosine_of_asin(x),),
    kinks=_vertical(-1, 1),
    lower=libm("asin"),
    latex=r"\arcsin\left({0}\right)",
    facts=facts("odd", "increasing", "continuous"),
    samples=_WITHIN_ONE,
)

acos = unary(
    "acos",
    aliases=("arccos",),
    doc="the angle in [0, pi] with the cosine x, of |x| <= 1",
    gives="real",
    cas="acos",
    domain=_within_one,
    evaluate=np.arccos,
    reference=lambda mp, x: mp.acos(x) if -1 <= x <= 1 else mp.nan,
    partials=(lambda out, x: -1 / _cosine_of_asin(x),),
    kinks=_vertical(-1, 1),
    lower=libm("acos"),
    latex=r"\arccos\left({0}\right)",
    facts=facts("decreasing", "nonnegative", "continuous"),
    samples=_WITHIN_ONE,
)

atan = unary(
    "atan",
    aliases=("arctan",),
    doc="the angle in (-pi/2, pi/2) with the tangent x",
    gives="real",
    cas="atan",
    domain=None,
    evaluate=np.arctan,
    reference=lambda mp, x: mp.atan(x),
    partials=(lambda out, x: 1 / (1 + x**2),),
    kinks=(),
    lower=libm("atan"),
    latex=r"\arctan\left({0}\right)",
    facts=facts("odd", "increasing"),
    samples=_REALS,
)


def _over_square(numerator: Node, x: Node, y: Node) -> Node:
    # numerator/(x**2 + y**2) would overflow or vanish beyond 1e154 and below 1e-154; a ratio of at most 1 divided by
    # the length does so only where the result does.
    return numerator / hypot(x, y) / hypot(x, y)


atan2 = binary(
    "atan2",
    aliases=("arctan2",),
    doc="atan2(x, y): the angle in [-pi, pi] of the point with ordinate x and abscissa y; 0 at the origin, as in C",
    gives="real",
    cas="atan2",
    domain=None,
    evaluate=np.arctan2,
    reference=lambda mp, x, y: mp.atan2(x, y),
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
    lower=libm("atan2"),
    latex=r"\operatorname{{atan2}}\left({0}, {1}\right)",
    facts=facts(),
    samples=((1, 2), ("0.5", "-1.5"), ("-2", "-0.25"), ("-1e-3", "1e3"), ("1e6", "-1e-2"), (2, 0)),
)


def _asec(b: Builder, x: Lane) -> Lane:
    """acos(1/x) as the angle of (+-1, sqrt(x**2 - 1)): 1/x would lose half the digits near |x| = 1."""
    return b.call("atan2", _leg(b, x), b.copysign(b.const(1), x))


def _acsc(b: Builder, x: Lane) -> Lane:
    """asin(1/x) as the angle of (sqrt(x**2 - 1), +-1), for the same reason as asec."""
    return b.copysign(b.call("atan2", b.const(1), _leg(b, x)), x)


def _leg(b: Builder, x: Lane) -> Lane:
    """sqrt(x**2 - 1), NaN for |x| < 1; the two roots do not overflow."""
    size, one = b.abs(x), b.const(1)
    return b.mul(b.sqrt(b.sub(size, one)), b.sqrt(b.add(size, one)))


asec = unary(
    "asec",
    aliases=(),
    doc="acos(1/x), of |x| >= 1",
    gives="real",
    cas="asec",
    domain=_beyond_one,
    evaluate=lambda x: _asec(ARRAYS, x),
    reference=lambda mp, x: mp.asec(x) if x <= -1 or x >= 1 else mp.nan,
    partials=(lambda out, x: 1 / (abs(x) * _tangent_of_asec(x)),),
    kinks=_vertical(-1, 1),
    lower=lambda b, node, x: _asec(b, x),
    latex=r"\operatorname{{asec}}\left({0}\right)",
    facts=facts("nonnegative", "continuous"),
    samples=_BEYOND_ONE,
)

acsc = unary(
    "acsc",
    aliases=(),
    doc="asin(1/x), of |x| >= 1",
    gives="real",
    cas="acsc",
    domain=_beyond_one,
    evaluate=lambda x: _acsc(ARRAYS, x),
    reference=lambda mp, x: mp.acsc(x) if x <= -1 or x >= 1 else mp.nan,
    partials=(lambda out, x: -1 / (abs(x) * _tangent_of_asec(x)),),
    kinks=_vertical(-1, 1),
    lower=lambda b, node, x: _acsc(b, x),
    latex=r"\operatorname{{acsc}}\left({0}\right)",
    facts=facts("odd", "continuous"),
    samples=_BEYOND_ONE,
)

acot = unary(
    "acot",
    aliases=(),
    doc="atan(1/x), in (-pi/2, pi/2], pi/2 at 0: SymPy's branch, with a jump at 0 (a float -0.0 gives -pi/2)",
    gives="real",
    cas="acot",
    domain=None,
    evaluate=lambda x: np.arctan(np.divide(1, x)),
    reference=lambda mp, x: mp.acot(x),
    partials=(lambda out, x: -1 / (1 + x**2),),
    kinks=(Kink("x = 0", (0,), (-1.0,), "the branch jumps by pi; its slope is the same on both sides"),),
    lower=lambda b, node, x: b.call("atan", b.div(b.const(1), x)),
    latex=r"\operatorname{{acot}}\left({0}\right)",
    facts=facts(),
    samples=_REALS,
)
