"""Absolute value, sign, rounding, minimum and maximum: the piecewise linear ops, with their kinks.

A partial that is a choice has the form ``where(condition, value, 0)``: linearisation reads the condition as a guard. So
the other branch contributes a strong zero, even if it is multiplied by an infinite derivative (`sqrt(relu(x))` at x <
0).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, as_node
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.record import binary, facts, ternary, unary
from symgrad.ops.scalar.logic import all_of, any_of, ge, gt, le, lt, where

_SIGNED = (("-2.75",), ("-1e-3",), ("0.25",), ("3.625",), ("1000000.25",), ("-1000000.25",))
_PAIRS = (("0.5", "1.5"), ("-2", "-3.25"), (3, "-0.75"), ("1e-3", "1e3"), ("-1e6", "2.5"))

_ZERO = as_node(0)
_ONE = as_node(1)
_HALF = as_node(Fraction(1, 2))


def _when(condition: Node, value: Node = _ONE) -> Node:
    return where(condition, value, _ZERO)


abs = unary(
    "abs",
    aliases=("Abs", "absolute", "fabs"),
    doc="|x|",
    gives="same",
    cas="Abs",
    domain=None,
    reference=lambda mp, x: mp.fabs(x),
    partials=(lambda out, x: sign(x),),
    kinks=(
        Kink(
            "x = 0",
            (0,),
            (0.0,),
            "sign(0): the middle of the slopes -1 and 1, and the least of the subgradients",
        ),
    ),
    lower=lambda b, node, x: b.abs(x),
    latex=r"\left|{0}\right|",
    facts=facts("even", "nonnegative", "idempotent", "continuous", "piecewise-linear"),
    samples=_SIGNED,
)


def _lower_sign(b: Builder, _node: Node, x: Lane) -> Lane:
    # NaN falls through all three comparisons; -0.0 gives 0.0, as in NumPy.
    rest = b.select(b.eq(x, b.const(0)), b.const(0), x)
    return b.select(b.gt(x, b.const(0)), b.const(1), b.select(b.lt(x, b.const(0)), b.const(-1), rest))


sign: Op = unary(
    "sign",
    doc="-1 for x < 0, 0 for x = 0, 1 for x > 0",
    gives="same",
    domain=None,
    partials=(lambda out, x: _ZERO,),
    kinks=(Kink("x = 0", (0,), (0.0,), "a jump: the derivative is 0 on both sides"),),
    lower=_lower_sign,
    facts=facts("odd", "integral", "piecewise-constant", "bounded-by-one", "idempotent", "piecewise-linear"),
    samples=_SIGNED,
)

floor = unary(
    "floor",
    doc="the largest integer that is at most x",
    gives="same",
    domain=None,
    partials=(lambda out, x: _ZERO,),
    kinks=(Kink("x an integer", (2,), (0.0,), "a jump: the derivative is 0 on both sides"),),
    lower=lambda b, node, x: b.floor(x),
    latex=r"\left\lfloor {0} \right\rfloor",
    facts=facts("integral", "piecewise-constant", "idempotent", "piecewise-linear"),
    samples=_SIGNED,
)

ceil = unary(
    "ceil",
    aliases=("ceiling",),
    doc="the smallest integer that is at least x",
    gives="same",
    cas="ceiling",
    domain=None,
    partials=(lambda out, x: _ZERO,),
    kinks=(Kink("x an integer", (-3,), (0.0,), "a jump: the derivative is 0 on both sides"),),
    lower=lambda b, node, x: b.ceil(x),
    latex=r"\left\lceil {0} \right\rceil",
    facts=facts("integral", "piecewise-constant", "idempotent", "piecewise-linear"),
    samples=_SIGNED,
)

round = unary(
    "round",
    aliases=("around", "rint"),
    doc="the nearest integer, halves to the even one, as numpy.round",
    gives="same",
    cas=None,
    domain=None,
    evaluate=np.rint,
    reference=lambda mp, x: mp.nint(x),
    partials=(lambda out, x: _ZERO,),
    kinks=(Kink("x half an odd integer", ("2.5",), (0.0,), "a jump: the derivative is 0 on both sides"),),
    lower=lambda b, node, x: b.rint(x),
    facts=facts("odd", "integral", "piecewise-constant", "idempotent", "piecewise-linear"),
    samples=_SIGNED,
)

_TIE = (
    "the middle of the slopes 0 and 1: the two partials always sum to 1, so maximum(x, x) and minimum(x, x) "
    "have the derivative 1"
)


def _greater(x: Node, y: Node) -> Node:
    """Return d maximum/dx: 1, or 1/2 at a tie, or else 0, which is a structural zero in the outer choice."""
    return _when(ge(x, y), where(gt(x, y), _ONE, _HALF))


def _less(x: Node, y: Node) -> Node:
    """Return d minimum/dx: 1, or 1/2 at a tie, or else 0, which is a structural zero in the outer choice."""
    return _when(le(x, y), where(lt(x, y), _ONE, _HALF))


minimum = binary(
    "minimum",
    aliases=("Min",),
    doc="the smaller of x and y; NaN if either is NaN",
    gives="same",
    cas=None,
    domain=None,
    reference=lambda mp, x, y: mp.nan if mp.isnan(x) or mp.isnan(y) else min(x, y),
    partials=(lambda out, x, y: _less(x, y), lambda out, x, y: _less(y, x)),
    kinks=(Kink("x = y", (2, 2), (0.5, 0.5), _TIE),),
    lower=lambda b, node, x, y: b.minimum(x, y),
    latex=r"\min\left({0}, {1}\right)",
    facts=facts("commutative", "associative", "continuous", "piecewise-linear", "chooses"),
    samples=_PAIRS,
)

maximum = binary(
    "maximum",
    aliases=("Max",),
    doc="the larger of x and y; NaN if either is NaN",
    gives="same",
    cas=None,
    domain=None,
    reference=lambda mp, x, y: mp.nan if mp.isnan(x) or mp.isnan(y) else max(x, y),
    partials=(lambda out, x, y: _greater(x, y), lambda out, x, y: _greater(y, x)),
    kinks=(Kink("x = y", (2, 2), (0.5, 0.5), _TIE),),
    lower=lambda b, node, x, y: b.maximum(x, y),
    latex=r"\max\left({0}, {1}\right)",
    facts=facts("commutative", "associative", "continuous", "piecewise-linear", "chooses"),
    samples=_PAIRS,
)


def _clip_reference(mp: Any, x: Any, low: Any, high: Any) -> Any:
    return mp.nan if mp.isnan(x) or mp.isnan(low) or mp.isnan(high) else min(max(x, low), high)


_INSIDE = "a bound counts as inside, so that a parameter that starts on a bound can still move; the partials sum to 1"


def _ordered(low: Node, high: Node) -> tuple[Node, ...]:
    """Return the condition low < high.

    Return no condition for numbers that fulfil it, so clip(x, -1, 1) only needs its two bounds.
    """
    if low.is_number() and high.is_number() and low.value < high.value:
        return ()
    return (lt(low, high),)


# The value is high if low >= high or x > high, else low if x < low, else x: exactly one of the partials is 1. For equal
# bounds the value does not depend on x, so that case counts as high, also on the bounds.
clip = ternary(
    "clip",
    doc="clip(x, y, z) = minimum(maximum(x, y), z): x limited to the interval from y to z; z if y > z",
    gives="same",
    cas=None,
    domain=None,
    evaluate=lambda x, low, high: np.minimum(np.maximum(x, low), high),
    reference=_clip_reference,
    partials=(
        lambda out, x, low, high: _when(all_of(ge(x, low), le(x, high), *_ordered(low, high))),
        lambda out, x, low, high: _when(all_of(lt(x, low), *_ordered(low, high))),
        lambda out, x, low, high: _when(any_of(gt(x, high), ge(low, high))),
    ),
    kinks=(
        Kink("x = y", (-1, -1, 1), (1.0, 0.0, 0.0), _INSIDE),
        Kink("x = z", (1, -1, 1), (1.0, 0.0, 0.0), _INSIDE),
        Kink("y = z", (0, 1, 1), (0.0, 0.0, 1.0), "x does not matter, and the upper bound is applied last"),
    ),
    lower=lambda b, node, x, low, high: b.minimum(b.maximum(x, low), high),
    facts=facts("continuous", "piecewise-linear", "chooses"),
    samples=(
        ("0.25", -1, 1),
        ("-3.5", -1, 1),
        ("1e3", -1, "1.5"),
        ("-0.5", "-0.75", "1e6"),
        ("0.5", 2, 1),
        ("1.75", 2, 1),
    ),
)

relu = unary(
    "relu",
    doc="maximum(x, 0)",
    gives="same",
    cas=None,
    domain=None,
    evaluate=lambda x: np.maximum(x, 0),
    reference=lambda mp, x: mp.nan if mp.isnan(x) else max(x, mp.zero),
    partials=(lambda out, x: _when(gt(x, _ZERO)),),
    kinks=(Kink("x = 0", (0,), (0.0,), "a unit that is off has no gradient, as in every framework"),),
    lower=lambda b, node, x: b.maximum(x, b.const(0)),
    facts=facts("nonnegative", "idempotent", "continuous", "piecewise-linear", "chooses"),
    samples=_SIGNED,
)
