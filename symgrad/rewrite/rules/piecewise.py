"""Rows of the canonical phase for functions in pieces: signs and roots, rounding, choices and truth values."""

from __future__ import annotations

from symgrad.ir.graph import number
from symgrad.ops.scalar.arith import div, mul, neg, pow
from symgrad.ops.scalar.logic import all_of, and_, eq, ge, gt, le, lt, ne, not_, or_, where, xor
from symgrad.ops.scalar.rounding import abs as abs_
from symgrad.ops.scalar.rounding import ceil, floor, maximum, minimum, relu, round, sign
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.variables import (
    AT_ZERO,
    a,
    b,
    c,
    d,
    e,
    even,
    integer,
    n,
    no,
    odd,
    one,
    two,
    yes,
    zero,
)

__all__ = ["ABSOLUTE", "LOGIC", "ROUNDING"]

ABSOLUTE = [
    Rule(name="abs-nonnegative", pattern=abs_(a), replacement=a, condition=ge(a, zero), why="definition"),
    Rule(
        name="abs-nonpositive", pattern=abs_(a), replacement=neg(a), condition=le(a, zero), why="definition"
    ),
    Rule(
        name="abs-of-product",
        pattern=abs_(mul(a, b)),
        replacement=mul(abs_(a), abs_(b)),
        why="multiplicative",
    ),
    Rule(
        name="abs-of-power",
        pattern=abs_(pow(a, n)),
        replacement=pow(abs_(a), n),
        condition=integer(n),
        why="multiplicative",
    ),
    Rule(
        name="even-power-of-abs",
        pattern=pow(abs_(a), n),
        replacement=pow(a, n),
        condition=even(n),
        why="abs(a)**2 = a**2",
    ),
    Rule(
        name="square-times-abs",
        pattern=mul(pow(a, two), abs_(a)),
        replacement=pow(abs_(a), number(3)),
        why="a**2 = abs(a)**2; one base instead of two",
    ),
    Rule(name="sign-positive", pattern=sign(a), replacement=one, condition=gt(a, zero), why="definition"),
    Rule(
        name="sign-negative", pattern=sign(a), replacement=number(-1), condition=lt(a, zero), why="definition"
    ),
    Rule(
        name="sign-of-product",
        pattern=sign(mul(a, b)),
        replacement=mul(sign(a), sign(b)),
        why="multiplicative",
    ),
    Rule(
        name="sign-of-odd-power",
        pattern=sign(pow(a, n)),
        replacement=sign(a),
        condition=all_of(odd(n), gt(n, zero)),
        why="an odd power keeps the sign",
    ),
    Rule(
        name="sign-of-odd-negative-power",
        pattern=sign(pow(a, n)),
        replacement=sign(a),
        condition=all_of(odd(n), lt(n, zero)),
        soundness="widens",
        exact_when=ne(a, zero),
        note=AT_ZERO,
        witness={"a": 0, "n": -1},
        why="1/a has the sign of a",
    ),
    Rule(
        name="odd-power-of-sign",
        pattern=pow(sign(a), n),
        replacement=sign(a),
        condition=all_of(odd(n), gt(n, one)),
        why="sign(a) is -1, 0 or 1",
    ),
    Rule(
        name="even-power-of-sign",
        pattern=pow(sign(a), n),
        replacement=pow(sign(a), two),
        condition=all_of(even(n), gt(n, two)),
        why="sign(a) is -1, 0 or 1",
    ),
    Rule(
        name="odd-negative-power-of-sign",
        pattern=pow(sign(a), n),
        replacement=sign(a),
        condition=all_of(odd(n), lt(n, zero)),
        soundness="widens",
        exact_when=ne(a, zero),
        note=AT_ZERO,
        witness={"a": 0, "n": -1},
        why="-1 and 1 are their own reciprocals",
    ),
    Rule(
        name="even-negative-power-of-sign",
        pattern=pow(sign(a), n),
        replacement=one,
        condition=all_of(even(n), lt(n, zero)),
        soundness="widens",
        exact_when=ne(a, zero),
        note=AT_ZERO,
        witness={"a": 0, "n": -2},
        why="sign(a)**2 is 1 but at a = 0",
    ),
    Rule(
        name="self-over-abs",
        pattern=div(a, abs_(a)),
        replacement=sign(a),
        soundness="widens",
        exact_when=ne(a, zero),
        note=AT_ZERO,
        witness={"a": 0},
        why="definition of the sign",
    ),
    Rule(
        name="abs-over-self",
        pattern=div(abs_(a), a),
        replacement=sign(a),
        soundness="widens",
        exact_when=ne(a, zero),
        note=AT_ZERO,
        witness={"a": 0},
        why="definition of the sign",
    ),
    Rule(name="abs-times-sign", pattern=mul(abs_(a), sign(a)), replacement=a, why="a = abs(a)*sign(a)"),
    Rule(name="self-times-sign", pattern=mul(a, sign(a)), replacement=abs_(a), why="abs(a) = a*sign(a)"),
    Rule(
        name="sign-over-self",
        pattern=div(sign(a), a),
        replacement=div(one, abs_(a)),
        why="a = abs(a)*sign(a)",
    ),
]

