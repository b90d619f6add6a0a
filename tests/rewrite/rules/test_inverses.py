"""Laws of inverses and determinants at random matrices, and by the normal form; gradients as one writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad.api.derivatives.differentiate import grad
from symgrad.api.handles.program import parse
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.pattern import metavariables
from symgrad.rewrite.pipeline import canonical
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.inverse_laws import INVERSES
from tests.rewrite.rules.arrays import array


def values(symbols: list[Node], n: int, m: int, rng: np.random.Generator) -> dict[Node, Any]:
    sizes = {"n": n, "m": m}
    found: dict[Node, Any] = {array("any", "n", "m"): np.zeros((n, m))}
    for s in symbols:
        shape = tuple(sizes[str(size)] for size in s.shape)
        found[s] = rng.normal(size=shape) + (2 * np.eye(n) if s.shape == ("n", "n") else 0)
    return found


@pytest.mark.parametrize("rule", INVERSES, ids=lambda r: r.name)
@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 1), (1, 3), (3, 4), (4, 4)])
def test_both_sides_of_a_law_agree_at_every_size(rule: Rule, n: int, m: int) -> None:
    at = values(metavariables(rule.pattern), n, m, np.random.default_rng(n))
    left, right = evaluate([rule.pattern, rule.replacement], at)
    assert np.shape(left) == np.shape(right)
    assert np.all(np.isfinite(left))
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rule", INVERSES, ids=lambda r: r.name)
def test_the_normal_form_applies_every_law(rule: Rule) -> None:
    left, right = canonical([rule.pattern]), canonical([rule.replacement])
    assert left.nodes == right.nodes


@pytest.mark.parametrize("rule", [r for r in INVERSES if r.soundness == "widens"], ids=lambda r: r.name)
def test_a_widening_law_says_so_and_widens(rule: Rule) -> None:
    assert rule.witness is not None
    found = canonical([rule.pattern])
    assert any("singular" in note for note in found.notes)
    at: dict[Node, Any] = {
        v: np.full((2, 2), float(rule.witness[v.name])) for v in metavariables(rule.pattern)
    }
    left, right = evaluate([rule.pattern, rule.replacement], at)
    assert np.all(np.isnan(left))
    assert np.all(np.isfinite(right))


DECLARED = (
    "X, A, B, G : real[n, n]; Y : real[n, m]; C : real[m, m]; T : real[k, n, n]; a, b : real[n]; t, s : real"
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("logdet(X)", "inv(X).T"),
        ("log(det(X))", "inv(X).T"),
        ("det(X)", "inv(X).T*det(X)"),
        ("a@inv(X)@b", "-outer(inv(X).T@a, inv(X)@b)"),
        ("sum(G*inv(X))", "-inv(X).T@G@inv(X).T"),
        ("trace(A@inv(X)@B)", "-inv(X).T@A.T@B.T@inv(X).T"),
        ("a@solve(X, b)", "-outer(solve(X.T, a), solve(X, b))"),
        ("det(A@X@B)", "inv(X).T*det(A@X@B)"),
        ("det(X.T@A@X)", "2*inv(X).T*det(X.T@A@X)"),
        ("det(matrix_power(X, 2))", "2*inv(X).T*det(X@X)"),
        ("logdet(inv(X))", "-inv(X).T"),
        ("trace(inv(X)@X@A)", "zeros((n, n))"),
        ("logdet(3*X)", "inv(X).T"),
        ("trace(matrix_power(X, 3))", "3*X.T@X.T"),
    ],
)
def test_gradients_are_written_as_one_writes_them(text: str, written: str) -> None:
    p = parse(f"{DECLARED}; y = {text}")
    assert str(grad(p["y"], p["X"]).canonical()) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("logdet(Y.T@Y)", "2*Y@inv(Y.T@Y)"),
        ("trace(inv(Y.T@Y))", "-2*Y@inv(Y.T@Y)@inv(Y.T@Y)"),
        ("logdet(eye(n) + Y@Y.T)", "2*inv(Y@Y.T + eye(n))@Y"),
        ("trace(inv(Y.T@Y)@Y.T@Y)", "zeros((n, m))"),
    ],
)
def test_symmetric_matrices_are_seen(text: str, written: str) -> None:
    p = parse(f"{DECLARED}; y = {text}")
    assert str(grad(p["y"], p["Y"]).canonical()) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("inv(Y.T@Y)@Y.T@Y@C", "C"),
        ("C@Y.T@Y@inv(Y.T@Y)", "C"),
        ("inv(A + B)@(A + B)", "eye(n)"),
        ("inv(A + A.T)@a", "inv(A + A.T)@a"),
        ("inv(A + A.T).T@a", "inv(A + A.T)@a"),
        ("inv(Y.T@Y).T", "inv(Y.T@Y)"),
        ("inv(X)@X.T", "inv(X)@X.T"),
        ("inv(X)@(A@X)", "inv(X)@A@X"),
        ("sum(inv(X)*X)", "sum(X*inv(X))"),
        ("sum(inv(X)*X.T)", "n"),
        ("inv(s*X)", "inv(s*X)"),
        ("inv(X.T)@X.T", "eye(n)"),
        ("einsum('ij,jk,jl->ikl', inv(X), X, X)", 'einsum("ij,ik,li->ljk", X, X, inv(X))'),
        ("einsum('ij,jk->ijk', inv(X), X)", "X*inv(X)[:, :, None]"),
        ("inv(inv(T))", "T"),
        ("solve(A, 2*a + 4*b)", "2*solve(A, a + 2*b)"),
        ("solve(A, a - b) + solve(A, b - a)", "zeros(n)"),
        ("solve(A, t*a - t*b)", "t*solve(A, a - b)"),
        ("det(inv(A))", "1/det(A)"),
        ("det(inv(T))", "1/det(T)"),
        ("det(inv(A))*det(A)", "1"),
        ("logdet(inv(A)) + logdet(A)", "0"),
        ("det(inv(A.T))", "1/det(A)"),
        ("inv(swapaxes(T, 1, 2))", "transpose(inv(T), (0, 2, 1))"),
    ],
)
def test_what_cancels_and_what_does_not(text: str, written: str) -> None:
    assert str(parse(f"{DECLARED}; y = {text}")["y"].canonical()) == written


@pytest.mark.parametrize(
    "text",
    [
        *(
            "det(inv(A))",
            "logdet(inv(A))",
            "det(inv(A).T)",
            "det(inv(A)@B)",
            "logdet(inv(A.T)@B)",
            "det(inv(inv(A)))",
        ),
        *(
            "det(2*inv(A))",
            "det(inv(2*A))",
            "det(inv(A - B))",
            "inv(inv(A)@B)",
            "inv(-A)",
            "inv(2*A + 4*B)",
            "inv(A.T).T",
        ),
        *(
            "solve(A, 2*a + 4*b)",
            "solve(2*A, a)",
            "solve(A, t*a)",
            "solve(A.T, -a)",
            "solve(inv(A), a)",
            "inv(A)@(2*a)",
        ),
        *("inv(eye(n))@a", "det(inv(T))", "logdet(inv(T))", "inv(T)@a"),
    ],
)
def test_values_are_kept(text: str) -> None:
    y = parse(f"{DECLARED}; y = {text}")["y"]
    after = y.canonical()
    again = after.canonical()
    assert again.same(after)
    rng = np.random.default_rng(5)
    shapes = {**dict.fromkeys("AB", (3, 3)), "T": (2, 3, 3), "a": (3,), "b": (3,), "t": ()}
    for _ in range(3):
        given = {s.name: rng.normal(size=shapes[s.name]) for s in symbols_of([y.node])}
        left = {s.name: given[s.name] for s in symbols_of([after.node])}
        np.testing.assert_allclose(after(**left), y(**given), rtol=1e-9)
