"""Matrices that are known to be definite: they are, with random entries; and what may be singular is not among them."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.facts.definite_matrices import is_definite
from symgrad.rewrite.facts.inference import Conditions

HEADER = """
X : real[n, d]
S, T : real[n, n] symmetric
A : real[n, n]
c : positive
z : nonnegative
r : real
w : positive[n]
x : real[n]
"""

DEFINITE = [
    "eye(n)",
    "c*eye(n)",
    "eye(n)/c",
    "diag(w)",
    "X@X.T + c*eye(n)",
    "eye(n) + A.T@A",
    "outer(x, x) + diag(w)",
    "z*A@A.T + eye(n)",
    "inv(A@A.T + eye(n)) + X@X.T",
    "expm(S)",
    "expm(S) + A@A.T/c",
    "(1 + r**2)*eye(n)",
    "(X*x[:, None])@(X*x[:, None]).T + eye(n)",
]
OPEN = [
    "A",
    "X@X.T",
    "r*eye(n)",
    "z*eye(n)",
    "diag(x)",
    "X@X.T - eye(n)",
    "S + eye(n)",
    "expm(A)",
    "A@A + eye(n)",
    "outer(x, w) + eye(n)",
    "eye(n) + r",
    "S@T + eye(n)",
    "inv(A)",
    "c/(A@A.T + eye(n))",
    "eye(n)*A",
]


def matrix(text: str) -> Node:
    return sg.parse(f"{HEADER}M = {text}")["M"].node


@pytest.mark.parametrize("text", DEFINITE)
def test_they_are(text: str) -> None:
    found = matrix(text)
    assert is_definite(found, Conditions())
    rng = np.random.default_rng(3)
    for n, d in ((1, 2), (3, 2), (4, 1)):
        s, a = rng.normal(size=(2, n, n))
        values = {
            "X": rng.normal(size=(n, d)),
            "S": s + s.T,
            "A": a,
            "c": 0.1,
            "z": 0.0,
            "r": -0.5,
            "w": rng.uniform(0.1, 1, n),
            "x": rng.normal(size=n),
        }
        m = evaluate([found], {v: values[v.name] for v in symbols_of([found])}, {"n": n, "d": d})[0]
        assert np.linalg.eigvalsh(m + m.T).min() > 0


@pytest.mark.parametrize("text", OPEN)
def test_others_are_not_said_to_be(text: str) -> None:
    assert not is_definite(matrix(text), Conditions())


@pytest.mark.parametrize(("domain", "left_out"), [("positive", ()), ("real", ("M is singular",))])
def test_verdicts_do_not_speak_of_what_cannot_be(domain: str, left_out: tuple[str, ...]) -> None:
    p = sg.parse(f"X : real[n, d]; c : {domain}; M = X.T@X + c*eye(d); f = logdet(M)")
    assert sg.verify(p["f"], "c", "trace(inv(M))").left_out == left_out
