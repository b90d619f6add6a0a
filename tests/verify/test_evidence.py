"""What a verdict shows for evidence: witnesses whose digits differ, points that could tell, and their sizes."""

from __future__ import annotations

import re

import pytest

import symgrad as sg
from symgrad.proof.balls import flint


def read(text: str):
    parts = re.fullmatch(r"the first ([+-]) (.*)", text)
    if parts:
        return parts[1], flint.arb(parts[2])
    return flint.arb(text) if text[0] == "[" else flint.arb(flint.fmpq(*map(int, text.split("/"))))


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
        left, right = map(read, v.values)
        assert left < right or left > right
    assert v.values[0] in str(v)
    assert v.to_json()["values"] == list(v.values)


@pytest.mark.parametrize(
    ("a", "b", "sign"), [("x + 1/10**300", "x", "-"), ("exp(x)", "exp(x) + 1/10**300", "+")]
)
def test_of_values_that_agree_to_hundreds_of_digits_the_distance_is_printed(a, b, sign):
    v = sg.equal(a, b)
    assert v.status == "refuted"
    assert max(map(len, v.values)) < 200
    assert read(v.values[1])[0] == sign
    assert flint.arb("0.9e-300") < read(v.values[1])[1] < flint.arb("1.1e-300")


def test_complex_witnesses_have_digits_that_differ():
    v = sg.equal("exp(z) + 1/10**60", "exp(z)", domain="complex")
    assert v.status == "refuted"
    assert v.values[0].split("+/-")[0] != v.values[1].split("+/-")[0]


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
