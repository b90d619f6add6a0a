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

from symgrad.ir.graph import number
from symgrad.ops.scalar.arith import div
from symgrad.ops.scalar.elementary import cbrt, exp, expm1, hypot, log, log1p, sigmoid, softplus, sqrt
from symgrad.ops.scalar.hyperbolic import atanh, cosh, sech, sinh, tanh
from symgrad.ops.scalar.logic import all_of, any_of, ge, gt, lt, ne, where
from symgrad.ops.scalar.rounding import abs as abs_
from symgrad.ops.scalar.rounding import maximum
from symgrad.ops.scalar.trig import atan, atan2, cos, sin, tan
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.rules.variables import a, b, e, row, two, zero

_third = number(Fraction(1, 3))


EXPONENTIALS = [
    row("expm1", -1 + exp(a), expm1(a), "exp(a) is near 1 for small a"),
    row("sinh", exp(a) - exp(-a), 2 * sinh(a), "definition; both are near 1 for small a"),
    row(
        "difference-of-exponentials",
        exp(a) - exp(b),
        exp(b) * expm1(a - b),
        "the functional equation; the exponentials are close for close a and b",
    ),
    row(
        "cosh-less-1",
        -2 + (exp(a) + exp(-a)),
        4 * sinh(div(a, two)) ** 2,
        "2*cosh(a) - 2 in terms of half the argument",
    ),
    row("cosh-less-one", -1 + cosh(a), 2 * sinh(div(a, two)) ** 2, "half the argument"),
    row("tanh", (exp(a) - exp(-a)) / (exp(a) + exp(-a)), tanh(a), "definition; the exponentials overflow"),
    row("tanh-of-half", (-1 + exp(a)) / (exp(a) + 1), tanh(div(a, two)), "definition"),
    row("sech", 1 - tanh(a) ** 2, sech(a) ** 2, "tanh is near 1 for large a"),
    row("sigmoid", 1 / (1 + exp(-a)), sigmoid(a), "definition; the exponential overflows"),
    row("sigmoid-of-minus", 1 / (1 + exp(a)), sigmoid(-a), "definition"),
    row("sigmoid-with-exp", exp(a) / (1 + exp(a)), sigmoid(a), "definition; a quotient of infinities"),
    row(
        "sigmoid-slope",
        exp(a) / (1 + exp(a)) ** 2,
        sigmoid(a) * sigmoid(-a),
        "definition; a quotient of infinities",
    ),
    row(
        "sigmoid-from-complement",
        1 - 1 / (1 + exp(a)),
        sigmoid(a),
        "the quotient is near 1 for a far below 0",
    ),
    row("sigmoid-complement", 1 - sigmoid(a), sigmoid(-a), "sigmoid is near 1 for large a"),
    row(
        "difference-of-sigmoids",
        sigmoid(a) - sigmoid(-a),
        tanh(div(a, two)),
        "definition; both are near 1/2 for small a",
    ),
    row(
        "sigmoid-less-half",
        Fraction(-1, 2) + sigmoid(a),
        div(tanh(div(a, two)), two),
        "definition; sigmoid is near 1/2 for small a",
    ),
    row(
        "sigmoid-curvature",
        sigmoid(a) * sigmoid(-a) ** 2 - sigmoid(a) ** 2 * sigmoid(-a),
        -(sigmoid(a) * sigmoid(-a) * tanh(div(a, two))),
        "the difference of sigmoids, both near 1/2 for small a",
    ),
    row("exp-over-expm1", exp(a) / (-1 + exp(a)), -1 / expm1(-a), "numerator and denominator overflow"),
    row(
        "exp-over-square",
        exp(a) / (-1 + exp(a)) ** 2,
        1 / (4 * sinh(div(a, two)) ** 2),
        "numerator and denominator overflow",
    ),
    row(
        "exp-over-square-of-expm1",
        exp(a) / expm1(a) ** 2,
        1 / (4 * sinh(div(a, two)) ** 2),
        "numerator and denominator overflow",
    ),
    Rule(
        name="exp-of-twice",
        pattern=(-1 + exp(2 * a)) / (-1 + exp(a)),
        replacement=exp(a) + 1,
        soundness="widens",
        note="also defined at {a} = 0",
        witness={"a": 0},
        why="a difference of squares",
    ),
    row("exp-over-its-expm1", exp(a) / expm1(a), -1 / expm1(-a), "both overflow"),
]