ROUNDING = [
    *(
        Rule(
            name=f"{op.name}-of-integer",
            pattern=op(a),
            replacement=a,
            condition=integer(a),
            why="an integer is its own rounding",
        )
        for op in (floor, ceil, round)
    ),
    Rule(name="maximum-known", pattern=maximum(a, b), replacement=a, condition=ge(a, b), why="definition"),
    Rule(name="minimum-known", pattern=minimum(a, b), replacement=a, condition=le(a, b), why="definition"),
    Rule(name="relu-nonnegative", pattern=relu(a), replacement=a, condition=ge(a, zero), why="definition"),
    Rule(name="relu-nonpositive", pattern=relu(a), replacement=zero, condition=le(a, zero), why="definition"),
]

LOGIC = [
    Rule(name="where-true", pattern=where(yes, a, b), replacement=a, why="definition", unread=(b,)),
    Rule(name="where-false", pattern=where(no, a, b), replacement=b, why="definition", unread=(a,)),
    Rule(name="where-same", pattern=where(c, a, a), replacement=a, why="both branches agree"),
    Rule(name="where-not", pattern=where(not_(c), a, b), replacement=where(c, b, a), why="definition"),
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
    Rule(
        name="guarded-divisor",
        pattern=mul(where(ne(a, zero), div(b, a), zero), a),
        replacement=where(ne(a, zero), b, zero),
        why="both are 0 where the divisor is",
        how="collected",
    ),
    Rule(
        name="guard-of-what-is-zero",
        pattern=where(ne(a, zero), mul(n, a), zero),
        replacement=mul(n, a),
        why="both are 0 there",
        how="collected",
    ),
    Rule(name="equal-and-at-least", pattern=and_(eq(a, b), ge(a, b)), replacement=eq(a, b), why="implied"),
    Rule(name="equal-and-at-most", pattern=and_(eq(a, b), le(a, b)), replacement=eq(a, b), why="implied"),
    Rule(name="not-not", pattern=not_(not_(c)), replacement=c, why="double negation"),
    Rule(name="and-true", pattern=and_(c, yes), replacement=c, why="unit"),
    Rule(name="and-false", pattern=and_(c, no), replacement=no, why="absorbing"),
    Rule(name="and-same", pattern=and_(c, c), replacement=c, why="idempotent"),
    Rule(name="and-not", pattern=and_(c, not_(c)), replacement=no, why="contradiction"),
    Rule(name="and-absorbs", pattern=and_(c, or_(c, d)), replacement=c, why="absorption"),
    Rule(name="and-twice", pattern=and_(c, and_(c, d)), replacement=and_(c, d), why="idempotent"),
    Rule(name="or-true", pattern=or_(c, yes), replacement=yes, why="absorbing"),
    Rule(name="or-false", pattern=or_(c, no), replacement=c, why="unit"),
    Rule(name="or-same", pattern=or_(c, c), replacement=c, why="idempotent"),
    Rule(name="or-not", pattern=or_(c, not_(c)), replacement=yes, why="excluded middle"),
    Rule(name="or-absorbs", pattern=or_(c, and_(c, d)), replacement=c, why="absorption"),
    Rule(name="or-twice", pattern=or_(c, or_(c, d)), replacement=or_(c, d), why="idempotent"),
    Rule(name="xor-same", pattern=xor(c, c), replacement=no, why="definition"),
    Rule(name="xor-false", pattern=xor(c, no), replacement=c, why="unit"),
    Rule(name="xor-true", pattern=xor(c, yes), replacement=not_(c), why="definition"),
]
