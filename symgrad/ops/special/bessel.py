"""Bessel functions of real order and Airy functions, computed by SciPy.

Derivatives with respect to the argument are from DLMF 10.6.1 and 10.29.1, 9.2.1. For derivatives with respect to the
order there is no closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.ir.graph import Node, Op, as_node
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.record import binary, by_scipy, facts, unary
from symgrad.ops.scalar.logic import all_of, any_of, eq, ge, gt
from symgrad.ops.scalar.rounding import floor, sign
from symgrad.ops.special.orders import no_derivative

_LARGEST_ORDER = 250  # for larger orders mpmath may take minutes, so the reference value is NaN
_HALF = (("0.5", "0.7"), ("-1.5", "2.2"), ("2.25", "11.5"))
_POSITIVE = ((0, 1), (1, "2.5"), (2, "0.3"), (-1, "1.3"), *_HALF)
_WHOLE_TOO = ((0, 0), (0, 1), (1, "2.5"), (2, "0.3"), (3, "-1.7"), (-1, "1.3"), *_HALF)
_AIRY = (("-36.5",), ("-7.5",), ("-2.3",), ("-0.4",), (0,), ("0.6",), (1,), ("3.5",))


def _entire(n: Node, x: Node) -> Node:
    """Return the domain of J and I: x > 0, any x for integer orders, and x = 0 for nonnegative orders."""
    zero = as_node(0)
    return any_of(gt(x, zero), eq(floor(n), n), all_of(ge(x, zero), ge(n, zero)))


def _entire_reference(sign: int) -> Callable[[Any, Any, Any], Any]:
    """Return J for sign -1 and I for sign 1: DLMF 10.16.9, 10.39.9; 10.4.1, 10.27.1 at negative integer orders."""

    def value(mp: Any, n: Any, x: Any) -> Any:
        whole = n == mp.floor(n)
        if not abs(n) <= _LARGEST_ORDER or mp.isnan(x) or not (x > 0 or whole or (x == 0 and n >= 0)):
            return mp.nan
        flip = sign < 0 and whole and n < 0 and n % 2
        order = abs(n) if whole else n
        series = (x / 2) ** order * mp.rgamma(order + 1) * mp.hyp0f1(order + 1, sign * x * x / 4)
        return -series if flip else series

    return value


def _positive_reference(name: str) -> Callable[[Any, Any, Any], Any]:
    def value(mp: Any, n: Any, x: Any) -> Any:
        if not x > 0 or not abs(n) <= _LARGEST_ORDER:
            return mp.nan
        # mpmath takes the limit at integer orders, but loses all digits next to integer orders.
        whole = mp.nint(n)
        near = abs(n - whole) < mp.mpf(10) ** (-2 * mp.dps)
        return mp.re(getattr(mp, name)(whole if near else n, x))

    return value


def _positive(_n: Node, x: Node) -> Node:
    return gt(x, as_node(0))


_STEEP = (Kink("y = 0, 0 < x < 1", ("1/2", 0), (None, None), "a vertical tangent"),)
_POLE = (Kink("y = 0", (0, 0), (None, None), "a pole"),)


jv: Op = binary(
    "jv",
    aliases=("besselj",),
    doc="the Bessel function of the first kind of real order, jv(n, x); at x < 0 for whole n only",
    cas="besselj",
    domain=_entire,
    reference=_entire_reference(-1),
    partials=(no_derivative("jv"), lambda out, n, x: (jv(n - 1, x) - jv(n + 1, x)) / 2),
    kinks=_STEEP,
    latex=r"J_{{{0}}}\left({1}\right)",
    samples=_WHOLE_TOO,
)

yv: Op = binary(
    "yv",
    aliases=("bessely",),
    doc="the Bessel function of the second kind of real order, yv(n, x), x > 0",
    cas="bessely",
    domain=_positive,
    reference=_positive_reference("bessely"),
    partials=(no_derivative("yv"), lambda out, n, x: (yv(n - 1, x) - yv(n + 1, x)) / 2),
    kinks=_POLE,
    latex=r"Y_{{{0}}}\left({1}\right)",
    samples=_POSITIVE,
)

iv: Op = binary(
    "iv",
    aliases=("besseli",),
    doc="the modified Bessel function of the first kind of real order, iv(n, x); at x < 0 for whole n only",
    cas="besseli",
    domain=_entire,
    reference=_entire_reference(1),
    partials=(no_derivative("iv"), lambda out, n, x: (iv(n - 1, x) + iv(n + 1, x)) / 2),
    kinks=_STEEP,
    latex=r"I_{{{0}}}\left({1}\right)",
    samples=_WHOLE_TOO,
)


def _scaled(b: Builder, n: Lane, x: Lane) -> Lane:
    """Return ive. For small x iv is used, since SciPy's ive loses digits next to integer orders."""
    size = b.abs(x)
    near = b.mul(b.call("exp", b.neg(size)), b.call("iv", n, x))
    return b.select(b.lt(size, b.const(1)), near, b.call("ive", n, x))


