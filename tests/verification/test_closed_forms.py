"""Closed forms of the values of recurrences and of their gradients: proved by induction, and no wrong one is."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.checker.clock import now
from symgrad.verification.decide import derivative_is, equal
from symgrad.verification.search.induction import prove_equality
from tests.checker.checking import answer

DECLARED = "T : size; a, b, c, r, s : real; g : positive\n"
POWER = "h[0] = 1\nh[t] = a*h[t-1] for t in 1..T\ny = h[T]"
LINE = "h[0] = s\nh[t] = h[t-1] + c for t in 1..T\ny = h[T]"
INTEREST = "h[0] = s\nh[t] = (1 + r)*h[t-1] for t in 1..T\ny = h[T]"
GEOMETRIC = "h[0] = 0\nh[t] = a*h[t-1] + c for t in 1..T\ny = h[T]"
BACKWARD = "h[T] = 0\nh[t-1] = c + g*h[t] for t in T..1\ny = h[0]"
POWERS = "h[0] = 0\nh[t] = h[t-1] + a*b**(t-1) for t in 1..T\ny = h[T]"
FACTORIAL = "h[0] = 1\nh[t] = t*h[t-1] for t in 1..T\ny = c*h[T]"
NUMBERS = "h[0] = 0\nh[t] = h[t-1] + t for t in 1..T\ny = c*h[T]"
SQUARE = "h[0] = 1\nh[t] = a*h[t-1] for t in 1..T\ny = h[T]**2"
EXPONENTIAL = "h[0] = 1\nh[t] = exp(a)*h[t-1] for t in 1..T\ny = h[T]"
LATER = "h[0] = 1\nh[t] = a*h[t-1] for t in 1..T - 1\ny = h[T-1]"
# A program, the input of differentiation ("" for the value), the closed form, and where nothing is claimed.
FORMS = [
    (POWER, "", "a**T", ""),
    (POWER, "a", "T*a**(T - 1)", "a = 0"),
    (POWER, "a", "T*a**T/a", "a = 0"),
    (LINE, "", "s + T*c", ""),
    (LINE, "c", "T", ""),
    (INTEREST, "", "s*(1 + r)**T", ""),
    (INTEREST, "r", "T*s*(1 + r)**(T - 1)", "1 + r = 0"),
    (GEOMETRIC, "", "c*(a**T - 1)/(a - 1)", "a - 1 = 0"),
    (GEOMETRIC, "c", "(1 - a**T)/(1 - a)", "1 - a = 0"),
    (GEOMETRIC, "a", "c*(T*a**(T - 1)*(a - 1) - a**T + 1)/(a - 1)**2", "a - 1 = 0"),
    (BACKWARD, "", "c*(1 - g**T)/(1 - g)", "1 - g = 0"),
    (POWERS, "", "a*(b**T - 1)/(b - 1)", "b - 1 = 0"),
    (FACTORIAL, "", "c*factorial(T)", ""),
    (NUMBERS, "c", "T*(T + 1)/2", ""),
    (SQUARE, "", "a**(2*T)", ""),
    (EXPONENTIAL, "a", "T*exp(a*T)", ""),
    (LATER, "", "a**(T - 1)", "a = 0"),
]


@pytest.mark.parametrize(("lines", "wrt", "form", "left_out"), FORMS)
def test_closed_forms_are_proved(lines: str, wrt: str, form: str, left_out: str) -> None:
    p = sg.parse(f"{DECLARED}{lines}\nz = {form}")
    found = sg.verify(p["y"], wrt, p["z"]) if wrt else sg.equal(p["y"], p["z"])
    assert found.status == "proved"
    assert "with closed forms" in found.why
    assert left_out in (found.left_out or ()) if left_out else not found.left_out
    assert found.proof is not None
    assert check(json.loads(json.dumps(found.proof.data))).status == "proved"


def mutants(text: str) -> Iterator[str]:
    """Yield formulas of which one number, operator or name is another one."""
    other = {
        "*": "+",
        "+": "-",
        "-": "+",
        "/": "*",
        "**": "*",
        "T": "(T + 1)",
        "a": "b",
        "b": "a",
        "c": "a",
        "r": "c",
    }
    for m in re.finditer(r"(?<!\w)\d+|\*\*?|[-+/]|\b[abcgrT]\b", text):
        new = str(int(m[0]) + 1) if m[0].isdigit() else other.get(m[0], "a")
        yield text[: m.start()] + new + text[m.end() :]


@pytest.mark.parametrize(("lines", "wrt", "form", "_left_out"), FORMS)
def test_no_wrong_closed_form_is_proved(
    lines: str, wrt: str, form: str, _left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also not by the search alone, without values at points."""
    for text in mutants(form):
        p = sg.parse(f"{DECLARED}{lines}\nz = {text}")
        found = sg.verify(p["y"], wrt, p["z"]) if wrt else sg.equal(p["y"], p["z"])
        if found.status == "proved":  # 1*a**(...) and the like
            continue
        assert found.status == "refuted", text
        y, z = p["y"].node, p["z"].node
        claim = (derivative_is(y, p[wrt].node, z) if wrt else equal(y, z)).equality
        with monkeypatch.context() as without_points:
            without_points.setattr(
                "symgrad.verification.search.induction.differs_at_samples", lambda _: False
            )
            assert not prove_equality(claim, now() + 5).proved, text


