"""What a verdict shows for evidence: witnesses whose digits differ, points that could tell, and their sizes."""

from __future__ import annotations

import json
import re

import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.checker.numbers import flint


def read(text: str):
    parts = re.fullmatch(r"the first ([+-]) (.*)", text)
    if parts:
        return parts[1], flint.arb(parts[2])
    return flint.arb(text) if text[0] == "[" else flint.arb(flint.fmpq(*map(int, text.split("/"))))


def sides(v: sg.Verdict) -> tuple[str, str]:
    assert v.values is not None
    return v.values


def replayed(v: sg.Verdict) -> str:
    assert v.proof is not None
    return check(json.loads(v.proof.to_json())).status


PI = "3.14159265358979323846264338327950288419716939937510582097494459"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("exp(pi*sqrt(163))", "262537412640768744"),
        ("x + 1/10**60", "x"),
        ("pi", PI),
        ("gamma(x) + 10**(-60)", "gamma(x)"),
        ("x + 1/10**70", "x + 1/10**71"),
        ("1/10**70", "0"),
        ("sqrt(x**2)", "x"),
    ],
)
def test_printed_witnesses_have_digits_that_differ(a, b):
    v = sg.equal(a, b)
    assert v.status == "refuted"
    with flint.ctx.workprec(500):
        left, right = map(read, sides(v))
        assert left < right or left > right
    assert sides(v)[0] in str(v)
    assert v.to_json()["values"] == list(sides(v))


@pytest.mark.parametrize(
    ("a", "b", "sign"), [("x + 1/10**300", "x", "-"), ("cosh(x)", "cosh(x) + 1/10**300", "+")]
)
def test_of_values_that_agree_to_hundreds_of_digits_the_distance_is_printed(a, b, sign):
    v = sg.equal(a, b)
    assert v.status == "refuted"
    assert max(map(len, sides(v))) < 200
    assert read(sides(v)[1])[0] == sign
    assert flint.arb("0.9e-300") < read(sides(v)[1])[1] < flint.arb("1.1e-300")


def test_complex_witnesses_have_digits_that_differ():
    v = sg.equal("exp(z) + 1/10**60", "exp(z)", domain="complex")
    assert v.status == "refuted"
    assert sides(v)[0].split("+/-")[0] != sides(v)[1].split("+/-")[0]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("exp(-exp(exp(10)))", "0"),
        ("exp(-exp(exp(100)))*x", "0"),  # at x = 0 they are equal, and nothing is known elsewhere
        ("exp(-exp(exp(10)))", "exp(-exp(exp(11)))"),
    ],
)
def test_values_that_are_not_known_do_not_agree(a, b):
    v = sg.equal(a, b)
    assert v.status == "undecided"
    assert "precisely enough" in v.why


def test_small_values_that_are_known_agree():
    v = sg.equal("10**(-50)*(gamma(1/3)*gamma(2/3) - 2*pi/sqrt(3))*x", "0")
    assert v.status in {"supported", "proved"}
    assert v.digits is not None
    assert 6 <= v.digits < 100


def decided(head: str, a: str, b: str):
    program = sg.parse(f"{head}\na_ = {a}\nb_ = {b}")
    return sg.equal(program["a_"], program["b_"])


@pytest.mark.parametrize(
    ("a", "b", "n"),
    [
        ("n**2", "3*n - 2", 3),
        ("n*(n - 1)/2", "n - 1", 3),
        ("sum(arange(n))", "n - 1", 3),
        ("2**n", "n**2", 3),
    ],
)
def test_programs_of_sizes_alone_are_tried_at_several(a, b, n):
    v = decided("n : size", a, b)
    assert v.status == "refuted"
    assert v.witness == {"n": n}
    assert f"n = {n}:" in str(v)
    assert replayed(v) == "refuted"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("where(n == 1, 5, sum(x))", "sum(x)"),
        ("where(n == 7, 5, sum(x))", "sum(x)"),
        ("where(n == 50, 5, sum(x))", "sum(x)"),
        ("where(n >= 2, sum(x), 0)", "sum(x)"),
        ("sum(x[:5])", "sum(x)"),
        ("sum(x[:12])", "sum(x)"),
        ("x[2]", "x[-1]"),
        ("sum(x)*(n - 1)*(n - 2)*(n - 3)*(n - 4)", "0"),
        ("det(outer(x, x))", "0"),
        ("where(x > 0, 1, 0)", "(sign(x) + 1)/2"),
        ("sign(x)**2", "ones(n)"),
        ("where(x[0] == x[1], 1, 0)", "0"),
        ("where((x > 0) & (x < 1/1000), 1, 0)", "zeros(n)"),
    ],
)
def test_arrays_are_tried_with_several_sizes_and_special_entries(a, b):
    v = decided("x : real[n]", a, b)
    assert v.status == "refuted"
    assert replayed(v) == "refuted"


@pytest.mark.parametrize(
    "condition", ["m == 1", "n == m", "n == 5", "(n == 3) & (m == 8)", "(n == 2) & (m == 2)"]
)
def test_several_sizes_are_tried(condition):
    assert decided("X : real[n, m]", f"where({condition}, 0, sum(X))", "sum(X)").status == "refuted"


@pytest.mark.parametrize(
    ("head", "a", "b"),
    [
        ("x : positive", "abs(x - 1/1000000)", "x - 1/1000000"),
        ("x : real", "sqrt((x - 10**9)**2)", "10**9 - x"),
        ("x : real", "where((x > 0) & (x < 1/1000), 1, 0)", "0"),
        ("x : real", "where((x > 7/3) & (x < 8/3), 1, 0)", "0"),
        ("x : real", "where(3*x == 7, 0, x)", "x"),
        ("x : real\ny : real", "where((3*x > 7) & (3*x < 8), y, 0)", "0"),
        ("x : real\ny : real", "where((y > 8) & (x > 1) & (x < 2), 1, 0)", "0"),
        ("x : real\ny : real", "relu(y - 8)*relu(x - 1)*relu(2 - x)", "0"),
        ("x : real\ny : real\nz : real", "where((y > 8) & (x > 1) & (x < 2) & (z > 3) & (z < 4), 1, 0)", "0"),
    ],
)
def test_points_between_and_beside_thresholds_are_tried(head, a, b):
    assert decided(head, a, b).status == "refuted"


def test_what_supports_a_claim_about_arrays_names_the_sizes():
    v = decided("x : real[n]", "sum(besselj(3, x))", "sum(4*besselj(2, x)/x - besselj(1, x))")
    assert v.status == "supported"
    assert "with n = 1, 2, 3, 4, 5" in v.why
