"""Hyperbolic functions, their reciprocals and inverses."""

from __future__ import annotations

import numpy as np

from symgrad.ir.graph import Op, as_node
from symgrad.ir.op import Builder, Lane
from symgrad.ops.record import facts, poles, unary, vertical_tangents
from symgrad.ops.scalar.elementary import hypot, sqrt
from symgrad.ops.scalar.logic import all_of, any_of, ge, gt, is_nonzero, le, lt
from symgrad.ops.scalar.rounding import abs

_REALS = (("-12.5",), ("-1.25",), ("-1e-6",), ("0.3",), (1,), ("2.75",), (20,))
_WIDE = (("-1e5",), ("-1.25",), ("-1e-6",), ("0.3",), (1,), ("2.75",), ("1e8",))


sinh: Op = unary(
    "sinh",
    doc="(exp(x) - exp(-x))/2",
    domain=None,
    partials=(lambda out, x: cosh(x),),
    kinks=(),
    latex=r"\sinh\left({0}\right)",
    facts=facts("odd", "increasing", "exponential"),
    samples=_REALS,
)

cosh: Op = unary(
    "cosh",
    doc="(exp(x) + exp(-x))/2",
    domain=None,
    partials=(lambda out, x: sinh(x),),
    kinks=(),
    latex=r"\cosh\left({0}\right)",
    facts=facts("even", "positive", "exponential"),
    samples=_REALS,
)

# 1 - out**2 cancels for large |x| (all digits gone at |x| = 19), and 1/cosh(x)**2 gives 0*inf = NaN in the second
# derivative once cosh(x)**2 overflows, at |x| = 355; sech(x)**2 avoids both.
tanh: Op = unary(
    "tanh",
    doc="sinh(x)/cosh(x)",
    domain=None,
    partials=(lambda out, x: sech(x) ** 2,),
    kinks=(),
    latex=r"\tanh\left({0}\right)",
    facts=facts("odd", "increasing", "bounded-by-one"),
    samples=_REALS,
)


def _sech(b: Builder, x: Lane) -> Lane:
    """Return 2/(exp(x) + exp(-x)) = 2*e/(1 + e**2) with e = exp(-|x|) <= 1: nothing overflows or cancels."""
    if b.knows("sech"):  # this shares its exponential with tanh
        return b.call("sech", x)
    e = b.call("exp", b.neg(b.abs(x)))
    return b.div(b.add(e, e), b.add(b.const(1), b.mul(e, e)))


sech: Op = unary(
    "sech",
    doc="1/cosh(x)",
    domain=None,
    code=_sech,
    partials=(lambda out, x: -out * tanh(x),),
    kinks=(),
    facts=facts("even", "positive", "bounded-by-one"),
    samples=_REALS,
)


def _csch(b: Builder, x: Lane) -> Lane:
    """Return 2*exp(-|x|)/(1 - exp(-2*|x|)) with the sign of x, since 1/sinh(x) is 0 wherever sinh overflows."""
    size = b.abs(x)
    e = b.call("exp", b.neg(size))
    denominator = b.neg(b.call("expm1", b.neg(b.add(size, size))))
    return b.copysign(b.div(b.add(e, e), denominator), x)


csch: Op = unary(
    "csch",
    doc="1/sinh(x), of x != 0",
    domain=is_nonzero,
    code=_csch,
    reference=lambda mp, x: mp.csch(x) if x != 0 else mp.nan,
    partials=(lambda out, x: -out * coth(x),),
    kinks=poles(0),
    facts=facts("odd", "continuous", "poles"),
    samples=_REALS,
)

# 1 - out**2 cancels for large |x|, as for tanh.
coth: Op = unary(
    "coth",
    doc="1/tanh(x), of x != 0",
    domain=is_nonzero,
    evaluate=lambda x: 1 / np.tanh(x),
    reference=lambda mp, x: mp.coth(x) if x != 0 else mp.nan,
    partials=(lambda out, x: -(csch(x) ** 2),),
    kinks=poles(0),
    lower=lambda b, node, x: b.div(b.const(1), b.call("tanh", x)),
    latex=r"\coth\left({0}\right)",
    facts=facts("odd", "continuous", "poles"),
    samples=_REALS,
)

# sqrt(1 + x**2) overflows at |x| = 1e154, where the derivative is still 1e-154.
asinh = unary(
    "asinh",
    aliases=("arcsinh",),
    doc="the inverse of sinh",
    domain=None,
    evaluate=np.arcsinh,
    partials=(lambda out, x: 1 / hypot(as_node(1), x),),
    kinks=(),
    facts=facts("odd", "increasing"),
    samples=_WIDE,
)