# ------------------------------------------------------------------------------------------------------- forged proofs


def proof(lines: str, form: str) -> dict[str, Any]:
    p = sg.parse(f"{DECLARED}{lines}\nz = {form}")
    found = sg.equal(p["y"], p["z"])
    assert found.proof is not None
    return json.loads(json.dumps(found.proof.data))


def forms(data: dict[str, Any]) -> list[Any]:
    return data["induction"]["closed"]


def with_steps(data: dict[str, Any], *steps: list[Any]) -> dict[str, Any]:
    """Return a proof to whose closed form steps are appended, of which the last one is its value."""
    forged = copy.deepcopy(data)
    (form,) = forms(forged)
    form["program"]["steps"] += steps
    form["result"] = len(form["program"]["steps"]) - 1
    return forged


def test_a_closed_form_must_have_values_at_all_positions() -> None:
    """Where it has none, nothing would follow for the later positions."""
    data = proof(POWER, "a**T")
    assert answer(data) == "proved"
    (form,) = forms(data)
    steps = form["program"]["steps"]
    at, a, t = (
        form["result"],
        *(next(k for k, s in enumerate(steps) if s[2] == [n]) for n in ("a", "position")),
    )
    n, none = len(steps), ["number", [], [{"q": "0"}], [], "real"]
    real = [[], [], "real"]
    for op, x in (("log", a), ("sqrt", a), ("log", t), ("asin", a), ("floor", t), ("gamma", t), ("gamma", a)):
        added = [op, [x], *real], none, ["mul", [n, n + 1], *real], ["add", [at, n + 2], *real]
        assert answer(with_steps(data, *added)) == "supported", op
    for x in (t, n):  # a divisor that varies, and one that is zero everywhere
        added = none, ["div", [n, x], *real], ["add", [at, n + 1], *real]
        assert answer(with_steps(data, *added)) == "supported"
    base = none, ["pow", [n, t], *real], ["mul", [n, n + 1], *real], ["add", [at, n + 2], *real]
    assert answer(with_steps(data, *base)) in ("proved", "supported")  # 0**t has a value at each position


def test_a_proof_with_closed_forms_needs_all_of_its_parts() -> None:
    data = proof(GEOMETRIC, "c*(a**T - 1)/(a - 1)")
    assert answer(data) == "proved"
    without = copy.deepcopy(data)
    without["induction"]["proofs"].pop(0)
    assert answer(without) == "supported"
    alone = copy.deepcopy(data)
    del alone["induction"]["closed"]
    assert answer(alone) == "supported"
    for key in ("result", "of"):
        forged = copy.deepcopy(data)
        forms(forged)[0][key] = 0 if key == "result" else [0, 0]
        assert answer(forged) == "supported"
    other = copy.deepcopy(data)
    forms(other)[0]["program"]["symbols"][0][2] = "0"  # a positive
    assert answer(other) == "supported"


def test_every_number_of_a_closed_form_counts() -> None:
    data = proof(GEOMETRIC, "c*(a**T - 1)/(a - 1)")
    steps = forms(data)[0]["program"]["steps"]
    places = [k for k, step in enumerate(steps) if step[0] == "number"]
    assert places
    for k in places:
        forged = copy.deepcopy(data)
        forms(forged)[0]["program"]["steps"][k][2] = [{"q": "17"}]
        assert answer(forged) == "supported"
