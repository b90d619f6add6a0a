"""Questions about stop_gradient and detach that people asked in public, each a program, with the answer they get here.

What a program computes, forward and backward, is `effective`; whether two agree, and to which order, `equivalent`.
"""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg


def same(p: object, q: object, wrt: object = None, order: object = "all") -> str:
    return sg.equivalent(p, q, wrt, order).status  # pyright: ignore[reportArgumentType]


def test_is_a_detached_difference_plus_the_soft_part_the_same_as_detaching_the_product() -> None:
    """``(p*m_hard - p*m).detach() + p*m`` against ``(p*m_hard).detach()``: equal values, and nothing else."""
    p = sg.parse("p, h, m : real\na = stop_gradient(p*h - p*m) + p*m\nb = stop_gradient(p*h)")
    v = sg.equivalent(p["a"], p["b"])
    assert v.why == "the values are equal, but the gradients by p and m differ, those by h are equal"
    assert str(sg.effective(p["a"], ["p", "m"])).splitlines() == ["a = h*p", "da/dp = m", "da/dm = p"]
    assert sg.grad(p["b"], "p").nothing == "stopped"


def test_may_a_clipped_straight_through_floor_be_rewritten_and_what_is_its_gradient() -> None:
    """``x_clip + (x_clip//1 - x_clip).detach()``."""
    p = sg.parse("""
    x : real
    c = clip(x, 0, 10)
    y = c + stop_gradient(c//1 - c)
    exact = stop_gradient(floor(c)) - (stop_gradient(c) - c)
    plain = floor(c)
    """)
    assert str(sg.effective(p["y"], "x")).splitlines() == [
        "y = floor(c)",
        "dy/dx = where(x >= 0 and x <= 10, 1, 0)",
    ]
    assert same(p["y"], p["exact"]) == "proved"
    v = sg.equivalent(p["y"], p["plain"])
    assert v.of_values is not None
    assert (v.status, v.of_values.status, v.differ_by) == ("refuted", "proved", ("x",))


def test_which_of_two_nested_detaches_is_redundant() -> None:
    p = sg.parse("""
    x, w : real
    both = stop_gradient(w*stop_gradient(x))*x
    outer = stop_gradient(w*x)*x
    inner = w*stop_gradient(x)*x
    """)
    assert same(p["both"], p["outer"]) == "proved"
    v = sg.equivalent(p["both"], p["inner"])
    assert v.differ_by == ("w",)


def test_is_the_gradient_of_a_hard_gumbel_softmax_right() -> None:
    """It is that of the soft sample, at the soft sample: the forward value of what follows is not in it."""
    p = sg.parse("""
    logits : real[k]; tau : positive; v : real[k]
    u ~ Uniform(0, 1)[k]
    soft = softmax((logits - log(-log(u)))/tau)
    hard = one_hot(argmax(soft), k)
    y = stop_gradient(hard - soft) + soft
    loss = v@y
    softloss = v@soft
    """)
    assert str(sg.effective(p["y"], "logits")).splitlines() == [
        "y = hard",
        "logits_bar = soft*(y_bar - soft@y_bar)/tau",
    ]
    verdict = sg.equivalent(p["loss"], p["softloss"], "logits")
    assert verdict.of_values is not None
    assert verdict.of_values.status == "refuted"
    assert verdict.of_gradients["logits"].status == "proved"


def test_second_derivatives_of_straight_through_estimators_one_in_another() -> None:
    p = sg.parse("""
    x : real
    a = x + stop_gradient(round(x) - x)
    y = a*a + stop_gradient(round(a*a) - a*a)
    """)
    # The inner one runs, so that the outer square is differentiated at the rounded value, and its slope has one.
    assert str(sg.effective(p["y"], "x", order=2)).splitlines() == [
        "y = a**2",
        "dy/dx = 2*a",
        "d2y/dx dx = 2",
    ]
    once = sg.effective("x : real\nx*(x + stop_gradient(round(x) - x))", "x", order=2)
    assert str(once).splitlines() == ["value = x*round(x)", "d/dx = x + round(x)", "d2/dx dx = 2"]