LOGARITHMS = [
    row("log-of-exp", log(exp(a)), a, "inverse functions; the exponential overflows"),
    row("softplus", log(1 + exp(a)), softplus(a), "exp(a) overflows, or is lost in the sum with 1"),
    row("softplus-of-log1p", log1p(exp(a)), softplus(a), "exp(a) overflows"),
    row(
        "log-of-sigmoid",
        log(sigmoid(a)),
        -softplus(-a),
        "sigmoid is near 1 for large a, and underflows for a far below 0",
    ),
    row(
        "difference-of-softpluses",
        softplus(a) - softplus(-a),
        a,
        "definition; both are near log(2) for small a",
    ),
    row(
        "log-of-sum-of-exponentials",
        log(exp(a) + exp(b)),
        maximum(a, b) + log1p(exp(-abs_(a - b))),
        "the larger exponential is a factor in front, so nothing overflows",
    ),
    row(
        "log-of-sum-with-exponential",
        log(exp(a) + b),
        maximum(a, log(b)) + log1p(exp(-abs_(a - log(b)))),
        "the same, for further terms",
        gt(b, zero),
    ),
    row("atanh", log((1 - a) / (1 + a)), -2 * atanh(a), "the quotient is near 1"),
    row("log1p", log(1 + a), log1p(a), "1 + a loses the digits of a small a"),
    row("log-of-quotient", log(a / b), log1p((a - b) / b), "the quotient of close numbers is near 1"),
    Rule(
        name="difference-of-logarithms",
        pattern=log(a) - log(b),
        replacement=log1p((a - b) / b),
        soundness="widens",
        exact_when=any_of(ge(b, zero), ge(a, zero)),
        note="also defined for {b} < 0",
        witness={"a": -1, "b": -2},
        why="the logarithms are close for close a and b",
    ),
    Rule(
        name="difference-of-entropies",
        pattern=a * log(a) - b * log(b),
        replacement=(a - b) * log(a) + b * log1p((a - b) / b),
        why="a*log(a) - b*log(b) = (a - b)*log(a) + b*(log(a) - log(b))",
    ),
]

TRIGONOMETRY = [
    Rule(
        name="tan-of-half",
        pattern=(1 - cos(a)) / sin(a),
        replacement=tan(div(a, two)),
        soundness="widens",
        note="also defined where {a} is an even multiple of pi",
        witness={"a": 0},
        why="half the argument",
    ),
    row("1-less-cos", 1 - cos(a), 2 * sin(div(a, two)) ** 2, "cos(a) is near 1 for small a"),
    row("sin-from-cos", 1 - cos(a) ** 2, sin(a) ** 2, "cos(a) is near 1 for small a"),
    row("cos-from-sin", 1 - sin(a) ** 2, cos(a) ** 2, "sin(a) is near 1 for a near pi/2"),
    row(
        "sine-of-a-step",
        sin(a) - sin(b),
        cos(b) * sin(a - b) - 2 * sin(b) * sin(div(a - b, two)) ** 2,
        "the addition theorem for sin(b + d), with cos(d) - 1 in terms of d/2",
    ),
    row(
        "cosine-of-a-step",
        cos(a) - cos(b),
        -(sin(b) * sin(a - b)) - 2 * cos(b) * sin(div(a - b, two)) ** 2,
        "the addition theorem for cos(b + d), with cos(d) - 1 in terms of d/2",
    ),
    row(
        "difference-of-sines",
        sin(a) - sin(b),
        2 * (cos(div(a + b, two)) * sin(div(a - b, two))),
        "sums to products; the sines are close for close a and b",
    ),
    row(
        "difference-of-cosines",
        cos(a) - cos(b),
        -2 * (sin(div(a + b, two)) * sin(div(a - b, two))),
        "sums to products; the cosines are close for close a and b",
    ),
    row(
        "tangent-of-a-step",
        tan(a) - tan(b),
        sin(a - b) / (cos(b) * (cos(b) * cos(a - b) - sin(b) * sin(a - b))),
        "the addition theorem for cos(b + d)",
    ),
    row(
        "difference-of-tangents",
        tan(a) - tan(b),
        sin(a - b) / (cos(a) * cos(b)),
        "sums to products; the tangents are close for close a and b",
    ),
    row(
        "difference-of-arctangents",
        atan(a) - atan(b),
        atan2(a - b, 1 + a * b),
        "the angle between (1, a) and (1, b)",
    ),
]

