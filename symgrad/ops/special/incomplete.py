"""Exponential integrals of every order, and incomplete gamma functions of real orders.

Derivatives with respect to the argument are from DLMF 8.19.13 and 8.8.12 to 8.8.14. For derivatives with respect to the
order there is no closed form. SciPy has no values for orders that are not integers if they are greater than 1 (for
expint) or negative (for the other functions). Such values follow from recurrences (DLMF 8.8.2, 8.19.12) for x < 1, and
from a continued fraction for x >= 1 (DLMF 8.19.17).
"""

from __future__ import annotations

import math
from typing import Any

from symgrad.ir.graph import Node, Op, as_node
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.record import binary
from symgrad.ops.scalar.elementary import exp
from symgrad.ops.scalar.logic import all_of, any_of, eq, ge, gt, le, ne
from symgrad.ops.scalar.rounding import floor
from symgrad.ops.special.orders import code_of_order, no_derivative, values_by_order

_LARGEST_ORDER = 50  # the most steps of a recurrence
_LARGEST_GAMMA = 170
_ENDLESS = 2**31  # SciPy's code does not treat larger orders as integers
_SMALLEST = 1e-300  # the gamma function of smaller positive orders overflows
_NEAREST = 1 / 16  # the recurrence loses digits just above an integer
_TERMS = 100  # the terms of the continued fraction, enough at x = 1


def _is_integer(n: Node) -> Node:
    return eq(floor(n), n)


# ------------------------------------------------------------------------------------------------ exponential integrals


def _digits(mp: Any, order: Any) -> Any:
    """Return a precision context for references, since large terms cancel next to integer orders."""
    near = 0 < abs(order - mp.nint(order)) < 1e-5
    return mp.workdps((2 if near else 1) * mp.dps + 20)


def _expint_reference(mp: Any, n: Any, x: Any) -> Any:
    whole = n == mp.floor(n)
    if x > 0:
        with _digits(mp, n):
            value = mp.re(mp.expint(n, x))
        return +value
    if x == 0:
        return 1 / (n - 1) if n > 1 else mp.nan
    if x < 0 and whole and n <= 0:
        m = int(-n)
        terms = [x**k / mp.factorial(k) for k in range(m + 1)]
        return mp.exp(-x) * mp.factorial(m) / x ** (m + 1) * mp.fsum(terms)
    return mp.nan


def _expint(b: Builder, p: float, x: Lane) -> Lane | None:
    if p == math.floor(p):
        if p > 0:
            return b.call("exp1", x) if p == 1 else _expn(b, p, x)
        return _elementary(b, int(-p), x) if -p <= _LARGEST_ORDER else None
    if p < 1:
        return (
            b.mul(b.call("pow", x, b.const(p - 1)), _scipy_upper(b, 1 - p, x))
            if -p < _LARGEST_GAMMA
            else None
        )
    first = p - math.floor(p)
    if p > _LARGEST_ORDER or first < _NEAREST:
        return None
    down = b.call("exp", b.neg(x))
    step = b.mul(b.call("pow", x, b.const(first)), _scipy_upper(b, 1 - first, x))  # x*E(first, x)
    near = x
    for k in range(math.floor(p)):
        near = b.div(b.sub(down, step), b.const(first + k))
        step = b.mul(x, near)
    far = b.const(0)
    for k in range(_TERMS, 0, -1):
        far = b.div(b.const(k * (p + k - 1)), b.sub(b.add(x, b.const(p + 2 * k)), far))
    far = b.div(down, b.sub(b.add(x, b.const(p)), far))
    value = b.select(b.lt(x, b.const(1)), near, far)
    return b.select(b.ge(x, b.const(0)), value, b.const(math.nan))


def _expn(b: Builder, p: float, x: Lane) -> Lane:
    inside = b.select(b.lt(x, b.const(0)), b.const(math.nan), x)
    if p < _ENDLESS:
        return b.call("expn", b.const(p), inside)
    near = b.add(inside, b.const(p))  # two terms of the continued fraction suffice
    rest = b.div(b.const(p), b.add(near, b.const(2)))
    return b.div(b.call("exp", b.neg(inside)), b.sub(near, rest))