ive: Op = binary(
    "ive",
    doc="exp(-abs(x))*iv(n, x)",
    cas=None,
    domain=_entire,
    code=_scaled,
    reference=lambda mp, n, x: mp.exp(-abs(x)) * iv.reference(mp, n, x),
    partials=(no_derivative("ive"), lambda out, n, x: (ive(n - 1, x) + ive(n + 1, x)) / 2 - sign(x) * out),
    kinks=(*_STEEP, Kink("x = 0, y = 0", (0, 0), (None, 0.0), "a corner; the mean of the slopes")),
    latex=r"e^{{-\left|{1}\right|}} I_{{{0}}}\left({1}\right)",
    samples=_WHOLE_TOO[1:],
)

kv: Op = binary(
    "kv",
    aliases=("besselk",),
    doc="the modified Bessel function of the second kind of real order, kv(n, x), x > 0",
    cas="besselk",
    domain=_positive,
    reference=_positive_reference("besselk"),
    partials=(no_derivative("kv"), lambda out, n, x: -(kv(n - 1, x) + kv(n + 1, x)) / 2),
    kinks=_POLE,
    latex=r"K_{{{0}}}\left({1}\right)",
    facts=facts("positive"),
    samples=_POSITIVE,
)

airyai: Op = unary(
    "airyai",
    doc="the Airy function Ai, the solution of y'' = x*y that decays for x > 0",
    domain=None,
    evaluate=by_scipy("airy", 0),
    partials=(lambda out, x: airyaiprime(x),),
    kinks=(),
    latex=r"\operatorname{{Ai}}\left({0}\right)",
    facts=facts("bounded-by-one"),
    samples=_AIRY,
)

airyaiprime: Op = unary(
    "airyaiprime",
    doc="the derivative of the Airy function Ai",
    domain=None,
    evaluate=by_scipy("airy", 1),
    reference=lambda mp, x: mp.airyai(x, derivative=1),
    partials=(lambda out, x: x * airyai(x),),
    kinks=(),
    latex=r"\operatorname{{Ai}}'\left({0}\right)",
    samples=_AIRY,
)

airybi: Op = unary(
    "airybi",
    doc="the Airy function Bi, the solution of y'' = x*y that grows for x > 0",
    domain=None,
    evaluate=by_scipy("airy", 2),
    partials=(lambda out, x: airybiprime(x),),
    kinks=(),
    latex=r"\operatorname{{Bi}}\left({0}\right)",
    samples=_AIRY,
)

airybiprime: Op = unary(
    "airybiprime",
    doc="the derivative of the Airy function Bi",
    domain=None,
    evaluate=by_scipy("airy", 3),
    reference=lambda mp, x: mp.airybi(x, derivative=1),
    partials=(lambda out, x: x * airybi(x),),
    kinks=(),
    latex=r"\operatorname{{Bi}}'\left({0}\right)",
    samples=_AIRY,
)
