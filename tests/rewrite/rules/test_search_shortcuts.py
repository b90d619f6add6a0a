"""What the search for stable forms leaves out changes no choice: rows that cannot match, exact values, faults."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg
from symgrad.ir.graph import OPS, Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice import alternatives
from symgrad.rewrite.choice.alternatives import Alternatives
from symgrad.rewrite.choice.samples import Sample
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import fewest_faults, stable
from symgrad.rewrite.rules.stable import STABLE
from tests.rewrite.rules.graphs import any_graph

FORMULAS = [
    "log(1 + exp(x))*y/(z*y)*y",
    "exp(x) - exp(-x) + (1 - tanh(y)**2)",
    "(exp(x) - 1)/(exp(x) + 1) + sqrt(x*x + y**4) - sqrt(z)",
    "x**2 - y*y + 9 - z**2",
    "x*x - y*y",
    "(z + 1)**(1/2) - z**(1/2)",
    "1/(x + 1) - 1/x + y/(x**2 - z**2)",
    "log((z + 1)/z) - 3*log(z) + 3*log(z + 2)",
    "3/(1 + exp(-2*x))*(1 - 1/(1 + exp(-2*x)))",
    "cos(x + y) - cos(x) + (sin(x)*z)/(1 - cos(x))",
    "sqrt(z + 1) - sqrt(z) - (1 - cos(x))/sin(x)",
]


def formula(text: str) -> Node:
    return sg.parse(f"x : real\ny : real\nz : positive\nf = {text}")["f"].node


def formulas() -> list[sg.Expr]:
    return [sg.parse(f"x : real\ny : real\nz : positive\nf = {text}")["f"] for text in FORMULAS]


def graphs() -> list[Node]:
    slopes = [g.node for f in formulas() for g in sg.grad(f, f.inputs)]
    return [*(f.node for f in formulas()), *slopes, *(any_graph(seed, 14) for seed in range(20))]


def told(node: Node) -> tuple[list[Node], list[Any]]:
    found = stable([node])
    return list(found.nodes), [(s.rule, s.before, s.after, s.soundness, s.notes) for s in found.trace.steps]


def test_rows_that_are_not_tried_match_nothing(monkeypatch):
    nodes = topological(graphs())

    def steps() -> list[list[Any]]:
        found = Alternatives(STABLE, Conditions())
        return [[(s.rule, s.after, s.soundness, s.notes) for s in found.of(n)] for n in nodes]

    picked = steps()
    assert sum(map(len, picked)) > 50
    monkeypatch.setattr(alternatives, "_may_divide", lambda _: True)
    for shortcut in ("seen_as", "seen_in_a_sum"):
        monkeypatch.setattr(alternatives, shortcut, lambda _: frozenset([*OPS, "number"]))
    assert steps() == picked


@pytest.mark.parametrize("text", [*FORMULAS, "x*y", "sqrt(z)*exp(y)"])
def test_one_fault_is_found_where_there_are_any(text):
    outputs = [formula(text)]
    sample = Sample(outputs, Conditions())
    faults = sample.faults(outputs)
    assert sample.loses_digits(outputs) == (faults > 0) == fewest_faults([outputs])[1]


@pytest.mark.parametrize("text", FORMULAS)
def test_the_form_is_the_same_where_nothing_is_told_of_a_form_alone(text):
    f = sg.parse(f"x : real\ny : real\nz : positive\nf = {text}")["f"]
    slopes = [g.node for g in sg.grad(f, f.inputs)]
    others = list(stable(slopes).nodes)
    for forms in ([slopes], [slopes, slopes], [slopes, others], [others, slopes]):
        assert fewest_faults(forms, alone=False)[0] == fewest_faults(forms)[0]
