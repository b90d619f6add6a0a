"""SG102: a stop_gradient at which no derivative path arrives."""

from __future__ import annotations

import pytest

import symgrad as sg


def found(text: str) -> list[tuple[str | None, str]]:
    return [(f.equation, f.reason) for f in sg.lint(text) if f.code == "SG102"]


@pytest.mark.parametrize(
    ("text", "equation", "why"),
    [
        (
            "x, y : real\nz = stop_gradient(stop_gradient(x)*y)",
            "stop_gradient(x)",
            "inside stop_gradient(stop_gradient(x)*y)",
        ),
        (
            "x, y : real\nz = where(stop_gradient(x) > 0, x, y)",
            "stop_gradient(x)",
            "condition stop_gradient(x) > 0",
        ),
        ("x, y : real\nz = y*floor(stop_gradient(x)*y)", "stop_gradient(x)", "whose derivative is zero"),
        ("x : real[n]\nz = sum(x*argmax(stop_gradient(x)))", "stop_gradient(x)", "read by argmax"),
    ],
)
def test_found(text: str, equation: str, why: str) -> None:
    ((dead, reason),) = found(text)
    assert dead == equation
    assert why in reason


@pytest.mark.parametrize(
    "text",
    [
        "x, y : real\nz = stop_gradient(x)*y",
        "x, y : real\nz = where(x > 0, stop_gradient(x), y)",
        "x, y : real\nz = sin(stop_gradient(x))*y + stop_gradient(y)*x",
    ],
)
def test_not_found(text: str) -> None:
    assert found(text) == []


def test_one_of_two() -> None:
    """The one outside holds back alone what both do: it is left."""
    assert [f.equation for f in sg.lint("x : real\nz = x*stop_gradient(2*stop_gradient(x))")] == [
        "stop_gradient(x)"
    ]


def test_a_custom_gradient_is_no_finding() -> None:
    x = sg.symbols("x")
    assert sg.lint(sg.custom_gradient(sg.sign(x), {x: lambda v: v})).codes == ()
