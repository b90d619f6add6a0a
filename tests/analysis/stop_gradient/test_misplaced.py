"""SG103 and SG104: noise and frozen inputs that get through, with a repair that holds them back."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.errors import UsageError

HEAD = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\n"


def test_the_inner_trick() -> None:
    p = sg.parse(HEAD + "z = sqrt(stop_gradient(y*u - y) + y)")
    (found,) = [f for f in sg.lint(p["z"], noise=["u"]) if f.code == "SG103"]
    assert found.places[0].line == 4
    assert "value edges" in found.reason
    assert "z <- " in found.reason
    assert found.verdict is not None
    assert found.verdict.status == "proved"
    assert sg.explain(found.repaired, "x").noise["u"].enters is False
    assert sg.equal(found.repaired, p["z"], values_only=True).status == "proved"
    assert float(found.repaired(x=1.3, u=0.97)) == float(p["z"](x=1.3, u=0.97))


@pytest.mark.parametrize(
    "text",
    [
        "z = stop_gradient(sqrt(y*u) - sqrt(y)) + sqrt(y)",
        "z = y + u",
        "z = y*(u/u)",
        "z = stop_gradient(u)*1 + y",
    ],
)
def test_without_noise(text: str) -> None:
    assert "SG103" not in sg.lint(HEAD + text, noise="u").codes


def test_noise_of_an_array() -> None:
    text = "x : real[n]\nu ~ Normal(0, 1)[n]\ny = x*stop_gradient(1 + u)"
    (found,) = [f for f in sg.lint(text, wrt="x", noise="u") if f.code == "SG103"]
    assert found.repaired.shape == ("n",)
    assert "SG103" not in sg.lint("x : real[n]\nu ~ Normal(0, 1)[n]\ny = x + u", wrt="x", noise="u").codes


def test_noise_is_a_random_input() -> None:
    with pytest.raises(UsageError, match="is not a random input"):
        sg.lint(HEAD + "z = y*u", noise="x")
    with pytest.raises(UsageError, match="the gradient with respect to it would be noise, too"):
        sg.lint(HEAD + "z = y*u", wrt="u", noise="u")


def test_frozen_gets_through() -> None:
    p = sg.parse("x, w : real\nh = stop_gradient(w)*x\ny = h + sin(w)*x")
    (found,) = [f for f in sg.lint(p["y"], wrt="x", frozen="w") if f.code == "SG104"]
    assert "stop_gradient(w) holds other paths back" in found.reason
    assert sg.grad(found.repaired, "w").nothing == "stopped"
    assert sg.equivalent(p["y"], found.repaired, "x", order="all").status == "proved"


@pytest.mark.parametrize(
    "text",
    ["y = stop_gradient(w)*x", "y = x + floor(w)", "y = x + w - w", "y = x*(stop_gradient(w) + (w > 0))"],
)
def test_frozen_is_held_back(text: str) -> None:
    assert "SG104" not in sg.lint("x, w : real\n" + text, wrt="x", frozen="w").codes
