"""Rows that make a formula shorter, by sampling; and that no choice hides or shows what has no value."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.ir.notation.printer import expression_text
from symgrad.pretty.forms.function_names import ROWS, Spoken
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.stable import STABLE
from tests.rewrite.rules.strict import Unclear, same, strictly
from tests.rewrite.rules.test_table import points

OWN = [row for row in ROWS if row.name not in STABLE.by_name]


@pytest.mark.parametrize("rule", OWN, ids=lambda r: r.name)
def test_both_sides_agree(rule: Rule) -> None:
    seen = 0
    for at in points(rule):
        try:
            left, right = strictly(rule.pattern, at), strictly(rule.replacement, at)
        except Unclear:
            continue
        assert (left is None) == (right is None), (rule.name, at)
        if left is not None:
            seen += 1
            assert same(left, right), (rule.name, at, left, right)
    assert seen > 5


def spoken(formula: str) -> str:
    node = sg.parse(f"x, y, z : real\ne = {formula}")["e"].node
    return expression_text(Spoken(Conditions(), lambda n: len(expression_text(n))).of(node))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("x*where(z > 0, 1, 0)", "where(z > 0, x, 0)"),
        ("(1/y)*where(z > 0, 1, 0)", "1/y*where(z > 0, 1, 0)"),
        ("log(y)*where(z > 0, -1, 0)", "log(y)*where(z > 0, -1, 0)"),
        ("where(x > 0, y*relu(x), 0)", "y*relu(x)"),
        ("where(x > 0, (1/y)*relu(x), 0)", "where(x > 0, 1/y*relu(x), 0)"),
        ("sqrt(x + 1)*sqrt(1 - x)", "sqrt(1 - x**2)"),
    ],
)
def test_what_may_have_no_value_enters_no_choice_and_leaves_none(formula: str, expected: str) -> None:
    assert spoken(formula) == expected