ROOTS = [
    row("hypot", sqrt(a**2 + b**2), hypot(a, b), "squares overflow before the root does"),
    row(
        "over-a-sum-of-squares",
        e / (a**2 + b**2),
        e / hypot(a, b) / hypot(a, b),
        "squares overflow before the quotient underflows",
    ),
    row(
        "difference-of-roots",
        sqrt(a) - sqrt(b),
        (a - b) / (sqrt(a) + sqrt(b)),
        "close for close a and b; multiplied and divided by the sum, which is zero only if both roots are",
        any_of(gt(a, zero), gt(b, zero), ne(a, b)),
    ),
    row(
        "difference-of-any-roots",
        sqrt(a) - sqrt(b),
        where(ne(sqrt(a) + sqrt(b), zero), (a - b) / (sqrt(a) + sqrt(b)), zero),
        "the same, but both may be zero",
    ),
    row(
        "root-less-positive",
        sqrt(a) - b,
        (a - b**2) / (sqrt(a) + b),
        "multiplied and divided by the sum",
        gt(b, zero),
    ),
    row(
        "hypot-less-positive",
        hypot(a, b) - a,
        b * (b / (hypot(a, b) + a)),
        "multiplied and divided by the sum",
        gt(a, zero),
    ),
    row(
        "difference-of-cube-roots",
        cbrt(a) - cbrt(b),
        (a - b) / (cbrt(a) ** 2 + cbrt(a) * cbrt(b) + cbrt(b) ** 2),
        "the roots are close for close a and b",
        any_of(gt(a, zero), gt(b, zero), lt(a, zero), lt(b, zero), ne(a, b)),
    ),
    row(
        "difference-of-third-powers",
        a**_third - b**_third,
        (a - b) / ((a**_third) ** 2 + a**_third * b**_third + (b**_third) ** 2),
        "the roots are close for close a and b",
        any_of(gt(a, zero), gt(b, zero), ne(a, b)),
    ),
    row(
        "difference-of-powers",
        a**e - b**e,
        b**e * expm1(e * log1p((a - b) / b)),
        "a**e = b**e*exp(e*log(a/b))",
        all_of(gt(a, zero), gt(b, zero)),
    ),
    row("power-near-one", 1 - a**e, -expm1(e * log(a)), "a power of a number near 1 is near 1", gt(a, zero)),
    row(
        "complement-of-product",
        1 - (1 - a) * (1 - b),
        a * (1 - b) + b,
        "both factors are near 1 for small a and b",
    ),
    row(
        "difference-of-squares",
        a**2 - b**2,
        (a - b) * (a + b),
        "the squares round before they are subtracted",
    ),
]

STABLE = RuleSet([*EXPONENTIALS, *LOGARITHMS, *TRIGONOMETRY, *ROOTS])
