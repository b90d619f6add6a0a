"""Three-valued facts: what follows from declarations, and that unknown stays unknown."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.facts.inference import Conditions
from tests.rewrite.rules.graphs import any_graph

HEADER = (
    "x : real\ny : real\np : positive\nk : real(-1, 1)\nn : int\nu ~ Uniform(0.9, 1.1)\nb ~ Bernoulli(1/2)\n"
)


def read(text: str) -> Node:
    result = parse_program(f"{HEADER}{text}\n").result
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("1 + x**2 > 0", "yes"),
        ("x**2 >= 0", "yes"),
        ("x**2 > 0", "unknown"),
        ("x > 0", "unknown"),
        ("p > 0", "yes"),
        ("-p < 0", "yes"),
        ("p*u > 0", "yes"),
        ("p*x > 0", "unknown"),
        ("u > 0.9", "unknown"),
        ("u >= 0.9", "yes"),
        ("u - 1/2 > 0", "yes"),
        ("u > 2", "no"),
        ("k < 1", "yes"),
        ("1 - k**2 > 0", "yes"),
        ("1 - k**2 >= 1", "unknown"),
        ("exp(x) > 0", "yes"),
        ("exp(p) > 1", "yes"),
        ("abs(x) >= 0", "yes"),
        ("abs(x) + 1 >= 1", "yes"),
        ("sqrt(x) >= 0", "yes"),
        ("tanh(p) > 0", "yes"),
        ("tanh(x) <= 1", "yes"),
        ("cos(x) + 2 > 0", "yes"),
        ("b*(1 - b) >= 0", "yes"),
        ("2*n + 1 != 0", "yes"),
        ("2*n == 2*n + 1", "no"),
        ("floor(n) == n", "yes"),
        ("floor(x) == x", "unknown"),
        ("x - floor(x) >= 0", "yes"),
        ("x - floor(x) < 1", "yes"),
        ("floor(x) + 1 - x > 0", "yes"),
        ("floor(x) + 1 - x <= 1", "yes"),
        ("x - floor(x) > 0", "unknown"),
        ("x - floor(2*x) >= 0", "unknown"),
        ("p - floor(x) >= 0", "unknown"),
        ("x + floor(x) >= 0", "unknown"),
        ("maximum(x, 1) > 0", "yes"),
        ("minimum(x, -1) < 0", "yes"),
        ("pi > 3 and pi < 22/7", "yes"),
        ("x > 0 or p > 0", "yes"),
        ("x > 0 and p < 0", "no"),
        ("not u > 0", "no"),
        ("where(x > 0, p, u) > 0", "yes"),
        ("x**(1/2) >= 0", "yes"),
        ("p**x > 0", "yes"),
        ("1/p > 0", "yes"),
        ("u**(1/2) > 0.94", "yes"),
        ("stop_gradient(p) > 0", "yes"),
        # The copies are other symbols: their difference is not zero.
        ("x - stop_gradient(x) == 0", "unknown"),
        ("stop_gradient(x) + 1 != x", "unknown"),
        ("9**9**9**9 > 0", "yes"),
        # Sums are compared term by term.
        ("x + 1 != x", "yes"),
        ("x + 1 == x", "no"),
        ("x + 1 < x", "no"),
        ("2*x - p < 2*x", "yes"),
        ("-(x + 3) >= 2 - x", "no"),
        ("x + y != x", "unknown"),
        ("x + k < x + 2", "yes"),
        ("x + k < x + 1", "yes"),
        ("x + k <= x - 1", "no"),
        ("x + u <= x + 0.9", "unknown"),
    ],
)
def test_holds(text: str, truth: str) -> None:
    assert Conditions().holds(read(text)) == truth


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("x**2 + sin(x)", "yes"),
        ("sqrt(x**2 + 1)", "yes"),
        ("sqrt(x)", "unknown"),
        ("1/x", "unknown"),
        ("1/p", "yes"),
        ("x**(-2)", "unknown"),
        ("log(u)", "yes"),
        ("log(k)", "unknown"),
        ("where(x > 0, sqrt(x), 0)", "unknown"),
        ("p**x", "yes"),
        ("x**y", "unknown"),
    ],
)
def test_defined(text: str, truth: str) -> None:
    assert Conditions().defined(read(text)) == truth


def test_integers_and_bounds() -> None:
    known = Conditions()
    assert known.integer(read("n*n + 2*n")) == "yes"
    assert known.integer(read("n/2")) == "unknown"
    assert known.integer(read("1/2 + 0*1")) == "no"
    assert known.bounded(read("sin(x)*u")) == "yes"
    assert known.bounded(read("x")) == "unknown"


ONE_VALUE = [
    ("0*x", 0),
    ("x*(1 - 1)", 0),
    ("0/p", 0),
    ("exp(0*x)", 1),
    ("tanh(0*x)", 0),
    ("-(2 + 1/2)", Fraction(-5, 2)),
    ("3/4*2", Fraction(3, 2)),
    ("x**0", 1),
    ("abs(0*x) + sign(p)", 1),
    ("sqrt(-abs(x))", 0),
    ("where(p > 0, 2, x)", 2),
    ("n - n", None),
    ("2*x", None),
    ("x/2", None),
    ("2/p", None),
    ("x*x", None),
    ("exp(x)", None),
    ("cosh(x)", None),
]


@pytest.mark.parametrize(("text", "value"), ONE_VALUE)
def test_the_one_value_that_a_node_can_take(text: str, value: Fraction | None) -> None:
    assert Conditions().point(read(text)) == value


@pytest.mark.parametrize("seed", range(40))
def test_the_one_value_is_the_one_that_intervals_know(seed: int) -> None:
    texts = [text for text, value in ONE_VALUE if value is not None]
    whole = any_graph(seed, 12) * read(texts[seed % len(texts)]) + any_graph(seed + 1000, 12)
    quick = Conditions()
    for node in topological([whole]):
        assert quick.point(node) == Conditions().facts(node).point
