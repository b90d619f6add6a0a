"""Roots of numbers beside roots of constants: sqrt(2*pi) stays together, wherever it came from."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node, constant, number
from symgrad.ir.printer import expression_text
from symgrad.ops.arith import add, div, mul, pow
from symgrad.ops.elementary import exp, sqrt
from symgrad.rules.pipeline import canonical
from tests.rules.graphs import p, point, x
from tests.rules.strict import Unclear, same, strictly


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