def test_detaching_a_factor_that_is_identically_one() -> None:
    p = sg.parse(
        "x : real; w : positive\nheld = x*stop_gradient(w/w)\nrunning = x*(w/w)\nhalf = x*w/stop_gradient(w)"
    )
    assert same(p["held"], p["running"]) == "proved"  # the derivative of 1 is 0, whoever detaches it
    v = sg.equivalent(p["running"], p["half"])
    assert v.of_values is not None
    assert (v.of_values.status, v.differ_by) == ("proved", ("w",))
    assert str(sg.effective(p["half"], "w").gradient) == "x/w"


def test_why_the_loss_minus_the_surrogate_is_detached() -> None:
    """``surrogate + (loss - surrogate).detach()`` shows the loss, and trains by the surrogate."""
    p = sg.parse("""
    th, r : real
    loss = (th - r)**2
    surrogate = abs(th - r)
    shown = surrogate + stop_gradient(loss - surrogate)
    """)
    assert sg.equal(p["shown"], p["loss"], values_only=True).status == "proved"
    assert sg.equal(sg.grad(p["shown"], "th"), sg.grad(p["surrogate"], "th")).status == "proved"


GAN = """
real_x : real[n, d]; z : real[n, k]; G : real[k, d]; w : real[d]
fake = tanh(z@G)
loss = -sum(log(sigmoid(real_x@w))) - sum(log(1 - sigmoid(fake@w)))
held = -sum(log(sigmoid(real_x@w))) - sum(log(1 - sigmoid(stop_gradient(fake)@w)))
"""


def test_does_detaching_the_fake_sample_matter_in_the_step_of_the_discriminator() -> None:
    p = sg.parse(GAN)
    assert same(p["loss"], p["held"], "w") == "proved"  # not to the discriminator, at any order
    assert sg.equivalent(p["loss"], p["held"], "G").differ_by == (
        "G",
    )  # the generator gets nothing: less work
    assert sg.grad(p["held"], "G").nothing == "stopped"


def test_freezing_by_stop_gradient_and_by_leaving_out_of_the_variable_list() -> None:
    p = sg.parse("""
    W1 : real[d, h]; W2 : real[h]; x : real[n, d]; t : real[n]
    loss = sum((tanh(x@W1)@W2 - t)**2)
    held = sum((tanh(x@stop_gradient(W1))@W2 - t)**2)
    """)
    assert same(p["loss"], p["held"], "W2") == "proved"
    assert sg.equivalent(p["loss"], p["held"], ["W1", "W2"]).differ_by == ("W1",)


def test_why_the_equal_of_a_hard_gumbel_needs_a_stop_gradient_at_all() -> None:
    """``equal`` has no derivative, so stopping it changes nothing; what is stopped is the soft sample beside it."""
    p = sg.parse("""
    logits : real[k]
    u ~ Uniform(0, 1)[k]
    y = softmax(logits - log(-log(u)))
    hard = where(y == max(y), 1, 0)
    usual = stop_gradient(hard - y) + y
    of_hard = stop_gradient(hard) - y + y
    of_none = hard - y + y
    of_soft = hard - stop_gradient(y) + y
    """)
    assert same(p["of_hard"], p["of_none"], "logits") == "proved"
    assert str(sg.effective(p["of_none"], "logits")).splitlines()[1] == "logits_bar = zeros(k)"
    assert same(p["usual"], p["of_soft"], "logits") == "proved"


@pytest.mark.parametrize(
    ("stopped", "plain"),
    [
        ("take(x, stop_gradient(argmax(x)))", "take(x, argmax(x))"),
        ("x*stop_gradient(floor(x))", "x*floor(x)"),
        ("x*stop_gradient(u)", "x*u"),
        ("where(stop_gradient(x) > 0, x, x**2)", "where(x > 0, x, x**2)"),
    ],
)
def test_is_a_stop_around_argmax_or_sampling_redundant(stopped: str, plain: str) -> None:
    declared = "x : real[n]\nu ~ Uniform(0, 1)[n]\n"
    p = sg.parse(f"{declared}a = {stopped}\nb = {plain}")
    assert same(p["a"], p["b"]) == "proved"


