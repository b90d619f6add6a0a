"""SG101: a stop_gradient that changes nothing is found and proved; one that matters is never called redundant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg


def codes(text: str, code: str = "SG101", **asked: object) -> list[str]:
    return [f.equation or "" for f in sg.lint(text, **asked) if f.code == code]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "equation"),
    [
        ("x : real[n]\ny = sum(stop_gradient(argmax(x))*x)", "stop_gradient(argmax(x))"),
        ("x : real\ny = stop_gradient(floor(x))*x", "stop_gradient(floor(x))"),
        ("x : real\ny = stop_gradient(2)*x", "stop_gradient(2)"),
        ("x : real\nu ~ Uniform(0, 1)\ny = stop_gradient(u)*x", "stop_gradient(u)"),
        ("x, y : real\nz = x*stop_gradient(sin(y)**2 + cos(y)**2)", "stop_gradient(sin(y)**2 + cos(y)**2)"),
        ("x, y : real\nz = x + 0*stop_gradient(y)*x", "stop_gradient(y)"),
        ("x, t : real\nz = x*stop_gradient(sin(stop_gradient(t)))", "stop_gradient(t)"),
    ],
)
def test_found(text: str, equation: str) -> None:
    found = [f for f in sg.lint(text, time_limit=60) if f.code in ("SG101", "SG102")]  # on a busy machine
    assert [f.equation for f in found] == [equation]
    (finding,) = found
    assert finding.verdict is not None
    assert finding.verdict.status in ("proved", "supported")
    program = sg.parse(text)
    # What is called equal is not refuted by the engine, which did not make all these proofs.
    assert sg.equivalent(program.last, finding.repaired, order=2).status in ("proved", "supported")


@pytest.mark.parametrize(
    "text",
    [
        "x : real\ny = stop_gradient(x)*x",
        "x : real\ny = (x - stop_gradient(x))**2",  # the gradient is 0 either way, the second derivative is not
        "l : real\nz = exp(l - stop_gradient(l))",
        "x : real\ny = x + stop_gradient(round(x) - x)",
        "x, y : real\nz = x*stop_gradient(sin(y)**2 + 2*cos(y)**2)",
        "x : real\ny = stop_gradient(round(x)) - (stop_gradient(x) - x)",
        "x, t : real\ny = (x - stop_gradient(t))**2",
    ],
)
def test_not_found(text: str) -> None:
    assert codes(text) == []


def test_what_does_not_depend_on_wrt() -> None:
    text = "w, v, x : real\ny = (w*x - stop_gradient(v*x))**2"
    assert codes(text) == []
    assert codes(text, wrt="w") == []  # an ordinary detach
    noisy = "w, x : real; u ~ Normal(0, 1)\ny = (w*x - stop_gradient(u**2))**2"
    assert codes(noisy, wrt="w") == ["stop_gradient(u**2)"]
    assert codes(text, wrt="w", frozen="v") == []  # it is what holds v back


def test_a_factor_that_is_one() -> None:
    """A value whose derivative is zero everywhere is a constant, to derivatives of every order."""
    (found,) = [
        f for f in sg.lint("x, y : real\nz = x*stop_gradient(sin(y)**2 + cos(y)**2)") if f.code == "SG101"
    ]
    assert "every order" in found.reason
    assert found.verdict is not None
    assert found.verdict.status == "proved"
    assert codes("x, w : real\nz = x*stop_gradient(w/stop_gradient(w))") == []


def test_what_adds_up_to_zero() -> None:
    """By the engine: it holds back a derivative that meets zero."""
    (found,) = [f for f in sg.lint("x, y : real\nz = x + (y - y)*stop_gradient(sin(y))") if f.code == "SG101"]
    assert found.verdict is not None
    assert found.verdict.of_values is not None


_PARTS = ("x", "y", "sin(x)", "x*y", "exp(-y**2)", "floor(x)", "sign(y)", "2", "u", "round(x*y)")
_WRAPS = ("stop_gradient({0})", "({0})*x", "sin({0})", "({0}) + y", "where(x > y, {0}, y)", "({0})**2")


@st.composite
def programs(draw: st.DrawFn) -> str:
    parts = [draw(st.sampled_from(_PARTS)) for _ in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(1, 5))):
        i = draw(st.integers(0, len(parts) - 1))
        parts[i] = draw(st.sampled_from(_WRAPS)).format(parts[i])
    return "x, y : real\nu ~ Uniform(0, 1)\nz = " + " + ".join(parts)


def _derivatives(e: sg.Expr, order: int) -> list[sg.Expr]:
    level = [e]
    found = [e]
    for _ in range(order):
        level = [g for f in level for g in sg.gradients([f], ["x", "y"])]
        found += level
    return found


def _at(e: sg.Expr, point: dict[str, float]) -> float:
    return float(e(**{str(i.name): point[str(i.name)] for i in e.inputs}))


@given(programs())
def test_by_numbers(text: str) -> None:
    """Whatever is called redundant or dead is, by values of the derivatives up to order two."""
    program = sg.parse(text + " + 0*x*y")  # both inputs are read
    for finding in sg.lint(program.last):
        if finding.code not in ("SG101", "SG102"):
            continue
        sides = [_derivatives(e, 2) for e in (program.last, finding.repaired)]
        for x, y, u in ((0.3, -1.2, 0.4), (1.7, 0.6, 0.9), (-2.4, -0.8, 0.1)):
            point = {"x": x, "y": y, "u": u}
            a, b = ([_at(e, point) for e in side] for side in sides)
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=f"{text}: {finding}")


@given(programs(), st.sampled_from(["stop_gradient({0})", "stop_gradient(stop_gradient({0}))"]))
def test_planted(text: str, nest: str) -> None:
    """A stop_gradient inside one, or around what is one, is found."""
    planted = text.replace("\nz = ", "\nz = " + nest.format("stop_gradient(3.25*x)*y") + " + ")
    assert any(f.code == "SG102" and f.equation == "stop_gradient(3.25*x)" for f in sg.lint(planted))
