"""Roots, exponentials, logarithms and the sigmoid family."""

from __future__ import annotations

from symgrad.ir.graph import Op, as_node
from symgrad.ir.op import Builder, Kink, Lane
from symgrad.ops.record import DIVISION_COST, binary, facts, poles, unary, vertical_tangents
from symgrad.ops.scalar.logic import ge, gt

_SIGNED = (("-20",), ("-1.5",), ("-1e-8",), ("1e-3",), ("0.5",), (3,), ("30.25",))
_POSITIVE = (("1e-10",), ("0.3",), (1,), ("1.0625",), ("7.5",), ("1e12",))

sqrt: Op = unary(
    "sqrt",
    doc="the square root, of x >= 0",
    cas=None,
    domain=lambda x: ge(x, as_node(0)),
    reference=lambda mp, x: mp.sqrt(x) if x >= 0 else mp.nan,
    partials=(lambda out, x: 1 / (2 * out),),
    kinks=vertical_tangents(0),
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
    cas=None,
    domain=None,
    reference=lambda mp, x: mp.sign(x) * mp.cbrt(mp.fabs(x)),
    partials=(lambda out, x: 1 / (3 * out**2),),
    kinks=vertical_tangents(0),
    latex=r"\sqrt[3]{{{0}}}",
    facts=facts("odd", "increasing", "continuous"),
    samples=_SIGNED,
)

# x/out is a ratio of at most 1, so it does not overflow, although x**2 may.
hypot = binary(
    "hypot",
    doc="sqrt(x**2 + y**2), without overflow of the squares",
    domain=None,
    partials=(lambda out, x, y: x / out, lambda out, x, y: y / out),
    kinks=(Kink("x = y = 0", (0, 0), (None, None), "the tip of a cone, undefined as for sqrt(x**2 + y**2)"),),
    facts=facts("commutative", "associative", "nonnegative", "continuous"),
    samples=((3, 4), ("-0.5", "1e-3"), ("1e6", "-2.5"), ("-1e-8", "-1e-7"), (0, "1.5")),
)

exp = unary(
    "exp",
    doc="the exponential function",
    domain=None,
    partials=(lambda out, x: out,),
    kinks=(),
    latex=r"e^{{{0}}}",
    facts=facts("increasing", "positive", "exponential"),
    samples=_SIGNED,
)

exp2 = unary(
    "exp2",
    doc="2**x",
    domain=None,
    reference=lambda mp, x: mp.power(2, x),
    partials=(lambda out, x: log(as_node(2)) * out,),
    kinks=(),
    latex=r"2^{{{0}}}",
    facts=facts("increasing", "positive", "exponential"),
    samples=_SIGNED,
)

# out + 1 would cancel for x << 0: exp(x) = 1e-20 at x = -46 against out + 1 = 0.
expm1 = unary(
    "expm1",
    doc="exp(x) - 1, accurate near 0",
    domain=None,
    partials=(lambda out, x: exp(x),),
    kinks=(),
    facts=facts("increasing", "exponential"),
    samples=_SIGNED,
)


log: Op = unary(
    "log",
    aliases=("ln",),
    doc="the natural logarithm, of x > 0",
    domain=lambda x: gt(x, as_node(0)),
    reference=lambda mp, x: mp.log(x) if x > 0 else mp.nan,
    partials=(lambda out, x: 1 / x,),
    kinks=poles(0),
    latex=r"\log\left({0}\right)",
    facts=facts("increasing", "continuous", "poles"),
    samples=_POSITIVE,
)

log2 = unary(
    "log2",
    doc="the logarithm to base 2, of x > 0",
    domain=lambda x: gt(x, as_node(0)),
    reference=lambda mp, x: mp.log(x, 2) if x > 0 else mp.nan,
    partials=(lambda out, x: 1 / (x * log(as_node(2))),),
    kinks=poles(0),
    latex=r"\log_{{2}}\left({0}\right)",
    facts=facts("increasing", "continuous", "poles"),
    samples=_POSITIVE,
)

log10 = unary(
    "log10",
    doc="the logarithm to base 10, of x > 0",
    domain=lambda x: gt(x, as_node(0)),
    reference=lambda mp, x: mp.log10(x) if x > 0 else mp.nan,
    partials=(lambda out, x: 1 / (x * log(as_node(10))),),
    kinks=poles(0),
    latex=r"\log_{{10}}\left({0}\right)",
    facts=facts("increasing", "continuous", "poles"),
    samples=_POSITIVE,
)

log1p = unary(
    "log1p",
    doc="log(1 + x), accurate near 0, of x > -1",
    domain=lambda x: gt(x, as_node(-1)),
    reference=lambda mp, x: mp.log1p(x) if x > -1 else mp.nan,
    partials=(lambda out, x: 1 / (1 + x),),
    kinks=poles(-1),
    facts=facts("increasing", "continuous", "poles"),
    samples=(("-0.9375",), ("-0.5",), ("-1e-12",), ("1e-12",), ("0.75",), (20,), ("1e9",)),
)


def _sigmoid(b: Builder, x: Lane) -> Lane:
    """Return 1/(1 + exp(-x)) for x >= 0, and exp(x)/(1 + exp(x)) for x < 0, so that nothing overflows or cancels."""
    if b.knows("sigmoid"):  # this is more precise, and shares its exponential with sigmoid(-x) and softplus
        return b.call("sigmoid", x)
    e = b.call("exp", b.neg(b.abs(x)))
    return b.div(b.select(b.lt(x, b.const(0)), e, b.const(1)), b.add(b.const(1), e))


# sigmoid' = out*(1 - out), where 1 - out = sigmoid(-x) cancels for x >> 0 (all digits gone at x = 37).
sigmoid: Op = unary(
    "sigmoid",
    aliases=("expit",),
    doc="1/(1 + exp(-x))",
    cas=None,
    domain=None,
    code=_sigmoid,
    reference=lambda mp, x: 1 / (1 + mp.exp(-x)),
    partials=(lambda out, x: out * sigmoid(-x),),
    kinks=(),
    latex=r"\sigma\left({0}\right)",
    facts=facts("increasing", "positive", "bounded-by-one"),
    samples=_SIGNED,
)


def _softplus(b: Builder, x: Lane) -> Lane:
    """Return log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)): both terms are positive, and neither overflows."""
    if b.knows("softplus"):
        return b.call("softplus", x)
    return b.add(b.maximum(x, b.const(0)), b.call("log1p", b.call("exp", b.neg(b.abs(x)))))


softplus = unary(
    "softplus",
    doc="log(1 + exp(x))",
    cas=None,
    domain=None,
    code=_softplus,
    reference=lambda mp, x: mp.log1p(mp.exp(x)),
    partials=(lambda out, x: sigmoid(x),),
    kinks=(),
    facts=facts("increasing", "positive"),
    samples=_SIGNED,
)
