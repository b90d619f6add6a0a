"""Derivatives by what a distribution depends on: refused, with the form that has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import MissingInputError, RandomParameterError

CURES = [
    ("mu : real; z ~ Normal(mu, 2)", "mu", "declare eps ~ Normal(0, 1), and write z = mu + 2*eps"),
    ("t : real; s = exp(t); z ~ Normal(1, s)", "t", "declare eps ~ Normal(0, 1), and write z = 1 + s*eps"),
    ("t : real; s = exp(t); z ~ Normal(1, s)", "s", "declare eps ~ Normal(0, 1), and write z = 1 + s*eps"),
    (
        "mu, eps : real; z ~ LogNormal(mu, eps)",
        "mu",
        "declare eps2 ~ Normal(0, 1), and write z = exp(mu + eps*eps2)",
    ),
    ("a, b : real; z ~ Uniform(a, b)", "b", "declare eps ~ Uniform(0, 1), and write z = a + (b - a)*eps"),
    ("r : positive; z ~ Exponential(r)", "r", "declare eps ~ Exponential(1), and write z = eps/r"),
    ("k, t : positive; z ~ Gamma(k, t)", "t", "declare eps ~ Gamma(k, 1), and write z = t*eps"),
    ("m : real[3]; z ~ Laplace(m, 1)[3]", "m", "declare eps ~ Laplace(0, 1)[3], and write z = m + eps"),
    ("m : real[3]; z ~ Laplace(m, 1)[3]", "m[1]", "declare eps ~ Laplace(0, 1)[3], and write z = m + eps"),
    ("m : real; z ~ Cauchy(m, 1)", "m", "declare eps ~ Cauchy(0, 1), and write z = m + eps"),
    (
        "k, t : positive; z ~ Gamma(k, t)",
        "k",
        "a draw from Gamma(k, t) is no smooth function of a standard one",
    ),
    (
        "a : positive; z ~ Beta(a, 1)",
        "a",
        "differentiates its probability instead: sg.audit(y, 'a')",
    ),
    ("p : real(0, 1); z ~ Bernoulli(p)", "p", "stop_gradient(z) is the draw as data"),
    ("p : positive; z ~ Poisson(p)", "p", "sg.audit(y, 'p')"),
    ("w : real[3]; z ~ Categorical(softmax(w))", "w", "sg.audit(y, 'w')"),
]


@pytest.mark.parametrize(("program", "wrt", "cure"), CURES)
def test_the_cure_is_in_the_names_of_the_program(program: str, wrt: str, cure: str) -> None:
    p = sg.parse(f"{program}; x : real; y = sum(x*z)")
    with pytest.raises(RandomParameterError) as caught:
        sg.grad(p["y"], wrt)
    error = caught.value
    assert cure in str(error.cure)
    assert error.what.startswith("'z' is drawn from ")
    assert error.at is not None
    assert error.at.source.text[error.at.span.start] == "z"
    assert sg.grad(p["y"], "x").same(sg.parse("sum(z)", symbols={"z": p["z"]}).last) or p["z"].shape == ()


@pytest.mark.parametrize(
    ("program", "wrt", "cure"), [c for c in CURES if "declare" in c[2] and "[" not in c[1]]
)
def test_what_the_cure_says_has_the_gradient(program: str, wrt: str, cure: str) -> None:
    """The line of the draw goes, and those of the cure take its place; what is drawn then moves with its parameters."""
    found = re.fullmatch(r"declare (.*), and write (.*)", cure)
    assert found is not None
    rest = [line for line in program.split("; ") if not line.startswith("z ~")]
    p = sg.parse("; ".join([*rest, *found.groups(), "y = sum(z**2)"]))
    assert sg.grad(p["y"], wrt).nothing is None


VERBS: dict[str, Callable[[sg.Program], Any]] = {
    "grad": lambda p: sg.grad(p["y"], "mu"),
    "grad of several": lambda p: sg.grad(p["y"], ["x", "mu"]),
    "gradients": lambda p: sg.gradients(p["y"], "mu"),
    "vjp": lambda p: sg.vjp(p["y"], "mu", 1),
    "jvp": lambda p: sg.jvp(p["y"], "mu", 1),
    "jacobian": lambda p: sg.jacobian(p["y"], "mu"),
    "hessian": lambda p: sg.hessian(p["y"], "mu"),
    "hvp": lambda p: sg.hvp(p["y"], "mu", 1),
    "derivatives": lambda p: sg.derivatives(p["y"], ["mu"], order=2),
    "value_and_grad": lambda p: sg.value_and_grad(p["y"], "mu"),
    "explain": lambda p: sg.explain(p["y"], "mu"),
    "effective": lambda p: sg.effective(p["y"], "mu"),
    "equivalent": lambda p: sg.equivalent(p["y"], p["y"] + 0 * p["x"], "mu"),
    "verify": lambda p: sg.verify(p["y"], wrt="mu", claim="x"),
    "minimize": lambda p: sg.minimize(p["y"], over=["mu"], start={"mu": 0.0}, data={"x": 1.0}),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_refuses_it(verb: str) -> None:
    p = sg.parse("mu, x : real; z ~ Normal(mu, 1); y = x*z + mu")
    with pytest.raises(RandomParameterError, match="whose mean depends on 'mu'"):
        VERBS[verb](p)


@pytest.mark.parametrize(
    ("program", "wrt", "derivative"),
    [
        ("mu, x : real; z ~ Normal(mu, 1); y = x*z", "x", "z"),
        ("mu, x : real; z ~ Normal(mu, 1); y = x*z", "z", "x"),
        ("mu, x : real; z ~ Normal(mu, 1); y = x*mu", "mu", "x"),
        (
            "mu, x : real; z ~ Normal(mu, 1); y = stop_gradient(z)*mu",
            "mu",
            "stop_gradient(z)",
        ),  # the draw as data
        ("mu, x : real; z ~ Normal(stop_gradient(mu), 1); y = z*mu", "mu", "z"),
        ("mu, x : real; m = 2*mu; z ~ Normal(m, 1); h = z**2; y = h*x", "h", "x"),
    ],
)
def test_what_does_not_move_with_a_draw(program: str, wrt: str, derivative: str) -> None:
    p = sg.parse(program)
    assert str(sg.grad(p["y"], wrt)) == derivative


def test_noise_at_a_mean_that_is_an_expression() -> None:
    p = sg.parse("mu : real; s : positive; x : real; z ~ LogNormal(mu, s); y = x*z")
    clean = sg.ignore_noise(p["y"], ["z"])
    assert sg.equal(sg.grad(clean, "mu"), "x*exp(mu + s**2/2)", values_only=True).status == "proved"
    assert sg.explain(clean, "mu").noise["z"].enters is False
    assert clean(x=2.0, z=3.0, mu=0.0, s=1.0) == 6.0


def test_no_mean() -> None:
    p = sg.parse("x : real; c ~ Cauchy(0, 1); y = x*c")
    with pytest.raises(sg.errors.UsageError, match=r"'c' is drawn from Cauchy\(0, 1\), which has no mean"):
        sg.ignore_noise(p["y"], "c")


def test_training_draws_with_parameters_of_the_loss() -> None:
    p = sg.parse("w : real[k]; s : positive; z ~ Normal(s, s/1000)[k]; loss = sum((w - z)**2) + 0*s")
    found = sg.train(p["loss"], {"w": [0.0, 1.0]}, {"s": 2.0}, wrt=["w"], steps=600, rate=0.02)
    np.testing.assert_allclose(found["w"], [2.0, 2.0], atol=0.05)
    q = sg.parse("w, t : real; z ~ Normal(t, 1); loss = (w - z)**2")
    with pytest.raises(MissingInputError, match="'t' has no value"):
        sg.train(q["loss"], {"w": 0.0}, steps=3)