def _elementary(b: Builder, m: int, x: Lane) -> Lane:
    """Return E of order -m: m!*exp(-x)/x**(m + 1) times the sum of x**k/k! over k <= m."""
    w = b.div(b.const(1), x)
    total = b.const(1)
    for k in range(1, m + 1):
        total = b.add(b.const(1), b.mul(b.mul(b.const(k), w), total))
    return b.mul(b.mul(b.call("exp", b.neg(x)), w), total)


expint: Op = binary(
    "expint",
    aliases=("expn",),
    doc="the exponential integral of order n, the integral of exp(-x*t)/t**n from 1 to oo",
    domain=lambda n, x: any_of(
        gt(x, as_node(0)),
        all_of(eq(x, as_node(0)), gt(n, as_node(1))),
        all_of(ne(x, as_node(0)), le(n, as_node(0)), _is_integer(n)),
    ),
    evaluate=values_by_order(_expint, _expint_reference),
    reference=_expint_reference,
    partials=(no_derivative("expint"), lambda out, n, x: -expint(n - 1, x)),
    kinks=(Kink("y = 0", (2, 0), (None, None), "the end of the domain"),),
    lower=code_of_order("expint", _expint, "whole, or at most 50"),
    latex=r"\operatorname{{E}}_{{{0}}}\left({1}\right)",
    samples=(
        (0, "0.7"), (1, "2.5"), (2, "0.3"), (3, "7.5"), (-1, "-1.3"), ("0.5", "0.7"), ("-1.5", "2.2"),
        ("2.5", "0.4"), ("3.25", "5.5"), ("1.5", 12),
    ),
)  # fmt: skip


# ------------------------------------------------------------------------------------------- incomplete gamma functions


def _scipy_upper(b: Builder, a: float, x: Lane) -> Lane:
    """Return the upper function for 0 < a."""
    return b.mul(b.call("gammaincc", b.const(a), x), b.const(math.gamma(a)))


def _sum(b: Builder, a: int, x: Lane) -> Lane:
    """Return the upper function of integer order: (a - 1)!*exp(-x) times the sum of x**k/k! over k < a."""
    total = b.const(1)
    for k in range(a - 1, 0, -1):
        total = b.add(b.const(1), b.mul(b.div(x, b.const(k)), total))
    return b.mul(b.mul(b.const(float(math.factorial(a - 1))), b.call("exp", b.neg(x))), total)


def _upper(b: Builder, a: float, x: Lane) -> Lane | None:
    if a > _LARGEST_GAMMA or a < -_LARGEST_ORDER or 0 < a < _SMALLEST:
        return None
    if a > 0:
        if a != math.floor(a):
            return _scipy_upper(b, a, x)
        negative = b.lt(x, b.const(0))
        return b.select(negative, _sum(b, int(a), x), _scipy_upper(b, a, b.select(negative, b.const(0), x)))
    value = _expint(b, 1 - a, x)
    if value is None or a == 0:
        return value
    inside = b.select(b.lt(x, b.const(0)), b.const(math.nan), x)
    return b.mul(b.call("pow", inside, b.const(a)), value)


def _lower(b: Builder, a: float, x: Lane) -> Lane | None:
    whole = a == math.floor(a)
    if a > _LARGEST_GAMMA or a < -_LARGEST_ORDER or 0 < a < _SMALLEST:
        return None
    if a <= 0 and whole:
        return b.select(b.lt(x, x), x, b.const(math.nan))
    steps = max(0, -math.floor(a)) if a < 0 else 0
    top = a + steps
    value = b.mul(b.call("gammainc", b.const(top), b.maximum(x, b.const(0))), b.const(math.gamma(top)))
    if whole:
        # DLMF 8.5.1: all terms have the same sign.
        power = b.call("pow", x, b.const(a))
        inside = b.select(b.lt(x, b.const(0)), b.maximum(x, b.const(-750)), b.const(0))
        series = b.call("hyp1f1", b.const(a), b.const(a + 1), b.neg(inside))
        value = b.select(b.lt(x, b.const(0)), b.mul(b.div(power, b.const(a)), series), value)
        return b.select(b.isnan(x), x, value)
    inside = b.select(b.ge(x, b.const(0)), x, b.const(math.nan))
    down = b.call("exp", b.neg(inside))
    for k in range(steps):
        order = top - 1 - k
        value = b.div(b.add(value, b.mul(b.call("pow", inside, b.const(order)), down)), b.const(order))
    return b.select(b.isnan(inside), inside, value)


