"""The canonical phase: forms as a person would write them, by rules that never change a value.

Normal form
    sums        Sums are flat. Like terms are collected, with exact rational coefficients. A common factor is put in
                front if this saves a multiplication: `2*(x + y)`. `c*(a + b)` is expanded only if this saves a
                multiplication, or if a term can then be collected with another one. Terms over powers of the same
                sum are brought over the highest power if this leaves fewer terms:
                `1/(x + y) - x/(x + y)**2 -> y/(x + y)**2`
    products    Products are flat. Equal bases are collected: `x*x**a -> x**(a + 1)`. There is one quotient:
                `x*sqrt(u)/abs(x)`. The sign is in front, or in a sum that is equally readable with either sign.
                Rational coefficients are exact. Roots of numbers are reduced, `sqrt(12) -> 2*sqrt(3)`, and joined
                with the root of a constant, `1/sqrt(2*pi)`
    powers      Powers of powers, products and exponentials are expanded if this never narrows the domain:
                `sqrt(x**2*u) -> abs(x)*sqrt(u)` for u >= 0
    functions   The rules below apply, and the facts of the op records (odd, even, idempotent)
    order       Terms and factors are ordered by their structure only (`rewrite/normal_form/order.py`)
    numbers     A value that can only be one number becomes this number: `tanh(0) -> 0` (`known-value`). No number
                has more than 512 bits
    arrays      Contractions are flat, in index notation, with scalar factors in front. Operands with equal labels
                are one product. Transposes and new axes are at the leaves of products and contractions. Broadcasts
                that elementwise ops do anyway are dropped. At the end contractions are written with `@`, `.T`,
                `outer`, `sum` and `mean`, vectors first: `2*X.T@(X@w - y)/n`
    sharing     Long shared sums (of more than 8 terms) and products (of more than 16 factors) stay one operand, so
                that a graph never grows into a tree

Every row is `exact` (same value, same domain) or `widens` (same value wherever the left side is defined, but a larger
domain, which the trace records). No row narrows the domain. A comparison of undefined values counts as undefined. A
rule that drops an operand widens if the operand may be undefined; the engine adds that automatically. Nothing moves
across stop_gradient: its symbols are frozen copies, and differ from the symbols outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symgrad.ir.graph import OPS, Node, Op, constant, number
from symgrad.ops.control import stop_gradient
from symgrad.ops.scalar.arith import div, mul, neg, pow
from symgrad.ops.scalar.elementary import cbrt, exp, exp2, expm1, log, log1p, log2, log10, sigmoid, sqrt
from symgrad.ops.scalar.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from symgrad.ops.scalar.logic import all_of, any_of, ge, gt, le, lt, not_
from symgrad.ops.scalar.rounding import abs as abs_
from symgrad.ops.scalar.trig import acos, asin, atan, cos, sin, tan
from symgrad.ops.special.gamma import erf, erfc
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.rules.inverse_laws import INVERSES
from symgrad.rewrite.rules.piecewise import ABSOLUTE, LOGIC, ROUNDING
from symgrad.rewrite.rules.tensor_laws import TENSORS
from symgrad.rewrite.rules.variables import (
    AT_ZERO,
    a,
    b,
    e,
    even,
    extends_to_zero,
    integer,
    law,
    m,
    n,
    one,
    pi,
    row,
    two,
    zero,
)

# The laws that the normal form applies to any number of operands at once.
LAWS = [
    law("like-terms", m * a + n * a, (m + n) * a, "distributivity"),
    law("distribute-a-number", n * (a + b), n * a + n * b, "only if a term can then be collected"),
    law("content-of-a-sum", n * a + n * b, n * (a + b), "one multiplication fewer"),
    law(
        "common-denominator",
        a / (b + e) - a * b / (b + e) ** 2,
        a * e / (b + e) ** 2,
        "only if fewer terms are left; fewer digits cancel, too",
    ),
    law("zero-times", mul(zero, a), zero, "the strong zero"),
    Rule(
        name="product-of-powers",
        pattern=a**m * a**n,
        replacement=a ** (m + n),
        soundness="widens",
        exact_when=gt(a, zero),
        note=AT_ZERO,
        witness={"a": 0, "m": 1, "n": -1},
        why="fractional exponents need a >= 0 and negative ones a != 0, but their sum may need neither",
        how="collected",
    ),
    Rule(
        name="power-of-a-power",
        pattern=(a**m) ** n,
        replacement=a ** (m * n),
        condition=any_of(ge(a, zero), integer(n)),
        soundness="widens",
        exact_when=gt(a, zero),
        note="also defined for {a} < 0",
        witness={"a": -1, "m": Fraction(1, 2), "n": 2},
        why="(a**m)**n = a**(m*n) for integer n, and for a >= 0",
        how="collected",
    ),
    extends_to_zero(
        name="root-of-an-even-power",
        pattern=(a**m) ** n,
        replacement=abs_(a) ** (m * n),
        condition=even(m),
        witness={"a": 0, "m": -2, "n": Fraction(-1, 2)},
        why="a**m = abs(a)**m for even m",
        how="collected",
    ),
    law(
        "power-of-a-product",
        (a * b) ** n,
        a**n * b**n,
        "fractional powers distribute over factors that are not negative",
        any_of(integer(n), gt(a, zero), all_of(ge(a, zero), ge(b, zero))),
    ),
    law("power-zero", pow(a, zero), one, "x**0 is 1 also at x = 0"),
    law(
        "root-of-a-number",
        sqrt(m * n**2),
        n * sqrt(m),
        "square factors leave the root",
        all_of(ge(m, zero), ge(n, zero)),
    ),
    law("power-of-an-exponential", exp(a) ** b, exp(a * b), "exp(a) is positive"),
    law("product-of-exponentials", exp(a) * exp(b), exp(a + b), "the functional equation"),
]


def _inverse(outer: Op, inner: Op, beyond: str, exact_when: Node, point: int) -> Rule:
    """Return the row outer(inner(a)) -> a, where inner has a restricted domain."""
    return Rule(
        name=f"{outer.name}-of-{inner.name}",
        pattern=outer(inner(a)),
        replacement=a,
        soundness="widens",
        exact_when=exact_when,
        note=f"also defined for {beyond}",
        witness={"a": point},
        why="inverse functions",
    )


EXPONENTIAL = [
    row("e-as-exp", constant("E"), exp(one), "one spelling"),
    _inverse(exp, log, "{a} <= 0", gt(a, zero), -1),
    Rule(
        name="exp-of-minus-log",
        pattern=exp(-log(a)),
        replacement=1 / a,
        soundness="widens",
        exact_when=gt(a, zero),
        note="also defined for {a} < 0",
        witness={"a": -1},
        why="definition of powers",
    ),
    Rule(
        name="exp-of-multiple-of-log",
        pattern=exp(n * log(a)),
        replacement=a**n,
        soundness="widens",
        exact_when=gt(a, zero),
        note="also defined for {a} <= 0",
        witness={"a": -1, "n": 2},
        why="definition of powers",
    ),
    row("log-of-exp", log(exp(a)), a, "inverse functions"),
    row(
        "log-of-power",
        log(a**n),
        n * log(a),
        "the power is positive only for a > 0, unless n is even: log(x**2) is defined for x < 0",
        any_of(gt(a, zero), not_(even(n))),
    ),
    _inverse(exp2, log2, "{a} <= 0", gt(a, zero), -1),
    row("log2-of-exp2", log2(exp2(a)), a, "inverse functions"),
    row("log1p-of-expm1", log1p(expm1(a)), a, "inverse functions"),
    _inverse(expm1, log1p, "{a} <= -1", gt(a, number(-1)), -2),
    Rule(
        name="exp-of-log1p",
        pattern=exp(log1p(a)),
        replacement=1 + a,
        soundness="widens",
        exact_when=gt(a, number(-1)),
        note="also defined for {a} <= -1",
        witness={"a": -2},
        why="inverse functions",
    ),
    row("cube-of-cbrt", cbrt(a) ** 3, a, "inverse functions"),
    row("cbrt-of-cube", cbrt(a**3), a, "inverse functions"),
]


_WITHIN = all_of(ge(a, number(-1)), le(a, one))
_SINE, _COSINE, _SINH, _COSH = (pow(g(a), two) for g in (sin, cos, sinh, cosh))

TRIGONOMETRIC = [
    row("sin-squared-plus-cos-squared", _SINE + _COSINE, one, "Pythagoras"),
    row("one-minus-sin-squared", 1 - _SINE, _COSINE, "Pythagoras"),
    row("one-minus-cos-squared", 1 - _COSINE, _SINE, "Pythagoras"),
    Rule(name="sin-over-cos", pattern=sin(a) / cos(a), replacement=tan(a), why="definition", whole=True),
    _inverse(sin, asin, "{a} beyond -1 and 1", _WITHIN, 2),
    _inverse(cos, acos, "{a} beyond -1 and 1", _WITHIN, 2),
    row("tan-of-atan", tan(atan(a)), a, "inverse functions"),
    row("cosh-squared-minus-sinh-squared", _COSH - _SINH, one, "Pythagoras"),
    row("one-plus-sinh-squared", 1 + _SINH, _COSH, "Pythagoras"),
    row("cosh-squared-minus-one", _COSH - 1, _SINH, "Pythagoras"),
    Rule(name="sinh-over-cosh", pattern=sinh(a) / cosh(a), replacement=tanh(a), why="definition", whole=True),
    row("tanh-times-cosh", tanh(a) * cosh(a), sinh(a), "definition"),
    row("sinh-of-asinh", sinh(asinh(a)), a, "inverse functions"),
    row("asinh-of-sinh", asinh(sinh(a)), a, "inverse functions"),
    _inverse(cosh, acosh, "{a} < 1", ge(a, one), -2),
    row("acosh-of-cosh", acosh(cosh(a)), abs_(a), "cosh is even"),
    _inverse(tanh, atanh, "{a} beyond -1 and 1", all_of(gt(a, number(-1)), lt(a, one)), 2),
    row("atanh-of-tanh", atanh(tanh(a)), a, "inverse functions"),
    row("erf-plus-erfc", erf(a) + erfc(a), one, "definition"),
]

STOPS = [
    row("stop-of-pi", stop_gradient(pi), pi, "nothing to freeze"),
]

_HALF_PI, _QUARTER_PI = div(pi, two), div(pi, number(4))

_VALUES: list[tuple[Op, Node, Node]] = [
    (exp2, zero, one),
    (exp2, one, two),
    (log2, one, zero),
    (log2, two, one),
    (log10, one, zero),
    (log10, number(10), one),
    (sigmoid, zero, number(Fraction(1, 2))),
    (expm1, zero, zero),
    (log1p, zero, zero),
    (cbrt, one, one),
    (cos, zero, one),
    (sin, pi, zero),
    (cos, pi, number(-1)),
    (acos, one, zero),
    (acos, zero, _HALF_PI),
    (asin, one, _HALF_PI),
    (atan, one, _QUARTER_PI),
    (cosh, zero, one),
    (acosh, one, zero),
    (erfc, zero, one),
]


def _special_values() -> Iterator[Rule]:
    for op, at, value in _VALUES:
        text = at.params[-1]
        yield row(f"{op.name}-of-{text}", op(at), value, "special value")


def _kebab(op: Op) -> str:
    return op.name.strip("_").replace("_", "-").lower()


def _from_facts() -> Iterator[Rule]:
    """Yield a row for every op that is odd, even or idempotent."""
    unary = sorted(
        {op for op in OPS.values() if op.takes == ("number",) and not op.parameters}, key=lambda o: o.name
    )
    for op in unary:
        if op is neg:
            continue
        if "odd" in op.facts:
            yield row(f"{_kebab(op)}-odd", op(-a), neg(op(a)), "odd function")
            if op.domain is None and "increasing" not in op.facts and "integral" not in op.facts:
                yield row(f"{_kebab(op)}-of-zero", op(zero), zero, "odd function")
        if "even" in op.facts:
            yield row(f"{_kebab(op)}-even", op(-a), op(a), "even function")
        if "idempotent" in op.facts:
            yield row(f"{_kebab(op)}-twice", op(op(a)), op(a), "idempotent")


CANONICAL = RuleSet(
    [
        *LAWS,
        *TENSORS,
        *INVERSES,
        *_special_values(),
        *_from_facts(),
        *ABSOLUTE,
        *EXPONENTIAL,
        *TRIGONOMETRIC,
        *ROUNDING,
        *LOGIC,
        *STOPS,
    ]
)
"""The rows of the canonical phase, in the order in which they are tried."""

DROP_STOPS = RuleSet(
    [
        row(
            "drop-stop",
            stop_gradient(a),
            a,
            "the value is the argument; not for what is differentiated again",
        ),
        *CANONICAL,
    ]
)
"""The same rows, with stop_gradient read as its value."""
