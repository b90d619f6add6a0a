"""Roots, exponentials, logarithms and the sigmoid family."""

from __future__ import annotations

import numpy as np

from symgrad.ir.graph import Op, as_node
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.numpy_builder import ARRAYS
from symgrad.ops.record import DIVISION_COST, binary, facts, libm, unary
from symgrad.ops.scalar.logic import ge, gt

__all__ = [
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "sigmoid",
    "softplus",
    "sqrt",
]

_SIGNED = (("-20",), ("-1.5",), ("-1e-8",), ("1e-3",), ("0.5",), (3,), ("30.25",))
_POSITIVE = (("1e-10",), ("0.3",), (1,), ("1.0625",), ("7.5",), ("1e12",))

_POLE = Kink("x = 0", (0,), (None,), "a pole")

sqrt: Op = unary(
    "sqrt",
    aliases=(),
    doc="the square root, of x >= 0",
    gives="real",
    cas=None,
    domain=lambda x: ge(x, as_node(0)),
    evaluate=np.sqrt,
    reference=lambda mp, x: mp.sqrt(x) if x >= 0 else mp.nan,
    partials=(lambda out, x: 1 / (2 * out),),
    kinks=(Kink("x = 0", (0,), (None,), "a vertical tangent: no finite slope"),),
    lower=lambda b, node, x: b.sqrt(x),
    cost=DIVISION_COST,
    latex=r"\sqrt{{{0}}}",
    facts=facts("increasing", "nonnegative", "continuous"),
    samples=_POSITIVE,
)

cbrt = unary(
    "cbrt",
    aliases=("Cbrt",),
    doc="the real cube root, negative for x < 0",
    gives="real",
    cas=None,
    domain=None,
    evaluate=np.cbrt,
    reference=lambda mp, x: mp.sign(x) * mp.cbrt(mp.fabs(x)),
    partials=(lambda out, x: 1 / (3 * out**2),),
    kinks=(Kink("x = 0", (0,), (None,), "a vertical tangent: no finite slope"),),
    lower=libm("cbrt"),
    latex=r"\sqrt[3]{{{0}}}",
    facts=facts("odd", "increasing", "continuous"),
    samples=_SIGNED,
)

# x/out is a ratio of at most 1: nothing overflows that x**2 would.
hypot = binary(
    "hypot",
    aliases=(),
    doc="sqrt(x**2 + y**2), without overflow of the squares",
    gives="real",
    cas="hypot",
    domain=None,
    evaluate=np.hypot,
    reference=lambda mp, x, y: mp.hypot(x, y),
    partials=(lambda out, x, y: x / out, lambda out, x, y: y / out),
    kinks=(Kink("x = y = 0", (0, 0), (None, None), "the tip of a cone, undefined as for sqrt(x**2 + y**2)"),),
    lower=libm("hypot"),
    latex=r"\operatorname{{hypot}}\left({0}, {1}\right)",
    facts=facts("commutative", "associative", "nonnegative", "continuous"),
    samples=((3, 4), ("-0.5", "1e-3"), ("1e6", "-2.5"), ("-1e-8", "-1e-7"), (0, "1.5")),
)

exp = unary(
    "exp",
    aliases=(),
    doc="the exponential function",
    gives="real",
    cas="exp",
    domain=None,
    evaluate=np.exp,
    reference=lambda mp, x: mp.exp(x),
    partials=(lambda out, x: out,),
    kinks=(),
    lower=libm("exp"),
    latex=r"e^{{{0}}}",
    facts=facts("increasing", "positive", "exponential"),
    samples=_SIGNED,
)

exp2 = unary(
    "exp2",
    aliases=(),
    doc="2**x",
    gives="real",
    cas="exp2",
    domain=None,
    evaluate=np.exp2,
    reference=lambda mp, x: mp.power(2, x),
    partials=(lambda out, x: log(as_node(2)) * out,),
    kinks=(),
    lower=libm("exp2"),
    latex=r"2^{{{0}}}",
    facts=facts("increasing", "positive", "exponential"),
    samples=_SIGNED,
)

# out + 1 would cancel for x << 0: exp(x) = 1e-20 at x = -46 against out + 1 = 0.
expm1 = unary(
    "expm1",
    aliases=(),
    doc="exp(x) - 1, accurate near 0",
    gives="real",
    cas="expm1",
    domain=None,
    evaluate=np.expm1,
    reference=lambda mp, x: mp.expm1(x),
    partials=(lambda out, x: exp(x),),
    kinks=(),
    lower=libm("expm1"),
    latex=r"\operatorname{{expm1}}\left({0}\right)",
    facts=facts("increasing", "exponential"),
    samples=_SIGNED,
)


