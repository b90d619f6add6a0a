"""The points at which the checker tries what it has replayed."""

from __future__ import annotations

import json

import pytest

import symgrad as sg
from symgrad.checker import samples
from symgrad.checker.check import check
from symgrad.checker.complex import samples as complex_samples
from symgrad.checker.complex.extension_field import ComplexExtensionField
from symgrad.checker.complex.principal_branches import complex_statement, retype_symbols
from symgrad.checker.complex.samples import differs_at_complex_samples
from symgrad.checker.extension_field import evaluate
from symgrad.checker.samples import differs_at_samples
from symgrad.frontend.text import parse_program
from symgrad.verification.decide import decide
from symgrad.verification.statement import program_of
from tests.verification.statements import DERIVATIVES, FALSE, TRUE, derivative, equality


def at_samples(statement):
    return differs_at_samples(statement.equality)


@pytest.mark.parametrize("row", range(0, len(TRUE), 2))
def test_true_statements_are_not_contradicted(row):
    assert not at_samples(equality(*TRUE[row]))


def test_false_ones_are_unless_they_differ_in_few_places():
    missed = {row[0] for row in FALSE if not at_samples(equality(*row))}
    thin = {row[0] for row in FALSE if "==" in "".join(row)} | {FALSE[-1][0], "(x**a)**b"}
    assert missed <= thin | {"2**(10**9)"}  # a number with too many digits


@pytest.mark.parametrize("row", DERIVATIVES)
def test_derivatives(row):
    *claim, true = row
    assert at_samples(derivative(*claim)) is not true


def test_a_mistake_in_a_table_of_the_checker_makes_no_proof(monkeypatch):
    data = json.loads(decide(equality("cosh(x)", "(exp(x) + exp(-x))/2"), 10).proof.to_json())
    assert check(data).status == "proved"
    (step,) = [s for s in data["program"]["steps"] if s[0] == "cosh"]
    step[0] = "sech"
    data["sample"]["point"]["x"] = "0"  # where the two are the same
    assert check(data).status == "supported"
    ops = evaluate.FUNCTION_OPS
    monkeypatch.setattr(evaluate, "FUNCTION_OPS", {**ops, "sech": ops["cosh"]})
    found = check(data)
    assert found.status == "supported"
    assert "a point of the checker's own" in found.why


def test_nor_one_about_complex_numbers(monkeypatch):
    claim = sg.equal("z*cos(z)", "z*(exp(sqrt(-1)*z) + exp(-sqrt(-1)*z))/2", domain="complex")
    assert claim.proof is not None
    data = json.loads(claim.proof.to_json())
    assert check(data).status == "proved"
    (step,) = [s for s in data["program"]["steps"] if s[0] == "cos"]
    step[0] = "sin"
    data["sample"]["point"]["z"] = "0"  # where the two are the same
    assert check(data).status == "supported"
    monkeypatch.setattr(ComplexExtensionField, "sin", ComplexExtensionField.cos)
    found = check(data)
    assert found.status == "supported"
    assert "a complex point of the checker's own" in found.why


@pytest.mark.parametrize(
    ("a", "b", "true"),
    [
        ("sqrt(z)*sqrt(w)", "sqrt(z*w)", False),
        ("log(z*w)", "log(z) + log(w)", False),
        ("log(exp(z))", "z", False),
        ("sqrt(z**2)", "z", False),
        ("sqrt(z - 1)*sqrt(z + 1)", "sqrt(z**2 - 1)", False),
        ("sqrt(1 - z)*sqrt(1 + z)", "sqrt(1 - z**2)", True),
        ("exp(z + w)", "exp(z)*exp(w)", True),
        ("acosh(z)", "log(z + sqrt(z + 1)*sqrt(z - 1))", True),
    ],
)
def test_complex_points_are_in_all_quadrants(a, b, true):
    text = parse_program(f"z, w : real\na = {a}\nb = {b}")
    program, (i, j) = program_of([text["a"], text["b"]])
    assert (
        differs_at_complex_samples(complex_statement(retype_symbols(program, ["z", "w"]), i, j)) is not true
    )


@pytest.mark.parametrize("kind", ["complex", "int"])
def test_beside_thin_sets_only_real_and_complex_points_tell_something(kind):
    """A whole number may well be in a set that is left out."""
    text = parse_program(f"z, w : real\nn : int\na = z*w\nb = z*w + 1{' + n - n' if kind == 'int' else ''}")
    program, (i, j) = program_of([text["a"], text["b"]])
    s = complex_statement(retype_symbols(program, ["z", "w"]), i, j)
    assert differs_at_complex_samples(s)
    assert differs_at_complex_samples(s, thin=True) is (kind != "int")
    real = equality("x", "x + 1 + n - n" if kind == "int" else "x + 1")
    assert differs_at_samples(real.equality)
    assert differs_at_samples(real.equality, thin=True) is (kind != "int")


def test_points_that_take_too_long_tell_nothing(monkeypatch):
    monkeypatch.setattr(samples, "SAMPLE_SECONDS", -1.0)
    monkeypatch.setattr(complex_samples, "SAMPLE_SECONDS", -1.0)
    real = equality("x", "x + 1")
    assert not differs_at_samples(real.equality)
    text = parse_program("z : real\na = z\nb = z + 1")
    program, (i, j) = program_of([text["a"], text["b"]])
    assert not differs_at_complex_samples(complex_statement(retype_symbols(program, ["z"]), i, j))
