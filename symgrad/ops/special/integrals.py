"""Exponential, sine, cosine and Fresnel integrals, and further error functions, computed by SciPy.

Derivatives: DLMF 6.2, 7.2, 7.10 and 7.17.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, as_node, constant
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.numpy_builder import ARRAYS
from symgrad.ops.record import by_scipy, facts, poles, unary
from symgrad.ops.scalar.elementary import exp, log, sqrt
from symgrad.ops.scalar.hyperbolic import cosh, sinh
from symgrad.ops.scalar.logic import all_of, ge, gt, lt, ne
from symgrad.ops.scalar.trig import cos, sin


def _positive(x: Node) -> Node:
    return gt(x, as_node(0))


def _positive_or_nan(mp: Any, x: Any) -> Any:
    """Return a number, or NaN if it has no logarithm."""
    return x if x > 0 else mp.nan


def _of_positive(name: str, part: int) -> Callable[[Any], Any]:
    """Return the evaluation of an integral for x > 0; for x < 0 it is NaN, although SciPy returns the real part."""
    return lambda x: ARRAYS.select(x > 0, by_scipy(name, part)(x), math.nan)


def _where_positive(b: Builder, name: str, x: Lane) -> Lane:
    return b.select(b.gt(x, b.const(0)), b.call(name, x), b.const(math.nan))


_POSITIVE = (("1e-3",), ("0.37",), (1,), ("2.5",), ("6.2",), (40,))
_FRESNEL = (("-7.5",), ("-1.3",), (0,), ("0.2",), (1,), ("3.5",), (20,))


erfi = unary(
    "erfi",
    doc="the imaginary error function, 2/sqrt(pi) times the integral of exp(t**2) from 0 to x",
    domain=None,
    partials=(lambda out, x: as_node(2) / sqrt(constant("pi")) * exp(x**2),),
    kinks=(),
    facts=facts("odd", "increasing"),
    samples=(("-3.5",), ("-0.75",), ("-1e-6",), (0,), ("0.3",), (1,), ("2.5",)),
)

erfinv = unary(
    "erfinv",
    doc="the inverse of erf, -1 < x < 1",
    domain=lambda x: all_of(gt(x, as_node(-1)), lt(x, as_node(1))),
    reference=lambda mp, x: mp.erfinv(x) if -1 < x < 1 else mp.nan,
    partials=(lambda out, x: sqrt(constant("pi")) / 2 * exp(out**2),),
    kinks=poles(1, -1),
    latex=r"\operatorname{{erf}}^{{-1}}\left({0}\right)",
    facts=facts("odd", "increasing", "continuous", "poles"),
    samples=(("-0.99",), ("-0.5",), ("-1e-6",), (0,), ("0.3",), ("0.9",)),
)


def _erfcinv_reference(mp: Any, x: Any) -> Any:
    """Invert erfc by Newton's method for log(erfc(y)) = log(x). It always converges, since the left side is concave."""
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
            # Convergence is quadratic, so the next step would be beyond the last digit.
            if abs(step) <= abs(y) * mp.mpf(10) ** (-mp.dps // 2 - 5):
                break
    return +y


erfcinv = unary(
    "erfcinv",
    doc="the inverse of erfc, 0 < x < 2",
    cas=None,
    domain=lambda x: all_of(gt(x, as_node(0)), lt(x, as_node(2))),
    reference=_erfcinv_reference,
    partials=(lambda out, x: -sqrt(constant("pi")) / 2 * exp(out**2),),
    kinks=poles(0, 2),
    latex=r"\operatorname{{erfc}}^{{-1}}\left({0}\right)",
    facts=facts("decreasing", "continuous", "poles"),
    samples=(("1e-6",), ("0.25",), ("0.9",), (1,), ("1.3",), ("1.99",)),
)

expi = unary(
    "expi",
    aliases=("Ei",),
    doc="the exponential integral Ei, the principal value of the integral of exp(t)/t from -oo to x",
    cas="Ei",
    domain=lambda x: ne(x, as_node(0)),
    reference=lambda mp, x: mp.ei(x) if x else mp.nan,
    partials=(lambda out, x: exp(x) / x,),
    kinks=poles(0),
    latex=r"\operatorname{{Ei}}\left({0}\right)",
    facts=facts("continuous", "poles"),
    samples=(("-6.2",), ("-1.5",), ("-1e-3",), ("1e-3",), ("0.7",), (1,), ("5.5",)),
)

exp1 = unary(
    "exp1",
    aliases=("E1",),
    doc="the exponential integral E1, the integral of exp(-t)/t from x to oo, x > 0",
    cas=None,
    domain=_positive,
    reference=lambda mp, x: mp.e1(_positive_or_nan(mp, x)),
    partials=(lambda out, x: -exp(-x) / x,),
    kinks=poles(0),
    latex=r"\operatorname{{E}}_1\left({0}\right)",
    facts=facts("decreasing", "positive", "continuous", "poles"),
    samples=_POSITIVE,
)

Si = unary(
    "Si",
    doc="the sine integral, the integral of sin(t)/t from 0 to x",
    domain=None,
    evaluate=by_scipy("sici", 0),
    reference=lambda mp, x: mp.si(x),
    partials=(lambda out, x: sin(x) / x,),
    kinks=(Kink("x = 0", (0,), (None,), "sin(x)/x there, which has a limit and no value", smooth=True),),
    facts=facts("odd"),
    samples=(("-7.5",), ("-1.3",), ("0.2",), (1,), ("3.5",), (20,)),
)


Ci = unary(
    "Ci",
    doc="the cosine integral, minus the integral of cos(t)/t from x to oo, x > 0",
    domain=_positive,
    evaluate=_of_positive("sici", 1),
    reference=lambda mp, x: mp.ci(_positive_or_nan(mp, x)),
    partials=(lambda out, x: cos(x) / x,),
    kinks=poles(0),
    lower=lambda b, node, x: _where_positive(b, "Ci", x),
    facts=facts("continuous", "poles"),
    samples=_POSITIVE,
)

Shi = unary(
    "Shi",
    doc="the hyperbolic sine integral, the integral of sinh(t)/t from 0 to x",
    domain=None,
    evaluate=by_scipy("shichi", 0),
    reference=lambda mp, x: mp.shi(x),
    partials=(lambda out, x: sinh(x) / x,),
    kinks=(Kink("x = 0", (0,), (None,), "sinh(x)/x there, which has a limit and no value", smooth=True),),
    facts=facts("odd", "increasing"),
    samples=(("-7.5",), ("-1.3",), ("0.2",), (1,), ("3.5",), (20,)),
)

Chi = unary(
    "Chi",
    doc="the hyperbolic cosine integral, EulerGamma + log(x) + the integral of (cosh(t) - 1)/t from 0 to x, x > 0",
    domain=_positive,
    evaluate=_of_positive("shichi", 1),
    reference=lambda mp, x: mp.re(mp.chi(_positive_or_nan(mp, x))),
    partials=(lambda out, x: cosh(x) / x,),
    kinks=poles(0),
    lower=lambda b, node, x: _where_positive(b, "Chi", x),
    facts=facts("increasing", "continuous", "poles"),
    samples=_POSITIVE,
)


def _li_reference(mp: Any, x: Any) -> Any:
    if x == 0:
        return mp.mpf(0)
    return mp.ei(mp.log(x)) if x > 0 and x != 1 else mp.nan


def _li_value(x: Any) -> Any:
    return by_scipy("expi")(np.log(x)) + 0.0  # no -0.0 at 0


li = unary(
    "li",
    doc="the logarithmic integral, the principal value of the integral of 1/log(t) from 0 to x, x >= 0 but 1",
    domain=lambda x: all_of(ge(x, as_node(0)), ne(x, as_node(1))),
    evaluate=_li_value,
    reference=_li_reference,
    partials=(lambda out, x: as_node(1) / log(x),),
    kinks=(Kink("x = 0", (0,), (0.0,), "the end of the domain, with this slope"), *poles(1)),
    lower=lambda b, node, x: b.add(b.call("expi", b.call("log", x)), b.const(0)),
    samples=(("1e-3",), ("0.7",), ("1.1",), ("1.46",), ("5.5",), (1000,)),
)

fresnels = unary(
    "fresnels",
    doc="the Fresnel integral S, the integral of sin(pi*t**2/2) from 0 to x",
    domain=None,
    evaluate=by_scipy("fresnel", 0),
    partials=(lambda out, x: sin(constant("pi") * x**2 / 2),),
    kinks=(),
    latex=r"S\left({0}\right)",
    facts=facts("odd", "bounded-by-one"),
    samples=_FRESNEL,
)

fresnelc = unary(
    "fresnelc",
    doc="the Fresnel integral C, the integral of cos(pi*t**2/2) from 0 to x",
    domain=None,
    evaluate=by_scipy("fresnel", 1),
    partials=(lambda out, x: cos(constant("pi") * x**2 / 2),),
    kinks=(),
    latex=r"C\left({0}\right)",
    facts=facts("odd", "bounded-by-one"),
    samples=_FRESNEL,
)
