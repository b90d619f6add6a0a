"""Placement on nodes: what is found is right, never larger than what is known to do, and refusals are true."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symgrad.analysis.explain.naming import naming_of
from symgrad.analysis.stop_gradient.placement import PlacementOutcome, place
from symgrad.analysis.stop_gradient.placements.paths import PathGraph
from symgrad.analysis.stop_gradient.placements.rewriting import stopped
from symgrad.autodiff.vjp import pull_back
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node, as_node
from symgrad.ir.listing import Listing
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.random.laws import mean as mean_of
from tests.counting import counting


def placed(
    text: str, of: str = "y", wrt: tuple[str, ...] = ("x",), noise: str = "u", limit: float = 10
) -> PlacementOutcome:
    listing = parse_program(text)
    y = listing[of]
    return place(y, [listing[w] for w in wrt], fixed_in(listing, noise), naming_of(y, listing), limit)


def fixed_in(listing: Listing, noise: str) -> dict[Node, Node]:
    found: dict[Node, Node] = {}
    for name in noise.split():
        mean = mean_of(listing[name])
        assert mean is not None
        found[listing[name]] = mean
    return found


def slopes(y: Node, x: Node, at: dict[Node, float]) -> float:
    return float(evaluate(pull_back([y], [as_node(1)], [x]).gradients, at)[0])


def gap(y: Node, calm: Node, x: Node, inputs: list[Node], draws: int = 12) -> float:
    """How far two gradients are apart at most, over points and draws that the search does not use."""
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(draws):
        at = {s: float(rng.uniform(0.3, 1.7)) for s in inputs}
        a, b = slopes(y, x, at), slopes(calm, x, at)
        worst = max(worst, abs(a - b) / (1 + abs(b)))
    return worst


HEAD = "x : real\nu ~ Normal(0, 1)\nv ~ Normal(0, 1)\nw ~ Normal(0, 1)\n"
LINE = st.sampled_from(
    ["sin({0})", "tanh({0})", "{0}*{1}", "{0} + {1}", "cos({1}) + {0}", "{0}/(2 + {1}**2)"]
)


@st.composite
def clean_lines(draw: st.DrawFn, most: int = 7) -> list[str]:
    """Lines h0, h1, ... over x, without noise."""
    lines = ["h0 = x"]
    for k in range(1, draw(st.integers(2, most)) + 1):
        a, b = draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))
        lines.append(f"h{k} = " + draw(LINE).format(f"h{a}", f"h{b}"))
    return lines


@settings(max_examples=25, deadline=None)
@given(clean_lines(), st.integers(1, 3), st.data())
def test_a_planted_set_is_found_or_a_smaller_one(
    lines: list[str], branches: int, data: st.DataObject
) -> None:
    last = len(lines) - 1
    terms = [f"h{last}"]
    terms += [f"{u}*sin(h{data.draw(st.integers(0, last))})" for u in "uvw"[:branches]]
    text = HEAD + "\n".join([*lines, "y = " + " + ".join(terms)])
    found = placed(text, noise="u v w"[: 2 * branches - 1])
    assert found.possible is True
    assert len(found.cut) <= branches
    assert found.minimal == "proved"
    listing = parse_program(text)
    calm = substitute([listing["y"]], fixed_in(listing, "u v w"))[0]
    y = found.nodes.get(listing["y"], listing["y"])
    assert gap(y, calm, listing["x"], list(listing.symbols.values())) < 1e-9


NOISY = st.sampled_from(
    ["sin({0})", "{0}*{1}", "{0} + {1}", "{0}*u", "{0} + u*{1}", "{0}*(1 + u)", "stop_gradient({0})*{1}"]
)


@st.composite
def noisy_lines(draw: st.DrawFn) -> str:
    lines = ["x : real", "u ~ Normal(0, 1)", "h0 = x"]
    count = draw(st.integers(2, 4))
    for k in range(1, count + 1):
        a, b = draw(st.integers(0, k - 1)), draw(st.integers(max(0, k - 2), k - 1))
        lines.append(f"h{k} = " + draw(NOISY).format(f"h{a}", f"h{b}"))
    return "\n".join([*lines, f"y = h{count} + cos(h{count - 1})"])


@settings(max_examples=40, deadline=None)
@given(noisy_lines())
def test_answers_agree_with_trying_every_set(text: str) -> None:
    listing = parse_program(text)
    y, x = listing["y"], listing["x"]
    edges = PathGraph(y, [x]).edges
    found = placed(text)
    if len(edges) > 9:
        return
    calm = substitute([y], fixed_in(listing, "u"))[0]
    inputs = list(listing.symbols.values())
    right = [
        size
        for size in range(len(edges) + 1)
        for some in itertools.combinations(edges, size)
        if gap(stopped(y, some)[y], calm, x, inputs, 4) < 1e-9
    ]
    assert found.possible is not None
    if found.possible and not found.removed:
        assert len(found.cut) == min(right)
    else:
        assert not right
    y_now = (found.nodes if found.outer is None else found.outer.nodes).get(y, y)
    assert gap(y_now, calm, x, inputs) < 1e-8


def test_one_edge_stands_for_those_in_series() -> None:
    listing = parse_program("x : real\na = sin(x)\nb = cos(a)\ny = tanh(b) + b*exp(b)")
    graph = PathGraph(listing["y"], [listing["x"]])
    assert sorted(map(len, graph.classes)) == [1, 1, 2, 2, 3]  # the last: the result, and the way below b
    assert graph.passed == [listing["y"], listing["b"], listing["a"], listing["x"]]


def test_a_square_has_two_edges() -> None:
    found = placed("x : real\nu ~ Normal(0, 1)\nf = sin(x)\ny = f*f + u*f")
    assert found.possible is True
    assert [e.argument for e in found.cut] == [1]


def test_more_than_three_are_the_smallest_cut_and_said_so() -> None:
    lines = [HEAD.strip(), "f = sin(x)", *(f"g{k} = cos({k}*x)" for k in range(1, 6))]
    branches = (f"sin({k}*f) + tanh(g{k})*u" for k in range(1, 6))
    found = placed("\n".join([*lines, f"y = {' + '.join(branches)}"]))
    assert found.possible is True
    assert len(found.cut) == 5
    assert found.minimal.startswith("the smallest set that leaves exactly the paths without noise")


def test_what_cancels_is_not_cut() -> None:
    found = placed("x : real\nu ~ Uniform(0, 1)\ny = u*sin(x) + (1 - u)*sin(x)")
    assert found.possible is True
    assert found.cut == ()


def test_paths_that_agree_by_chance_of_the_mean() -> None:
    """The reference is half of what is left, so no set will do, although every set that cuts is free of noise."""
    found = placed("x : real\nu ~ Uniform(0, 1)\nh = sin(x)\ny = u*h + stop_gradient(u)*0")
    assert found.possible is False
    assert found.outer is not None


@pytest.mark.parametrize(("scale", "depth"), [("1e-9", 40), ("7", 40)])
def test_deep_programs_neither_vanish_nor_explode(scale: str, depth: int) -> None:
    lines = ["x : real", "u ~ Normal(0, 1)", "a0 = x"]
    lines += [f"a{k} = {scale}*a{k - 1} + a{k - 1}**2*{scale}" for k in range(1, depth // 4)]
    found = placed("\n".join([*lines, f"y = a{depth // 4 - 1} + u*a2"]))
    assert found.possible is True
    assert len(found.cut) == 1


def test_a_thousand_equations_take_no_more_for_each() -> None:
    lines = ["x : real", "u ~ Normal(0, 1)", "a0 = x"]
    forms = ["sin({0})", "{0} + {1}", "tanh({0})", "{0}*{1}", "cos({1}) + {0}"]
    lines += [f"a{k} = " + forms[k % 5].format(f"a{k - 1}", f"a{max(0, k - 3)}") for k in range(1, 700)]
    text = "\n".join([*lines, "y = tanh(a699) + u*a350"])
    listing = parse_program(text)
    assert len(topological([listing["y"]])) > 800
    with counting() as calls:
        found = placed(text)
    assert found.possible is True
    assert len(found.cut) == 1
    assert calls.count < 6_000_000


def test_too_many_places_claim_nothing() -> None:
    lines = ["x : real", "u ~ Normal(0, 1)", "a0 = x*exp(u)"]
    lines += [f"a{k} = sin(a{k - 1}) + a{k - 1}*a{max(0, k - 2)}*u" for k in range(1, 12)]
    found = placed("\n".join([*lines, "y = a11"]), limit=4)
    assert found.possible is None
    assert "nothing is proved" in found.reason
