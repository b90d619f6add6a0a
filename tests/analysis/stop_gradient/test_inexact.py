"""SG401: straight-through forms whose value rounds, and the form that keeps every bit."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg


def found(text: str) -> list[object]:
    return [f for f in sg.lint(text) if f.code == "SG401"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x : real\ny = x + stop_gradient(sin(3*x) - x)", "sin(3*x)"),
        ("x : real\ny = x - stop_gradient(x - sin(3*x))", "sin(3*x)"),
        ("p, m, h : real\ny = stop_gradient(p*h - p*m) + p*m", "p*h"),
        ("x, t : real\ny = exp(x + stop_gradient(t - x) + t**2)", "t + t**2"),
    ],
)
def test_found(text: str, value: str) -> None:
    program = sg.parse(text)
    (finding,) = (f for f in sg.lint(program.last) if f.code == "SG401")
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"
    assert sg.lint(finding.repaired).codes == ()
    assert sg.equivalent(program.last, finding.repaired, order=2).status == "proved"
    if "exp(" not in text:
        draw = np.random.default_rng(7)
        for _ in range(50):
            point = {str(i.name): draw.normal() for i in program.last.inputs}
            meant = sg.parse(text.partition("\n")[0] + f"\nv = {value}").last
            read = {str(i.name): point[str(i.name)] for i in meant.inputs}
            assert float(finding.repaired(**point)) == float(meant(**read))


@pytest.mark.parametrize(
    "text",
    [
        "x : real\ny = stop_gradient(sin(x)) - (stop_gradient(x) - x)",
        "x : real\ny = x + stop_gradient(round(x) - x)",  # subtracted without rounding, by Sterbenz' lemma
        "x : real\ny = x - stop_gradient(x)",
        "x, t : real\ny = x + stop_gradient(sin(t) - t)",
        "x : real\ny = 2*x + stop_gradient(sin(x) - x)",
    ],
)
def test_not_found(text: str) -> None:
    assert found(text) == []


def test_of_arrays() -> None:
    text = "x : real[k]\nsoft = softmax(x, axis=0)\ny = stop_gradient(exp(soft) - soft) + soft"
    (finding,) = (f for f in sg.lint(text) if f.code == "SG401")
    assert finding.repaired.shape == ("k",)
