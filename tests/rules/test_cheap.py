"""Powers in derivatives: cheaper ops, the same values and domains, an ulp or two."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.traverse import topological
from symgrad.rules.cheap import cheap

EXPONENTS = [Fraction(n) for n in (5, 6, -5, -6)] + [
    Fraction(n, d)
    for n, d in ((1, 2), (3, 2), (-3, 2), (7, 2), (1, 3), (2, 3), (4, 3), (-1, 3), (-5, 3), (11, 3))
]


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_values_to_a_few_ulps(exponent: Fraction) -> None:
    x = sg.symbols("x", domain="real(0, oo)")
    (node,) = cheap([(x**exponent).node])
    assert all(n.op.name != "pow" or abs(n.args[1].value) <= 4 for n in topological([node]))
    at = np.geomspace(1e-20, 1e20, 97)
    kernel = sg.compile(sg.grad(x ** (exponent + 1), x), [x])
    for value, result in zip(at, kernel(at), strict=True):
        with mpmath.workprec(200):
            power = mpmath.mpf(exponent.numerator) / exponent.denominator
            exact = (power + 1) * mpmath.mpf(float(value)) ** power
            assert abs(mpmath.mpf(float(result)) - exact) <= 4 * np.spacing(abs(float(exact)))


@pytest.mark.parametrize(
    "exponent", [Fraction(1, 3), Fraction(4, 3), Fraction(7), Fraction(1, 5), Fraction(9, 2)]
)
def test_what_would_change_the_domain_or_take_many_roundings_stays(exponent: Fraction) -> None:
    node = (sg.symbols("x") ** exponent).node
    assert cheap([node])[0] is node


@pytest.mark.parametrize("exponent", [Fraction(3, 2), Fraction(-3, 2), Fraction(5, 2), Fraction(-5)])
def test_edges_are_those_of_the_power(exponent: Fraction) -> None:
    x = sg.symbols("x")
    power = sg.compile(x**exponent, [x])
    derivative = sg.compile(sg.grad(x ** (exponent + 1), x), [x])
    at = np.array([0.0, -1.0, 1.0, np.inf, np.nan, 1e150, 1e-150])
    scale = float(exponent + 1)
    np.testing.assert_allclose(derivative(at), scale * power(at), rtol=1e-15)
