"""Jumps that a parameter moves: the gradient of a mean is the mean of the gradient and the terms that are named."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import symgrad as sg

FAMILIES = {
    "Uniform(-1, 2)": stats.uniform(-1, 3),
    "Normal(0.3, 0.8)": stats.norm(0.3, 0.8),
    "LogNormal(0, 0.5)": stats.lognorm(0.5),
    "Exponential(2)": stats.expon(scale=0.5),
    "Gamma(2, 0.5)": stats.gamma(2, scale=0.5),
    "Beta(2, 3)": stats.beta(2, 3),
    "Laplace(0.2, 0.7)": stats.laplace(0.2, 0.7),
}
# With the value of u at which they jump.
VALUES = [
    ("where(u < t, 1, 0)**2*t", lambda t: t),
    ("where(u >= t, sin(u), t**2)", lambda t: t),
    ("where(2*u + 1 > t**2, t, u*t)", lambda t: (t**2 - 1) / 2),
    ("where(-u*t < -0.3, exp(-u), 2 + t)", lambda t: 0.3 / t),
    ("t*sign(u - t)*u", lambda t: t),
    ("where(t*exp(u) > 1.5, u**2, t)", lambda t: math.log(1.5 / t)),
    ("where(u < t and u < 5, u, t - 3)", lambda t: t),
    ("where(u < t, u - t, 0) + where(u > t/2, 1, 0)", lambda t: t / 2),
    ("where(not u < t, t, stop_gradient(t)*u + 1)", lambda t: t),
]


def _mean(f: Callable[[float], float], density: Any, *cuts: float) -> float:
    low, high = density.support()
    inner = [x for x in (*cuts, density.median()) if low < x < high]
    ends = sorted({max(low, -12.0), *inner, min(high, 12.0)})
    return sum(quad(lambda u: f(u) * density.pdf(u), a, b, limit=200)[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("value", "cut"), VALUES)
def test_a_mean_has_the_gradient_with_the_terms(family, value, cut) -> None:
    p = sg.parse(f"t : real\nu ~ {family}\ny = {value}")
    d = sg.explain(p["y"], "t")
    assert d.jumps
    held = p["y"]
    slope = sg.grad(held, p["t"])
    t, step = 0.6, 1e-4
    density = FAMILIES[family]

    def mean(at: float) -> float:
        # What is held back keeps its value.
        other = sg.parse(f"t : real\nu : real\nk : real\ny = {value.replace('stop_gradient(t)', 'k')}")["y"]
        given = {"k": t} if "stop_gradient" in value else {}
        return _mean(lambda u: float(other(t=at, u=u, **given)), density, cut(at), at)

    whole = (mean(t + step) - mean(t - step)) / (2 * step)
    inner = _mean(lambda u: float(slope(t=t, **_given(slope, u=u))), density, cut(t), t)
    terms = sum(float(j.terms["t"](t=t)) for j in d.jumps)
    assert whole == pytest.approx(inner + terms, rel=1e-5, abs=1e-6)


def _given(e: sg.Expr, **values: float) -> dict[str, float]:
    read = {i.name for i in e.inputs}
    return {name: value for name, value in values.items() if name in read}


@pytest.mark.parametrize(
    ("moved", "said", "why"),
    [
        ("t", "the gradient by t misses", "and t moves that point"),
        ("t + s", "the gradients by s and t miss", "and s and t move that point"),
        ("t*r - s", "the gradients by r, s and t miss", "and r, s and t move that point"),
    ],
)
def test_the_parameters_that_move_a_jump_are_named(moved: str, said: str, why: str) -> None:
    d = sg.explain(sg.parse(f"r, s, t : real\nu ~ Normal(0, 1)\ny = where(u < {moved}, r + s + t, 0)")["y"])
    (jump,) = d.jumps
    assert set(jump.terms) == set("rst").intersection(moved)
    assert jump.headline == f"{said} a term of the derivative of the mean over u"
    assert why in jump.reason


def test_two_jumps_are_two_terms() -> None:
    p = sg.parse("t : positive\nu ~ Normal(0, 1)\ny = where(u < t, 1, 0) + where(u < 2*t, t, 0)")
    d = sg.explain(p["y"], "t")
    density = stats.norm.pdf
    total = sum(float(j.terms["t"](t=0.7)) for j in d.jumps)
    assert total == pytest.approx(density(0.7) + 2 * 0.7 * density(1.4))


@pytest.mark.parametrize(
    "text",
    [
        "t : real\nu ~ Normal(0, 1)\ny = relu(u - t)",
        "t : real\nu ~ Normal(0, 1)\ny = where(u > t, u - t, 0)",
        "t : real\nu ~ Normal(0, 1)\ny = where(u > t, sin(u)*exp(t), exp(t)*sin(t))",
        "t : positive\nu ~ Normal(0, 1)\ny = where(u**2 > t, u**2 - t, 0)",
        "t : real\nu ~ Normal(0, 1)\ny = abs(u - t) + maximum(u, t) + minimum(u, 2*t)",
        "t : real\nu ~ Normal(0, 1)\ny = where(u < stop_gradient(t), t, u)",
        "t : real\nu ~ Normal(0, 1)\ny = stop_gradient(where(u < t, t, 0)) + t*u",
        "t : real\nu ~ Normal(0, 1)\ny = where(u < 1, t, 0)",
        "t : real\nx : real\nu ~ Normal(0, 1)\ny = where(x < t, u, 0)",
        "t : real\nk ~ Bernoulli(0.5)\ny = where(k < t, t, 0)",
        "t : real\nk ~ Poisson(2)\ny = where(k < t, t, 0)",
        "S, K : positive\nZ ~ Normal(0, 1)\ny = where(S*exp(Z) > K, S*exp(Z) - K, 0)",
        "t : real\nu ~ Normal(0, 1)[n]\ny = sum(where(u > t, u - t, 0))",
    ],
)
def test_what_is_continuous_held_or_not_moved_is_not_said(text) -> None:
    d = sg.explain(sg.parse(text)["y"])
    assert d.jumps == ()
    assert "misses" not in str(d)


@pytest.mark.parametrize(
    "value", ["where(u**2 > t, 1, 0)", "floor(u + t)", "where(u < t, 1, 0)*where(u > t, 3, 1)"]
)
def test_without_a_formula_it_is_said_all_the_same(value) -> None:
    d = sg.explain(sg.parse(f"t : positive\nu ~ Normal(0, 1)\ny = {value}")["y"])
    assert d.jumps
    assert all(j.terms == {"t": None} for j in d.jumps)
    assert "no formula is known here" in str(d)


def test_others_are_averaged_over() -> None:
    d = sg.explain(sg.parse("t : real\nu, v ~ Normal(0, 1)\ny = where(u + v < t, 1, 0)")["y"])
    (jump,) = d.jumps
    assert jump.advice == "add the mean over v of exp(-(t - v)**2/2)/sqrt(2*pi) to that by t"
    draws = np.random.default_rng(0).normal(size=200_000)
    mean = float(np.mean(jump.terms["t"](t=0.4, v=draws)))
    assert mean == pytest.approx(stats.norm.pdf(0.4, 0, math.sqrt(2)), rel=1e-2)


def test_arrays_entry_by_entry() -> None:
    p = sg.parse("p : real(0, 1)\nx : real[n]\nu ~ Uniform(0, 1)[n]\ny = mean(where(u < p, x**2, 0))")
    (jump,) = sg.explain(p["y"], "p").jumps
    assert (jump.where, str(jump.terms["p"])) == ("p", "mean(x**2)")
    q = sg.parse("b : real[d]\nX : real[n, d]\ne ~ Normal(0, 1)[n]\ny = mean(where(X@b + e > 0, 1, 0))")
    (jump,) = sg.explain(q["y"], "b").jumps
    rng = np.random.default_rng(1)
    X, b = rng.normal(size=(5, 3)), rng.normal(size=3)
    np.testing.assert_allclose(jump.terms["b"](X=X, b=b), X.T @ stats.norm.pdf(X @ b) / 5)


def test_arrays_whose_entries_are_not_apart_get_no_formula() -> None:
    d = sg.explain(sg.parse("t : real\nu ~ Normal(0, 1)[n]\ny = sum(where(u < t, 1, 0))**2")["y"], "t")
    assert all(j.terms["t"] is None for j in d.jumps)


def test_the_digital_option_has_its_known_delta() -> None:
    p = sg.parse(
        "S0, K, sigma, r, T : positive\nZ ~ Normal(0, 1)\n"
        "ST = S0*exp((r - sigma**2/2)*T + sigma*sqrt(T)*Z)\npay = exp(-r*T)*where(ST > K, 1, 0)"
    )
    (jump,) = sg.explain(p["pay"], "S0").jumps
    v = {"S0": 1.1, "K": 1.0, "sigma": 0.3, "r": 0.02, "T": 0.5}
    d2 = (math.log(v["S0"] / v["K"]) + (v["r"] - v["sigma"] ** 2 / 2) * v["T"]) / (
        v["sigma"] * math.sqrt(v["T"])
    )
    delta = math.exp(-v["r"] * v["T"]) * stats.norm.pdf(d2) / (v["S0"] * v["sigma"] * math.sqrt(v["T"]))
    assert float(jump.terms["S0"](**v)) == pytest.approx(delta)


def test_every_form_tells_it() -> None:
    d = sg.explain(sg.parse("t : real(0, 1)\nu ~ Uniform(0, 1)\nz = where(u < t, 1, 0)**2*t")["z"])
    assert "  add       t" in str(d).splitlines()
    assert d.json()["jumps"] == [
        {
            "value": "z",
            "random": "u",
            "choice": "u < t",
            "where": "t",
            "terms": {"t": "t"},
            "reason": d.jumps[0].reason,
        }
    ]
    assert "Add to that by t: <code>t</code>" in d.html()


def test_random_thresholds() -> None:
    """Random values, judged by quadrature."""
    rng = random.Random(5)
    parts = ["u", "t", "u*t", "sin(u)", "t**2", "exp(-u**2)", "1"]
    for _ in range(15):
        a, b = rng.sample(parts, 2)
        c, k = rng.choice([1, 2, -1, 0.5]), rng.choice([0, 0.5, -0.3])
        text = f"where({c}*u < t + {k}, {a}, {b})"
        p = sg.parse(f"t : real\nu ~ Normal(0, 1)\ny = {text}")
        d = sg.explain(p["y"], "t")
        at, step = 0.4, 1e-4
        y = sg.parse(f"t : real\nu : real\ny = {text}")["y"]
        slope = sg.grad(y, "t")

        def mean(t: float, e: sg.Expr = y, c: float = c, k: float = k) -> float:
            return _mean(
                lambda u: float(e(**_given(e, t=t, u=u))),
                stats.norm(),
                (t + k) / c,
            )

        whole = (mean(at + step) - mean(at - step)) / (2 * step)
        terms = sum(float(j.terms["t"](t=at)) for j in d.jumps)
        assert whole == pytest.approx(mean(at, slope) + terms, rel=1e-4, abs=1e-6), text
