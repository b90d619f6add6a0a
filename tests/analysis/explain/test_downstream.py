"""Named values that are clean by themselves, where the noise enters behind them, and the cure."""

from __future__ import annotations

import random

import pytest

import symgrad as sg

CHAIN = "x : real\nu ~ Uniform(0.9, 1.1)\nh = sin(x)**2\ns = h*u\nloss = s**2 + 3*h"


def test_the_value_next_to_the_noise_is_named() -> None:
    d = sg.explain(sg.parse(CHAIN.replace("h = ", "g = x**2\nh = g*"))["loss"], "x")
    (clean,) = d.noise["u"].clean
    # g is a part of h, which is clean too.
    assert (clean.name, clean.random, clean.wrt) == ("h", "u", "x")
    assert clean.through == (("mul", "u"), ("pow", "s"))
    assert "  clean     h by itself is clean" in str(d)
    assert d.json()["noise"]["u"]["clean"][0]["name"] == "h"
    assert "To remove it: write stop_gradient(loss)" in d.html()


@pytest.mark.parametrize(
    "text",
    [
        "x : real\nu ~ Normal(0, 1)\na = x*u\nloss = a**2",  # what is named is noisy itself
        "x : real\nu ~ Normal(0, 1)\nh = x**2\nloss = h + u",  # the noise does not enter
        "x : real\nu ~ Normal(0, 1)\nloss = x*u",  # nothing is named
    ],
)
def test_nothing_is_said_where_nothing_is_clean_or_noisy(text) -> None:
    d = sg.explain(sg.parse(text)["loss"], "x")
    assert d.noise["u"].clean == ()
    assert "by itself is clean" not in str(d)


def test_a_cure_is_for_the_smallest_value_that_does() -> None:
    p = sg.parse(
        "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)\nloss = 3*z + 1"
    )
    (clean,) = sg.explain(p["loss"], "x").noise["u"].clean
    assert clean.cure is not None
    assert clean.cure.startswith(
        "write stop_gradient(z) - (stop_gradient(c) - c) for z, where c is z with u = 1"
    )


def test_layers() -> None:
    p = sg.parse(
        "W1 : real[5, 4]\nW2 : real[4]\nX : real[n, 5]\nt : real[n]\ne ~ Normal(0, 0.1)[n, 4]\n"
        "h = tanh(X@W1)\nhn = h + e\nout = hn@W2\nloss = mean((out - t)**2)"
    )
    d = sg.explain(p["loss"], "W1")
    (clean,) = d.noise["e"].clean
    assert clean.name == "out"
    assert clean.through == (("pow", "out - t"),)


def test_cures_remove_the_noise_and_keep_the_value() -> None:
    """Random chains: the program with its cure has no noise in the gradient, and the values that it had."""
    rng = random.Random(2)
    forms = [
        "{a}*{b}",
        "{a}**2 + {b}",
        "sin({a})*{b}",
        "exp({a}/5) + {b}",
        "{a} - {b}*u",
        "{a}*u",
        "{a}*{b} + u",
    ]
    seen = 0
    for _ in range(40):
        names, lines = ["x"], []
        for k in range(4):
            a, b = (rng.choice(names[-2:]) for _ in range(2))
            lines.append(f"v{k} = " + rng.choice(forms[: 4 if k < 2 else None]).format(a=a, b=b))
            names.append(f"v{k}")
        text = "x : real\nu ~ Uniform(0.5, 1.5)\n" + "\n".join(lines)
        p = sg.parse(text)
        if len({p[f"v{k}"].node for k in range(4)}) < 4:  # of two names for one value either may be meant
            continue
        verdict = sg.explain(p["v3"], "x").noise.get("u")
        for clean in () if verdict is None else verdict.clean:
            # The derivative of a clean value has no noise.
            assert "u" not in {i.name for i in sg.grad(p[clean.name], p["x"]).inputs}, text
            if clean.cure is None:
                continue
            seen += 1
            place = clean.cure.partition(" for ")[2].partition(",")[0]
            calm = [line.replace("v", "c").replace("u", "1") for line in lines]
            at = next(k for k, line in enumerate(lines) if line.startswith(f"{place} = "))
            new = [
                *calm[: at + 1],
                *lines[: at + 1],
                f"w = stop_gradient({place}) - (stop_gradient(c{at}) - c{at})",
            ]
            rest = [line.replace(place, "w") for line in lines[at + 1 :]]
            q = sg.parse("x : real\nu ~ Uniform(0.5, 1.5)\n" + "\n".join([*new, *rest]))
            assert sg.explain(q.last, "x").noise["u"].enters is False, text
            assert float(q.last(x=0.7, u=1.2)) == pytest.approx(float(p["v3"](x=0.7, u=1.2)), rel=1e-14)
    assert seen >= 5
