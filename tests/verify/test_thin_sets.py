"""Thin sets at which the signs of a proof say nothing, and statements that must not take long or much."""

from __future__ import annotations

import time
from functools import reduce

import pytest

import symgrad as sg
from symgrad.verify.decide import equal
from symgrad.verify.prove import prove
from tests.verify.statements import equality


def attempt(a: str, b: str, seconds: float = 5):
    s = equality(a, b)
    return prove(s.program, s.a, s.b, time.monotonic() + seconds)


@pytest.mark.parametrize(
    ("a", "b", "thin"),
    [
        # at x = 0 the root says nothing of the sign of y
        ("sign(y) + 0*sqrt(x**2*y)", "1 + 0*sqrt(x**2*y)", "x = 0"),
        # the roots are defined where x, y and a are equal alone, whatever b is
        (
            "0*sqrt(x - y) + 0*sqrt(y - a) + 0*sqrt(a - x) + abs(b)",
            "b + 0*sqrt(x - y) + 0*sqrt(y - a) + 0*sqrt(a - x)",
            "y - x = 0",
        ),
        # where x is -sqrt(p) both roots are zero, and x - sqrt(p) is negative
        (
            "0*sqrt(x + sqrt(p)) + 0*sqrt(x**2 - p) + abs(x - sqrt(p))",
            "0*sqrt(x + sqrt(p)) + 0*sqrt(x**2 - p) + x - sqrt(p)",
            "|p|**(1/2) + x = 0",
        ),
    ],
)
def test_zeros_of_what_has_an_undecided_sign_are_listed(a, b, thin):
    found = attempt(a, b)
    assert not found.proved or thin in found.excluded


@pytest.mark.parametrize(("a", "b"), [("p/p", "1"), ("log(p)*t/t", "log(p)"), ("(p - p*t)/(1 - t)", "p")])
def test_what_cannot_vanish_is_not_listed(a, b):
    found = attempt(a, b)
    assert found.proved
    assert found.excluded == ()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("t**(1/7777)", "t**(1/5001)"),
        ("1/((t**64)**40 + (p**60)**40*x**3 + x + 1)", "1/((t**64)**40 + (p**60)**40 + 2)"),
    ],
)
def test_high_degrees_end_soon(a, b):
    begun = time.monotonic()
    assert not attempt(a, b, 3).proved
    assert time.monotonic() - begun < 6


def test_many_variables_end_in_time():
    xs = [sg.symbols(f"x{k}") for k in range(3000)]
    s = equal(reduce(lambda a, b: a + b, xs).node, reduce(lambda a, b: a + b, xs[::-1]).node)
    begun = time.monotonic()
    prove(s.program, s.a, s.b, begun + 1)
    assert time.monotonic() - begun < 4


def test_two_truth_values_are_no_crash():
    assert sg.equal("x > 0", "0 < x", domain={"x": "real"}).status in {"supported", "undecided", "proved"}
