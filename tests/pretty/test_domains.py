"""What is told of domains: points that a formula gains, in the names of the program, and none that it has not."""

from __future__ import annotations

import pytest

import symgrad as sg


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("x, a : real; y = (x**2 - a**2)/(x - a)", ("also defined at x - a = 0",)),
        ("x, b : real; y = x*b/b", ("also defined at b = 0",)),
        ("x, b : positive; y = x*b/b", ()),
        ("x, b : real; s = b**2 + 1; y = x*s/s", ()),
        ("x, b : real; s = b**2 - 1; y = x**2*s/s", ("also defined at s = 0",)),
        ("x, l : real; e = exp(l); y = x*e/e", ()),
        # A factor of what is not zero is not zero.
        ("x, b : real; y = log(x**2 + 1)/(b*(x**2 + 1)**2)", ()),
        # The argument of a logarithm, whichever way it is written.
        ("x, b : real; y = x*log(b - 1)/log(2*b - 2)", ()),
        # Sigmoids are never 0 or 1.
        ("x, t : real; p = sigmoid(x); y = -t*log(p) - (1 - t)*log(1 - p)", ()),
        # What is undefined on one branch alone stays so.
        ("x, b : real; y = where(b > 0, x/b, x)", ()),
    ],
)
def test_what_a_gradient_gains(text: str, notes: tuple[str, ...]) -> None:
    program = sg.parse(text)
    assert sg.grad(program["y"], program["x"]).domain_notes == notes


def test_arrays_say_what_it_means() -> None:
    program = sg.parse("A : real[n, n]; b, x : real[n]; k : int; y = sum(inv(A)@(A@x)) + x[k] - x[k]")
    assert set(sg.grad(program["y"], program["x"]).domain_notes) == {
        "also defined where k is out of range",
        "also defined where A is singular",
    }


@pytest.mark.parametrize(
    ("expression", "simple", "notes"),
    [
        ("x*(a + b) - a*x - b*x", "0", ()),
        ("b**2*exp(-x) + b*(a - b*exp(-x))", "a*b", ()),
        ("(x**2 - a**2)/(x - a)", "a + x", ("also defined at x - a = 0",)),
        ("sin(x)**2 + cos(x)**2", "1", ()),
        ("1/(1 + exp(-x))", "sigmoid(x)", ()),
        ("log(exp(x) + 1)", "softplus(x)", ()),
        ("x/x", "1", ("also defined at x = 0",)),
        ("sqrt(x)**2", "x", ("also defined where x < 0",)),
        ("log(x) - log(x)", "0", ("also defined where x <= 0",)),
        ("x + a", "x + a", ()),
    ],
)
def test_what_a_simpler_form_gains(expression: str, simple: str, notes: tuple[str, ...]) -> None:
    y = sg.parse(f"x, a, b : real\n{expression}").last
    assert str(sg.simplify(y)) == simple
    assert y.simplified_notes == notes


@pytest.mark.parametrize(
    ("text", "shown", "short"),
    [
        (
            "loss = -mean(log_softmax(h, axis=1)[arange(n), t])",
            "scatter_add(ones(n), arange(n), t",
            "one_hot(t, 3)",
        ),
        ("loss = -sum(log_softmax(h, axis=1)[:, i])", "scatter_add", None),
        ("s = clip(t, 0, 2); loss = -mean(log_softmax(h, axis=1)[arange(n), s])", "one_hot(s, 3)", None),
        (
            "s = clip(t, 0, 3); loss = -mean(log_softmax(h, axis=1)[arange(n), s])",
            "arange(n), s",
            "one_hot(s, 3)",
        ),
        ("s = argmax(h, axis=1); loss = -mean(log_softmax(h, axis=1)[arange(n), s])", "one_hot(s, 3)", None),
    ],
)
def test_labels_that_may_lie_outside_are_told(text: str, shown: str, short: str | None) -> None:
    """`one_hot` has no 1 for what counts from the end, and zeros where a position has no value."""
    program = sg.parse(f"h : real[n, 3]; t : int[n]; i : int\n{text}")
    found = sg.grad(program["loss"], "h")
    assert shown in str(found)
    assert found.domain_notes == ()
    assert bool(found.form_notes) == (short is not None)
    if short is not None:
        (note,) = found.form_notes
        assert f" is {short} where every entry of {short[8]} is in 0..2" in note
        scattered = note.partition(" is ")[0]
        assert scattered in str(found)
        sides = sg.parse(f"h : real[n, 3]; t : int[n]; s = clip(t, 0, 3)\na = {scattered}\nb = {short}")
        for inside in ([0, 1, 2, 2], [2, 0, 0, 1]):
            assert (sides["a"](t=inside, n=4) == sides["b"](t=inside, n=4)).all()
