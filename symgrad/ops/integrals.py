"""Exponential, sine and cosine integrals, and more error functions, computed by SciPy.

Derivatives: DLMF 6.2, 7.2 and 7.17.
"""

from __future__ import annotations

import math
from typing import Any

from symgrad.ir.graph import Node, as_node, constant
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.arrays import ARRAYS
from symgrad.ops.elementary import exp, sqrt
from symgrad.ops.logic import all_of, gt, lt, ne
from symgrad.ops.record import by_scipy, facts, libm, unary
from symgrad.ops.trig import cos, sin

__all__ = ["Ci", "Si", "erfcinv", "erfi", "erfinv", "exp1", "expi"]


def _positive(x: Node) -> Node:
    return gt(x, as_node(0))


def _positive_or_nan(mp: Any, x: Any) -> Any:
    """A number that has no logarithm counts as NaN."""
    return x if x > 0 else mp.nan


_POLE = (Kink("x = 0", (0,), (None,), "a pole"),)
_POSITIVE = (("1e-3",), ("0.37",), (1,), ("2.5",), ("6.2",), (40,))


erfi = unary(
    "erfi",
    aliases=(),
    doc="the imaginary error function, 2/sqrt(pi) times the integral of exp(t**2) from 0 to x",
    gives="real",
    cas="erfi",
    domain=None,
    evaluate=by_scipy("erfi"),
    reference=lambda mp, x: mp.erfi(x),
    partials=(lambda out, x: as_node(2) / sqrt(constant("pi")) * exp(x**2),),
    kinks=(),
    lower=libm("erfi"),
    latex=r"\operatorname{{erfi}}\left({0}\right)",
    facts=facts("odd", "increasing"),
    samples=(("-3.5",), ("-0.75",), ("-1e-6",), (0,), ("0.3",), (1,), ("2.5",)),
)

erfinv = unary(
    "erfinv",
    aliases=(),
    doc="the inverse of erf, -1 < x < 1",
    gives="real",
    cas="erfinv",
    domain=lambda x: all_of(gt(x, as_node(-1)), lt(x, as_node(1))),
    evaluate=by_scipy("erfinv"),
    reference=lambda mp, x: mp.erfinv(x) if -1 < x < 1 else mp.nan,
    partials=(lambda out, x: sqrt(constant("pi")) / 2 * exp(out**2),),
    kinks=(
        Kink("x = 1", (1,), (None,), "a pole"),
        Kink("x = -1", (-1,), (None,), "a pole"),
    ),
    lower=libm("erfinv"),
    latex=r"\operatorname{{erf}}^{{-1}}\left({0}\right)",
    facts=facts("odd", "increasing"),
    samples=(("-0.99",), ("-0.5",), ("-1e-6",), (0,), ("0.3",), ("0.9",)),
)


def _erfcinv_reference(mp: Any, x: Any) -> Any:
    """Newton's method for log(erfc(y)) = log(x), which is concave in y: it converges from every start."""
    if not 0 < x < 2:
        return mp.nan
    if x > 1:
        return -_erfcinv_reference(mp, 2 - x)
    with mp.workdps(mp.dps + 20):
        y = mp.mpf(0)
        for _ in range(100):
            value = mp.erfc(y)
            step = mp.log(value / x) * value / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
            y += step
            if abs(step) <= abs(y) * mp.mpf(10) ** (
                -mp.dps // 2 - 5
            ):  # the next one is beyond the last digit
                break
    return +y


erfcinv = unary(
    "erfcinv",
    aliases=(),
    doc="the inverse of erfc, 0 < x < 2",
    gives="real",
    cas=None,
    domain=lambda x: all_of(gt(x, as_node(0)), lt(x, as_node(2))),
    evaluate=by_scipy("erfcinv"),
    reference=_erfcinv_reference,
    partials=(lambda out, x: -sqrt(constant("pi")) / 2 * exp(out**2),),
    kinks=(
        Kink("x = 0", (0,), (None,), "a pole"),
        Kink("x = 2", (2,), (None,), "a pole"),
    ),
    lower=libm("erfcinv"),
    latex=r"\operatorname{{erfc}}^{{-1}}\left({0}\right)",
    facts=facts("decreasing"),
    samples=(("1e-6",), ("0.25",), ("0.9",), (1,), ("1.3",), ("1.99",)),
)

expi = unary(
    "expi",
    aliases=("Ei",),
    doc="the exponential integral Ei, the principal value of the integral of exp(t)/t from -oo to x",
    gives="real",
    cas="Ei",
    domain=lambda x: ne(x, as_node(0)),
    evaluate=by_scipy("expi"),
    reference=lambda mp, x: mp.ei(x) if x else mp.nan,
    partials=(lambda out, x: exp(x) / x,),
    kinks=_POLE,
    lower=libm("expi"),
    latex=r"\operatorname{{Ei}}\left({0}\right)",
    facts=facts(),
    samples=(("-6.2",), ("-1.5",), ("-1e-3",), ("1e-3",), ("0.7",), (1,), ("5.5",)),
)

exp1 = unary(
    "exp1",
    aliases=("E1",),
    doc="the exponential integral E1, the integral of exp(-t)/t from x to oo, x > 0",
    gives="real",
    cas=None,
    domain=_positive,
    evaluate=by_scipy("exp1"),
    reference=lambda mp, x: mp.e1(_positive_or_nan(mp, x)),
    partials=(lambda out, x: -exp(-x) / x,),
    kinks=_POLE,
    lower=libm("exp1"),
    latex=r"\operatorname{{E}}_1\left({0}\right)",
    facts=facts("decreasing", "positive"),
    samples=_POSITIVE,
)

Si = unary(
    "Si",
    aliases=(),
    doc="the sine integral, the integral of sin(t)/t from 0 to x",
    gives="real",
    cas="Si",
    domain=None,
    evaluate=by_scipy("sici", 0),
    reference=lambda mp, x: mp.si(x),
    partials=(lambda out, x: sin(x) / x,),
    kinks=(Kink("x = 0", (0,), (None,), "sin(x)/x there, which has a limit and no value"),),
    lower=libm("Si"),
    latex=r"\operatorname{{Si}}\left({0}\right)",
    facts=facts("odd"),
    samples=(("-7.5",), ("-1.3",), ("0.2",), (1,), ("3.5",), (20,)),
)


def _cosine_integral(b: Builder, x: Lane) -> Lane:
    return b.select(b.gt(x, b.const(0)), b.call("Ci", x), b.const(math.nan))


Ci = unary(
    "Ci",
    aliases=(),
    doc="the cosine integral, minus the integral of cos(t)/t from x to oo, x > 0",
    gives="real",
    cas="Ci",
    domain=_positive,
    evaluate=lambda x: ARRAYS.select(x > 0, by_scipy("sici", 1)(x), math.nan),
    reference=lambda mp, x: mp.ci(_positive_or_nan(mp, x)),
    partials=(lambda out, x: cos(x) / x,),
    kinks=_POLE,
    lower=lambda b, node, x: _cosine_integral(b, x),
    latex=r"\operatorname{{Ci}}\left({0}\right)",
    facts=facts(),
    samples=_POSITIVE,
)
