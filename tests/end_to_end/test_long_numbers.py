"""Numbers of many digits: every verb ends with an answer, or with an error that says what to do."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.errors import NumberTooLargeError

pytestmark = pytest.mark.usefixtures("ends")


PI_50 = "3.14159265358979323846264338327950288419716939937510"


@pytest.mark.parametrize(
    ("formula", "gradient"),
    [
        (f"sqrt({PI_50}*x)", None),
        (f"sqrt({PI_50}*(1 + x**2) + sqrt(2.71828182845904523536028747135266*x))", None),
        (f"cbrt({PI_50}*x**2 + 1)/(2 + sqrt({PI_50}))", None),
        ("sqrt(9**9**9)*x", "3**387420489"),
        ("(9**9**9)**(1/3)*x", "9**129140163"),
        ("(2*x)**(-9**10/2)", "-3486784401/(2**(3486784403/2)*x**(3486784403/2))"),
        ("abs(x)**1000000007", "1000000007*x*abs(x)**1000000005"),
        ("x**1000000007*x**1000000009", "2000000016*x**2000000015"),
        ("(x**2 + 1)**(10**12)", "2e12*x*(x**2 + 1)**999999999999"),
        ("10**1000000*x", "10**1000000"),
        ("x/7**1000000", "1/7**1000000"),
        ("x*10**3999 + x*9e3999", "10**3999 + 9e3999"),
        ("x*(1/10**3999)*(1/10**3999)", "1/10**7998"),
    ],
)
def test_a_derivative_is_short(formula: str, gradient: str | None) -> None:
    y = sg.parse(f"x : real\n{formula}").last
    found = sg.grad(y, y.inputs[0])
    for form in (y, found, y.canonical(), found.canonical(), y.stable(), found.stable()):
        assert len(str(form)) < 10_000
        assert form.latex()
        assert pickle.loads(pickle.dumps(form)).same(form)
    if gradient is not None:
        assert str(found) == gradient


def test_a_long_decimal_under_a_root_has_its_digits() -> None:
    y = sg.parse(f"x : positive\nsqrt({PI_50}*x)").last
    assert y(x=2.0) == pytest.approx(np.sqrt(2 * np.pi), rel=1e-15)
    assert sg.grad(y, y.inputs[0])(x=2.0) == pytest.approx(np.sqrt(np.pi / 8), rel=1e-15)


@pytest.mark.parametrize("steps", ["t{k}*t{k}", "t{k}**3", "t{k}*7e300", "t{k}/3 + x/7"])
def test_numbers_that_grow_at_every_step_stay_short(steps: str) -> None:
    lines = ["x : real", "t0 = 10**30*x", *(f"t{k + 1} = " + steps.format(k=k) for k in range(60))]
    y = sg.parse("\n".join(lines)).last
    for form in (y.canonical(), y.stable(), sg.grad(y, y.inputs[0])):
        assert len(str(form)) < 1_000_000
    with suppress(NumberTooLargeError):
        sg.compile([y, sg.grad(y, y.inputs[0])])(0.5)


@pytest.mark.parametrize("value", [10**4000, -(10**5000), Fraction(1, 10**5000)], ids=lambda value: "number")
def test_a_number_from_python_has_a_longest(value: int | Fraction) -> None:
    with pytest.raises(NumberTooLargeError, match="a number is too long"):
        str(sg.symbols("x") + value)


@pytest.mark.parametrize(
    ("a", "b", "statuses"),
    [
        ("maximum(x, -10**309)", "x", {"refuted"}),
        ("minimum(x, 10**3999)", "x", {"supported"}),
        ("x + 10**5000", "x", {"refuted"}),
        ("x + 10**5000", "x + 10**5000 + 1", {"refuted"}),
        ("x*10**5000/10**5000", "x", {"proved"}),
        ("(x + 1)**1000000007", "(1 + x)**1000000007", {"proved"}),
        ("x/10**400 + 1/10**400", "x/10**400", {"refuted"}),
        ("2**(10**9/3)*x", "2**(10**9/3)*x*1", {"proved"}),
    ],
)
def test_verdicts_on_long_numbers(a: str, b: str, statuses: set[str]) -> None:
    verdict = sg.equal(a, b, time_limit=5)
    assert verdict.status in statuses
    assert str(verdict)
    text = json.dumps(verdict.to_json())
    assert len(text) < 200_000
    if verdict.proof is not None:
        assert check(json.loads(verdict.proof.to_json())).status == verdict.status


@pytest.mark.parametrize(
    "order", [2**31 - 1, 2**31, 2**32 + 1, 10**12, 10**20, 10**300], ids=lambda n: f"{n:.0e}"
)
@pytest.mark.parametrize("x", [0.0, 0.5, 3.0, 700.0])
def test_exponential_integrals_of_any_whole_order(order: int, x: float) -> None:
    """E_n(x) lies between exp(-x)/(x + n) and exp(-x)/(x + n - 1) (DLMF 8.19.21), nearer to the second."""
    y = sg.parse(f"x : real\nexpint({order}, x)").last
    n, point = mpmath.mpf(order), mpmath.mpf(x)
    high = float(mpmath.exp(-point) / (point + n - 1))
    assert y(x=x) == pytest.approx(high, rel=1e-15)
    assert sg.compile([y])(x) == pytest.approx(high, rel=1e-15)
