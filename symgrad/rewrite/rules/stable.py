"""The stable phase: forms that are equal in exact arithmetic and lose fewer digits in floating point.

The search
    rules       The rules below are tried at every sum, product, quotient and function call, innermost first. A rule for
                a sum uses some of its terms, which may have a common coefficient, and leaves the other terms
    laws        A sum of quotients gets one denominator. A quotient by a product becomes a quotient of quotients
    shortening  Differences that a replacement creates are cancelled exactly: `(x + 1) - x` is 1
    choice      A new form is chosen if it has fewer wrong bits at sample points of the declared domain (moderate and
                extreme points), and at no point more than half a bit more than the old form (an error of about an ulp
                does not count). The exact values are computed with many digits, and must be equal for both forms
    scale       For formulas with numbers far from 1, such as those of SI units, the sample points are near inputs for
                which the terms of a sum, and the arguments of a function, have similar sizes: only there does
                multiplying out such numbers lose digits
    limits      Graphs have at most 1000 equations, with arrays 160. A value that is not an elementary function of
                numbers (a Bessel function, an array reduction) counts as an input with an interval

The choice is among forms that are exactly equal, so any of them is correct. Nothing narrows the domain; the few rows
that widen it are marked. Nothing moves across stop_gradient.
"""

from __future__ import annotations

from fractions import Fraction

from symgrad.ir.graph import Node, number
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import cbrt, exp, expm1, hypot, log, log1p, sigmoid, softplus, sqrt
from symgrad.ops.scalar.hyperbolic import atanh, cosh, sech, sinh, tanh
from symgrad.ops.scalar.logic import all_of, any_of, ge, gt, lt, ne, where
from symgrad.ops.scalar.rounding import abs as abs_
from symgrad.ops.scalar.rounding import maximum
from symgrad.ops.scalar.trig import atan, atan2, cos, sin, tan
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.rules.variables import a, b, e, one, row, two, zero

_third = number(Fraction(1, 3))


def _square(x: Node) -> Node:
    return pow(x, two)


def _minus(x: Node, y: Node) -> Node:
    return number(-y.value) + x if y.is_number() else add(x, neg(y))


EXPONENTIALS = [
    row("expm1", _minus(exp(a), one), expm1(a), "exp(a) is near 1 for small a"),
    row("sinh", _minus(exp(a), exp(neg(a))), mul(two, sinh(a)), "definition; both are near 1 for small a"),
    row(
        "difference-of-exponentials",
        _minus(exp(a), exp(b)),
        mul(exp(b), expm1(_minus(a, b))),
        "the functional equation; the exponentials are close for close a and b",
    ),
    row(
        "cosh-less-1",
        _minus(add(exp(a), exp(neg(a))), two),
        mul(number(4), _square(sinh(div(a, two)))),
        "2*cosh(a) - 2 in terms of half the argument",
    ),
    row("cosh-less-one", _minus(cosh(a), one), mul(two, _square(sinh(div(a, two)))), "half the argument"),
    row(
        "tanh",
        div(_minus(exp(a), exp(neg(a))), add(exp(a), exp(neg(a)))),
        tanh(a),
        "definition; the exponentials overflow",
    ),
    row("tanh-of-half", div(_minus(exp(a), one), add(exp(a), one)), tanh(div(a, two)), "definition"),
    row("sech", _minus(one, _square(tanh(a))), _square(sech(a)), "tanh is near 1 for large a"),
    row("sigmoid", div(one, add(one, exp(neg(a)))), sigmoid(a), "definition; the exponential overflows"),
    row("sigmoid-of-minus", div(one, add(one, exp(a))), sigmoid(neg(a)), "definition"),
    row(
        "sigmoid-with-exp", div(exp(a), add(one, exp(a))), sigmoid(a), "definition; a quotient of infinities"
    ),
    row(
        "sigmoid-slope",
        div(exp(a), _square(add(one, exp(a)))),
        mul(sigmoid(a), sigmoid(neg(a))),
        "definition; a quotient of infinities",
    ),
    row(
        "sigmoid-from-complement",
        _minus(one, div(one, add(one, exp(a)))),
        sigmoid(a),
        "the quotient is near 1 for a far below 0",
    ),
    row("sigmoid-complement", _minus(one, sigmoid(a)), sigmoid(neg(a)), "sigmoid is near 1 for large a"),
    row(
        "difference-of-sigmoids",
        _minus(sigmoid(a), sigmoid(neg(a))),
        tanh(div(a, two)),
        "definition; both are near 1/2 for small a",
    ),
    row(
        "sigmoid-less-half",
        _minus(sigmoid(a), number(Fraction(1, 2))),
        div(tanh(div(a, two)), two),
        "definition; sigmoid is near 1/2 for small a",
    ),
    row(
        "sigmoid-curvature",
        _minus(mul(sigmoid(a), _square(sigmoid(neg(a)))), mul(_square(sigmoid(a)), sigmoid(neg(a)))),
        neg(mul(mul(sigmoid(a), sigmoid(neg(a))), tanh(div(a, two)))),
        "the difference of sigmoids, both near 1/2 for small a",
    ),
    row(
        "exp-over-expm1",
        div(exp(a), _minus(exp(a), one)),
        div(number(-1), expm1(neg(a))),
        "numerator and denominator overflow",
    ),
    row(
        "exp-over-square",
        div(exp(a), _square(_minus(exp(a), one))),
        div(one, mul(number(4), _square(sinh(div(a, two))))),
        "numerator and denominator overflow",
    ),
    row(
        "exp-over-square-of-expm1",
        div(exp(a), _square(expm1(a))),
        div(one, mul(number(4), _square(sinh(div(a, two))))),
        "numerator and denominator overflow",
    ),
    Rule(
        name="exp-of-twice",
        pattern=div(_minus(exp(mul(two, a)), one), _minus(exp(a), one)),
        replacement=add(exp(a), one),
        soundness="widens",
        note="also defined at {a} = 0",
        witness={"a": 0},
        why="a difference of squares",
    ),
    row("exp-over-its-expm1", div(exp(a), expm1(a)), div(number(-1), expm1(neg(a))), "both overflow"),
]

