"""SG305: a gradient that is zero because what arrives cancels."""

from __future__ import annotations

import pytest

import symgrad as sg


def found(text: str, **asked: object) -> list[str]:
    return [f.message for f in sg.lint(text, **asked) if f.code == "SG305"]  # type: ignore[arg-type]


def test_log_density_of_a_reparameterised_sample() -> None:
    text = "mu : real\ns : positive\neps ~ Normal(0, 1)\nz = mu + s*eps\nlogp = -((z - mu)/s)**2/2 - log(s)"
    (finding,) = [f for f in sg.lint(text) if f.code == "SG305"]
    assert "by mu" in finding.message
    assert "from -mu" in finding.reason
    assert "from z" in finding.reason
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"
    # With the sample held fixed it is the score.
    assert found(text.replace("(z - mu)", "(stop_gradient(z) - mu)")) == []


@pytest.mark.parametrize(
    "text",
    [
        "x : real[n]\ny = sum(softmax(x, axis=0))",
        "x : real\ny = sin(x)**2 + cos(x)**2",
        "x : real\ny = (x - stop_gradient(x))**2",
    ],
)
def test_found(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "x : real[n]\ny = softmax(x, axis=0)",  # of each entry it is not
        "x : real\ny = sin(x)**2 + 1.0000001*cos(x)**2",
        "x : real\ny = floor(x)",  # zero by itself
        "x : real\ny = 1e-30*x",
    ],
)
def test_not_found(text: str) -> None:
    assert found(text) == []
