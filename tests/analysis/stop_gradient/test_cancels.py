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


@pytest.mark.parametrize(
    ("text", "line", "cure"),
    [
        ("x : real[n]\np = softmax(x)\ny = sum(p)", 2, "y is the same for every x"),
        (
            "x : real[n]\nm = sin(x)**2\ny = sum(m + cos(x)**2)",
            3,
            "write stop_gradient(m) wherever m is read",
        ),
        ("x : real[n]\ny = sum(sin(x)**2 + cos(x)**2)", 2, "y is n for every x"),
        ("x : real\ny = floor(x) + sin(x)**2 + cos(x)**2", 2, "y changes with x only in steps"),
        (
            "mu, s, eps : real[n]\nz = mu + exp(s)*eps\ny = sum(((z - mu)/exp(s))**2)",
            3,
            "write stop_gradient(z) wherever z is read",
        ),
    ],
)
def test_it_has_a_line_and_a_cure_that_fits(text: str, line: int, cure: str) -> None:
    first, *_ = [f for f in sg.lint(text) if f.code == "SG305"]
    assert first.places[0].line == line
    assert cure in (first.cure or "")