# One root of the product (x - 1)*(x + 1) would overflow at 1e154, and x**2 - 1 cancels near 1.
acosh = unary(
    "acosh",
    aliases=("arccosh",),
    doc="the nonnegative inverse of cosh, of x >= 1",
    domain=lambda x: ge(x, as_node(1)),
    evaluate=np.arccosh,
    reference=lambda mp, x: mp.acosh(x) if x >= 1 else mp.nan,
    partials=(lambda out, x: 1 / (sqrt(x - 1) * sqrt(x + 1)),),
    kinks=vertical_tangents(1),
    facts=facts("increasing", "nonnegative", "continuous"),
    samples=(("1.001",), ("1.0625",), ("1.5",), (3,), ("1e6",)),
)

# 1 - x**2 cancels near |x| = 1; 1 - x and 1 + x are exact there.
atanh = unary(
    "atanh",
    aliases=("arctanh",),
    doc="the inverse of tanh, of |x| < 1",
    domain=lambda x: all_of(gt(x, as_node(-1)), lt(x, as_node(1))),
    evaluate=np.arctanh,
    reference=lambda mp, x: mp.atanh(x) if -1 < x < 1 else mp.nan,
    partials=(lambda out, x: 1 / ((1 - x) * (1 + x)),),
    kinks=poles(-1, 1),
    facts=facts("odd", "increasing", "continuous", "poles"),
    samples=(("-0.9375",), ("-0.5",), ("-1e-6",), ("1e-3",), ("0.25",), ("0.999",)),
)


def _asech(b: Builder, x: Lane) -> Lane:
    """Return acosh(1/x) = log1p(s) - log(x) with s = sqrt(1 - x**2): both terms are positive on (0, 1].

    1/x would lose half the digits near 1 and overflow near 0.
    """
    one = b.const(1)
    root = b.sqrt(b.mul(b.sub(one, x), b.add(one, x)))
    return b.sub(b.call("log1p", root), b.call("log", x))


asech = unary(
    "asech",
    doc="acosh(1/x), of 0 < x <= 1",
    domain=lambda x: all_of(gt(x, as_node(0)), le(x, as_node(1))),
    code=_asech,
    reference=lambda mp, x: mp.acosh(1 / x) if 0 < x <= 1 else mp.nan,
    partials=(lambda out, x: -1 / (x * sqrt((1 - x) * (1 + x))),),
    kinks=(*poles(0), *vertical_tangents(1)),
    facts=facts("decreasing", "nonnegative", "continuous", "poles"),
    samples=(("1e-12",), ("0.001",), ("0.25",), ("0.5",), ("0.9375",), ("0.999",)),
)

_TINY = 2.0**-60  # below it asinh(1/x) = log(2/x) + x**2/4 + ... is log(2/x) to the last bit


def _acsch(b: Builder, x: Lane) -> Lane:
    """Return asinh(1/|x|) with the sign of x, or log(2) - log(|x|) if 1/|x| might overflow."""
    size = b.abs(x)
    near = b.sub(b.call("log", b.const(2)), b.call("log", size))
    far = b.call("asinh", b.div(b.const(1), size))
    return b.copysign(b.select(b.lt(size, b.const(_TINY)), near, far), x)


acsch = unary(
    "acsch",
    doc="asinh(1/x), of x != 0",
    domain=is_nonzero,
    code=_acsch,
    reference=lambda mp, x: mp.asinh(1 / x) if x != 0 else mp.nan,
    partials=(lambda out, x: -1 / (abs(x) * hypot(as_node(1), x)),),
    kinks=poles(0),
    facts=facts("odd", "continuous", "poles"),
    samples=_WIDE,
)


def _acoth(b: Builder, x: Lane) -> Lane:
    """Return atanh(1/|x|) = log((|x| + 1)/(|x| - 1))/2 = log1p(2/(|x| - 1))/2 with the sign of x.

    |x| - 1 is exact near 1, where 1/x would lose half the digits; for |x| < 1 the argument is below -1: NaN.
    """
    ratio = b.div(b.const(2), b.sub(b.abs(x), b.const(1)))
    return b.copysign(b.mul(b.const(0.5), b.call("log1p", ratio)), x)


acoth = unary(
    "acoth",
    doc="atanh(1/x), of |x| > 1",
    domain=lambda x: any_of(lt(x, as_node(-1)), gt(x, as_node(1))),
    code=_acoth,
    reference=lambda mp, x: mp.atanh(1 / x) if x < -1 or x > 1 else mp.nan,
    partials=(lambda out, x: 1 / ((1 - x) * (1 + x)),),
    kinks=poles(-1, 1),
    facts=facts("odd", "continuous", "poles"),
    samples=(("-1e5",), ("-2.5",), ("-1.0625",), ("1.001",), ("1.5",), (3,), ("1e6",)),
)
