"""What messages about programs tell one to do, done as it is said."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from tests.errors import test_array_messages as arrays
from tests.errors.following import REASONS, followed, why_not
from tests.errors.program_messages import calls, characters, declarations, grammar, meaning, python
from tests.errors.program_messages.recurrences import RANGES

PROGRAMS = [
    *(
        str(case[0])
        for kind in (characters, grammar, calls, declarations, python, meaning)
        for case in kind.CASES
    ),
    *(str(case[0]) for case in RANGES),
    *(f"{arrays.DECLARED}z = {case[0]}" for case in arrays.CASES),
]
CUT_OFF = {"x : real(0, 1)[": "the size is missing, too", "f(x)[0": "nothing defines f, too"}


def refused(text: str) -> SymgradError:
    with pytest.raises(SymgradError) as caught:
        sg.parse(text)
    return caught.value


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_cure_of_a_program_repairs_it(text: str) -> None:
    error = refused(text)
    assert error.cure is not None
    if why_not(error.cure) is None and text not in CUT_OFF:
        assert followed(text, error) is not None, f"{error.cure!r}, followed, does not repair {text!r}"


def test_every_reason_not_to_follow_a_cure_is_needed() -> None:
    cures = [str(refused(text).cure) for text in PROGRAMS]
    assert [begin for begin in REASONS if not any(cure.startswith(begin) for cure in cures)] == []


@pytest.mark.parametrize(
    ("loop", "means"),
    [
        ("t : real; y = sum(sin(k*t) for k in range(3))", "t : real; y = sin(0*t) + sin(t) + sin(2*t)"),
        ("t : real; y = 1 + 2*sum(k*t for k in range(3, 0, -1))", "t : real; y = 1 + 2*(3*t + 2*t + t)"),
        ("t : real; y = sum(sin(k*t) for k in range(20))", "t : real; y = sum(sin(arange(20)*t))"),
        ("t : real; y = sum(k*t for k in range(2, 30))", "t : real; y = sum((2 + arange(28))*t)"),
        (
            "n : size; t : real[n]; y = sum(k**2 for k in range(1, n))",
            "n : size; t : real[n]; y = sum((1 + arange(n - 1))**2)",
        ),
        ("x : real[5]; y = sum(x[i]**2 for i in range(3))", "x : real[5]; y = x[0]**2 + x[1]**2 + x[2]**2"),
        ("x : real[n]; y = sum(x[i]*i for i in range(n))", "x : real[n]; y = sum(x*arange(n))"),
        ("x : real[n]; y = sum(x[i]*x[i - 1] for i in range(1, n))", "x : real[n]; y = sum(x[1:]*x[:-1])"),
        ("x : real[5]; y = sum(x[i]*i for i in 1..3)", "x : real[5]; y = x[1] + 2*x[2] + 3*x[3]"),
        ("x : real[n]; y = sum(v**2 for v in x)", "x : real[n]; y = sum(x*x)"),
    ],
)
def test_a_sum_over_a_loop_is_written_as_the_cure_says(loop: str, means: str) -> None:
    error = refused(loop)
    cure = str(error.cure).removeprefix("write ")
    repaired = re.sub(r"sum\((?:[^()]|\([^()]*\))*\)", lambda _: cure, loop, count=1)
    found, meant = sg.parse(repaired).last, sg.parse(means).last
    values: dict[str, Any] = {
        str(s.name): 0.3 + np.arange(5.0 if s.shape else 1)[() if s.shape else 0] for s in meant.inputs
    }
    np.testing.assert_allclose(found(**values), meant(**values), rtol=1e-13)


@pytest.mark.parametrize(
    "loop",
    ["sum(x[k] for k in range(0, n, 2))", "sum(x[k] for k in range(n) if k)", "sum(x[k] for k in f(n))"],
)
def test_other_loops_have_no_formula_to_copy(loop: str) -> None:
    assert str(refused(f"x : real[n]; y = {loop}").cure).startswith("write each term")


@pytest.mark.parametrize(
    "text", ["x, x2 : real\nx : real", "y2, y : real\ny + 1\nz = 2", "my_sin : real\nsin(t) = t"]
)
def test_a_name_that_a_cure_proposes_is_free(text: str) -> None:
    assert followed(text, refused(text)) is not None
