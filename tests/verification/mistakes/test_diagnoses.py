"""What a verdict says of the mistakes in a claim, when it looks for them, and what is kept."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy

import pytest
from click.testing import CliRunner

import symgrad as sg
from symgrad.apps.cli import main
from symgrad.verification.diagnosis import Diagnoses, Diagnosis
from symgrad.verification.mistakes import diagnoses as told

PROGRAM = "x, w : real\nh = w*x\ny = x**2 + sin(h)**2"
CLAIM = "2*x + 2*sin(h)*cos(h)"


def verdict(claim: str = CLAIM):
    return sg.verify(sg.parse(PROGRAM)["y"], "x", claim)


def test_it_has_kind_place_sentence_and_the_right_formula() -> None:
    first = verdict().diagnosis[0]
    assert first.kind == "forgot-inner-derivative"
    assert first.message.endswith("the inner derivative of `sin(h)` at line 3, column 12")
    assert first.where is not None
    assert first.where.source.text[first.where.span.start : first.where.span.end] == "sin(h)"
    assert first.corrected == str(sg.grad(sg.parse(PROGRAM)["y"], "x"))


def test_the_text_names_a_kind_once_and_the_right_derivative() -> None:
    lines = str(verdict()).splitlines()
    assert sum(line.startswith("  forgot-inner-derivative: ") for line in lines) == 1
    assert lines[-1] == "  right is: 2*(w*cos(h)*sin(h) + x)"


def test_it_is_looked_for_when_first_asked_and_then_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    original = told.diagnose

    def counted(question: told.WrongClaim) -> list[Diagnosis]:
        asked.append(question)
        return original(question)

    monkeypatch.setattr(told, "diagnose", counted)
    v = verdict()
    assert asked == []
    assert v.diagnosis == v.diagnosis != []
    str(v)
    v.to_json()
    assert len(asked) == 1


def test_it_survives_pickling_copying_and_json() -> None:
    v = verdict()
    again = pickle.loads(pickle.dumps(v))
    assert again.diagnosis == v.diagnosis == deepcopy(v).diagnosis
    entry = json.loads(json.dumps(v.to_json()))["diagnosis"][0]
    assert entry["kind"] == "forgot-inner-derivative"
    assert entry["where"] == {"source": "<text>", "line": 3, "column": 12, "text": "sin(h)"}
    assert entry["corrected"] == v.diagnosis[0].corrected


@pytest.mark.parametrize("claim", ["2*x + 2*w*sin(h)*cos(h)", "2*x + w*sin(2*h)"])
def test_a_right_claim_has_none(claim: str) -> None:
    v = verdict(claim)
    assert v.status == "proved"
    assert v.diagnosis == []
    assert v.to_json()["diagnosis"] == []


def test_nothing_is_said_where_no_mistake_is_recognised() -> None:
    v = verdict("gamma(x**2 + 3) - w")
    assert v.status == "refuted"
    assert v.diagnosis == []
    assert "right is" not in str(v)


def test_a_claim_that_is_an_expression_has_no_text_of_its_own() -> None:
    p = sg.parse(PROGRAM)
    x, h = p["x"], p["h"]
    v = sg.verify(p["y"], x, 2 * x + 2 * sg.sin(h) * sg.cos(h))
    assert v.diagnosis[0].kind == "forgot-inner-derivative"


SAHA = "T : positive\ny = T**1.5*exp(-157800/T)"  # zero, to floats, where T is about 1


@pytest.mark.parametrize(
    ("claim", "first"),
    [
        ("y*(5/2 + 157800/T)/T", None),
        ("y*(3/2 + 157800/T**2)/T", None),
        ("y*(3/2 + 157800/T)/(3*T)", "constant-factor"),
        ("y*157800/T**2", "product-rule-lost-term"),
    ],
)
def test_of_a_point_or_two_no_factor_is_told(claim: str, first: str | None) -> None:
    found = sg.verify(sg.parse(SAHA)["y"], "T", claim).diagnosis
    assert (found[0].kind if found else None) == first


def test_a_term_that_floats_do_not_see_is_no_tie() -> None:
    # With the exponent kept the derivative of c**3 is as good as nothing beside the other term.
    p = sg.parse("T : positive\nc = 1e-10/sqrt(T)\ny = exp(-157800/T)/c**3")
    kinds = [d.kind for d in sg.verify(p["y"], "T", "157800*y/T**2").diagnosis]
    assert kinds[0] == "treated-variable-as-constant"
    assert "power-kept-exponent" not in kinds


def test_mistakes_are_recognised_in_large_values() -> None:
    assert sg.verify("6.02e23*x**3", "x", "6.02e23*x**2").diagnosis[0].kind == "power-lost-factor"
    assert sg.verify("1e13*sin(x)", "x", "-1e13*cos(x)").diagnosis[0].kind == "wrong-sign-trig"


def test_a_factor_is_told_in_the_numbers_of_the_program() -> None:
    p = sg.parse("T : positive\ny = exp(-1/(8.314*T))")
    assert "times 8.314" in sg.verify(p["y"], "T", "y/T**2").diagnosis[0].message
    assert "times 2/3" in sg.verify(p["y"], "T", "2*y/(3*8.314*T**2)").diagnosis[0].message


def test_two_mistakes_at_once() -> None:
    v = sg.verify(
        sg.parse("x, w, c : real; y = sin(w*x) + x*cos(c*x)")["y"], "x", "cos(w*x) + cos(c*x) + c*x*sin(c*x)"
    )
    first = v.diagnosis[0]
    assert first.kind == "forgot-inner-derivative+wrong-sign-trig"
    assert first.message.startswith("two mistakes: ")


def test_by_an_intermediate_value() -> None:
    v = sg.verify(sg.parse("x : real; h = x**2; y = h**3 + sin(2*h)")["y"], "h", "3*h**2 + cos(2*h)")
    assert v.diagnosis[0].kind == "forgot-inner-derivative"


def test_the_jacobian_of_an_array() -> None:
    v = sg.verify(sg.parse("x : real[n]; A : real[n, n]; y = A@x + x**3")["y"], "x", "A.T + diag(3*x**2)")
    assert "missing-transpose" in {d.kind for d in v.diagnosis}
    v = sg.verify(sg.parse("x, a : real[n]; y = a*x**3")["y"], "x", "diag(a*x**2)")
    assert "power-lost-factor" in {d.kind for d in v.diagnosis}


def test_in_the_domain_of_the_claim() -> None:
    v = sg.verify("log(1 - x**2)", "x", "2*x/(1 - x**2)", domain={"x": "real(-1, 1)"})
    assert "lost-minus" in {d.kind for d in v.diagnosis}


def test_claims_whose_shapes_disagree() -> None:
    p = sg.parse("X : real[n, d]\ny : real[n]\nw : real[d]\nloss = sum((X@w - y)**2)/2")
    first = sg.verify(p["loss"], "w", "X@(X@w - y)").diagnosis[0]
    assert first.message == "the claim lacks a transpose of `X` in `X@(X@w - y)`"
    assert first.where is not None
    assert first.where.source.name == "the claim"
    first = sg.verify(p["loss"], "w", "X.T*(X@w - y)").diagnosis[0]
    assert first.kind == "missing-broadcast-sum"


def test_complex_claims_and_large_arrays_are_told_nothing() -> None:
    assert sg.verify("log(z)", "z", "2/z", domain="complex").diagnosis == []
    assert sg.verify("x : real[100]; y = sum(x**2)", "x", "x").diagnosis == []


def test_the_command_says_it() -> None:
    args = ["verify", "-", "--of", "y", "--wrt", "x", "--claim", CLAIM]
    done = CliRunner().invoke(main, args, input=PROGRAM)
    assert done.exit_code == 5, done.output
    assert "forgot-inner-derivative: this is what one gets" in done.output
    done = CliRunner().invoke(main, [*args, "--format", "json"], input=PROGRAM)
    assert json.loads(done.output)["diagnosis"][0]["kind"] == "forgot-inner-derivative"


def test_known_ones_come_first() -> None:
    known, other = Diagnosis("a", "first"), Diagnosis("b", "second")
    assert Diagnoses([known]).with_more(lambda: [other]).all() == (known, other)


POWER = "T : size; a : real\nh[0] = 1\nh[t] = a*h[t-1] for t in 1..{}\ny = h[{}]"
FROM_4 = "T : size; a : real\nh[0] = 1\nh[t] = a*where(t >= 4, 2, 1)*h[t-1] for t in 1..T\ny = h[T]"
AT_4 = "T : size; a : real\nh[0] = 1\nh[t] = a*where(t == 4, 2, 1)*h[t-1] for t in 1..T\ny = h[T]"
LATE = "T : size; a : real\nh[0] = 1\nh[t] = a*where(t > 25, 3, 1)*h[t-1] for t in 1..T\ny = h[T]"


@pytest.mark.parametrize(
    ("program", "claim", "kind"),
    [
        (POWER.format("T", "T"), "T*a**T", None),  # the factor is a
        (POWER.format("9", "9"), "9*a**9", None),
        (POWER.format("9", "9"), "9*a**8*abs(a)/a", None),
        (POWER.format("T", "T"), "(-1)**T*T*a**(T-1)", None),  # the sign is lost for all odd lengths
        (FROM_4, "2*T*a**(T-1)", None),  # half of the derivative, for T = 5 alone
        (FROM_4, "-4*T*a**(T-1)", None),
        (AT_4, "T*a**(T-1)", None),  # half of the derivative from T = 4 on
        (LATE, "2*T*a**(T-1)", None),
        (POWER.format("T", "T"), "a**(T-1)", "factor-n"),
        (POWER.format("T", "T"), "-T*a**(T-1)", "lost-minus"),
        (LATE, "2*T*a**(T-1)*3**maximum(T-25, 0)", "factor-2"),
    ],
)
def test_a_mistake_explains_a_claim_at_all_points_and_lengths(
    program: str, claim: str, kind: str | None
) -> None:
    found = sg.verify(sg.parse(program)["y"], "a", claim)
    assert found.status == "refuted"
    assert (found.diagnosis[0].kind if found.diagnosis else None) == kind


def test_a_wrong_rewriting_explains_an_equation_for_all_lengths() -> None:
    y = sg.parse(FROM_4.replace("a*", "").replace("h[0] = 1", "h[0] = a"))["y"]
    for claim, kinds in (("2*a", []), ("4*a", []), ("-2**maximum(T - 3, 0)*a", ["lost-minus"])):
        found = sg.equal(y, claim)
        assert found.status == "refuted"
        assert sorted({d.kind for d in found.diagnosis}) == kinds
