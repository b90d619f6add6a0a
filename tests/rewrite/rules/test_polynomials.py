"""Sums as polynomials in their parts: what is shortened has the same value, and one denominator too."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import symgrad as sg
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.rational.cancel import common_denominator, shortened
from tests.rewrite.rules.strict import same, strictly

_POINTS = [(Fraction(3, 2), Fraction(-2, 3)), (Fraction(5), Fraction(7, 4)), (Fraction(1, 3), Fraction(-4))]


def _polynomial(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "y", "sqrt(x)", "exp(y)", "2", "1/3", "sqrt(x + 1)"])
    a, b = _polynomial(rng, depth - 1), _polynomial(rng, rng.randrange(depth))
    return rng.choice(
        [f"({a} + {b})", f"({a} - {b})", f"{a}*{b}", f"({a})**{rng.choice((2, 3))}", f"({a})/3"]
    )


def _node(text: str) -> Node:
    return sg.parse(f"x : positive; y : real\n{text}").last.node


def _agree(before: Node, after: Node) -> None:
    for x, y in _POINTS:
        at = {s: x if s.name == "x" else y for s in symbols_of([before, after])}
        left = strictly(before, at)
        assert left is not None
        assert same(left, strictly(after, at))


@pytest.mark.parametrize("seed", range(200))
def test_a_sum_is_shortened_to_its_value(seed: int) -> None:
    rng = random.Random(seed)
    a, b = _polynomial(rng, 2), _polynomial(rng, rng.randrange(3))
    node = _node(f"({a} + {b}) - {rng.choice((a, b, f'({b} - {a})'))} + {b}")
    _agree(node, shortened(node))


@pytest.mark.parametrize("number", ["2", "3", "1/2", "3/2", "-3/2", "5/4", "-1/4", "7/3", "22/7", "10**6/2"])
@pytest.mark.parametrize("product", ["x", "x*y", "x**2*y", "sqrt(x)*exp(y)"])
def test_numbers_before_products(number: str, product: str) -> None:
    node = _node(f"{number}*{product} + (x + 7) - x")
    found = shortened(node)
    assert found is not node
    _agree(node, found)


def test_powers_are_kept() -> None:
    node = _node("x**3*y + y**2 - x*y*x**2 + sqrt(x)**3*y**5")
    assert shortened(node) is not node
    _agree(node, shortened(node))


@pytest.mark.parametrize("seed", range(200))
def test_a_sum_of_quotients_is_one_quotient(seed: int) -> None:
    rng = random.Random(seed)
    below = [_node(f"exp({_polynomial(rng, 1)}) + {k}") for k in (0, 1)]
    above = _node(_polynomial(rng, 1))
    parts = [above / below[0], -above / below[1]]
    found = common_denominator(parts, Conditions())
    if found is not None:
        _agree(parts[0] + parts[1], found)


@pytest.mark.parametrize(
    ("parts", "made"),
    [
        (("sqrt(y)*sqrt(y)/(y + 1)", "-y/(y + 2)"), False),
        (("sqrt(x)*sqrt(x)/(x + 1)", "-x/(x + 2)"), True),
        (("(log(y) - log(y) + 1)/x", "-1/(x + 1)"), False),
        (("(log(x) - log(x) + 1)/x", "-1/(x + 1)"), True),
        (("(1/y - 1/y + 1)/x", "-1/(x + 1)"), False),
        (("(1/x - 1/x + 1)/x", "-1/(x + 1)"), True),
    ],
)
def test_what_has_no_value_somewhere_does_not_vanish(parts: tuple[str, ...], made: bool) -> None:
    assert (common_denominator(map(_node, parts), Conditions()) is not None) == made
