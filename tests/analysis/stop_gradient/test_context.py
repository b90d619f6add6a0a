"""SG2xx: what is asked: arrays, inputs that receive nothing, each told apart, and variables that are not read."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg
from symgrad.errors import NotInProgramError, UsageError

PROGRAM = sg.parse("a, b, c, x : real\nk : int\ny = stop_gradient(a)*x + floor(b) + x**k")


@pytest.mark.parametrize(
    ("wrt", "code", "says"),
    [
        ("c", "SG202", "does not depend on c"),
        ("a", "SG203", "only inside stop_gradient(a)"),
        ("b", "SG204", "through floor(b)"),
        ("k", "SG205", "k is an integer"),
    ],
)
def test_nothing(wrt: str, code: str, says: str) -> None:
    found = [f for f in sg.lint(PROGRAM["y"], wrt=["x", wrt]) if f.code.startswith("SG2")]
    assert [f.code for f in found] == [code]
    assert says in found[0].reason
    assert found[0].places


def test_inputs_that_nobody_named_may_be_data() -> None:
    assert not [c for c in sg.lint(PROGRAM["y"]).codes if c.startswith("SG2")]


def test_an_array_is_summed() -> None:
    (found,) = [f for f in sg.lint("x : real[n, 2]\ny = sin(x)") if f.code == "SG201"]
    assert "(n, 2)" in found.message
    assert "SG201" not in sg.lint("x : real[n, 2]\ny = sum(sin(x))").codes


def test_unused_variables() -> None:
    p = sg.parse("w1, w2, x : real\nloss = w1*x")
    found = [f for f in sg.lint(p["loss"], wrt=["w1"], variables=["w1", "w2"]) if f.code == "SG206"]
    assert [(f.message, f.cure) for f in found] == [
        ("loss does not depend on the variable w2", "leave it out: variables=['w1']")
    ]
    assert sg.lint(p["loss"], wrt=["w1"], variables=["w1"]).codes == ()
    # What is differentiated by as well is told once.
    assert sg.lint(p["loss"], wrt=["w1", "w2"], variables=["w1", "w2"]).codes == ("SG206",)


def test_errors() -> None:
    with pytest.raises(UsageError, match="SG999"):
        sg.lint("x**2", ignore=("SG999",))
    with pytest.raises(NotInProgramError):
        sg.lint(PROGRAM["y"], wrt="nowhere")


@pytest.mark.parametrize(("y", "ignore", "said"), [(5, (), "5 is a number"), ("x**2", 5, "ignore is 5")])
def test_what_is_no_program_and_no_code(y: Any, ignore: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        sg.lint(y, ignore=ignore)
    assert error.value.expected
    assert error.value.cure
