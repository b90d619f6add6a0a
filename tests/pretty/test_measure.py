"""The measures of formulas are those of their texts, and of many forms only those are made that can be wanted."""

from __future__ import annotations

import re
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration
from symgrad.pretty.forms.cost import COST, Measure
from symgrad.pretty.forms.quotients import forms_of
from symgrad.rewrite.rational.read import rational_of
from tests.graphs import SMOOTH, inputs, random_graph
from tests.graphs_arrays import random_arrays

TOKEN = re.compile(r"\w+\(|[\w.]+|\*\*|[^\s\w]")
ARITHMETIC = ("add", "add", "mul", "mul", "div", "neg", "pow2", "pow3", "sqrt", "sin")
_MOST = 4_000


def cost_of(text: str) -> Fraction:
    """Return what a text costs, read from left to right."""
    total = Fraction(0)
    sums: list[int | None] = [0]  # signs so far: outside, then in each pair of parentheses; None in a call
    for token in TOKEN.findall(text):
        if token == ")":
            sums.pop()
        elif token == "(":
            total += Fraction(1, 2)
            sums.append(0)
        elif token[0].isalpha():
            total += 1 + Fraction(len(token), 16)
            if token.endswith("("):
                total += Fraction("1.5")
                sums.append(None)
        elif token[0].isdigit():
            total += Fraction("0.7") + Fraction(len(token), 16)
        else:
            total += 1 + Fraction("0.8") * (token == "/")
            if token in "+-" and (seen := sums[-1]) is not None:
                sums[-1] = seen + 1
                if seen:
                    total += Fraction("0.75") if len(sums) > 1 else Fraction("0.3")
    return total


def check(nodes: list[Node]) -> None:
    measure = Measure()
    for node in nodes:
        text = expression_text(node)
        if len(text) > _MOST:
            continue
        assert measure.length(node) == len(text), text
        extra = Fraction("0.52") * (node.op.name == "add")
        assert Fraction(measure.cost(node), COST) == cost_of(text) + extra, text


@given(st.integers(0, 10**9))
def test_scalars_are_measured_as_their_text(seed: int) -> None:
    literal = symbol(Declaration("6.62607015e-34"))
    check(topological([random_graph(seed, [*inputs(), literal], ops=(*SMOOTH, *ARITHMETIC))]))


@given(st.integers(0, 10**9))
def test_arrays_are_measured_as_their_text(seed: int) -> None:
    check(topological(random_arrays(seed)))


@given(st.integers(0, 10**9), st.integers(1, 40))
def test_forms_that_are_not_made_cost_more(seed: int, names: int) -> None:
    quotient = rational_of(random_graph(seed, inputs(), size=6, ops=ARITHMETIC))
    if quotient is None:
        return
    cost, most = Measure().cost, names * COST
    cheap = [form for form in forms_of(quotient) if cost(form) <= most]
    assert [form for form in forms_of(quotient, cost, most) if cost(form) <= most] == cheap
