"""Every rule and law that the pages list fires, and the trace names it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node, number, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.elementary import exp, log
from symgrad.ops.scalar.logic import gt
from symgrad.ops.scalar.trig import sin
from symgrad.rewrite.engine import applicable
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pattern import instantiate, is_literal, metavariables
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.canonical import CANONICAL
from symgrad.rewrite.rules.stable import STABLE
from symgrad.rewrite.trace import Trace
from tests.rewrite.rules.test_table import operands

_PAGES = Path(__file__).parents[3] / "docs" / "rules"

# The laws of these pages that stand in sums only where that makes them shorter, and so not of their sides alone.
_IN_A_SUM = {
    "sum-of-a-sum": "v : real[3]\ny = sum(v - mean(v) + 1)",
}

# Where digits are lost, if not everywhere: domains of the variables of a row, or a whole program.
_LOSING = {
    "log-of-sum-with-exponential": "a : real; b : positive",
    "power-near-one": "a : positive; e : real",
    "difference-of-exponentials": "a : real; b : positive",
    "sigmoid": "a : real(-745, -710)",
    "sigmoid-of-minus": "a : real(710, 745)",
    "sigmoid-slope": "a : real(40, oo)",
    "exp-over-square": "a : real(800, 900)",
    "exp-over-square-of-expm1": "a : real(800, 900)",
    "log-of-quotient": "a, b : real(-3, -1)",
    "difference-of-logarithms": "a, b : real(1e12, 1e13)",
    "difference-of-entropies": "a, b : real(1e12, 1e13)",
    "sine-of-a-step": "a, b : real(-3, -1)",
    "cosine-of-a-step": "a, b : real(-3, -1)",
    "difference-of-sines": "x, h : real; y = sin(x + h) - sin(x - h)",
    "difference-of-cosines": "x, h : real; y = cos(x + h) - cos(x - h)",
    "tangent-of-a-step": "x, h : real; y = tan(x + h) - tan(x)",
    "difference-of-tangents": "a, b : real(-3, -1)",
    "difference-of-roots": "a : real; b : positive",
    "root-less-positive": "a, b : real(1, 1.000001)",
    "hypot-less-positive": "a : positive; b : real",
    "difference-of-cube-roots": "a : real; b : positive",
    "difference-of-third-powers": "a : real; b : positive",
    "difference-of-powers": "a, b : positive; e : real(0, 1e-25)",
    "common-denominator": "x : real; y = 1/(x + 1) - 1/x",
    "quotient-of-quotients": "a, b, e : real; y = a*b/e**2",
}


def listed(page: str) -> list[str]:
    """The names in the table of a page."""
    table = (_PAGES / page).read_text().split("\n| rule |")[1].split("\n\n")[0]
    return [line.split("|")[1].replace("*(law)*", "").strip() for line in table.splitlines()[2:]]


def named(trace: Trace) -> set[str]:
    return {name for step in trace.steps for name in (step.rule, *step.laws)}


def _operands(v: Node, k: int) -> list[Node]:
    """Return what may stand for a variable, defined everywhere or not: what can be but one number is that at once."""
    if is_literal(v):
        return operands(v, k)
    x = symbol(Declaration(f"x{k}"))
    partial = [gt(log(x), number(0))] if v.dtype == "bool" else [log(x), exp(1 / x), sin(1 / x) - 2]
    return operands(v, k) + partial


def _programs(rule: Rule) -> Iterator[Node]:
    """The left side over variables of many kinds, one after the other; of arrays, as the page has it."""
    variables = metavariables(rule.pattern)
    if any(v.shape for v in variables) or not rule.pattern.op.pointwise:
        yield rule.pattern
        return
    known = Conditions()
    for chosen in product(*(_operands(v, k) for k, v in enumerate(variables))):
        at = dict(zip(variables, chosen, strict=True))
        if applicable(rule, at, known):
            yield instantiate(rule.pattern, at)


@pytest.mark.parametrize("name", listed("canonical.md"))
def test_the_normal_form_names_what_it_applied(name: str) -> None:
    if name in _IN_A_SUM:
        assert name in named(canonical([parse_program(_IN_A_SUM[name])["y"]]).trace)
    else:
        assert any(name in named(canonical([p]).trace) for p in _programs(CANONICAL.by_name[name]))


@pytest.mark.parametrize("name", listed("stable.md"))
def test_the_stable_form_names_what_it_applied(name: str) -> None:
    text = _LOSING.get(name, "a, b, e : real")
    if "=" not in text:
        text += f"; y = {expression_text(STABLE.by_name[name].pattern)}"
    assert name in named(stable([parse_program(text)["y"]]).trace)