LOGARITHMS = [
    row("log-of-exp", log(exp(a)), a, "inverse functions; the exponential overflows"),
    row("softplus", log(add(one, exp(a))), softplus(a), "exp(a) overflows, or is lost in the sum with 1"),
    row("softplus-of-log1p", log1p(exp(a)), softplus(a), "exp(a) overflows"),
    row(
        "log-of-sigmoid",
        log(sigmoid(a)),
        neg(softplus(neg(a))),
        "sigmoid is near 1 for large a, and underflows for a far below 0",
    ),
    row(
        "difference-of-softpluses",
        _minus(softplus(a), softplus(neg(a))),
        a,
        "definition; both are near log(2) for small a",
    ),
    row(
        "log-of-sum-of-exponentials",
        log(add(exp(a), exp(b))),
        add(maximum(a, b), log1p(exp(neg(abs_(_minus(a, b)))))),
        "the larger exponential is a factor in front, so nothing overflows",
    ),
    row("atanh", log(div(_minus(one, a), add(one, a))), mul(number(-2), atanh(a)), "the quotient is near 1"),
    row("log1p", log(add(one, a)), log1p(a), "1 + a loses the digits of a small a"),
    row(
        "log-of-quotient",
        log(div(a, b)),
        log1p(div(_minus(a, b), b)),
        "the quotient of close numbers is near 1",
    ),
    Rule(
        name="difference-of-logarithms",
        pattern=_minus(log(a), log(b)),
        replacement=log1p(div(_minus(a, b), b)),
        soundness="widens",
        exact_when=any_of(ge(b, zero), ge(a, zero)),
        note="also defined for {b} < 0",
        witness={"a": -1, "b": -2},
        why="the logarithms are close for close a and b",
    ),
    Rule(
        name="difference-of-entropies",
        pattern=_minus(mul(a, log(a)), mul(b, log(b))),
        replacement=add(mul(_minus(a, b), log(a)), mul(b, log1p(div(_minus(a, b), b)))),
        why="a*log(a) - b*log(b) = (a - b)*log(a) + b*(log(a) - log(b))",
    ),
]

