"""What is wrong is refuted by an exact point that the checker confirms; what is right never is."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.checker.balls.programs import in_domain
from symgrad.checker.check import check
from symgrad.checker.clock import now
from symgrad.checker.program.derivative import derivative_claim
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.checker.witness import Witness, distinct_values
from symgrad.errors import UsageError
from symgrad.frontend.text import parse_program
from symgrad.verification.points.sampler import points_of
from symgrad.verification.search.refute import Outcome, refute
from symgrad.verification.statement import program_of


def stated(a: str, b: str, declarations: str = "x : real") -> Equality:
    listing = parse_program(f"{declarations}\nleft = {a}\nright = {b}")
    sides = [listing.assignments["left"], listing.assignments["right"]]
    program, (i, j) = program_of(sides, list(listing.symbols.values()))
    return Equality(program, i, j)


def search(a: str, b: str, declarations: str = "x : real", **options: Any) -> Outcome:
    claim = replace(stated(a, b, declarations), **options)
    outcome = refute(claim, deadline=now() + 20)
    assert not outcome.out_of_time
    if outcome.witness is not None:
        assert distinct_values(claim, outcome.witness)
    for point in outcome.points:
        assert in_domain(claim.program, point.values, point.sizes)
    return outcome


def claim(y: str, wrt: str, derivative: str, declarations: str = "x : real") -> Outcome:
    listing = parse_program(f"{declarations}\ny = {y}\nclaim = {derivative}")
    sides = [listing.assignments["y"], listing.assignments["claim"]]
    program, (i, j) = program_of(sides, list(listing.symbols.values()))
    made = derivative_claim(program, i, wrt, j)
    outcome = refute(made)
    if outcome.witness is not None:
        assert distinct_values(made, outcome.witness)
    return outcome


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("exp(pi*sqrt(163))", "262537412640768744"),
        ("sqrt(x**2)", "x"),
        ("0.1 + 0.2", "0.3000000000000000000000000001"),
        ("floor(x)", "x - 1/2"),
        ("where(x == 7, 1, 0)", "0"),
        ("where(x > 1234567, 1, 0)", "0"),
        ("maximum(x, 2)", "where(x > 2, x, 2 + 10**(-30))"),
        ("sign(x)", "x/abs(x) + where(x == 3, 1, 0)"),
        ("asin(sin(x))", "x"),
        ("x**(1/3)", "cbrt(x)*(1 + 10**(-40))"),
        ("round(x)", "floor(x + 1/2)"),
        ("atan(x) + atan(1/x)", "pi/2"),
        ("sin(x)**2 + cos(x)**2", "1 + 10**(-300)"),
        ("x > 1", "x >= 1"),
        ("log(x)", "log(abs(x)) + 1/2**500"),
        ("x**2", "x**2 + exp(-100*(x - 3)**2)"),
    ],
)
def test_what_is_wrong_is_refuted(a: str, b: str) -> None:
    assert search(a, b).witness is not None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("0.1 + 0.2", "0.3"),
        ("x/x", "1"),
        ("log(x**2)", "2*log(x)"),
        ("sqrt(x)**2", "x"),
        ("sqrt(x**2)", "abs(x)"),
        ("sin(x)**2 + cos(x)**2", "1"),
        ("floor(-x)", "-ceil(x)"),
        ("where(x > 3, x, 3)", "maximum(x, 3)"),
        ("gamma(x + 1)", "x*gamma(x)"),
        ("(x**2 - 1)/(x - 1)", "x + 1"),
        ("exp(log(x))", "x"),
        ("acosh(cosh(x))", "abs(x)"),
        ("erf(x) + erfc(x)", "1"),
        ("2**(10**9)", "2**(10**9) + 1 - 1"),
        ("tan(atan(x))", "x"),
        ("digamma(x + 1)", "digamma(x) + 1/x"),
        ("polygamma(1, x)", "polygamma(1, 1 + x) + 1/x**2"),
        ("hypot(x, 1)", "sqrt(x**2 + 1)"),
    ],
)
def test_what_is_right_is_never_refuted(a: str, b: str) -> None:
    outcome = search(a, b)
    assert outcome.witness is None
    assert outcome.points
    assert outcome.digits is not None
    assert outcome.digits >= 8


def test_points_only_in_the_common_domain() -> None:
    outcome = search("log(x**2)", "2*log(x)")
    assert all(p.values["x"] > 0 for p in outcome.points)
    assert outcome.tried > len(outcome.points) > 20


@pytest.mark.parametrize(
    ("a", "b", "declarations"),
    [
        ("log(-x**2 - 1)", "1", "x : real"),
        ("asin(x)", "log(x - 2)", "x : real"),
        ("1/(x - x)", "x", "x : real"),
        ("9**9**9**9", "1", "x : real"),
        ("sum(sqrt(-1 - v**2))", "1", "v : real[n]"),
    ],
)
def test_an_empty_domain_has_no_points(a: str, b: str, declarations: str) -> None:
    outcome = search(a, b, declarations)
    assert (outcome.witness, outcome.points, outcome.digits) == (None, (), None)


def test_nested_fifty_deep() -> None:
    chain = "\n".join(f"a{i + 1} = sin(a{i})**2 + cos(a{i})**2" for i in range(50))
    assert search("a50", "1", f"x : real\na0 = x\n{chain}").witness is None
    off = search("a50", "1 + 10**(-40)", f"x : real\na0 = x\n{chain}").witness
    assert off is not None
    assert off.precision > 128


def test_domains_are_respected() -> None:
    # Each is right on its declared domain and wrong outside.
    assert search("abs(x)", "x", "x : positive").witness is None
    assert search("floor(x)", "0", "x : real(0, 1)").witness is None
    assert search("sin(pi*n)**2 < 1/2", "n == n", "n : int").witness is None
    assert search("where(b, 1, 0)*where(b, 0, 1)", "0", "b : bool").witness is None
    assert search("floor(n)", "n", "n : int").witness is None
    assert search("n*(n - 1)*(n - 2)*(n - 3)", "0", "n : int").witness is not None
    noise = search("k*(k - 1)", "0", "k ~ Bernoulli(0.5)")
    assert noise.witness is None
    assert {p.values["k"] for p in noise.points} == {0, 1}
    assert search("k*(k - 1)", "0", "k ~ Poisson(2)").witness is not None
    assert search("floor(u)", "0", "u ~ Uniform(0, 1)").witness is None
    assert search("u > 0.9", "u < 1.1", "u ~ Uniform(0.9, 1.1)").points
    assert search("v[i]", "v[i] + 0*sum(v)", "v : real[n]\ni : int[k]").points


def test_random_points_lie_inside_and_do_not_repeat() -> None:
    symbols = (
        Symbol("a", "real", Fraction(-1), Fraction(1, 3)),
        Symbol("b", "int", Fraction(2), Fraction(9)),
        Symbol("c", "real", None, Fraction(-5)),
        Symbol("d", "bool", None, None),
        Symbol("v", "real", Fraction(0), None, ("n", "n + 1")),
    )
    program = ProofProgram((), symbols)
    first = list(itertools.islice(points_of(program), 200))
    assert all(in_domain(program, p.values, p.sizes) for p in first)
    assert len({str(p) for p in first}) == 200
    assert [str(p) for p in itertools.islice(points_of(program), 200)] == [str(p) for p in first]
    assert {p.values["d"] for p in first} == {True, False}
    assert len({p.sizes["n"] for p in first}) > 1
    nowhere = ProofProgram((), (Symbol("n", "int", Fraction(2), Fraction(3)),))
    assert list(points_of(nowhere)) == []
    assert len(list(points_of(ProofProgram((), ())))) == 1


@pytest.mark.parametrize(
    ("y", "right", "wrong"),
    [
        ("x**3", "3*x**2", "3*x**2 + 10**(-25)"),
        ("abs(x)", "sign(x)", "where(x > 0, 1, 1)"),
        ("abs(x)", "where(x >= 0, 1, -1)", "where(x > 1, 1, -1)"),
        ("relu(x)", "where(x > 0, 1, 0)", "where(x > 0, 1, 1/2)"),
        ("maximum(x, 3)", "where(x >= 3, 1, 0)", "where(x >= 2, 1, 0)"),
        ("floor(x)", "0", "where(x > 9, 1, 0)"),
        ("log(x)", "1/x", "1/abs(2*x)"),
        ("x*stop_gradient(x)", "x", "2*x"),
        ("where(x > 0, log(x), 0)", "where(x > 0, 1/x, 0)", "1/x"),
        ("x**x", "x**x*(1 + log(x))", "x*x**(x - 1)"),
    ],
)
def test_claims_about_derivatives(y: str, right: str, wrong: str) -> None:
    # Kinks do not count; derivatives where the function has no value do not either: log at x < 0.
    agreed = claim(y, "x", right)
    assert agreed.witness is None
    assert agreed.points
    assert claim(y, "x", wrong).witness is not None


def test_claims_where_the_function_is_undefined_do_not_count() -> None:
    assert claim("log(x)", "x", "1/abs(x)").witness is None
    assert claim("log(x)", "x", "where(x < 0, 5, 1/x)").witness is None


@pytest.mark.parametrize(
    "y", ["maximum(x, stop_gradient(x))", "abs(x - stop_gradient(x))", "where(x > stop_gradient(x), x, 0)"]
)
def test_a_frozen_copy_ties_everywhere(y: str) -> None:
    # x and a constant that happens to agree with it: the kink is at every point.
    for derivative in ("0", "1", "1/2"):
        outcome = claim(y, "x", derivative)
        assert (outcome.witness, outcome.points) == (None, ())


def test_claims_about_arrays_name_the_entry() -> None:
    declared = "A : real[n, m]\nv : real[m]\nw : real[n]"
    right = claim("sum((A@v + w)**2)", "A", "2*outer(A@v + w, v)", declared)
    assert right.witness is None
    assert len(right.points) > 20
    off = "2*outer(A@v + w, v) + outer(arange(n) == 1, arange(m) == 2)*10**(-20)"
    wrong = claim("sum((A@v + w)**2)", "A", off, declared).witness
    assert wrong is not None
    assert np.argwhere(np.array(wrong.point["dA"], dtype=object) != 0).tolist() == [[1, 2]]
    with pytest.raises(UsageError, match="a claim of shape"):
        claim("sum((A@v + w)**2)", "A", "v", declared)


def test_arrays_are_compared_entry_by_entry() -> None:
    declared = "A : real[n, n]\nB : real[n, n]"
    assert search("(A@B).T", "B.T@A.T", declared).witness is None
    transposed = search("(A@B).T", "A.T@B.T", declared).witness
    assert transposed is not None
    assert len(transposed.index) == 2
    assert search("inv(A@B)", "inv(B)@inv(A)", declared).points
    assert search("det(A@B)", "det(A)*det(B)", declared).witness is None
    assert search("det(A + B)", "det(A) + det(B)", declared).witness is not None
    # One entry differs, the others are unknown.
    assert search("log(v)", "where(arange(n) == 1, log(v) + 1, log(v))", "v : real[n]").witness is not None


def test_the_checker_refuses_what_is_no_witness() -> None:
    claim = stated("sqrt(x**2)", "x", "x : real(-1, 1)")
    good = refute(claim).witness
    assert good is not None
    assert distinct_values(claim, good)
    elsewhere: list[Witness] = [
        replace(good, point={"x": Fraction(1, 2)}),
        replace(good, point={"x": Fraction(-2)}),
        replace(good, point={}),
        replace(good, index=(0,)),
    ]
    assert not any(distinct_values(claim, w) for w in elsewhere)
    undefined = stated("log(x)", "x")
    assert not distinct_values(undefined, Witness({"x": Fraction(-1)}, {}, 64, (), "0", "1"))
    kink = stated("where(x >= 0, 1, 0)", "0")
    tie = Witness({"x": Fraction(0)}, {}, 64, (), "1", "0")
    assert distinct_values(kink, tie)
    assert not distinct_values(replace(kink, strict="x"), tie)


def test_a_hundred_thousand_steps_in_seconds() -> None:
    steps = [ProofStep("symbol", (), ("x",)), ProofStep("number", (), (Fraction(1, 3),))]
    for i in range(33_000):
        last = len(steps) - 1
        steps += [
            ProofStep("sin", (last if i else 0,)),
            ProofStep("mul", (last + 1, 1)),
            ProofStep("add", (last + 2, 0)),
        ]
    steps.append(ProofStep("add", (len(steps) - 1, 1)))
    program = ProofProgram(tuple(steps), (Symbol("x", "real", None, None),))
    begun = now()
    assert refute(Equality(program, len(steps) - 1, len(steps) - 2)).witness is not None
    assert now() - begun < 5
    begun = now()
    late = refute(Equality(program, len(steps) - 2, len(steps) - 2), deadline=begun + 0.5)
    assert late.out_of_time
    assert late.witness is None
    assert now() - begun < 1.5


BUTLER_VOLMER = "F = 96485.33212\nR = 8.314462618\ni = i0*(exp(a*F*eta/(R*T)) - exp(-(1 - a)*F*eta/(R*T)))"


@pytest.mark.parametrize("declared", ["i0, eta, T, a : real", "i0, T : positive; a : real(0, 1); eta : real"])
@pytest.mark.parametrize(
    ("wrt", "claim"),
    [
        ("eta", "i0*F/(R*T)"),
        ("eta", "i0*F/(R*T)*(a*exp(a*F*eta/(R*T)) - (1 - a)*exp(-(1 - a)*F*eta/(R*T)))"),
        ("i0", "exp(a*F*eta/(R*T)) + exp(-(1 - a)*F*eta/(R*T))"),
    ],
)
def test_a_witness_has_plain_positive_inputs_and_values_of_moderate_size(
    declared: str, wrt: str, claim: str
) -> None:
    """With SI constants the points that are tried first give values such as 1e2000, or 1e-3000 at T < 0."""
    found = sg.verify(sg.parse(f"{declared}\n{BUTLER_VOLMER}")["i"], wrt, claim)
    assert found.status == "refuted"
    assert found.witness is not None
    assert found.values is not None
    assert all(v > 0 and v.denominator <= 1000 for v in found.witness.values())
    middles = [t.strip("[]").split(" +/- ")[0] for t in found.values]
    sizes = [abs(float(Fraction(t))) for t in middles]
    assert 1e-9 < max(sizes) < 1e12


def test_a_witness_stays_negative_where_it_has_to_be() -> None:
    p = sg.parse("x : real\na = abs(x)\nb = x")
    found = sg.equal(p["a"], p["b"])
    assert found.witness is not None
    assert found.witness["x"] < 0


@pytest.mark.parametrize(
    ("y", "claim", "status"),
    [
        ("x**2", "where(x == 0, 1, 2*x)", "refuted"),
        ("x**2", "where(x > 3, 2*x, where(x < 3, 2*x, 7))", "refuted"),
        ("sin(x)", "cos(x) + where(x == 1/3, 1, 0)", "refuted"),
        ("x**2", "2*abs(x)*sign(x)", "proved"),
        ("x**2", "2*x + floor(x) - floor(x)", "proved"),
        ("abs(x)", "where(x > 0, 1, where(x < 0, -1, 7))", "proved"),
        ("maximum(x, 0)", "where(x >= 0, 1, 0)", "proved"),
        ("maximum(x, 0)**2", "where(x == 1, 5, 2*maximum(x, 0))", "refuted"),
        ("maximum(x, 0)", "where(x > 0, 1, 0) + where(x == 2, 1, 0)", "refuted"),
        ("x*abs(x)", "2*abs(x)", "proved"),
    ],
)
def test_a_claim_is_wrong_at_a_choice_of_its_own(y: str, claim: str, status: str) -> None:
    """At kinks of what is differentiated nothing is claimed; at choices of the claim, where that is smooth, it is."""
    found = sg.verify(y, "x", claim)
    assert found.status == status
    assert found.proof is not None
    assert check(found.proof.data).status == status


def test_a_claim_by_an_array_is_wrong_at_a_choice_of_its_own() -> None:
    p = sg.parse("x : real[n]\ny = sum(x**2)\nz = sum(maximum(x, 0))")
    assert sg.verify(p["y"], "x", "where(x == 0, 1, 2*x)").status == "refuted"
    assert sg.verify(p["z"], "x", "where(x >= 0, 1, 0)").status == "proved"
