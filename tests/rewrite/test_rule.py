"""The mechanism: what a rule may not be, how patterns match, how the engine stops."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad.ops  # noqa: F401
from symgrad.errors import UsageError
from symgrad.ir.graph import OPS, Node, number, symbol, truth
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import add, mul
from symgrad.ops.scalar.logic import and_, gt
from symgrad.rewrite.engine import Round, rewrite
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pattern import instantiate, literal, match, meta, proposition
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.trace import Step

sin, cos, exp = OPS["sin"], OPS["cos"], OPS["exp"]
a, b, n, c = meta("a"), meta("b"), literal("n"), proposition("c")
x, y = symbol(Declaration("x")), symbol(Declaration("y"))


class Plain:
    """A normaliser that does nothing: rules alone."""

    def __init__(self, current: Round) -> None:
        self.known = current.known

    def inner(self, child: Node, parent: Node) -> bool:
        return False

    def step(self, node: Node) -> Step | None:
        return None

    def sees(self, op_name: str) -> bool:
        return False

    def arguments(self, op_name: str, node: Node) -> tuple[Node, ...] | None:
        return None


PLAIN = Plain(Round(RuleSet([]), Conditions(), 0))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"pattern": a, "replacement": a}, "bare variable"),
        ({"pattern": sin(a), "replacement": b}, "'b' is not bound"),
        ({"pattern": sin(a), "replacement": a, "condition": gt(b, a)}, "'b' is not bound"),
        ({"pattern": sin(a), "replacement": a, "condition": a}, "truth value"),
        ({"pattern": gt(a, b), "replacement": a}, "kind"),
        ({"pattern": sin(a), "replacement": a, "soundness": "widens"}, "witness"),
        (
            {"pattern": sin(a), "replacement": a, "soundness": "widens", "note": "{a}", "witness": {}},
            "each variable",
        ),
        ({"pattern": sin(a), "replacement": a, "witness": {"a": 0}}, "exact"),
        ({"pattern": sin(a), "replacement": a, "name": "Not Kebab"}, "kebab-case"),
        ({"pattern": sin(a), "replacement": a, "why": ""}, "reason"),
    ],
)
def test_a_rule_that_is_none_is_refused(row: dict[str, Any], problem: str) -> None:
    fields: dict[str, Any] = {"name": "some-rule", "why": "because", **row}
    with pytest.raises(UsageError, match=problem):
        Rule(**fields)


def test_two_rules_of_one_name_are_refused() -> None:
    rule = Rule(name="twice", pattern=sin(a), replacement=cos(a), why="a test")
    with pytest.raises(UsageError, match="two rules are called twice"):
        RuleSet([rule, rule])


def test_matching() -> None:
    def ways(pattern: Node, node: Node) -> list[Node]:
        return [instantiate(pattern, found) for found in match(pattern, node, {}, PLAIN)]

    assert ways(sin(a), sin(x)) == [sin(x)]
    assert not ways(sin(a), cos(x))
    assert not ways(add(a, a), add(x, y))
    assert ways(add(a, a), add(x, x)) == [add(x, x)]
    assert len(ways(mul(a, b), mul(x, y))) == 2  # commutative
    assert ways(mul(n, a), mul(x, number(2))) == [mul(number(2), x)]
    assert not ways(mul(n, a), mul(x, y))  # n is a number
    assert ways(and_(c, truth(True)), and_(truth(True), gt(x, y))) == [and_(gt(x, y), truth(True))]


def test_the_engine_stops_and_says_why() -> None:
    shrinks = RuleSet([Rule(name="sin-is-gone", pattern=sin(a), replacement=a, why="a test")])
    nodes, trace = rewrite([sin(sin(sin(x)))], shrinks, Plain)
    assert nodes == [x]
    assert (trace.stopped, [s.rule for s in trace.steps]) == ("fixpoint", ["sin-is-gone"])

    swaps = RuleSet(
        [
            Rule(name="to-cos", pattern=sin(a), replacement=cos(a), why="a test"),
            Rule(name="to-sin", pattern=cos(a), replacement=sin(a), why="a test"),
        ]
    )
    assert rewrite([sin(x)], swaps, Plain)[1].stopped == "budget"

    grows = RuleSet([Rule(name="grows", pattern=sin(a), replacement=exp(sin(exp(a))), why="a test")])
    assert rewrite([sin(x)], grows, Plain, steps_per_node=1)[1].stopped == "budget"


def test_a_dropped_operand_widens_unless_it_is_defined() -> None:
    drops = RuleSet([Rule(name="drops", pattern=mul(number(0), a), replacement=number(0), why="a test")])
    _, trace = rewrite([mul(number(0), OPS["log"](x))], drops, Plain)
    assert [note.text for note in trace.widening[0].notes] == ["also defined where {} is not"]
    _, trace = rewrite([mul(number(0), sin(x))], drops, Plain)
    assert not trace.widening


def test_what_is_shared_is_rewritten_once() -> None:
    shrinks = RuleSet([Rule(name="sin-is-gone", pattern=sin(a), replacement=a, why="a test")])
    shared = sin(x)
    nodes, trace = rewrite([add(shared, exp(shared)), cos(shared)], shrinks, Plain)
    assert nodes == [add(x, exp(x)), cos(x)]
    assert len(trace.steps) == 1
