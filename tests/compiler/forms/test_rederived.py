"""Derivatives of many equations: the form that loses the fewest digits, made anew of stable forms in linear time."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.forms.output import Output
from symgrad.compiler.forms.redifferentiation import rederived
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice import samples
from symgrad.rewrite.facts.inference import Conditions

# The residual energy of a cubic equation of state: at low density each of its logarithms is of nearly one.
STATE = """
T, V, n1, n2 : positive
R = 8.314462618
al1 = (1 + 0.39*(1 - sqrt(T/190.564)))**2
al2 = (1 + 0.71*(1 - sqrt(T/304.1282)))**2
a1 = 0.45724*R**2*190.564**2/4.5992e6*al1
a2 = 0.45724*R**2*304.1282**2/7.3773e6*al2
b1 = 0.0778*R*190.564/4.5992e6
b2 = 0.0778*R*304.1282/7.3773e6
n = n1 + n2
D = n1**2*a1 + 1.8*n1*n2*sqrt(a1*a2) + n2**2*a2
B = n1*b1 + n2*b2
s = sqrt(2)
F = -n*R*T*log(1 - B/V) - D/(2*s*B)*log((V + (1 + s)*B)/(V + (1 - s)*B))
"""
NAMES = ["T", "V", "n1", "n2"]
POINTS = 12


def exact(e: sg.Expr, at: dict[str, np.ndarray]) -> list[Any]:
    """Return values to many digits, by SymPy and mpmath."""
    import sympy

    formula = e.sympy()
    letters = sorted(formula.free_symbols, key=str)
    function = sympy.lambdify(letters, formula, "mpmath")
    with mpmath.workdps(80):
        return [+function(*[mpmath.mpf(float(at[str(x)][i])) for x in letters]) for i in range(POINTS)]


def relative(found: np.ndarray, right: list[Any]) -> float:
    with mpmath.workdps(80):
        return max(float(abs((mpmath.mpf(float(f)) - r) / r)) for f, r in zip(found, right, strict=True))


@pytest.mark.parametrize("order", [1, 2])
def test_kernels_of_many_derivatives_keep_digits(order):
    p = sg.parse(STATE)
    inputs = [p[name] for name in NAMES]
    rng = np.random.default_rng(order)
    typical = {"T": 300.0, "V": 1e3, "n1": 0.4, "n2": 0.6}
    at = {k: v * rng.uniform(0.9, 1.3, POINTS) for k, v in typical.items()}
    derivatives = {k: e for k, e in sg.derivatives(p["F"], inputs, order).items() if k}
    assert len(topological([e.node for e in derivatives.values()])) > 160
    found = sg.compile(list(derivatives.values()), inputs)(*at.values())
    for (key, e), values in zip(derivatives.items(), found, strict=True):
        if len(key) == order:
            assert relative(values, exact(e, at)) < 1e-13, [k.name for k in key]


def test_a_derivative_that_is_asked_for_in_stable_form_is_made_anew_too():
    V, B = sg.symbols("V B", domain="positive")
    y = sg.log((V + 2.4 * B) / (V + 0.4 * B))
    slope = sg.derivatives(y, [V, B], 2)[V, V]
    for form in (slope, slope.stable()):
        assert sg.compile(form, [V, B])(1e8, 1.0) == pytest.approx(3.999999832000005e-24, rel=1e-14)


def output(e: sg.Expr) -> Output:
    return Output(e.node, e.origins, e.traces, e.slope)


def test_what_was_held_constant_stays_so():
    x, u = sg.symbols("x u", domain="positive")
    y = (sg.sqrt(x + 1) - sg.sqrt(sg.stop_gradient(x))) * u
    slope = sg.derivatives(y, [x, u], 1)[(x,)]
    (anew,) = rederived([output(slope)])
    found = sg.compile(sg.Expr(anew), [x, u])(1e8, 2.0)
    assert found == pytest.approx(2.0 / (2 * np.sqrt(1e8 + 1)), rel=1e-14)


def test_a_value_that_only_the_form_has_has_no_slope():
    a, b = sg.symbols("a b", domain="nonnegative")
    slope = sg.grad(sg.sqrt(a) - sg.sqrt(b), a)
    assert rederived([output(slope)])[0] is slope.node


def test_faults_are_the_same_without_extended_precision(monkeypatch):
    if not samples.has_extended():
        pytest.skip("no floats beyond float64 here")
    p = sg.parse(STATE)
    outputs = [output(e) for k, e in sg.derivatives(p["F"], NAMES, 1).items() if k]
    forms = [o.node for o in outputs], rederived(outputs)
    quick = [samples.Sample(forms[0], Conditions()).faults(f) for f in forms]
    monkeypatch.setattr(samples, "has_extended", lambda: False)
    exactly = [samples.Sample(forms[0], Conditions()).faults(f) for f in forms]
    assert quick[0] > 4 * quick[1]
    assert exactly[0] > 4 * exactly[1]
