"""Programs as objects: what they print reads back with the same inputs in the same order."""

from __future__ import annotations

import pytest

import symgrad as sg

TEXTS = [
    "x + y",
    "x : real",
    "b : real\na : positive\ny = a - b",
    "unread : int\nb : real\nu ~ Normal(0, 1)\na : positive\ny = sin(a + b)*exp(sin(a + b))\ny*u",
    "t1 : real\nx : real\ny = sin(x + 1)*exp(sin(x + 1))",  # the printer's own names give way to an unread t1
    "X : real[n, 5]\nb : real[5]\ny = b*X",
]


@pytest.mark.parametrize("text", TEXTS)
def test_printed_program_keeps_its_inputs_in_order(text: str) -> None:
    p = sg.parse(text)
    q = sg.parse(str(p))
    assert [str(i.node.declaration) for i in q.inputs] == [str(i.node.declaration) for i in p.inputs]
    assert all(q[name].same(p[name]) for name in p)
    assert (q.result is None) == (p.result is None)
    assert str(q) == str(p)


def test_symbols_known_beforehand_are_a_mapping() -> None:
    with pytest.raises(sg.errors.UsageError, match="by name"):
        sg.parse("x + 1", symbols=["x"])  # pyright: ignore[reportArgumentType]


def test_a_program_is_asked_by_name() -> None:
    p = sg.parse("x : real\ny = x**2")
    for key in (0, p["x"], None):
        with pytest.raises(sg.errors.UsageError, match="names are texts"):
            p[key]  # pyright: ignore[reportArgumentType]


def test_numbers_are_printed_as_they_are_written() -> None:
    text = "x : positive\nR = 8.3140\ny = 2.5*x**2.5/R - 1e-5*x + x/2 - 0.50*x**-0.25 + (-1.5)**3 - -(0.25)"
    program = sg.parse(text)
    assert str(program) == text
    assert sg.parse(str(program))["y"].same(program["y"])
    assert "2.5*x**2.5/R - 1e-5*x" in str(sg.explain(program["y"], "x"))