TRIGONOMETRY = [
    Rule(
        name="tan-of-half",
        pattern=div(_minus(one, cos(a)), sin(a)),
        replacement=tan(div(a, two)),
        soundness="widens",
        note="also defined where {a} is an even multiple of pi",
        witness={"a": 0},
        why="half the argument",
    ),
    row(
        "1-less-cos", _minus(one, cos(a)), mul(two, _square(sin(div(a, two)))), "cos(a) is near 1 for small a"
    ),
    row("sin-from-cos", _minus(one, _square(cos(a))), _square(sin(a)), "cos(a) is near 1 for small a"),
    row("cos-from-sin", _minus(one, _square(sin(a))), _square(cos(a)), "sin(a) is near 1 for a near pi/2"),
    row(
        "sine-of-a-step",
        _minus(sin(a), sin(b)),
        _minus(mul(cos(b), sin(_minus(a, b))), mul(mul(two, sin(b)), _square(sin(div(_minus(a, b), two))))),
        "the addition theorem for sin(b + d), with cos(d) - 1 in terms of d/2",
    ),
    row(
        "cosine-of-a-step",
        _minus(cos(a), cos(b)),
        _minus(
            neg(mul(sin(b), sin(_minus(a, b)))), mul(mul(two, cos(b)), _square(sin(div(_minus(a, b), two))))
        ),
        "the addition theorem for cos(b + d), with cos(d) - 1 in terms of d/2",
    ),
    row(
        "difference-of-sines",
        _minus(sin(a), sin(b)),
        mul(two, mul(cos(div(add(a, b), two)), sin(div(_minus(a, b), two)))),
        "sums to products; the sines are close for close a and b",
    ),
    row(
        "difference-of-cosines",
        _minus(cos(a), cos(b)),
        mul(number(-2), mul(sin(div(add(a, b), two)), sin(div(_minus(a, b), two)))),
        "sums to products; the cosines are close for close a and b",
    ),
    row(
        "tangent-of-a-step",
        _minus(tan(a), tan(b)),
        div(
            sin(_minus(a, b)),
            mul(cos(b), _minus(mul(cos(b), cos(_minus(a, b))), mul(sin(b), sin(_minus(a, b))))),
        ),
        "the addition theorem for cos(b + d)",
    ),
    row(
        "difference-of-tangents",
        _minus(tan(a), tan(b)),
        div(sin(_minus(a, b)), mul(cos(a), cos(b))),
        "sums to products; the tangents are close for close a and b",
    ),
    row(
        "difference-of-arctangents",
        _minus(atan(a), atan(b)),
        atan2(_minus(a, b), add(one, mul(a, b))),
        "the angle between (1, a) and (1, b)",
    ),
]

ROOTS = [
    row("hypot", sqrt(add(_square(a), _square(b))), hypot(a, b), "squares overflow before the root does"),
    row(
        "over-a-sum-of-squares",
        div(e, add(_square(a), _square(b))),
        div(div(e, hypot(a, b)), hypot(a, b)),
        "squares overflow before the quotient underflows",
    ),
    row(
        "difference-of-roots",
        _minus(sqrt(a), sqrt(b)),
        div(_minus(a, b), add(sqrt(a), sqrt(b))),
        "close for close a and b; multiplied and divided by the sum, which is zero only if both roots are",
        any_of(gt(a, zero), gt(b, zero), ne(a, b)),
    ),
    row(
        "difference-of-any-roots",
        _minus(sqrt(a), sqrt(b)),
        where(ne(add(sqrt(a), sqrt(b)), zero), div(_minus(a, b), add(sqrt(a), sqrt(b))), zero),
        "the same, but both may be zero",
    ),
    row(
        "root-less-positive",
        _minus(sqrt(a), b),
        div(_minus(a, _square(b)), add(sqrt(a), b)),
        "multiplied and divided by the sum",
        gt(b, zero),
    ),
    row(
        "difference-of-cube-roots",
        _minus(cbrt(a), cbrt(b)),
        div(_minus(a, b), add(add(_square(cbrt(a)), mul(cbrt(a), cbrt(b))), _square(cbrt(b)))),
        "the roots are close for close a and b",
        any_of(gt(a, zero), gt(b, zero), lt(a, zero), lt(b, zero), ne(a, b)),
    ),
    row(
        "difference-of-third-powers",
        _minus(pow(a, _third), pow(b, _third)),
        div(
            _minus(a, b),
            add(add(_square(pow(a, _third)), mul(pow(a, _third), pow(b, _third))), _square(pow(b, _third))),
        ),
        "the roots are close for close a and b",
        any_of(gt(a, zero), gt(b, zero), ne(a, b)),
    ),
    row(
        "difference-of-powers",
        _minus(pow(a, e), pow(b, e)),
        mul(pow(b, e), expm1(mul(e, log1p(div(_minus(a, b), b))))),
        "a**e = b**e*exp(e*log(a/b))",
        all_of(gt(a, zero), gt(b, zero)),
    ),
    row(
        "difference-of-squares",
        _minus(_square(a), _square(b)),
        mul(_minus(a, b), add(a, b)),
        "the squares round before they are subtracted",
    ),
]

STABLE = RuleSet([*EXPONENTIALS, *LOGARITHMS, *TRIGONOMETRY, *ROOTS])
