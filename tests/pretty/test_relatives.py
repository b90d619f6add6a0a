"""What a name says of functions beside its own: with z = sigmoid(a), sigmoid(-a) is written 1 - z."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.graph import Node, symbol
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate_mp
from symgrad.ops.scalar.elementary import exp, expm1, sigmoid
from symgrad.ops.scalar.hyperbolic import tanh
from symgrad.ops.special.gamma import erf, erfc
from symgrad.pretty.forms.function_names import complementary_forms

GRU = """
h, x, t : real[k]
Uz, Ur, Un, Wz, Wr, Wn : real[k, k]
z = sigmoid(Wz@x + Uz@h)
r = sigmoid(Wr@x + Ur@h)
c = tanh(Wn@x + Un@(r*h))
hp = (1 - z)*c + z*h
loss = sum((hp - t)**2)/2
"""


@pytest.mark.parametrize("function", [erf, erfc, exp, expm1, sigmoid, tanh], ids=lambda op: op.name)
@pytest.mark.parametrize("at", ["0", "1e-40", "-0.7", "3.25", "-9", "40"])
def test_relatives_are_equal(function: Callable[[Node], Node], at: str) -> None:
    mp = mpmath.MPContext()
    mp.dps = 80
    u, name = symbol(Declaration("u")), symbol(Declaration("name"))
    pairs = list(complementary_forms(function(u), name))
    assert pairs
    (value,) = evaluate_mp(mp, [function(u)], {u: mp.mpf(at)})
    for one, other in pairs:
        left, right = evaluate_mp(mp, [one, other], {u: mp.mpf(at), name: value})
        assert abs(left - right) <= mp.mpf(10) ** -60 * (1 + abs(left))


@pytest.mark.parametrize(
    ("wrt", "expected"),
    [
        ("Wz", "outer(z*(h - c)*(hp - t)*(1 - z), x)"),
        (
            "h",
            "z*(hp - t) + r*(Un.T@(dloss_dc*(1 - c**2))) + Ur.T@(dloss_dr*r*(1 - r)) + Uz.T@(dloss_dz*z*(1 - z))\n"
            "where\n"
            "  dloss_dz = (h - c)*(hp - t)\n"
            "  dloss_dr = h*(Un.T@(dloss_dc*(1 - c**2)))\n"
            "  dloss_dc = (hp - t)*(1 - z)",
        ),
    ],
)
def test_a_gated_cell(wrt: str, expected: str) -> None:
    program = sg.parse(GRU)
    assert str(sg.grad(program["loss"], wrt)) == expected


def test_a_program_with_tanh_alone_is_told_no_sech() -> None:
    by_tanh = sg.parse("c, o : real\nh = o*tanh(c)")
    assert str(sg.grad(by_tanh["h"], "c")) == "o*(1 - tanh(c)**2)"
    by_sech = sg.parse("c, o : real\nh = o*tanh(c) + sech(o)")
    assert str(sg.grad(by_sech["h"], "c")) == "o*sech(c)**2"


LAYER_NORM = """
X, Y : real[n, d]
g, b : real[d]
m = mean(X, axis=1, keepdims=True)
v = mean((X - m)**2, axis=1, keepdims=True)
xh = (X - m)/sqrt(v + 1e-5)
Z = g*xh + b
loss = sum((Z - Y)**2)/2
"""


def test_layer_norm_is_that_of_the_paper() -> None:
    """The mean of what is centred is no term of it, and axes stay where the program keeps them."""
    program = sg.parse(LAYER_NORM)
    assert str(sg.grad(program["loss"], "X")) == (
        "(2*dloss_dv*(X - m) + dloss_dm)/d + g*(Z - Y)/sqrt(v + 1e-5)\n"
        "where\n"
        "  dloss_dm = sum(g*(Y - Z), axis=1, keepdims=True)/sqrt(v + 1e-5)\n"
        "  dloss_dv = sum(g*xh*(Y - Z), axis=1, keepdims=True)/(2*(v + 1e-5))"
    )
    assert r"\sqrt{v + 10^{-5}}" in sg.grad(program["loss"], "X").latex()


@pytest.mark.parametrize(
    "formula",
    [
        "mean(X - mean(X, axis=1, keepdims=True), axis=1)",
        "sum((X - mean(X, axis=1, keepdims=True))/exp(s), axis=1, keepdims=True)",
        "mean(X.T - mean(X, axis=1), axis=0)",
    ],
)
def test_what_is_centred_has_no_mean(formula: str) -> None:
    program = sg.parse(f"X : real[n, d]\ns : real[n, 1]\ny = sum({formula})")
    assert program["y"].canonical().node.is_number(0)
    values = {"X": np.random.default_rng(0).normal(size=(3, 4)), "s": np.ones((3, 1))}
    read = {str(s.name): values[str(s.name)] for s in program["y"].inputs}
    assert abs(program["y"](**read)) < 1e-14
