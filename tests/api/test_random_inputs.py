"""Random inputs declared in Python, and tables of derivatives as LaTeX."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.errors import DeclarationError, ShapeError, UsageError
from symgrad.ir.size_substitution import resized
from symgrad.ir.traverse import digest, symbols_of


def test_they_are_those_of_programs() -> None:
    p = sg.parse("u ~ Uniform(0.9, 1.1)\nE ~ Normal(0, 2)[n, 3]\nk ~ Poisson(3)")
    assert sg.symbols("u", "Uniform(0.9, 1.1)").same(p["u"])
    assert sg.tensor("E", ("n", 3), "Normal(0, 2)").same(p["E"])
    assert sg.symbols("k", "Poisson(3)").same(p["k"])
    assert [e.same(p["u"]) for e in sg.symbols("u v", "Uniform(0.9, 1.1)")] == [True, False]


def test_parameters_are_expressions() -> None:
    p = sg.parse("t : real; mu : real[3]; s = exp(t); z ~ Normal(t, s); m ~ Normal(mu, s)[2, 3]")
    t, mu = sg.symbols("t"), sg.tensor("mu", (3,))
    assert sg.symbols("z", ("Normal", t, sg.exp(t))).same(p["z"])
    assert sg.tensor("m", (2, 3), ("Normal", mu, sg.exp(t))).same(p["m"])
    assert sg.symbols("u", ("Normal", 0, Fraction(1, 2))).same(sg.symbols("u", "Normal(0, 0.5)"))
    x = sympy.Symbol("x")
    assert sg.from_sympy(x, {"x": ("Normal", t, 1)}).same(sg.symbols("x", ("Normal", t, 1)))


def test_a_draw_of_positions() -> None:
    X, idx = sg.tensor("X", ("n", 2)), sg.tensor("idx", ("m",), ("Permutation", sg.size("n")))
    y = sg.mean(X[idx])
    assert y(X=np.arange(8.0).reshape(4, 2), idx=[3, 0]) == 3.5
    (fixed,) = resized([y.node], {"n": 4, "m": 2})
    assert [str(s.declaration) for s in symbols_of([fixed])] == ["X : real[4, 2]", "idx ~ Permutation(4)[2]"]
    with pytest.raises(ShapeError, match="3 different positions are drawn out of 2"):
        sg.tensor("k", (3,), "Permutation(2)")


def test_subs_draws_with_the_new_parameters() -> None:
    mu, s = sg.symbols("mu s")
    z = sg.symbols("z", ("Normal", mu, sg.exp(s)))
    y = z * mu
    again = y.subs(mu=2, s=mu)
    assert [str(i.node.declaration) for i in again.inputs] == ["z ~ Normal(2, exp(mu))"]
    assert y.subs(z=3).inputs == (mu,)
    with pytest.raises(DeclarationError, match="is not a distribution"):
        sg.symbols("w", ("Normal", 0, s)).subs(s=-1)
    with pytest.raises(DeclarationError, match="reads the random input 'u'"):
        y.subs(mu=sg.symbols("u", "Normal(0, 1)"))


def test_parameters_are_no_inputs() -> None:
    mu = sg.symbols("mu")
    z = sg.symbols("z", ("Normal", mu, 1))
    assert sg.compile([z**2])(3.0) == 9.0
    assert [str(i) for i in (z**2).inputs] == ["z"]
    assert pickle.loads(pickle.dumps(z * mu)).same(z * mu)


def test_kernels_of_equal_names_and_other_parameters_are_told_apart() -> None:
    of = lambda text: digest(sg.parse(text)["z"].node)  # noqa: E731
    assert of("mu : real; z ~ Normal(mu, 1)") == of("mu : real; z ~ Normal(mu, 1)")
    assert of("mu : real; z ~ Normal(mu, 1)") != of("mu : positive; z ~ Normal(mu, 1)")
    assert of("mu : real; z ~ Normal(mu, 1)") != of("mu : real; z ~ Normal(2*mu, 1)")


def test_what_is_known_of_symbolic_ends() -> None:
    p = sg.parse(
        "a : real(1, 2); b : real(3, 4); c : real; u ~ Uniform(a, b)\n"
        "v ~ Uniform(c, b); y = abs(u); z = abs(v)"
    )
    assert str(p["y"].canonical()) == "u"
    assert str(p["z"].canonical()) == "abs(v)"


@pytest.mark.parametrize(
    ("claim", "other", "status"),
    [
        ("abs(u - a)", "u - a", "supported"),  # equal for all draws: no point outside the support refutes
        ("sqrt((b - u)**2)", "b - u", "supported"),
        ("abs(s)*w", "s*w", "supported"),  # sd > 0
        ("abs(u)", "u", "refuted"),
    ],
)
def test_verdicts_take_points_that_can_be_drawn(claim: str, other: str, status: str) -> None:
    p = sg.parse(f"a, b, s : real; u ~ Uniform(a, b); w ~ Normal(0, s); one = {claim}; two = {other}")
    verdict = sg.equal(p["one"], p["two"])
    assert verdict.status == status
    if verdict.witness is not None:
        assert verdict.witness["a"] < verdict.witness["u"] < verdict.witness["b"]


@pytest.mark.parametrize(
    ("claim", "other", "status"),
    [
        ("sum(x[i])", "sum(x)", "supported"),  # each entry once: equal at all draws there can be
        ("sum(x[j])", "sum(x)", "refuted"),  # m of n
        ("abs(k[0] - k[1])", "maximum(abs(k[0] - k[1]), 1)", "supported"),  # whole numbers that differ
        ("c**2", "c", "supported"),  # 0 and 1
    ],
)
def test_verdicts_take_entries_that_can_be_drawn_together(claim: str, other: str, status: str) -> None:
    head = "x : real[n]; i ~ Permutation(n)[n]; j ~ Permutation(n)[m]; k ~ Permutation(5)[2]"
    p = sg.parse(f"{head}; c ~ Categorical([0.5, 0.5])\none = {claim}; two = {other}")
    assert sg.equal(p["one"], p["two"]).status == status


def test_their_noise_is_found() -> None:
    u, x = sg.tensor("u", ("n",), "Normal(0, 1)"), sg.tensor("x", ("n",))
    assert sg.explain(sg.sum(u * x**2), x).noise["u"].enters is True
    assert sg.explain(sg.sum(u + x**2), x).noise["u"].enters is False


@pytest.mark.parametrize(
    ("program", "enters"),
    [
        ("mu, x : real; s : positive; z ~ Normal(mu, s); y = x**2*z", True),
        ("a, b, x : real; u ~ Uniform(a, b); y = x*abs(u - a)", True),
        ("a, b, x : real; u ~ Uniform(a, b); y = x*maximum(a - u, 0)", None),  # no draw lies below a
        ("x : real[n]; i ~ Permutation(n)[m]; y = sum(x[i])", True),
        ("x : real[n]; i ~ Permutation(n)[n]; y = sum(x[i])", None),  # each entry once, whatever the order
        ("x, w : real[k]; c ~ Categorical(softmax(w)); y = x[c]", True),
        ("x : real; c ~ Categorical([0.2, 0.8]); y = x*c", True),
        ("x : real; c ~ Categorical([1.0]); y = x*c", False),  # 0 alone
        ("x : real; c ~ Cauchy(0, 1); y = x*c", True),
    ],
)
def test_noise_whose_draws_depend_on_parameters_or_each_other(program: str, enters: bool | None) -> None:
    p = sg.parse(program)
    (noise,) = sg.explain(p["y"], p["x"]).noise.values()
    assert noise.enters is enters


def test_what_is_no_distribution() -> None:
    with pytest.raises(DeclarationError, match="not a distribution"):
        sg.symbols("u", "Uniform(1, 0)")
    with pytest.raises(UsageError, match="unknown domain"):
        sg.symbols("u", "nosuch")
    with pytest.raises(DeclarationError):
        sg.tensor("u", (2, 2), "Normal(0, 1)", symmetric=True)


def test_all_derivatives_as_latex() -> None:
    p = sg.parse("alpha, x : real\nf = alpha*sin(x)")
    lines = sg.derivatives(p["f"], ["alpha", "x"], order=2).latex().splitlines()
    assert lines[0] == r"\begin{aligned}"
    assert lines[1] == r"\frac{\partial f}{\partial \alpha} &= \sin\left(x\right) \\"
    assert lines[4] == r"\frac{\partial^{2} f}{\partial \alpha \, \partial x} &= \cos\left(x\right) \\"
    assert lines[5].startswith(r"\frac{\partial^{2} f}{\partial x^{2}} &= ")
    assert not lines[5].endswith("\\")
    assert lines[6] == r"\end{aligned}"
