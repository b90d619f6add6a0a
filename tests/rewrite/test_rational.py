"""Formulas as quotients of polynomials: their forms have the same value, and no formula is read for long."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import symgrad as sg
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.rewrite.rational.read import LAWS, PLAIN, Reading, rational_of
from tests.rewrite.rules.strict import Unclear, same, strictly

_POINTS = [(Fraction(3, 2), Fraction(-2, 3)), (Fraction(5), Fraction(7, 4)), (Fraction(1, 3), Fraction(-4))]


def _node(text: str) -> Node:
    return sg.parse(f"x : positive; y : real\n{text}").last.node


def _quotient(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(
            ["x", "y", "sqrt(x)", "exp(y)", "exp(-2*y)", "sigmoid(-y)", "sin(y)", "cos(y)", "2", "1/3"]
        )
    a, b = _quotient(rng, depth - 1), _quotient(rng, rng.randrange(depth))
    return rng.choice(
        [f"({a} + {b})", f"({a} - {b})", f"{a}*{b}", f"({a})**{rng.choice((2, -3))}", f"{a}/(3 + {b})"]
    )


@pytest.mark.parametrize("reading", [LAWS, PLAIN], ids=["laws", "plain"])
@pytest.mark.parametrize("seed", range(60))
def test_a_quotient_has_the_value_of_its_formula(seed: int, reading: Reading) -> None:
    node = _node(_quotient(random.Random(seed), 3))
    found = rational_of(node, reading=reading)
    if found is None:
        return
    for form in (found.node(), found.factored()):
        for x, y in _POINTS:
            at = {s: x if s.name == "x" else y for s in symbols_of([node, form])}
            try:
                left, right = strictly(node, at), strictly(form, at)
            except Unclear:
                continue  # all digits cancel
            assert left is None or same(left, right)


@pytest.mark.parametrize("start", ["3*x", "9*where(y > 0, 1, 0)", "x + 1", "3", "1/(7*x)"])
def test_repeated_squares_are_not_read(start: str) -> None:
    node = _node(start)
    for _ in range(60):
        node = node * node
    assert rational_of(node) is None


def test_functions_are_generators_of_their_own() -> None:
    node = _node("sqrt(x)**2 - 3*sqrt(x) + 2 + y*0*cos(y)")
    plain, by_laws = rational_of(node, reading=PLAIN), rational_of(node)
    assert plain is not None
    assert by_laws is not None
    x = symbols_of([node])[0]
    found = plain.coefficients(x)
    assert found is not None
    assert found[0] is _node("sqrt(x)")
    assert sorted(len(factor) for factor in found[1]) == [2, 2]
    assert by_laws.coefficients(x) is None  # x and sqrt(x)
