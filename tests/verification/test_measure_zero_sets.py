"""Thin sets at which the signs of a proof say nothing, and statements that must not take long or much."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from importlib import import_module
from typing import Any

import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.checker.clock import now
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.proofs import prove_equal
from symgrad.verification.decide import decide, equal
from symgrad.verification.points.sampler import SamplePoint
from symgrad.verification.search.prove import prove
from symgrad.verification.search.refute import refute
from tests.verification.statements import equality


def written(v: sg.Verdict) -> dict[str, Any]:
    """The file of a proof."""
    assert v.proof is not None
    return json.loads(v.proof.to_json())


def attempt(a: str, b: str, seconds: float = 5):
    s = equality(a, b)
    return prove(s.equality.program, s.equality.a, s.equality.b, now() + seconds)


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
        # li(0) is 0, and li(x) + li(-x) is defined there alone
        ("where(a > 0, li(x) + li(-x) + abs(y), y)", "where(a > 0, li(x) + li(-x) + y, y)", "x = 0"),
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
    begun = now()
    assert not attempt(a, b, 3).proved
    assert now() - begun < 6


def test_many_variables_end_in_time():
    xs = [sg.symbols(f"x{k}") for k in range(3000)]
    s = equal(reduce(lambda a, b: a + b, xs).node, reduce(lambda a, b: a + b, xs[::-1]).node)
    begun = now()
    prove(s.equality.program, s.equality.a, s.equality.b, begun + 1)
    assert now() - begun < 4


def test_two_truth_values_are_no_crash():
    assert sg.equal("x > 0", "0 < x", domain={"x": "real"}).status in {"supported", "undecided", "proved"}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("sign(floor(1000*x - 1/7))**2", "1"),
        ("where(floor(x) == 3, 5, 1)", "1"),
        ("where(floor(x) > 3, 1, -1)", "sign(floor(x) - 3)"),
        ("sign(relu(x - 1/7) + relu(-1/7 - x))**2", "1"),
        ("sign(relu(x))", "1"),
        ("sqrt(relu(x)*y) + abs(y)", "sqrt(relu(x)*y) + y"),
        ("where(exp(abs(x)) == exp(x), 1, 2)", "2"),
        ("where(asin(sin(x)) == x, 1, 2)", "2"),
        ("where(atan2(y, x) == atan(y/x), 1, 2)", "2"),
        ("where(x > 0, sign(gamma(1/2) - sqrt(pi))**2, 1)", "1"),
        ("jv(2, relu(x)) + jv(0, relu(x))", "2/relu(x)*jv(1, relu(x))"),
        ("abs(x**(floor(y)/1))", "x**(floor(y)/1)"),
    ],
)
def test_what_is_left_out_is_thin(a, b):
    """Zeros that fill an interval are no thin set: no proof leaves them out."""
    assert not attempt(a, b).proved


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("where(floor(x) > 3, x, y)", "y + where(floor(x) > 3, x - y, 0)"),
        ("where(floor(x) == 3, sqrt(x)**2, x)", "where(floor(x) == 3, x, x)"),
        ("where(abs(x) > 1, 1, -1)", "sign(abs(x) - 1)"),
        ("sign(exp(x) - 1)", "sign(x)"),
        ("where(sqrt(x) > y, sqrt(x), y)", "maximum(sqrt(x), y)"),
        ("where(erf(x) > y, erf(x), y)", "maximum(erf(x), y)"),
        ("where(atan2(1, 3)*x > y, x, y)", "where(atan2(1, 3)*x - y > 0, x, y)"),
    ],
)
def test_proofs_that_need_no_such_set(a, b):
    assert attempt(a, b).proved


@pytest.mark.parametrize(
    ("a", "b"),
    [
        # both sides are defined where x is y alone, and the proof says nothing there
        (
            "abs((3*b - 1)*(2*b - 1)) + 0*sqrt(x - y) + 0*sqrt(y - x)/(x + 7)",
            "abs((3*b - 1)*(2*b - 1)) + 0*sqrt(x - y) + 0*sqrt(y - x)*(x + 7)**2/(x + 7)**3",
        ),
        ("0*acosh(p**(2/3)) + 0*asin(p**(2/3)) + sign(p - 1)**2", "0*acosh(p**(2/3)) + 0*asin(p**(2/3)) + 1"),
        ("sqrt(n - 3) + sqrt(3 - n) + sign(n - 3)**2", "sqrt(n - 3) + sqrt(3 - n) + 1"),
    ],
)
def test_a_proof_has_a_point_that_it_says_something_of(a, b):
    assert decide(equality(a, b), 3).status != "proved"


def test_a_sample_is_no_point_that_is_left_out():
    v = decide(equality("x/x + sqrt(x - 1)", "1 + sqrt(x - 1)"), 5)
    data = written(v)
    assert check(data).status == "proved"
    for x, status in (("1", "supported"), ("2", "proved"), ("1/2", "supported")):
        assert check({**data, "sample": {"point": {"x": x}, "sizes": {}}}).status == status


@pytest.mark.parametrize(
    ("a", "b", "edge"),
    [
        ("x/x + sqrt(x - 1)", "1 + sqrt(x - 1)", 1),
        ("x/x + asin(x)", "1 + asin(x)", -1),
        ("y/y + sqrt(x*y)", "1 + sqrt(x*y)", 0),
    ],
)
def test_the_order_of_points_decides_nothing(monkeypatch, a, b, edge):
    """At the edge of a domain nothing is defined around: a proof that leaves out points says nothing of it."""
    s, module = equality(a, b), import_module("symgrad.verification.decide")
    at = {x.name: Fraction(edge if x.name == "x" else 2) for x in s.equality.program.symbols}

    def points(of, *args, **more):
        found = refute(*args, **more)
        return replace(found, points=(SamplePoint(at, {}), *(found.points if of == "all" else ())))

    monkeypatch.setattr(module, "refute", partial(points, "all"))
    v = decide(s, 5)
    assert v.status == "proved"
    assert check(written(v)).status == "proved"
    monkeypatch.setattr(module, "refute", partial(points, "edge"))
    assert decide(s, 5).status != "proved"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("abs(pi - 3)", "pi - 3"),
        ("sign(erf(1/3) - gamma(1/3))", "-1"),
        ("x/(exp(1) - sin(2) - sqrt(2))*(exp(1) - sin(2) - sqrt(2))", "x"),
        ("where(polygamma(1, 2) > 1/2, x, y)", "x"),
    ],
)
def test_signs_of_numbers_are_computed(a, b):
    found = attempt(a, b)
    assert found.proved
    assert not [e for e in found.excluded if not e.startswith("cos")]


@pytest.mark.parametrize(
    ("power", "proved"),
    [
        ("0**p", True),
        ("0**(p*q + t)", True),
        ("(x - x)**(1/2)", True),
        ("0**(p - 1)", False),
        ("0**a", False),
    ],
)
def test_powers_of_zero(power, proved):
    """0**0 is 1, and 0**(-1/2) is nothing."""
    assert attempt(power, "0").proved is proved


def test_a_multiple_of_a_kernel_is_not_it():
    """gamma(1/2) is -gamma(-1/2)/2, and positive."""
    a, b = "0*gamma(-1/2) + 0*gamma(1/2) + abs(gamma(-1/2))", "0*gamma(-1/2) + 0*gamma(1/2) + gamma(-1/2)"
    assert not attempt(a, b).proved


ARRAYS = "x : real[n]\ny : real[n]\n"


LEFT_OUT = [
    ("sum(exp(log(x)))", "sum(x)", "an entry of x <= 0"),
    ("sum(x*y/y)", "sum(x)", "an entry of y = 0"),
    ("sum(sqrt(x)**2)", "sum(x)", "an entry of x < 0"),
    ("2*sum(sin(asin(x)))", "sum(2*sin(asin(x)))", "an entry of x is not in the domain of asin"),
    ("x/x", "ones(n)", "an entry of x = 0"),
    ("sum(x/(2*exp(y)))", "sum(x*exp(-y)/2)", None),
    ("x/(3*y**2)*y**2", "x/3", "an entry of y = 0"),
    ("(x - y)/(y - x)", "-ones(n)", "x[i] - y[i] = 0 for some i"),
    ("outer(x, y)/outer(x, y)", "ones((n, n))", "an entry of x = 0; an entry of y = 0"),
    ("A@inv(A)", "eye(n)", "A is singular"),
    ("inv(A.T)@A.T", "eye(n)", "A is singular"),
    ("inv(A + B)@(A + B)", "eye(n)", "A + B is singular"),
    ("inv(A.T@B)@A.T@B", "eye(n)", "A is singular; B is singular"),
    ("inv(B*A)@(A*B)", "eye(n)", "the matrix with entries A[i, j]*B[i, j] is singular"),
    ("det(A)/det(A)", "1", "A is singular"),
    ("sum(2*x[1:])", "2*sum(x[1:])", "n = 1"),
    ("sum(2*x[:-3])", "2*sum(x[:-3])", "n < 4"),
]
"""Of arrays: two sides, and where nothing is claimed."""


@pytest.mark.parametrize(("a", "b", "left_out"), LEFT_OUT)
def test_of_arrays_it_is_listed_where_nothing_is_claimed(a, b, left_out):
    program = sg.parse(f"{ARRAYS}A : real[n, n]\nB : real[n, n]\na_ = {a}\nb_ = {b}")
    v = sg.equal(program["a_"], program["b_"])
    assert v.status == "proved"
    assert "; ".join(sorted(v.excluded)) == (left_out or "")
    assert set(check(written(v)).excluded) == set(v.excluded)


@pytest.mark.parametrize(
    ("y", "wrt", "claim", "left_out"),
    [
        ("sum(abs(x))", "x", "sign(x)", "an entry of x = 0"),
        ("sum(relu(x - y))", "x", "where(x > y, 1, 0)", "x[i] - y[i] = 0 for some i"),
        ("sum(floor(x)*y)", "x", "zeros(n)", "an entry of x is a whole number"),
        ("sqrt(sum(x**2))", "x", "x/sqrt(sum(x**2))", "sum(x**2) = 0"),
        ("logdet(A)", "A", "inv(A).T", "A is singular"),
        ("logdet(A@A.T + eye(n))", "A", "2*inv(A@A.T + eye(n))@A", "A@A.T + eye(n) is singular"),
        ("logdet(X.T@X)", "X", "2*X@inv(X.T@X)", "X.T@X is singular"),
        ("norm(x - y)", "x", "(x - y)/norm(x - y)", "sum(x**2) - 2*sum(x*y) + sum(y**2) <= 0"),
    ],
)
def test_kinks_of_arrays_are_listed(y, wrt, claim, left_out):
    program = sg.parse(f"{ARRAYS}A : real[n, n]\nX : real[n, m]\ny_ = {y}")
    v = sg.verify(program["y_"], wrt, claim)
    assert v.status == "proved"
    assert "; ".join(v.excluded) == left_out


def test_letters_of_indices_are_no_names_of_the_program():
    program = sg.parse("i : real[n]\nj : real[n]\na = (i - j)/(i - j)")
    assert sg.equal(program["a"], "ones(n)").excluded == ("i[k] - j[k] = 0 for some k",)


def test_a_proof_is_for_all_sizes_if_there_are_any():
    named, literal = (sg.parse(f"x : real[{n}]\na = x + x\nb = 2*x") for n in ("n", "4"))
    for program, said in ((named, True), (literal, False)):
        v = sg.equal(program["a"], program["b"])
        assert v.status == "proved"
        assert ("for all sizes" in v.why) is said
        assert ("for all sizes" in check(written(v)).why) is said


@pytest.mark.parametrize("power", ["2**(-10**9)*x", "(2*x)**(10**9/3)", "(2*x)**(-10**9/3)"])
def test_high_powers_of_numbers_in_arrays_end_soon(power):
    program = sg.parse(f"x : positive[n]\na = sum({power})\nb = sum({power})*2")
    begun = now()
    assert sg.equal(program["a"], program["b"], time_limit=1).status != "proved"
    assert now() - begun < 4


def test_proofs_of_arrays_end_in_time():
    program = sg.parse(
        "A : real[n, n]\nB : real[n, n]\nC = A@A.T + eye(n)\n"
        "a = inv(eye(n) + (A + B)@C)\nb = eye(n) - (A + B)@inv(eye(n) + C@(A + B))@C"
    )
    s = equal(program["a"].node, program["b"].node)
    begun = now()
    with pytest.raises(GiveUp, match="time limit"):
        prove_equal(s.equality, deadline=begun + 0.2)
    assert now() - begun < 2


def test_a_function_at_zero_is_made_of_nothing():
    assert (
        attempt("x/gamma(p - p)*gamma(p - p) + abs(gamma(p - p) - 2)", "x").why
        == "the normal form of the difference is not 0"
    )
