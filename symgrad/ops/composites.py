"""Functions without an op of their own, as formulas over ops.

Each formula is built once, over symbols, so it does not depend on its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symgrad.ir.composite import CompositeFunction, define_function, register_written
from symgrad.ir.graph import Node, Op, as_node, constant
from symgrad.ops.scalar.arith import div, mul, neg
from symgrad.ops.scalar.elementary import expm1, log, log1p, sigmoid, softplus, sqrt
from symgrad.ops.scalar.hyperbolic import tanh
from symgrad.ops.scalar.logic import and_, eq, ge, gt, le, lt, where
from symgrad.ops.scalar.rounding import abs, floor, sign
from symgrad.ops.special.bessel import iv, ive, jv, kv, yv
from symgrad.ops.special.elliptic import ellipe, ellipeinc
from symgrad.ops.special.gamma import digamma, erf, erfc, gamma, lgamma, polygamma
from symgrad.ops.special.incomplete import lowergamma, uppergamma
from symgrad.ops.special.integrals import erfcinv, li
from symgrad.ops.special.zeta import polylog, zeta


def _of_one(
    doc: str, formula: Callable[[Node], Node], name: str = "x", latex: str | None = None
) -> CompositeFunction:
    """Return a function of one argument; ``latex`` is its name in LaTeX, or None if it has no such name."""
    return define_function(doc, name, formula, None if latex is None else rf"{latex}\left({{0}}\right)")


def _of_two(doc: str, names: str, formula: Callable[[Node, Node], Node]) -> CompositeFunction:
    """Return a function of two arguments."""
    return define_function(doc, names, formula)


def _binomial(n: Node, k: Node) -> Node:
    return gamma(n + 1) / (gamma(k + 1) * gamma(n - k + 1))


def _order(function: Op, n: int) -> Callable[[Node], Node]:
    return lambda x: function(as_node(n), x)


def _remainder(x: Node, y: Node) -> Node:
    return x - y * floor(x / y)


def _logaddexp(x: Node, y: Node) -> Node:
    """Return max + softplus(min - max): the second term is at most log(2), and derivatives at ties are correct."""
    return where(ge(x, y), x + softplus(y - x), y + softplus(x - y))


def _xlogy(x: Node, y: Node) -> Node:
    """Return x*log(y), and 0 at x = 0 for y <= 0; at x = 0 < y the product is used, which has the slope log(y)."""
    return where(and_(eq(x, _ZERO), le(y, _ZERO)), _ZERO, x * log(y))


def _xlog1py(x: Node, y: Node) -> Node:
    return where(and_(eq(x, _ZERO), le(y, as_node(-1))), _ZERO, x * log1p(y))


def _huber(delta: Node, r: Node) -> Node:
    return where(le(abs(r), delta), div(r**2, _TWO), delta * (abs(r) - div(delta, _TWO)))


def _gelu_tanh(x: Node) -> Node:
    """Return x*(1 + tanh(u))/2 as x*sigmoid(2*u), which does not cancel for x << 0."""
    return x * sigmoid(2 * sqrt(div(_TWO, constant("pi"))) * (x + Fraction("0.044715") * x**3))


def _leaky_relu(x: Node, slope: Node) -> Node:
    return where(gt(x, _ZERO), x, slope * x)


def _elu(x: Node, alpha: Node) -> Node:
    return where(gt(x, _ZERO), x, alpha * expm1(x))


_ZERO, _TWO, _HALF = as_node(0), as_node(2), as_node(Fraction(1, 2))
_REMAINDER = (_of_two("x - y*floor(x/y)", "x y", _remainder),)
_SILU = (_of_one("x*sigmoid(x)", lambda x: x * sigmoid(x), latex=r"\operatorname{{SiLU}}"),)
_BESSEL = {
    f"{letter}{n}{scaled}": (_of_one(f"{op.name}({n}, x)", _order(op, n)),)
    for letter, scaled, op in (("j", "", jv), ("y", "", yv), ("i", "", iv), ("k", "", kv), ("i", "e", ive))
    for n in (0, 1)
}
register_written(
    {
        **_BESSEL,
        **dict.fromkeys(("Mod", "mod", "remainder"), _REMAINDER),
        "Li": (_of_one("li(x) - li(2)", lambda x: li(x) - li(_TWO), latex=r"\operatorname{{Li}}"),),
        "beta": (
            _of_two("gamma(a)*gamma(b)/gamma(a + b)", "a b", lambda a, b: gamma(a) * gamma(b) / gamma(a + b)),
        ),
        "betaln": (
            _of_two(
                "lgamma(a) + lgamma(b) - lgamma(a + b)",
                "a b",
                lambda a, b: lgamma(a) + lgamma(b) - lgamma(a + b),
            ),
        ),
        "binomial": (_of_two("gamma(n + 1)/(gamma(k + 1)*gamma(n - k + 1))", "n k", _binomial),),
        "catalan": (
            _of_one(
                "4**n*gamma(n + 1/2)/(sqrt(pi)*gamma(n + 2))",
                lambda n: 4**n * gamma(n + _HALF) / (sqrt(constant("pi")) * gamma(n + 2)),
                "n",
            ),
        ),
        "copysign": (
            _of_two(
                "abs(x)*sign(2*sign(y) + 1)",
                "x y",
                lambda x, y: abs(x) * where(lt(y, _ZERO), as_node(-1), as_node(1)),
            ),
        ),
        "elliptic_e": (
            _of_one("ellipe(m)", lambda m: ellipe(m), "m"),
            _of_two("ellipeinc(phi, m)", "phi m", lambda phi, m: ellipeinc(phi, m)),
        ),
        "elu": (
            _of_one(
                "x if x > 0 else expm1(x)",
                lambda x: where(gt(x, _ZERO), x, expm1(x)),
                latex=r"\operatorname{{ELU}}",
            ),
            _of_two("x if x > 0 else alpha*expm1(x)", "x alpha", _elu),
        ),
        "erf2": (_of_two("erf(y) - erf(x)", "x y", lambda x, y: erf(y) - erf(x)),),
        "factorial": (_of_one("gamma(n + 1)", lambda n: gamma(n + 1), "n"),),
        "floor_divide": (_of_two("floor(x/y)", "x y", lambda x, y: floor(x / y)),),
        "gammainc": (_of_two("lowergamma(a, x)/gamma(a)", "a x", lambda a, x: lowergamma(a, x) / gamma(a)),),
        "gammaincc": (_of_two("uppergamma(a, x)/gamma(a)", "a x", lambda a, x: uppergamma(a, x) / gamma(a)),),
        # This formula is built from ops, for the same reason as ndtr below.
        "gelu": (
            _of_one(
                "x*erfc(-x/sqrt(2))/2",
                lambda x: div(mul(x, erfc(div(neg(x), sqrt(_TWO)))), _TWO),
                latex=r"\operatorname{{GELU}}",
            ),
        ),
        "gelu_tanh": (
            _of_one(
                "x*sigmoid(2*sqrt(2/pi)*(x + 0.044715*x**3))",
                _gelu_tanh,
                latex=r"\operatorname{{GELU}}_{{\tanh}}",
            ),
        ),
        "harmonic": (
            _of_one("digamma(n + 1) + EulerGamma", lambda n: digamma(n + 1) + constant("EulerGamma"), "n"),
        ),
        "heaviside": (
            _of_two(
                "h if x == 0 else (sign(x) + 1)/2",
                "x h",
                lambda x, h: where(eq(x, _ZERO), h, div(sign(x) + 1, _TWO)),
            ),
        ),
        "huber": (_of_two("r**2/2 if abs(r) <= delta else delta*(abs(r) - delta/2)", "delta r", _huber),),
        "leaky_relu": (
            _of_one(
                "x if x > 0 else 0.01*x",
                lambda x: _leaky_relu(x, as_node(Fraction(1, 100))),
                latex=r"\operatorname{{LReLU}}",
            ),
            _of_two("x if x > 0 else slope*x", "x slope", _leaky_relu),
        ),
        "logaddexp": (_of_two("x + softplus(y - x) if x >= y else y + softplus(x - y)", "x y", _logaddexp),),
        "logit": (
            _of_one("log(p/(1 - p))", lambda p: log(p / (1 - p)), "p", latex=r"\operatorname{{logit}}"),
        ),
        "mish": (
            _of_one("x*tanh(softplus(x))", lambda x: x * tanh(softplus(x)), latex=r"\operatorname{{Mish}}"),
        ),
        # This formula is built from ops, since the operators would fold the division to a multiplication by 1/2.
        "ndtr": (
            _of_one("erfc(-x/sqrt(2))/2", lambda x: div(erfc(div(neg(x), sqrt(_TWO))), _TWO), latex=r"\Phi"),
        ),
        "ndtri": (
            _of_one(
                "-(sqrt(2)*erfcinv(2*p))", lambda p: -(sqrt(_TWO) * erfcinv(2 * p)), "p", latex=r"\Phi^{{-1}}"
            ),
        ),
        "reciprocal": (_of_one("1/x", lambda x: 1 / x),),
        "rf": (_of_two("gamma(x + n)/gamma(x)", "x n", lambda x, n: gamma(x + n) / gamma(x)),),
        "ff": (
            _of_two("gamma(x + 1)/gamma(x - n + 1)", "x n", lambda x, n: gamma(x + 1) / gamma(x - n + 1)),
        ),
        **dict.fromkeys(("silu", "swish"), _SILU),
        "spence": (_of_one("polylog(2, 1 - x)", lambda x: polylog(_TWO, 1 - x)),),
        "square": (_of_one("x**2", lambda x: x**2),),
        "trigamma": (_of_one("polygamma(1, x)", lambda x: polygamma(x, params=(1,))),),
        "xlog1py": (_of_two("0 if x == 0 and y <= -1 else x*log1p(y)", "x y", _xlog1py),),
        "xlogy": (_of_two("0 if x == 0 and y <= 0 else x*log(y)", "x y", _xlogy),),
        "zeta": (_of_one("zeta(s, 1)", lambda s: zeta(s, as_node(1)), "s", latex=r"\zeta"),),
    }
)
