"""Matrices that are declared symmetric: in programs, verdicts, proof files, canonical forms, evaluation."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.checker.program.steps import program_from_json, program_to_json
from symgrad.errors import ArrayTypeError, DeclarationError, SymgradError, UnsupportedError, UsageError
from symgrad.verification.points.sampler import points_of
from symgrad.verification.statement import program_of

TEXT = """
S : real[n, n] symmetric
B : real[n, n]
x : real[n]
f = x@S@x
g = logdet(S)
h = trace(B@S.T)
"""
PROGRAM = sg.parse(TEXT)


def test_the_declaration_is_read_and_printed() -> None:
    assert str(PROGRAM).startswith("S : real[n, n] symmetric\n")
    assert sg.parse(str(PROGRAM))["S"].node is PROGRAM["S"].node
    assert sg.tensor("S", ("n", "n"), symmetric=True).node is PROGRAM["S"].node
    assert sg.tensor("S", ("n", "n")).node is not PROGRAM["S"].node
    assert str(sg.parse("A, B : positive[2, 2] symmetric")) == (
        "A : positive[2, 2] symmetric\nB : positive[2, 2] symmetric"
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("S : real[n, m] symmetric", "no square matrix"),
        ("S : real[n] symmetric", "no square matrix"),
        ("S : real[k, n, n] symmetric", "no square matrix"),
        ("S : real[n, n] symetric", "did you mean 'symmetric'"),
        ("S : real[n, n] positive", "unknown property"),
        ("S : real symmetric", "has no place here"),
        ("S ~ Normal(0, 1)[n, n] symmetric", "has no place here"),
    ],
)
def test_what_cannot_be_symmetric(text: str, what: str) -> None:
    with pytest.raises(SymgradError, match=what):
        sg.parse(text)
    with pytest.raises(DeclarationError, match="no square matrix"):
        sg.tensor("S", ("n", "m"), symmetric=True)


@pytest.mark.parametrize(
    ("of", "wrt", "claim", "status"),
    [
        ("f", "x", "2*S@x", "proved"),
        ("f", "x", "S@x", "refuted"),
        ("f", "S", "outer(x, x)", "proved"),
        ("f", "S", "2*outer(x, x) - diag(x*x)", "refuted"),  # entries are independent
        ("g", "S", "inv(S)", "proved"),
        ("g", "S", "-inv(S)", "refuted"),
        ("h", "S", "B", "proved"),
        ("h", "S", "B.T", "refuted"),
    ],
)
def test_verdicts(of: str, wrt: str, claim: str, status: str) -> None:
    verdict = sg.verify(PROGRAM[of], PROGRAM[wrt], claim)
    assert verdict.status == status
    assert verdict.proof is not None
    data = json.loads(verdict.proof.to_json())
    assert check(data).status == status
    if status == "refuted":
        assert verdict.witness is not None
        np.testing.assert_array_equal(verdict.witness["S"], np.transpose(verdict.witness["S"]))


def test_a_proof_that_needs_the_symmetry_says_so() -> None:
    proof = sg.verify(PROGRAM["f"], PROGRAM["x"], "2*S@x").proof
    assert proof is not None
    data: Any = json.loads(proof.to_json())
    (own,) = [s for s in data["program"]["symbols"] if s[0] == "S"]
    assert own.pop() == "symmetric"
    assert check(data).status == "supported"
    own.append("positive definite")
    with pytest.raises(UsageError, match="positive definite"):
        check(data)


def test_a_witness_that_is_not_symmetric_refutes_nothing() -> None:
    proof = sg.verify(PROGRAM["f"], PROGRAM["x"], "S@x").proof
    assert proof is not None
    data: Any = json.loads(proof.to_json())
    data["witness"]["point"]["S"][0][1] += "0"
    assert check(data).status == "supported"


def test_programs_of_proofs() -> None:
    program, _ = program_of([PROGRAM["f"].node])
    data = program_to_json(program)
    assert program_from_json(json.loads(json.dumps(data))) == program
    for point, _ in zip(points_of(program), range(60), strict=False):
        assert point.values["S"] == [list(column) for column in zip(*point.values["S"], strict=True)]
    next(s for s in data["symbols"] if s[0] == "x").append("symmetric")
    with pytest.raises(UsageError, match="no square matrix"):
        program_from_json(data)


def test_canonical_forms_read_it_either_way() -> None:
    same = sg.parse(TEXT + "a = S.T@x - S@x\nb = x@inv(S)@(S.T@x)\nc = (S@S).T - S@S\nd = S.T*2 + S")
    texts = [str(same[name].canonical()) for name in "abcd"]
    assert texts == ["zeros(n)", "sum(x**2)", "zeros((n, n))", "3*S"]
    assert str(sg.grad(PROGRAM["f"], PROGRAM["x"]).canonical()) == "2*S@x"
    other = sg.parse("B : real[n, n]\nx : real[n]\na = B.T@x - B@x")
    assert str(other["a"].canonical()) == "B.T@x - B@x"


def test_values_are_checked() -> None:
    gradient = sg.grad(PROGRAM["f"], PROGRAM["x"])
    kernel = sg.compile(gradient)
    s, x = np.array([[1.0, 2.0], [2.0, 5.0]]), np.array([1.0, -1.0])
    aside = np.array([[0.0, 1.0], [0.0, 0.0]])
    for call in (lambda s: gradient(S=s, x=x), lambda s: kernel(s, x)):
        np.testing.assert_array_equal(call(s), [-2.0, -6.0])
        rounded = s + 1e-9 * aside
        np.testing.assert_allclose(call(rounded), [-2.0, -6.0], atol=1e-8)
        np.testing.assert_array_equal(np.isnan(call(s * np.nan)), [True, True])
        with pytest.raises(ArrayTypeError, match=r"entry \[0, 1\] is 2.5, entry \[1, 0\] is 2.0") as error:
            call(s + aside / 2)
        assert "(S + S.T)/2" in str(error.value)
        with pytest.raises(ArrayTypeError, match="symmetric"):
            call(np.array([[1.0, np.nan], [0.0, 1.0]]))
    batch = np.stack([s, s + aside / 2])
    with pytest.raises(ArrayTypeError, match=r"entry \[1, 0, 1\]"):
        kernel(batch, x)


def test_a_search_over_symmetric_matrices_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"symmetric"):
        sg.minimize(PROGRAM["f"], over=["S"], start={"S": np.eye(2)}, data={"x": np.ones(2)})
