"""The choice of forms of one variable: certain values, Taylor polynomials, and regimes."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.graph import Node
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.choice.certain_values import CertainValues
from symgrad.rewrite.choice.regimes import OneVariable, least_loss_regimes
from symgrad.rewrite.choice.taylor import taylor_coefficients
from symgrad.rewrite.facts.inference import Conditions


def parsed(*formulas: str, domain: str = "real") -> list[Node]:
    lines = "\n".join(f"y{k} = {f}" for k, f in enumerate(formulas))
    p = sg.parse(f"x : {domain}\n{lines}")
    return [p["x"].node, *(p[f"y{k}"].node for k in range(len(formulas)))]


@pytest.mark.parametrize(
    ("formula", "at", "exact"),
    [
        ("exp(x) - 1 - x", 1e-200, 5e-401),
        ("log(1 - tanh(x)**2)", 1000.0, 2 * math.log(2) - 2000),
        ("(1 - cos(x))/x**2", 1e-60, 0.5),
        ("where(x > 0, sin(x)/x, 1)", 0.0, 1.0),
        ("floor(x)/x", 2.5, 0.8),
    ],
)
def test_certain_values(formula: str, at: float, exact: float) -> None:
    x, y = parsed(formula)
    (value,) = CertainValues([y]).at({x: at})
    assert float(value) == pytest.approx(exact, rel=1e-15, abs=0)


@pytest.mark.parametrize("formula", ["1/x", "log(x)", "sin(x)/x", "x/(exp(x) - 1)"])
def test_undefined_values_are_unknown(formula: str) -> None:
    x, y = parsed(formula)
    assert CertainValues([y]).at({x: 0.0}) == [None]


def test_taylor_coefficients_are_fractions_or_floats() -> None:
    x, sinc, planck, rational, gamma = parsed("sin(x)/x", "x/(exp(x) - 1)", "-1 + 1/(1 + x)", "gamma(x + 1)")
    assert taylor_coefficients(sinc, x, Fraction(0), 5) == [1, 0, Fraction(-1, 6), 0, Fraction(1, 120)]
    assert taylor_coefficients(planck, x, Fraction(0), 4) == [1, Fraction(-1, 2), Fraction(1, 12), 0]
    assert taylor_coefficients(rational, x, Fraction(0), 4) == [0, -1, 1, -1]
    found = taylor_coefficients(gamma, x, Fraction(0), 2)
    assert found is not None
    assert [float(c) for c in found] == [1, -np.euler_gamma]


@pytest.mark.parametrize("formula", ["1/x", "log(x)", "abs(x)", "sqrt(x)", "sign(x)", "x**(5/2)", "exp(1/x)"])
def test_what_is_not_smooth_has_no_taylor_polynomial(formula: str) -> None:
    x, y = parsed(formula)
    assert taylor_coefficients(y, x, Fraction(0), 8) is None


def test_a_kink_of_high_order_has_none_either() -> None:
    x, y = parsed("where(x > 0, x**6, 0)")
    assert taylor_coefficients(y, x, Fraction(0), 12) is None


def chosen(first: str, *others: str, domain: str = "real") -> tuple[Node, Node]:
    x, *forms = parsed(first, *others, domain=domain)
    return x, OneVariable(forms[0], x, Conditions().facts(x)).choose([forms[1:]])


def values(x: Node, y: Node, at: Any) -> Any:
    with np.errstate(all="ignore"):
        return evaluate([y], {x: np.asarray(at, float)})[0]


def test_a_good_form_stays() -> None:
    for formula in ("sin(x)", "exp(x)*x", "1/(1 + x**2)", "x**3 + 2*x"):
        x, form = chosen(formula, "x + 1")
        assert form is parsed(formula)[1], (formula, x)


def test_forms_change_at_a_threshold() -> None:
    x, form = chosen("log(1 - exp(-x))", "log(-expm1(-x))", "log1p(-exp(-x))", domain="positive")
    at = np.array([1e-30, 1e-9, 0.5, 3.0, 40.0, 700.0])
    exact = [math.log(1e-30), math.log(-math.expm1(-1e-9)), math.log(-math.expm1(-0.5))]
    exact += [math.log1p(-math.exp(-v)) for v in (3.0, 40.0, 700.0)]
    assert values(x, form, at) == pytest.approx(exact, rel=1e-14, abs=0)


def test_a_form_that_is_not_equal_is_never_taken() -> None:
    x, form = chosen("(1 - cos(x))/x**2", "2*sin(x/2)**2/x**2 + where(x > 1000, 1, 0)")
    assert values(x, form, 2000.0) == pytest.approx((1 - math.cos(2000.0)) / 2000**2, rel=1e-12)
    assert values(x, form, 1e-9) == pytest.approx(0.5, rel=1e-14)


@pytest.mark.parametrize("formula", ["sin(x)/x", "(exp(x) - 1)/x", "(x - tanh(x))/x**3", "(1 - cos(x))/x**2"])
def test_the_domain_does_not_grow(formula: str) -> None:
    """Beside a removable singularity there is a polynomial, and at it no value."""
    x, form = chosen(formula)
    assert np.isnan(values(x, form, 0.0))
    assert np.isfinite(values(x, form, 5e-324))


def test_samples_stay_in_the_domain() -> None:
    x, form = chosen("log(x)/(x - 1)", domain="positive")
    assert values(x, form, 1 + 1e-12) == pytest.approx(1 - 5e-13, rel=1e-14)
    assert values(x, form, 1e-300) == pytest.approx(math.log(1e-300) / (1e-300 - 1), rel=1e-14)


def test_forms_of_an_elementwise_part_are_elementwise() -> None:
    p = sg.parse("X : real[n]\na = exp(X)/(1 + exp(X))\nb = cumsum(a)\nc = outer(a, a)@X\nd = sigmoid(X)")
    X, a = p["X"].node, p["a"].node
    form = OneVariable(a, X, Conditions().facts(X)).choose([[p[name].node for name in "bcd"]])
    assert form is p["d"].node


@pytest.mark.parametrize("seed", range(20))
def test_regimes_are_the_cheapest(seed: int) -> None:
    """Against all sequences of up to three regimes; some samples are alike, and some forms are unusable."""
    draw = np.random.default_rng(seed)
    losses = draw.choice([0.0, 0.0, 3.0, 30.0, math.inf], (3, 5))
    losses = losses.repeat(draw.integers(1, 4, 5), axis=1)
    losses[0] = np.minimum(losses[0], 30.0)
    costs = [4, 10, 20]
    count = losses.shape[1]

    def price(forms: tuple[int, ...], starts: tuple[int, ...]) -> float:
        ends = (*starts[1:], count)
        total = 8.0 * (len(forms) - 1) + sum(0.02 * costs[f] + 1e-6 * f for f in forms)
        return total + sum(losses[f, a:b].sum() for f, a, b in zip(forms, starts, ends, strict=True))

    every = [
        price(forms, (0, *starts))
        for n in (1, 2, 3)
        for forms in product(range(3), repeat=n)
        for starts in combinations(range(1, count), n - 1)
    ]
    found = least_loss_regimes(losses, costs)
    reached = price(tuple(r.form for r in found), tuple(r.start for r in found))
    assert found[0].start == 0
    assert reached <= min(every) + 1e-9


def test_a_variable_that_is_a_quotient_of_arrays_is_not_evaluated() -> None:
    """Its divisor is no singular point of a part that reads the quotient alone."""
    p = sg.parse("a, b : real[3]\nc = sum(a*b)/(norm(a)*norm(b))\ny = acos(clip(c, -1, 1))")
    a, b = np.array([1.0, 2.0, 2.0]), np.array([2.0, -1.0, 2.0])
    kernel = sg.compile(sg.grad(p["y"], p["a"]), [p["a"], p["b"]])
    cosine = a @ b / 9
    expected = -(b / 9 - cosine * a / 9) / np.sqrt(1 - cosine**2)
    assert kernel(a, b) == pytest.approx(expected)
