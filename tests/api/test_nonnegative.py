"""What is declared nonnegative may be 0: facts, forms and verdicts count with it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.checker.check import check
from symgrad.errors import DeclarationError

P = sg.parse("x : nonnegative\ny : nonnegative[n]\nr : real")


@pytest.mark.parametrize(
    ("formula", "canonical"),
    [
        ("sqrt(x**2) + abs(x)", "2*x"),
        ("where(x < 0, 5, x)", "x"),
        ("maximum(x, 0)", "x"),
        ("relu(y)", "y"),
        ("sqrt(x)**2", "x"),
        ("where(x == 0, 5, x)", "where(x == 0, 5, x)"),
        ("where(x > 0, x, 5)", "where(x > 0, x, 5)"),
        ("sign(x)", "sign(x)"),
    ],
)
def test_facts(formula: str, canonical: str) -> None:
    e = sg.parse(formula, symbols={n: P[n] for n in "xyr"}).last
    assert str(e.canonical()) == canonical
    given = {"x": np.array([0.0, 0.5]), "y": np.array([0.0, 2.0])}
    values = {str(i.name): given[str(i.name)] for i in e.inputs}
    np.testing.assert_allclose(e(**values), e.canonical()(**values), rtol=1e-15)


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        ("sqrt(x**2)", "x", "proved"),
        ("sqrt(x*y)", "sqrt(x)*sqrt(y)", "proved"),
        ("(x**(1/3))**3", "x", "proved"),
        ("where(x == 0, 5, x)", "x", "refuted"),
        ("where(x > 0, x, x + 1)", "x", "refuted"),
        ("x**2", "x**3", "refuted"),
        ("where(x < 0, 5, x)", "x", "proved"),
        ("sign(x)", "1", "refuted"),
    ],
)
def test_verdicts(a: str, b: str, status: str) -> None:
    verdict = sg.equal(a, b, domain=dict.fromkeys("xy" if "y" in a else "x", "nonnegative"), time_limit=5)
    assert verdict.status == status
    assert verdict.proof is not None
    check(verdict.proof.data)
    if verdict.witness is not None:
        assert all(v >= 0 for v in verdict.witness.values())


def test_what_is_proved_inside_alone_says_so() -> None:
    q = sg.parse("y : nonnegative[n]\na = sum(abs(y))\nb = sum(y)\nc = sum(where(y == 0, 1, y))")
    inside = sg.equal(q["a"], q["b"])
    assert inside.status == "proved"
    refuted = sg.equal(q["c"], q["b"], time_limit=5)
    assert refuted.status == "refuted"
    assert refuted.witness is not None
    assert 0 in refuted.witness["y"]


def test_derivatives_are_claimed_inside() -> None:
    q = sg.parse("x, k : nonnegative\ny = k*x**1.5")
    assert sg.verify(q["y"], "x", "1.5*k*sqrt(x)").status == "proved"
    assert sg.verify(q["y"], "x", "where(k == 0, 1, 1.5*k*sqrt(x))").status == "refuted"


def test_declarations() -> None:
    x = sg.symbols("x", "nonnegative")
    assert x.same(P["x"])
    assert str(sg.tensor("t", (3,), "nonnegative").node.declaration) == "t : nonnegative[3]"
    assert sg.from_sympy(sympy.Symbol("x", nonnegative=True)).same(x)
    with pytest.raises(DeclarationError, match="write nonnegative"):
        sg.parse("x : non_negative")


def test_minimize_may_end_at_zero() -> None:
    x = sg.symbols("x", "nonnegative")
    found = sg.minimize((x + 1) ** 2, over=x, start={"x": 1.0})
    assert found["x"] == 0
