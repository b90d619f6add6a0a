"""sinc, and the spherical Bessel functions j_n, which give all its derivatives without a quotient.

sin(t)/t is j_0(t), and (2*n + 1)*j_n'(t) = n*j_(n - 1)(t) - (n + 1)*j_(n + 1)(t) (DLMF 10.51.2), so no derivative is
0/0 at 0. For small x, the power series (DLMF 10.53.1) is used for an order at which its terms do not cancel, and then
the downward recurrence (10.51.1). For x larger than the order, sine, cosine and the upward recurrence are used. Each
recurrence is stable where it is used.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from symgrad.ir.graph import Node, Op, as_node, constant
from symgrad.ir.op import Builder, Lane
from symgrad.ops.record import binary, facts, unary
from symgrad.ops.scalar.logic import all_of, eq, ge
from symgrad.ops.scalar.rounding import floor, maximum
from symgrad.ops.special.gamma import horner
from symgrad.ops.special.orders import code_of_order, no_derivative, values_by_order

_LARGEST_ORDER = 20  # the power of the argument fits into float32
_LARGEST_REFERENCE = 1_000
_NEGLIGIBLE = Fraction(1, 2**60)


def _near(b: Builder, n: int, x: Lane, reach: int) -> Lane:
    """Return j_n(x) for 0 <= x <= reach, n > 0.

    With j_k = x**k/(2*k + 1)!!*p_k the recurrence is p_(k - 1) = p_k - x**2/((2*k + 1)*(2*k + 3))*p_(k + 1), and
    p_k is the sum of (-x**2/2)**i/(i!*(2*k + 3)*(2*k + 5)*...*(2*k + 2*i + 1)).
    """
    start = max(n, math.ceil((reach**2 - 3) / 2))  # then every term is at most half of the term before it
    square = b.mul(x, x)
    high, low = (_series(b, k, square, reach) for k in (start + 1, start))
    for k in range(start, n, -1):
        high, low = low, b.fma(b.mul(b.const(Fraction(-1, (2 * k + 1) * (2 * k + 3))), square), high, low)
    odd = math.prod(range(1, 2 * n + 2, 2))
    return b.mul(low, b.mul(_power(b, x, n), b.const(Fraction(1, odd))))


def _series(b: Builder, k: int, square: Lane, reach: int) -> Lane:
    c = [Fraction(1)]
    while abs(c[-1]) * reach ** (2 * len(c) - 2) > _NEGLIGIBLE:
        i = len(c)
        c.append(-c[-1] / (2 * i * (2 * k + 2 * i + 1)))
    return horner(b, c, square)


def _power(b: Builder, x: Lane, n: int) -> Lane:
    value = x
    for bit in bin(n)[3:]:
        value = b.mul(value, value)
        if bit == "1":
            value = b.mul(value, x)
    return value


def _far(b: Builder, n: int, x: Lane) -> Lane:
    """Return j_n(x) for x > n."""
    low = b.div(b.call("sin", x), x)
    if n == 0:
        return low
    high = b.div(b.sub(low, b.call("cos", x)), x)
    for k in range(1, n):
        low, high = high, b.sub(b.mul(b.div(b.const(2 * k + 1), x), high), low)
    return high


def _spherical(b: Builder, order: float, x: Lane) -> Lane | None:
    if order != math.floor(order) or not 0 <= order <= _LARGEST_ORDER:
        return None
    n = int(order)
    if n == 0:
        at_zero, infinite = b.eq(x, b.const(0)), b.eq(b.abs(x), b.const(math.inf))
        value = _far(b, 0, b.select(b.or_(at_zero, infinite), b.const(1), x))
        return b.select(at_zero, b.const(1), b.select(infinite, b.const(0), value))
    reach = n + 1
    size = b.abs(x)
    near = b.le(size, b.const(reach))
    infinite = b.eq(size, b.const(math.inf))
    inner = _near(b, n, b.select(near, size, b.const(0)), reach)
    outer = _far(b, n, b.select(b.or_(near, infinite), b.const(reach), size))
    value = b.select(infinite, b.const(0), b.select(near, inner, outer))
    return b.select(b.lt(x, b.const(0)), b.neg(value), value) if n % 2 else value


def _spherical_reference(mp: Any, n: Any, x: Any) -> Any:
    """Return j_n(x) by DLMF 10.47.3 and 10.16.9."""
    if mp.isnan(n) or mp.isnan(x) or n != mp.floor(n) or not 0 <= n <= _LARGEST_REFERENCE:
        return mp.nan
    if mp.isinf(x):
        return mp.mpf(0)
    half = mp.mpf(1) / 2
    with mp.workdps(mp.dps + 15):
        scale = mp.sqrt(mp.pi) * (x / 2) ** int(n) / 2 * mp.rgamma(n + 3 * half)
        value = scale * mp.hyp0f1(n + 3 * half, -x * x / 4)
    return +value


def _slope(_out: Node, n: Node, x: Node) -> Node:
    if n.is_number(0):
        return -spherical_jn(as_node(1), x)
    # For a variable order, the first term at n = 0 has the factor 0, so it may be any function that has a value.
    below = n - 1 if n.is_number() else maximum(n - 1, as_node(0))
    return (n * spherical_jn(below, x) - (n + 1) * spherical_jn(n + 1, x)) / (2 * n + 1)


spherical_jn: Op = binary(
    "spherical_jn",
    doc="the spherical Bessel function of the first kind of order n = 0, 1, 2, ...; spherical_jn(0, x) is sin(x)/x, "
    "and 1 at 0",
    cas=None,  # SymPy's jn has the wrong sign at x < 0 in numbers
    domain=lambda n, x: all_of(ge(n, as_node(0)), eq(floor(n), n)),
    evaluate=values_by_order(_spherical, _spherical_reference),
    reference=_spherical_reference,
    partials=(no_derivative("spherical_jn"), _slope),
    kinks=(),
    lower=code_of_order("spherical_jn", _spherical, f"whole, from 0 to {_LARGEST_ORDER}"),
    latex=r"j_{{{0}}}\left({1}\right)",
    facts=facts("bounded-by-one"),
    samples=((0, 0), (0, "0.3"), (1, 0), (1, "-0.7"), (2, "1e-3"), (2, "4.5"), (3, "-2.5"), (7, "11.5")),
)


def _sinc(b: Builder, x: Lane) -> Lane:
    """Return sin(pi*x)/(pi*x) with pi*x reduced exactly, so that it is 0 at integers."""
    whole = b.rint(x)
    half = b.mul(whole, b.const(0.5))
    sine = b.call("sin", b.mul(b.const_named("pi"), b.sub(x, whole)))
    angle = b.mul(b.const_named("pi"), x)
    zero = b.eq(angle, b.const(0))
    value = b.div(sine, b.select(zero, b.const(1), angle))
    signed = b.select(b.ne(half, b.floor(half)), b.neg(value), value)
    return b.select(zero, b.const(1), signed)


sinc: Op = unary(
    "sinc",
    doc="sin(pi*x)/(pi*x), and 1 at 0, as in NumPy",
    cas=None,
    domain=None,
    reference=lambda mp, x: mp.sincpi(x),
    partials=(lambda out, x: -(constant("pi") * spherical_jn(as_node(1), constant("pi") * x)),),
    kinks=(),
    lower=lambda b, node, x: _sinc(b, x),
    facts=facts("even", "bounded-by-one"),
    samples=(("-3.5",), ("-0.75",), ("-1e-6",), (0,), ("0.3",), (1,), ("2.5",)),
)