def test_gradient_reversal() -> None:
    e = sg.effective("x, lam : real\n(1 + lam)*stop_gradient(x) - lam*x", "x", order=2)
    assert sg.equal(e.value, "x").status == "proved"
    assert [str(e.derivatives[k]) for k in (("x",), ("x", "x"))] == ["-lam", "0"]
    held = sg.equivalent(
        "x, lam : real\n(1 + lam)*stop_gradient(x) - lam*x",
        "x, lam : real\nstop_gradient(x + lam*x) - lam*x",
        "x",
        "all",
    )
    assert held.status == "proved"


def test_a_detached_rsample_against_a_sample() -> None:
    """A detached reparameterised sample gives what a sample gives: nothing flows to the parameters, at any order."""
    p = sg.parse("""
    mu, x : real; s : positive
    eps ~ Normal(0, 1)
    z = mu + s*eps
    rsample = x*z
    detached = x*stop_gradient(z)
    """)
    assert sg.grad(p["detached"], "mu").nothing == "stopped"
    assert str(sg.grad(p["rsample"], "mu")) == "x"
    assert same(p["rsample"], p["detached"], "x") == "proved"


def test_the_operational_formula_of_rounding_straight_through() -> None:
    e = sg.effective("x : real\ny = x + stop_gradient(round(x) - x)", "x", order=2)
    assert str(e).splitlines() == ["y = round(x)", "dy/dx = 1", "d2y/dx dx = 0"]
    f = sg.effective("x : real\nq = x + stop_gradient(round(x) - x)\nloss = exp(q)", "x", order=2)
    assert str(f).splitlines() == ["loss = exp(q)", "dloss/dx = exp(q)", "d2loss/dx dx = exp(q)"]


def test_the_trick_works_only_at_the_very_end_of_the_graph() -> None:
    """True where something that is not linear follows: its derivative is taken at the noisy value."""
    trick = "x, k : real\nu ~ Normal(0, 0.1)\ng = x**2\ns = stop_gradient(g*(1 + u) - g) + g\n"
    last = sg.explain(sg.parse(trick + "y = s")["y"], "x")
    linear = sg.explain(sg.parse(trick + "y = k*s + 3")["y"], "x")
    square = sg.explain(sg.parse(trick + "y = s**2")["y"], "x")
    assert [d.noise["u"].enters for d in (last, linear, square)] == [False, False, True]
    whole = sg.ignore_noise(sg.parse("x : real\nu ~ Normal(0, 0.1)\ny = (x**2*(1 + u))**2")["y"], noise="u")
    assert sg.explain(whole, "x").noise["u"].enters is False


def test_dice_is_right_at_every_order_and_its_first_order_twin_is_not() -> None:
    p = sg.parse("l, f : real\ndice = f*exp(l - stop_gradient(l))\nfirst = f*(1 + l - stop_gradient(l))")
    e = sg.effective(p["dice"], "l", order=3)
    assert [str(v) for v in e.derivatives.values()] == ["f"] * 4
    assert sg.equivalent(p["dice"], p["first"], "l").status == "proved"
    assert sg.equivalent(p["dice"], p["first"], "l", "all").status == "refuted"


def test_a_baseline_leaves_value_and_gradient_apart() -> None:
    p = sg.parse("lp, r, b : real\nplain = stop_gradient(r)*lp\nwith_baseline = stop_gradient(r - b)*lp")
    verdict = sg.equivalent(p["plain"], p["with_baseline"], "lp")
    assert verdict.status == "refuted"
    assert str(sg.effective(p["with_baseline"], "lp").gradient) == "r - b"


def test_the_bits_of_the_value_are_another_question() -> None:
    """In real numbers both are sign(x); in floating point one of them is."""
    p = sg.parse("""
    x : real
    rounds = x + stop_gradient(sign(x) - x)
    exact = stop_gradient(sign(x)) - (stop_gradient(x) - x)
    """)
    assert same(p["rounds"], p["exact"]) == "proved"
    x = np.random.default_rng(1).normal(scale=1e17, size=1_000)
    assert np.count_nonzero(np.asarray(sg.compile(p["rounds"])(x)) != np.sign(x)) > 500
    assert np.array_equal(np.asarray(sg.compile(p["exact"])(x)), np.sign(x))
