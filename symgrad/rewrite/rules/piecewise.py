"""Rows of the canonical phase for functions in pieces: signs and roots, rounding, choices and truth values."""

from __future__ import annotations

from symgrad.ir.graph import number
from symgrad.ops.scalar.logic import all_of, and_, eq, ge, gt, le, lt, ne, not_, or_, where, xor
from symgrad.ops.scalar.rounding import abs as abs_
from symgrad.ops.scalar.rounding import ceil, floor, maximum, minimum, relu, round, sign
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.variables import (
    a,
    b,
    c,
    d,
    e,
    even,
    extends_to_zero,
    integer,
    law,
    n,
    no,
    odd,
    one,
    row,
    two,
    yes,
    zero,
)

ABSOLUTE = [
    row("abs-nonnegative", abs_(a), a, "definition", ge(a, zero)),
    row("abs-nonpositive", abs_(a), -a, "definition", le(a, zero)),
    row("abs-of-product", abs_(a * b), abs_(a) * abs_(b), "multiplicative"),
    row("abs-of-power", abs_(a**n), abs_(a) ** n, "multiplicative", integer(n)),
    row("even-power-of-abs", abs_(a) ** n, a**n, "abs(a)**2 = a**2", even(n)),
    row("square-times-abs", a**2 * abs_(a), abs_(a) ** 3, "a**2 = abs(a)**2; one base instead of two"),
    row("sign-positive", sign(a), one, "definition", gt(a, zero)),
    row("sign-negative", sign(a), number(-1), "definition", lt(a, zero)),
    row("sign-of-product", sign(a * b), sign(a) * sign(b), "multiplicative"),
    row("sign-of-odd-power", sign(a**n), sign(a), "an odd power keeps the sign", all_of(odd(n), gt(n, zero))),
    extends_to_zero(
        name="sign-of-odd-negative-power",
        pattern=sign(a**n),
        replacement=sign(a),
        condition=all_of(odd(n), lt(n, zero)),
        witness={"a": 0, "n": -1},
        why="1/a has the sign of a",
    ),
    row("odd-power-of-sign", sign(a) ** n, sign(a), "sign(a) is -1, 0 or 1", all_of(odd(n), gt(n, one))),
    row(
        "even-power-of-sign", sign(a) ** n, sign(a) ** 2, "sign(a) is -1, 0 or 1", all_of(even(n), gt(n, two))
    ),
    extends_to_zero(
        name="odd-negative-power-of-sign",
        pattern=sign(a) ** n,
        replacement=sign(a),
        condition=all_of(odd(n), lt(n, zero)),
        witness={"a": 0, "n": -1},
        why="-1 and 1 are their own reciprocals",
    ),
    extends_to_zero(
        name="even-negative-power-of-sign",
        pattern=sign(a) ** n,
        replacement=one,
        condition=all_of(even(n), lt(n, zero)),
        witness={"a": 0, "n": -2},
        why="sign(a)**2 is 1 except at a = 0",
    ),
    extends_to_zero(
        name="self-over-abs",
        pattern=a / abs_(a),
        replacement=sign(a),
        witness={"a": 0},
        why="definition of the sign",
    ),
    extends_to_zero(
        name="abs-over-self",
        pattern=abs_(a) / a,
        replacement=sign(a),
        witness={"a": 0},
        why="definition of the sign",
    ),
    row("abs-times-sign", abs_(a) * sign(a), a, "a = abs(a)*sign(a)"),
    row("self-times-sign", a * sign(a), abs_(a), "abs(a) = a*sign(a)"),
    row("sign-over-self", sign(a) / a, 1 / abs_(a), "a = abs(a)*sign(a)"),
]

ROUNDING = [
    *(
        row(f"{op.name}-of-integer", op(a), a, "an integer is its own rounding", integer(a))
        for op in (floor, ceil, round)
    ),
    row("maximum-known", maximum(a, b), a, "definition", ge(a, b)),
    row("minimum-known", minimum(a, b), a, "definition", le(a, b)),
    row("relu-nonnegative", relu(a), a, "definition", ge(a, zero)),
    row("relu-nonpositive", relu(a), zero, "definition", le(a, zero)),
]

LOGIC = [
    Rule(name="where-true", pattern=where(yes, a, b), replacement=a, why="definition", unread=(b,)),
    Rule(name="where-false", pattern=where(no, a, b), replacement=b, why="definition", unread=(a,)),
    row("where-same", where(c, a, a), a, "both branches agree"),
    row("where-not", where(not_(c), a, b), where(c, b, a), "definition"),
    Rule(
        name="where-same-condition-inside",
        pattern=where(c, where(c, a, b), e),
        replacement=where(c, a, e),
        why="the condition is known there",
        unread=(b,),
    ),
    Rule(
        name="where-same-condition-outside",
        pattern=where(c, a, where(c, b, e)),
        replacement=where(c, a, e),
        why="the condition is known there",
        unread=(b,),
    ),
    law(
        "guarded-divisor",
        where(ne(a, zero), b / a, zero) * a,
        where(ne(a, zero), b, zero),
        "both are 0 where the divisor is 0",
    ),
    law("guard-of-what-is-zero", where(ne(a, zero), n * a, zero), n * a, "both are 0 there"),
    law(
        "comparison-of-multiples",
        lt(a, two * a),
        gt(a, zero),
        "their difference decides; also for odd powers of a",
    ),
    row("equal-and-at-least", and_(eq(a, b), ge(a, b)), eq(a, b), "implied"),
    row("equal-and-at-most", and_(eq(a, b), le(a, b)), eq(a, b), "implied"),
    row("not-not", not_(not_(c)), c, "double negation"),
    row("and-true", and_(c, yes), c, "unit"),
    row("and-false", and_(c, no), no, "absorbing"),
    row("and-same", and_(c, c), c, "idempotent"),
    row("and-not", and_(c, not_(c)), no, "contradiction"),
    row("and-absorbs", and_(c, or_(c, d)), c, "absorption"),
    row("and-twice", and_(c, and_(c, d)), and_(c, d), "idempotent"),
    row("or-true", or_(c, yes), yes, "absorbing"),
    row("or-false", or_(c, no), c, "unit"),
    row("or-same", or_(c, c), c, "idempotent"),
    row("or-not", or_(c, not_(c)), yes, "excluded middle"),
    row("or-absorbs", or_(c, and_(c, d)), c, "absorption"),
    row("or-twice", or_(c, or_(c, d)), or_(c, d), "idempotent"),
    row("xor-same", xor(c, c), no, "definition"),
    row("xor-false", xor(c, no), c, "unit"),
    row("xor-true", xor(c, yes), not_(c), "definition"),
]
