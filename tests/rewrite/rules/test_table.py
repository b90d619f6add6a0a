"""Every row of the table, by sampling: same value, the domain never shrinks, and what widens is shown to widen."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from symgrad.ir.graph import Node, number, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.types import BOOL, INT, POSITIVE, REAL, Declaration, Domain
from symgrad.rewrite.engine import applicable
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pattern import instantiate, is_literal, metavariables
from symgrad.rewrite.pipeline import canonical
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.canonical import CANONICAL, DROP_STOPS
from symgrad.rewrite.rules.inverse_laws import INVERSES
from symgrad.rewrite.rules.tensor_laws import TENSORS
from tests.conftest import compare_golden
from tests.rewrite.rules.strict import Unclear, same, strictly

ROWS = [r for r in DROP_STOPS if r not in (*TENSORS, *INVERSES)]  # those of arrays have tests of their own
_NUMBERS = [Fraction(k) for k in (0, 1, -1, 2, -2, 5)] + [
    Fraction(a, b) for a, b in ((1, 2), (-1, 2), (1, 3), (-13, 7))
]
_LITERALS = [Fraction(k) for k in (-3, -2, -1, 1, 2, 3, 4, 5)] + [
    Fraction(k, 6) for k in (-9, -3, 2, 3, 4, 9)
]


def points(rule: Rule) -> list[dict[Node, Any]]:
    draw = random.Random(rule.name)
    variables = metavariables(rule.pattern)

    def value(v: Node) -> Any:
        if v.dtype == "bool":
            return draw.random() < 0.5
        if is_literal(v):
            return draw.choice(_LITERALS)
        return draw.choice(_NUMBERS) if draw.random() < 0.7 else Fraction(draw.randrange(-4000, 4000), 997)

    at_random = [{v: value(v) for v in variables} for _ in range(250 if variables else 1)]
    return at_random + [dict(zip(variables, p, strict=True)) for p in product(*map(_corners, variables))]


def _corners(v: Node) -> tuple[Any, ...]:
    """Return values that decide where a side is defined, all of which meet."""
    return (False, True) if v.dtype == "bool" else (-1, 1, 2) if is_literal(v) else (-1, 0, 1)


@pytest.mark.parametrize("rule", ROWS, ids=lambda r: r.name)
def test_both_sides_agree(rule: Rule) -> None:
    seen = 0
    for at in points(rule):
        try:
            if rule.condition is not None and strictly(rule.condition, at) is not True:
                continue
            exact = rule.soundness == "exact" or (
                rule.exact_when is not None and strictly(rule.exact_when, at) is True
            )
            left, right = strictly(rule.pattern, at), strictly(rule.replacement, at)
        except Unclear:
            continue
        if left is not None:
            seen += 1
            assert same(left, right), f"{rule.name} at {at}: {left} is not {right}"
        else:
            assert right is None or not exact, (
                f"{rule.name} is not exact: at {at} only the right side has a value"
            )
    assert seen > (5 if metavariables(rule.pattern) else 0), (
        f"{rule.name}: hardly any point was in the domain"
    )


@pytest.mark.parametrize("rule", [r for r in ROWS if r.soundness != "exact"], ids=lambda r: r.name)
def test_a_witness_shows_where_the_sides_part(rule: Rule) -> None:
    assert rule.witness is not None
    at: dict[Node, Any] = {v: Fraction(rule.witness[v.name]) for v in metavariables(rule.pattern)}
    if rule.condition is not None and rule.soundness == "widens":
        assert strictly(rule.condition, at) is True
    assert strictly(rule.pattern, at) is None
    assert strictly(rule.replacement, at) is not None


# Which of two forms is written depends on the number of operations.
PLACED = {"distribute-a-number", "content-of-a-sum", "like-terms"}


def operands(v: Node, k: int) -> list[Node]:
    """Return what may stand for a variable of a row."""
    if v.dtype == "bool":
        return [symbol(Declaration(f"c{k}", BOOL))]
    if is_literal(v):
        return [number(q) for q in (2, 3, -2, -3, Fraction(1, 2), Fraction(3, 2), 4, -4, -1)]
    domains = (REAL, POSITIVE, INT, Domain("real", "real", low=-3, high=-1))
    return [symbol(Declaration(f"x{k}", d)) for d in domains]


@pytest.mark.parametrize("rule", [r for r in CANONICAL if r in ROWS], ids=lambda r: r.name)
def test_the_normal_form_applies_every_row(rule: Rule) -> None:
    """Wherever its condition is known to hold."""
    variables = metavariables(rule.pattern)
    known = Conditions()
    tried = 0
    for chosen in product(*(operands(v, k) for k, v in enumerate(variables))):
        at = dict(zip(variables, chosen, strict=True))
        if tried == 8 or not applicable(rule, at, known):
            continue
        tried += 1
        left, right = (canonical([instantiate(side, at)]) for side in (rule.pattern, rule.replacement))
        if rule.name not in PLACED:
            assert left.nodes == right.nodes, at
    assert tried


def test_the_page_shows_the_table(request: pytest.FixtureRequest) -> None:
    path = Path(__file__).parents[3] / "docs" / "rules" / "canonical.md"
    compare_golden(path, page(), update=bool(request.config.getoption("--update-golden")))


def page() -> str:
    """Return the documentation of the table."""
    from symgrad.rewrite.rules import canonical

    assert canonical.__doc__ is not None
    form = canonical.__doc__.split("Normal form\n")[1].split("\n\nEvery row")[0]
    lines = [
        "# Rules of the canonical phase",
        "",
        "`.canonical()`, printing and compiling apply these rules to a formula. Every rule keeps the value wherever",
        "the formula has one. An `exact` rule also keeps the domain. A rule that `widens` may have a result that is",
        "defined at more points; the domain notes of the result list them. `a`, `b`, `e` stand for any expression,",
        "`m`, `n` for numbers, `c`, `d` for conditions. A rule with a condition in the column *where* applies only if",
        "the declarations prove the condition. A rule that drops an operand also widens, if the operand may be",
        "undefined.",
        "",
        "## The normal form",
        "",
        "```text",
        *(line.removeprefix("    ") for line in form.splitlines()),
        "```",
        "",
        "## The rules",
        "",
        "The rows marked *law* are applied to whole sums and products at once.",
        "",
        "| rule | from | to | where | soundness | why |",
        "|---|---|---|---|---|---|",
    ]
    for rule in CANONICAL:
        where = code(rule.condition) if rule.condition is not None else ""
        soundness = (
            "exact" if rule.soundness == "exact" else f"widens: {(rule.note or '').replace('{a}', 'a')}"
        )
        law = " *(law)*" if rule.how == "collected" else ""
        cells = [rule.name + law, code(rule.pattern), code(rule.replacement), where, soundness, rule.why]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def code(node: Node) -> str:
    return f"`{expression_text(node)}`"
