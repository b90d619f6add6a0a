"""Noise that cancels although no simplified form of the gradient says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.analysis.explain.derivation import explain
from symgrad.analysis.explain.noise.cancellation import compare_draws, without
from symgrad.analysis.explain.noise.sample_points import as_floats
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.frontend.text import parse_program
from symgrad.ir.notation.printer import str_text
from symgrad.ir.values.evaluate import evaluate

BATCH = "x : real[n]\ngamma : real\nbeta : real\nu ~ Normal(0, 1/10)[n]\nz = x + u\nd = z - mean(z)\n"
NORM = BATCH + "h = d/sqrt(mean(d**2) + 1e-5)\n"
LAYER = "x : real[n]\nw : real[n]\nu ~ Normal(0, 1)\nz = x + u\n"
SCALED = "x : real[n]\nw : real[n]\nu ~ Uniform(1, 2)\nz = x*u\n"

# The loss, by what it is differentiated, and what the gradient is then.
CANCELS = {
    "centred": (BATCH + "y = mean((d + beta)**2)", "beta", "2*beta"),
    "batch norm": (NORM + "y = mean((gamma*h + beta)**2)", "beta", "2*beta"),
    "layer norm": (LAYER + "d = z - mean(z)\ny = sum(w*d/sqrt(mean(d**2) + 1e-5))", "x", None),
    "cross entropy": (LAYER + "y = sum(w*(logsumexp(z) - z))", "x", "softmax(x)*sum(w) - w"),
    "logsumexp": (LAYER + "y = logsumexp(z) - u", "x", "softmax(x)"),
    "softmax": (LAYER + "y = sum(w*softmax(z))", "x", None),
    "log_softmax": (LAYER + "y = sum(w*log_softmax(z))", "x", "w - softmax(x)*sum(w)"),
    "ratio": (SCALED + "y = sum(w*z/sum(z))", "x", "w/sum(x) - w@x/sum(x)**2"),
}

# The like, where it does not.
ENTERS = {
    "centred by another": (BATCH + "y = mean((x + 2*u - mean(z) + beta)**2)", "beta"),
    "batch norm by its scale": (NORM + "y = mean((gamma*h + beta)**2)", "gamma"),
    "noise behind the norm": (NORM + "y = mean((gamma*h + beta + u)**2)", "beta"),
    "noise of each entry": (LAYER.replace("(0, 1)", "(0, 1)[n]") + "y = logsumexp(z)", "x"),
    "logsumexp of multiples": (SCALED + "y = logsumexp(z)", "x"),
    "ratio of shifts": (LAYER + "y = sum(w*z/sum(z))", "x"),
    "cross entropy of weights": (SCALED + "y = sum(w*(logsumexp(x)*u - x))", "x"),
}


def judged(program: str, by: str) -> NoiseVerdict:
    listing = parse_program(program)
    return explain(listing["y"], [listing[by]], listing).noise["u"]


@pytest.mark.parametrize("case", CANCELS)
def test_it_cancels(case: str) -> None:
    program, by, gradient = CANCELS[case]
    verdict = judged(program, by)
    assert (verdict.enters, verdict.how) == (False, "any two draws are proved to give the same gradient")
    assert verdict.reason.endswith("but cancels: the gradient does not depend on it")
    y = sg.parse(program)["y"]
    audit = sg.audit(y, by)["u"]
    assert audit.how == "closed form"
    assert gradient in (None, str(audit.expectation))
    assert "u" not in {s.name for s in audit.expectation.inputs}
    for moment in (audit.variance, audit.bias):
        assert str(moment) in ("0", "zeros(n)")
    assert [f for f in sg.lint(y, by, noise="u") if f.code == "SG103"] == []
    assert str(sg.placement(y, by, "u")).startswith("nothing to do")


@pytest.mark.parametrize("case", CANCELS)
def test_the_mean_is_the_gradient(case: str) -> None:
    """The closed form without noise is the gradient of the program as it runs, with any draw."""
    program, by, _ = CANCELS[case]
    y = sg.parse(program)["y"]
    rng = np.random.default_rng(0)
    values = {str(e.name): rng.uniform(1, 2, 3 if e.shape else ()) for e in y.inputs if e.name != "u"}
    u = next(e for e in y.inputs if e.name == "u")
    mean = sg.audit(y, by)["u"].expectation
    found = [
        sg.compile(sg.grad(y, by))(**values, u=rng.uniform(1, 2, 3 if u.shape else ())) for _ in range(2)
    ]
    known = {str(e.name): values[str(e.name)] for e in mean.inputs}
    for gradient in found:
        np.testing.assert_allclose(gradient, sg.compile(mean)(**known), rtol=1e-9)


@pytest.mark.parametrize("case", ENTERS)
def test_it_enters(case: str) -> None:
    verdict = judged(*ENTERS[case])
    assert (verdict.enters, verdict.witness is not None) == (True, True)


def test_one_of_two_gradients() -> None:
    """What enters one gradient may cancel in another, whose mean is as short as it is alone."""
    audit = sg.audit(sg.parse(NORM + "y = mean((gamma*h + beta)**2)")["y"], ["beta", "gamma"])["u"]
    assert audit.enters is True
    assert (str(audit.expectation[0]), str(audit.variance[0]), str(audit.bias[0])) == ("2*beta", "0", "0")


def test_two_inputs_of_which_one_cancels() -> None:
    p = sg.parse(LAYER + "v ~ Uniform(1, 3)\ny = v*(logsumexp(z) - u)")
    audit = sg.audit(p["y"], "x")
    assert (audit["u"].enters, audit["v"].enters) == (False, True)
    assert str(audit.expectation) == "2*softmax(x)"


def test_two_draws_that_differ_are_told() -> None:
    p = parse_program("x : real; u ~ Uniform(1, 2); g = x*u")
    found = compare_draws([p["g"]], p["u"])
    assert found.same is False
    assert found.witness is not None
    point, draws = found.witness.values, found.witness.draws
    expected = [
        evaluate([p["g"]], {p["x"]: as_floats(p["x"], point["x"]), p["u"]: as_floats(p["u"], d)})[0]
        for d in draws
    ]
    assert [float(g) for g in found.witness.gradients] == pytest.approx(expected)


def test_where_a_choice_is_left_out_nothing_is_proved() -> None:
    """Both sides are x wherever the quotient exists; but what is left out is where the condition turns."""
    p = parse_program("x : real; u ~ Normal(0, 1); g = where(x*u/u > 0, x, 2*x)")
    assert without(p["g"], p["u"]) is None


def test_a_number_in_its_place_is_one_that_it_takes() -> None:
    p = parse_program(
        "x : real; u ~ Uniform(4, 7); v ~ Exponential(2); g = x*exp(u)/exp(u + 1)*log(v)/log(v**2)"
    )
    fixed = without(p["g"], p["u"])
    assert fixed is not None
    assert "11/2" in str_text(fixed)
    both = without(fixed, p["v"])
    assert both is not None
    assert sg.equal(str_text(both), "x*exp(-1)/2").status == "proved"


PARTS = (
    "logsumexp({0}) - u",
    "sum(softmax({0})*x)",
    "sum(log_softmax({0})*x)",
    "sum(({0} - mean({0}))**2)",
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3),
    st.sampled_from(("", "*u", "+ {0}@x", "*sum({0}**2)")),
)
def test_sums_of_what_a_shift_does_not_change(parts: list[str], spoiled: str) -> None:
    """Noise enters exactly if something is there that a shift changes."""
    text = " + ".join(f"({p})" for p in parts).format("(x + u)")
    program = f"x : real[n]\nu ~ Normal(0, 1)\ny = ({text}){spoiled.format('(x + u)')}"
    assert judged(program, "x").enters is (spoiled != "")
