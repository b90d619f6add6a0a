"""`sg.placement`: what it says, in the names of the program, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import NotDifferentiableError, NotInProgramError, UsageError

INNER = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)"


def same_gradient(r: sg.results.Placement, y: sg.Expr, by: str, noise: str) -> None:
    """The verdict says so; and so does the program itself against the one that `ignore_noise` makes."""
    made = r.rewrite if r.program is None else r.program
    assert made is not None
    assert r.verdict is not None
    assert r.verdict.status == "proved"
    d = sg.equivalent(made, sg.ignore_noise(y, noise), by)
    assert d.status == "proved"


def test_the_inner_trick_has_no_placement_and_an_outer_form() -> None:
    p = sg.parse(INNER)
    r = sg.placement(p["z"], "x", "u")
    assert r.possible is False
    assert r.edges == ()
    assert r.program is None
    assert "passes sqrt" in r.reason
    assert "reads the forward value z, which depends on u" in r.reason
    assert "Kept, it makes the gradient depend on u; cut, it leaves a gradient of 0" in r.reason
    assert r.lines == (
        "g = sqrt(y)",
        "z = stop_gradient(sqrt(stop_gradient(y*u - y) + y)) - (stop_gradient(g) - g)",
    )
    same_gradient(r, p["z"], "x", "u")
    assert r.rewrite is not None
    at = {"x": -1.7, "u": 0.93}
    assert r.rewrite(**at) == p["z"](**at)  # bit for bit
    assert float(sg.grad(r.rewrite, "x")(**at)) == -1.0
    assert str(r).startswith("no stop_gradient will do: the only derivative path from z to x passes sqrt")


def test_one_edge_into_the_noisy_branch() -> None:
    p = sg.parse("x : real\nu ~ Normal(0, 1)\nf = sin(x)\ng = cos(x)\ny = f + g*u")
    r = sg.placement(p["y"], "x", "u")
    assert (r.possible, r.minimal, r.lines) == (True, "proved", ("y = f + stop_gradient(g)*u",))
    (edge,) = r.edges
    assert (edge.equation, edge.argument, edge.position) == ("g*u", "g", 0)
    assert r.program is not None
    assert r.program.name == "y"
    same_gradient(r, p["y"], "x", "u")
    assert json.loads(json.dumps(r.json()))["edges"][0]["argument"] == "g"


def test_two_are_needed_for_two_branches() -> None:
    p = sg.parse(
        "x : real\nu ~ Normal(0, 1)\nv ~ Normal(0, 1)\nf = sin(x)\ng = cos(x)\nh = exp(x)\ny = f + g*u + h*v"
    )
    r = sg.placement(p["y"], "x", ["u", "v"])
    assert {e.argument for e in r.edges} == {"g", "h"}
    assert r.minimal == "proved"
    assert "with u and v at their means" in str(r)


def test_a_misplaced_stop_gradient_has_to_go() -> None:
    p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nf = sin(x)\ny = f*u + stop_gradient(f)")
    r = sg.placement(p["y"], "x", "u")
    assert r.possible is True
    assert r.removed == ("stop_gradient(f)",)
    assert r.lines == ("y = stop_gradient(f)*u + f",)
    assert "if stop_gradient(f) goes" in str(r)
    same_gradient(r, p["y"], "x", "u")


def test_stops_that_are_right_stay() -> None:
    p = sg.parse("x : real\nu ~ Normal(0, 1)\nf = sin(x)\ny = f*stop_gradient(f) + f*u")
    r = sg.placement(p["y"], "x", "u")
    assert r.removed == ()
    assert len(r.edges) == 1
    assert r.program is not None
    assert str(r.program).count("stop_gradient") == 2


def test_dropout_before_a_square_needs_the_outer_form() -> None:
    p = sg.parse("x : real[n]\nm ~ Bernoulli(0.5)[n]\nW : real[n, n]\nh = W@x\nd = 2*h*m\ny = sum(d**2)")
    r = sg.placement(p["y"], "W", "m")
    assert r.possible is False
    assert r.rewrite is not None
    same_gradient(r, p["y"], "W", "m")
    rng = np.random.default_rng(0)
    at = {"x": rng.normal(size=3), "W": rng.normal(size=(3, 3)), "m": np.array([1, 0, 1])}
    assert r.rewrite(**at) == p["y"](**at)


def test_arrays_with_named_sizes() -> None:
    p = sg.parse("x : real[n]\nu ~ Normal(0, 1)[k]\nW : real[k, n]\nh = tanh(W@x)\nd = h + u*h\ny = sum(d)")
    r = sg.placement(p["y"], ["W", "x"], "u")
    assert (r.possible, r.lines) == (True, ("d = h + u*stop_gradient(h)",))
    d = sg.placement(p["d"], ["W", "x"], "u")  # an array: for every cotangent
    assert (d.possible, d.lines) == (True, r.lines)


def test_a_discriminator_that_reads_noise_keeps_it() -> None:
    """Its gradient at a fake sample reads the sample; the generator's alone can be cut, to nothing."""
    p = sg.parse("w, g : real\nz ~ Normal(0, 1)\nfake = g*z\ns = w*fake\nloss = log(1 + exp(s))")
    r = sg.placement(p["loss"], "w", "z", at=1)
    assert r.possible is False
    assert r.rewrite is not None


