"""The search for proofs: what it must prove, what it must never prove."""

from __future__ import annotations

import random

import pytest

import symgrad as sg
from symgrad.checker.clock import now
from symgrad.errors import SymgradError
from symgrad.verification.decide import Claim, equal
from symgrad.verification.search import schwartz_zippel as chance
from symgrad.verification.search.prove import prove
from symgrad.verification.search.refute import refute
from symgrad.verification.search.schwartz_zippel import error_probability
from tests.verification.statements import DERIVATIVES, FALSE, TRUE, derivative, equality, random_pair


def proved(s: Claim) -> bool:
    return prove(s.equality.program, s.equality.a, s.equality.b, now() + 20).proved


@pytest.mark.parametrize(("a", "b"), TRUE)
def test_true_equalities_are_proved(a, b):
    assert proved(equality(a, b))


@pytest.mark.parametrize(("y", "wrt", "claim"), [row[:3] for row in DERIVATIVES if row[3]])
def test_true_derivatives_are_proved(y, wrt, claim):
    assert proved(derivative(y, wrt, claim))


@pytest.mark.parametrize(("y", "wrt", "claim"), [row[:3] for row in DERIVATIVES if not row[3]])
def test_false_derivatives_are_not(y, wrt, claim):
    assert not proved(derivative(y, wrt, claim))


@pytest.mark.parametrize("block", range(8))
def test_what_is_proved_has_no_counterexample_outside_the_listed_sets(block):
    """Laws that hold on a part of the domain, of random formulas: the prover and the balls must not disagree."""
    found = 0
    for seed in range(1000 + 25 * block, 1000 + 25 * (block + 1)):
        a, b = random_pair(seed)
        try:
            s = equality(a, b)
        except SymgradError:
            continue  # a domain that the front end already knows to be empty
        attempt = prove(s.equality.program, s.equality.a, s.equality.b, now() + 10)
        if attempt.proved:
            found += 1
            witness = refute(s.equality, deadline=now() + 5).witness
            thin = any("= 0" in e or "integer" in e for e in attempt.excluded)
            assert witness is None or thin, (a, b, witness, attempt.excluded)
    assert found > 3


def test_signs_that_relations_tie_are_excluded_where_they_vanish():
    """At a = 0 both roots are zero and say nothing of the signs of b and n."""
    attempt = prove(*statement("sign(b) + sqrt(a*b) + sqrt(a*n)", "sign(n) + sqrt(a*b) + sqrt(a*n)"))
    assert not attempt.proved or "a = 0" in attempt.excluded


def statement(a: str, b: str):
    s = equality(a, b)
    return s.equality.program, s.equality.a, s.equality.b, now() + 10


def test_a_nested_identity_of_depth_fifty():
    value = sg.symbols("x")
    for _ in range(50):
        value = sg.sin(value) ** 2 + sg.cos(value) ** 2
    assert proved(equal(value.node, sg.parse("1").result.node))


def test_growth_ends_in_time():
    text = "*".join(f"(x + {k}*y + sin({k}*x) + exp({k}*y))" for k in range(1, 40))
    begun = now()
    attempt = prove(*statement(f"({text})**3", "x")[:3], begun + 1)
    assert not attempt.proved
    assert now() - begun < 8


def test_the_chance_that_random_points_deceive():
    s = equality("(x + y)**40*(x - y)**40/(1 + x)", "(x**2 - y**2)**40/(x + 1)")
    found = error_probability(s.equality.program, s.equality.a, s.equality.b)
    assert found is not None
    assert 0 < found < 1e-50
    wrong = equality("(x + y)**40", "(x - y)**40 + 80*x**39*y")
    assert error_probability(wrong.equality.program, wrong.equality.a, wrong.equality.b) is None
    other = equality("sin(x)", "sin(x)*1")
    assert error_probability(other.equality.program, other.equality.a, other.equality.b) is None


def test_points_deceive_no_oftener_than_they_are_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a small field the polynomial of degree 40 with 40 roots vanishes at two points of five."""
    monkeypatch.setattr(chance, "_PRIME", 101)
    rng = random.Random(0)
    monkeypatch.setattr(chance.random, "SystemRandom", lambda: rng)
    zero = equality("*".join(f"(x - {k})" for k in range(40)), "0*x")
    for points in (1, 2, 3):
        monkeypatch.setattr(chance, "CHANCE_POINTS", points)
        found = [
            error_probability(zero.equality.program, zero.equality.a, zero.equality.b) for _ in range(800)
        ]
        said = {c for c in found if c is not None}
        assert said == {(40 / 101) ** points}
        assert abs(sum(c is not None for c in found) / 800 - (40 / 101) ** points) < 0.06


@pytest.mark.parametrize("count", [2, 6, 7, 8])
@pytest.mark.parametrize("inside", ["{}", "where(p > q, {}, x)"])
def test_signs_that_are_too_many_to_go_through_prove_nothing(count, inside):
    """Neither that the sides are equal, nor that no point has such signs, be it in one case of two."""
    terms = ["x", "y", "a", "b", "(x + y)", "(a + b)", "(x - a)", "(y - b)"][:count]
    left, right = " + ".join(f"abs({t})" for t in terms), " + ".join(terms)
    attempt = prove(*statement(inside.format(left), inside.format(right)))
    assert not attempt.proved
    assert not attempt.empty


@pytest.mark.parametrize(
    ("op", "truth"),
    [
        ("{0} and {1}", lambda a, b: a and b),
        ("{0} or {1}", lambda a, b: a or b),
        ("({0}) ^ ({1})", lambda a, b: a != b),
        ("not {0}", lambda a, b: not a),
        ("not ({0} and {1})", lambda a, b: not (a and b)),
        ("not {0} or {1}", lambda a, b: not a or b),
        ("({0}) ^ (not {1})", lambda a, b: a == b),
    ],
)
def test_conditions_are_those_of_their_truth_tables(op, truth):
    """Judged by Python: as nested choices, of which any one that is wrong is not proved."""
    condition = op.format("x > 1", "y > x**2")

    def chosen(flipped):
        ways = [(a, b) for a in (True, False) for b in (True, False)]
        values = [1 + (truth(a, b) == (k == flipped)) for k, (a, b) in enumerate(ways)]
        return "where(x > 1, where(y > x**2, {}, {}), where(y > x**2, {}, {}))".format(*values)

    claim = f"where({condition}, 1, 2)"
    assert proved(equality(claim, chosen(None)))
    for k in range(4):
        assert not proved(equality(claim, chosen(k))), k


def test_every_false_statement_is_left_to_its_witness():
    for a, b in FALSE:
        s = equality(a, b)
        attempt = prove(s.equality.program, s.equality.a, s.equality.b, now() + 10)
        assert not attempt.proved or attempt.excluded, (a, b)
