"""What a program with stop_gradients computes, as plain formulas: that of the frozen copies."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.autodiff.frozen import frozen_copy, unfreeze
from symgrad.autodiff.jvp import push_forward
from symgrad.errors import NotInProgramError, NotScalarError, UsageError
from symgrad.ir.graph import as_node
from symgrad.ir.values.evaluate import evaluate_mp

INNER = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)"


def test_the_inner_trick_forward_and_backward() -> None:
    e = sg.effective(sg.parse(INNER)["z"], "x", order=2)
    assert str(e).splitlines() == [
        "z = sqrt(u)*abs(x)",
        "dz/dx = sign(x)/sqrt(u)",
        "d2z/dx dx = (u - sign(x)**2)/(u**(3/2)*abs(x))",
    ]
    assert str(e.gradient) == str(e.derivatives[("x",)])


def test_declared_facts_are_used() -> None:
    e = sg.effective(INNER.replace("x : real", "x : positive"), "x")
    assert (str(e.value), str(e.gradient)) == ("sqrt(u)*x", "1/sqrt(u)")


def test_a_pair_of_value_and_backward_function_of_arrays() -> None:
    p = sg.parse("""
    logits : real[3]
    u ~ Uniform(0, 1)[3]
    soft = softmax(logits - log(-log(u)), axis=0)
    hard = one_hot(argmax(soft), 3)
    y = stop_gradient(hard - soft) + soft
    """)
    e = sg.effective(p["y"], "logits")
    assert str(e) == "y = hard\nlogits_bar = soft*(y_bar - soft@y_bar)"
    value, backward = e
    at = {"logits": np.array([0.3, -1.0, 2.0]), "u": np.array([0.2, 0.5, 0.9])}
    assert list(value(**at)) == [0, 0, 1]
    seed = np.array([1.0, 2.0, -3.0])
    expected = sg.vjp(p["y"], "logits", seed)(**at)
    np.testing.assert_allclose(backward(seed)(**at), expected, rtol=1e-13)
    np.testing.assert_allclose(backward()(**at, y_bar=seed), expected, rtol=1e-13)
    with pytest.raises(NotScalarError, match="backward"):
        _ = e.gradient


def test_second_derivatives_are_by_what_runs_alone() -> None:
    e = sg.effective("x, y : real\nz = x*stop_gradient(x)*y + x*y*stop_gradient(y)", ["x", "y"], order=2)
    assert str(e.derivative("y", "x")) == str(e.derivative("x", "y"))
    assert {k: str(v) for k, v in e.derivatives.items() if len(k) == 2} == {
        ("x", "x"): "0",
        ("x", "y"): "x + y",
        ("y", "y"): "0",
    }
    assert not any("stop_gradient" in str(v) for v in e.derivatives.values())


def test_a_custom_gradient_is_taken_as_it_says() -> None:
    x = sg.symbols("x")
    z = sg.custom_gradient(sg.sin(x), {x: lambda v: v * x**3})
    e = sg.effective(z, x)
    assert (str(e.value), str(e.derivative(x)), str(e.derivative(x, x))) == ("sin(x)", "x**3", "3*x**2")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a*(lam + 1) - a*lam", "a"),
        ("c*(a + b) - a*c - b*c", "0"),
        ("(1 + lam)*stop_gradient(a) - lam*a", "a"),
        ("(a + b)**2", "(a + b)**2"),
    ],
)
def test_of_equal_forms_the_one_that_is_easiest_to_read_is_told(text: str, value: str) -> None:
    e = sg.effective(f"a, b, c, lam : real\n{text}", "a")
    assert str(e.value) == value
    assert str(e).splitlines()[0] == f"value = {value}"
    assert str(sg.effective(f"a, b, c, lam : real\nv = {text}", "a")).splitlines()[0] == f"v = {value}"


def test_a_truth_value_is_written_in_one_line() -> None:
    assert str(sg.effective("b : bool; x : real\nwhere(b, x, 2*x)", "x")).splitlines() == [
        "value = where(b, x, 2*x)",
        "d/dx = where(b, 1, 2)",
    ]


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match="order is 0"):
        sg.effective("x**2", "x", order=0)
    with pytest.raises(NotInProgramError, match="'y'"):
        sg.effective("x**2", "y")
    with pytest.raises(
        UsageError, match="'k' takes no real values: there is no derivative with respect to it"
    ):
        sg.effective("k : int\nk**2", "k")
    with pytest.raises(UsageError, match="nothing to differentiate with respect to"):
        sg.effective("x**2", [])


LEAVES = st.sampled_from(["x", "y", "2", "1/3"])
PROGRAMS = st.recursive(
    LEAVES,
    lambda e: st.one_of(
        st.builds("stop_gradient({})".format, e),
        st.builds("sin({})".format, e),
        st.builds("exp(stop_gradient({}))".format, e),
        st.builds("({} + {})".format, e, e),
        st.builds("({} * {})".format, e, e),
        st.builds("({} - stop_gradient({}))".format, e, e),
    ),
    max_leaves=7,
)


@given(PROGRAMS, st.integers(1, 3))
def test_derivatives_are_those_of_the_frozen_copy(text: str, order: int) -> None:
    """The meaning, written out independently: F(x, frozen x), differentiated by x alone, taken where both are equal."""
    p = sg.parse(f"x, y : real\nf = x*y*0 + {text}")
    (f,), twins = frozen_copy([p["f"].node])
    x = p["x"].node
    for _ in range(order):
        (f,) = push_forward([f], {x: as_node(1)})
    (wanted,) = unfreeze([f], twins)
    found = sg.effective(p["f"], "x").derivative(*["x"] * order)
    mp = mpmath.mp.clone()
    mp.prec = 200
    a, b = evaluate_mp(mp, [wanted, found.node], {x: mp.mpf("0.7"), p["y"].node: mp.mpf("-0.4")})
    assert abs(a - b) <= mp.mpf(2) ** -150 * (1 + abs(a))


@pytest.mark.parametrize(
    ("text", "wrt", "lines"),
    [
        (
            "w, w2, tau, x : real\nnew = stop_gradient(tau*w2 + (1 - tau)*w)\nloss = (tanh(w*x) - tanh(new*x))**2",
            "w",
            [
                "loss = (tanh(w*x) - tanh(new*x))**2",
                "dloss/dw = 2*x*(1 - tanh(w*x)**2)*(tanh(w*x) - tanh(new*x))",
            ],
        ),
        (
            "v0, v1, v2, r0, r1, g, lp : real\nd0 = r0 + g*v1 - v0\nd1 = r1 + g*v2 - v1\nadv = d0 + g*0.95*d1\n"
            "actor = -lp*adv\ncritic = (stop_gradient(d0 + v0) - v0)**2\nloss = actor + critic",
            "lp",
            ["loss = actor + critic", "dloss/dlp = -adv"],
        ),
        (
            "x1, x2 : real[n, d]; W : real[d, k]; P : real[k, k]\nz1 = tanh(x1@W)\nz2 = tanh(x2@W)\n"
            "p1 = z1@P\np2 = z2@P\nloss = -sum(p1*stop_gradient(z2))/n - sum(p2*stop_gradient(z1))/n",
            "P",
            ["loss = -sum(p1*z2)/n - sum(p2*z1)/n", "dloss/dP = -(z1.T@z2 + z2.T@z1)/n"],
        ),
    ],
)
def test_names_of_the_program_are_kept_where_that_is_much_shorter(
    text: str, wrt: str, lines: list[str]
) -> None:
    """A target network, an actor with its critic, SimSiam: what stands there as simplified spells names out."""
    found = sg.effective(sg.parse(text)["loss"], wrt)
    assert str(found).splitlines() == lines
    assert sg.equal(found.gradient, sg.grad(sg.parse(text)["loss"], wrt), values_only=True).status == "proved"