def test_an_intermediate_value_that_reads_the_noise_counts_as_an_input() -> None:
    p = sg.parse("x : real\nu ~ Normal(0, 1)\nh = sin(x) + u\ny = h + u*h")
    r = sg.placement(p["y"], p["h"], "u")
    assert (r.possible, r.lines) == (True, ("y = h + u*stop_gradient(h)",))
    with pytest.raises(UsageError, match="computed from the noise and from 'x'"):
        sg.placement(p["y"], ["h", "x"], "u")


def test_nothing_to_do() -> None:
    p = sg.parse("x : real\nu ~ Normal(0, 1)\nv ~ Normal(0, 1)\ny = sin(x) + u")
    clean = sg.placement(p["y"], "x", "u")
    assert (clean.possible, clean.edges, clean.minimal) == (True, (), "proved")
    assert str(clean) == "nothing to do: the gradient by x is that with u at its mean already"
    unread = sg.placement(p["y"], "x", "v")
    assert str(unread) == "nothing to do: y does not depend on v"
    stopped = sg.placement(sg.parse("x : real\nu ~ Normal(0, 1)\ny = stop_gradient(x*u)")["y"], "x", "u")
    assert stopped.possible is True
    assert stopped.edges == ()


def test_a_gradient_that_should_be_zero_is_stopped_at_the_result() -> None:
    p = sg.parse("x : real\nu ~ Normal(0, 1)\ny = u*sin(x) + u*x")
    r = sg.placement(p["y"], "x", "u")
    (edge,) = r.edges
    assert (edge.equation, edge.argument) == (None, "y")
    assert r.lines == ("y = stop_gradient(u*sin(x) + u*x)",)


def test_noise_without_a_distribution_is_fixed_by_hand() -> None:
    p = sg.parse("x, e : real\ny = x + e*sin(x)")
    with pytest.raises(UsageError, match="no declared distribution"):
        sg.placement(p["y"], "x", "e")
    r = sg.placement(p["y"], "x", "e", at=0)
    assert r.possible is True
    assert "with e = 0" in str(r)


def test_what_cannot_be_asked() -> None:
    p = sg.parse(INNER)
    with pytest.raises(UsageError, match="'u' is noise"):
        sg.placement(p["z"], ["x", "u"], "u")
    with pytest.raises(NotInProgramError):
        sg.placement(p["z"], "x", "w")
    with pytest.raises(UsageError, match="reference='expected value'") as error:
        sg.placement(p["z"], "x", "u", reference="expected value")
    assert "sg.audit(y, wrt, 'expected value')" in str(error.value.cure)
    with pytest.raises(UsageError, match="nothing that is noise"):
        sg.placement(p["z"], "x", [])
    with pytest.raises(NotDifferentiableError):
        sg.placement(p["z"] > 1, "x", "u")


def test_noise_that_is_not_named() -> None:
    p = sg.parse(INNER)
    with pytest.raises(UsageError, match="no noise is named") as error:
        sg.placement(p["z"], "x")
    assert error.value.expected == "noise=, of the random inputs u"
    assert error.value.cure == "name it: sg.placement(y, wrt, noise='u')"
    with pytest.raises(UsageError, match="the program reads no random input") as error:
        sg.placement("x : real\ny = x**2", "x")
    assert "declare it" in str(error.value.cure)


STEPS = """
a : real; u, w : real[T]
x[0] = 0
x[t] = x[t-1] + a*w[t-1] + {}*u[t-1] for t in 1..T
loss = x[T]
"""


def test_edges_inside_of_steps_are_not_refuted() -> None:
    """One stop_gradient inside of the step will do, so it is no proof that none does outside."""
    p = sg.parse(STEPS.format("sin(a*w[t-1])"))
    inside = sg.parse(STEPS.format("stop_gradient(sin(a*w[t-1]))"))
    at_zero = sg.parse(STEPS.format("0"))
    d = sg.equal(sg.grad(inside["loss"], "a"), sg.grad(at_zero["loss"], "a"))
    assert d.status == "proved"
    r = sg.placement(p["loss"], "a", "u", at=0)
    assert r.possible is None
    assert "edges inside of the steps of x are not tried, where one may do: x[t] reads u[t-1]" in r.reason
    assert r.verdict is not None
    assert r.verdict.status == "proved"
    assert r.lines[-1] == "x = stop_gradient(h) - (stop_gradient(g) - g)"
    assert all("where" not in line for line in r.lines)
    values = {"a": 0.7, "u": np.array([0.5, -1.0]), "w": np.array([2.0, 3.0])}
    assert r.rewrite is not None
    assert r.rewrite(**values) == p["loss"](**values)
    assert float(sg.grad(r.rewrite, "a")(**values)) == pytest.approx(5.0)


def test_a_place_beside_a_recurrence() -> None:
    start = "a : real; u ~ Normal(0, 1); w : real[T]\nx[0] = a\nx[t] = a*x[t-1] + w[t-1] for t in 1..T\n"
    p = sg.parse(start + "y = x[T]*u")
    r = sg.placement(p["y"], "a", "u")
    assert (r.possible, r.minimal) == (True, "proved")
    assert r.lines == ("y = stop_gradient(x)[T]*u",)
    two = sg.parse(start + "f = sin(a)\ny = f + x[T] + cos(f)*u + exp(x[T])*u")
    r = sg.placement(two["y"], "a", "u")
    assert r.possible is True
    assert len(r.edges) == 2
    assert r.minimal == "the fewest outside of steps; edges inside of the steps of x are not tried"
