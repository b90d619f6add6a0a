"""Arrays in canonical form: every law on whole numbers at every small size, random programs, and texts."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.autodiff.vjp import pull_back
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node, number
from symgrad.ir.notation.printer import str_text
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.contraction import transpose
from symgrad.ops.numpy.calls import identity
from symgrad.rewrite.normal_form.views import view, write_view
from symgrad.rewrite.pattern import metavariables
from symgrad.rewrite.pipeline import canonical
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.canonical import CANONICAL
from symgrad.rewrite.rules.tensor_laws import TENSORS
from tests.rewrite.rules.arrays import SIZES, any_program, array, strictly, values

ENGINE = {"collect-terms", "collect-factors", "collect-contraction", "known-value"}


@pytest.mark.parametrize("rule", TENSORS, ids=lambda r: r.name)
def test_both_sides_of_a_law_agree_at_every_size(rule: Rule) -> None:
    symbols = metavariables(rule.pattern)
    for n, m, k in itertools.product(range(4), repeat=3):
        # No position exists on an empty axis.
        sizes = {"n": n, "m": m, "k": 0 if n == 0 and any(v.dtype == "int" for v in symbols) else k}
        if m == 0 and any(v.declaration.domain.sizes for v in symbols):
            sizes["n"] = 0  # of no classes there are no labels
        for seed in range(2):
            at = values(seed, sizes, [*symbols, array("any", "n", "m", "k")])
            left, right = evaluate([rule.pattern, rule.replacement], at)
            assert np.shape(left) == np.shape(right)
            assert np.array_equal(left, right, equal_nan=True), (
                f"{rule.name} at {sizes}: {left} is not {right}"
            )


@pytest.mark.parametrize("rule", [r for r in TENSORS if r.name != "sum-of-a-sum"], ids=lambda r: r.name)
def test_the_normal_form_applies_every_law(rule: Rule) -> None:
    left, right = canonical([rule.pattern]), canonical([rule.replacement])
    assert left.nodes == right.nodes


def gradient(program: Node, by: Node) -> Node:
    return pull_back([program], [number(1)], [by]).gradients[0]


def assert_same(before: Node, after: Node, seed: int) -> None:
    """The values agree wherever every step before has one."""
    for sizes in SIZES:
        at = values(seed, sizes)
        left = strictly(before, at)
        if left is None:
            continue
        right: Any = evaluate([after], at)[0]
        value, largest = left
        assert np.shape(value) == np.shape(right)
        assert np.allclose(value, right, rtol=1e-9, atol=1e-10 * (1 + largest)), (
            f"at {sizes}: {value} is not {right}"
        )


@given(st.integers(0, 10**6))
def test_gradients_keep_their_value(seed: int) -> None:
    program = any_program(seed)
    draw = random.Random(seed)
    symbols = [v for v in symbols_of([program]) if v.dtype == "real"]
    if not symbols:
        return
    raw = gradient(program, draw.choice(symbols))
    found = canonical([raw])
    assert found.trace.stopped == "fixpoint"
    assert found.nodes[0].shape == raw.shape
    assert_same(raw, found.nodes[0], seed)


@given(st.integers(0, 10**6))
def test_canonical_arrays_are_idempotent(seed: int) -> None:
    program = any_program(seed)
    symbols = [v for v in symbols_of([program]) if v.dtype == "real"]
    nodes = [gradient(program, v) for v in symbols[:2]]
    found = canonical(nodes)
    assert canonical(found.nodes).nodes == found.nodes


@given(st.integers(0, 10**6))
def test_every_step_keeps_value_and_shape(seed: int) -> None:
    program = any_program(seed, size=6)
    trace = canonical([program]).trace
    for step in trace.steps:
        assert step.rule in CANONICAL.by_name or step.rule in ENGINE
        assert all(law in CANONICAL.by_name for law in step.laws)
        assert step.before.shape == step.after.shape
        assert_same(step.before, step.after, seed)


@given(st.integers(0, 10**6))
def test_views_compose(seed: int) -> None:
    for node in topological([any_program(seed)]):
        core, axes = view(node)
        at = values(seed, SIZES[0])
        left, right = evaluate([node, write_view(core, axes, node.shape)], at)
        assert np.array_equal(left, right, equal_nan=True)
        assert sorted(a for a in axes if a is not None) == list(range(len(core.shape)))


@pytest.mark.parametrize("base", ["(a + b)", "(a - 2*b)", "(v + w)", "(a*b + v)", "v", "a"])
@pytest.mark.parametrize("exponent", ["-2", "-1", "-1/2", "1/2", "1", "2", "3"])
@pytest.mark.parametrize(
    "text",
    [
        "sum(full(3, 1)*sum({}))",
        "sum(outer(full(3, 1), z + {}), axis=0)",
        "sum(eye(2)*({}))",
        "sum({}*full(2, 3))/7",
        "sum(outer(q, z + {}), axis=0)/sum(q)",
    ],
)
def test_what_is_left_of_a_contraction_keeps_its_power(text: str, base: str, exponent: str) -> None:
    header = "a : real; b : real; v : real[2]; w : real[2]; z : real[2]; q : real[3]\n"
    p = parse_program(header + text.format(f"{base}**({exponent})"))
    assert p.result is not None
    after = canonical([p.result]).nodes[0]
    assert after.shape == p.result.shape
    values = {"a": 1.25, "b": 0.5, "v": [0.5, 1.5], "w": [2.0, 0.25], "z": [0.0, 1.0], "q": [1.0, 2.5, 0.5]}
    at: dict[Node, Any] = {s: np.array(values[s.name]) for s in symbols_of([p.result, after])}
    left, right = evaluate([p.result, after], at)
    np.testing.assert_allclose(right, left, rtol=1e-13)


@pytest.mark.parametrize("constant", ["1", "-2", "5/3"])
@pytest.mark.parametrize(
    "text",
    [
        "sum(v - mean(v) + {})",
        "sum(2*v - 2*mean(v) - {})",
        "sum(a*(v - mean(v) + {}))",
        "sum(sum(v) - v + {})",
        "sum(5*sum(v) - 7*v + a + {})",
        "sum(v[:, None] - v + {})",
        "sum(A - A.T + {})",
        "sum(A + B - B.T + {})",
        "sum(outer(v, w) - outer(w, v) + {})",
        "trace(A - A.T + {})",
        "a*sum(v[:, None] - v + A - A.T + {}, axis=(0, 1))",
    ],
)
def test_the_number_of_a_sum_counts_as_often_as_its_terms(text: str, constant: str) -> None:
    header = "v : real[3]; w : real[3]; A : real[3, 3]; B : real[3, 3]; a : real\n"
    p = parse_program(header + text.format(f"({constant})"))
    assert p.result is not None
    found = canonical([p.result])
    assert any("sum-of-a-sum" in step.laws for step in found.trace.steps)
    rng = np.random.default_rng(2)
    at: dict[Node, Any] = {
        s: rng.normal(size=[evaluate_size(k, {}) for k in s.shape]) for s in symbols_of([p.result])
    }
    left, right = evaluate([p.result, *found.nodes], at)
    np.testing.assert_allclose(right, left, rtol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "(q*outer(d, d)).T",
        "(q*outer(d**2, d)).T",
        "(q*outer(d, d)).T/d",
        "(q*outer(1/d, d)).T",
        "(s*outer(d, d) + s.T).T",
        "(s.T*outer(d, d) - 2*s.T).T",
        "(s.T*outer(d, d**2) + s.T*d).T",
    ],
)
def test_factors_that_show_the_same_all_count(text: str) -> None:
    # Views make d, of shape (1,), and squeeze(d), a scalar, one base.
    p = parse_program(f"E : real[1, 3, 1]; q : real[2]; s : real[1, 1]; d = max(E, axis=(1, 2)); y = {text}")
    found = canonical([p["y"]])
    values = {"q": np.array([1.0, 2.0]), "s": np.array([[3.0]]), "E": np.array([[[0.1], [0.5], [0.2]]])}
    at: dict[Node, Any] = {s: values[s.name] for s in symbols_of([p["y"]])}
    left, right = evaluate([p["y"], *found.nodes], at)
    np.testing.assert_allclose(right, left, rtol=1e-14)
    assert any("= 0" in note for note in found.notes) == ("1/d" in text)


def test_the_identity_is_its_own_transpose() -> None:
    square, wide = identity("n"), identity("n", "m")
    assert view(transpose(square, (1, 0))) == (square, (0, 1))
    assert view(transpose(wide, (1, 0))) == (wide, (1, 0))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("x : real[5]\n(x**2)[2]", "2*one_hot(2, 5)*x"),
        ("x : real[5]\n(x**2)[-1]", "2*one_hot(4, 5)*x"),
        ("x : real[5]\nx[1:5:4][0]", "one_hot(1, 5)"),
        ("x : real[5]; k : int\n(x**2)[k - k + 2]", "2*one_hot(2, 5)*x"),
        ("x : real[5]; k : int\n(x**2)[k - k - 1]", "2*one_hot(4, 5)*x"),
        ("x : real[5]; k : int\nx[k - k - 5]", "one_hot(0, 5)"),
        ("x : real[5]; k : int\nx[k - k + 5]", None),
        ("x : real[5]; k : int\nx[k - k - 6]", None),
        ("x : real[5]\nk : int\nx[k]**2", None),
        ("x : real[5]\nsum(x[1:3])", None),
        ("x : real[n]\nx[0]**2", None),
    ],
)
def test_a_unit_vector_is_one(program: str, expected: str | None) -> None:
    listing = parse_program(program)
    assert listing.result is not None
    gradients = pull_back([listing.result], [number(1)], [listing["x"]]).gradients
    found = str_text(canonical(gradients).nodes[0])
    assert found == expected if expected is not None else "one_hot" not in found


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("where(A <= A, 2*A, 3)", "2*A"),
        ("where(exp(A - A)*A < A, B, c)", "full(n, c)"),
        ("where(A <= A and B > 0, A, 3)", "where(B > 0, A, 3)"),
        ("where(A != A or B > 0, A, 3)", "where(B > 0, A, 3)"),
        ("where((A <= A) == (B <= B), c, B)", "full(n, c)"),
        ("where(log(A) <= log(A), A, 3)", "where(log(A) <= log(A), A, 3)"),
    ],
)
def test_conditions_on_arrays_that_always_hold_are_read_as_those_on_numbers(text: str, form: str) -> None:
    """Where A has no value, log(A) <= log(A) has none: of numbers that choice stays, too."""
    program = parse_program(f"A, B : real[n]; c : real\ny = {text}")
    assert str_text(canonical([program.assignments["y"]]).nodes[0]) == form
