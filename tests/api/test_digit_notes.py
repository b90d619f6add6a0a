"""Where a printed form loses digits that the computed form keeps."""

from __future__ import annotations

import re

import pytest

import symgrad as sg
from symgrad.api.handles import output


def loss(program: str) -> sg.Expr:
    return sg.parse(program)["L"]


def test_a_range_and_values_in_it() -> None:
    slope = sg.grad(loss("x : real\nL = sin(x)/x"), "x")
    (note,) = slope.digit_notes
    found = re.fullmatch(
        r"as printed, loses digits for x from (\S+) to (\S+); calls, kernels and sources keep them", note
    )
    assert found is not None
    low, high = map(float, found.groups())
    assert low == -high
    assert 0.01 < high < 0.3
    assert str(slope) == "(cos(x) - L)/x"
    printed = loss("x : real\nL = (cos(x) - sin(x)/x)/x")
    assert printed(x=1e-9) == 0
    assert slope(x=1e-9) == pytest.approx(-1e-9 / 3, rel=1e-15)
    assert note in str(slope.report())
    kernel = sg.compile([loss("x : real\nL = sin(x)/x"), slope])
    assert f"output 2: {note}" in " ".join(str(kernel.report()).split())


@pytest.mark.parametrize(
    ("program", "by"),
    [
        ("x : real\nL = log(1 + exp(x))", "x"),  # what is printed keeps them
        ("x : real(1, 10)\nL = sin(x)/x", "x"),  # the range is not in the domain
        ("x : real[n]\nL = sum(sin(x)/x)", "x"),  # ranges are of numbers
        ("x : real\nL = 3*x", "x"),
    ],
)
def test_no_note(program: str, by: str) -> None:
    assert sg.grad(loss(program), by).digit_notes == ()


def test_the_other_inputs_have_ordinary_values() -> None:
    (note,) = sg.grad(loss("y : real(2, 4)\nx : positive\nL = y*log(1 - exp(-x))"), "x").digit_notes
    assert "loses digits for x < 0.0" in note
    assert "(at y = 3)" in note


def test_a_value_names_its_stable_form() -> None:
    y = loss("x : positive\nL = log(1 - exp(-x))")
    (note,) = y.digit_notes
    assert "; .stable() keeps them" in note
    assert note in " ".join(str(y.report()).split())
    assert y.stable().digit_notes == ()


def test_printing_chooses_no_form(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = sg.grad(loss("x : real\nL = sin(x)/x"), "x")
    monkeypatch.setattr(output, "arrange", None)
    assert str(slope) == "(cos(x) - L)/x"
    assert slope.latex()
    with pytest.raises(TypeError):
        slope.stable()
