"""Elliptic integrals of the parameter m = k**2, computed by SciPy.

Derivatives are from DLMF 19.4.1 to 19.4.5, with alpha**2 = m*sin(phi)**2. For m > 1 the reciprocal parameter is used:
DLMF 19.7.4.
"""

from __future__ import annotations

import math
from typing import Any

from symgrad.ir.graph import Node, Op, as_node, constant
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.record import binary, facts, unary
from symgrad.ops.scalar.elementary import sqrt
from symgrad.ops.scalar.logic import all_of, any_of, le, lt
from symgrad.ops.scalar.rounding import abs as size_of
from symgrad.ops.scalar.trig import sin

_PARAMETERS = (("-7.5",), ("-1.3",), ("0.2",), ("0.5",), ("0.99",))
_REMOVABLE = "a quotient there, which has a limit and no value"
_PAIRS = (("0.3", "0.5"), ("1.2", "-1.3"), ("-4.5", "0.7"), ("0.4", "2.5"), ("7.5", "0.1"), ("-0.3", "-7.5"))


ellipk: Op = unary(
    "ellipk",
    aliases=("elliptic_k",),
    doc="the complete elliptic integral of the first kind of parameter m, the integral of 1/sqrt(1 - m*sin(t)**2) from "
    "0 to pi/2, m < 1",
    cas="elliptic_k",
    domain=lambda m: lt(m, as_node(1)),
    reference=lambda mp, m: mp.ellipk(m) if m < 1 else mp.nan,
    partials=(lambda out, m: (ellipe(m) - (1 - m) * out) / (2 * m * (1 - m)),),
    kinks=(Kink("x = 0", (0,), (None,), _REMOVABLE, smooth=True), Kink("x = 1", (1,), (None,), "a pole")),
    latex=r"K\left({0}\right)",
    facts=facts("increasing", "positive"),
    samples=_PARAMETERS,
)

ellipe: Op = unary(
    "ellipe",
    doc="the complete elliptic integral of the second kind of parameter m, the integral of sqrt(1 - m*sin(t)**2) from "
    "0 to pi/2, m <= 1",
    cas="elliptic_e",
    domain=lambda m: le(m, as_node(1)),
    reference=lambda mp, m: mp.ellipe(m) if m <= 1 else mp.nan,
    partials=(lambda out, m: (out - ellipk(m)) / (2 * m),),
    kinks=(
        Kink("x = 0", (0,), (None,), _REMOVABLE, smooth=True),
        Kink("x = 1", (1,), (None,), "a vertical tangent"),
    ),
    latex=r"E\left({0}\right)",
    facts=facts("decreasing", "positive"),
    samples=_PARAMETERS,
)


def _inside(phi: Node, m: Node) -> Node:
    """Return the condition |phi| < pi/2 and m*sin(phi)**2 < 1."""
    return all_of(lt(size_of(phi), constant("pi") / 2), lt(m * sin(phi) ** 2, as_node(1)))


def _first_reference(mp: Any, phi: Any, m: Any) -> Any:
    if m < 1 or (abs(phi) < mp.pi / 2 and m * mp.sin(phi) ** 2 < 1):
        return mp.re(mp.ellipf(phi, m))
    return mp.nan


def _second_reference(mp: Any, phi: Any, m: Any) -> Any:
    if m <= 1 or (abs(phi) < mp.pi / 2 and m * mp.sin(phi) ** 2 <= 1):
        return mp.re(mp.ellipe(phi, m))
    return mp.nan


def _beyond(b: Builder, phi: Lane, m: Lane) -> tuple[Lane, Lane, Lane, Lane, Lane]:
    """Return whether m > 1, whether phi is outside the domain.

    For m > 1 also return the root of m, the angle and the parameter.
    """
    one = b.const(1)
    large = b.gt(m, one)
    root = b.sqrt(b.select(large, m, one))
    s = b.mul(root, b.call("sin", phi))
    short = b.lt(b.abs(phi), b.const(math.pi / 2))
    inside = b.and_(short, b.le(b.abs(s), one))
    angle = b.call("asin", b.select(inside, s, b.const(0)))
    outside = b.and_(large, b.not_(inside))
    return large, outside, root, angle, b.div(one, b.mul(root, root))


def _first(b: Builder, phi: Lane, m: Lane) -> Lane:
    large, outside, root, angle, inverse = _beyond(b, phi, m)
    at_one = b.and_(b.eq(m, b.const(1)), b.ge(b.abs(phi), b.const(math.pi / 2)))
    value = b.call("ellipkinc", b.select(large, angle, phi), b.select(large, inverse, m))
    value = b.select(large, b.div(value, root), value)
    nan = b.const(math.nan)
    wrong = b.or_(b.isnan(phi), b.isnan(m))
    return b.select(b.or_(b.or_(outside, at_one), wrong), nan, value)


def _second(b: Builder, phi: Lane, m: Lane) -> Lane:
    large, outside, root, angle, inverse = _beyond(b, phi, m)
    at, parameter = b.select(large, angle, phi), b.select(large, inverse, m)
    value = b.call("ellipeinc", at, parameter)
    first = b.call("ellipkinc", b.select(large, angle, b.const(0)), b.select(large, inverse, b.const(0)))
    scaled = b.mul(root, b.sub(value, b.mul(b.sub(b.const(1), inverse), first)))
    wrong = b.or_(b.isnan(phi), b.isnan(m))
    return b.select(b.or_(outside, wrong), b.const(math.nan), b.select(large, scaled, value))


def _first_by_parameter(out: Node, phi: Node, m: Node) -> Node:
    s = sin(phi)
    tail = sin(2 * phi) / (4 * (1 - m) * sqrt(1 - m * s**2))
    return ellipeinc(phi, m) / (2 * m * (1 - m)) - out / (2 * m) - tail


ellipkinc: Op = binary(
    "ellipkinc",
    aliases=("elliptic_f",),
    doc="the incomplete elliptic integral of the first kind, ellipkinc(phi, m): the integral of "
    "1/sqrt(1 - m*sin(t)**2) from 0 to phi",
    cas="elliptic_f",
    domain=lambda phi, m: any_of(lt(m, as_node(1)), _inside(phi, m)),
    code=_first,
    reference=_first_reference,
    partials=(lambda out, phi, m: 1 / sqrt(1 - m * sin(phi) ** 2), _first_by_parameter),
    kinks=(Kink("y = 0 or 1", (1, 0), (1.0, None), _REMOVABLE, smooth=True),),
    latex=r"F\left({0} \mid {1}\right)",
    samples=_PAIRS,
)

ellipeinc: Op = binary(
    "ellipeinc",
    doc="the incomplete elliptic integral of the second kind, ellipeinc(phi, m): the integral of sqrt(1 - m*sin(t)**2) "
    "from 0 to phi",
    cas=None,
    domain=lambda phi, m: any_of(
        le(m, as_node(1)),
        all_of(lt(size_of(phi), constant("pi") / 2), le(m * sin(phi) ** 2, as_node(1))),
    ),
    code=_second,
    reference=_second_reference,
    partials=(
        lambda out, phi, m: sqrt(1 - m * sin(phi) ** 2),
        lambda out, phi, m: (out - ellipkinc(phi, m)) / (2 * m),
    ),
    kinks=(Kink("y = 0", (1, 0), (1.0, None), _REMOVABLE, smooth=True),),
    latex=r"E\left({0} \mid {1}\right)",
    samples=_PAIRS,
)