log: Op = unary(
    "log",
    aliases=("ln",),
    doc="the natural logarithm, of x > 0",
    gives="real",
    cas="log",
    domain=lambda x: gt(x, as_node(0)),
    evaluate=np.log,
    reference=lambda mp, x: mp.log(x) if x > 0 else mp.nan,
    partials=(lambda out, x: 1 / x,),
    kinks=(_POLE,),
    lower=libm("log"),
    latex=r"\log\left({0}\right)",
    facts=facts("increasing", "continuous", "poles"),
    samples=_POSITIVE,
)

log2 = unary(
    "log2",
    aliases=(),
    doc="the logarithm to base 2, of x > 0",
    gives="real",
    cas="log2",
    domain=lambda x: gt(x, as_node(0)),
    evaluate=np.log2,
    reference=lambda mp, x: mp.log(x, 2) if x > 0 else mp.nan,
    partials=(lambda out, x: 1 / (x * log(as_node(2))),),
    kinks=(_POLE,),
    lower=libm("log2"),
    latex=r"\log_{{2}}\left({0}\right)",
    facts=facts("increasing", "continuous", "poles"),
    samples=_POSITIVE,
)

log10 = unary(
    "log10",
    aliases=(),
    doc="the logarithm to base 10, of x > 0",
    gives="real",
    cas="log10",
    domain=lambda x: gt(x, as_node(0)),
    evaluate=np.log10,
    reference=lambda mp, x: mp.log10(x) if x > 0 else mp.nan,
    partials=(lambda out, x: 1 / (x * log(as_node(10))),),
    kinks=(_POLE,),
    lower=libm("log10"),
    latex=r"\log_{{10}}\left({0}\right)",
    facts=facts("increasing", "continuous", "poles"),
    samples=_POSITIVE,
)

log1p = unary(
    "log1p",
    aliases=(),
    doc="log(1 + x), accurate near 0, of x > -1",
    gives="real",
    cas="log1p",
    domain=lambda x: gt(x, as_node(-1)),
    evaluate=np.log1p,
    reference=lambda mp, x: mp.log1p(x) if x > -1 else mp.nan,
    partials=(lambda out, x: 1 / (1 + x),),
    kinks=(Kink("x = -1", (-1,), (None,), "a pole"),),
    lower=libm("log1p"),
    latex=r"\operatorname{{log1p}}\left({0}\right)",
    facts=facts("increasing", "continuous", "poles"),
    samples=(("-0.9375",), ("-0.5",), ("-1e-12",), ("1e-12",), ("0.75",), (20,), ("1e9",)),
)


def _sigmoid(b: Builder, x: Lane) -> Lane:
    """1/(1 + exp(-x)) for x >= 0, exp(x)/(1 + exp(x)) for x < 0: exp(-|x|) <= 1 cannot overflow and nothing cancels."""
    if b.knows("sigmoid"):  # more precise, and beside sigmoid(-x) and softplus from the same exponential
        return b.call("sigmoid", x)
    e = b.call("exp", b.neg(b.abs(x)))
    return b.div(b.select(b.lt(x, b.const(0)), e, b.const(1)), b.add(b.const(1), e))


# sigmoid' = out*(1 - out), where 1 - out = sigmoid(-x) cancels for x >> 0 (all digits gone at x = 37).
sigmoid: Op = unary(
    "sigmoid",
    aliases=("expit",),
    doc="1/(1 + exp(-x))",
    gives="real",
    cas=None,
    domain=None,
    evaluate=lambda x: _sigmoid(ARRAYS, x),
    reference=lambda mp, x: 1 / (1 + mp.exp(-x)),
    partials=(lambda out, x: out * sigmoid(-x),),
    kinks=(),
    lower=lambda b, node, x: _sigmoid(b, x),
    latex=r"\sigma\left({0}\right)",
    facts=facts("increasing", "positive", "bounded-by-one"),
    samples=_SIGNED,
)


def _softplus(b: Builder, x: Lane) -> Lane:
    """log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)): both terms are positive, neither overflows."""
    if b.knows("softplus"):
        return b.call("softplus", x)
    return b.add(b.maximum(x, b.const(0)), b.call("log1p", b.call("exp", b.neg(b.abs(x)))))


softplus = unary(
    "softplus",
    aliases=(),
    doc="log(1 + exp(x))",
    gives="real",
    cas=None,
    domain=None,
    evaluate=lambda x: _softplus(ARRAYS, x),
    reference=lambda mp, x: mp.log1p(mp.exp(x)),
    partials=(lambda out, x: sigmoid(x),),
    kinks=(),
    lower=lambda b, node, x: _softplus(b, x),
    latex=r"\operatorname{{softplus}}\left({0}\right)",
    facts=facts("increasing", "positive"),
    samples=_SIGNED,
)
