"""Roots of numbers beside roots of constants: sqrt(2*pi) stays together, wherever it came from.

Roots of powers with a name as exponent, too: only where the base is positive is the exponent halved.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node, constant, number
from symgrad.ir.notation.printer import expression_text
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import exp, sqrt
from symgrad.ops.scalar.rounding import abs as abs_
from symgrad.rewrite.pipeline import canonical
from tests.rewrite.rules.graphs import n, p, point, x, y
from tests.rewrite.rules.strict import Unclear, same, strictly


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exp(-x**2/2)/sqrt(2*pi)", "exp(-x**2/2)/sqrt(2*pi)"),
        ("sqrt(2)*x/(2*sqrt(pi))", "x/sqrt(2*pi)"),
        ("sqrt(2)/(4*sqrt(pi))", "1/(2*sqrt(2*pi))"),
        ("sqrt(2)*sqrt(pi)*sqrt(3)", "sqrt(6*pi)"),
        ("sqrt(2)/sqrt(pi)", "sqrt(2)/sqrt(pi)"),
        ("sqrt(4*pi)", "2*sqrt(pi)"),
        ("sqrt(2*pi*x**2)", "sqrt(2*pi)*abs(x)"),
        ("sqrt(2*pi)**2", "2*pi"),
        ("sqrt(2*pi)/sqrt(2)", "sqrt(pi)"),
        ("sqrt(2*pi) + sqrt(2)*sqrt(pi)", "2*sqrt(2*pi)"),
        ("sqrt(-2*pi)", "sqrt(-2*pi)"),
        ("sqrt(2)*x/2", "sqrt(2)*x/2"),
    ],
)
def test_roots_are_joined(text: str, expected: str) -> None:
    result = parse_program(f"x : real\n{text}\n").result
    assert result is not None
    assert expression_text(canonical([result]).nodes[0]) == expected


_PI, _TWO = constant("pi"), number(2)
_PARTS = [
    *(sqrt(_TWO), sqrt(number(3)), sqrt(_PI), sqrt(mul(_TWO, _PI)), sqrt(mul(_PI, number(6))), _PI),
    *(_TWO, number(-1), number(6), x, sqrt(p), exp(x), constant("Catalan"), sqrt(constant("Catalan"))),
]


def with_roots(seed: int) -> Node:
    """Return a random graph of products, quotients, powers and sums of roots."""
    draw = random.Random(seed)
    pool = list(_PARTS)
    for _ in range(8):
        a, b = (draw.choice(pool[-4:] if draw.random() < 0.4 else pool) for _ in range(2))
        power = number(
            draw.choice([Fraction(1, 2), Fraction(-1, 2), Fraction(3, 2), Fraction(2), Fraction(-1)])
        )
        pool.append(
            draw.choice([mul(a, b), mul(a, b), div(a, b), div(a, b), pow(a, power), sqrt(a), add(a, b)])
        )
    return pool[-1]


@given(st.integers(0, 10**6))
def test_value_and_domain_are_kept(seed: int) -> None:
    node = with_roots(seed)
    found = canonical([node])
    assert found.trace.stopped == "fixpoint"
    assert canonical(found.nodes).nodes == found.nodes
    draw = random.Random(seed)
    for _ in range(4):
        at = point(draw)
        try:
            left, right = strictly(node, at), strictly(found.nodes[0], at)
        except Unclear:
            continue
        if left is not None:
            assert same(left, right), f"{expression_text(node)} at {at}"
        elif right is not None:
            assert found.trace.widening, f"{expression_text(node)} grew silently at {at}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqrt(p**y)", "p**(y/2)"),
        ("sqrt(4*p**y)", "2*p**(y/2)"),
        ("sqrt(2**x)", "2**(x/2)"),
        ("sqrt((x**2 + 1)**y)", "(x**2 + 1)**(y/2)"),
        ("sqrt(p**y*x)", "sqrt(x)*p**(y/2)"),
        ("sqrt(p**y*u**x)", "p**(y/2)*u**(x/2)"),
        ("sqrt(exp(x)*y)", "sqrt(y)*exp(x/2)"),
        ("(p**y)**(-2/3)", "1/p**(2*y/3)"),
        ("sqrt(x**n)", "sqrt(x**n)"),
        ("sqrt(x**(2*n))", "sqrt(x**(2*n))"),
        ("(x**n)**(1/3)", "(x**n)**(1/3)"),
        ("(x**n)**(-1/2)", "1/sqrt(x**n)"),
        ("sqrt(abs(x)**y)", "sqrt(abs(x)**y)"),
        ("sqrt(x**n*y)", "sqrt(y*x**n)"),
        ("sqrt(x**n*p)", "sqrt(p)*sqrt(x**n)"),
        ("sqrt(exp(y)*x**n)", "sqrt(x**n)*exp(y/2)"),
        ("sqrt(p**n*x**n)", "sqrt(x**n)*p**(n/2)"),
    ],
)
def test_roots_of_powers(text: str, expected: str) -> None:
    declared = {"x": "real", "y": "real", "p": "positive", "u": "positive", "n": "int"}
    lines = "".join(f"{name} : {domain}\n" for name, domain in declared.items())
    result = parse_program(f"{lines}{text}\n").result
    assert result is not None
    assert expression_text(canonical([result]).nodes[0]) == expected


def with_powers(seed: int) -> Node:
    """Return a random root of a product of powers, most of whose exponents are not numbers."""
    draw = random.Random(seed)
    bases = [x, y, p, abs_(x), neg(p), add(pow(y, _TWO), number(1)), _TWO, mul(x, y), exp(x)]
    exponents = [n, n, mul(_TWO, n), neg(n), y, p, _TWO, number(-1), add(n, n), sqrt(p)]
    node = number(draw.choice([1, 1, 4, 2, -1]))
    for _ in range(draw.randrange(1, 4)):
        power = pow(draw.choice(bases), draw.choice(exponents))
        node = draw.choice([mul, mul, div])(node, power)
    root = pow(node, number(draw.choice([Fraction(k, 6) for k in (3, 3, -3, 2, 4, -4, 9)])))
    return draw.choice([root, mul(root, draw.choice(bases)), pow(root, _TWO), div(x, root)])


@given(st.integers(0, 10**6))
def test_roots_of_powers_keep_value_and_domain(seed: int) -> None:
    node = with_powers(seed)
    found = canonical([node])
    draw = random.Random(seed)
    for _ in range(12):
        at = point(draw)
        try:
            left, right = strictly(node, at), strictly(found.nodes[0], at)
        except Unclear:
            continue
        shown = f"{expression_text(node)} as {expression_text(found.nodes[0])} at {at}"
        if left is not None:
            assert same(left, right), shown
        elif right is not None:
            assert found.trace.widening, shown
