"""The values of derivatives of recurrences are named after the values whose derivatives they are."""

from __future__ import annotations

import pickle
import re
from textwrap import dedent

import pytest

import symgrad as sg
from symgrad.autodiff.jvp import push_forward
from symgrad.ir.graph import as_node
from symgrad.ir.traverse import symbols_of
from tests.recurrences import RECURRENCES


def names_in(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"^\s*(\w+)\[[^t]\w*\] = ", text, re.MULTILINE)))


@pytest.mark.parametrize(
    ("name", "by", "names"),
    [
        ("recurrent network", "W", ["h_bar"]),
        ("LSTM", "U", ["h_bar", "c_bar"]),
        ("likelihood of a Kalman filter", "a", ["m_bar", "P_bar"]),
        ("controller", "Kp", ["u_bar", "s_bar", "e_bar"]),
        ("Adam", "a", ["w_bar", "m_bar", "v_bar"]),
        ("temporal differences", "g", ["v_bar", "e_bar"]),
        ("Horner's scheme", "z", ["b_bar"]),
        ("continued fraction", "a", ["f_bar"]),
    ],
)
def test_gradients(name: str, by: str, names: list[str]) -> None:
    text = str(sg.grad(sg.parse(dedent(RECURRENCES[name]))["y"], by))
    assert sorted(names_in(text)) == sorted(names)


def test_carries_of_one_shape_that_are_not_all_read() -> None:
    p = sg.parse("""
    a : real; x : real[T]
    u[0] = 1; v[0] = a
    u[t] = u[t-1] + v[t-1]**2; v[t] = u[t-1]*x[t-1] for t in 1..T
    """)
    assert names_in(str(sg.grad(p["u"][-1], "a"))) == ["u_bar", "v_bar"]


def test_directions_and_second_derivatives() -> None:
    p = sg.parse("a, b : real\nh[0] = a\nh[t] = tanh(b*h[t-1]) for t in 1..9\ny = h[9]**2")
    (along,) = push_forward([p["y"].node], {x: as_node(1) for x in symbols_of([p["y"].node])})
    assert names_in(sg.Expr(along).text()) == ["h", "h_dot"]
    second = sg.grad(sg.grad(p["y"], "a"), "b")
    assert names_in(second.text(expand=True)) == ["h", "h_dot", "h_bar", "h_dot_bar"]


KALMAN = """
z : real[T]
a : positive
q : positive
A : real[n, n]
P0 : real[n, n]
c : real[n]
m[0] = zeros(n)
P[0] = P0
L[0] = 0
M = a*A@P[t-1]@A.T + q*eye(n); \\
    p = a*A@m[t-1]; \\
    g = M@c; \\
    S = sum(c*g) + 1; \\
    v = z[t-1] - sum(c*p); \\
    m[t] = p + g*v/S; \\
    P[t] = M - outer(g, g)/S; \\
    L[t] = L[t-1] - (log(S) + v**2/S)/2 for t in 1..T
loss = L[T]
"""


def test_names_within_a_step_are_printed() -> None:
    p = sg.parse(KALMAN)
    assert str(p).strip() == KALMAN.strip()
    assert str(pickle.loads(pickle.dumps(p))) == str(p)
    # A name that also stands for something else is not.
    shadowed = sg.parse("S : real\nh[0] = S\nS = sin(h[t-1])*2; h[t] = S**2 + S for t in 1..9\ny = h[9]*S")
    assert "t1 = sin(h[t-1])*2; h[t] = t1**2 + t1 for t in 1..9" in str(shadowed)
    assert sg.parse(str(shadowed))["y"].node is shadowed["y"].node


NEWTON = """
a, w : real
z[0] = a
r = (z[k-1]**2 - a)/(2*z[k-1]); z[k] = z[k-1] - w*r for k in 1..K
h[0] = 1
h[t] = tanh(h[t-1]*z[K]) for t in 1..T
y = h[T]**2
"""


def test_positions_keep_the_letters_of_the_program() -> None:
    """Each recurrence keeps its own, and a derivative has that of what is differentiated."""
    p = sg.parse("K, T : size\n" + NEWTON)
    gradient = sg.grad(p["y"], "w")
    first, *_ = str(gradient).splitlines()
    assert "k=1..K" in first or "[1:]" in first
    assert "for k in K..1" in str(gradient)
    assert "for t in T..1" in str(gradient)
    assert r"\quad k = K, \dots, 1" in gradient.latex()
    assert r"\quad t = T, \dots, 1" in gradient.latex()
    explained = str(sg.explain(p["y"], "w"))
    assert all(
        text in explained
        for text in ("for k in 1..K", "for t in 1..T", "for k in K..1", "# z_bar[k-1] comes")
    )
    for text in (str(p), str(p["y"])):
        assert "z[k] = z[k-1] - w*r for k in 1..K" in text
        assert sg.parse(text).last.node is p["y"].node
    assert r"z_{k} &= " in p["y"].latex()
    twice = str(sg.grad(sg.grad(p["y"], "w"), "w"))
    assert "for k in K..1" in twice
    assert "for t in T..1" in twice
    again = pickle.loads(pickle.dumps(p))
    assert str(again) == str(p)


def test_a_letter_that_something_else_has_is_not_taken() -> None:
    p = sg.parse("a : real; x : real[k]\nz[0] = a\nz[n] = z[n-1]*a for n in 1..3\ny = z[3]*sum(x)")
    q = sg.parse("n : size; " + "a : real\nz[0] = a\nz[k] = z[k-1]*a for k in 1..n\nk = a*z[n]\ny = k + z[n]")
    assert "for n in 1..3" in str(p)
    assert "for t in 1..n" in str(q)
    assert sg.parse(str(q))["y"].node is q["y"].node