def _upper_reference(mp: Any, a: Any, x: Any) -> Any:
    if mp.isnan(a) or mp.isnan(x):
        return mp.nan
    whole = a == mp.floor(a)
    if x > 0:
        with _digits(mp, a):
            value = mp.re(mp.gammainc(a, x))
        return +value
    if x == 0:
        return mp.gamma(a) if a > 0 else mp.nan
    if whole and a > 0:
        return mp.exp(-x) * mp.factorial(a - 1) * mp.fsum(x**k / mp.factorial(k) for k in range(int(a)))
    return mp.nan


def _lower_reference(mp: Any, a: Any, x: Any) -> Any:
    if mp.isnan(a) or mp.isnan(x):
        return mp.nan
    whole = a == mp.floor(a)
    if (a <= 0 and whole) or (x < 0 and not whole) or (x == 0 and a < 0):
        return mp.nan
    if x == 0:
        return mp.mpf(0)
    with _digits(mp, a):
        value = x**a / a * mp.hyp1f1(a, a + 1, -x)
    return +value


_ENTIRE = (
    (1, "0.7"), (2, "2.5"), (3, "-1.3"), (1, 0), ("0.5", "0.7"), ("2.25", "5.5"), ("7.5", "3.2"), ("0.3333", 12),
    ("-0.5", "0.7"), ("-1.5", "2.2"),
)  # fmt: skip
_TANGENT = Kink("y = 0, 0 < x < 1", ("1/2", 0), (None, None), "a vertical tangent")

uppergamma: Op = binary(
    "uppergamma",
    doc="the upper incomplete gamma function, the integral of exp(-t)*t**(a - 1) from x to oo; at x < 0 for "
    "a = 1, 2, ... only",
    domain=lambda a, x: any_of(
        gt(x, as_node(0)),
        all_of(eq(x, as_node(0)), gt(a, as_node(0))),
        all_of(gt(a, as_node(0)), _is_integer(a)),
    ),
    evaluate=values_by_order(_upper, _upper_reference),
    reference=_upper_reference,
    partials=(no_derivative("uppergamma"), lambda out, a, x: -(x ** (a - 1)) * exp(-x)),
    kinks=(_TANGENT, Kink("y = 0, x <= 0", (0, 0), (None, None), "a pole")),
    lower=code_of_order("uppergamma", _upper, "from -50 to 170"),
    latex=r"\Gamma\left({0}, {1}\right)",
    samples=(*_ENTIRE, (0, "1.3"), (-2, "0.4")),
)

lowergamma: Op = binary(
    "lowergamma",
    doc="the lower incomplete gamma function, gamma(a) - uppergamma(a, x); undefined for a = 0, -1, ...; at x < 0 for "
    "a = 1, 2, ... only",
    domain=lambda a, x: any_of(
        all_of(gt(x, as_node(0)), any_of(gt(a, as_node(0)), ne(floor(a), a))),
        all_of(ge(x, as_node(0)), gt(a, as_node(0))),
        all_of(gt(a, as_node(0)), _is_integer(a)),
    ),
    evaluate=values_by_order(_lower, _lower_reference),
    reference=_lower_reference,
    partials=(no_derivative("lowergamma"), lambda out, a, x: x ** (a - 1) * exp(-x)),
    kinks=(_TANGENT,),
    lower=code_of_order("lowergamma", _lower, "from -50 to 170"),
    latex=r"\gamma\left({0}, {1}\right)",
    samples=_ENTIRE,
)
